"""Combine operators: `cc`, `pw(f)`, `ps(f)`, and the functions `f` that combine.

A function is an `Operator`: one of the built-in ones (`add`, `mul`, `minimum`, ...), or made from a
Python function by `combine_operator` or, as published, by `pw_custom_func`. What is known of it
beside its code are its laws: it is associative, else it could not combine at all; it may be
commutative, and may have a neutral element. Laws that are stated are believed; `check_laws` tests
them on random values.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from . import functions
from .errors import ProgramError, TraceError
from .trace import Value, located, source_place, trace_error
from .types import BasicType, basic_type

# Combines two tuples of values into one; the first is of smaller indices.
TupleFunction = Callable[[tuple, tuple], tuple]


class Operator:
    """A function by which values, or tuples of values, are combined.

    `apply` takes and gives tuples, `commutative` is None where nobody has said, and `neutral` has a
    number for each component, or computes these from the components' types. Called with values, an
    operator combines them, from the left to the right; called with anything else, `min` and `max` are
    Python's.
    """

    def __init__(
        self,
        name: str,
        apply: TupleFunction,
        *,
        commutative: bool | None = None,
        neutral: Any = None,
        fallback: Callable | None = None,
        place: tuple[str, int] | None = None,
        source: Any = None,
        doc: str | None = None,
    ):
        self.name = name
        if doc:
            self.__doc__ = doc
        # Operators that are made of the same function, or functions, are the same one.
        self.source = self if source is None else source
        self.apply = apply
        self.commutative = commutative
        self.neutral = neutral
        self.place = place
        self._fallback = fallback

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __call__(self, *operands: Any, **keywords: Any) -> Any:
        if self._fallback and not any(isinstance(operand, Value) for operand in operands):
            return self._fallback(*operands, **keywords)
        as_tuples = [operand if isinstance(operand, tuple) else (operand,) for operand in operands]
        combined = functools.reduce(self.apply, as_tuples)
        return combined if isinstance(operands[0], tuple) else combined[0]

    def neutral_for(self, dtypes: Sequence[BasicType]) -> tuple | None:
        """Returns the neutral element's components for components of these types, if there is one.

        Raises `ProgramError` where the element is none of these types, or has another number of components.
        """
        neutral = self.neutral(*dtypes) if callable(self.neutral) else self.neutral
        if neutral is None:
            return None
        neutral = neutral if isinstance(neutral, tuple) else (neutral,)
        if len(neutral) != len(dtypes):
            raise ProgramError(
                located(
                    f"found a neutral element of {len(neutral)} components for the operator "
                    f"'{self.name}', which combines {len(dtypes)}",
                    self.place,
                )
            )
        for number, dtype in zip(neutral, dtypes):
            is_real = isinstance(number, numbers.Real) or hasattr(number, "dtype") and getattr(number, "shape", None) == ()
            is_number = is_real and (dtype.is_float or (
                number == number
                and abs(number) != math.inf
                and number == int(number)
                and dtype.limits[0] <= number <= dtype.limits[1]
            ))
            if not is_number:
                raise ProgramError(
                    located(
                        f"found the neutral element {number!r} of the operator '{self.name}' for a component "
                        f"of {dtype}, expected one of its numbers",
                        self.place,
                    )
                )
        return neutral

    def reversed(self) -> Operator:
        """The operator with its operands exchanged."""
        return Operator(
            self.name,
            lambda left, right: self.apply(right, left),
            commutative=self.commutative,
            neutral=self.neutral,
            place=self.place,
        )


@dataclass(frozen=True)
class Combine:
    """The way in which a dimension is combined: `kind` is `cc`, `pw` or `ps`, and `operator` says by what."""

    kind: str
    operator: Any = None


cc = CC = Combine("cc")


def pw(*operators: Any) -> Combine:
    """Point-wise combination: a dimension becomes one point.

    `operators` are a function, or one built-in function for each component of the tuple. Raises `ProgramError` where
    there is none, or one of them is no function.
    """
    return Combine("pw", _operator(operators))


def ps(*operators: Any) -> Combine:
    """Prefix sums: a dimension stays, and each point is combined with all before it.

    `operators` are a function, or one built-in function for each component of the tuple. Raises `ProgramError` where
    there is none, or one of them is no function.
    """
    return Combine("ps", _operator(operators))


PW, PS = pw, ps


def _operator(operators: tuple) -> Any:
    if len(operators) == 1 and isinstance(operators[0], (tuple, list)):
        operators = tuple(operators[0])
    if not operators:
        raise ProgramError("found no function, expected pw(f) or ps(f) with the function that combines")
    listed = tuple(as_operator(operator) for operator in operators)
    return listed[0] if len(listed) == 1 else componentwise(listed)


def componentwise(operators: Sequence[Operator]) -> Operator:
    """Returns the operator that combines each component by an operator for one value."""

    def apply(left: tuple, right: tuple) -> tuple:
        if len(left) != len(operators):
            trace_error(f"found {len(operators)} operators for {len(left)} components, expected one for each")
        return tuple(operator.apply((a,), (b,))[0] for operator, a, b in zip(operators, left, right))

    def neutral(*dtypes: BasicType) -> tuple | None:
        parts: list[Any] = []
        for operator, dtype in zip(operators, dtypes):
            part = operator.neutral_for([dtype])
            if part is None:
                return None
            parts.append(part[0])
        return tuple(parts)

    stated = [operator.commutative for operator in operators]
    commutative = True if builtins.all(stated) else (False if False in stated else None)
    return Operator(
        "_".join(operator.name for operator in operators),
        apply,
        commutative=commutative,
        neutral=neutral,
        source=tuple(operator.source for operator in operators),
    )


def as_operator(function: Any) -> Operator:
    """Returns the operator of a name, or that a Python function is: of `(left, right)`, or of `(res, lhs, rhs)` as
    published."""
    if isinstance(function, Operator):
        return function
    if isinstance(function, str):
        if function not in _NAMED:
            raise ProgramError(f"found '{function}' as what combines, expected one of {', '.join(_NAMED)}")
        return _NAMED[function]
    if function in (builtins.min, builtins.max):
        return min if function is builtins.min else max
    if not callable(function):
        raise ProgramError(f"found {function!r} as what combines, expected an operator or a function of two values")
    if _parameter_count(function) == 3:
        return pw_custom_func(function)
    return combine_operator(function)


def _parameter_count(function: Callable) -> int | None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return sum(
        parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.default is parameter.empty
        for parameter in parameters
    )


def _defined_at(function: Callable) -> tuple[str, int] | None:
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else source_place(2)


def _identifier(function: Callable) -> str:
    name = getattr(function, "__name__", "operator")
    return name if name.isidentifier() else "operator"


@overload
def combine_operator(
    function: Callable, *, commutative: bool | None = None, neutral: Any = None, name: str | None = None
) -> Operator: ...
@overload
def combine_operator(
    function: None = None, *, commutative: bool | None = None, neutral: Any = None, name: str | None = None
) -> Callable[[Callable], Operator]: ...
def combine_operator(
    function: Callable | None = None, *, commutative: bool | None = None, neutral: Any = None, name: str | None = None
) -> Any:
    """Makes an operator of a Python function of two values, or of two tuples of values; also a decorator.

    The function must be associative. `commutative=True` says that its operands may be exchanged,
    `neutral` is the value, or the tuple of values, that changes nothing when combined with another one. `name` is
    that of the operator in programs; without it, it is the function's.
    """
    if function is None:
        return functools.partial(combine_operator, commutative=commutative, neutral=neutral, name=name)

    def apply(left: tuple, right: tuple) -> tuple:
        combined = function(left[0], right[0]) if len(left) == 1 else function(left, right)
        return combined if isinstance(combined, tuple) else (combined,)

    return Operator(
        name or _identifier(function),
        apply,
        commutative=commutative,
        neutral=neutral,
        place=_defined_at(function),
        source=function,
        doc=function.__doc__,
    )


class Record:
    """Values by the names of buffers, as published functions take them: `inp['M']`, `inp['x', 2]`.

    A name alone stands for a buffer's only access; of several, accesses are counted from 1.
    """

    def __init__(self, what: str, keys: Sequence[tuple[str, int]], values: Sequence[Any] | None = None):
        self._what = what
        self._keys = {key: at for at, key in enumerate(keys)}
        self._values = list(values) if values is not None else [None] * len(keys)
        self._is_result = values is None

    def _at(self, key: Any) -> int:
        name, number = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        count = sum(buffer == name for buffer, _ in self._keys)
        if number is None and count == 1:
            number = 1
        at = self._keys.get((name, number)) if isinstance(number, int) else None
        if at is None:
            names = list(dict.fromkeys(f"'{buffer}'" for buffer, _ in self._keys))
            if not count:
                trace_error(f"found {self._what}[{name!r}], expected one of the buffers {', '.join(names)}")
            trace_error(
                f"found {self._what}[{key!r}], expected {self._what}[{name!r}, k] with k from 1 to {count}: the "
                f"buffer's accesses in the order of its view"
            )
        return at

    def __getitem__(self, key: Any) -> Any:
        value = self._values[self._at(key)]
        if value is None:
            trace_error(f"found a use of {self._what}[{key!r}] before it is assigned")
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._is_result:
            trace_error(
                f"found an assignment to {self._what}[{key!r}], expected one to the function's first parameter: "
                f"what a function takes is read only"
            )
        self._values[self._at(key)] = value

    def values(self) -> list[Any]:
        """The values in the order of the accesses; it is an error if one of them is missing."""
        missing = [key for key, at in self._keys.items() if self._values[at] is None]
        if missing:
            name, number = missing[0]
            several = sum(buffer == name for buffer, _ in self._keys) > 1
            where = f"{name!r}, {number}" if several else f"{name!r}"
            raise TraceError(f"nothing is assigned to {self._what}[{where}], expected a value for each output")
        return self._values


class NamedOperator(Operator):
    """An operator that is written with the names of outputs, which are known when it is used."""

    def __init__(self, function: Callable, **laws: Any):
        super().__init__(_identifier(function), self._unnamed, place=_defined_at(function), source=function, **laws)
        self._function = function

    def _unnamed(self, left: tuple, right: tuple) -> tuple:
        raise ProgramError(
            located(
                f"the operator '{self.name}' names outputs of an out_view, and is used without one; "
                f"expected a function of two values",
                self.place,
            )
        )

    def named(self, keys: Sequence[tuple[str, int]]) -> Operator:
        """The operator for the outputs' accesses in that order."""
        names = list(inspect.signature(self._function).parameters)

        def apply(left: tuple, right: tuple) -> tuple:
            result = Record(names[0], keys)
            self._function(result, Record(names[1], keys, left), Record(names[2], keys, right))
            return tuple(result.values())

        return Operator(self.name, apply, commutative=self.commutative, neutral=self.neutral, place=self.place)


@overload
def pw_custom_func(function: Callable, *, commutative: bool | None = None, neutral: Any = None) -> NamedOperator: ...
@overload
def pw_custom_func(
    function: None = None, *, commutative: bool | None = None, neutral: Any = None
) -> Callable[[Callable], NamedOperator]: ...
def pw_custom_func(function: Callable | None = None, *, commutative: bool | None = None, neutral: Any = None) -> Any:
    """Decorator for an operator as published: a function `g(res, lhs, rhs)`, with components by the outputs' names.

    `function` assigns the components of its first parameter, and is associative. Without `commutative`, it is taken to
    be so where several dimensions are combined, unless random values show that it is not. `neutral` is the value, or
    the tuple of values, that changes nothing.
    """
    if function is None:
        return functools.partial(pw_custom_func, commutative=commutative, neutral=neutral)
    return NamedOperator(function, commutative=commutative, neutral=neutral)


def _arithmetic(name: str, function: Callable, neutral: Any, fallback: Callable | None, doc: str) -> Operator:
    def apply(left: tuple, right: tuple) -> tuple:
        return tuple(function(a, b) for a, b in zip(left, right))

    def of_all(*dtypes: BasicType) -> tuple:
        return tuple(neutral(dtype) for dtype in dtypes)

    return Operator(name, apply, commutative=True, neutral=of_all, fallback=fallback, doc=doc)


def _least(dtype: BasicType) -> int | float:
    return -math.inf if dtype.is_float else dtype.limits[0]


def _most(dtype: BasicType) -> int | float:
    return math.inf if dtype.is_float else dtype.limits[1]


def _numbers(function: Callable) -> Callable:
    return lambda *operands: functools.reduce(function, operands)


add = _arithmetic(
    "add", lambda a, b: a + b, lambda dtype: 0, _numbers(lambda a, b: a + b), "Sum; neutral is 0. Integers wrap around."
)
mul = _arithmetic(
    "mul",
    lambda a, b: a * b,
    lambda dtype: 1,
    _numbers(lambda a, b: a * b),
    "Product; neutral is 1. Integers wrap around.",
)
min = _arithmetic(
    "min",
    functions.minimum,
    _most,
    builtins.min,
    "Minimum, NaN if a value is NaN; neutral is infinity or the largest integer. Beside numbers, Python's `min`.",
)
max = _arithmetic(
    "max",
    functions.maximum,
    _least,
    builtins.max,
    "Maximum, NaN if a value is NaN; neutral is minus infinity or the least integer. Beside numbers, Python's `max`.",
)
and_ = _arithmetic(
    "and_",
    lambda a, b: a & b,
    lambda dtype: dtype.limits[1] if dtype.is_unsigned else -1,
    _numbers(lambda a, b: a & b),
    "And of truth values, or of the bits of integers; neutral is true, or all bits.",
)
or_ = _arithmetic(
    "or_",
    lambda a, b: a | b,
    lambda dtype: 0,
    _numbers(lambda a, b: a | b),
    "Or of truth values, or of the bits of integers; neutral is false, or no bit.",
)
xor = _arithmetic(
    "xor",
    lambda a, b: a ^ b,
    lambda dtype: 0,
    _numbers(lambda a, b: a ^ b),
    "Exclusive or of truth values, or of the bits of integers; neutral is false, or no bit.",
)


def _logaddexp(left: Any, right: Any) -> Any:
    distance = left - right
    # Of two equal infinities the distance is NaN, their sum is not.
    larger = functions.maximum(left, right) + functions.log1p(functions.exp(-functions.abs(distance)))
    return functions.where(left == right, left + math.log(2), larger)


logaddexp = _arithmetic(
    "logaddexp",
    _logaddexp,
    lambda dtype: -math.inf,
    None,
    "`log(exp(a) + exp(b))` of floats without overflow; neutral is minus infinity.",
)


def _arg_extremum(name: str, is_better: Callable, worst: Callable, doc: str) -> Operator:
    """An operator on pairs of a value and its position: NaN is better than all numbers, of equals the first is."""

    def apply(left: tuple, right: tuple) -> tuple:
        if len(left) != 2:
            trace_error(f"found {len(left)} components for {name}, expected two: a value and its position")
        (x, i), (y, j) = left, right
        x_better = is_better(x, y)
        y_better = is_better(y, x)
        if x.dtype.is_float:
            x_better = (x_better | functions.isnan(x)) & ~functions.isnan(y)
            y_better = (y_better | functions.isnan(y)) & ~functions.isnan(x)
        first = x_better | (~y_better & (i < j))
        return functions.where(first, x, y), functions.where(first, i, j)

    return Operator(
        name, apply, commutative=True, neutral=lambda value, position: (worst(value), position.limits[1]), doc=doc
    )


argmax = _arg_extremum(
    "argmax",
    lambda x, y: x > y,
    _least,
    "The pair of a value and its position with the largest value: of equals the first position, NaN before numbers.",
)
argmin = _arg_extremum(
    "argmin",
    lambda x, y: x < y,
    _most,
    "The pair of a value and its position with the smallest value: of equals the first position, NaN before numbers.",
)


def identity(*values: Any) -> Any:
    """Scalar function that returns `values`, one or a tuple, as they are."""
    return values if len(values) != 1 else values[0]


def check_laws(operator: Any, dtype: Any, samples: int = 1000, seed: int = 0, *, special: bool = True) -> list:
    """Tests an operator's laws on random values: that it is associative, and what is stated of it.

    Args:
        operator: the operator, or a function of two values or of two tuples.
        dtype: the type of its operands, or a tuple of the types of their components.
        samples: the number of random values, or of tuples of these, for each operand of a law.
        seed: that of the random values.
        special: True has NaN, infinities and zeros of both signs among the values of floats.

    Returns:
        A `Counterexample` for each law that does not hold: its law, its operands and both results, and in words as
        text. Of floats, results that differ by rounding count as the same.

    Raises:
        TraceError: the operator does what cannot be compiled.
        DTypeError: there are no such elements.
    """
    from .combination import graph
    from .laws import counterexample

    operator = as_operator(operator)
    listed = dtype if isinstance(dtype, (tuple, list)) else (dtype,)
    traced = graph(operator, [basic_type(part) for part in listed])
    neutral = operator.neutral_for(traced.dtypes)
    laws = ["associative"]
    if operator.commutative:
        laws.append("commutative")
    if neutral is not None:
        laws.append("neutral")
    broken = [counterexample(traced, law, samples, seed, neutral, special) for law in laws]
    return [example for example in broken if example is not None]

#: Operators by their names.
_NAMED = {
    "add": add,
    "mul": mul,
    "min": min,
    "max": max,
    "and": and_,
    "or": or_,
    "xor": xor,
    "logaddexp": logaddexp,
    "argmax": argmax,
    "argmin": argmin,
}
