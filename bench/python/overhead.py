"""Calls: what they cost beside what they compute, which here is next to nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy
import opt_einsum
import torch

import mdh
from measure import Case

#: A sum of two vectors.
SUM = """
func.func @sum(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %empty = tensor.empty() : tensor<16xf32>
  %z = mdh.compute (i = 16)
    out_view(z = %empty[i] : tensor<16xf32>)
    md_hom(addf, (cc))
    inp_view(x = %x[i] : tensor<16xf32>, y = %y[i] : tensor<16xf32>)
  return %z : tensor<16xf32>
}
"""


def cases() -> Iterator[Case]:
    """Calls of programs that are there, and what comes before the first one."""
    x, y = numpy.arange(16, dtype="float32"), numpy.ones(16, "float32")
    out, tensors = numpy.empty(16, "float32"), (torch.from_numpy(x), torch.from_numpy(y))
    program = mdh.compile(SUM, name="sum")
    yield Case("call", "compiled, 16 elements of numpy", "float32", lambda: program(x, y),
               {"numpy": lambda: numpy.add(x, y)}, x + y)
    yield Case("call", "compiled, 16 elements of numpy, with out", "float32", lambda: program(x, y, out=out),
               {"numpy": lambda: numpy.add(x, y, out=out)}, x + y)
    yield Case("call", "compiled, 16 elements of torch", "float32", lambda: program(*tensors),
               {"torch": lambda: torch.add(*tensors)}, x + y)
    a, b = (numpy.random.default_rng(0).random((4, 4), "float32") for _ in range(2))
    expression = opt_einsum.contract_expression("ik,kj->ij", (4, 4), (4, 4))
    yield Case("call", "einsum ik,kj->ij of 4x4, looked up", "float32", lambda: mdh.einsum("ik,kj->ij", a, b),
               {"numpy": lambda: numpy.einsum("ik,kj->ij", a, b), "opt_einsum": lambda: expression(a, b)}, a @ b)
    yield first_einsum()
    for module in ("mdh", "mdh.contraction"):
        yield Case("import", module, "", imported("import numpy", module), {
            "numpy alone": imported("", "numpy"), "torch": imported("import numpy", "torch")})


def imported(before: str, module: str) -> Callable[[], None]:
    """A process that imports a module, with all that starts it."""
    words = [sys.executable, "-c", f"{before}\nimport {module}"]
    return lambda: subprocess.run(words, check=True) and None


def first_einsum() -> Case:
    """An einsum of other sizes in each call, which is compiled."""
    sizes = iter(range(17, 10_000))
    compiled = mdh.einsum("ik,kj->ij", *(numpy.ones((16, 16), "float32"),) * 2)

    def call() -> numpy.ndarray:
        size = next(sizes)
        return mdh.einsum("ik,kj->ij", numpy.ones((size, 16), "float32"), numpy.ones((16, 16), "float32"))[:16]

    return Case("call", "einsum of sizes that are new", "float32", call, {}, compiled)
