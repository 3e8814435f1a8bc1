"""Every example gives what numpy gives: a third opinion, beside the backend's and the oracle's."""

import functools
import os
import unittest

import numpy as np

from mdh import ROOT, Program

EXAMPLES = os.path.join(ROOT, "examples")
# For the examples that take arrays of any size.
SIZES = {
    "dot": [{"x": [0], "y": [0]}, {"x": [1], "y": [1]}, {"x": [1001], "y": [1001]}],
    "matvec": [{"M": [0, 3], "v": [3]}, {"M": [1, 1], "v": [1]}, {"M": [33, 70], "v": [70]}],
    "scan": [{"x": [0]}, {"x": [1]}, {"x": [1001]}],
}


def wide(array):
    """Floats as numpy's widest common ones, so that its own rounding does not count."""
    return array.astype(np.float64) if np.issubdtype(array.dtype, np.floating) else array


def windows(image, shape, axes, stride):
    """All windows of that shape at every `stride`-th place: [place..., window...]."""
    found = np.lib.stride_tricks.sliding_window_view(image, shape, axis=axes)
    return found[tuple(slice(None, None, stride if a in axes else 1) for a in range(image.ndim))]


def conv2d(image, filter):
    return np.einsum("pqrs,rs->pq", windows(image, filter.shape, (0, 1), 1), filter)


def mcc(image, filter):
    places = windows(image, filter.shape[1:3], (1, 2), 2)
    return np.einsum("npqcrs,krsc->npqk", places, filter)


def mcc_capsule(image, filter):
    places = windows(image, filter.shape[1:3], (1, 2), 2)
    return np.einsum("npqcuwrs,krscwv->npqkuv", places, filter)


def jacobi(x):
    """The mean of each inner point and its neighbours."""
    total, n = 0, 0
    for axis in range(x.ndim):
        for step in (-1, 1):
            total, n = total + np.roll(x, step, axis), n + 1
    return ((total + x) / (n + 1))[(slice(1, -1),) * x.ndim]


def prl(n, e, m, u):
    m, u = np.clip(m, 2**-20, 1 - 2**-20), np.clip(u, 2**-20, 1 - 2**-20)
    known = (n[:, None] >= 0) & (e[None] >= 0)
    same = n[:, None] == e[None]
    weight = np.where(known, np.where(same, np.log2(m / u), np.log2((1 - m) / (1 - u))), 0).sum(2)
    best = weight.argmax(1)
    rows = np.arange(len(n))
    return [best, weight[rows, best], (known & same).sum(2)[rows, best]]


def genhisto(key, weight):
    sums = np.bincount(key % 10, weights=weight.view(np.uint8), minlength=10)
    return np.minimum(sums, 255).astype(np.uint8).view(np.int8)


def mandelbrot():
    c = (-2 + np.arange(40) / 15)[None] + 1j * (-1 + np.arange(21) / 10)[:, None]
    z, count = np.zeros_like(c), np.zeros(c.shape, int)
    for _ in range(50):
        inside = abs(z) <= 2
        z, count = np.where(inside, z * z + c, z), count + inside
    return count


def with_loop(a):
    x, a = a, a.copy()
    groups = np.array([1, 2, 4, 5, 7])
    a[np.ix_(range(0, 9, 2), groups)] = 3
    a[np.ix_(groups, range(0, 9, 2))] = 7
    a[3:6, 3:6] = np.maximum(x[2:5, 3:6], x[4:7, 3:6])
    return a


def argmax(x):
    at = x.argmax(1)
    return [at, np.take_along_axis(x, at[:, None], 1)[:, 0]]


def softmax(x):
    exp = np.exp(x - x.max(1, keepdims=True))
    return exp / exp.sum(1, keepdims=True)


NUMPY = {
    "argmax": argmax,
    "bmatmul": lambda A, B: A @ B,
    "ccsdt": lambda A, B: np.einsum("gdab,efgc->abcdef", A, B),
    "conv2d": conv2d,
    "dot": lambda x, y: x @ y,
    "genhisto": genhisto,
    "histo": lambda x: np.bincount(x & 15, minlength=16),
    "jacobi1d": lambda x, c: c * (x[:-2] + x[1:-1] + x[2:]),
    "jacobi2d": jacobi,
    "jacobi3d": jacobi,
    "logsumexp": lambda x: np.logaddexp.reduce(x, axis=1),
    "mandelbrot": mandelbrot,
    "map": lambda x: 1 / (1 + np.exp(-x)),
    "matmul": lambda A, B: A @ B,
    "matmul_t": lambda A, B: B @ A,
    "matvec": lambda M, v: M @ v,
    "mbbs": lambda x: max(0, x.sum(1)[::-1].cumsum().max()),
    "mcc": mcc,
    "mcc_capsule": mcc_capsule,
    "prl": prl,
    "reduce": lambda x: x.sum(),
    "reduce2": lambda x: [x.sum(), x.max()],
    "sat": lambda x: x.astype(np.int64).cumsum(0).cumsum(1),
    "scan": lambda x: x.cumsum(),
    "softmax": softmax,
    "transpose": lambda x: x.T,
    "with_loop": with_loop,
}


def inputs_of(name, program, random):
    """Random inputs, but probabilities where prl wants them, and both signs for keys."""
    arrays = program.random_inputs(random)
    if name == "prl":
        arrays["n"], arrays["e"] = (random.integers(-1, 4, arrays[k].shape, np.int32) for k in "ne")
        arrays["m"], arrays["u"] = random.random(8), random.random(8)
    if name in ("histo", "genhisto"):
        first = next(iter(arrays))
        arrays[first] = random.integers(-1000, 1000, arrays[first].shape, np.int32)
    return arrays


class Examples(unittest.TestCase):
    def compare(self, name, program, arrays):
        """Integers are equal; floats differ by a few roundings of the terms that were added."""
        expected = NUMPY[name](**{k: wide(a) for k, a in arrays.items()})
        expected = expected if isinstance(expected, list) else [expected]
        found = program(**arrays)
        self.assertEqual(len(found), len(expected))
        for value, result, reference in zip(program.outputs, found, expected):
            where = f"{name}: {value['name']}"
            self.assertEqual(result.shape, np.shape(reference), where)
            if np.issubdtype(result.dtype, np.floating):
                tolerance = 100 * np.finfo(result.dtype).eps
                np.testing.assert_allclose(
                    result, reference, rtol=tolerance, atol=10 * tolerance, err_msg=where)
            else:
                np.testing.assert_array_equal(result, reference, err_msg=where)

    def example(self, name):
        program = Program(os.path.join(EXAMPLES, name + ".mlir"), "--entry", name)
        random = np.random.default_rng(2024)
        for _ in range(3):
            self.compare(name, program, inputs_of(name, program, random))
        for shapes in SIZES.get(name, []):
            self.compare(name, program, {
                k: random.standard_normal(shape).astype(np.float32) for k, shape in shapes.items()})

    def test_each_has_a_closed_form(self):
        files = {name[:-5] for name in os.listdir(EXAMPLES) if name.endswith(".mlir")}
        self.assertEqual(files, set(NUMPY))

    def test_fortran_order(self):
        """A transposed array is stored column by column, and read as what it is."""
        program = Program(os.path.join(EXAMPLES, "matvec.mlir"))
        M = np.random.default_rng(0).standard_normal((5, 8)).astype(np.float32).T
        self.assertFalse(M.flags.c_contiguous)
        self.compare("matvec", program, {"M": M, "v": np.arange(5, dtype=np.float32)})

    def test_special_values(self):
        """NaN, infinities, zeros of both signs and denormals, where numpy has an opinion."""
        x = np.zeros((7, 23), np.float32)
        x[0, 5], x[1, [3, 9]], x[2], x[3, 4] = np.nan, np.inf, -np.inf, 1e-45
        x[4, [2, 8]], x[5] = [np.nan, np.inf], -0.0
        self.compare("argmax", Program(os.path.join(EXAMPLES, "argmax.mlir"), "--entry", "argmax"), {"x": x})
        x = np.zeros((6, 17), np.float32)
        x[0, 3], x[1], x[2, 5], x[3], x[4, 2] = np.inf, -np.inf, 1e30, 88, -1e30
        self.compare(
            "logsumexp", Program(os.path.join(EXAMPLES, "logsumexp.mlir"), "--entry", "logsumexp"), {"x": x})


for name in NUMPY:
    setattr(Examples, f"test_{name}", functools.partialmethod(Examples.example, name))


if __name__ == "__main__":
    unittest.main()
