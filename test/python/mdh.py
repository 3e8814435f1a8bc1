"""Runs the release build's `mdh` on numpy arrays."""

import json
import os
import subprocess
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"))
RELEASE = os.path.join(TARGET, "release")

DTYPES = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "index": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}


def mdh(*arguments):
    """The standard output of `mdh ARGUMENTS`, which must succeed."""
    done = subprocess.run(
        [os.path.join(RELEASE, "mdh"), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"mdh {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


class Program:
    """A function of a file, callable with arrays.

    `inputs` and `outputs` list its values as `mdh run --json` does: name, shape, dtype.
    """

    def __init__(self, file, *options):
        self.file, self.options = file, options
        report = json.loads(mdh("run", file, "--json", *options))
        self.inputs, self.outputs = report["inputs"], report["outputs"]

    def random_inputs(self, random):
        """Arrays of the right shapes: normal floats, and small integers around 0."""
        arrays = {}
        for value in self.inputs:
            shape, dtype = value["shape"], DTYPES[value["dtype"]]
            if np.issubdtype(dtype, np.floating):
                array = random.standard_normal(shape).astype(dtype)
            else:
                array = random.integers(-4, 5, shape).astype(dtype)
            arrays[value["name"]] = array
        return arrays

    def __call__(self, **arrays):
        """The function's results for these arguments, as a list of arrays."""
        with tempfile.TemporaryDirectory() as folder:
            def path(name):
                return os.path.join(folder, name + ".npy")

            for name, array in arrays.items():
                np.save(path(name), array)
            mdh("run", self.file, *self.options,
                *(f"--in={name}={path(name)}" for name in arrays),
                "--out", *(path(f"out{i}") for i in range(len(self.outputs))))
            return [np.load(path(f"out{i}")) for i in range(len(self.outputs))]
