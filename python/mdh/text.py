"""A computation as a function in MLIR: one `mdh.compute`, with types and sizes that are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .affine import Affine
from .emit import identifier, region
from .errors import ProgramError
from .combination import Combination
from .trace import Value
from .types import BasicType, typed_attribute

# Sources of an output's first contents: nothing, the number 0 or another one, or an argument of the function.
UNDEFINED, ARGUMENT = "undefined", "argument"


@dataclass(frozen=True)
class Dimension:
    """A dimension with the points `lower`, `lower + step`, .. below `upper`."""

    name: str
    lower: int
    upper: int
    step: int = 1

    @property
    def points(self) -> range:
        """The indices."""
        return range(self.lower, max(self.lower, self.upper), self.step)

    def text(self, name: str) -> str:
        """Returns the dimension as a domain has it, under a name."""
        start = f"{self.lower} to " if self.lower else ""
        step = f" step {self.step}" if self.step != 1 else ""
        return f"{name} = {start}{self.upper}{step}"


@dataclass(frozen=True)
class View:
    """A buffer, its accesses (one expression for each axis), and its type."""

    name: str
    accesses: tuple[tuple[Affine, ...], ...]
    dtype: BasicType
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        """The buffer's type in MLIR: that of a tensor."""
        return tensor_type(self.shape, self.dtype)


@dataclass(frozen=True)
class Code:
    """A scalar function: the names and types of its arguments, and its results."""

    arguments: tuple[tuple[str, BasicType], ...]
    results: tuple[Value, ...]


def tensor_type(shape: Sequence[int], dtype: BasicType) -> str:
    """Returns the type of a tensor of these sizes."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype.mlir}>"


def symbol(name: str) -> str:
    """Returns a function's name: the prefix keeps it apart from the functions of C's libraries."""
    written = identifier(name)
    return written if written.startswith("mdh_") else f"mdh_{written}"


def unique_names(names: Sequence[str]) -> list[str]:
    """Returns identifiers for names, which all differ."""
    chosen: list[str] = []
    for name in names:
        written, count = identifier(name), 0
        base = written
        while written in chosen:
            count += 1
            written = f"{base}_{count}"
        chosen.append(written)
    return chosen


def function_text(
    name: str,
    dimensions: Sequence[Dimension],
    outputs: Sequence[View],
    inputs: Sequence[View],
    code: Code,
    combines: Sequence[str],
    combination: Combination | None,
    contents: Sequence[str | int | float],
) -> str:
    """Returns the function of a computation.

    Its arguments are the inputs, those without axes as scalars, then the outputs whose `contents` are an
    argument; its results are the outputs. `combines` has `cc`, `pw` or `ps` for each dimension.
    """
    if len(dimensions) != len(combines):
        raise ProgramError(
            f"found {len(combines)} combine operators for {len(dimensions)} dimensions of '{name}', expected "
            f"one for each"
        )
    names = unique_names([*(dimension.name for dimension in dimensions), *(view.name for view in (*outputs, *inputs))])
    dims, buffers = names[: len(dimensions)], names[len(dimensions) :]
    out_names, inp_names = buffers[: len(outputs)], buffers[len(outputs) :]
    arguments = [
        f"%{buffer}: {view.type if view.shape or _has_axes(view) else view.dtype.mlir}"
        for buffer, view in zip(inp_names, inputs)
    ]
    body = []
    for buffer, view, content in zip(out_names, outputs, contents):
        if content == ARGUMENT:
            arguments.append(f"%{buffer}_init: {view.type}")
        elif isinstance(content, str):
            body.append(f"%{buffer}_init = tensor.empty() : {view.type}")
        else:
            number, _, _ = typed_attribute(content, view.dtype).partition(" ")
            body.append(f"%{buffer}_init = arith.constant dense<{number}> : {view.type}")
    result_names = ", ".join(f"%{buffer}" for buffer in out_names)
    types = ", ".join(view.type for view in outputs)
    header, lines = region(code.arguments, code.results)
    domain = ", ".join(dimension.text(name) for dimension, name in zip(dimensions, dims))
    function = combination.function if combination else ""
    listed = ", ".join(combine if combine == "cc" else f"{combine}({function})" for combine in combines)
    body += [
        f"{result_names} = mdh.compute ({domain})",
        f"  out_view({_views(out_names, outputs, dims, '_init')})",
        f"  md_hom({header} {{",
        *(f"    {line}" for line in lines),
        f"  }}, ({listed}))",
        f"  inp_view({_views(inp_names, inputs, dims, '')})",
        *(f"  {line}" for line in (combination.region if combination else ())),
        f"return {result_names} : {types}",
    ]
    results = types if len(outputs) == 1 else f"({types})"
    head = f"func.func @{symbol(name)}({', '.join(arguments)}) -> {results} {{"
    return "\n".join([head, *(f"  {line}" for line in body), "}", ""])


def _has_axes(view: View) -> bool:
    return any(access for access in view.accesses)


def _views(names: Sequence[str], views: Sequence[View], dims: Sequence[str], suffix: str) -> str:
    written = []
    for name, view in zip(names, views):
        accesses = "".join(f"[{', '.join(axis.text(dims) for axis in access)}]" for access in view.accesses)
        held = view.type if suffix or view.shape or _has_axes(view) else view.dtype.mlir
        written.append(f"{name} = %{name}{suffix}{accesses} : {held}")
    return ", ".join(written)
