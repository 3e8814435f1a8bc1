"""As much of Triton's language as the templates use, on numpy arrays, one program after another.

A kernel is called as in Triton: `kernel[grid](...)`, with arrays where it takes pointers.
"""

import sys
import types

import numpy as np

float16, float32, float64 = np.float16, np.float32, np.float64
int1, int32, int64 = np.bool_, np.int32, np.int64
constexpr = object
program = 0


class Array(np.ndarray):
    """An array whose type is changed by `to`."""

    def to(self, dtype):
        return self.astype(dtype)


class Pointer:
    """Elements of an array, by their positions."""

    def __init__(self, array, offset=0):
        self.array, self.offset = array, offset
        self.dtype = types.SimpleNamespace(element_ty=array.dtype)

    def __add__(self, offset):
        return Pointer(self.array, self.offset + offset)

    def to(self, _):
        return self


def program_id(_):
    return program


def pointer_type(_):
    return Pointer


def arange(start, end):
    assert (end - start) & (end - start - 1) == 0, "Triton has powers of two only"
    return np.arange(start, end)


def zeros(shape, dtype):
    return np.zeros(shape, dtype).view(Array)


def positions(pointer, mask):
    """The positions, all of which are the array's where the mask holds."""
    offset, mask = np.broadcast_arrays(pointer.offset, True if mask is None else mask)
    assert (offset[mask] >= 0).all() and (offset[mask] < pointer.array.size).all()
    return offset, mask


def load(pointer, mask=None, other=0):
    offset, mask = positions(pointer, mask)
    found = pointer.array[np.where(mask, offset, 0)]
    if not isinstance(found, np.ndarray):
        return found
    if found.ndim == 0:
        return found[()]
    return np.where(mask, found, np.asarray(other, found.dtype)).view(Array)


def store(pointer, value, mask=None):
    offset, mask = positions(pointer, mask)
    pointer.array[offset[mask]] = np.broadcast_to(value, offset.shape)[mask]


def dot(a, b, c):
    return (c + a.astype(np.float32) @ b.astype(np.float32)).view(Array)


def cast(value, dtype):
    return np.asarray(value).astype(dtype)


where, minimum, maximum, exp = np.where, np.minimum, np.maximum, np.exp
max, sum = np.max, np.sum


class Kernel:
    """A function that `jit` was applied to."""

    def __init__(self, function):
        self.function = function

    def __getitem__(self, grid):
        def launch(*arguments):
            global program
            values = [Pointer(a) if isinstance(a, np.ndarray) else a for a in arguments]
            for program in range(grid[0]):
                self.function(*values)
        return launch


def module(source, name):
    """A template's output as a module, with this in Triton's place."""
    triton = types.ModuleType("triton")
    triton.jit, triton.language = Kernel, sys.modules[__name__]
    hidden = {key: sys.modules.get(key) for key in ("triton", "triton.language")}
    sys.modules.update({"triton": triton, "triton.language": triton.language})
    try:
        names = {"__name__": name}
        exec(compile(source, name, "exec"), names)
        return types.SimpleNamespace(**names)
    finally:
        for key, value in hidden.items():
            if value is None:
                del sys.modules[key]
            else:
                sys.modules[key] = value
