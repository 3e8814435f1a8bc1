"""Libraries with the C interface of the BLAS."""

import ctypes

import numpy

from native import address, calls, load

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112

# Functions for products, and the type of their factors.
PRODUCTS = {"f32": ("cblas_sgemm", ctypes.c_float), "f64": ("cblas_dgemm", ctypes.c_double)}
ONE, ZERO = ctypes.c_float(1), ctypes.c_float(0)


class Blas:
    """A library: its file's name and the beginning of it, what copies a matrix transposed, with the arguments that
    say so and the type of sizes, and what computes a batch of products, if something does."""

    def __init__(self, file, pattern, transpose, batch=None):
        self.library = load(file, pattern)
        self.transpose = transpose
        self.batch = batch
        self.outputs = None

    def prepare(self, task):
        make, types = getattr(self, "make_" + task.workload, None), set(task.types)
        if make is None or types != {"f32"} and (types != {"f64"} or task.workload != "matmul"):
            return None
        self.outputs = task.outputs
        return make(task, *task.inputs, *task.outputs)

    def results(self, value):
        return self.outputs if value is None else [numpy.float32(value)]

    def function(self, name, result=None):
        made = self.library[name]
        made.restype = result
        return made

    def product(self, element, sizes, *arrays):
        """C = A * B, for matrices in row-major order, as a function and its arguments."""
        (m, n, k), (a, b, c), (name, number) = sizes, map(address, arrays), PRODUCTS[element]
        return self.function(name), ROW_MAJOR, PLAIN, PLAIN, m, n, k, number(1), a, k, b, n, number(0), c, n

    def make_dot(self, task, x, y, _):
        function = self.function("cblas_sdot", ctypes.c_float)
        return calls([function, task.dims["i"], address(x), 1, address(y), 1])

    def make_matvec(self, task, m, v, w):
        (rows, columns), (m, v, w) = m.shape, map(address, (m, v, w))
        function = self.function("cblas_sgemv")
        return calls([function, ROW_MAJOR, PLAIN, rows, columns, ONE, m, columns, v, 1, ZERO, w, 1])

    def make_matmul(self, task, *arrays):
        return calls(self.product(task.types[0], [task.dims[d] for d in "ijk"], *arrays))

    def make_matmul_t(self, task, a, b, c):
        # The transposed product is the product of the transposed ones in the other order.
        return calls(self.product("f32", [task.dims[d] for d in "jik"], b, a, c))

    def make_bmatmul(self, task, *arrays):
        count, m, n, k = (task.dims[d] for d in "bijk")
        if self.batch is None:
            return calls(*(self.product("f32", [m, n, k], *matrices) for matrices in zip(*arrays)))
        a, b, c = map(address, arrays)
        return calls([self.function(self.batch), ROW_MAJOR, PLAIN, PLAIN, m, n, k, ONE, a, k, m * k, b, n, k * n, ZERO,
                      c, n, m * n, count])

    def make_transpose(self, task, x, y):
        (name, marks, size), (rows, columns) = self.transpose, map(self.transpose[2], x.shape)
        return calls([self.function(name), *marks, rows, columns, ONE, address(x), columns, address(y), rows])
