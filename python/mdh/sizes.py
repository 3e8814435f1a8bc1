"""Sizes: those of dimensions from those of arrays, and the other way round.

An axis whose index function is a dimension has that dimension's size. Other index functions bound
the size of a dimension: `x[p + r]` with `R` points of `r` leaves as many of `p` as fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .affine import Affine
from .errors import ProgramError, ShapeError
from .text import Dimension


class UnknownSize(ShapeError):
    """A size that neither the program nor an array says."""


@dataclass(frozen=True)
class OpenDimension:
    """A dimension of a computation; `upper` is None where it follows from arrays."""

    name: str
    lower: int = 0
    upper: int | None = None
    step: int = 1


@dataclass(frozen=True)
class Sized:
    """A buffer's accesses, and its sizes as far as they are known."""

    name: str
    accesses: tuple[tuple[Affine, ...], ...]
    shape: tuple[int | None, ...] | None

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.accesses[0]) if self.accesses else 0


def infer_dimensions(dimensions: Sequence[OpenDimension], buffers: Sequence[Sized]) -> list[Dimension]:
    """Returns dimensions whose sizes are all numbers.

    Raises `ShapeError` where arrays disagree about a size, and where one follows from none of them.
    """
    uppers = [dimension.upper for dimension in dimensions]
    for buffer in buffers:
        if buffer.shape is not None and len(buffer.shape) != buffer.rank:
            raise ShapeError(
                f"found {len(buffer.shape)} axes of '{buffer.name}', expected {buffer.rank}: as many as its "
                f"index functions have"
            )
    # Exact ones first; a bound on one dimension may need the size of another one.
    while None in uppers:
        inferred = _exact(dimensions, uppers, buffers) or _bounded(dimensions, uppers, buffers)
        if not inferred:
            name = dimensions[uppers.index(None)].name
            raise UnknownSize(
                f"the size of dimension '{name}' follows from no array, expected it in md_hom[..] or range(..), "
                f"or an array that is indexed by '{name}'"
            )
        for at, upper in inferred.items():
            uppers[at] = upper
    return [
        Dimension(dimension.name, dimension.lower, upper, dimension.step)  # type: ignore[arg-type]
        for dimension, upper in zip(dimensions, uppers)
    ]


def _axes(buffers: Sequence[Sized]):
    """Axes whose size is known: the buffer, the axis, its index function in each access, its size."""
    for buffer in buffers:
        for axis, size in enumerate(buffer.shape or ()):
            if size is not None:
                yield buffer, axis, [access[axis] for access in buffer.accesses], size


def _exact(
    dimensions: Sequence[OpenDimension], uppers: Sequence[int | None], buffers: Sequence[Sized]
) -> dict[int, int]:
    """Sizes of dimensions that are an axis's index function up to a constant, and where each is from."""
    inferred: dict[int, tuple[int, str]] = {}
    for buffer, axis, expressions, size in _axes(buffers):
        atoms = {expression.terms for expression in expressions}
        if len(atoms) != 1:
            continue
        terms = atoms.pop()
        if len(terms) != 1 or not isinstance(terms[0][0], int) or terms[0][1] != 1:
            continue
        at = terms[0][0]
        if uppers[at] is not None or dimensions[at].step != 1:
            continue
        upper = size - max(expression.constant for expression in expressions)
        where = f"'{buffer.name}' has the size {size} in axis {axis}"
        if inferred.setdefault(at, (upper, where))[0] != upper:
            other, place = inferred[at]
            raise ShapeError(
                f"dimension '{dimensions[at].name}' has {upper} points since {where}, but {other} since {place}; "
                f"expected arrays of which both are true"
            )
    return {at: upper for at, (upper, _) in inferred.items()}


def _bounded(
    dimensions: Sequence[OpenDimension], uppers: Sequence[int | None], buffers: Sequence[Sized]
) -> dict[int, int]:
    """Sizes of dimensions as large as the arrays allow, where all others of an index function are known."""
    bounds: dict[int, int] = {}
    for _, _, expressions, size in _axes(buffers):
        for expression in expressions:
            unknown = [atom for atom, _ in expression.terms if isinstance(atom, int) and uppers[atom] is None]
            if not expression.is_linear or len(unknown) != 1:
                continue
            at, most = unknown[0], size - 1 - expression.constant
            factor = dict(expression.terms)[at]
            for atom, times in expression.terms:
                if atom != at:
                    lower, upper = dimensions[atom].lower, uppers[atom] - 1
                    most -= max(times * lower, times * upper)
            if factor > 0:
                upper = most // factor + 1
                bounds[at] = min(bounds.get(at, upper), upper)
    # One at a time: the size of one may change the bound of another one.
    first = next(iter(bounds), None)
    return {} if first is None else {first: max(bounds[first], dimensions[first].lower)}


def least_shape(buffer: Sized, dimensions: Sequence[Dimension], what: str) -> tuple[int, ...]:
    """Returns the sizes of the smallest buffer that has all that is accessed.

    Raises `ProgramError` where an index is negative.
    """
    ranges = [dimension.points for dimension in dimensions]
    names = [dimension.name for dimension in dimensions]
    sizes = []
    for axis in range(buffer.rank):
        size = 0
        for access in buffer.accesses:
            expression = access[axis]
            if any(not ranges[at] for at in expression.dimensions()):
                continue
            low, high = expression.bounds(ranges)
            if low < 0:
                raise ProgramError(
                    f"{what} '{buffer.name}' at {low} in axis {axis} ({expression.text(names)}), expected "
                    f"indices from 0 on"
                )
            size = max(size, high + 1)
        sizes.append(size)
    return tuple(sizes)


def check_shape(buffer: Sized, least: Sequence[int], dimensions: Sequence[Dimension]) -> None:
    """Raises `ShapeError` where an array is too small, or larger than a dimension that alone indexes an axis."""
    names = [dimension.name for dimension in dimensions]
    for axis, (size, needed) in enumerate(zip(buffer.shape or (), least)):
        expressions = {access[axis] for access in buffer.accesses}
        written = ", ".join(expression.text(names) for expression in expressions)
        at = next(iter(expressions)).single_dimension() if len(expressions) == 1 else None
        is_exact = at is not None and dimensions[at].lower == 0 and dimensions[at].step == 1
        if size is not None and (size != needed if is_exact else size < needed):
            expected = f"{needed}" if is_exact else f"at least {needed}"
            raise ShapeError(
                f"found the size {size} of '{buffer.name}' in axis {axis}, expected {expected}: it is indexed by "
                f"{written}"
            )
