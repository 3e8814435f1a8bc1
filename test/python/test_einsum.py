"""Einsums of the command give what NumPy gives: random ones, of all types, and those of other operators."""

import os
import tempfile
import unittest

import numpy as np

from mdh import mdh

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


class Einsum:
    """A random einsum of small arrays."""

    def __init__(self, random, kinds="biufc"):
        self.random = random
        self.sizes = {letter: int(random.choice([1, 2, 3, 4, 7])) for letter in LETTERS}
        self.dots = [int(n) for n in random.choice([1, 2, 3], random.integers(0, 3))]
        dtypes = [dtype for dtype in DTYPES if np.dtype(dtype).kind in kinds]
        count = int(random.choice([1, 2, 3, 4], p=[0.3, 0.4, 0.2, 0.1]))
        dtype = random.choice(dtypes)
        self.terms, self.shapes, self.dtypes = [], [], []
        for _ in range(count):
            term, shape = self.operand()
            self.terms.append(term)
            self.shapes.append(shape)
            self.dtypes.append(np.dtype(random.choice(dtypes) if random.random() < 0.25 else dtype))
        self.output = self.result()
        self.spec = ",".join(self.terms) + self.output

    def operand(self):
        letters = self.random.choice(list(LETTERS), self.random.integers(0, 5 - len(self.dots)))
        extents = {letter: 1 if self.random.random() < 0.1 else self.sizes[letter] for letter in letters}
        shape = [extents[letter] for letter in letters]
        if not self.dots or self.random.random() < 0.3:
            return "".join(letters), shape
        place = int(self.random.integers(0, len(letters) + 1))
        dots = self.dots[int(self.random.integers(0, len(self.dots) + 1)):]
        dots = [1 if self.random.random() < 0.2 else extent for extent in dots]
        return "".join([*letters[:place], "...", *letters[place:]]), shape[:place] + dots + shape[place:]

    def result(self):
        if self.random.random() < 0.3:
            return ""
        letters = sorted(set("".join(self.terms)) - {"."})
        kept = [letter for letter in self.random.permutation(letters) if self.random.random() < 0.5]
        if any("..." in term for term in self.terms):
            kept.insert(int(self.random.integers(0, len(kept) + 1)), "...")
        return "->" + "".join(kept)

    def arrays(self):
        return [self.array(shape, dtype) for shape, dtype in zip(self.shapes, self.dtypes)]

    def array(self, shape, dtype):
        if dtype.kind == "b":
            return self.random.random(shape) < 0.6
        if dtype.kind in "iu":
            return self.random.integers(0 if dtype.kind == "u" else -3, 4, shape).astype(dtype)
        array = self.random.uniform(0.5, 1.5, shape) * self.random.choice([-1, 1], shape)
        if dtype.kind == "c":
            array = array + 1j * self.random.uniform(-1, 1, shape)
        return np.asarray(array).astype(dtype)

    def defined(self, combine, scalar, arrays):
        """The result by definition, of operators that are ufuncs: all indices are axes, then some are combined."""
        dtype = np.result_type(*arrays)
        dots = max((a.ndim - len(t.replace("...", "")) for a, t in zip(arrays, self.terms) if "..." in t), default=0)
        names = [chr(0x100 + n) for n in range(dots)]
        own = [self.expanded(term, array.ndim, names) for term, array in zip(self.terms, arrays)]
        result = self.output.removeprefix("->").replace("...", "".join(names))
        if not self.output:
            letters = "".join(own)
            result = "".join(names) + "".join(sorted(l for l in set(letters) - set(names) if letters.count(l) == 1))
        summed = [letter for letter in sorted(set("".join(own))) if letter not in result]
        axes = list(result) + summed
        views = []
        for term, array in zip(own, arrays):
            letters = sorted(set(term), key=axes.index)
            view = np.einsum(f"{ascii_of(term)}->{ascii_of(letters)}", array).astype(dtype)
            at = [slice(None) if letter in letters else np.newaxis for letter in axes]
            views.append(view[tuple(at)])
        value = views[0]
        for view in views[1:]:
            value = scalar(value, view)
        value = np.broadcast_to(value, np.broadcast_shapes(*(view.shape for view in views))).astype(dtype)
        value = value.reshape(value.shape[:len(result)] + (-1,))
        total = value[..., 0]
        for n in range(1, value.shape[-1]):
            total = combine(total, value[..., n])
        return total

    @staticmethod
    def expanded(term, rank, names):
        dots = rank - len(term.replace("...", ""))
        return term.replace("...", "".join(names[len(names) - dots:]))


def ascii_of(letters):
    """Letters of other alphabets as those that NumPy takes."""
    known = LETTERS + "".join(chr(0x100 + n) for n in range(8))
    return "".join("abcdefghijklmnop"[known.index(letter)] for letter in letters)


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
            einsum = Einsum(random)
            arrays = einsum.arrays()
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
            einsum = Einsum(random, kinds)
            einsum.dtypes = [einsum.dtypes[0]] * len(einsum.dtypes)
            arrays = einsum.arrays()
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
        einsum = Einsum(random)
        einsum.spec = spec
        for optimize in ["greedy", "optimal"]:
            path, _ = np.einsum_path(spec, *arrays, optimize=optimize)
            self.compare(self.run_einsum(einsum, arrays, "--path", str(path)), expected, np.dtype("float64"), optimize)


if __name__ == "__main__":
    unittest.main()
