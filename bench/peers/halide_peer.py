"""Halide: the definitions as they stand, scheduled by its autoscheduler Adams2019.

Halide's dimensions are those of numpy in the opposite order: what is written [j, i] here is
element [i, j] of an array.
"""

import os

import halide
import numpy

THREADS = os.environ.get("OMP_NUM_THREADS", "1")
PLUGINS = os.path.join(os.path.dirname(halide.__file__), "lib64")
halide.load_plugin(os.path.join(PLUGINS, "libautoschedule_adams2019.so"))


def results(value):
    return value


def prepare(task):
    make = MADE.get(task.workload)
    if not make or task.inputs[0].dtype != numpy.float32 or task.texts.get("layout") == "nchw":
        return None
    function = make(task, *map(halide.Buffer, task.inputs))
    out = task.outputs[0]
    function.set_estimates([halide.Range(0, n) for n in reversed(out.shape)])
    pipeline, target = halide.Pipeline(function), halide.get_jit_target_from_environment()
    parameters = halide.AutoschedulerParams("Adams2019", {"parallelism": THREADS})
    pipeline.apply_autoscheduler(target, parameters)
    pipeline.compile_jit(target)
    into = halide.Buffer(out)

    def run():
        pipeline.realize(into)
        return [out]

    return run


def summed(points, term):
    """A function of the points that adds up a term."""
    function = halide.Func("out")
    function[points] = 0.0
    function[points] += term
    return function


def variables(names):
    return [halide.Var(name) for name in names]


def domain(*extents):
    """A domain to add up over; its dimensions are those of numpy in the opposite order as well."""
    return halide.RDom([(0, n) for n in extents])


def matvec(task, a, b):
    i, k = halide.Var("i"), domain(task.dims["k"])
    return summed([i], a[k.x, i] * b[k.x])


def matmul(task, a, b):
    (j, i), k = variables("ji"), domain(task.dims["k"])
    return summed([j, i], a[k.x, i] * b[j, k.x])


def conv2d(task, image, weights):
    (q, p), window = variables("qp"), domain(task.dims["s"], task.dims["r"])
    return summed([q, p], image[q + window.x, p + window.y] * weights[window.x, window.y])


def mcc(task, image, weights):
    k, q, p, n = variables("kqpn")
    t = task.dims["t"]
    d = domain(task.dims["c"], task.dims["s"], task.dims["r"])
    return summed([k, q, p, n], image[d.x, t * q + d.y, t * p + d.z, n] * weights[d.x, d.y, d.z, k])


def jacobi3d(task, x):
    k, j, i = variables("kji")
    function = halide.Func("out")
    function[k, j, i] = (
        x[k + 1, j + 1, i + 1] + x[k + 1, j + 1, i] + x[k + 1, j + 1, i + 2] + x[k + 1, j, i + 1]
        + x[k + 1, j + 2, i + 1] + x[k, j + 1, i + 1] + x[k + 2, j + 1, i + 1]) * halide.f32(1 / 7)
    return function


def softmax(task, x):
    (j, i), column = variables("ji"), domain(task.dims["j"])
    most, power, total, out = (halide.Func(name) for name in ("most", "power", "total", "out"))
    most[i] = halide.f32(-numpy.inf)
    most[i] = halide.max(most[i], x[column.x, i])
    power[j, i] = halide.exp(x[j, i] - most[i])
    total[i] = halide.f32(0)
    total[i] += power[column.x, i]
    out[j, i] = power[j, i] / total[i]
    return out


MADE = {
    "matvec": matvec,
    "matmul": matmul,
    "conv2d": conv2d,
    "mcc": mcc,
    "jacobi3d": jacobi3d,
    "softmax": softmax,
}
