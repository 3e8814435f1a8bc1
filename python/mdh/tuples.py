"""Einsums on tuples: the scalar function gives several values, which the combine operator combines as one.

All is one step: such operators are no semiring.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _mdh
from .affine import constant, dimension
from .emit import identifier
from .operators import Combine, Operator, as_operator, cc
from .program import Accesses, Described, Form, Program, make_program
from .scalar import trace_scalar
from .sizes import OpenDimension
from .trace import Trace
from .types import basic_type


@dataclass(frozen=True)
class TupleEinsum:
    """An einsum on tuples as a program; `path`, `flops` and `largest` are those of its only step."""

    program: Program
    shape: tuple[int, ...]
    dtype: tuple[str, ...]
    path: list[tuple[int, ...]]
    flops: float
    largest: float

    @property
    def text(self) -> str:
        """The program, in MLIR."""
        return self.program.text


def tuple_einsum(
    spec: str,
    operands: Sequence[tuple[tuple[int, ...], str, tuple[int, ...] | None]],
    combine: Any,
    scalar: Callable[..., Any] | str,
) -> TupleEinsum | None:
    """Returns the program of an einsum whose scalar function gives a tuple; None of any other one.

    `operands` have shapes, types, and the order of their axes in memory, or None for the usual one.

    Raises the errors of `einsum`.
    """
    if isinstance(scalar, (str, Operator)):
        return None
    shapes = [shape for shape, _, _ in operands]
    letters, sizes, terms, left = _mdh.einsum_indices(spec, [list(shape) for shape in shapes])
    names = [name if name.isascii() and name.isalpha() else f"d{at}" for at, name in enumerate(letters)]
    dtypes = [basic_type(dtype) for _, dtype, _ in operands]
    with Trace("the scalar function", names) as trace:
        given = scalar(*[trace.argument(at, dtype) for at, dtype in enumerate(dtypes)])
    if not isinstance(given, (tuple, list)):
        return None
    inputs, known = [], {}
    for at, ((shape, _, order), term) in enumerate(zip(operands, terms)):
        axes = order or range(len(shape))
        indices = [term[axis] for axis in axes]
        access = tuple(constant(0) if index is None else dimension(index) for index in indices)
        inputs.append(Accesses(f"x{at}", (access,)))
        known[f"x{at}"] = Described(tuple(shape[axis] for axis in axes), dtypes[at])
    outputs = tuple(Accesses(f"y{at}", (tuple(dimension(index) for index in left),)) for at in range(len(given)))
    results = trace_scalar(
        scalar,
        names,
        [((view.name, 1), dtype) for view, dtype in zip(inputs, dtypes)],
        [((view.name, 1), None) for view in outputs],
    )
    shape = tuple(sizes[index] for index in left)
    known.update({view.name: Described(shape, value.dtype) for view, value in zip(outputs, results)})
    operator = as_operator(combine)
    kinds = tuple(cc if at in left else Combine("pw", operator) for at in range(len(names)))
    dimensions = tuple(OpenDimension(name, upper=size) for name, size in zip(names, sizes))
    name = identifier(f"einsum_{operator.name}")
    program = make_program(name, Form(dimensions, outputs, tuple(inputs), results, kinds), known, set())
    dtype = tuple(value.dtype.numpy_name for value in results)
    points = float(math.prod(sizes))
    return TupleEinsum(program, shape, dtype, [tuple(range(len(operands)))], points * len(operands), math.prod(shape))
