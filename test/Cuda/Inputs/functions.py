"""Runs every function of math as kernels, and compares results with the definition.

    functions.py PREFIX    names the files that are made
"""

import json
import subprocess
import sys

import numpy as np

COUNT = 512
UNARY = (
    "absf acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 floor log log10 "
    "log1p log2 round roundeven rsqrt sin sinh sqrt tan tanh trunc"
).split()
BINARY = ["atan2", "copysign", "powf"]
KINDS = ["isfinite", "isinf", "isnan", "isnormal"]
INTEGERS = ["absi", "ctlz", "cttz", "ctpop"]
PREFIX = sys.argv[1]


OPERANDS = {"x": "%a", "y": "%b", "n": "%b", "k": "%a", "m": "%b"}


def computation(number, operation, ty, result, inputs):
    """A computation of one kernel. `inputs` are pairs of a buffer and its type; wider floats are narrowed."""
    arguments, lines = [], []
    for name, of in inputs:
        is_wide = of == "f32" != ty and of != ty and ty.endswith("f16")
        argument = OPERANDS[name] + "_in" * is_wide
        arguments.append(f"{argument}: {of}")
        if is_wide:
            lines.append(f"{OPERANDS[name]} = arith.truncf {argument} : {of} to {ty}")
    lines += [f"%value = {operation}", f"mdh.yield %value : {result}"]
    views = ", ".join(f"{name} = %{name}[i] : memref<{COUNT}x{of}>" for name, of in inputs)
    body = "".join(f"      {line}\n" for line in lines)
    return (
        f"  mdh.compute (i = {COUNT})\n"
        f"    out_view(z{number} = %z{number}[i] : memref<{COUNT}x{result}>)\n"
        f"    md_hom(({', '.join(arguments)}) {{\n{body}    }}, (cc))\n"
        f"    inp_view({views})\n"
    )


def function(name, inputs, computations):
    """A function of computations, each its code and the type of its results."""
    arguments = [f"%{own}: memref<{COUNT}x{ty}>" for own, ty in inputs]
    arguments += [f"%z{n}: memref<{COUNT}x{ty}>" for n, (_, ty) in enumerate(computations)]
    return f"func.func @{name}({', '.join(arguments)}) {{\n{''.join(c for c, _ in computations)}  return\n}}\n"


def of_floats(ty):
    """All functions of a type. Narrow floats come as wider ones."""
    memory = "f64" if ty == "f64" else "f32"
    x, y, n = ("x", memory), ("y", memory), ("n", "i32")
    operations = [([x], f"math.{name} %a : {ty}", ty) for name in UNARY]
    operations += [([x, y], f"math.{name} %a, %b : {ty}", ty) for name in BINARY]
    operations += [
        ([x, y], f"math.fma %a, %b, %b : {ty}", ty),
        ([x, y], f"math.clampf %b to [%a, %b] : {ty}", ty),
        ([x, n], f"math.fpowi %a, %b : {ty}, i32", ty),
    ]
    operations += [([x], f"math.{name} %a : {ty}", "i1") for name in KINDS]
    found = [
        (computation(number, operation, ty, result, inputs), result)
        for number, (inputs, operation, result) in enumerate(operations)
    ]
    return function(f"of_{ty}", [x, y, n], found), len(found)


def of_integers(ty):
    """All functions of integers."""
    k, m = ("k", ty), ("m", ty)
    operations = [([k], f"math.{name} %a : {ty}") for name in INTEGERS]
    operations.append(([k, m], f"math.ipowi %a, %b : {ty}"))
    found = [
        (computation(number, operation, ty, ty, inputs), ty)
        for number, (inputs, operation) in enumerate(operations)
    ]
    return function(f"of_{ty}", [k, m], found), len(found)


def floats(ty, random):
    """Two arrays: special values in pairs, any bits, and usual numbers."""
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.float32}[ty]
    info = np.finfo(dtype)
    special = [0.0, 1.0, 0.5, 3.0, np.inf, np.nan, float(info.max), float(info.smallest_subnormal), 1e5, 2.5]
    special += [-value for value in special if value == value]
    pairs = [(a, b) for a in special for b in special][: COUNT * 3 // 4]
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
    rest = COUNT - len(pairs)
    anything = random.integers(0, 2 ** (8 * np.dtype(dtype).itemsize), (rest // 2, 2), dtype=bits).view(dtype)
    usual = random.uniform(-4, 4, (rest - rest // 2, 2)).astype(dtype)
    with np.errstate(over="ignore"):
        chosen = np.array(pairs).astype(dtype)
    all_pairs = np.concatenate([chosen, anything, usual])
    wide = np.float64 if ty == "f64" else np.float32
    return all_pairs[:, 0].astype(wide), all_pairs[:, 1].astype(wide)


def save(name, array):
    """Saves an array, and gives the argument that reads it."""
    path = f"{PREFIX}.{name}.npy"
    np.save(path, array)
    return path


def main():
    random = np.random.default_rng(1)
    wrong = 0
    program = f"{PREFIX}.mlir"
    types, integers = ["f16", "bf16", "f32", "f64"], ["i8", "i16", "i32", "i64"]
    made = {ty: of_floats(ty) for ty in types} | {ty: of_integers(ty) for ty in integers}
    with open(program, "w", encoding="ascii") as file:
        file.writelines(text for text, _ in made.values())
    runs = []
    for ty in types:
        x, y = floats(ty, random)
        n = np.concatenate([np.arange(-8, 9), random.integers(-(2**31), 2**31, COUNT - 17)]).astype(np.int32)
        files = {"x": save(f"x_{ty}", x), "y": save(f"y_{ty}", y), "n": save(f"n_{ty}", n)}
        runs.append((ty, files))
    for ty in integers:
        dtype = np.dtype(ty.replace("i", "int"))
        k = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, COUNT, dtype=dtype)
        k = np.where(k == 0, dtype.type(1), k).astype(dtype)
        k[:8] = [1, -1, 2, -2, 3, -1, 1, 7]
        m = random.integers(-4, 40, COUNT).astype(dtype)
        runs.append((ty, {"k": save(f"k_{ty}", k), "m": save(f"m_{ty}", m)}))
    for ty, files in runs:
        launches = made[ty][1]
        inputs = [f"{name}={path}" for name, path in files.items()]
        for device in ["cuda", "sim"]:
            command = ["mdh", "run", program, "--entry", f"of_{ty}", "--device", device, "--in", *inputs]
            done = subprocess.run([*command, "--check", "--json"], capture_output=True, text=True)
            report = json.loads(done.stdout) if done.returncode == 0 else {}
            if not report.get("check", {}).get("passed"):
                print(f"{ty} on {device}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
                wrong += 1
            elif device == "cuda" and report["gpu"]["launches"] != launches:
                print(f"{ty}: {report['gpu']['launches']} launches, expected {launches}")
                wrong += 1
    print(f"{wrong} of the runs are wrong")


main()
