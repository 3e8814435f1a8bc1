"""Laws of operators, tested on random values.

A law is an equation between two ways to combine the same values. Values of floats that are computed
in two ways differ by rounding; so results count as equal where they differ by little beside the
largest value on the way. Where one component of a result is NaN on both sides, another component may
be anything: which of two values that are no numbers comes out is not what a law says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .evaluate import array_type, evaluate
from .types import BasicType

if TYPE_CHECKING:
    from .combination import Graph

_EPSILON = {"fp16": 2.0**-10, "bf16": 2.0**-7, "fp32": 2.0**-23, "fp64": 2.0**-52}

# Factor of the rounding error of one operation within which results are the same.
_ROUNDINGS = 64


@dataclass(frozen=True)
class Counterexample:
    """Values for which a law does not hold: its equation, the operands, and what both sides give."""

    law: str
    equation: str
    operands: tuple[tuple, ...]
    left: tuple
    right: tuple

    def __str__(self) -> str:
        named = ", ".join(f"{name} = {_shown(value)}" for name, value in zip("abc", self.operands))
        return f"{self.law}: {self.equation} does not hold for {named}: {_shown(self.left)} and {_shown(self.right)}"


def _shown(value: tuple) -> str:
    return str(value[0]) if len(value) == 1 else str(value)


def counterexample(
    traced: Graph, law: str, samples: int, seed: int, neutral: tuple | None = None, special: bool = False
) -> Counterexample | None:
    """Returns values for which an operator breaks a law, if some are found.

    Laws are `associative`, `commutative` and `neutral`; the last one needs the neutral element.
    """
    import numpy

    random = numpy.random.default_rng(seed)
    scales: list[list[Any]] = [[] for _ in traced.dtypes]

    def combine(left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        combined = evaluate(traced.results, [*left, *right])
        combined = [numpy.broadcast_to(result, left[0].shape) for result in combined]
        for scale, value in zip(scales, combined):
            scale.append(value)
        return combined

    a, b, c = ([_random_values(random, dtype, samples, special) for dtype in traced.dtypes] for _ in "abc")
    for operand in (a, b, c):
        for scale, value in zip(scales, operand):
            scale.append(value)
    equations: list[tuple[str, tuple, Callable[[], tuple]]]
    if law == "associative":
        equations = [("(a.b).c = a.(b.c)", (a, b, c), lambda: (combine(combine(a, b), c), combine(a, combine(b, c))))]
    elif law == "commutative":
        equations = [("a.b = b.a", (a, b), lambda: (combine(a, b), combine(b, a)))]
    else:
        assert neutral is not None
        rest = [numpy.full(samples, number, dtype=array_type(dtype)) for number, dtype in zip(neutral, traced.dtypes)]
        equations = [
            ("neutral.a = a", (a,), lambda: (combine(rest, a), a)),
            ("a.neutral = a", (a,), lambda: (combine(a, rest), a)),
        ]
    for equation, operands, sides in equations:
        left, right = sides()
        wrong = _first_difference(traced.dtypes, left, right, scales)
        if wrong is not None:
            return _counterexample(law, equation, operands, (left, right), wrong)
    return None


def _counterexample(law: str, equation: str, operands: Sequence, sides: Sequence, at: int) -> Counterexample:
    picked = [tuple(component[at].item() for component in value) for value in (*operands, *sides)]
    return Counterexample(law, equation, tuple(picked[:-2]), picked[-2], picked[-1])


def _random_values(random: Any, dtype: BasicType, count: int, special: bool) -> Any:
    """Random values: small ones that meet often, and others of the whole type, of floats of some magnitudes."""
    import numpy

    as_array = array_type(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, count).astype(bool)
    least, most = (-4, 4) if dtype.kind != "u" else (0, 8)
    small = random.integers(least, most + 1, count).astype(as_array)
    if dtype.is_float:
        wide = random.standard_normal(count) * 10.0 ** random.integers(-1, 2, count)
    else:
        least, most = dtype.limits
        wide = random.integers(
            least, most, count, dtype=numpy.uint64 if dtype.kind == "u" else numpy.int64, endpoint=True
        )
    values = numpy.where(random.integers(0, 2, count) == 0, small, wide.astype(as_array))
    if dtype.is_float and special:
        picked = random.choice(numpy.array([numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0]), count)
        values = numpy.where(random.integers(0, 6, count) == 0, picked.astype(as_array), values)
    return values.astype(as_array)


def _first_difference(dtypes: Sequence[BasicType], left: Sequence, right: Sequence, scales: Sequence) -> int | None:
    import numpy

    differs = numpy.zeros(left[0].shape, bool)
    is_nan = numpy.zeros(left[0].shape, bool)
    with numpy.errstate(all="ignore"):
        for dtype, a, b, scale in zip(dtypes, left, right, scales):
            if not dtype.is_float:
                differs |= a != b
                continue
            both = numpy.isnan(a) & numpy.isnan(b)
            is_nan |= both
            finite = [numpy.where(numpy.isfinite(value), numpy.abs(value.astype("float64")), 0) for value in scale]
            allowed = _ROUNDINGS * _EPSILON[dtype.name] * numpy.maximum.reduce(finite)
            near = numpy.abs(a.astype("float64") - b.astype("float64")) <= allowed
            differs |= ~(both | (a == b) | near)
    broken = numpy.flatnonzero(differs & ~is_nan)
    return int(broken[0]) if broken.size else None
