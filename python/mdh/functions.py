"""Functions for scalar functions and operators: `where`, `exp`, `minimum`, `cast`, `index` and kin.

They take symbolic values and numbers, promote them as numpy does, and give values. Of numbers alone
they give numbers, so that constants can be computed with them.
"""

from __future__ import annotations

import math
from typing import Any

from .errors import DTypeError
from .trace import Value, active_trace, as_value, convert, is_weak, meet, power, trace_error, trace_for, unary
from .types import BasicType, basic_type, bool_, int64, math_type

__all__ = [
    "where",
    "cast",
    "index",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "hypot",
    "pow",
    "abs",
    "sign",
    "floor",
    "ceil",
    "trunc",
    "round",
    "minimum",
    "maximum",
    "fmin",
    "fmax",
    "clip",
    "fma",
    "copysign",
    "isnan",
    "isinf",
    "isfinite",
    "logical_and",
    "logical_or",
    "logical_not",
]


def _are_numbers(*operands: Any) -> bool:
    """True where no operand is symbolic, so that a number is the answer."""
    for operand in operands:
        if isinstance(operand, Value):
            return False
        if not isinstance(operand, (bool, int, float)) and getattr(operand, "shape", None) != ():
            raise DTypeError(
                f"found {type(operand).__name__} where a scalar is expected: the functions of this package "
                f"are for scalar functions and operators, numpy's are for arrays"
            )
    return True


def _math(op: str, number: Any, operand: Any) -> Any:
    """Returns a function of floats; `number` computes it for a number."""
    if _are_numbers(operand):
        return number(operand)
    trace = trace_for(operand)
    value = as_value(trace, operand)
    return unary(op, convert(trace, value, math_type(value.dtype)))


def _binary(op: str, number: Any, left: Any, right: Any, as_floats: bool) -> Any:
    """Returns a function of two scalars, as floats if it has no meaning on integers."""
    if _are_numbers(left, right):
        return number(left, right)
    trace = trace_for(left, right)
    first, second = meet(trace, left, right)
    if as_floats:
        dtype = math_type(first.dtype)
        first, second = convert(trace, first, dtype), convert(trace, second, dtype)
    return trace.value(op, (first, second), first.dtype)


def where(condition: Any, chosen: Any, other: Any) -> Any:
    """Returns `chosen` where the condition is true, else `other`: the choice that `if` cannot make.

    Both are computed. Where both are numbers, the choice takes the type of what it meets, as a number does.
    """
    if not isinstance(condition, Value):
        return chosen if condition else other
    trace = trace_for(condition, chosen, other)
    if condition.dtype.kind != "b":
        condition = condition != 0
    first, second = meet(trace, chosen, other)
    is_choice_of_numbers = not isinstance(chosen, Value) and not isinstance(other, Value)
    weak = "weak" if is_choice_of_numbers and is_weak(chosen) and is_weak(other) else None
    return trace.value("where", (condition, first, second), first.dtype, weak)


def cast(value: Any, dtype: Any) -> Value:
    """Returns a value in another type.

    Floats become integers by leaving out what is behind the point; of floats that do not fit, the result is
    undefined. Integers keep their lowest bits. Numbers that are not 0, NaN too, become true.

    Raises `TraceError` outside of a scalar function or an operator, `DTypeError` for what is no type.
    """
    trace = active_trace()
    if trace is None:
        trace_error("found mdh.cast outside of a scalar function or an operator")
    trace_for(value)
    return convert(trace, value, basic_type(dtype))


def index(dimension: int | str) -> Value:
    """Returns the point's index in a dimension, given by its number, counted from 0, or its name.

    Raises `TraceError` outside of a scalar function, and for a dimension that is not there.
    """
    trace = active_trace()
    if trace is None or not trace.dimensions:
        trace_error("found mdh.index outside of a scalar function: operators and index functions do not have it")
    if isinstance(dimension, str) and dimension in trace.dimensions:
        return trace.index(trace.dimensions.index(dimension))
    if isinstance(dimension, int) and 0 <= dimension < len(trace.dimensions):
        return trace.index(dimension)
    trace_error(
        f"found mdh.index({dimension!r}), expected one of the dimensions {', '.join(trace.dimensions)}, or its "
        f"number from 0 to {len(trace.dimensions) - 1}"
    )


def exp(x: Any) -> Any:
    """Exponential function."""
    return _math("exp", math.exp, x)


def exp2(x: Any) -> Any:
    """Power of two."""
    return _math("exp2", lambda number: 2.0**number, x)


def expm1(x: Any) -> Any:
    """`exp(x) - 1`, exact for small `x`."""
    return _math("expm1", math.expm1, x)


def log(x: Any) -> Any:
    """Natural logarithm."""
    return _math("log", math.log, x)


def log2(x: Any) -> Any:
    """Logarithm to base 2."""
    return _math("log2", math.log2, x)


def log10(x: Any) -> Any:
    """Logarithm to base 10."""
    return _math("log10", math.log10, x)


def log1p(x: Any) -> Any:
    """`log(1 + x)`, exact for small `x`."""
    return _math("log1p", math.log1p, x)


def sqrt(x: Any) -> Any:
    """Square root."""
    return _math("sqrt", math.sqrt, x)


def rsqrt(x: Any) -> Any:
    """`1 / sqrt(x)`."""
    return _math("rsqrt", lambda number: 1 / math.sqrt(number), x)


def cbrt(x: Any) -> Any:
    """Cube root."""
    return _math("cbrt", lambda number: math.copysign(math.fabs(number) ** (1 / 3), number), x)


def sin(x: Any) -> Any:
    """Sine of an angle in radians."""
    return _math("sin", math.sin, x)


def cos(x: Any) -> Any:
    """Cosine of an angle in radians."""
    return _math("cos", math.cos, x)


def tan(x: Any) -> Any:
    """Tangent of an angle in radians."""
    return _math("tan", math.tan, x)


def asin(x: Any) -> Any:
    """Inverse sine, in radians from -pi/2 to pi/2; NaN outside of [-1, 1]."""
    return _math("asin", math.asin, x)


def acos(x: Any) -> Any:
    """Inverse cosine, in radians from 0 to pi; NaN outside of [-1, 1]."""
    return _math("acos", math.acos, x)


def atan(x: Any) -> Any:
    """Inverse tangent, in radians from -pi/2 to pi/2."""
    return _math("atan", math.atan, x)


def sinh(x: Any) -> Any:
    """Hyperbolic sine."""
    return _math("sinh", math.sinh, x)


def cosh(x: Any) -> Any:
    """Hyperbolic cosine."""
    return _math("cosh", math.cosh, x)


def tanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return _math("tanh", math.tanh, x)


def asinh(x: Any) -> Any:
    """Inverse hyperbolic sine."""
    return _math("asinh", math.asinh, x)


def acosh(x: Any) -> Any:
    """Inverse hyperbolic cosine."""
    return _math("acosh", math.acosh, x)


def atanh(x: Any) -> Any:
    """Inverse hyperbolic tangent."""
    return _math("atanh", math.atanh, x)


def erf(x: Any) -> Any:
    """Error function."""
    return _math("erf", math.erf, x)


def erfc(x: Any) -> Any:
    """`1 - erf(x)`."""
    return _math("erfc", math.erfc, x)


def atan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y), in radians from -pi to pi."""
    return _binary("atan2", math.atan2, y, x, as_floats=True)


def hypot(x: Any, y: Any) -> Any:
    """`sqrt(x * x + y * y)`, computed like this: it overflows where `x * x` does."""
    return math.hypot(x, y) if _are_numbers(x, y) else sqrt(x * x + y * y)


def pow(x: Any, y: Any) -> Any:
    """Power, as `x ** y`."""
    return x**y if _are_numbers(x, y) else power(x, y)


def abs(x: Any) -> Any:
    """Absolute value."""
    return x.__abs__()


def sign(x: Any) -> Any:
    """-1, 0 or 1, and NaN for NaN."""
    if _are_numbers(x):
        return x if x != x else (x > 0) - (x < 0)
    zero_or_nan = where(x == 0, cast(0, x.dtype), x)
    return where(x > 0, cast(1, x.dtype), zero_or_nan if x.dtype.is_unsigned else where(x < 0, -1, zero_or_nan))


def floor(x: Any) -> Any:
    """The largest integer that is not above `x`, in the type of `x`."""
    return x.__floor__() if isinstance(x, Value) else math.floor(x)


def ceil(x: Any) -> Any:
    """The smallest integer that is not below `x`, in the type of `x`."""
    return x.__ceil__() if isinstance(x, Value) else math.ceil(x)


def trunc(x: Any) -> Any:
    """`x` without what is behind the point, in the type of `x`."""
    return x.__trunc__() if isinstance(x, Value) else math.trunc(x)


def round(x: Any) -> Any:
    """The nearest integer, of two the even one, in the type of `x`."""
    return x.__round__()


def minimum(x: Any, y: Any) -> Any:
    """The smaller one; NaN if one of them is NaN."""
    return _binary("min", lambda a, b: a if a != a or a <= b else b, x, y, as_floats=False)


def maximum(x: Any, y: Any) -> Any:
    """The larger one; NaN if one of them is NaN."""
    return _binary("max", lambda a, b: a if a != a or a >= b else b, x, y, as_floats=False)


def fmin(x: Any, y: Any) -> Any:
    """The smaller one; if one of them is NaN, the other one."""
    return _extremum_of_numbers("fmin", "min", lambda a, b: a if b != b or a <= b else b, x, y)


def fmax(x: Any, y: Any) -> Any:
    """The larger one; if one of them is NaN, the other one."""
    return _extremum_of_numbers("fmax", "max", lambda a, b: a if b != b or a >= b else b, x, y)


def _extremum_of_numbers(op: str, of_integers: str, number: Any, x: Any, y: Any) -> Any:
    if _are_numbers(x, y):
        return number(x, y)
    first, second = meet(trace_for(x, y), x, y)
    return _binary(op if first.dtype.is_float else of_integers, number, first, second, as_floats=False)


def clip(x: Any, low: Any, high: Any) -> Any:
    """`x`, but at least `low` and at most `high`."""
    return minimum(maximum(x, low), high)


def fma(x: Any, y: Any, z: Any) -> Any:
    """`x * y + z` with one rounding. Of integers it is the product and the sum."""
    if _are_numbers(x, y, z):
        return x * y + z
    trace = trace_for(x, y, z)
    first, second, third = meet(trace, x, y, z)
    if not first.dtype.is_float:
        return first * second + third
    return trace.value("fma", (first, second, third), first.dtype)


def copysign(x: Any, y: Any) -> Any:
    """`x` with the sign of `y`."""
    return _binary("copysign", math.copysign, x, y, as_floats=True)


def isnan(x: Any) -> Any:
    """True if `x` is NaN."""
    return math.isnan(x) if _are_numbers(x) else x != x


def isinf(x: Any) -> Any:
    """True if `x` is infinite."""
    if _are_numbers(x):
        return math.isinf(x)
    return abs(x) == math.inf if x.dtype.is_float else x != x


def isfinite(x: Any) -> Any:
    """True if `x` is neither infinite nor NaN."""
    if _are_numbers(x):
        return math.isfinite(x)
    return abs(x) < math.inf if x.dtype.is_float else x == x


def _truth(x: Any) -> Any:
    if isinstance(x, Value) and x.dtype.kind != "b":
        return x != 0
    return x if isinstance(x, Value) else bool(x)


def logical_and(x: Any, y: Any) -> Any:
    """True if both are true, or not 0."""
    return _truth(x) & _truth(y)


def logical_or(x: Any, y: Any) -> Any:
    """True if one of them is true, or not 0."""
    return _truth(x) | _truth(y)


def logical_not(x: Any) -> Any:
    """True if `x` is false, or 0."""
    return (not x) if _are_numbers(x) else ~_truth(x)


def result_type(value: Any) -> BasicType:
    """Returns the type in which a result is stored where nothing says which: that of an index is `int64`."""
    dtype = value.dtype if isinstance(value, Value) else {bool: bool_, int: int64}.get(type(value), basic_type("fp64"))
    return int64 if dtype.kind == "x" else dtype
