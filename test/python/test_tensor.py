"""Programs of the tensor language give what numpy gives: the examples, and random ones."""

import functools
import os
import tempfile
import unittest

import numpy as np

from mdh import ROOT, Program, mdh

EXAMPLES = os.path.join(ROOT, "examples", "tdsl")
RANDOM_PROGRAMS = 12


def stencil(a, S):
    padded = np.pad(a, ((0, 0), (0, S.shape[0] - 1), (0, S.shape[1] - 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, S.shape, axis=(1, 2))
    return np.einsum("cijpq,pq->cij", windows, S)


def shifts(n, p):
    """T[i, q, j] = 1 where i + q = j."""
    i, q, j = np.indices((n, p, n))
    return (i + q == j).astype(np.float64)


def layer(x, W, b):
    y = np.maximum(x @ W + b, 0)
    return [y, np.sqrt(y @ y)]


def trace(x, u):
    return u @ (x * np.trace(u))


NUMPY = {
    "alternate": lambda M, N, x: {"y": M @ x, "x": N @ (M @ x)},
    "combine": lambda s1, s2, s3, u, v, x: s1 * x + s2 * u + s3 * v,
    "dead": lambda s, w, a: np.outer(s * np.tanh(a), w),
    "inplace_matmul": lambda M1, M2: M1 @ M2,
    "interpolation": lambda A, B, C, u: np.einsum("il,jm,kn,nml->ijk", A, B, C, u),
    "interpolation_steps": lambda A, B, C, u: np.einsum("il,jm,kn,lmn->ijk", A, B, C, u),
    "layer": layer,
    "matvec": lambda v, w: v @ w,
    "multiply": lambda v, x: v * x,
    "scale": lambda s, x: s * x,
    "stencil": lambda a, S, T: stencil(a, S),
    "trace": trace,
    "weighted": lambda u, v, x: u @ v * x,
}


class Expressions:
    """Random expressions as text, with the arrays that they stand for."""

    def __init__(self, random):
        self.random = random
        self.size = int(random.integers(1, 5))
        self.shapes = {f"{letter}{rank}": (self.size,) * rank for letter in "ab" for rank in range(4)}
        self.values = {name: random.uniform(-1, 1, shape) for name, shape in self.shapes.items()}

    def leaf(self, rank):
        if rank == 0 and self.random.random() < 0.3:
            number = float(self.random.integers(1, 9)) / 4
            return repr(number), np.float64(number)
        name = self.random.choice(["a", "b"]) + str(rank)
        return name, self.values[name]

    def any(self, rank, depth):
        """Text in parentheses where precedence could ask for them, and its array."""
        if depth == 0:
            return self.leaf(rank)
        kind = self.random.choice(["leaf", "sum", "times", "scalar", "function", "product", "contract", "group",
                                   "exchange"])
        if kind == "sum":
            (e, a), (f, b) = self.any(rank, depth - 1), self.any(rank, depth - 1)
            return (f"({e} + {f})", a + b) if self.random.random() < 0.5 else (f"({e} - {f})", a - b)
        if kind == "times":
            (e, a), (f, b) = self.any(rank, depth - 1), self.any(rank, depth - 1)
            return f"({e} * {f})", a * b
        if kind == "scalar":
            (e, a), (f, b) = self.any(0, depth - 1), self.any(rank, depth - 1)
            if self.random.random() < 0.5:
                return f"({e} * {f})", a * b
            return f"({f} / (2 + tanh({e})))", b / (2 + np.tanh(a))
        if kind == "function":
            e, a = self.any(rank, depth - 1)
            name, function = [("tanh", np.tanh), ("sin", np.sin), ("relu", lambda x: np.maximum(x, 0)),
                              ("sigmoid", lambda x: 1 / (1 + np.exp(-x)))][self.random.integers(4)]
            return f"{name}({e})", function(a)
        if kind == "product" and rank > 0:
            left = int(self.random.integers(0, rank + 1))
            (e, a), (f, b) = self.any(left, depth - 1), self.any(rank - left, depth - 1)
            return f"({e} # {f})", np.multiply.outer(a, b)
        if kind == "contract":
            left = int(self.random.integers(0, 4))
            right = rank + 2 - left
            if 0 <= right <= 3:
                (e, a), (f, b) = self.any(left, depth - 1), self.any(right, depth - 1)
                m, n = sorted(self.random.choice(rank + 2, 2, replace=False))
                return f"(({e} # {f}) . [{m + 1} {n + 1}])", np.trace(np.multiply.outer(a, b), axis1=m, axis2=n)
        if kind == "group" and rank <= 2:
            (e, a), (f, b), (g, c) = self.any(2, depth - 1), self.any(2, depth - 1), self.any(rank, depth - 1)
            whole = np.multiply.outer(np.multiply.outer(a, b), c)
            dimensions = [int(d) for d in self.random.permutation(4 + rank)[:4]]
            letters = list("ijklmn"[:4 + rank])
            letters[dimensions[1]], letters[dimensions[3]] = letters[dimensions[0]], letters[dimensions[2]]
            kept = [l for d, l in enumerate(letters) if d not in dimensions]
            m, n, o, p = (d + 1 for d in dimensions)
            return (f"({e} # {f} # {g} . [[{m} {n}] [{o} {p}]])",
                    np.einsum("".join(letters) + "->" + "".join(kept), whole))
        if kind == "exchange" and rank >= 2:
            e, a = self.any(rank, depth - 1)
            m, n = self.random.choice(rank, 2, replace=False)
            return f"({e} ^ [{m + 1} {n + 1}])", np.swapaxes(a, m, n)
        return self.leaf(rank)

    def program(self, count):
        """Statements, of which each sees what those before it have assigned."""
        lines = [f"var {name} : [{' '.join(map(str, shape))}]" for name, shape in self.shapes.items()]
        for _ in range(count):
            rank = int(self.random.integers(0, 4))
            text, value = self.any(rank, 3)
            name = self.random.choice(["a", "b"]) + str(rank)
            # Values stay small, so that what is lost by cancellation does.
            self.values[name] = np.tanh(np.array(value))
            lines.append(f"{name} = tanh({text})")
        return "\n".join(lines) + "\n"


class Tensor(unittest.TestCase):
    def compare(self, file, arrays, expected):
        program = Program(file)
        self.assertEqual([value["name"] for value in program.inputs if value["name"] not in arrays], [])
        given = {value["name"]: arrays[value["name"]] for value in program.inputs}
        found = program(**given)
        if not isinstance(expected, dict):
            expected = dict(zip((value["name"] for value in program.outputs), expected, strict=True))
        self.assertEqual({value["name"] for value in program.outputs}, set(expected))
        for value, result in zip(program.outputs, found, strict=True):
            reference = expected[value["name"]]
            with open(file, encoding="utf-8") as text:
                where = f"{value['name']} of\n{text.read()}"
            self.assertEqual(result.shape, np.shape(reference), where)
            np.testing.assert_allclose(result, reference, rtol=1e-11, atol=1e-11, err_msg=where)

    def example(self, name):
        file = os.path.join(EXAMPLES, name + ".tdsl")
        mdh("run", file, "--check")
        arrays = Program(file).random_inputs(np.random.default_rng(7))
        if name == "stencil":
            arrays["T"] = shifts(*arrays["T"].shape[:2])
        expected = NUMPY[name](**arrays)
        self.compare(file, arrays, expected if isinstance(expected, (list, dict)) else [expected])

    def test_each_example_has_a_closed_form(self):
        self.assertEqual({name.removesuffix(".tdsl") for name in os.listdir(EXAMPLES)}, set(NUMPY))

    def test_random_programs(self):
        for seed in range(RANDOM_PROGRAMS):
            random = np.random.default_rng(seed)
            expressions = Expressions(random)
            arrays = {name: value.copy() for name, value in expressions.values.items()}
            text = expressions.program(int(random.integers(1, 21)))
            with tempfile.NamedTemporaryFile("w", suffix=".tdsl") as file:
                file.write(text)
                file.flush()
                outputs = [name for name in expressions.shapes if f"\n{name} = " in text]
                self.compare(file.name, arrays, {name: expressions.values[name] for name in outputs})


for name in NUMPY:
    setattr(Tensor, f"test_{name}", functools.partialmethod(Tensor.example, name))

if __name__ == "__main__":
    unittest.main()
