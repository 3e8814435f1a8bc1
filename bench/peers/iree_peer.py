"""IREE: linalg on tensors, compiled for this processor with data tiling, on the local-task driver.

Results are buffers of IREE's own, which it allocates in every call.
"""

import os

import numpy
import iree.compiler
import iree.runtime

THREADS = os.environ.get("OMP_NUM_THREADS", "1")
iree.runtime.flags.parse_flags(f"--task_topology_group_count={THREADS}")

OPTIONS = [
    "--iree-llvmcpu-target-cpu=host",
    "--iree-opt-level=O3",
    "--iree-opt-data-tiling",
]


def results(value):
    return [value.to_host()]


def prepare(task):
    make = MADE.get(task.workload)
    if not make or task.inputs[0].dtype != numpy.float32:
        return None
    binary = iree.compiler.compile_str(
        make(task), target_backends=["llvm-cpu"], input_type="none", extra_args=OPTIONS)
    config = iree.runtime.Config("local-task")
    module = iree.runtime.load_vm_module(
        iree.runtime.VmModule.copy_buffer(config.vm_instance, binary), config)
    arrays = [iree.runtime.asdevicearray(config.device, a) for a in task.inputs]
    run = module.run
    return lambda: run(*arrays)


def tensor(*dims):
    return f"tensor<{'x'.join(map(str, dims))}xf32>"


def program(arguments, result, body):
    """A function of tensors; `body` makes %out, from %zeros where it sums up."""
    names = ", ".join(f"%{name}: {kind}" for name, kind in arguments.items())
    return f"""
func.func @run({names}) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {result}
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : {result}) -> {result}
  {body}
  return %out : {result}
}}"""


def named(operation, task, result):
    """A program of one named operation of linalg on the inputs."""
    a, b = (tensor(*array.shape) for array in task.inputs)
    return program({"a": a, "b": b}, result, f"""
  %out = linalg.{operation} ins(%a, %b : {a}, {b}) outs(%zeros : {result}) -> {result}""")


def mcc(task):
    stride = task.dims["t"]
    layout = "nchw_fchw" if task.texts.get("layout") == "nchw" else "nhwc_fhwc"
    operation = f"conv_2d_{layout} {{strides = dense<{stride}> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}}"
    return named(operation, task, tensor(*task.outputs[0].shape))


def jacobi3d(task):
    n = task.dims["n"]
    whole, inner = tensor(n, n, n), tensor(n - 2, n - 2, n - 2)
    starts = [(1, 1, 1), (0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2)]
    size = f"[{n - 2}, {n - 2}, {n - 2}]"
    parts = "\n  ".join(
        f"%x{i} = tensor.extract_slice %x[{a}, {b}, {c}] {size} [1, 1, 1] : {whole} to {inner}"
        for i, (a, b, c) in enumerate(starts))
    same = "affine_map<(i, j, k) -> (i, j, k)>"
    sums = "\n    ".join(f"%s{i} = arith.addf %{f's{i - 1}' if i > 1 else 'v0'}, %v{i} : f32" for i in range(1, 7))
    return program({"x": whole}, inner, f"""
  {parts}
  %seventh = arith.constant {1 / 7} : f32
  %out = linalg.generic {{indexing_maps = [{", ".join([same] * 8)}],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins({", ".join(f"%x{i}" for i in range(7))} : {", ".join([inner] * 7)}) outs(%empty : {inner}) {{
  ^bb0({", ".join(f"%v{i}: f32" for i in range(7))}, %old: f32):
    {sums}
    %y = arith.mulf %s6, %seventh : f32
    linalg.yield %y : f32
  }} -> {inner}""")


def softmax(task):
    kind = tensor(*task.inputs[0].shape)
    return program({"x": kind}, kind, f"""
  %out = linalg.softmax dimension(1) ins(%x : {kind}) outs(%empty : {kind}) -> {kind}""")


MADE = {
    "matvec": lambda task: named("matvec", task, tensor(task.dims["i"])),
    "matmul": lambda task: named("matmul", task, tensor(task.dims["i"], task.dims["j"])),
    "conv2d": lambda task: named("conv_2d", task, tensor(task.dims["p"], task.dims["q"])),
    "mcc": mcc,
    "jacobi3d": jacobi3d,
    "softmax": softmax,
}
