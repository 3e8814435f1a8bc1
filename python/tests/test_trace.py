"""Tracing: what becomes of Python code, and every mistake that it refuses, with the place in this file."""

import inspect
import math

import numpy
import pytest

import mdh
from mdh import TraceError
from mdh.emit import region
from mdh.scalar import trace_scalar
from mdh.types import bool_, fp16, fp32, fp64, int8, int32, int64, uint8


def trace(function, *dtypes, result=None):
    """The results of a function of values with these types."""
    return trace_scalar(
        function, ["i", "k"], [((name, 1), dtype) for name, dtype in zip("xyz", dtypes)], [(("w", 1), result)]
    )


def lines(function, *dtypes, result=None):
    """The operations of a function, without names and types of values."""
    _, text = region([(name, dtype) for name, dtype in zip("xyz", dtypes)], trace(function, *dtypes, result=result))
    return [line.partition(" = ")[2].partition(" ")[0] or "yield" for line in text]


def text(function, *dtypes, result=None):
    """The region of a function."""
    return "\n".join(
        region([(name, dtype) for name, dtype in zip("xyz", dtypes)], trace(function, *dtypes, result=result))[1]
    )


def test_common_subexpressions_are_emitted_once():
    assert lines(lambda x, y: (x * y) * (y * x) + x * y, fp32, fp32) == [
        "arith.mulf",
        "arith.mulf",
        "arith.addf",
        "yield",
    ]


def test_what_nothing_uses_is_not_emitted():
    assert lines(lambda x, y: (x * y, x + y)[1], fp32, fp32) == ["arith.addf", "yield"]


@pytest.mark.parametrize(
    "function, dtype, operations",
    [
        (lambda x: x + 1, int32, ["arith.constant", "arith.addi"]),
        (lambda x: 1.5 * x, fp16, ["arith.constant", "arith.mulf"]),
        (lambda x: x**2, fp32, ["arith.mulf"]),
        (lambda x: x**3, int32, ["arith.muli", "arith.muli"]),
        (lambda x: x**0.5, fp32, ["math.sqrt"]),
        (lambda x: x**-1, fp32, ["arith.constant", "arith.divf"]),
        (lambda x: x // 2, uint8, ["arith.constant", "arith.divui"]),
        (lambda x: x // 2, int8, ["arith.constant", "arith.floordivsi"]),
        (lambda x: -x, fp32, ["arith.negf"]),
        (lambda x: x >> 1, uint8, ["arith.constant", "arith.shrui"]),
        (lambda x: abs(x), fp32, ["math.absf"]),
        (lambda x: round(x), fp32, ["math.roundeven"]),
        (lambda x: math.floor(x), fp32, ["math.floor"]),
        (lambda x: mdh.where(x > 0, x, 0), int32, ["arith.constant", "arith.cmpi", "arith.select"]),
        (lambda x: mdh.cast(x, uint8), int8, []),
        (lambda x: mdh.cast(x, fp32), uint8, ["arith.uitofp"]),
        (lambda x: mdh.cast(x, int64), bool_, ["arith.extui"]),
        (lambda x: numpy.float32(2) * x, fp32, ["arith.constant", "arith.mulf"]),
    ],
)
def test_operations(function, dtype, operations):
    assert lines(function, dtype)[:-1] == operations


def test_signs_are_those_of_the_types():
    assert "cmpi slt" in text(lambda x, y: x < y, int32, int32)
    assert "cmpi ult" in text(lambda x, y: x < y, uint8, uint8)
    assert "minui" in text(mdh.minimum, uint8, uint8) and "minsi" in text(mdh.minimum, int8, int8)


@pytest.mark.parametrize(
    "function, dtypes, dtype",
    [
        (lambda x, y: x + y, (int8, uint8), mdh.int16),
        (lambda x, y: x * y, (fp16, int32), fp64),
        (lambda x: x / 2, (int32,), fp64),
        (lambda x: x * 2, (fp16,), fp16),
        (lambda x: x + 2.5, (int32,), fp64),
        (lambda x: mdh.where(x > 0, 1.0, 0.0) * x, (fp16,), fp16),
        (lambda x: mdh.where(x > 0, 1, 0), (fp16,), int64),
        (lambda x: mdh.exp(x), (int8,), fp16),
        (lambda x: mdh.index("k") * x, (fp32,), fp32),
        (lambda x: mdh.index(0), (fp32,), mdh.types.INDEX),
    ],
)
def test_types_of_results(function, dtypes, dtype):
    with mdh.trace.Trace("a test", ["i", "k"]) as graph:
        assert function(*(graph.argument(at, part) for at, part in enumerate(dtypes))).dtype is dtype


LEAK = []


def leaks(x):
    LEAK.append(x)
    return LEAK[0] + x


COUNT = [0]


def counts(x):
    COUNT[0] += 1
    return x * COUNT[0]


def branches(x):
    if x > 0:  # the line
        return x
    return -x


def loops_while(x):
    while x > 0:  # the line
        x = x - 1
    return x


MISTAKES = [
    (branches, fp32, r"Python branch.*mdh\.where"),
    (loops_while, fp32, r"Python branch.*mdh\.where"),
    (lambda x: x > 0 and x < 1, fp32, r"Python branch.*&, \| and ~"),
    (lambda x: x > 0 or x < 1, fp32, "Python branch"),
    (lambda x: not x, fp32, "Python branch"),
    (lambda x: 0 < x < 1, fp32, "Python branch"),
    (lambda x: max(x, 0), fp32, r"mdh\.maximum"),
    (lambda x: x if x else 0, fp32, "Python branch"),
    (lambda x: bool(x), fp32, "Python branch"),
    (lambda x: int(x), fp32, r"int\(\).*mdh\.cast\(value, int64\)"),
    (lambda x: float(x), int32, r"float\(\).*mdh\.cast\(value, fp64\)"),
    (lambda x: complex(x), fp32, r"complex\(\)"),
    (lambda x: math.exp(x), fp32, r"mdh\.exp"),
    (lambda x: len(x), fp32, r"len\(\)"),
    (lambda x: list(x), fp32, "iteration"),
    (lambda x: x[0], fp32, "an element"),
    (lambda x: 1 in x, fp32, "'in'"),
    (lambda x: [1, 2, 3][x], int32, "affine"),
    (lambda x: range(x), int32, r"range\(\)"),
    (lambda x: numpy.exp(x), fp32, r"numpy\.exp.*mdh\.exp"),
    (lambda x: numpy.absolute(x), fp32, r"mdh\.abs"),
    (lambda x: numpy.ones(3) * x, fp32, r"numpy\.multiply"),
    (lambda x: numpy.asarray(x), fp32, "numpy array"),
    (lambda x: numpy.concatenate([x, x]), fp32, r"numpy"),
    (lambda x: x + "a", fp32, "found 'a' of type str"),
    (lambda x: x + 1j, fp32, "complex"),
    (lambda x: x + 300, int8, "constant 300 beside a value of int8, which holds -128 to 127"),
    (lambda x: x - -1, uint8, "constant -1"),
    (lambda x: x & 1, fp32, "expected integers or truth values"),
    (lambda x: ~x, fp32, "expected an integer"),
    (lambda x: -(x > 0), fp32, "expected ~"),
    (lambda x: (x > 0) - (x < 0), fp32, "between truth values"),
    (lambda x: x // 0, int32, "division by zero"),
    (lambda x: x << 32, int32, "expected 0 to 31"),
    (lambda x: x**-2, int32, "power of -2"),
    (lambda x: x**x, uint8, "signed integers"),
    (lambda x: pow(x, 2, 3), int32, "modulus"),
    (lambda x: round(x, 2), fp32, "digits"),
    (lambda x: mdh.index("j"), fp32, "expected one of the dimensions i, k"),
    (leaks, fp32, "must not store values"),
    (counts, fp32, "two different results"),
    (lambda x: (x, x), fp32, "found 2 results.*expected one for each of the 1"),
    (lambda x: None, fp32, "expected one for each of the 1"),
]


@pytest.mark.parametrize("function, dtype, message", MISTAKES)
def test_mistakes_are_located(function, dtype, message):
    LEAK.clear()
    with pytest.raises(TraceError, match=message) as raised:
        trace(function, dtype)
    place = str(raised.value).partition(": ")[0]
    file, line = place.rpartition(":")[::2]
    assert file == __file__
    source, start = inspect.getsourcelines(function)
    assert start <= int(line) < start + len(source)
    assert str(raised.value).splitlines()[-1].startswith("    ")


def test_the_line_is_that_of_the_mistake():
    with pytest.raises(TraceError) as raised:
        trace(branches, fp32)
    assert str(raised.value).splitlines()[-1] == "    if x > 0:  # the line"


def test_values_outside_of_a_function():
    escaped = []
    trace(lambda x: escaped.append(x) or x, fp32)
    with pytest.raises(TraceError, match="must not store values"):
        escaped[0] + 1
    with pytest.raises(TraceError, match="outside of a scalar function"):
        mdh.index(0)
    with pytest.raises(TraceError, match="outside of a scalar function"):
        mdh.cast(1, fp32)


def test_floats_are_not_assigned_to_integers():
    with pytest.raises(mdh.DTypeError, match="value of fp32 for 'w' of int32, expected mdh.cast"):
        trace(lambda x: x, fp32, result=int32)


def test_numbers_alone_are_numbers():
    assert mdh.sqrt(4.0) == 2.0 and mdh.where(True, 1, 2) == 1 and mdh.minimum(3, 2) == 2 and mdh.sign(-3.5) == -1
    with pytest.raises(mdh.DTypeError, match="numpy's are for arrays"):
        mdh.exp(numpy.ones(3))
