"""Runs the loops of a program at several sizes, types and numbers of iterations, and compares them with numpy.

    loop_results.py MDH PROGRAM PREFIX
"""

import subprocess
import sys

import numpy as np

mdh, program, prefix = sys.argv[1:]


def shared(a, b, n):
    x, y = a + a[::-1], b
    for _ in range(n):
        z = y.copy()
        z[2:] += x[2:]
        x, y = z, x
    return y, x + y


def undefined(a, b, n):
    x = a + b
    for _ in range(n):
        x = x + a
    return x, b + x


def check(entry, size, dtype, n, flags):
    element = {"int32": "i32", "float32": "f32"}[dtype]
    text = open(program).read().replace("5xi32", f"{size}x{element}")
    text = text.replace("i = 5", f"i = {size}").replace("to 5)", f"to {size})").replace("4 - i", f"{size - 1} - i")
    if dtype == "float32":
        text = text.replace("md_hom(addi", "md_hom(addf")
    open(f"{prefix}.mlir", "w").write(text)
    a = np.arange(1, size + 1).astype(dtype)
    b = (np.arange(1, size + 1) * 10).astype(dtype)
    np.save(f"{prefix}.a.npy", a)
    np.save(f"{prefix}.b.npy", b)
    outs = [f"{prefix}.0.npy", f"{prefix}.1.npy"]
    ran = subprocess.run([mdh, "run", f"{prefix}.mlir", "--entry", entry, "--check", *flags, "--in",
                          f"a={prefix}.a.npy", f"b={prefix}.b.npy", f"n={n}", "--out", *outs],
                         capture_output=True, text=True)
    expected = globals()[entry](a, b, n)
    if ran.returncode == 0 and all(np.array_equal(np.load(o), e) for o, e in zip(outs, expected)):
        return True
    print(f"{entry} of {size} {element}, {n} iterations, {' '.join(flags)}:\n{ran.stdout}{ran.stderr}")
    return False


simulated = ["--device", "sim"]
cases = [(entry, size, dtype, n, flags)
         for entry, sizes in (("shared", (5, 1000, 32767, 40000)), ("undefined", (5, 40000)))
         for size in sizes for dtype in ("int32", "float32") for n in range(4)
         for flags in ([], simulated) if size == 5 or not flags]
cases += [("shared", 1000, dtype, n, simulated) for dtype in ("int32", "float32") for n in (1, 3)]
passed = [check(*case) for case in cases]
print(f"{len(cases)} runs, {passed.count(False)} not as expected")
