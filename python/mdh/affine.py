"""Index functions: affine expressions of dimensions, with floor division and remainder by constants.

`index_function` reads them from symbolic values. They are kept as sums of multiples of atoms, which
are dimensions, floor divisions and remainders, so that their ranges can be bounded, and sizes of
dimensions be inferred from those of arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, Union

from .errors import ProgramError
from .trace import Value, located, source_place


@dataclass(frozen=True)
class Quasi:
    """A floor division (`floordiv`) or a remainder (`mod`) of an affine expression by a positive constant."""

    op: str
    inner: Affine
    divisor: int


# A dimension, by its number, or a division.
Atom = Union[int, Quasi]  # noqa: UP007 (a union with a class that is not there yet)


@dataclass(frozen=True)
class Affine:
    """A sum of multiples of atoms and a constant; the factors are not 0, and each atom occurs once."""

    terms: tuple[tuple[Atom, int], ...]
    constant: int

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        """Returns `self + factor * other`."""
        factors: dict[Atom, int] = dict(self.terms)
        for atom, count in other.terms:
            factors[atom] = factors.get(atom, 0) + factor * count
        terms = tuple((atom, count) for atom, count in factors.items() if count)
        return Affine(terms, self.constant + factor * other.constant)

    def times(self, factor: int) -> Affine:
        """Returns `factor * self`."""
        return Affine((), 0).plus(self, factor)

    @property
    def is_linear(self) -> bool:
        """True where no division occurs."""
        return all(isinstance(atom, int) for atom, _ in self.terms)

    def dimensions(self) -> set[int]:
        """The numbers of the dimensions that occur."""
        return set().union(*(({atom} if isinstance(atom, int) else atom.inner.dimensions()) for atom, _ in self.terms))

    def single_dimension(self) -> int | None:
        """The dimension of an expression that is a dimension and nothing else."""
        is_dimension = len(self.terms) == 1 and self.is_linear and self.terms[0][1] == 1 and self.constant == 0
        return self.terms[0][0] if is_dimension else None  # type: ignore[return-value]

    def text(self, names: Sequence[str]) -> str:
        """Returns the expression as an access of a view writes it."""
        positive = [(atom, factor) for atom, factor in self.terms if factor > 0]
        negative = [(atom, factor) for atom, factor in self.terms if factor < 0]
        parts = [f"+ {_multiple(atom, factor, names)}" for atom, factor in positive]
        if not parts:
            # An expression begins with no minus.
            parts.append(f"+ {max(self.constant, 0)}")
        parts += [f"- {_multiple(atom, -factor, names)}" for atom, factor in negative]
        if self.constant and (positive or self.constant < 0):
            parts.append(f"{'+' if self.constant > 0 else '-'} {abs(self.constant)}")
        return " ".join(parts)[2:]

    def at(self, point: Sequence[int]) -> int:
        """Returns the value at a point."""
        total = self.constant
        for atom, factor in self.terms:
            if isinstance(atom, int):
                total += factor * point[atom]
            else:
                inner = atom.inner.at(point)
                total += factor * (inner // atom.divisor if atom.op == "floordiv" else inner % atom.divisor)
        return total

    def bounds(self, ranges: Sequence[range]) -> tuple[int, int]:
        """Returns the least and the largest value over the points of non-empty ranges.

        With divisions, it is exact where few points decide it, else the bounds are possibly too far apart.
        """
        if not self.is_linear:
            needed = sorted(self.dimensions())
            count = 1
            for dimension in needed:
                count *= len(ranges[dimension])
            if count <= 65536:
                return self._enumerated(needed, ranges)
        low = high = self.constant
        for atom, factor in self.terms:
            if isinstance(atom, int):
                least, most = ranges[atom][0], ranges[atom][-1]
            else:
                least, most = atom.inner.bounds(ranges)
                if atom.op == "floordiv":
                    least, most = least // atom.divisor, most // atom.divisor
                elif least // atom.divisor == most // atom.divisor:
                    least, most = least % atom.divisor, most % atom.divisor
                else:
                    least, most = 0, atom.divisor - 1
            low += min(factor * least, factor * most)
            high += max(factor * least, factor * most)
        return low, high

    def _enumerated(self, needed: list[int], ranges: Sequence[range]) -> tuple[int, int]:
        point = [0] * len(ranges)
        values = []
        for indices in itertools.product(*(ranges[dimension] for dimension in needed)):
            for dimension, at in zip(needed, indices):
                point[dimension] = at
            values.append(self.at(point))
        return min(values), max(values)


def _multiple(atom: Atom, factor: int, names: Sequence[str]) -> str:
    if isinstance(atom, int):
        written = names[atom]
    else:
        inner = atom.inner.text(names)
        is_name = atom.inner.single_dimension() is not None
        written = f"({inner if is_name else f'({inner})'} {atom.op} {atom.divisor})"
    return written if factor == 1 else f"{factor} * {written}"


def constant(number: int) -> Affine:
    """Returns a constant expression."""
    return Affine((), number)


def dimension(number: int) -> Affine:
    """Returns the expression that is a dimension."""
    return Affine(((number, 1),), 0)


def index_function(value: Value | int, buffer: str) -> Affine:
    """Reads an index function from what a Python function of indices gives.

    Raises `ProgramError`, at the line of the caller's file that is being executed, where it is not affine.
    """
    if not isinstance(value, Value):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            _refuse(buffer, f"{value!r} of type {type(value).__name__}")
        return constant(value.__index__())
    op, operands = value._op, value._operands
    if op == "index":
        return dimension(value._attribute)
    if op == "constant" and not value.dtype.is_float:
        return constant(int(value._attribute))
    if op == "cast" and value.dtype.kind in "iux":
        return index_function(operands[0], buffer)
    if op == "neg":
        return index_function(operands[0], buffer).times(-1)
    if op in ("add", "sub", "mul", "floordiv", "mod"):
        left, right = (index_function(operand, buffer) for operand in operands)
        if op in ("add", "sub"):
            return left.plus(right, 1 if op == "add" else -1)
        if op == "mul":
            if left.terms and right.terms:
                _refuse(buffer, "a product of two expressions of dimensions")
            return left.times(right.constant) if not right.terms else right.times(left.constant)
        return _divided(op, left, right, buffer)
    if op == "div":
        _refuse(buffer, "a division by '/'; write // for a whole number")
    _refuse(buffer, "the value of an array" if op == "argument" else f"the operation '{op}'")


def _divided(op: str, left: Affine, right: Affine, buffer: str) -> Affine:
    if right.terms or right.constant <= 0:
        _refuse(buffer, f"{'//' if op == 'floordiv' else '%'} by something else than a positive constant")
    if not left.terms:
        return constant(left.constant // right.constant if op == "floordiv" else left.constant % right.constant)
    if right.constant == 1:
        return left if op == "floordiv" else constant(0)
    return Affine(((Quasi("floordiv" if op == "floordiv" else "mod", left, right.constant), 1),), 0)


def _refuse(buffer: str, what: str) -> NoReturn:
    message = (
        f"found {what} in an index function of '{buffer}', expected sums of dimensions, times constants, and // "
        f"and % by positive constants"
    )
    raise ProgramError(located(message, source_place(2)))
