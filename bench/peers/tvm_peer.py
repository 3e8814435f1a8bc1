"""TVM: tensor expressions, tuned by MetaSchedule with 64 trials on this machine.

What it finds is kept in target/tvm, by case: one that was tuned before is only compiled.
"""

import os

import numpy
import tvm
from tvm import te
from tvm.s_tir import meta_schedule

THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))
TRIALS = 64
KEPT = os.path.join(os.path.dirname(__file__), "../../target/tvm")


def results(value):
    return value


def prepare(task):
    make = MADE.get(task.workload)
    if not make or task.inputs[0].dtype != numpy.float32 or task.texts.get("layout") == "nchw":
        return None
    inputs = [te.placeholder(a.shape, "float32", name) for a, name in zip(task.inputs, "ab")]
    function = te.create_prim_func([*inputs, make(task, *inputs)])
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    target = tvm.target.Target({"kind": "llvm", "num-cores": THREADS, **processor()})
    name = "-".join([task.workload, *(f"{name}{n}" for name, n in task.dims.items())])
    folder = os.path.realpath(os.path.join(KEPT, name))
    done = os.path.join(folder, f"{TRIALS}-trials-with-{THREADS}")
    if os.path.exists(done):
        database = meta_schedule.database.JSONDatabase(work_dir=folder)
    else:
        os.makedirs(folder, exist_ok=True)
        database = meta_schedule.tune_tir(
            module, target, folder, max_trials_global=TRIALS, num_trials_per_iter=16,
            num_tuning_cores=THREADS)
        open(done, "w").close()
    schedule = meta_schedule.tir_integration.compile_tir(database, module, target)
    if schedule is None:
        raise RuntimeError(f"none of {TRIALS} trials ran")
    run = tvm.compile(schedule.mod, target)["main"]
    arrays = [tvm.runtime.from_dlpack(a) for a in task.inputs + task.outputs]

    def call():
        run(*arrays)
        return task.outputs

    return call


def processor():
    """This processor, as LLVM knows it."""
    return {
        "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")(),
        "mtriple": tvm.get_global_func("target.llvm_get_system_triple")(),
    }


def reduced(*extents):
    return [te.reduce_axis((0, n)) for n in extents]


def matvec(task, a, b):
    k, = reduced(task.dims["k"])
    return te.compute((task.dims["i"],), lambda i: te.sum(a[i, k] * b[k], k))


def matmul(task, a, b):
    k, = reduced(task.dims["k"])
    return te.compute((task.dims["i"], task.dims["j"]), lambda i, j: te.sum(a[i, k] * b[k, j], k))


def conv2d(task, image, weights):
    r, s = reduced(task.dims["r"], task.dims["s"])
    return te.compute((task.dims["p"], task.dims["q"]), lambda p, q: te.sum(image[p + r, q + s] * weights[r, s], [r, s]))


def mcc(task, image, weights):
    t = task.dims["t"]
    r, s, c = reduced(task.dims["r"], task.dims["s"], task.dims["c"])
    return te.compute(task.outputs[0].shape, lambda n, p, q, k: te.sum(
        image[n, t * p + r, t * q + s, c] * weights[k, r, s, c], [r, s, c]))


def jacobi3d(task, x):
    return te.compute(task.outputs[0].shape, lambda i, j, k: (
        x[i + 1, j + 1, k + 1] + x[i, j + 1, k + 1] + x[i + 2, j + 1, k + 1] + x[i + 1, j, k + 1]
        + x[i + 1, j + 2, k + 1] + x[i + 1, j + 1, k] + x[i + 1, j + 1, k + 2]) * te.const(1 / 7, "float32"))


def softmax(task, x):
    rows, columns = x.shape
    first, second = reduced(columns, columns)
    most = te.compute((rows,), lambda i: te.max(x[i, first], first))
    power = te.compute((rows, columns), lambda i, j: te.exp(x[i, j] - most[i]))
    total = te.compute((rows,), lambda i: te.sum(power[i, second], second))
    return te.compute((rows, columns), lambda i, j: power[i, j] / total[i])


MADE = {
    "matvec": matvec,
    "matmul": matmul,
    "conv2d": conv2d,
    "mcc": mcc,
    "jacobi3d": jacobi3d,
    "softmax": softmax,
}
