"""Calls what mdh has made of functions.mlir from Python, by ctypes: call.py LIBRARY

The library is that of `mdh compile functions.mlir --emit shared`. Arrays are numpy's, but
anything with a pointer will do.
"""

import ctypes
import sys

import numpy as np


class Library:
    """A shared library of mdh, whose functions take arrays and numbers."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.functions.mdh_error.restype = ctypes.c_char_p

    def __getattr__(self, name):
        def call(*arguments):
            status = getattr(self.functions, name)(*map(passed, arguments))
            if status != 0:
                raise ValueError(self.functions.mdh_error().decode())
        return call


def passed(argument):
    """An argument as ctypes passes it: numbers are sizes, unless they are numpy's."""
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return argument.ctypes.data_as(ctypes.c_void_p)
    if isinstance(argument, np.float16):
        return ctypes.c_uint16(int(argument.view(np.uint16)))
    return ctypes.c_int64(argument)


def main(path):
    library = Library(path)

    # Any size: M[i, k] = i + k, v[k] = 1.
    for rows, columns in [(3, 5), (100, 37), (0, 4)]:
        i, k = np.ogrid[:rows, :columns]
        matrix = np.ascontiguousarray(i + k, dtype=np.float32)
        vector, result = np.ones(columns, np.float32), np.empty(rows, np.float32)
        library.matvec(matrix, rows, columns, vector, columns, result, rows)
        assert (result == i[:, 0] * columns + columns * (columns - 1) // 2).all()

    # Several threads: A[i, k] = i % 8, B[k, j] = j % 8.
    n = 512
    b = np.broadcast_to(np.arange(n, dtype=np.float32) % 8, (n, n)).copy()
    a, c = b.T.copy(), np.empty_like(b)
    library.matmul(a, b, c)
    assert (c == n * a * b).all()

    # Two results, and half precision.
    x, total, largest = np.arange(1000.0), np.empty(()), np.empty(())
    library.total(x, len(x), total, largest)
    assert (total, largest) == (499500, 999)
    x = np.array([2, -4, 0.5], np.float16)
    y = np.empty_like(x)
    library.scale(np.float16(1.5), x, 3, y, 3)
    assert y.tolist() == [3, -6, 0.75]

    # What is wrong is an exception.
    try:
        library.matvec(matrix, 2, 3, vector, 3, result, 1)
    except ValueError as error:
        print(error)
    print("all right")


if __name__ == "__main__":
    main(sys.argv[1])
