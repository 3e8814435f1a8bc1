"""Random programs for the tests of rewrites: chains of computations and views on tensors.

A program is a function `f` of one or two constant tensors and a `main` that prints its result.
Sizes are small, so that everything is read, written, padded and combined at every border.
"""

import random
import subprocess

from mdh import RELEASE


def tensor(shape, element):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def parses(text):
    done = subprocess.run([f"{RELEASE}/mdh-opt"], input=text, capture_output=True, text=True)
    return done.returncode == 0


def nested(shape, values):
    if not shape:
        return str(values[0])
    part = len(values) // shape[0]
    parts = (nested(shape[1:], values[i * part:(i + 1) * part]) for i in range(shape[0]))
    return "[" + ", ".join(parts) + "]"


class Chain:
    """One program; every step reads what earlier ones made. Values are (name, shape, element)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.lines = []
        self.arguments = [(f"%x{n}", self.shape(), self.element()) for n in range(self.pick(1, 2))]
        self.values = list(self.arguments)
        wanted = self.pick(2, 3, 4, 5)
        for _ in range(25):
            if len(self.values) < len(self.arguments) + wanted:
                self.step()

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def shape(self):
        return [self.pick(1, 3, 4, 5, 6) for _ in range(self.pick(1, 2, 3))]

    def element(self):
        return self.pick("i32", "i32", "i8")

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def add(self, operation):
        """Adds an operation with one result and returns its name."""
        name = self.name()
        self.lines.append(f"  {name} = {operation}")
        return name

    def step(self):
        """One more value, if the random operation keeps all rules."""
        kept = len(self.lines)
        views = [self.slice, self.transpose, self.collapse, self.expand, self.pad]
        made = self.compute() if self.chance(0.65) else self.pick(*views)(self.pick(*self.values))
        if made is not None and parses(self.function(made)):
            self.values.append(made)
        else:
            del self.lines[kept:]

    # Views.

    def slice(self, value):
        name, shape, element = value
        offsets, sizes, strides = [], [], []
        for size in shape:
            stride = self.pick(1, 1, 2)
            count = self.random.randint(1, (size + stride - 1) // stride)
            offset = self.random.randint(0, size - 1 - (count - 1) * stride)
            offsets.append(self.index(offset))
            sizes.append(count)
            strides.append(stride)
        result = [s for s in sizes if s != 1] if self.chance(0.5) else sizes
        where = f"[{', '.join(offsets)}] {sizes} {strides}"
        types = f"{tensor(shape, element)} to {tensor(result, element)}"
        return self.add(f"tensor.extract_slice {name}{where} : {types}"), result, element

    def index(self, number):
        """A number, a constant, or a value that nothing is known of."""
        if self.chance(0.6):
            return str(number)
        constant = self.add(f"arith.constant {number} : index")
        if self.chance(0.4):
            return constant
        return self.add(f"func.call @opaque({constant}) : (index) -> index")

    def transpose(self, value):
        name, shape, element = value
        permutation = self.random.sample(range(len(shape)), len(shape))
        result = [shape[p] for p in permutation]
        empty = self.add(f"tensor.empty() : {tensor(result, element)}")
        made = self.add(
            f"linalg.transpose ins({name} : {tensor(shape, element)}) "
            f"outs({empty} : {tensor(result, element)}) permutation = {permutation}")
        return made, result, element

    def collapse(self, value):
        name, shape, element = value
        if len(shape) < 2:
            return None
        at = self.random.randrange(len(shape) - 1)
        groups = [[i] for i in range(at)] + [[at, at + 1]]
        groups += [[i] for i in range(at + 2, len(shape))]
        result = shape[:at] + [shape[at] * shape[at + 1]] + shape[at + 2:]
        types = f"{tensor(shape, element)} into {tensor(result, element)}"
        return self.add(f"tensor.collapse_shape {name} {groups} : {types}"), result, element

    def expand(self, value):
        name, shape, element = value
        if not shape:
            return None
        at = self.random.randrange(len(shape))
        factor = self.pick(*(f for f in range(1, shape[at] + 1) if shape[at] % f == 0))
        groups = [[i] for i in range(at)] + [[at, at + 1]]
        groups += [[i + 1] for i in range(at + 1, len(shape))]
        result = shape[:at] + [factor, shape[at] // factor] + shape[at + 1:]
        types = f"{tensor(shape, element)} into {tensor(result, element)}"
        made = self.add(f"tensor.expand_shape {name} {groups} output_shape {result} : {types}")
        return made, result, element

    def pad(self, value):
        name, shape, element = value
        if not shape:
            return None
        low = [self.pick(0, 1, 2) for _ in shape]
        high = [self.pick(0, 1) for _ in shape]
        result = [size + a + b for size, a, b in zip(shape, low, high)]
        constant = self.add(f"arith.constant {self.pick(-2, 0, 3)} : {element}")
        indices = ", ".join(f"{constant}_{i}: index" for i in range(len(shape)))
        made = self.add(
            f"tensor.pad {name} low{low} high{high} {{\n  ^bb0({indices}):\n"
            f"    tensor.yield {constant} : {element}\n"
            f"  }} : {tensor(shape, element)} to {tensor(result, element)}")
        return made, result, element

    # Computations.

    def compute(self):
        inputs = [self.pick(*self.values[-4:]) for _ in range(self.pick(1, 2))]
        dims = [self.dimension(f"d{k}", size) for k, size in enumerate(inputs[0][1])]
        if not dims or self.chance(0.3):
            dims.append((f"d{len(dims)}", 2, 2 + self.pick(1, 2, 3), 1))
        combine = [self.pick("cc", "cc", "cc", "pw", "ps") for _ in dims]
        if self.chance(0.4):
            combine = ["cc"] * len(dims)
        operator = self.pick("addi", "maxsi", "xori")
        reads = [self.read(value, dims) for value in inputs]
        types = [element for (_, _, element), (accesses, _) in zip(inputs, reads) for _ in accesses]
        scalar, tuple_types = self.scalar(types, dims)
        kept = [dim for dim, c in zip(dims, combine) if c != "pw"]
        outputs = [self.write(kept, ty) for ty in tuple_types]
        number = self.pick(*range(len(outputs)))
        domain = ", ".join(f"{n} = {lo} to {hi} step {step}" for n, lo, hi, step in dims)
        stores = ", ".join(f"o{n} = {text}" for n, (text, _, _) in enumerate(outputs))
        function = ", ".join([operator] * len(outputs))
        combine = ", ".join(c if c == "cc" else f"{c}({function})" for c in combine)
        loads = ", ".join(
            f"b{n} = {name}{''.join(accesses)}{rest} : {tensor(shape, element)}"
            for n, ((name, shape, element), (accesses, rest)) in enumerate(zip(inputs, reads)))
        made = self.name()
        self.lines.append(
            f"  {made}:{len(outputs)} = mdh.compute ({domain})\n  out_view({stores})\n"
            f"  md_hom({scalar}, ({combine}))\n  inp_view({loads})")
        _, shape, element = outputs[number]
        return f"{made}#{number}", shape, element

    def dimension(self, name, size):
        lower = self.pick(0, 0, 0, 0, 1, -1)
        upper = lower + self.pick(size, size, size, size, size, 1, self.random.randint(0, size))
        return name, lower, upper, self.pick(1, 1, 1, 1, 1, 2)

    def read(self, value, dims):
        """The accesses of an input, and its origin and padding."""
        _, shape, element = value
        accesses = []
        for _ in range(self.pick(1, 1, 1, 2)):
            order = list(dims) if self.chance(0.7) else self.random.sample(dims, len(dims))
            indices = [self.place(size, order[axis] if axis < len(order) else None)
                       for axis, size in enumerate(shape)]
            accesses.append("[" + ", ".join(indices) + "]")
        rest = ""
        if shape and self.chance(0.2):
            rest += f" origin({', '.join(str(self.pick(0, 0, 1, -1)) for _ in shape)})"
        if self.chance(0.6):
            rest += f" pad({self.pick(-2, 0, 1)} : {element})"
        return accesses, rest

    def place(self, size, dim):
        if dim is None or self.chance(0.1):
            return str(self.random.randrange(size))
        name, lower, _, _ = dim
        return self.pick(f"{name} - ({lower})", f"{name} - ({lower})", f"{name} - ({lower})",
                         f"{size - 1 + lower} - {name}", f"{name} + {self.pick(-1, 0, 1)}")

    def scalar(self, types, dims):
        """A scalar function of values of these types, and the types that it returns."""
        if len(types) == 1 and self.chance(0.5):
            return "id", types
        arguments = ", ".join(f"%a{n}: {ty}" for n, ty in enumerate(types))
        body, values = [], []
        for n, ty in enumerate(types):
            values.append(f"%a{n}" if ty == "i32" else f"%w{n}")
            if ty != "i32":
                body.append(f"%w{n} = arith.extsi %a{n} : {ty} to i32")
        result = values[0]
        for n, value in enumerate(values[1:]):
            body.append(f"%s{n} = arith.{self.pick('addi', 'muli', 'subi')} {result}, {value} : i32")
            result = f"%s{n}"
        if self.chance(0.3):
            body.append(f"%i = mdh.index {self.random.randrange(len(dims))} : index")
            body.append("%j = arith.index_cast %i : index to i32")
            body.append(f"%k = arith.addi {result}, %j : i32")
            result = "%k"
        yields = [result] + [values[-1]] * self.pick(0, 0, 1)
        results = ["i32"] * len(yields)
        body.append(f"mdh.yield {', '.join(yields)} : {', '.join(results)}")
        return f"({arguments}) {{\n    " + "\n    ".join(body) + "\n  }", results

    def write(self, dims, component):
        """An output over these dimensions: its text, shape and element type."""
        dims = self.random.sample(dims, len(dims)) if self.chance(0.4) else dims
        shape, indices, origin = [], [], []
        for name, lower, upper, _ in dims:
            extra = self.pick(0, 0, 0, 0, 1)
            shape.append(max(upper - lower, 1) + extra)
            straight = self.chance(0.75)
            indices.append(name if straight else f"{upper - 1 + extra} - {name}")
            origin.append(lower if straight else 0)
        element = self.pick("i32", component)
        covers = all(step == 1 and size == hi - lo for size, (_, lo, hi, step) in zip(shape, dims))
        straight = indices == [name for name, _, _, _ in dims]
        if covers and straight and self.chance(0.6):
            destination = self.add(f"tensor.empty() : {tensor(shape, element)}")
        else:
            value = self.pick(-3, 0, 2)
            destination = self.add(f"arith.constant dense<{value}> : {tensor(shape, element)}")
        origin = f" origin({', '.join(map(str, origin))})" if origin else ""
        text = f"{destination}[{', '.join(indices)}]{origin} : {tensor(shape, element)}"
        return text, shape, element

    # The whole.

    def function(self, result):
        name, shape, element = result
        arguments = ", ".join(f"{n}: {tensor(s, e)}" for n, s, e in self.arguments)
        return (f"func.func @f({arguments}) -> {tensor(shape, element)} {{\n"
                + "\n".join(self.lines)
                + f"\n  return {name} : {tensor(shape, element)}\n}}\n"
                + "func.func private @opaque(%i: index) -> index attributes {no_inline} {\n"
                + "  return %i : index\n}\n")

    def program(self):
        result = self.values[-1]
        lines = []
        for name, shape, element in self.arguments:
            count = 1
            for size in shape:
                count *= size
            values = nested(shape, [self.random.randint(-9, 9) for _ in range(count)])
            lines.append(f"  {name} = arith.constant dense<{values}> : {tensor(shape, element)}")
        _, shape, element = result
        names = ", ".join(name for name, _, _ in self.arguments)
        types = ", ".join(tensor(s, e) for _, s, e in self.arguments)
        last = tensor(shape, element)
        lines.append(f"  %found = func.call @f({names}) : ({types}) -> {last}")
        value = "%found"
        if element != "i32":
            lines.append(f"  %wide = arith.extsi %found : {last} to {tensor(shape, 'i32')}")
            value, last = "%wide", tensor(shape, "i32")
        lines.append(f"  %any = tensor.cast {value} : {last} to tensor<*xi32>")
        lines.append("  func.call @printMemrefI32(%any) : (tensor<*xi32>) -> ()")
        return (self.function(result) + "func.func private @printMemrefI32(tensor<*xi32>)\n"
                + "func.func @main() {\n" + "\n".join(lines) + "\n  return\n}\n")
