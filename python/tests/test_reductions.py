"""Reductions, prefix sums and histograms of arrays, against numpy."""

import numpy
import pytest

import mdh
from mdh import DTypeError, ProgramError, ShapeError, combine_operator, where
from mdh.reductions import histogram_text, reduce_program, reduce_text, scan_text

random = numpy.random.default_rng(4)


def integers(shape, dtype="int32", low=-9, high=9):
    return random.integers(max(low, 0) if dtype.startswith("u") else low, high, shape).astype(dtype)


def test_text_of_a_reduction():
    text = reduce_text(mdh.add, [(4, 5)], ["float32"], axis=1)
    assert "(d0 = 4, d1 = 5)" in text and "(cc, pw(addf))" in text and "-> tensor<4xf32>" in text
    assert "y0 = %y0_init[d0, 0] : tensor<4x1xf32>" in reduce_text(
        mdh.add, [(4, 5)], ["float32"], axis=1, keepdims=True
    )


def test_text_of_a_scan():
    assert "(cc, ps(addf))" in scan_text(mdh.add, [(4, 5)], ["float32"])
    text = scan_text(mdh.min, [(5,)], ["float32"], exclusive=True)
    assert "(d0 = 1 to 5)" in text and "dense<0x7F800000>" in text and "[d0 - 1]" in text


def test_text_of_a_histogram():
    text = histogram_text((100,), "int32", 16)
    assert "arith.cmpi eq" in text and "(cc, pw(addi))" in text and "-> tensor<16xi64>" in text


def test_programs_are_made_once():
    first = reduce_program(mdh.add, ((4,),), (mdh.fp32,))
    assert reduce_program(mdh.add, ((4,),), (mdh.fp32,)) is first


NUMPY = {
    "add": numpy.add,
    "mul": numpy.multiply,
    "min": numpy.minimum,
    "max": numpy.maximum,
    "and_": numpy.bitwise_and,
    "or_": numpy.bitwise_or,
    "xor": numpy.bitwise_xor,
}


@pytest.mark.runs
@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_reduce_along_axes(name, dtype):
    x = integers((3, 4, 5), dtype)
    for axis in [None, 0, -1, (0, 2), (1, -1)]:
        for keepdims in [False, True]:
            result = mdh.reduce(getattr(mdh, name), x, axis, keepdims)
            expected = NUMPY[name].reduce(x, axis=axis, keepdims=keepdims, dtype=dtype)
            assert result.dtype == x.dtype
            numpy.testing.assert_array_equal(result, expected)


@pytest.mark.runs
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_reduce_floats(dtype):
    x = random.uniform(0.5, 1.5, (6, 70)).astype(dtype)
    tolerance = 100 * numpy.finfo(dtype).eps
    numpy.testing.assert_allclose(mdh.reduce(mdh.add, x, 1), x.sum(axis=1), rtol=tolerance)
    numpy.testing.assert_allclose(mdh.reduce(mdh.add, x, dtype="fp64"), x.astype("float64").sum(), rtol=1e-12)
    numpy.testing.assert_array_equal(mdh.reduce(mdh.max, x, 0), x.max(axis=0))
    x[2, 3] = numpy.nan
    numpy.testing.assert_array_equal(mdh.reduce(mdh.max, x, 1), x.max(axis=1))


@pytest.mark.runs
def test_reduce_truth_values():
    x = random.integers(0, 2, (4, 9)).astype(bool)
    numpy.testing.assert_array_equal(mdh.reduce(mdh.or_, x, 1), x.any(axis=1))
    numpy.testing.assert_array_equal(mdh.reduce(mdh.and_, x, 1), x.all(axis=1))


@pytest.mark.runs
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
def test_positions(dtype):
    x = integers((5, 40), dtype) if dtype != "float32" else random.standard_normal((5, 40)).astype(dtype)
    if dtype == "float32":
        x[1, 7], x[2] = numpy.nan, -numpy.inf
    for op, value, position in [(mdh.argmax, x.max, x.argmax), (mdh.argmin, x.min, x.argmin)]:
        for axis in (0, 1):
            values, positions = mdh.reduce(op, x, axis)
            numpy.testing.assert_array_equal(positions, position(axis=axis))
            numpy.testing.assert_array_equal(values, value(axis=axis))


@pytest.mark.runs
def test_reduce_tuples():
    """Mean and squared distances from it (Welford)."""

    @combine_operator(commutative=True)
    def welford(a, b):
        n = a[2] + b[2]
        distance = b[0] - a[0]
        return a[0] + distance * b[2] / n, a[1] + b[1] + distance * distance * a[2] * b[2] / n, n

    x = random.uniform(0, 1, (3, 50))
    mean, squares, count = mdh.reduce(welford, (x, numpy.zeros_like(x), numpy.ones_like(x)), axis=1)
    numpy.testing.assert_allclose(mean, x.mean(axis=1))
    numpy.testing.assert_allclose(squares, x.var(axis=1) * 50)
    assert (count == 50).all()


@pytest.mark.runs
def test_reduce_into_an_array():
    x, y = integers((3, 4)), numpy.zeros(3, "int32")
    assert mdh.reduce(mdh.add, x, 1, out=y) is y
    numpy.testing.assert_array_equal(y, x.sum(axis=1))
    assert mdh.reduce(mdh.add, [1, 2, 3]) == 6


@pytest.mark.runs
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_scan(axis, reverse, exclusive, dtype):
    x = integers((6, 7), dtype)
    expected = (
        numpy.flip(numpy.cumsum(numpy.flip(x, axis), axis, dtype), axis) if reverse else numpy.cumsum(x, axis, dtype)
    )
    if exclusive:
        expected = (expected - x).astype(dtype)
    numpy.testing.assert_array_equal(mdh.scan(mdh.add, x, axis, reverse, exclusive), expected)


@pytest.mark.runs
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_that_does_not_commute(reverse):
    @combine_operator(neutral=(1, 0))
    def then(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    p, q = integers((9,), "int64", -2, 3), integers((9,), "int64", -2, 3)
    result = mdh.scan(then, (p, q), reverse=reverse)
    excluded = mdh.scan(then, (p, q), reverse=reverse, exclusive=True)
    for i in range(9):
        picked = range(i, 9) if reverse else range(i + 1)
        scale, shift = 1, 0
        for k in picked:
            scale, shift = scale * p[k], p[k] * shift + q[k]
        assert (result[0][i], result[1][i]) == (scale, shift)
    assert (excluded[0][8 if reverse else 0], excluded[1][8 if reverse else 0]) == (1, 0)
    if not reverse:
        assert (excluded[0][1:] == result[0][:-1]).all() and (excluded[1][1:] == result[1][:-1]).all()


@pytest.mark.runs
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_histogram(dtype):
    x = integers((300,), dtype, 0, 20)
    numpy.testing.assert_array_equal(mdh.histogram(x, bins=20), numpy.bincount(x, minlength=20))
    numpy.testing.assert_array_equal(mdh.histogram(x, bins=7), numpy.bincount(x, minlength=20)[:7])
    weights = integers((300,), "int64")
    numpy.testing.assert_array_equal(mdh.histogram(x, weights, bins=20), numpy.bincount(x, weights, 20))


@pytest.mark.runs
def test_histogram_of_negative_indices_and_matrices():
    x = integers((10, 12), "int32", -5, 9)
    numpy.testing.assert_array_equal(mdh.histogram(x, bins=9), numpy.bincount(x[x >= 0], minlength=9))


@pytest.mark.runs
def test_histogram_by_another_operator():
    x, weights = integers((100,), "int32", 0, 5), random.standard_normal(100).astype("float32")
    expected = [weights[x == b].max() if (x == b).any() else -numpy.inf for b in range(6)]
    numpy.testing.assert_array_equal(mdh.histogram(x, weights, bins=6, op=mdh.max), numpy.float32(expected))


@pytest.mark.runs
@pytest.mark.parametrize("shape", [(0,), (1,)])
def test_few_elements(shape):
    x = numpy.arange(1, 1 + shape[0], dtype="int32")
    assert mdh.reduce(mdh.add, x) == x.sum()
    numpy.testing.assert_array_equal(mdh.scan(mdh.add, x), x)
    numpy.testing.assert_array_equal(mdh.scan(mdh.add, x, exclusive=True), 0 * x)
    numpy.testing.assert_array_equal(mdh.histogram(x, bins=3), numpy.bincount(x, minlength=3))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: reduce_text(mdh.add, [(4, 5)], ["float32"], axis=2), ShapeError, "axis 2 of an array with 2 axes"),
        (lambda: reduce_text(mdh.add, [(4, 5)], ["float32"], axis=(0, -2)), ShapeError, "axis -2 twice"),
        (lambda: reduce_text(mdh.add, [(4,), (5,)], ["float32", "float32"]), ShapeError, r"sizes \[4\], \[5\]"),
        (lambda: reduce_text(mdh.add, [()], ["float32"]), ShapeError, "without axes"),
        (lambda: reduce_text(mdh.argmax, [(4, 5)], ["float32"]), ShapeError, "2 axes for argmax"),
        (lambda: reduce_text(mdh.xor, [(4,)], ["float32"]), mdh.TraceError, "expected integers"),
        (
            lambda: scan_text(lambda a, b: a + b + a * b, [(4,)], ["int32"], exclusive=True),
            ProgramError,
            "without a neutral",
        ),
        (lambda: histogram_text((4,), "float32", 3), DTypeError, "indices of fp32"),
        (lambda: histogram_text((4,), "int32", -3), ShapeError, "-3 bins"),
        (
            lambda: histogram_text((4,), "int32", 3, "int32", lambda a, b: where(a > b, a, b)),
            ProgramError,
            "without a neutral",
        ),
    ],
)
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.runs
def test_operators_have_names():
    x = numpy.arange(1, 7, dtype="int32").reshape(2, 3)
    assert (mdh.reduce("max", x, axis=1) == x.max(axis=1)).all()
    assert (mdh.scan("mul", x, axis=1) == x.cumprod(axis=1)).all()
    assert (mdh.histogram(x % 2, bins=2, op="add") == [3, 3]).all()
    with pytest.raises(ProgramError, match="found 'sum' as what combines, expected one of add, mul"):
        mdh.reduce("sum", x)
