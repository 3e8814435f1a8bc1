"""Einsums: numpy's notation and types, any operators, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
from einsums import Einsum

import mdh
from mdh import errors

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
          "complex64", "complex128"]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))


def numbers(random, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(0, 5, shape).astype(dtype)
    if dtype.kind == "c":
        return (random.integers(-4, 5, shape) + 1j * random.integers(-4, 5, shape)).astype(dtype)
    return random.integers(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize(
    "spec, shapes",
    [
        ("ij,jk->ik", [(5, 4), (4, 3)]),
        ("ij,jk", [(5, 4), (4, 3)]),
        ("ii", [(4, 4)]),
        ("ii->i", [(4, 4)]),
        ("ij->", [(3, 4)]),
        ("ij->ji", [(3, 4)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
        ("i,->i", [(4,), ()]),
        (",", [(), ()]),
        (" i j , j -> i", [(3, 4), (4,)]),
        ("aAb,b->Aa", [(2, 3, 4), (4,)]),
        ("ij,jk,kl,lm->im", [(3, 4), (4, 5), (5, 2), (2, 3)]),
        ("ijk,ijk->k", [(2, 3, 4), (2, 1, 4)]),
        ("ij,ij->ij", [(0, 3), (0, 3)]),
        ("ij->i", [(3, 0)]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64", "bool"])
def test_notation(spec, shapes, dtype):
    random = np.random.default_rng(1)
    operands = [numbers(random, shape, dtype) for shape in shapes]
    expected = np.einsum(spec, *operands)
    result = mdh.einsum(spec, *operands)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
def test_types_are_promoted(left, right):
    random = np.random.default_rng(2)
    a, b = numbers(random, (3, 4), left), numbers(random, (4, 5), right)
    expected = np.einsum("ij,jk->ik", a, b)
    result = mdh.einsum("ij,jk->ik", a, b)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_laws_of_both_operators_decide_the_order():
    """A product of three matrices in two steps, if it is said that the one distributes over the other."""
    random = np.random.default_rng(5)
    a, b, c = [random.integers(1, 9, shape).astype("float64") for shape in [(6, 7), (7, 8), (8, 5)]]

    @mdh.combine_operator(commutative=True)
    def plus(x, y):
        return x + y

    words = {"combine": "min", "scalar": plus}
    expected = (a[:, :, None, None] + b[None, :, :, None] + c[None, None]).min(axis=(1, 2))
    for distributes in [False, True]:
        np.testing.assert_array_equal(
            mdh.einsum("ij,jk,kl->il", a, b, c, **words, distributes=distributes), expected
        )
        program = mdh.compile_einsum("ij,jk,kl->il", a, b, c, **words, distributes=distributes)
        assert len(program.path) == 1 + distributes
    with pytest.raises(errors.ProgramError, match="of two names"):
        mdh.einsum("ij,jk->ik", a, b, combine="min", scalar="add", distributes=True)
    with pytest.raises(errors.ProgramError, match="not known to commute"):
        mdh.einsum("ij,jk->ik", a, b, combine="min", scalar=lambda x, y: x - y, distributes=True)


@pytest.mark.parametrize("view", [np.transpose, np.asfortranarray, lambda a: a[::-1], lambda a: a[::2, 1:],
                                  lambda a: np.broadcast_to(a[0], (4, 6))])
def test_memory_orders(view):
    random = np.random.default_rng(3)
    a = view(numbers(random, (6, 6), "float32"))
    b = numbers(random, (a.shape[1], 5), "float32")
    np.testing.assert_array_equal(mdh.einsum("ij,jk->ik", a, b), a @ b)
    c = numbers(random, (2, 6, 6), "complex64").transpose(2, 0, 1)
    np.testing.assert_array_equal(mdh.einsum("ijk->kji", c), np.einsum("ijk->kji", c))


def test_results_where_they_are_wanted():
    a, b = np.ones((3, 4)), np.ones((4, 5))
    out = np.zeros((3, 5))
    assert mdh.einsum("ij,jk->ik", a, b, out=out) is out and (out == 4).all()
    out = np.zeros((3, 5), complex)
    assert mdh.einsum("ij,jk->ik", a + 0j, b, out=out) is out and (out == 4).all()
    with pytest.raises(errors.DTypeError):
        mdh.einsum("ij,jk->ik", a, b, out=np.zeros((3, 5), np.float32))
    with pytest.raises(errors.ShapeError):
        mdh.einsum("ij,jk->ik", a, b, out=np.zeros((5, 3)))


@pytest.mark.parametrize(
    "combine, scalar, reduce, multiply",
    [
        ("min", "add", np.min, np.add),
        ("max", "add", np.max, np.add),
        ("max", "min", np.max, np.minimum),
        ("max", "mul", np.max, np.multiply),
        ("add", "sub", np.sum, np.subtract),
        ("logaddexp", "add", np.logaddexp.reduce, np.add),
    ],
)
def test_operators(combine, scalar, reduce, multiply):
    random = np.random.default_rng(4)
    a, b = random.random((4, 6)), random.random((6, 5))
    points = multiply(a[:, :, None], b[None])
    expected = reduce(points, axis=1)
    np.testing.assert_allclose(mdh.einsum("ik,kj->ij", a, b, combine=combine, scalar=scalar), expected, rtol=1e-12)


def test_operators_that_are_functions():
    random = np.random.default_rng(5)
    a, b = random.random((4, 6)), random.random((6, 5))
    smallest = mdh.combine_operator(lambda x, y: mdh.where(x < y, x, y), commutative=True)
    result = mdh.einsum("ik,kj->ij", a, b, combine=smallest, scalar=lambda x, y: abs(x - y))
    np.testing.assert_array_equal(result, np.abs(a[:, :, None] - b[None]).min(axis=1))


def test_paths():
    random = np.random.default_rng(6)
    operands = [numbers(random, (4, 4), "float64") for _ in range(4)]
    spec = "ij,jk,kl,li->"
    program = mdh.compile_einsum(spec, *operands, path=[(0, 3), (0, 1), (0, 1)])
    assert program.path == [(0, 3), (0, 1), (0, 1)]
    expected = np.einsum(spec, *operands)
    assert mdh.einsum(spec, *operands, path=program.path) == expected
    assert mdh.einsum(spec, *operands, path=["einsum_path", (0, 1), (0, 1), (0, 1)]) == expected
    with pytest.raises(errors.ProgramError, match="7"):
        mdh.einsum(spec, *operands, path=[(0, 7)])


def test_lists_of_indices():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(mdh.einsum(a, [0, 1], b, [1, 2], [2, 0]), np.einsum(a, [0, 1], b, [1, 2], [2, 0]))
    np.testing.assert_array_equal(mdh.einsum(a, [..., 1], b, [1, 2]), np.einsum(a, [..., 1], b, [1, 2]))
    np.testing.assert_array_equal(mdh.einsum("i,i", [1, 2, 3], [4, 5, 6]), 32)


@pytest.mark.parametrize(
    "spec, message",
    [
        ("ij,jk->il", "l"),
        ("ij,jk->iik", "i"),
        ("ij,jk->i!k", "!"),
        ("ij->ij", "operand"),
        ("ijk,jk->ik", "ijk"),
        ("ij,jk->->ik", "->"),
        ("i.j,jk->ik", "."),
    ],
)
def test_mistakes_have_their_place(spec, message):
    with pytest.raises(errors.ProgramError) as caught:
        mdh.einsum(spec, np.ones((3, 4)), np.ones((4, 5)))
    assert message in str(caught.value) and "^" in str(caught.value)


def test_what_is_no_einsum():
    a = np.ones((3, 3))
    for wrong in [lambda: mdh.einsum("ij,jk->ik", a, np.ones((4, 5))),
                  lambda: mdh.einsum("ij,jk->ik", a, a, combine="best"),
                  lambda: mdh.einsum("ij,jk->ik", a, a, combine=["add"]),
                  lambda: mdh.einsum("ij,jk->ik", a, np.empty((3, 3), object)),
                  lambda: mdh.einsum("ij->i", np.array([["a"]])),
                  lambda: mdh.einsum("ij->i", a, combine="xor")]:
        with pytest.raises(mdh.Error):
            wrong()


def random_einsum(random):
    """A spec with operands, whose numbers are small enough for sums without rounding."""
    einsum = Einsum(random, DTYPES)
    return einsum.spec, [random_view(random, operand) for operand in einsum.arrays(numbers)]


def random_view(random, array):
    """The same numbers, in memory of another order."""
    order = random.permutation(array.ndim)
    array = np.ascontiguousarray(array.transpose(order)).reshape([array.shape[axis] for axis in order])
    return array.transpose(np.argsort(order))


@pytest.mark.parametrize("part", range(10))
def test_random_einsums(part, random_cases):
    for seed in range(random_cases.start + part, random_cases.stop, 10):
        spec, operands = random_einsum(np.random.default_rng(seed))
        shapes = [(operand.shape, operand.dtype.name) for operand in operands]
        expected = np.einsum(spec, *operands)
        result = mdh.einsum(spec, *operands)
        assert result.dtype == expected.dtype and result.shape == expected.shape, (seed, spec, shapes)
        np.testing.assert_array_equal(result, expected, err_msg=f"seed {seed}: {spec} of {shapes}")


def test_compiled_einsums_take_the_arrays_they_are_for():
    square = np.asfortranarray(np.arange(9.0).reshape(3, 3))
    program = mdh.compile_einsum("ij,jk->ik", square, np.eye(3))
    np.testing.assert_array_equal(program(square, np.eye(3)), square)
    assert "passed" in program.check(square, np.eye(3))
    assert "mdh.compute" in program.mlir() and "cycles" in program.explain()
    with pytest.raises(errors.ShapeError, match=r"float64\[3, 3\] with the axes \[1, 0\] in memory"):
        program(square.copy("C"), np.eye(3))
    program.schedule = {"layers": [{"main": {"i": "*", "j": "*", "k": "*"}}]}
    np.testing.assert_array_equal(program(square, np.eye(3)), square)
    c = np.asfortranarray(np.ones((3, 3), "complex128"))
    np.testing.assert_array_equal(mdh.compile_einsum("ij->i", c)(c), c.sum(axis=1))


def test_compiled_einsums_are_compiled_computations(tmp_path):
    """With all that these have, for the arrays' axes as they lie in memory."""
    a, b = np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(12.0).reshape(3, 4))
    program = mdh.compile_einsum("ij,jk->ik", a, b)
    assert isinstance(program, mdh.Compiled) and program.argument_names == ["op1", "op2"]
    assert program.shape == (2, 4) and program.dtype == "float64" and "layers" in program.schedule
    program.save(tmp_path / "libproduct.so")
    np.testing.assert_array_equal(mdh.load(tmp_path / "libproduct.so")(a, b.T), a @ b)
    np.testing.assert_array_equal(mdh.einsum("ij->i", a, schedule={"layers": [{"main": {"i": "*", "j": "*"}}]}), a.sum(1))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_tuples(dtype, order):
    """The smallest sum, and the index where it is."""
    random = np.random.default_rng(6)
    a = random.integers(-9, 9, (6, 7)).astype(dtype, order=order)
    b = random.integers(-9, 9, (7, 5)).astype(dtype, order=order)
    sums = a[:, :, None] + b[None]

    def pair(x, y):
        return x + y, mdh.cast(mdh.index("k"), mdh.int64)

    value, position = mdh.einsum("ik,kj->ij", a, b, combine=mdh.argmin, scalar=pair)
    np.testing.assert_array_equal(value, sums.min(axis=1))
    np.testing.assert_array_equal(position, sums.argmin(axis=1))
    assert value.dtype == dtype and position.dtype == "int64"
    out = np.empty((6, 5), dtype), np.empty((6, 5), "int64")
    mdh.einsum("ik,kj", a, b, combine="argmin", scalar=pair, out=out)
    np.testing.assert_array_equal(out[1].T if out[1].shape != position.shape else out[1], position)
    total, squares = mdh.einsum("...i,->...", a, np.array(2, dtype), combine=both, scalar=lambda x, y: (x * y, x * x))
    np.testing.assert_array_equal(total, 2 * a.sum(axis=1))
    np.testing.assert_array_equal(squares, (a * a).sum(axis=1))


@mdh.combine_operator(commutative=True)
def both(first, second):
    return first[0] + second[0], first[1] + second[1]


@pytest.mark.parametrize("path", [5, [(-1, 0)], [("a", "b")], [(0.0, 1.0)], "greedy"])
def test_what_is_no_path(path):
    a = np.ones((3, 3))
    with pytest.raises(errors.ProgramError, match="expected the positions of operands for each step"):
        mdh.einsum("ij,jk->ik", a, a, path=path)


def test_lists_of_indices_are_of_any_integers():
    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(mdh.einsum(a, np.array([0, 1]), [np.int64(1), 0]), a.T)


def test_results_that_do_not_fit():
    c = np.ones((3, 3), "complex64")
    with pytest.raises(errors.ShapeError, match=r"shape \(3, 3\), expected \(3,\)"):
        mdh.einsum("ij->i", c, out=np.zeros((3, 3), "complex64"))
    frozen = np.zeros(3, "complex64")
    frozen.flags.writeable = False
    with pytest.raises(errors.ProgramError, match="read-only"):
        mdh.einsum("ij->i", c, out=frozen)
    with pytest.raises(errors.DTypeError, match="uint32, expected int32"):
        mdh.reduce("min", np.array([-1, 2], "int32"), out=np.zeros((), "uint32"))
    with pytest.raises(errors.ResourceError, match="a result of shape"):
        mdh.einsum("i,j,k->ijk", *[np.ones(2**17)] * 3)


def test_options_of_the_compiler():
    a = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(mdh.einsum("ij,jk->ik", a, a, deterministic=True), a @ a)
    with pytest.raises(errors.DeviceError, match="'tpu'"):
        mdh.einsum("ij,jk->ik", a, a, device="tpu")


def test_users_without_a_home(monkeypatch):
    def home():
        raise RuntimeError("Could not determine home directory.")

    for name in ["MDH_CACHE", "XDG_CACHE_HOME"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pathlib.Path.home", home)
    np.testing.assert_array_equal(mdh.einsum("ab->ba", np.ones((2, 9))), np.ones((9, 2)))


FORKED = """
import os, signal, threading, time
import numpy as np
import mdh
from mdh import errors

# Modules are imported before: Python's own locks of imports are inherited, too.
mdh.einsum("ij->ji", np.ones((5, 7)))
mdh.scan("add", np.ones(3))
work = threading.Thread(target=lambda: [mdh.scan("add", np.ones((3, 4, n)), axis=1) for n in range(2, 40)], daemon=True)
work.start()
time.sleep(0.3)
for _ in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            mdh.einsum("ij,jk->ik", np.ones((5, 7)), np.ones((7, 3)))
        except errors.ProgramError as error:
            assert "forked while another thread compiled" in str(error)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    time.sleep(0.05)
print("done")
"""


def test_a_child_that_is_forked_while_a_thread_compiles():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=300)
    assert done.stdout == "done\n", done.stdout + done.stderr
