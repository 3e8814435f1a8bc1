"""Runs one Python package, or a library in C, as a peer of mdh bench: python runner.py numpy|torch|jax|openblas|..

Reads requests from standard input, a JSON object a line, and answers each with one behind @@; the
messages are those of bench/src/protocol.rs. A package is a module NAME_peer.py with

    prepare(task) -> function without arguments that runs the case once, or None if the
                     package has nothing for it
    results(value) -> the results as numpy arrays, given what that function returned

Results go into `task.outputs` where the package takes preallocated arrays. A result that updates
an input is that input's array. The function returns when the results are there. If it has an attribute `nothing`, a
function that takes what Python takes for its calls of C, that time is no part of a measurement.
A module may have a `Task` of its own, `explain(error)`, the text of an exception, and `NOTHING`, the reason for None.
"""

import gc
import importlib
import itertools
import json
import os
import statistics
import sys
import time

try:
    import numpy
except ImportError:  # Those who need it say so; a function of plain Python does not.
    numpy = None

# Nanoseconds from which on a first call is a measurement like any other.
LONG = 100_000_000

# numpy has no bf16: its bits are carried out.
TYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool", "i8": "int8", "i16": "int16",
         "i32": "int32", "i64": "int64", "index": "int64", "bf16": "uint16"}


# Bytes from the beginning of a page to that of an array.
PLACES = (25 * 64 * n % 4096 for n in itertools.count())


class Task:
    """A case: its name, its dimensions, its arrays and their types, by MLIR's names."""

    def __init__(self, request):
        self.workload, self.entry = request["workload"], request["entry"]
        self.described = request["inputs"], request["outputs"]
        self.dims = request["dims"]
        self.texts = request["texts"]
        self.types = [a["dtype"] for a in request["inputs"] + request["outputs"]]
        self.inputs = [aligned(a) for a in request["inputs"]]
        given = {a["file"]: made for a, made in zip(request["inputs"], self.inputs)}
        self.updated = {a["file"]: given[a["file"]] for a in request["outputs"] if a["file"]}
        self.outputs = [self.updated[a["file"]] if a["file"] else aligned(a) for a in request["outputs"]]

    def restore(self):
        """Makes what runs update what it was before the first one."""
        for file, array in self.updated.items():
            array[...] = numpy.fromfile(file, array.dtype).reshape(array.shape)


def aligned(array):
    """An array on a cache line's boundary, with the numbers of its file if it has one. As ours do, each begins
    at another place of a page."""
    dtype = numpy.dtype(TYPES[array["dtype"]])
    count = int(numpy.prod(array["shape"], dtype=numpy.int64))
    raw = numpy.empty(count * dtype.itemsize + 4096, numpy.uint8)
    start = (next(PLACES) - raw.ctypes.data) % 4096
    made = raw[start:start + count * dtype.itemsize].view(dtype)
    if array["file"]:
        made[:] = numpy.fromfile(array["file"], dtype)
    else:
        made.fill(0)
    return made.reshape(array["shape"])


def timed(run, clock=time.perf_counter_ns):
    """The nanoseconds that a run takes, and what it returns."""
    started = clock()
    value = run()
    return clock() - started, value


class Runner:
    """Modules that are loaded."""

    def __init__(self, peer):
        self.peer = peer
        self.task = self.run = self.value = None

    def answer(self, request):
        """The answer to a request."""
        return getattr(self, "do_" + request["do"])(request)

    def do_hello(self, _):
        return {"done": {}}

    def do_load(self, request):
        self.task = getattr(self.peer, "Task", Task)(request)
        self.run = self.peer.prepare(self.task)
        if self.run is None:
            self.do_drop(request)
            return {"no": getattr(self.peer, "NOTHING", "not in this package")}
        self.value = self.run()
        return {"done": {}}

    def do_run(self, request):
        # A collection in the middle of a run would be measured with it.
        gc.collect()
        gc.disable()
        nothing, beside = getattr(self.run, "nothing", None), [0]
        first, self.value = timed(self.run)
        # In the first call threads wake up, which matters only if it is short.
        times = [first] if first > LONG else []
        while len(times) < request["calls"]:
            taken, self.value = timed(self.run)
            times.append(taken)
            if nothing:
                beside.append(timed(nothing)[0])
        gc.enable()
        beside = statistics.median_high(beside)
        return {"times": [float(max(taken - beside, 1)) for taken in times]}

    def do_output(self, request):
        if self.task.updated:
            self.task.restore()
            self.value = self.run()
        for file, array in zip(request["files"], self.peer.results(self.value)):
            if isinstance(array, bytes):
                with open(file, "wb") as data:
                    data.write(array)
            else:
                numpy.ascontiguousarray(array).tofile(file)
        return {"done": {}}

    def do_drop(self, _):
        self.task = self.run = self.value = None
        gc.collect()
        return {"done": {}}


def main():
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    # What a package prints must not be taken for an answer, and what it reads is no request.
    answers, requests = os.fdopen(os.dup(1), "w"), os.fdopen(os.dup(0))
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    runner = failed = None
    try:
        runner = Runner(importlib.import_module(sys.argv[1] + "_peer"))
    except Exception as error:  # Whatever is missing, or does not work here.
        failed = str(error)
    explain = getattr(runner and runner.peer, "explain", lambda error: f"{type(error).__name__}: {error}")
    for line in requests:
        try:
            answer = {"no": failed} if failed else runner.answer(json.loads(line))
        except Exception as error:  # Whatever it is, the conductor wants to hear it.
            answer = {"failed": explain(error)}
        answers.write(f"@@ {json.dumps(answer)}\n")
        answers.flush()


if __name__ == "__main__":
    main()
