"""A function of a Python file as a peer: python runner.py function numpy|torch|jax|python SCRIPT.py [NAME]

It is given the inputs of a case in order, as arrays of the package or, of Python itself, as lists of lists of numbers, and
returns the outputs: one, or a tuple of several. An input that the case updates may be changed where it is, and
then left out of what is returned. Integers that are no arrays are numbers of Python.
"""

import importlib.machinery
import importlib.util
import itertools
import math
import os
import struct
import sys

PACKAGE, FILE = sys.argv[2:4]
NAME = sys.argv[4] if len(sys.argv) > 4 else None
NOTHING = "no function of that name"
INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")

# What `results` converts belongs to the case that was prepared last.
task = None


class Unlike(Exception):
    """The function returns something else than the outputs of the case."""


def explain(error):
    """A mistake in Python's own words, with its place in the file."""
    if isinstance(error, Unlike):
        return str(error)
    lines = [line for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    place, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            place = trace.tb_lineno
        trace = trace.tb_next
    return text if place is None else f"{text} ({os.path.basename(FILE)}, line {place})"


def script():
    """The file as a module, which sees the modules beside it."""
    folder = os.path.dirname(os.path.abspath(FILE))
    if folder not in sys.path:
        sys.path.insert(1, folder)
    loader = importlib.machinery.SourceFileLoader("script", FILE)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("script", loader))
    sys.modules["script"] = module
    loader.exec_module(module)
    return module


def prepare(made):
    """The run of the file's function on the inputs of a case."""
    global task
    task = made
    # A workload's function has its name, and a file need not have one of each.
    is_workload = task.entry == task.workload
    names = [NAME] if NAME else [task.entry] if is_workload else [task.entry, "run"]
    module = script()
    present = [name for name in names if callable(getattr(module, name, None))]
    if not present and is_workload and not NAME:
        return None
    if not present:
        raise Unlike(f"found no function {' or '.join(map(repr, names))} in '{FILE}', expected one")
    function = getattr(module, present[0])
    task.arguments = [KIND.argument(array, of["dtype"]) for array, of in zip(task.inputs, task.described[0])]
    return lambda: KIND.finished(function(*task.arguments))


def results(value):
    """The outputs among what the function returned, as they go to files."""
    inputs, outputs = task.described
    values = list(value) if isinstance(value, KIND.several) else [] if value is None else [value]
    updated = [of["file"] for of in outputs if of["file"]]
    if len(values) == len(outputs) - len(updated):
        files = [of["file"] for of in inputs]
        values = [task.arguments[files.index(file)] for file in updated] + values
    if len(values) != len(outputs):
        names = ", ".join(of["name"] for of in outputs)
        raise Unlike(f"'{os.path.basename(FILE)}' returns {len(values)} arrays, expected {len(outputs)}: {names}")
    return [KIND.result(value, of) for value, of in zip(values, outputs)]


def unlike(of, found, expected):
    """An output of another type or shape."""
    return Unlike(f"'{os.path.basename(FILE)}' returns {found} as '{of['name']}', expected {expected}")


class Arrays:
    """Arrays of numpy."""

    several = (tuple, list)
    # numpy has no bf16: its bits are carried.
    types = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "uint16", "i1": "bool", "i8": "int8",
             "i16": "int16", "i32": "int32", "i64": "int64", "index": "int64"}

    def __init__(self, package):
        self.package = package

    def argument(self, array, dtype):
        if array.ndim == 0 and dtype in INTEGERS:
            return array.item()
        return self.of_numpy(array, dtype)

    def of_numpy(self, array, dtype):
        return array

    def finished(self, value):
        return value

    def described(self, value):
        """The name of the element type, and the shape."""
        array = self.package.asarray(value)
        return str(array.dtype), array.shape

    def number(self, value, dtype):
        return self.package.asarray(value, dtype=dtype)

    def to_numpy(self, value, dtype):
        return self.package.asarray(value)

    def result(self, value, of):
        if not of["shape"] and isinstance(value, (bool, int, float)):
            value = self.number(value, self.types[of["dtype"]])
        dtype, shape = self.described(value)
        expected = self.types[of["dtype"]], tuple(of["shape"])
        if (dtype, tuple(shape)) != expected:
            raise unlike(of, f"{dtype} of shape {tuple(shape)}", f"{expected[0]} of shape {expected[1]}")
        return self.to_numpy(value, of["dtype"])


class Tensors(Arrays):
    """Tensors of torch, in numpy's memory."""

    types = {**Arrays.types, "bf16": "bfloat16"}

    def __init__(self, package):
        super().__init__(package)
        package.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        package.set_grad_enabled(False)

    def of_numpy(self, array, dtype):
        made = self.package.from_numpy(array)
        return made.view(self.package.bfloat16) if dtype == "bf16" else made

    def described(self, value):
        tensor = self.package.as_tensor(value)
        return str(tensor.dtype).removeprefix("torch."), tensor.shape

    def number(self, value, dtype):
        return self.package.tensor(value, dtype=getattr(self.package, dtype))

    def to_numpy(self, value, dtype):
        tensor = self.package.as_tensor(value).contiguous()
        return (tensor.view(self.package.int16) if dtype == "bf16" else tensor).numpy()


class Traced(Arrays):
    """Arrays of jax, which nothing changes."""

    types = {**Arrays.types, "bf16": "bfloat16"}

    def __init__(self, package):
        super().__init__(importlib.import_module("jax.numpy"))
        self.jax = package
        package.config.update("jax_enable_x64", True)

    def of_numpy(self, array, dtype):
        made = self.jax.device_put(array)
        return self.jax.lax.bitcast_convert_type(made, self.package.bfloat16) if dtype == "bf16" else made

    def finished(self, value):
        return self.jax.block_until_ready(value)

    def to_numpy(self, value, dtype):
        import numpy
        array = numpy.asarray(value)
        return array.view("uint16") if dtype == "bf16" else array


class Lists:
    """Lists of lists of numbers, and numbers."""

    several = tuple
    codes = {"f16": "e", "f32": "f", "f64": "d", "bf16": "f", "i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
             "index": "q"}

    def argument(self, array, dtype):
        return array

    def finished(self, value):
        return value

    def read(self, of):
        """The elements of an array's file."""
        with open(of["file"], "rb") as file:
            data = file.read()
        if of["dtype"] == "bf16":
            data = b"".join(b"\0\0" + data[at:at + 2] for at in range(0, len(data), 2))
        code = self.codes[of["dtype"]]
        elements = struct.unpack(f"={len(data) // struct.calcsize(code)}{code}", data)
        return self.nested(iter(elements), of["shape"])

    def nested(self, elements, shape):
        if not shape:
            return next(elements)
        return [self.nested(elements, shape[1:]) for _ in range(shape[0])]

    def result(self, value, of):
        shape = self.shape(value)
        elements = list(self.flat(value, len(shape)))
        if shape != list(of["shape"]) or len(elements) != math.prod(shape):
            raise unlike(of, f"lists of shape {tuple(shape)}", f"shape {tuple(of['shape'])}")
        data = struct.pack(f"={len(elements)}{self.codes[of['dtype']]}", *elements)
        if of["dtype"] != "bf16":
            return data
        return b"".join(self.rounded(data[at:at + 4]) for at in range(0, len(data), 4))

    def rounded(self, single):
        """The nearest bf16 of a number."""
        [bits] = struct.unpack("=I", single)
        if bits & 0x7FFFFFFF > 0x7F800000:
            return struct.pack("=H", 0x7FC0)
        return struct.pack("=H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)

    def shape(self, value):
        shape = []
        while isinstance(value, (list, tuple)):
            shape.append(len(value))
            value = value[0] if value else None
        return shape

    def flat(self, value, depth):
        if depth == 0:
            return [value]
        return itertools.chain.from_iterable(self.flat(part, depth - 1) for part in value)


class ListTask:
    """A case whose arrays are lists."""

    def __init__(self, request):
        self.workload, self.entry = request["workload"], request["entry"]
        self.described = request["inputs"], request["outputs"]
        self.inputs = [KIND.read(of) for of in request["inputs"]]
        self.updated = {of["file"] for of in request["outputs"] if of["file"]}

    def restore(self):
        """Makes what runs update what it was before the first one."""
        for number, of in enumerate(self.described[0]):
            if of["file"] in self.updated:
                self.arguments[number] = KIND.read(of)


if PACKAGE == "python":
    KIND, Task = Lists(), ListTask
else:
    importlib.import_module("numpy")  # In which arrays come here.
    if PACKAGE == "jax":
        os.environ["JAX_PLATFORMS"] = "cpu"
    KIND = {"numpy": Arrays, "torch": Tensors, "jax": Traced}[PACKAGE](importlib.import_module(PACKAGE))
