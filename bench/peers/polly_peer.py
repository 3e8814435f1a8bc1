"""clang with Polly: plain loops in C, which it tiles, vectorizes and runs on all cores.

clang is that of LLVM 22 (or MDH_LLVM_PREFIX). The loops are one function each, with all sizes
known, compiled and loaded when a case is prepared; nothing in them is said about parallelism.
"""

import ctypes
import os
import subprocess
import tempfile

import numpy

CLANG = os.path.join(os.environ.get("MDH_LLVM_PREFIX", "/usr/lib/llvm-22"), "bin/clang")
POLLY = ["-mllvm", "-polly", "-mllvm", "-polly-parallel", "-mllvm", "-polly-vectorizer=stripmine"]
# Its own model of what is worth threads leaves out softmax. (Elsewhere, this takes inner loops too.)
FORCED = {"softmax": ["-mllvm", "-polly-parallel-force"]}
OPTIONS = ["-O3", "-march=native", "-ffast-math", "-fPIC", "-shared", *POLLY]

if not os.path.exists(CLANG):
    raise ImportError(f"there is no '{CLANG}'")


def results(value):
    return value


def prepare(task):
    body = MADE.get(task.workload)
    if not body or task.inputs[0].dtype != numpy.float32 or task.texts.get("layout") == "nchw":
        return None
    arrays = task.inputs + task.outputs
    names = ["x", "y"] if len(arrays) == 2 else ["a", "b", "c"]
    parameters = ", ".join(
        f"float {name}[restrict {a.shape[0]}]" + "".join(f"[{n}]" for n in a.shape[1:])
        for name, a in zip(names, arrays))
    constants = "".join(f"enum {{ {name.upper()} = {n} }};\n" for name, n in task.dims.items())
    run = compiled(f"#include <math.h>\n{constants}void run({parameters}) {{\n{body}\n}}\n", FORCED.get(task.workload, []))
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]

    def call():
        run(*pointers)
        return task.outputs

    return call


def compiled(text, forced):
    """The function of a C text."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "run.c"), os.path.join(folder, "run.so")
        with open(source, "w") as file:
            file.write(text)
        said = subprocess.run(
            [CLANG, *OPTIONS, *forced, source, "-o", library, "-l:libgomp.so.1", "-lm"], capture_output=True, text=True)
        if said.returncode:
            raise RuntimeError(f"clang: {said.stderr.strip().splitlines()[0]}")
        return ctypes.CDLL(library).run


MADE = {
    "matvec": """
  for (int i = 0; i < I; i++) {
    c[i] = 0;
    for (int k = 0; k < K; k++) c[i] += a[i][k] * b[k];
  }""",
    "matmul": """
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      c[i][j] = 0;
      for (int k = 0; k < K; k++) c[i][j] += a[i][k] * b[k][j];
    }""",
    "conv2d": """
  for (int p = 0; p < P; p++)
    for (int q = 0; q < Q; q++) {
      c[p][q] = 0;
      for (int r = 0; r < R; r++)
        for (int s = 0; s < S; s++) c[p][q] += a[p + r][q + s] * b[r][s];
    }""",
    "mcc": """
  for (int n = 0; n < N; n++)
    for (int p = 0; p < P; p++)
      for (int q = 0; q < Q; q++)
        for (int k = 0; k < K; k++) {
          c[n][p][q][k] = 0;
          for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++)
              for (int ch = 0; ch < C; ch++)
                c[n][p][q][k] += a[n][T * p + r][T * q + s][ch] * b[k][r][s][ch];
        }""",
    "jacobi3d": """
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < N - 1; k++)
        y[i - 1][j - 1][k - 1] = (x[i][j][k] + x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k]
                                  + x[i][j + 1][k] + x[i][j][k - 1] + x[i][j][k + 1]) * (1.0f / 7);""",
    "softmax": """
  for (int i = 0; i < I; i++) {
    float most = x[i][0], sum = 0;
    for (int j = 0; j < J; j++) most = x[i][j] > most ? x[i][j] : most;
    for (int j = 0; j < J; j++) y[i][j] = expf(x[i][j] - most);
    for (int j = 0; j < J; j++) sum += y[i][j];
    for (int j = 0; j < J; j++) y[i][j] /= sum;
  }""",
}
