"""Symbolic values: Python functions of scalars become data-flow graphs.

A scalar function or an operator is called once with `Value`s in the place of numbers. What it does to
them is recorded in a `Trace`: a graph of operations with types, in which equal operations on equal
operands are one node. `emit` makes MLIR of a graph, `evaluate` computes it in numpy, and
`affine` reads index functions from it.

A value is not known while the function runs. So Python cannot branch on it, and it is no number: all
that asks for one is a `TraceError` that names the line of the caller's file.
"""

from __future__ import annotations

import linecache
import os
import sys
import threading
from collections.abc import Iterable
from types import FrameType
from typing import Any, NoReturn

from .errors import TraceError
from .types import INDEX, BasicType, basic_type, bool_, fp64, int64, promote

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

# Operations whose operands may be exchanged: both orders are one node.
_COMMUTATIVE = frozenset(["add", "mul", "and", "or", "xor", "min", "max", "fmin", "fmax", "eq", "ne"])

_active = threading.local()


def source_place(depth: int = 1) -> tuple[str, int] | None:
    """Returns file and line of the innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        name = frame.f_code.co_filename
        if not os.path.abspath(name).startswith(_PACKAGE):
            return name, frame.f_lineno
        frame = frame.f_back
    return None


def located(message: str, place: tuple[str, int] | None) -> str:
    """Returns a message with its place before and its source line behind it."""
    if place is None:
        return message
    name, line = place
    source = linecache.getline(name, line).strip()
    return f"{name}:{line}: {message}" + (f"\n    {source}" if source else "")


def trace_error(message: str) -> NoReturn:
    """Raises a `TraceError` at the line of the caller's file that is being executed."""
    raise TraceError(located(message, source_place(2)))


class Trace:
    """The graph of one function, while that is called with symbolic values.

    `what` names the function in messages; `dimensions` are the names of the dimensions whose indices it
    may ask for.
    """

    def __init__(self, what: str, dimensions: Iterable[str] = ()):
        self.what = what
        self.dimensions = tuple(dimensions)
        self.values: list[Value] = []
        self.is_open = False
        self._by_key: dict[tuple, Value] = {}

    def __enter__(self) -> Trace:
        stack = _active.__dict__.setdefault("stack", [])
        stack.append(self)
        self.is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        _active.stack.pop()
        self.is_open = False

    def value(self, op: str, operands: tuple[Value, ...], dtype: BasicType, attribute: Any = None) -> Value:
        """Returns the node of an operation, which is made where it is a new one."""
        numbers = [operand._number for operand in operands]
        if op in _COMMUTATIVE:
            numbers.sort()
        # Zeros of both signs, and the same number as an integer and as a float, are different constants.
        key = (op, tuple(numbers), dtype, repr(attribute))
        known = self._by_key.get(key)
        if known is None:
            known = Value(self, len(self.values), op, operands, dtype, attribute)
            self.values.append(known)
            self._by_key[key] = known
        return known

    def argument(self, number: int, dtype: BasicType) -> Value:
        """Returns the function's argument of that number."""
        return self.value("argument", (), dtype, number)

    def index(self, dimension: int) -> Value:
        """Returns the index in a dimension."""
        return self.value("index", (), INDEX, dimension)

    def constant(self, number: bool | int | float, dtype: BasicType) -> Value:
        """Returns a constant, which is checked to be one of the type's numbers."""
        if dtype.is_float:
            number = float(number)
        elif isinstance(number, float) and not number.is_integer():
            trace_error(
                f"found the constant {number} where {dtype} is expected; write mdh.cast(value, fp64) "
                f"for what it meets, or an integer"
            )
        elif dtype.kind == "b":
            number = bool(number)
        else:
            number = int(number)
            least, most = dtype.limits
            if not least <= number <= most:
                trace_error(
                    f"found the constant {number} beside a value of {dtype}, which holds {least} to {most}; "
                    f"expected one of these, or mdh.cast(value, dtype) to a type that holds it"
                )
        return self.value("constant", (), dtype, number)


def active_trace() -> Trace | None:
    """Returns the trace of the function that is being called, if there is one."""
    stack = getattr(_active, "stack", None)
    return stack[-1] if stack else None


class Value:
    """A scalar that is known only when the program runs.

    `dtype` is its type. Arithmetic, comparisons, bit operations and the functions of this package work
    on it as numpy's do on scalars; Python numbers take the type of the value that they meet.
    """

    __slots__ = ("_trace", "_number", "_op", "_operands", "_attribute", "dtype")

    def __init__(
        self, trace: Trace, number: int, op: str, operands: tuple[Value, ...], dtype: BasicType, attribute: Any
    ):
        self._trace = trace
        self._number = number
        self._op = op
        self._operands = operands
        self._attribute = attribute
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"<{self.dtype} value of '{self._op}' in {self._trace.what}>"

    def __add__(self, other: Any) -> Value:
        return arithmetic("add", self, other)

    def __radd__(self, other: Any) -> Value:
        return arithmetic("add", other, self)

    def __sub__(self, other: Any) -> Value:
        return arithmetic("sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return arithmetic("sub", other, self)

    def __mul__(self, other: Any) -> Value:
        return arithmetic("mul", self, other)

    def __rmul__(self, other: Any) -> Value:
        return arithmetic("mul", other, self)

    def __truediv__(self, other: Any) -> Value:
        return arithmetic("div", self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return arithmetic("div", other, self)

    def __floordiv__(self, other: Any) -> Value:
        return arithmetic("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Value:
        return arithmetic("floordiv", other, self)

    def __mod__(self, other: Any) -> Value:
        return arithmetic("mod", self, other)

    def __rmod__(self, other: Any) -> Value:
        return arithmetic("mod", other, self)

    def __divmod__(self, other: Any) -> tuple[Value, Value]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Value, Value]:
        return other // self, other % self

    def __pow__(self, other: Any, modulus: Any = None) -> Value:
        if modulus is not None:
            trace_error("found pow() with a modulus, expected pow(x, y) % modulus")
        return power(self, other)

    def __rpow__(self, other: Any) -> Value:
        return power(other, self)

    def __and__(self, other: Any) -> Value:
        return arithmetic("and", self, other)

    def __rand__(self, other: Any) -> Value:
        return arithmetic("and", other, self)

    def __or__(self, other: Any) -> Value:
        return arithmetic("or", self, other)

    def __ror__(self, other: Any) -> Value:
        return arithmetic("or", other, self)

    def __xor__(self, other: Any) -> Value:
        return arithmetic("xor", self, other)

    def __rxor__(self, other: Any) -> Value:
        return arithmetic("xor", other, self)

    def __lshift__(self, other: Any) -> Value:
        return arithmetic("shl", self, other)

    def __rlshift__(self, other: Any) -> Value:
        return arithmetic("shl", other, self)

    def __rshift__(self, other: Any) -> Value:
        return arithmetic("shr", self, other)

    def __rrshift__(self, other: Any) -> Value:
        return arithmetic("shr", other, self)

    def __lt__(self, other: Any) -> Value:
        return arithmetic("lt", self, other)

    def __le__(self, other: Any) -> Value:
        return arithmetic("le", self, other)

    def __gt__(self, other: Any) -> Value:
        return arithmetic("gt", self, other)

    def __ge__(self, other: Any) -> Value:
        return arithmetic("ge", self, other)

    def __eq__(self, other: Any) -> Value:  # type: ignore[override]
        return arithmetic("eq", self, other)

    def __ne__(self, other: Any) -> Value:  # type: ignore[override]
        return arithmetic("ne", self, other)

    # A value may be a key of a dictionary, where it is found as the same object.
    __hash__ = object.__hash__

    def __neg__(self) -> Value:
        if self.dtype.kind == "b":
            trace_error("found a minus before a truth value, expected ~ for 'not'")
        return unary("neg", self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return self if self.dtype.is_unsigned else unary("abs", self)

    def __invert__(self) -> Value:
        if self.dtype.is_float:
            trace_error(f"found ~ before a value of {self.dtype}, expected an integer or a truth value")
        return unary("not", self)

    def __round__(self, digits: int | None = None) -> Value:
        if digits:
            trace_error("found round() to digits, expected round(x): to the nearest integer, of two to the even one")
        return unary("round", self) if self.dtype.is_float else self

    def __floor__(self) -> Value:
        return unary("floor", self) if self.dtype.is_float else self

    def __ceil__(self) -> Value:
        return unary("ceil", self) if self.dtype.is_float else self

    def __trunc__(self) -> Value:
        return unary("trunc", self) if self.dtype.is_float else self

    def __bool__(self) -> bool:
        trace_error(
            "found a Python branch on a value that is known only when the program runs (if, while, and, or, not, "
            "assert, a < b < c, or max() and min()); expected mdh.where(condition, a, b) for a choice, "
            "&, | and ~ between conditions, and mdh.maximum and mdh.minimum"
        )

    def _no_number(self, function: str, instead: str) -> NoReturn:
        trace_error(f"found {function} of a value that is known only when the program runs; expected {instead}")

    def __int__(self) -> int:
        self._no_number("int()", "mdh.cast(value, int64)")

    def __float__(self) -> float:
        self._no_number(
            "float(), or a function of Python's math module,",
            "mdh.cast(value, fp64), or the function of that name of this package, such as mdh.exp",
        )

    def __complex__(self) -> complex:
        self._no_number("complex()", "real and imaginary parts of their own")

    def __index__(self) -> int:
        self._no_number(
            "the use as an index or in range()",
            "an index function that is affine in the dimensions, and sizes that are Python integers",
        )

    def __len__(self) -> int:
        self._no_number("len()", "a scalar: a function is called for each point, not for whole arrays")

    def __iter__(self) -> Any:
        self._no_number("iteration", "a scalar: a function is called for each point, not for whole arrays")

    def __contains__(self, item: Any) -> bool:
        self._no_number("'in'", "a scalar: a function is called for each point, not for whole arrays")

    def __getitem__(self, item: Any) -> Any:
        self._no_number("an element", "a scalar: a function is called for each point, not for whole arrays")

    def __setitem__(self, item: Any, value: Any) -> None:
        self._no_number(
            "an assignment to an element", "a scalar: a function is called for each point, not for whole arrays"
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        self._no_number("a numpy array", "the functions of this package, such as mdh.exp")

    def __array_function__(self, function: Any, *_: Any) -> Any:
        self._no_number(f"numpy.{function.__name__}", f"{_instead(function.__name__)}")

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **_: Any) -> Any:
        # numpy's own scalars (`numpy.float32(2) * x`) come here too: they are constants with a type.
        op = _UFUNCS.get(ufunc.__name__)
        if method == "__call__" and op is not None and len(operands) == 2 and all(map(_is_scalar, operands)):
            return power(*operands) if op == "pow" else arithmetic(op, *operands)
        self._no_number(f"numpy.{ufunc.__name__}", f"{_instead(ufunc.__name__)}")


# Python's operators as numpy calls them: what numpy's scalars become beside a value.
_UFUNCS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "left_shift": "shl",
    "right_shift": "shr",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
}


def _instead(name: str) -> str:
    """Returns what to write in the place of a function of numpy."""
    from . import functions

    name = {"absolute": "abs", "power": "pow", "rint": "round", "conjugate": "abs"}.get(name, name)
    if name in functions.__all__:
        return f"mdh.{name}"
    return "the functions of this package, such as mdh.exp, or arithmetic"


def _is_scalar(operand: Any) -> bool:
    return isinstance(operand, (Value, bool, int, float)) or getattr(operand, "shape", None) == ()


def trace_for(*operands: Any) -> Trace:
    """Returns the trace of values that meet, and refuses those of another function."""
    current = active_trace()
    for operand in operands:
        if isinstance(operand, Value) and operand._trace is not current:
            trace_error(
                f"found a value of {operand._trace.what} outside of the call that it belongs to; a function must "
                f"not store values in variables that outlive it, nor use those of another function"
            )
    if current is None:
        trace_error(
            "found an operation on symbolic values outside of a scalar function, an operator or an index function"
        )
    return current


def as_value(trace: Trace, operand: Any, beside: BasicType | None = None) -> Value:
    """Returns an operand as a value: numbers take the type `beside`, or without one that of numpy for such numbers."""
    if isinstance(operand, Value):
        return operand
    if hasattr(operand, "dtype") and hasattr(operand, "item") and getattr(operand, "shape", None) == ():
        return trace.constant(operand.item(), basic_type(operand.dtype))
    if not isinstance(operand, (bool, int, float)):
        trace_error(f"found {operand!r} of type {type(operand).__name__}, expected a value or a number")
    return trace.constant(operand, number_type(operand, beside))


def number_type(number: bool | int | float, beside: BasicType | None) -> BasicType:
    """Returns the type of a Python number beside a value of a type."""
    if isinstance(number, bool):
        return beside or bool_
    if isinstance(number, int):
        return int64 if beside is None or beside.kind == "b" else beside
    return beside if beside is not None and beside.is_float else fp64


def is_weak(operand: Any) -> bool:
    """True for Python numbers and for choices between two of them, which take the type of what they meet."""
    if isinstance(operand, Value):
        return operand._op == "where" and operand._attribute == "weak"
    return isinstance(operand, (bool, int, float)) and not hasattr(operand, "dtype")


def _adopt(trace: Trace, operand: Any, beside: BasicType) -> Value:
    """Returns a weak operand in the type that it takes beside a value of another type."""
    if not isinstance(operand, Value):
        return as_value(trace, operand, beside)
    condition, *choices = operand._operands
    numbers = [choice._attribute for choice in choices]
    dtype = number_type(
        max(numbers, key=lambda number: (isinstance(number, float), not isinstance(number, bool))), beside
    )
    return trace.value("where", (condition, *(trace.constant(number, dtype) for number in numbers)), dtype)


def meet(trace: Trace, *operands: Any) -> list[Value]:
    """Returns operands as values of one type, the one to which they are promoted."""
    strong = [as_value(trace, operand) for operand in operands if not is_weak(operand)]
    if not strong:
        strong = [as_value(trace, operand) for operand in operands]
    dtype = strong[0].dtype
    for value in strong[1:]:
        dtype = promote(dtype, value.dtype)
    for operand in operands:
        if is_weak(operand):
            dtype = promote(dtype, _adopt(trace, operand, dtype).dtype)
    return [convert(trace, operand, dtype) for operand in operands]


def convert(trace: Trace, operand: Any, dtype: BasicType) -> Value:
    """Returns an operand in a type: numbers as constants of it, values by `cast`."""
    value = _adopt(trace, operand, dtype) if is_weak(operand) else as_value(trace, operand)
    return value if value.dtype == dtype else trace.value("cast", (value,), dtype)


def unary(op: str, operand: Any) -> Value:
    """Returns an operation on one value, in the value's type."""
    trace = trace_for(operand)
    value = as_value(trace, operand)
    return trace.value(op, (value,), value.dtype)


_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
}
_COMPARISONS = frozenset(["lt", "le", "gt", "ge", "eq", "ne"])
# Truth values add up to "or", and multiply to "and", as in numpy.
_TRUTH = {"add": "or", "mul": "and", "and": "and", "or": "or", "xor": "xor"}


def arithmetic(op: str, left: Any, right: Any) -> Value:
    """Returns a binary operation or a comparison, in the type to which its operands are promoted."""
    trace = trace_for(left, right)
    left, right = meet(trace, left, right)
    dtype = left.dtype
    if op in _COMPARISONS:
        return trace.value(op, (left, right), bool_)
    if op == "div" and not dtype.is_float:
        left, right, dtype = convert(trace, left, fp64), convert(trace, right, fp64), fp64
    if dtype.kind == "b":
        if op not in _TRUTH:
            trace_error(f"found {_SYMBOLS[op]} between truth values, expected numbers: mdh.cast(value, int32)")
        op = _TRUTH[op]
    if dtype.is_float and op in ("and", "or", "xor", "shl", "shr"):
        trace_error(
            f"found {_SYMBOLS[op]} between values of {dtype}, expected integers or truth values; comparisons "
            f"beside it need brackets"
        )
    if op in ("floordiv", "mod") and right._op == "constant" and right._attribute == 0 and not dtype.is_float:
        trace_error(f"found a division by zero ({_SYMBOLS[op]} 0), expected another divisor")
    if op in ("shl", "shr") and right._op == "constant" and not 0 <= right._attribute < dtype.bits:
        trace_error(f"found a shift by {right._attribute} of a value of {dtype}, expected 0 to {dtype.bits - 1}")
    return trace.value(op, (left, right), dtype)


def power(base: Any, exponent: Any) -> Value:
    """Returns `base ** exponent`: products for small constant exponents, else a power of floats or of integers."""
    trace = trace_for(base, exponent)
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        value = as_value(trace, base)
        if not value.dtype.is_float and exponent < 0:
            trace_error(f"found an integer to the power of {exponent}, expected an exponent of at least 0, or a float")
        if value.dtype.is_float and exponent in (0.5, -1):
            return unary("sqrt", value) if exponent == 0.5 else 1 / value
        # A library's power of floats is a call; a few products are faster, and differ in the last place at most.
        if 0 <= exponent <= (4 if value.dtype.is_float else 64) and exponent == int(exponent):
            return _product(trace, value, int(exponent))
    left, right = meet(trace, base, exponent)
    if left.dtype.is_unsigned:
        trace_error(
            f"found a power of values of {left.dtype}, expected signed integers or floats: mdh.cast(value, int64)"
        )
    return trace.value("pow", (left, right), left.dtype)


def _product(trace: Trace, value: Value, count: int) -> Value:
    """Returns the product of a value with itself, by squares."""
    if count == 0:
        return trace.constant(1, int64 if value.dtype.kind == "b" else value.dtype)
    half = value if count == 1 else _product(trace, value, count // 2)
    if count == 1:
        return half
    square = half * half
    return square * value if count % 2 else square


def reachable(results: Iterable[Value]) -> list[Value]:
    """Returns the values that results need, operands before what uses them."""
    needed: dict[int, Value] = {}
    waiting = list(results)
    while waiting:
        value = waiting.pop()
        if value._number not in needed:
            needed[value._number] = value
            waiting.extend(value._operands)
    return [needed[number] for number in sorted(needed)]


def structure(results: Iterable[Value]) -> tuple:
    """Returns what a graph computes, comparable with another trace's."""
    results = list(results)
    needed = reachable(results)
    position = {value._number: at for at, value in enumerate(needed)}
    nodes = tuple(
        (
            value._op,
            tuple(position[operand._number] for operand in value._operands),
            value.dtype,
            repr(value._attribute),
        )
        for value in needed
    )
    return nodes, tuple(position[result._number] for result in results)
