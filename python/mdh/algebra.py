"""The algebra as published: `out_view[..](..)`, `md_hom[..](..)`, `inp_view[..](..)` under `@mdh()`.

A computation is a function without parameters that returns the three, in the order of their
composition. Index functions are lambdas of the dimensions, in their order; a buffer has a list of
them, one for each access. Types and sizes in brackets may be left out: they follow from arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .affine import Affine, index_function
from .computation import Computation
from .errors import ProgramError
from .operators import Combine
from .program import Accesses, Described, Form
from .scalar import trace_scalar
from .sizes import OpenDimension
from .trace import Trace, located, source_place
from .types import BasicType, Buffer, basic_type


class View:
    """An input view or an output view: index functions by buffer, and their element types."""

    def __init__(self, kind: str, dtypes: tuple[BasicType, ...] | None, buffers: Mapping[str, Any]):
        self.kind = kind
        self.place = source_place(3)
        self.functions = {
            name: list(functions) if isinstance(functions, (list, tuple)) else [functions]
            for name, functions in buffers.items()
        }
        for name, functions in self.functions.items():
            for function in functions:
                if not callable(function):
                    raise ProgramError(
                        located(
                            f"found {function!r} for the buffer '{name}' of {kind}, expected a list of "
                            f"index functions such as lambda i, k: (i, k)",
                            self.place,
                        )
                    )
            if not functions:
                raise ProgramError(
                    located(
                        f"found no index function for the buffer '{name}' of {kind}, expected one for each access",
                        self.place,
                    )
                )
        if dtypes is not None and len(dtypes) not in (1, len(buffers)):
            raise ProgramError(
                located(
                    f"found {len(dtypes)} types for the {len(buffers)} buffers of {kind}, expected one for "
                    f"each buffer, or one for all",
                    self.place,
                )
            )
        if dtypes is not None and len(dtypes) == 1:
            dtypes = dtypes * len(buffers)
        self.dtypes = dict(zip(buffers, dtypes)) if dtypes is not None else {}


class ViewMaker:
    """`out_view` and `inp_view`: called with index functions, after types in brackets."""

    def __init__(self, kind: str, dtypes: tuple[BasicType, ...] | None = None):
        self._kind = kind
        self._dtypes = dtypes

    def __getitem__(self, dtypes: Any) -> ViewMaker:
        listed = dtypes if isinstance(dtypes, tuple) else (dtypes,)
        return ViewMaker(self._kind, tuple(basic_type(dtype) for dtype in listed))

    def __call__(self, **buffers: Any) -> View:
        return View(self._kind, self._dtypes, buffers)

    def __repr__(self) -> str:
        return self._kind


class Hom:
    """A homomorphism: sizes, a scalar function, and a combine operator for each dimension."""

    def __init__(self, sizes: tuple[int | None, ...] | None, function: Callable, combines: Any):
        self.place = source_place(3)
        self.sizes = sizes
        self.function = function
        self.combines = combine_tuple(combines, self.place)
        if sizes is not None and len(sizes) != len(self.combines):
            raise ProgramError(
                located(
                    f"found {len(sizes)} sizes and {len(self.combines)} combine operators of md_hom, "
                    f"expected one of each for every dimension",
                    self.place,
                )
            )
        for size in sizes or ():
            if size is not None and size < 0:
                raise ProgramError(located(f"found the size {size} of md_hom, expected at least 0", self.place))


class HomMaker:
    """`md_hom`: called with a scalar function and combine operators, after sizes in brackets."""

    def __init__(self, sizes: tuple[int | None, ...] | None = None):
        self._sizes = sizes

    def __getitem__(self, sizes: Any) -> HomMaker:
        listed = sizes if isinstance(sizes, tuple) else (sizes,)
        return HomMaker(tuple(None if size is None else size.__index__() for size in listed))

    def __call__(self, function: Callable, combines: Any) -> Hom:
        return Hom(self._sizes, function, combines)

    def __repr__(self) -> str:
        return "md_hom"


out_view, inp_view, md_hom = ViewMaker("out_view"), ViewMaker("inp_view"), HomMaker()


def combine_tuple(combines: Any, place: tuple[str, int] | None) -> tuple[Combine, ...]:
    """Returns combine operators as a tuple; a single one is that of the only dimension."""
    listed = (combines,) if isinstance(combines, Combine) else tuple(combines)
    for combine in listed:
        if not isinstance(combine, Combine):
            raise ProgramError(located(f"found {combine!r} as a combine operator, expected cc, pw(f) or ps(f)", place))
    return listed


def from_triple(
    function: Callable, triple: Any, outputs: Mapping[str, Buffer], inputs: Mapping[str, Buffer]
) -> Computation:
    """Returns the computation of `(out_view, md_hom, inp_view)`.

    `outputs` and `inputs` are the buffers that `@mdh(..)` declares.
    """
    place = (function.__code__.co_filename, function.__code__.co_firstlineno)
    parts = triple if isinstance(triple, tuple) else (triple,)
    kinds = [
        part.kind if isinstance(part, View) else "md_hom" if isinstance(part, Hom) else type(part).__name__
        for part in parts
    ]
    if kinds != ["out_view", "md_hom", "inp_view"]:
        raise ProgramError(
            located(
                f"found ({', '.join(kinds)}) as the result of '{function.__name__}', expected (out_view[..]"
                f"(..), md_hom[..](..), inp_view[..](..))",
                place,
            )
        )
    out, hom, inp = parts
    names = _dimension_names([*out.functions.values(), *inp.functions.values()], len(hom.combines), place)
    sizes = hom.sizes or (None,) * len(names)
    dimensions = tuple(OpenDimension(name, upper=size) for name, size in zip(names, sizes))
    written, read = (_accesses(view, names) for view in (out, inp))

    def form(dtypes: Mapping[str, BasicType], known: Mapping[str, Described]) -> Form:
        results = trace_scalar(
            hom.function,
            names,
            [(key, dtypes[view.name]) for view in read for key in view.keys],
            [(key, known[view.name].dtype) for view in written for key in view.keys],
        )
        return Form(dimensions, written, read, results, hom.combines)

    return Computation(function.__name__, _declared(out, outputs), _declared(inp, inputs), form, doc=function.__doc__)


def _declared(view: View, declared: Mapping[str, Buffer]) -> dict[str, Buffer]:
    """The buffers of a view, with the types that it has or that `@mdh(..)` declares."""
    unknown = [name for name in declared if name not in view.functions]
    if unknown:
        raise ProgramError(
            located(
                f"found the declared buffer '{unknown[0]}' that {view.kind} does not have, expected "
                f"{', '.join(view.functions)}",
                view.place,
            )
        )
    buffers = {}
    for name in view.functions:
        stated = declared.get(name, Buffer(None))
        dtype = view.dtypes.get(name, stated.dtype)
        if stated.dtype is not None and dtype != stated.dtype:
            raise ProgramError(
                located(
                    f"found the type {dtype} of '{name}' in {view.kind} and {stated.dtype} where it is "
                    f"declared, expected the same",
                    view.place,
                )
            )
        buffers[name] = Buffer(dtype, stated.shape)
    return buffers


def _dimension_names(functions: Sequence[Sequence[Callable]], count: int, place: tuple[str, int]) -> list[str]:
    """Names of the dimensions: what the index functions call their parameters."""
    names: list[str | None] = [None] * count
    for function in (function for buffer in functions for function in buffer):
        # Parameters with defaults are how a lambda in a loop keeps the loop's variable.
        parameters = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.default is parameter.empty
        ]
        if len(parameters) != count:
            at = (function.__code__.co_filename, function.__code__.co_firstlineno)
            raise ProgramError(
                located(
                    f"found an index function of {len(parameters)} dimensions ({', '.join(parameters)}), "
                    f"expected {count}: as many as md_hom has combine operators",
                    at,
                )
            )
        for number, parameter in enumerate(parameters):
            if names[number] is None and parameter.strip("_"):
                names[number] = parameter
    filled = [name or f"d{number}" for number, name in enumerate(names)]
    if len(set(filled)) != len(filled):
        # Index functions may name the same dimension differently, such that two names of different dimensions meet.
        filled = [f"d{number}" for number in range(count)]
    return filled


def _accesses(view: View, names: Sequence[str]) -> tuple[Accesses, ...]:
    listed = []
    for buffer, functions in view.functions.items():
        accesses = [_traced(function, buffer, names) for function in functions]
        if len({len(access) for access in accesses}) > 1:
            raise ProgramError(
                located(
                    f"found index functions of '{buffer}' with different numbers of axes, expected as many "
                    f"indices in each",
                    view.place,
                )
            )
        listed.append(Accesses(buffer, tuple(accesses)))
    return tuple(listed)


def _traced(function: Callable, buffer: str, names: Sequence[str]) -> tuple[Affine, ...]:
    place = (function.__code__.co_filename, function.__code__.co_firstlineno)
    with Trace(f"an index function of '{buffer}'") as trace:
        indices = function(*(trace.index(at) for at in range(len(names))))
    indices = indices if isinstance(indices, (tuple, list)) else (indices,)
    try:
        return tuple(index_function(index, buffer) for index in indices)
    except ProgramError as error:
        # The function has returned: its own line says more than that of the view.
        message = str(error).partition(": ")[2].partition("\n")[0] if ": " in str(error) else str(error)
        raise ProgramError(located(message, place)) from None
