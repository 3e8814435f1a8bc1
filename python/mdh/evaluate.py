"""Graphs of symbolic values, computed in numpy: what the laws of operators are tested with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .trace import Value, reachable
from .types import BasicType


def evaluate(results: Sequence[Value], arguments: Sequence[Any]) -> list[Any]:
    """Returns the results for arguments that are numpy arrays of one shape, of the arguments' types.

    Types that numpy does not have are computed as `float32`.
    """
    import numpy

    computed: dict[int, Any] = {}
    with numpy.errstate(all="ignore"):
        for value in reachable(results):
            operands = [computed[operand._number] for operand in value._operands]
            if value._op == "argument":
                result = arguments[value._attribute]
            elif value._op == "constant":
                result = _constant(value._attribute, value.dtype)
            elif value._op == "cast":
                result = _cast(operands[0], value)
            else:
                result = _FUNCTIONS[value._op](numpy, *operands)
            dtype = array_type(value.dtype)
            computed[value._number] = numpy.asarray(result).astype(dtype, copy=False)
    return [computed[result._number] for result in results]


def array_type(dtype: BasicType) -> Any:
    """Returns the numpy dtype in which values of a type are computed here."""
    import numpy

    return numpy.dtype("float32") if dtype.name == "bf16" else numpy.dtype(dtype.numpy_name)


def _constant(number: Any, dtype: BasicType) -> Any:
    import numpy

    return numpy.asarray(number).astype(array_type(dtype))


def _cast(operand: Any, value: Value) -> Any:
    import numpy

    source, target = value._operands[0].dtype, value.dtype
    if source.is_float and not target.is_float and target.kind != "b":
        operand = numpy.where(numpy.isfinite(operand), operand, 0)
    return operand != 0 if target.kind == "b" else operand.astype(array_type(target))


def _vectorized(function: Any) -> Any:
    def apply(numpy: Any, *operands: Any) -> Any:
        return numpy.vectorize(function, otypes=[operands[0].dtype])(*operands)

    return apply


def _ufunc(name: str) -> Any:
    return lambda numpy, *operands: getattr(numpy, name)(*operands)


def _power(numpy: Any, base: Any, exponent: Any) -> Any:
    if base.dtype.kind == "f":
        return numpy.power(base, exponent)
    # numpy refuses negative exponents of integers: 1 and -1 have such powers, others have 0.
    positive = numpy.power(base, numpy.maximum(exponent, 0))
    inverse = numpy.where(base == 1, 1, numpy.where(base == -1, numpy.where(exponent % 2 == 0, 1, -1), 0))
    return numpy.where(exponent >= 0, positive, inverse)


_FUNCTIONS: dict[str, Any] = {
    **{
        op: _ufunc(name)
        for op, name in {
            "add": "add",
            "sub": "subtract",
            "mul": "multiply",
            "div": "true_divide",
            "floordiv": "floor_divide",
            "mod": "remainder",
            "and": "bitwise_and",
            "or": "bitwise_or",
            "xor": "bitwise_xor",
            "shl": "left_shift",
            "shr": "right_shift",
            "lt": "less",
            "le": "less_equal",
            "gt": "greater",
            "ge": "greater_equal",
            "eq": "equal",
            "ne": "not_equal",
            "min": "minimum",
            "max": "maximum",
            "neg": "negative",
            "not": "invert",
            "abs": "absolute",
            "round": "rint",
            "asin": "arcsin",
            "acos": "arccos",
            "atan": "arctan",
            "asinh": "arcsinh",
            "acosh": "arccosh",
            "atanh": "arctanh",
            "atan2": "arctan2",
            "where": "where",
        }.items()
    },
    **{
        name: _ufunc(name)
        for name in [
            "fmin",
            "fmax",
            "floor",
            "ceil",
            "trunc",
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sqrt",
            "cbrt",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "copysign",
        ]
    },
    "pow": _power,
    "erf": _vectorized(math.erf),
    "erfc": _vectorized(math.erfc),
    "rsqrt": lambda numpy, operand: 1 / numpy.sqrt(operand),
    "fma": lambda numpy, first, second, third: first * second + third,
}
