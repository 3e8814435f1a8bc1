"""Programs of computations: index functions, scalar functions and operators as the text of one function.

A `Form` is what a front end makes of a function once element types are known. `make_program` finds the
sizes of its dimensions and arrays, and prints it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .affine import Affine
from .combination import Combination, combination
from .errors import ProgramError
from .operators import Combine, NamedOperator, Operator
from .scalar import Key
from .sizes import OpenDimension, Sized, check_shape, infer_dimensions, least_shape
from .text import ARGUMENT, UNDEFINED, Code, View, function_text
from .trace import Value
from .types import BasicType


@dataclass(frozen=True)
class Described:
    """An array's sizes and element type; None is what is not known."""

    shape: tuple[int | None, ...] | None = None
    dtype: BasicType | None = None


@dataclass(frozen=True)
class Accesses:
    """A buffer's name and its accesses: an expression for each axis."""

    name: str
    accesses: tuple[tuple[Affine, ...], ...]

    @property
    def keys(self) -> list[Key]:
        """The accesses by name and number."""
        return [(self.name, at + 1) for at in range(len(self.accesses))]


@dataclass(frozen=True)
class Form:
    """A computation whose element types are known: what a front end makes of a function.

    `results` has a value for each access of the outputs, in their order.
    """

    dimensions: tuple[OpenDimension, ...]
    outputs: tuple[Accesses, ...]
    inputs: tuple[Accesses, ...]
    results: tuple[Value, ...]
    combines: tuple[Combine, ...]


@dataclass(frozen=True)
class Program:
    """A function in MLIR with the arrays that it takes and gives.

    `updated` are the numbers of the outputs whose former contents are further arguments, behind the inputs.
    """

    name: str
    text: str
    inputs: tuple[View, ...]
    outputs: tuple[View, ...]
    updated: tuple[int, ...] = ()

    @property
    def dtypes(self) -> list[str]:
        """The element types of the arguments and the results, which have signs here, by numpy's names."""
        views = (*self.inputs, *(self.outputs[at] for at in self.updated), *self.outputs)
        return [view.dtype.numpy_name for view in views]


def make_program(
    name: str,
    form: Form,
    known: Mapping[str, Described],
    given: set[str],
    initial: Mapping[str, int | float] | None = None,
) -> Program:
    """Returns the program of a form, with the sizes that are known of arrays.

    `given` are outputs that exist already, whose elements stay where nothing is written; `initial` are the
    numbers that others have there, which are 0 otherwise.
    """
    sized = {
        view.name: Sized(view.name, view.accesses, known[view.name].shape) for view in (*form.outputs, *form.inputs)
    }
    dimensions = infer_dimensions(form.dimensions, list(sized.values()))
    if not dimensions:
        raise ProgramError(f"the computation '{name}' has no dimensions, expected at least one")
    if len(form.combines) != len(dimensions):
        raise ProgramError(
            f"found {len(form.combines)} combine operators of '{name}', expected {len(dimensions)}: one for "
            f"each of the dimensions {', '.join(dimension.name for dimension in dimensions)}"
        )
    # A point-wise combined dimension has one point left, which is at 0.
    left = [
        OneLeft(dimension) if combine.kind == "pw" else dimension
        for dimension, combine in zip(dimensions, form.combines)
    ]
    inputs = []
    for view in form.inputs:
        dtype = known[view.name].dtype
        assert dtype is not None
        inputs.append(View(view.name, view.accesses, dtype, _final_shape(sized[view.name], dimensions, "reads input")))
    outputs = _outputs(form, known, sized, left)
    contents = []
    for output in outputs:
        otherwise = ARGUMENT if output.name in given else (initial or {}).get(output.name, 0)
        contents.append(_contents(output, left, otherwise))
    combined = _combination(name, form)
    kinds = [combine.kind for combine in form.combines]
    code = Code(_arguments(inputs), form.results)
    text = function_text(name, dimensions, outputs, inputs, code, kinds, combined, contents)
    updated = tuple(at for at, content in enumerate(contents) if content == ARGUMENT)
    return Program(name, text, tuple(inputs), tuple(outputs), updated)


def _outputs(form: Form, known: Mapping[str, Described], sized: Mapping[str, Sized], left: Sequence[Any]) -> list[View]:
    """The outputs with their sizes and types: those of their components, where nothing else is said."""
    outputs, at = [], 0
    for view in form.outputs:
        _check_output(view, form.dimensions, form.combines)
        shape = _final_shape(sized[view.name], left, "writes output")
        outputs.append(View(view.name, view.accesses, known[view.name].dtype or form.results[at].dtype, shape))
        at += len(view.accesses)
    return outputs


def _combination(name: str, form: Form) -> Combination | None:
    operator = one_operator(name, form.combines, [key for view in form.outputs for key in view.keys])
    if operator is None:
        return None
    count = sum(combine.kind != "cc" for combine in form.combines)
    return combination(operator, [result.dtype for result in form.results], count)


def _arguments(inputs: Sequence[View]) -> tuple[tuple[str, BasicType], ...]:
    """The scalar function's arguments: one for each access, named by its buffer."""
    listed: list[tuple[str, BasicType]] = []
    for view in inputs:
        for number in range(1, len(view.accesses) + 1):
            suffix = f"_{number}" if len(view.accesses) > 1 else ""
            listed.append((f"v{len(listed)}_{_ascii(view.name)}{suffix}", view.dtype))
    return tuple(listed)


def _ascii(name: str) -> str:
    return "".join(letter if letter.isascii() else "u" for letter in name)


@dataclass(frozen=True)
class OneLeft:
    """A dimension after its point-wise combination."""

    combined: Any

    @property
    def name(self) -> str:
        """The dimension's name."""
        return self.combined.name

    @property
    def points(self) -> range:
        """The one index."""
        return range(1)

    lower, step = 0, 1


def _final_shape(sized: Sized, dimensions: Sequence[Any], what: str) -> tuple[int, ...]:
    least = least_shape(sized, dimensions, what)
    if sized.shape is None:
        return least
    check_shape(sized, least, dimensions)
    return tuple(needed if size is None else size for size, needed in zip(sized.shape, least))


def _contents(view: View, left: Sequence[Any], otherwise: str | int | float) -> str | int | float:
    """Returns what an output contains before the computation.

    That is of no matter where all elements are written: as many as there are points, since none is written twice.
    """
    points, elements = len(view.accesses), 1
    for dimension in left:
        points *= len(dimension.points)
    for size in view.shape:
        elements *= size
    return UNDEFINED if points == elements else otherwise


def _check_output(view: Accesses, dimensions: Sequence[Any], combines: Sequence[Combine]) -> None:
    for access in view.accesses:
        used = set().union(*(axis.dimensions() for axis in access)) if access else set()
        for at in sorted(used):
            if combines[at].kind == "pw":
                raise ProgramError(
                    f"the output '{view.name}' is indexed by dimension '{dimensions[at].name}', which pw "
                    f"combines to one point; expected index functions without it"
                )


def one_operator(name: str, combines: Sequence[Combine], keys: Sequence[Key]) -> Operator | None:
    """Returns the operator that all combined dimensions have.

    Raises `ProgramError` where there are two: the result would depend on which is applied first.
    """
    chosen = {combine.operator.source: combine.operator for combine in combines if combine.operator is not None}
    operators: list[Operator] = list(chosen.values())
    if len(operators) > 1:
        names = " and ".join(f"'{operator.name}'" for operator in operators)
        raise ProgramError(
            f"found the operators {names} in one md_hom of '{name}', expected one for all combined dimensions: "
            f"with two, the result depends on which is applied first"
        )
    if not operators:
        return None
    return operators[0].named(keys) if isinstance(operators[0], NamedOperator) else operators[0]
