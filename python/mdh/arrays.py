"""Arrays of numpy, torch, jax and cupy: how results are made in each.

The extension reads the memory of arrays itself; what it asks of Python is here, once for each library and type of
elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .errors import DeviceError, DTypeError

Maker = tuple[Callable[[tuple[int, ...], "int | None"], Any], Callable[[Any], Any] | None]


def maker(library: str, dtype: str) -> Maker:
    """Functions that make arrays of a library: one from a shape and the number of a GPU (None for the processor) to an
    array whose elements are not set, and one from such an array to what users get (None where that is the same).

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

    def allocate(shape: tuple[int, ...], gpu: int | None) -> Any:
        if gpu is not None:
            raise DeviceError(
                "found arrays on a GPU of a library that is none of torch and cupy, expected arrays for the results: out=.."
            )
        return empty(shape, elements)

    return allocate, None


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

    def allocate(shape: tuple[int, ...], gpu: int | None) -> Any:
        return empty(shape, dtype=elements, device=None if gpu is None else f"cuda:{gpu}")

    return allocate, None


def _jax(dtype: str) -> Maker:
    import jax

    allocate_on_host, _ = _numpy(dtype)

    def allocate(shape: tuple[int, ...], gpu: int | None) -> Any:
        if gpu is None:
            return allocate_on_host(shape, None)
        # jax has no arrays that others write. Nobody has seen this one yet.
        made = jax.numpy.empty(shape, dtype, device=jax.devices("cuda")[gpu])
        return jax.block_until_ready(made)

    return allocate, jax.numpy.asarray


def _cupy(dtype: str) -> Maker:
    import cupy

    def allocate(shape: tuple[int, ...], gpu: int | None) -> Any:
        with cupy.cuda.Device(gpu):
            return cupy.empty(shape, dtype)

    return allocate, None


def current_stream(library: str, gpu: int) -> int:
    """The handle of the stream on which torch or cupy uses a GPU now."""
    if library == "torch":
        import torch

        return torch.cuda.current_stream(gpu).cuda_stream
    import cupy

    with cupy.cuda.Device(gpu):
        return cupy.cuda.get_current_stream().ptr


def from_buffer(given: Any) -> Any:
    """An array of numpy over the memory that an object shows by the buffer protocol, as a `memoryview` and an `array.array`
    do; None of any other object."""
    try:
        view = memoryview(given)
    except TypeError:
        return None
    import numpy

    return numpy.asarray(view)


def gpu_of(arrays: Iterable[Any]) -> int | None:
    """The number of the GPU in whose memory the first array is; None for the processor's memory.

    Args:
        arrays: arrays, or anything else, which is in the processor's memory.
    """
    for array in arrays:
        if type(array).__module__ == "numpy" or not hasattr(array, "__dlpack_device__"):
            continue
        kind, number = array.__dlpack_device__()
        return number if kind in _ON_CUDA else None
    return None


#: DLPack's kinds of memory that is a GPU's, or managed by its driver.
_ON_CUDA = (2, 13)


def dtype_name(dtype: Any) -> str:
    """The name of a type of elements, as numpy has it: ``float32`` of ``torch.float32``."""
    name = getattr(dtype, "name", None)
    return name if name is not None else str(dtype).rpartition(".")[2]
