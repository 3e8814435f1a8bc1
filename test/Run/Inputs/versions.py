"""Calls a function of a library with sizes that it has code for, and with others."""

import ctypes
import sys

import numpy as np


def call(function, *arrays):
    """Calls it with arrays and their sizes."""
    sized = [value for array in arrays
             for value in (array.ctypes.data_as(ctypes.c_void_p), *map(ctypes.c_int64, array.shape))]
    return function(*sized) == 0


def matvec(function, rows, columns):
    """Says if a product is right."""
    generator = np.random.default_rng(rows)
    M = generator.random((rows, columns), dtype=np.float32)
    v = generator.random(columns, dtype=np.float32)
    w = np.full(rows, np.nan, dtype=np.float32)
    return call(function, M, v, w) and np.allclose(w, M @ v, rtol=1e-4)


def twice(function, size):
    """Says if the result is right, and the argument is as before."""
    x = np.arange(size, dtype=np.float32)
    y = np.full(size, np.nan, dtype=np.float32)
    return call(function, x, y) and (x == np.arange(size)).all() and (y == 2 * x).all()


path, name = sys.argv[1:3]
for sizes in sys.argv[3:]:
    is_right = globals()[name](getattr(ctypes.CDLL(path), name), *map(int, sizes.split("x")))
    print(f"{sizes}: {'right' if is_right else 'wrong'}")
