"""Arguments of compiled code, which sees only their memory: what it would misread there.

A mask is no part of that memory, so that masked arrays are refused. Truth values whose bytes are others than 0 and 1 are
true for numpy, and are made so. Elements that lie where none may lie are explained: numpy has them in packed records.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .arrays import from_buffer
from .errors import DTypeError, Error

if TYPE_CHECKING:
    from . import _mdh


class Parameter(NamedTuple):
    """A line of a function's interface."""

    #: `buffer` for an array, `value` for a number.
    kind: str
    name: str
    #: The type of elements, in MLIR.
    element: str
    #: `read`, `written` or `changed`, of an array.
    access: str


def parameters(interface: str) -> list[Parameter]:
    """The parameters of a function, arguments first, from its interface."""
    listed = []
    for line in interface.split("\n")[1:]:
        kind, name, element, *rest = line.split(" ")
        listed.append(Parameter(kind, name, element, rest[0] if kind == "buffer" else ""))
    return listed


def truths(interface: str) -> tuple[int, ...]:
    """The positions of parameters that are arrays of truth values which code reads."""
    return tuple(
        at
        for at, parameter in enumerate(parameters(interface))
        if parameter.element == "i1" and parameter.access in ("read", "changed")
    )


def _has_mask(kind: type) -> bool:
    return any(base.__name__ == "MaskedArray" and base.__module__.startswith("numpy.ma") for base in kind.__mro__)


#: True for types of arrays with a mask: numpy's. Each call asks it of each argument.
has_mask: Callable[[type], bool] = functools.lru_cache(maxsize=256)(_has_mask)


def examined(function: _mdh.Function, its_truths: Sequence[int], arguments: tuple, out: Any) -> tuple:
    """Arguments of a function, whose `truths` these are, as its code may read them.

    Raises:
        DTypeError: an array has a mask, or truth values that are changed in place are no bytes of 0 and 1.
    """
    for at, argument in _numbered(function, arguments, out):
        if has_mask(type(argument)):
            refuse_mask(_position(function, at), argument)
    listed = list(arguments)
    for at in its_truths:
        if at >= len(listed):
            continue
        plain = as_truths(listed[at])
        if plain is not listed[at] and parameters(function.interface)[at].access == "changed":
            raise DTypeError(
                f"{_position(function, at)}: found truth values whose bytes are others than 0 and 1, expected these, since "
                f"it is changed in place: x[...] = x.view('uint8') != 0"
            )
        listed[at] = plain
    return tuple(listed)


def refuse_mask(where: str, array: Any) -> None:
    """Raises `DTypeError` for a masked array; `where` stands before the message."""
    if has_mask(type(array)):
        raise DTypeError(
            f"{where}: found a masked array, whose mask would be lost, expected an array without one: x.filled(0), with a "
            f"number of your choice for the masked elements, or x.data, with what lies beneath the mask"
        )


def refuse_masks_within(where: str, items: Sequence[Any]) -> None:
    """The same for lists and tuples, of which numpy makes arrays without masks."""
    kinds = set(map(type, items))
    if any(map(has_mask, kinds)):
        refuse_mask(where, next(item for item in items if has_mask(type(item))))
    if kinds & {list, tuple}:
        for item in items:
            if isinstance(item, (list, tuple)):
                refuse_masks_within(where, item)


def refuse_records(where: str, dtype: Any) -> None:
    """Raises `DTypeError` for a dtype with fields; `where` stands before the message."""
    fields = getattr(dtype, "names", None)
    if fields:
        listed = ", ".join(map(repr, fields))
        raise DTypeError(f"{where}: found records with the fields {listed}, expected the array of one: x[{fields[0]!r}]")


def is_packed(array: Any) -> bool:
    """True where elements of an array of numpy lie at addresses that are no multiples of their size, as those of a field
    do in records without padding."""
    size = max(array.itemsize, 1)
    return not array.flags.aligned or any(stride % size for stride in array.strides)


def as_truths(array: Any) -> Any:
    """An array with bytes of 0 and 1 for truth values that have others, which are true; anything else as it is, such as
    arrays in a GPU's memory, and those of libraries that make no such bytes."""
    module = type(array).__module__.partition(".")[0]
    if module == "torch":
        import torch

        if array.dtype is not torch.bool or not array.is_cpu or not array.numel():
            return array
        as_bytes: Any = array.view(torch.uint8)
    else:
        shown: Any = array if module == "numpy" else None if hasattr(array, "__dlpack__") else from_buffer(array)
        if not hasattr(shown, "view") or shown.dtype != bool or not shown.size:
            return array
        as_bytes = shown.view("uint8")
    return array if as_bytes.max() <= 1 else as_bytes != 0


def _numbered(function: _mdh.Function, arguments: Sequence[Any], out: Any) -> list[tuple[int, Any]]:
    """Arguments and results that are given, by the positions of their parameters."""
    results = () if out is None else out if isinstance(out, tuple) else (out,)
    first = len(function.argument_names)
    return [*enumerate(arguments), *enumerate(results, first)]


def _position(function: _mdh.Function, at: int) -> str:
    """`f: argument 2 ('x')`, as the extension writes it."""
    name, inputs = function.interface.partition(" ")[0], len(function.argument_names)
    listed = parameters(function.interface)
    if at >= len(listed):
        return name
    what = f"argument {at + 1}" if at < inputs else f"result {at + 1 - inputs}"
    return f"{name}: {what} ('{listed[at].name}')"


def explained(error: Error, function: _mdh.Function, arguments: Sequence[Any], out: Any) -> Error:
    """The same error, or what it comes from where that is how numpy has laid an array out."""
    for at, array in _numbered(function, arguments, out):
        if type(array).__module__ != "numpy" or not hasattr(array, "strides"):
            continue
        position = _position(function, at)
        try:
            refuse_records(position, array.dtype)
        except DTypeError as records:
            return records
        if array.dtype.isnative and is_packed(array):
            size = array.itemsize
            distances = sorted({abs(stride) for stride in array.strides if stride % size})
            found = f"{distances[0]} bytes apart" if distances else f"at an address that is no multiple of {size}"
            return type(error)(
                f"{position}: found elements of {array.dtype} {found}, as in the field of a packed record, expected "
                f"multiples of {size} bytes, their size: records of numpy.dtype(.., align=True), or a copy of the field"
            )
    return error
