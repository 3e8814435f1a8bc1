"""Runs each function of two files on the same random numbers, and compares the results.

usage: same.py BEFORE.mlir AFTER.mlir [FUNCTION:SHAPE,.. ...]; both files have the same functions. A
function runs once for each list of shapes of its arguments, which are f32 then. Integers must be equal, floats within the
error of sums in another order.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

np.set_printoptions(threshold=16)


def call(file, entry, options):
    """Runs a function; what `mdh run --json` says."""
    command = ["mdh", "run", file, "--entry", entry, "--random", "3", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def run(file, entry, options, folder):
    """The results of a function, in order."""
    count = len(call(file, entry, options)["outputs"])
    outs = [str(folder / f"{n}.npy") for n in range(count)]
    call(file, entry, [*options, "--out", *outs])
    return [np.load(out) for out in outs]


def given(folder, shape):
    """A file of random numbers."""
    sizes = [int(size) for size in shape.split("x")]
    path = folder / f"in{shape}.npy"
    np.save(path, np.random.default_rng(1).uniform(-1, 1, sizes).astype(np.float32))
    return str(path)


def compare(before, after, entry, shapes):
    """Compares the results of a function on arguments of the shapes, or on its own."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        options = ["--in", *(given(folder, shape) for shape in shapes)] if shapes else []
        expected, found = (run(f, entry, options, folder) for f in (before, after))
    for number, (a, b) in enumerate(zip(expected, found, strict=True)):
        same = np.array_equal(a, b) if a.dtype.kind in "iub" else np.allclose(a, b, 1e-5, 1e-5)
        if a.shape != b.shape or not same:
            sys.exit(f"{entry}: result {number} is\n{b.ravel()}, expected\n{a.ravel()}")
        print(f"{entry}: result {number} is the same")


def main():
    before, after, *sizes = sys.argv[1:]
    text = pathlib.Path(before).read_text()
    for entry in re.findall(r"(?m)^ *func\.func @(\w+)\(", text):
        own = [size.split(":")[1] for size in sizes if size.startswith(f"{entry}:")]
        for shapes in own or [""]:
            compare(before, after, entry, shapes.split(",") if shapes else [])


main()
