"""Values of every operation, against numpy: as a graph is evaluated, and as compiled code computes it."""

import math

import numpy
import pytest

import mdh
from mdh.affine import dimension
from mdh.computation import run
from mdh.evaluate import evaluate
from mdh.operators import cc
from mdh.program import Accesses, Described, Form, make_program
from mdh.scalar import trace_scalar
from mdh.sizes import OpenDimension
from mdh.trace import Trace
from mdh.types import basic_type

FLOATS = {
    "add": (lambda x, y: x + y, numpy.add),
    "sub": (lambda x, y: x - y, numpy.subtract),
    "mul": (lambda x, y: x * y, numpy.multiply),
    "div": (lambda x, y: x / y, numpy.divide),
    "floordiv": (lambda x, y: x // y, numpy.floor_divide),
    "mod": (lambda x, y: x % y, numpy.remainder),
    "lt": (lambda x, y: x < y, numpy.less),
    "le": (lambda x, y: x <= y, numpy.less_equal),
    "gt": (lambda x, y: x > y, numpy.greater),
    "ge": (lambda x, y: x >= y, numpy.greater_equal),
    "eq": (lambda x, y: x == y, numpy.equal),
    "ne": (lambda x, y: x != y, numpy.not_equal),
    "neg": (lambda x, y: -x, lambda x, y: -x),
    "abs": (lambda x, y: abs(x), lambda x, y: abs(x)),
    "min": (mdh.minimum, numpy.minimum),
    "max": (mdh.maximum, numpy.maximum),
    "fmin": (mdh.fmin, numpy.fmin),
    "fmax": (mdh.fmax, numpy.fmax),
    "copysign": (mdh.copysign, numpy.copysign),
    "where": (lambda x, y: mdh.where(x > y, x, y), lambda x, y: numpy.where(x > y, x, y)),
    "floor": (lambda x, y: mdh.floor(x), lambda x, y: numpy.floor(x)),
    "ceil": (lambda x, y: mdh.ceil(x), lambda x, y: numpy.ceil(x)),
    "trunc": (lambda x, y: mdh.trunc(x), lambda x, y: numpy.trunc(x)),
    "round": (lambda x, y: mdh.round(x), lambda x, y: numpy.rint(x)),
    "isnan": (lambda x, y: mdh.isnan(x), lambda x, y: numpy.isnan(x)),
    "isinf": (lambda x, y: mdh.isinf(x), lambda x, y: numpy.isinf(x)),
    "isfinite": (lambda x, y: mdh.isfinite(x), lambda x, y: numpy.isfinite(x)),
    "sign": (lambda x, y: mdh.sign(x), lambda x, y: numpy.sign(x)),
    "square": (lambda x, y: x**2, lambda x, y: x * x),
    "sqrt": (lambda x, y: mdh.sqrt(abs(x)), lambda x, y: numpy.sqrt(abs(x))),
    "clip": (lambda x, y: mdh.clip(x, -1, 1), lambda x, y: numpy.clip(x, -1, 1)),
    "truth": (lambda x, y: mdh.cast(x, bool), lambda x, y: x.astype(bool)),
    "logical": (mdh.logical_and, numpy.logical_and),
    "not": (lambda x, y: mdh.logical_not(x), lambda x, y: ~x.astype(bool)),
    "integer": (
        lambda x, y: mdh.cast(mdh.where(abs(x) < 100, x, 0), "int32"),
        lambda x, y: numpy.where(abs(x) < 100, x, 0).astype("int32"),
    ),
}

INTEGERS = {
    name: FLOATS[name]
    for name in [
        "add",
        "sub",
        "mul",
        "floordiv",
        "mod",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "abs",
        "min",
        "max",
        "fmin",
        "where",
        "sign",
        "square",
        "truth",
        "logical",
        "not",
        "floor",
        "isnan",
        "isfinite",
    ]
}
INTEGERS.update(
    {
        "neg": FLOATS["neg"],
        "and": (lambda x, y: x & y, numpy.bitwise_and),
        "or": (lambda x, y: x | y, numpy.bitwise_or),
        "xor": (lambda x, y: x ^ y, numpy.bitwise_xor),
        "invert": (lambda x, y: ~x, lambda x, y: ~x),
        "cube": (lambda x, y: x**3, lambda x, y: x * x * x),
        "shl": (lambda x, y: x << 3, lambda x, y: x << 3),
        "shr": (lambda x, y: x >> 3, lambda x, y: x >> 3),
        "shl_by": (lambda x, y: x << (y & 15), lambda x, y: x << (y & 15)),
        "shr_by": (lambda x, y: x >> (y & 15), lambda x, y: x >> (y & 15)),
        "div3": (lambda x, y: x // 3, lambda x, y: x // 3),
        "mod3": (lambda x, y: x % 3, lambda x, y: x % 3),
        "float": (lambda x, y: mdh.cast(x, "fp32"), lambda x, y: x.astype("float32")),
        "wide": (lambda x, y: mdh.cast(x, "int64"), lambda x, y: x.astype("int64")),
        "narrow": (lambda x, y: mdh.cast(x, "uint8"), lambda x, y: x.astype("uint8")),
        "half": (lambda x, y: x / 2, lambda x, y: x / 2),
    }
)
SIGNED = {
    "div-3": (lambda x, y: x // -3, lambda x, y: x // -3),
    "mod-3": (lambda x, y: x % -3, lambda x, y: x % -3),
    "div-1": (lambda x, y: x // -1, lambda x, y: x // -1),
    "mod-1": (lambda x, y: x % -1, lambda x, y: x % -1),
}

# Functions whose results differ in the last places between libraries.
APPROXIMATE = {
    "exp": (mdh.exp, numpy.exp),
    "exp2": (mdh.exp2, numpy.exp2),
    "expm1": (mdh.expm1, numpy.expm1),
    "log": (lambda x: mdh.log(abs(x)), lambda x: numpy.log(abs(x))),
    "log2": (lambda x: mdh.log2(abs(x)), lambda x: numpy.log2(abs(x))),
    "log10": (lambda x: mdh.log10(abs(x)), lambda x: numpy.log10(abs(x))),
    "log1p": (lambda x: mdh.log1p(abs(x)), lambda x: numpy.log1p(abs(x))),
    "sin": (mdh.sin, numpy.sin),
    "cos": (mdh.cos, numpy.cos),
    "tan": (mdh.tan, numpy.tan),
    "tanh": (mdh.tanh, numpy.tanh),
    "sinh": (mdh.sinh, numpy.sinh),
    "cosh": (mdh.cosh, numpy.cosh),
    "asin": (lambda x: mdh.asin(x / 9), lambda x: numpy.arcsin(x / 9)),
    "acos": (lambda x: mdh.acos(x / 9), lambda x: numpy.arccos(x / 9)),
    "atan": (mdh.atan, numpy.arctan),
    "asinh": (mdh.asinh, numpy.arcsinh),
    "acosh": (lambda x: mdh.acosh(1 + x * x), lambda x: numpy.arccosh(1 + x * x)),
    "atanh": (lambda x: mdh.atanh(x / 9), lambda x: numpy.arctanh(x / 9)),
    "cbrt": (mdh.cbrt, numpy.cbrt),
    "rsqrt": (lambda x: mdh.rsqrt(x * x + 1), lambda x: 1 / numpy.sqrt(x * x + 1)),
    "erf": (mdh.erf, numpy.vectorize(math.erf)),
    "erfc": (mdh.erfc, numpy.vectorize(math.erfc)),
    "atan2": (lambda x: mdh.atan2(x, 2), lambda x: numpy.arctan2(x, 2)),
    "pow": (lambda x: abs(x) ** 1.7, lambda x: abs(x) ** 1.7),
    "hypot": (lambda x: mdh.hypot(x, 3), lambda x: numpy.hypot(x, 3)),
    "fma": (lambda x: mdh.fma(x, 3, 1), lambda x: x * 3 + 1),
}


def pairs(dtype):
    """Two arrays with pairs of numbers of a type, of all special ones too."""
    random = numpy.random.default_rng(5)
    if numpy.dtype(dtype).kind == "f":
        special = numpy.array([0, -0.0, 1, -1, 0.5, 2.5, -2.5, 7, -3, numpy.inf, -numpy.inf, numpy.nan], dtype)
        values = numpy.concatenate([special, (random.standard_normal(20) * 10).astype(dtype)])
    else:
        limits = numpy.iinfo(dtype)
        values = numpy.array([0, 1, 2, 3, 7, 100, limits.min, limits.max, limits.max - 1, limits.min + 1], dtype)
        if limits.min < 0:
            values = numpy.concatenate([values, numpy.array([-1, -2, -3, -8], dtype)])
    x, y = numpy.meshgrid(values, values)
    return x.ravel(), y.ravel()


def same(result, expected, name):
    if expected.dtype.kind == "f":
        is_nan = numpy.isnan(expected)
        numpy.testing.assert_array_equal(numpy.isnan(result), is_nan, name)
        result, expected = result[~is_nan], expected[~is_nan]
    numpy.testing.assert_array_equal(result, expected, name)


TABLES = (
    [(dtype, FLOATS) for dtype in ["float32", "float64"]]
    + [(dtype, {**INTEGERS, **SIGNED}) for dtype in ["int8", "int16", "int32", "int64"]]
    + [(dtype, INTEGERS) for dtype in ["uint8", "uint16", "uint32", "uint64"]]
)


@pytest.mark.parametrize("dtype, table", TABLES, ids=[dtype for dtype, _ in TABLES])
def test_evaluated_graphs(dtype, table):
    x, y = pairs(dtype)
    basic = basic_type(dtype)
    with numpy.errstate(all="ignore"):
        for name, (function, reference) in table.items():
            with Trace("a test") as trace:
                result = function(trace.argument(0, basic), trace.argument(1, basic))
            expected = reference(x, y)
            same(evaluate([result], [x, y])[0], expected, name)
            assert result.dtype.to_numpy() == expected.dtype, name


def compiled(functions, dtype, *arrays):
    """Results of functions of values, all in one program."""
    basic = basic_type(dtype)
    inputs = [Accesses(f"x{at}", ((dimension(0),),)) for at in range(len(arrays))]
    outputs = [Accesses(f"y{at}", ((dimension(0),),)) for at in range(len(functions))]
    results = trace_scalar(
        lambda *values: tuple(function(*values) for function in functions),
        ["i"],
        [((view.name, 1), basic) for view in inputs],
        [((view.name, 1), None) for view in outputs],
    )
    known = {
        **{view.name: Described(array.shape, basic) for view, array in zip(inputs, arrays)},
        **{view.name: Described() for view in outputs},
    }
    form = Form((OpenDimension("i"),), tuple(outputs), tuple(inputs), results, (cc,))
    return run(make_program("values", form, known, set()), arrays, None, {})


@pytest.mark.runs
@pytest.mark.parametrize("dtype, table", TABLES, ids=[dtype for dtype, _ in TABLES])
def test_compiled_operations(dtype, table):
    x, y = pairs(dtype)
    result = compiled([function for function, _ in table.values()], dtype, x, y)
    with numpy.errstate(all="ignore"):
        for array, (name, (_, reference)) in zip(result, table.items()):
            expected = reference(x, y)
            assert array.dtype == expected.dtype, name
            same(array, expected, name)


@pytest.mark.runs
@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("float32", 2e-6), ("float64", 1e-14)])
def test_compiled_functions(dtype, tolerance):
    x = numpy.linspace(-8, 8, 101).astype(dtype)
    result = compiled([function for function, _ in APPROXIMATE.values()], dtype, x)
    # In 16 bits, the largest results are infinite; so is the logarithm of 0 in all.
    with numpy.errstate(all="ignore"):
        for array, (name, (_, reference)) in zip(result, APPROXIMATE.items()):
            expected = reference(x.astype("float64")).astype(dtype)
            numpy.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.runs
def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x, y = (part.astype(ml_dtypes.bfloat16) for part in pairs("float32"))
    functions = {name: FLOATS[name] for name in ["add", "sub", "mul", "lt", "eq", "neg", "abs", "min", "max", "where"]}
    functions["half"] = (lambda x, y: mdh.cast(x, "fp16"), lambda x, y: x.astype("float32").astype("float16"))
    functions["single"] = (lambda x, y: mdh.cast(x, "fp32") * 2, lambda x, y: x.astype("float32") * 2)
    functions["back"] = (lambda x, y: mdh.cast(mdh.cast(x, "fp64"), "bf16"), lambda x, y: x)
    results = compiled([function for function, _ in functions.values()], x.dtype, x, y)
    with numpy.errstate(all="ignore"):
        for array, (name, (_, reference)) in zip(results, functions.items()):
            expected = reference(x, y)
            assert array.dtype == expected.dtype, name
            same(array.astype("float32"), expected.astype("float32"), name)


@pytest.mark.runs
def test_integers_to_powers():
    x, y = numpy.meshgrid(numpy.arange(-5, 6), numpy.arange(0, 7))
    (power, _) = compiled([lambda x, y: x**y, lambda x, y: x], "int64", x.ravel(), y.ravel())
    numpy.testing.assert_array_equal(power, x.ravel() ** y.ravel())


@pytest.mark.runs
def test_shifts_by_the_width():
    x, y = numpy.meshgrid(numpy.array([-7, 1, 90], "int32"), numpy.array([0, 31, 32, 40], "int32"))
    left, right = compiled([lambda x, y: x << y, lambda x, y: x >> y], "int32", x.ravel(), y.ravel())
    numpy.testing.assert_array_equal(left, x.ravel() << y.ravel())
    numpy.testing.assert_array_equal(right, x.ravel() >> y.ravel())
