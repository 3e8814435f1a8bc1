"""Arrays of numpy, torch, jax and cupy: how results are made in each.

The extension reads the memory of arrays itself; what it asks of Python is here, once for each library and type of
elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import DTypeError

Maker = tuple[Callable[[tuple[int, ...]], Any], Callable[[Any], Any] | None]


def maker(library: str, dtype: str) -> Maker:
    """Functions that make arrays of a library: one from a shape to an array whose elements are not set, and one from
    such an array to what users get (None where that is the same).

    Raises:
        DTypeError: the library has no such elements.
    """
    makers = {"numpy": _numpy, "torch": _torch, "jax": _jax, "cupy": _cupy}
    return makers[library](dtype)


def _numpy(dtype: str) -> Maker:
    import numpy

    if dtype == "bfloat16":
        elements = _bfloat16()
    else:
        elements = numpy.dtype(dtype)
    empty = numpy.empty
    return (lambda shape: empty(shape, elements)), None


def _bfloat16() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise DTypeError(
            "numpy has no bfloat16 of its own: expected the package ml_dtypes to be installed, or an array of torch"
        ) from None
    import numpy

    return numpy.dtype(ml_dtypes.bfloat16)


def _torch(dtype: str) -> Maker:
    import torch

    elements = getattr(torch, dtype, None)
    if elements is None:
        raise DTypeError(f"torch {torch.__version__} has no elements of type {dtype}")
    empty = torch.empty
    return (lambda shape: empty(shape, dtype=elements)), None


def _jax(dtype: str) -> Maker:
    import jax.numpy

    allocate, _ = _numpy(dtype)
    return allocate, jax.numpy.asarray


def _cupy(dtype: str) -> Maker:
    import cupy

    return (lambda shape: cupy.empty(shape, dtype)), None


def dtype_name(dtype: Any) -> str:
    """The name of a type of elements, as numpy has it: ``float32`` of ``torch.float32``."""
    name = getattr(dtype, "name", None)
    return name if name is not None else str(dtype).rpartition(".")[2]
