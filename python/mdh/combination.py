"""Combine operators as programs have them: their graphs for given types, and the text of the region or the names of the
built-in functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .emit import built_in, identifier, region
from .errors import ProgramError, TraceError
from .operators import Operator, add, and_, max, min, mul, or_, xor
from .trace import Trace, Value, convert, located, structure
from .types import BasicType, typed_attribute


@dataclass(frozen=True)
class Combination:
    """An operator for components of given types, as the text of an `mdh.compute` has it.

    `function` is what stands in `pw(..)`: names of built-in functions, or the region's name. `region` are
    the lines of the clause `combine`, of which there is none for built-in functions.
    """

    function: str
    region: tuple[str, ...]
    neutral: tuple | None


@dataclass(frozen=True)
class Graph:
    """The graph of an operator: the results of a trace with one argument for each component of both tuples."""

    trace: Trace
    dtypes: tuple[BasicType, ...]
    results: tuple[Value, ...]
    swapped: tuple[Value, ...]

    @property
    def is_symmetric(self) -> bool:
        """True where exchanging the operands gives the same graph, which proves that the operator commutes."""
        return all(a is b for a, b in zip(self.results, self.swapped))


def graph(operator: Operator, dtypes: Sequence[BasicType]) -> Graph:
    """Traces an operator on components of these types.

    Raises `TraceError` where its code is no scalar code, and where two calls of it differ.
    """
    dtypes = tuple(dtypes)
    traces = []
    for _ in range(2):
        with Trace(f"the operator '{operator.name}'") as trace:
            left = tuple(trace.argument(at, dtype) for at, dtype in enumerate(dtypes))
            right = tuple(trace.argument(len(dtypes) + at, dtype) for at, dtype in enumerate(dtypes))
            results = _combined(operator, trace, left, right)
            swapped = _combined(operator, trace, right, left)
        traces.append(Graph(trace, dtypes, results, swapped))
    if structure(traces[0].results) != structure(traces[1].results):
        raise TraceError(
            located(
                f"found two different results of the operator '{operator.name}' for the same values: it "
                f"depends on something that it changes; expected a function of its parameters",
                operator.place,
            )
        )
    return traces[0]


def _combined(operator: Operator, trace: Trace, left: tuple, right: tuple) -> tuple[Value, ...]:
    try:
        combined = operator.apply(left, right)
    except TraceError as error:
        # Only what is not located yet: a function that ends without a result has no line.
        if operator.place and str(operator.place[0]) not in str(error):
            raise TraceError(located(str(error), operator.place)) from None
        raise
    if len(combined) != len(left):
        raise TraceError(
            located(
                f"found {len(combined)} results of the operator '{operator.name}' for {len(left)} "
                f"components, expected as many",
                operator.place,
            )
        )
    results = []
    for value, before in zip(combined, left):
        dtype = value.dtype if isinstance(value, Value) else before.dtype
        if dtype.is_float and not before.dtype.is_float:
            raise TraceError(
                located(
                    f"found a result of {dtype} of the operator '{operator.name}' for a component of "
                    f"{before.dtype}, expected the component's type: mdh.cast(value, {before.dtype})",
                    operator.place,
                )
            )
        results.append(convert(trace, value, before.dtype))
    return tuple(results)


def combination(operator: Operator, dtypes: Sequence[BasicType], combined_dimensions: int) -> Combination:
    """Returns an operator's text for components of these types, where so many dimensions are combined."""
    traced = graph(operator, dtypes)
    neutral = operator.neutral_for(dtypes)
    count = len(traced.dtypes)
    names = []
    for at, result in enumerate(traced.results):
        operands = {(operand._op, operand._attribute) for operand in result._operands}
        is_both = operands == {("argument", at), ("argument", count + at)}
        names.append(built_in(result._op, result.dtype) if is_both else None)
    if all(names):
        return Combination(", ".join(filter(None, names)), (), neutral or _built_in_neutral(traced))
    commutes = operator.commutative or traced.is_symmetric
    if not commutes and combined_dimensions > 1:
        _require_commutative(operator, traced)
        commutes = True
    laws = "commutative " if commutes else ""
    laws += "associative"
    if neutral is not None:
        listed = ", ".join(typed_attribute(number, dtype) for number, dtype in zip(neutral, traced.dtypes))
        laws += f" neutral({listed})"
    arguments = [(f"{side}{at}", dtype) for side in ("left", "right") for at, dtype in enumerate(traced.dtypes)]
    header, lines = region(arguments, traced.results)
    name = identifier(operator.name)
    name = f"{name}_" if name in _TAKEN else name
    body = [f"combine {name} {laws} {header} {{", *(f"  {line}" for line in lines), "}"]
    return Combination(name, tuple(body), neutral)


# Names that have a meaning of their own where a region's name stands.
_TAKEN = frozenset(
    [
        "addf",
        "addi",
        "mulf",
        "muli",
        "minimumf",
        "minsi",
        "minui",
        "maximumf",
        "maxsi",
        "maxui",
        "andi",
        "ori",
        "xori",
        "commutative",
        "associative",
        "neutral",
    ]
)


def _built_in_neutral(traced: Graph) -> tuple | None:
    by_op = {"add": add, "mul": mul, "min": min, "max": max, "and": and_, "or": or_, "xor": xor}
    parts = [by_op[result._op].neutral_for([result.dtype]) for result in traced.results]
    return tuple(part[0] for part in parts if part is not None)


def _require_commutative(operator: Operator, traced: Graph) -> None:
    """Refuses an operator for several dimensions that is said, or shown, not to commute."""
    from .laws import counterexample

    refused = "several combined dimensions have no one order"
    if operator.commutative is False:
        raise ProgramError(
            located(f"the operator '{operator.name}' is declared not commutative: {refused}", operator.place)
        )
    broken = counterexample(traced, "commutative", 64, 0)
    if broken is not None:
        raise ProgramError(
            located(f"the operator '{operator.name}' is not commutative: {refused}; {broken}", operator.place)
        )
