"""Scalar functions: what is done at each point, traced.

A scalar function is written as published, `f(out, inp)` with components by the names of buffers, or
as a function of the components in their order, which gives a value or a tuple of values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

from .errors import DTypeError, ProgramError, TraceError
from .functions import result_type
from .operators import Operator, Record
from .trace import Trace, Value, as_value, convert, located, structure
from .types import BasicType, Scalar

# An access of a buffer: the buffer's name, and the access's number, counted from 1.
Key = tuple[str, int]


class ScalarFunction:
    """A scalar function as published: `f(out, inp)`, which assigns to `out` and reads `inp`."""

    def __init__(self, function: Callable):
        self.function = function
        self.name = getattr(function, "__name__", "scalar function")

    def __call__(self, *operands: Any) -> Any:
        return self.function(*operands)


@overload
def scalar_function(function: Callable) -> ScalarFunction: ...
@overload
def scalar_function(function: None = None) -> Callable[[Callable], ScalarFunction]: ...
def scalar_function(function: Callable | None = None) -> Any:
    """Decorator for a scalar function as published, `f(out: Scalar[T, ..], inp: Scalar[T, ..])`."""
    return scalar_function if function is None else ScalarFunction(function)


def _is_published(function: Any) -> bool:
    """True for functions of `(out, inp)`: decorated, annotated with `Scalar`, or with these names."""
    if isinstance(function, ScalarFunction):
        return True
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    if len(parameters) != 2:
        return False
    is_annotated = all(isinstance(parameter.annotation, Scalar) for parameter in parameters)
    return is_annotated or [parameter.name for parameter in parameters] == ["out", "inp"]


def _place(function: Any) -> tuple[str, int] | None:
    code = getattr(getattr(function, "function", function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else None


def _annotations(function: Any) -> list[tuple[BasicType, ...] | None]:
    """Types of the results and of the arguments, where `Scalar[..]` says them."""
    function = getattr(function, "function", function)
    try:
        annotated = [parameter.annotation for parameter in inspect.signature(function).parameters.values()][:2]
    except (TypeError, ValueError):
        annotated = []
    stated = [part.dtypes if isinstance(part, Scalar) else None for part in annotated]
    return stated + [None] * (2 - len(stated))


def trace_scalar(
    function: Any,
    dimensions: Sequence[str],
    inputs: Sequence[tuple[Key, BasicType]],
    outputs: Sequence[tuple[Key, BasicType | None]],
) -> tuple[Value, ...]:
    """Returns a value for each output access, in the type of its component.

    That type is the one that the function's annotation says, else that of the output, else that of the
    value. Raises `TraceError` for code that is no scalar code, and `DTypeError` where a float is assigned to an
    integer.
    """
    place, is_published = _place(function), _is_published(function)
    name = getattr(function, "name", getattr(function, "__name__", "scalar function"))
    stated, taken = _annotations(function) if is_published else (None, None)
    if taken is not None and len(taken) == len(inputs):
        for ((buffer, _), dtype), expected in zip(inputs, taken):
            if dtype != expected:
                raise DTypeError(
                    located(
                        f"found {dtype} of the input '{buffer}' where '{name}' takes {expected}, expected "
                        f"the same type",
                        place,
                    )
                )
    graphs = []
    for _ in range(2):
        with Trace(f"the scalar function '{name}'", dimensions) as trace:
            arguments = [trace.argument(at, dtype) for at, (_, dtype) in enumerate(inputs)]
            assigned = _assigned(function, is_published, inputs, outputs, arguments, name, place)
            results = tuple(as_value(trace, value) for value in assigned)
        graphs.append((assigned, results, trace))
    if structure(graphs[0][1]) != structure(graphs[1][1]):
        raise TraceError(
            located(
                f"found two different results of the scalar function '{name}' for the same values: it "
                f"depends on something that it changes; expected a function of its parameters",
                place,
            )
        )
    assigned, _, trace = graphs[0]
    types = component_types(assigned, outputs, stated)
    return tuple(
        stored(trace, value, dtype, buffer, place) for value, dtype, ((buffer, _), _) in zip(assigned, types, outputs)
    )


def _assigned(
    function: Any,
    is_published: bool,
    inputs: Sequence,
    outputs: Sequence,
    arguments: list[Value],
    name: str,
    place: tuple[str, int] | None,
) -> list[Any]:
    if is_published:
        result = Record("out", [key for key, _ in outputs])
        function(result, Record("inp", [key for key, _ in inputs], arguments))
        try:
            return result.values()
        except TraceError as error:
            raise TraceError(located(str(error), place)) from None
    try:
        given = arguments[0] if isinstance(function, Operator) and len(arguments) == 1 else function(*arguments)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise ProgramError(
            located(
                f"the scalar function '{name}' does not take the {len(arguments)} components of the "
                f"input view ({error})",
                place,
            )
        ) from error
    given = list(given) if isinstance(given, (tuple, list)) else [given]
    if len(given) != len(outputs) or any(value is None for value in given):
        raise TraceError(
            located(
                f"found {len(given)} results of the scalar function '{name}', expected one for each of the "
                f"{len(outputs)} components of the output view",
                place,
            )
        )
    return given


def component_types(
    assigned: Sequence[Any], outputs: Sequence[tuple[Key, BasicType | None]], stated: tuple[BasicType, ...] | None
) -> list[BasicType]:
    """Returns the types in which components are combined."""
    if stated is not None and len(stated) == 1:
        stated = stated * len(outputs)
    types = []
    for at, (value, (_, dtype)) in enumerate(zip(assigned, outputs)):
        if stated is not None and len(stated) == len(outputs):
            types.append(stated[at])
        else:
            types.append(dtype if dtype is not None else result_type(value))
    return types


def stored(trace: Trace, value: Any, dtype: BasicType, buffer: str, place: tuple[str, int] | None) -> Value:
    """Returns a value in the type of a component, as an assignment converts it: not from floats to integers."""
    source = value.dtype if isinstance(value, Value) else result_type(value)
    if (source.is_float and not dtype.is_float) or (dtype.kind == "b" and source.kind != "b"):
        raise DTypeError(
            located(
                f"found a value of {source} for '{buffer}' of {dtype}, expected mdh.cast(value, {dtype}), "
                f"or another type of the output",
                place,
            )
        )
    return convert(trace, value, dtype)
