"""Einsums of the command give what NumPy gives: random ones, of all types, and those of other operators."""

import os
import sys
import tempfile
import unittest

import numpy as np

from mdh import ROOT, mdh

# The tests of the package come with it, and run where nothing else of this repository is.
sys.path.append(os.path.join(ROOT, "python", "tests"))

from einsums import Einsum  # noqa: E402

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
# Numbers that each digit of a result may be off by, of sums in another order.
EPSILON = {"float16": 1e-3, "float32": 2e-6, "float64": 1e-14, "complex64": 2e-6, "complex128": 1e-14}
LETTERS = "ijkABé"
RANDOM = range(300)
SEMIRINGS = range(100)
# What sums, what multiplies, and on which types.
OPERATORS = {
    ("min", "add"): (np.minimum, np.add, "iuf"),
    ("max", "add"): (np.maximum, np.add, "iuf"),
    ("max", "min"): (np.maximum, np.minimum, "biuf"),
    ("min", "max"): (np.minimum, np.maximum, "biuf"),
    ("or", "and"): (np.bitwise_or, np.bitwise_and, "biu"),
    ("and", "or"): (np.bitwise_and, np.bitwise_or, "biu"),
    ("xor", "and"): (np.bitwise_xor, np.bitwise_and, "biu"),
    ("logaddexp", "add"): (np.logaddexp, np.add, "f"),
    ("max", "mul"): (np.maximum, np.multiply, "biuf"),
    ("mul", "add"): (np.multiply, np.add, "iuf"),
    ("add", "sub"): (np.add, np.subtract, "iuf"),
    ("min", "div"): (np.minimum, np.divide, "f"),
    ("add", "pow"): (np.add, np.power, "f"),
    ("add", "first"): (np.add, lambda a, b: a, "iuf"),
}


def numbers(random, shape, dtype):
    """Elements of all kinds of numbers; of floats, none is small."""
    if dtype.kind == "b":
        return random.random(shape) < 0.6
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -3, 4, shape).astype(dtype)
    array = random.uniform(0.5, 1.5, shape) * random.choice([-1, 1], shape)
    if dtype.kind == "c":
        array = array + 1j * random.uniform(-1, 1, shape)
    return np.asarray(array).astype(dtype)


def random_einsum(random, kinds="biufc"):
    """An einsum of these kinds of elements, with a letter that is not ASCII."""
    return Einsum(random, [dtype for dtype in DTYPES if np.dtype(dtype).kind in kinds], LETTERS, (1, 2, 3, 4, 7))


def numpy_spec(spec):
    """The same einsum, with letters that NumPy takes in the same order."""
    return spec.replace("é", "z")


class RandomEinsums(unittest.TestCase):
    def run_einsum(self, einsum, arrays, *options):
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, f"{n}.npy") for n in range(len(arrays))]
            for file, array in zip(files, arrays):
                order = "F" if einsum.random.random() < 0.2 else "C"
                np.save(file, np.asarray(array, order=order))
            out = os.path.join(folder, "out.npy")
            mdh("einsum", einsum.spec, "--in", *files, "--out", out, *options)
            return np.load(out)

    def compare(self, found, expected, dtype, what):
        self.assertEqual((found.shape, found.dtype), (expected.shape, dtype), what)
        if dtype.kind in "biu":
            np.testing.assert_array_equal(found, expected, what)
            return
        epsilon = EPSILON[dtype.name] * 50
        wide = np.complex128 if dtype.kind == "c" else np.float64
        np.testing.assert_allclose(found.astype(wide), expected.astype(wide), rtol=epsilon, atol=epsilon * 20, err_msg=what)

    def test_random(self):
        for seed in RANDOM:
            random = np.random.default_rng(seed)
            einsum = random_einsum(random)
            arrays = einsum.arrays(numbers)
            dtype = np.result_type(*arrays)
            wide = [a.astype({"f": "f8", "c": "c16"}.get(dtype.kind, dtype)) for a in arrays]
            expected = np.einsum(numpy_spec(einsum.spec), *wide)
            what = f"seed {seed}: {einsum.spec} of {[(a.shape, a.dtype.name) for a in arrays]}"
            with self.subTest(what):
                self.compare(self.run_einsum(einsum, arrays), np.asarray(expected).astype(dtype), dtype, what)

    def test_operators(self):
        for seed in SEMIRINGS:
            random = np.random.default_rng(1000 + seed)
            pair = list(OPERATORS)[seed % len(OPERATORS)]
            combine, scalar, kinds = OPERATORS[pair]
            # One type: promotion is tested above, and bit operations are of integers.
            einsum = random_einsum(random, kinds)
            einsum.dtypes = [einsum.dtypes[0]] * len(einsum.dtypes)
            arrays = einsum.arrays(numbers)
            if pair == ("add", "pow"):
                arrays = [np.abs(a).astype(a.dtype) for a in arrays]
            expected = einsum.defined(combine, scalar, arrays)
            what = f"seed {seed}: {pair} {einsum.spec} of {[(a.shape, a.dtype.name) for a in arrays]}"
            with self.subTest(what):
                found = self.run_einsum(einsum, arrays, "--combine", pair[0], "--scalar", pair[1])
                self.compare(found, expected, arrays[0].dtype, what)

    def test_paths_of_numpy(self):
        random = np.random.default_rng(5)
        arrays = [random.standard_normal(shape) for shape in [(3, 4), (4, 5), (5, 6), (6, 3)]]
        spec = "ij,jk,kl,lm->im"
        expected = np.einsum(spec, *arrays)
        einsum = random_einsum(random)
        einsum.spec = spec
        for optimize in ["greedy", "optimal"]:
            path, _ = np.einsum_path(spec, *arrays, optimize=optimize)
            self.compare(self.run_einsum(einsum, arrays, "--path", str(path)), expected, np.dtype("float64"), optimize)


if __name__ == "__main__":
    unittest.main()
