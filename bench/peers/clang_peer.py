"""clang -O3: plain loops in C, whose outermost one all cores share.

clang is that of LLVM 22 (or MDH_LLVM_PREFIX), libgomp's threads are those that Polly's code has,
too. What is padded is written as one does by hand: rows that have all of their neighbours have no
conditions but at their two ends.
"""

import ctypes
import itertools
import os
import subprocess
import tempfile

import numpy

CLANG = os.path.join(os.environ.get("MDH_LLVM_PREFIX", "/usr/lib/llvm-22"), "bin/clang")
OPTIONS = ["-O3", "-march=native", "-ffast-math", "-fPIC", "-shared"]

if not os.path.exists(CLANG):
    raise ImportError(f"there is no '{CLANG}'")

# LLVM's own OpenMP has another run-time library; this is what its pragma would call of libgomp.
FRAME = """
extern void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
extern int omp_get_thread_num(void), omp_get_num_threads(void);
struct arrays {{ float *x, *y; }};
{code}
static void part(void *data) {{
  struct arrays *all = data;
  long n = omp_get_thread_num(), of = omp_get_num_threads();
  rows(all->x, all->y, {rows} * n / of, {rows} * (n + 1) / of);
}}
void run(float *x, float *y) {{
  struct arrays all = {{x, y}};
  GOMP_parallel(part, &all, 0, 0);
}}
"""


def results(value):
    return value


def prepare(task):
    make = MADE.get(task.workload)
    if not make or task.inputs[0].dtype != numpy.float32:
        return None
    x, y = task.inputs[0], task.outputs[0]
    run = compiled(FRAME.format(code=make(x, y), rows=y.shape[0]))
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (x, y)]

    def call():
        run(*pointers)
        return task.outputs

    return call


def compiled(text):
    """The function of a C text."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "run.c"), os.path.join(folder, "run.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        said = subprocess.run(
            [CLANG, *OPTIONS, source, "-o", library, "-l:libgomp.so.1", "-lm"], capture_output=True, text=True)
        if said.returncode:
            raise RuntimeError(f"clang: {said.stderr.strip().splitlines()[0]}")
        return ctypes.CDLL(library).run


def sum_of(rank, term):
    """The sum over all neighbours, each with its weight."""
    offsets = itertools.product((-1, 0, 1), repeat=rank)
    return " + ".join(f"{0.5 ** (rank + sum(map(abs, o)))}f * {term(o)}" for o in offsets)


def stencil(x, y):
    rank, dims, off = y.ndim, "ijk"[-y.ndim:], (x.shape[0] - y.shape[0]) // 2
    extent = x.shape[-1]

    def at(offset):
        return "x" + "".join(f"[{d} + {off + o}]" for d, o in zip(dims, offset))

    def asked(offset):
        inside = " && ".join(f"(unsigned long)({d} + {o}) < {extent}" for d, o in zip(dims, offset))
        return f"({inside} ? {at(offset)} : 0)"

    tail = "".join(f"[{n}]" for n in x.shape[1:]), "".join(f"[{n}]" for n in y.shape[1:])
    head = f"float (*restrict x){tail[0]}, float (*restrict y){tail[1]}"
    point, outer, last = "".join(f"[{d}]" for d in dims), dims[:-1], dims[-1]
    around = f"{sum_of(rank, at)};"
    middle = "".join(f"    for (long {d} = 0; {d} < {y.shape[0]}; {d}++)\n" for d in outer[1:])
    arguments = ", ".join(dims)
    if off:
        body = f"for (long {last} = 0; {last} < {y.shape[-1]}; {last}++) y{point} = {around}"
    else:
        inside = " && ".join(f"{d} > 0 && {d} < {extent - 1}" for d in outer)
        body = f"""{{
      long {last}, side = {inside};
      for ({last} = 0; {last} < (side ? 1 : {extent}); {last}++) y{point} = asked(x, {arguments});
      if (!side) continue;
      for ({last} = 1; {last} < {extent - 1}; {last}++) y{point} = {around}
      y{point} = asked(x, {arguments});
    }}"""
    parameters = ", ".join(f"long {d}" for d in dims)
    return f"""
static float asked(float (*restrict x){tail[0]}, {parameters}) {{
  return {sum_of(rank, asked)};
}}
static void part_of_rows({head}, long from, long to) {{
  for (long i = from; i < to; i++)
{middle}    {body}
}}
static void rows(float *x, float *y, long from, long to) {{
  part_of_rows((void *)x, (void *)y, from, to);
}}
""".replace("long i = from", f"long {dims[0]} = from").replace("i < to; i++", f"{dims[0]} < to; {dims[0]}++")


MADE = {
    "stencil9": stencil,
    "stencil27": stencil,
}
