"""The decorator `mdh`, for both published forms, and what stands in its brackets.

`@mdh()` on a function without parameters takes the algebra's three functions that it returns;
`@mdh(out(..), inp(..), combine_ops(..))` on a function of buffers takes its loops.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, overload

from .algebra import from_triple
from .computation import Computation
from .errors import ProgramError
from .operators import Combine
from .trace import located, source_place
from .types import BasicType, Buffer


class Declared:
    """Buffers by name, with their types: what `out(..)` and `inp(..)` say."""

    def __init__(self, kind: str, buffers: dict[str, Any]):
        self.kind = kind
        self.buffers: dict[str, Buffer] = {}
        for name, buffer in buffers.items():
            if isinstance(buffer, BasicType):
                buffer = Buffer(buffer)
            elif buffer is Buffer or buffer is None:
                buffer = Buffer(None)
            if not isinstance(buffer, Buffer):
                raise ProgramError(
                    located(f"found {buffer!r} for '{name}' of {kind}, expected Buffer[T]", source_place(3))
                )
            self.buffers[name] = buffer


def out(**buffers: Any) -> Declared:
    """Declares outputs: `out(w=Buffer[T])`. `buffers` are their types, and sizes if these are given, by name; without
    any, they follow from arrays. Raises `ProgramError` for what is no `Buffer`."""
    return Declared("out", buffers)


def inp(**buffers: Any) -> Declared:
    """Declares inputs: `inp(M=Buffer[T], v=Buffer[T])`. `buffers` are their types, and sizes if these are given, by
    name; without any, they follow from arrays. Raises `ProgramError` for what is no `Buffer`."""
    return Declared("inp", buffers)


class CombineOps:
    """The combine operators of a loop nest, from the outermost loop on."""

    def __init__(self, combines: tuple[Combine, ...]):
        self.combines = combines


def combine_ops(*combines: Combine) -> CombineOps:
    """Declares how loops combine: `combine_ops(cc, pw(add))`. `combines` has `cc`, `pw(f)` or `ps(f)` for each, from the
    outermost loop on. Raises `ProgramError` for anything else."""
    listed = combines[0] if len(combines) == 1 and isinstance(combines[0], (tuple, list)) else combines
    for combine in listed:
        if not isinstance(combine, Combine):
            raise ProgramError(
                located(f"found {combine!r} in combine_ops, expected cc, pw(f) or ps(f)", source_place(2))
            )
    return CombineOps(tuple(listed))


class Decorator:
    """The decorator that makes a `Computation` of a function, in one of the two published forms.

    What stands in its brackets are `out(..)`, `inp(..)`, `combine_ops(..)`, and options of the compiler.
    After `from mdh import *` its name hides the package's, so that it has the package's attributes, too.
    """

    __name__ = "mdh"

    @overload
    def __call__(self, function: Callable[..., Any], /) -> Computation: ...
    @overload
    def __call__(
        self, *described: Declared | CombineOps, **options: Any
    ) -> Callable[[Callable[..., Any]], Computation]: ...
    def __call__(self, *described: Any, **options: Any) -> Any:
        if len(described) == 1 and callable(described[0]) and not isinstance(described[0], (Declared, CombineOps)):
            return _computation(described[0], {}, options)
        parts: dict[str, Any] = {}
        for part in described:
            kind = part.kind if isinstance(part, Declared) else "combine_ops" if isinstance(part, CombineOps) else None
            if kind is None or kind in parts:
                found = f"a second {kind}" if kind else repr(part)
                raise ProgramError(
                    located(
                        f"found {found} in @mdh(..), expected out(..), inp(..) and combine_ops(..)", source_place(2)
                    )
                )
            parts[kind] = part
        return lambda function: _computation(function, parts, options)

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules[__package__], name)


mdh = Decorator()


def _computation(function: Callable, parts: dict[str, Any], options: dict[str, Any]) -> Computation:
    outputs = parts["out"].buffers if "out" in parts else {}
    inputs = parts["inp"].buffers if "inp" in parts else {}
    if "combine_ops" in parts:
        from .loops import from_loops

        computation = from_loops(function, outputs, inputs, parts["combine_ops"].combines)
    elif function.__code__.co_argcount:
        place = (function.__code__.co_filename, function.__code__.co_firstlineno)
        raise ProgramError(
            located(
                f"found the parameters of '{function.__name__}' without combine_ops(..) in @mdh(..), "
                f"expected it for loops, and a function without parameters for the algebra",
                place,
            )
        )
    else:
        computation = from_triple(function, function(), outputs, inputs)
    return computation.using(**options) if options else computation
