"""numba: loops in Python, compiled for all cores, into preallocated arrays."""

import math

import numba
import numpy
from numba import njit, prange


def results(value):
    return value if isinstance(value, tuple) else (value,)


def prepare(task):
    make = MADE.get(task.workload)
    return make and make(task, *task.inputs, *task.outputs)


@njit(parallel=True, fastmath=True)
def jacobi3d(x, y, seventh):
    planes, rows, columns = y.shape
    for i in prange(planes):
        for j in range(rows):
            for k in range(columns):
                y[i, j, k] = (x[i + 1, j + 1, k + 1] + x[i, j + 1, k + 1] + x[i + 2, j + 1, k + 1]
                              + x[i + 1, j, k + 1] + x[i + 1, j + 2, k + 1]
                              + x[i + 1, j + 1, k] + x[i + 1, j + 1, k + 2]) * seventh
    return y


@njit(parallel=True, fastmath=True)
def conv2d(image, weights, out):
    high, wide = weights.shape
    for p in prange(out.shape[0]):
        for q in range(out.shape[1]):
            out[p, q] = 0
        for r in range(high):
            for s in range(wide):
                w = weights[r, s]
                for q in range(out.shape[1]):
                    out[p, q] += w * image[p + r, q + s]
    return out


@njit(fastmath=True)
def near27(x, i, j, k):
    total = x.dtype.type(0)
    for a in range(-1, 2):
        for b in range(-1, 2):
            for c in range(-1, 2):
                if 0 <= i + a < x.shape[0] and 0 <= j + b < x.shape[1] and 0 <= k + c < x.shape[2]:
                    total += x[i + a, j + b, k + c] * x.dtype.type(0.5 ** (3 + abs(a) + abs(b) + abs(c)))
    return total


@njit(parallel=True, fastmath=True)
def stencil27(x, y):
    """Without padding, x has one more point at each side; else, points at the sides ask for each neighbour."""
    off = (x.shape[0] - y.shape[0]) // 2
    w3, w4, w5, w6 = x.dtype.type(0.125), x.dtype.type(0.0625), x.dtype.type(0.03125), x.dtype.type(0.015625)
    for i in prange(y.shape[0]):
        p = i + off
        for j in range(y.shape[1]):
            q = j + off
            if p == 0 or p == x.shape[0] - 1 or q == 0 or q == x.shape[1] - 1:
                for k in range(y.shape[2]):
                    y[i, j, k] = near27(x, p, q, k + off)
                continue
            for k in range(1 - off, y.shape[2] - 1 + off):
                r = k + off
                y[i, j, k] = (
                    w3 * x[p, q, r]
                    + w4 * (x[p, q, r - 1] + x[p, q, r + 1] + x[p, q - 1, r] + x[p, q + 1, r]
                            + x[p - 1, q, r] + x[p + 1, q, r])
                    + w5 * (x[p, q - 1, r - 1] + x[p, q - 1, r + 1] + x[p, q + 1, r - 1] + x[p, q + 1, r + 1]
                            + x[p - 1, q, r - 1] + x[p - 1, q, r + 1] + x[p + 1, q, r - 1] + x[p + 1, q, r + 1]
                            + x[p - 1, q - 1, r] + x[p - 1, q + 1, r] + x[p + 1, q - 1, r] + x[p + 1, q + 1, r])
                    + w6 * (x[p - 1, q - 1, r - 1] + x[p - 1, q - 1, r + 1] + x[p - 1, q + 1, r - 1]
                            + x[p - 1, q + 1, r + 1] + x[p + 1, q - 1, r - 1] + x[p + 1, q - 1, r + 1]
                            + x[p + 1, q + 1, r - 1] + x[p + 1, q + 1, r + 1]))
            if off == 0:
                y[i, j, 0] = near27(x, p, q, 0)
                y[i, j, y.shape[2] - 1] = near27(x, p, q, y.shape[2] - 1)
    return y


@njit(fastmath=True)
def near9(x, i, j):
    total = x.dtype.type(0)
    for a in range(-1, 2):
        for b in range(-1, 2):
            if 0 <= i + a < x.shape[0] and 0 <= j + b < x.shape[1]:
                total += x[i + a, j + b] * x.dtype.type(0.5 ** (2 + abs(a) + abs(b)))
    return total


@njit(parallel=True, fastmath=True)
def stencil9(x, y):
    off = (x.shape[0] - y.shape[0]) // 2
    w2, w3, w4 = x.dtype.type(0.25), x.dtype.type(0.125), x.dtype.type(0.0625)
    for i in prange(y.shape[0]):
        p = i + off
        if p == 0 or p == x.shape[0] - 1:
            for j in range(y.shape[1]):
                y[i, j] = near9(x, p, j + off)
            continue
        for j in range(1 - off, y.shape[1] - 1 + off):
            q = j + off
            y[i, j] = (w2 * x[p, q] + w3 * (x[p, q - 1] + x[p, q + 1] + x[p - 1, q] + x[p + 1, q])
                       + w4 * (x[p - 1, q - 1] + x[p - 1, q + 1] + x[p + 1, q - 1] + x[p + 1, q + 1]))
        if off == 0:
            y[i, 0] = near9(x, p, 0)
            y[i, y.shape[1] - 1] = near9(x, p, y.shape[1] - 1)
    return y


@njit(parallel=True)
def scaled(s, u, out):
    for i in prange(len(u)):
        out[i] = s * u[i]
    return out


@njit(parallel=True)
def multiplied(f, u, out):
    for i in prange(len(u)):
        out[i] = f[i] * u[i]
    return out


@njit(parallel=True)
def combined(a, b, v, u, out):
    for i in prange(len(u)):
        out[i] = a * u[i] + b * v[i]
    return out


@njit(parallel=True, fastmath=True)
def interpolation(a, b, c, u, v):
    n = len(a)
    for e in prange(len(u)):
        first = numpy.empty((n, n, n))
        second = numpy.empty((n, n, n))
        for x in range(n):
            for y in range(n):
                for k in range(n):
                    total = 0.0
                    for z in range(n):
                        total += c[k, z] * u[e, x, y, z]
                    first[x, y, k] = total
        for x in range(n):
            for j in range(n):
                for k in range(n):
                    total = 0.0
                    for y in range(n):
                        total += b[j, y] * first[x, y, k]
                    second[x, j, k] = total
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    total = 0.0
                    for x in range(n):
                        total += a[i, x] * second[x, j, k]
                    v[e, i, j, k] = total
    return v


@njit(parallel=True)
def histo(x, h, private):
    parts = private.shape[0]
    for part in prange(parts):
        mine = private[part]
        mine[:] = 0
        for i in range(part * len(x) // parts, (part + 1) * len(x) // parts):
            mine[x[i]] += 1
    for b in prange(len(h)):
        total = 0
        for part in range(parts):
            total += private[part, b]
        h[b] = total
    return h


@njit(parallel=True, fastmath=True)
def prl(n, e, agree, disagree, match, best, agreeing):
    for i in prange(n.shape[0]):
        heaviest, at, most = -numpy.inf, numpy.int64(-1), numpy.int32(0)
        for j in range(e.shape[0]):
            weight, count = 0.0, 0
            for f in range(8):
                if (n[i, f] | e[j, f]) >= 0:
                    if n[i, f] == e[j, f]:
                        weight += agree[f]
                        count += 1
                    else:
                        weight += disagree[f]
            if weight > heaviest:
                heaviest, at, most = weight, j, count
        match[i], best[i], agreeing[i] = at, heaviest, most
    return match, best, agreeing


@njit(parallel=True)
def scan(x, y, carries):
    parts = len(carries)
    for part in prange(parts):
        total = x.dtype.type(0)
        for i in range(part * len(x) // parts, (part + 1) * len(x) // parts):
            total += x[i]
        carries[part] = total
    for part in prange(parts):
        total = x.dtype.type(0)
        for before in range(part):
            total += carries[before]
        for i in range(part * len(x) // parts, (part + 1) * len(x) // parts):
            total += x[i]
            y[i] = total
    return y


@njit(parallel=True, fastmath=True)
def softmax(x, y):
    for i in prange(x.shape[0]):
        largest = x[i, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - largest)
            total += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] /= total
    return y


@njit(parallel=True)
def transpose(x, y):
    rows, columns = x.shape
    side = 32
    for block in prange((rows + side - 1) // side):
        for first in range(0, columns, side):
            for i in range(block * side, min(rows, (block + 1) * side)):
                for j in range(first, min(columns, first + side)):
                    y[j, i] = x[i, j]
    return y


def make_inplace(task, *arrays):
    arrays = [a.item() if a.ndim == 0 else a for a in arrays]
    kernel = {"scalar": scaled, "elementwise": multiplied, "combination": combined}[task.texts["kernel"]]
    return lambda: kernel(*arrays)


def make_histo(task, x, h):
    private = numpy.zeros((numba.get_num_threads(), len(h)), h.dtype)
    return lambda: histo(x, h, private)


def make_scan(task, x, y):
    carries = numpy.zeros(numba.get_num_threads(), x.dtype)
    return lambda: scan(x, y, carries)


def make_prl(task, n, e, m, u, match, best, agreeing):
    low = 2.0 ** -20
    m, u = numpy.clip(m, low, 1 - low), numpy.clip(u, low, 1 - low)
    agree, disagree = numpy.log2(m / u), numpy.log2((1 - m) / (1 - u))
    return lambda: prl(n, e, agree, disagree, match, best, agreeing)


MADE = {
    "jacobi3d": lambda task, x, y: lambda: jacobi3d(x, y, x.dtype.type(1 / 7)),
    "conv2d": lambda task, image, weights, out: lambda: conv2d(image, weights, out),
    "stencil9": lambda task, x, y: lambda: stencil9(x, y),
    "stencil27": lambda task, x, y: lambda: stencil27(x, y),
    "histo": make_histo,
    "inplace": make_inplace,
    "interpolation": lambda task, a, b, c, u, v: lambda: interpolation(a, b, c, u, v),
    "prl": make_prl,
    "scan": make_scan,
    "softmax": lambda task, x, y: lambda: softmax(x, y),
    "transpose": lambda task, x, y: lambda: transpose(x, y),
}
