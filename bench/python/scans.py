"""Prefix sums and products: rows of a matrix, and 2^24 elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy
import numpy
import torch

import mdh
from measure import Case

SHAPES = [(128, 4000), (2**24,)]


def cases() -> Iterator[Case]:
    """Five scans of each shape."""
    for shape in SHAPES:
        random = numpy.random.default_rng(0)
        x = random.random(shape, "float32")
        mask = random.integers(0, 2, shape).astype(bool)
        for name, calls in SCANS.items():
            # A product of many numbers below one is zero: these stay near one.
            values = 1 + (x - 0.5) / 1024 if name == "cumprod" else x
            yield scan(name, values.astype("float32"), mask, calls)


def scan(name: str, x: numpy.ndarray, mask: numpy.ndarray, calls: dict[str, Callable[..., Any]]) -> Case:
    """A scan by all."""
    tensors = torch.from_numpy(x), torch.from_numpy(mask)
    arrays = jax.numpy.asarray(x), jax.numpy.asarray(mask)
    jitted = jax.jit(calls["jax"])
    return Case(
        name, "x".join(map(str, x.shape)), "float32",
        lambda: calls["mdh"](x, mask),
        {
            "numpy": lambda: calls["numpy"](x, mask),
            "torch": lambda: calls["torch"](*tensors),
            "jax": lambda: jitted(*arrays).block_until_ready(),
        },
        calls["numpy"](x.astype("float64"), mask),
    )


def numpy_exclusive(x: numpy.ndarray) -> numpy.ndarray:
    """Prefix sums of what is before each element."""
    made = numpy.empty_like(x)
    made[..., 0] = 0
    numpy.cumsum(x[..., :-1], axis=-1, out=made[..., 1:])
    return made


def torch_exclusive(x: torch.Tensor) -> torch.Tensor:
    """The same for torch."""
    made = torch.empty_like(x)
    made[..., 0] = 0
    torch.cumsum(x[..., :-1], -1, out=made[..., 1:])
    return made


def jax_exclusive(x: Any) -> Any:
    """The same for jax."""
    return jax.numpy.cumsum(jax.numpy.pad(x[..., :-1], [(0, 0)] * (x.ndim - 1) + [(1, 0)]), -1)


def masked() -> Callable[..., Any]:
    """A masked prefix sum is a computation whose scalar function selects; it has no array of masked elements."""
    programs: dict[tuple[int, ...], Any] = {}

    def call(x: numpy.ndarray, mask: numpy.ndarray) -> Any:
        if x.shape not in programs:
            programs[x.shape] = mdh.compile(masked_text(x.shape), name="masked")
        return programs[x.shape](x, mask)

    return call


def masked_text(shape: tuple[int, ...]) -> str:
    """The program of a masked prefix sum along the last axis."""
    extents, indices = "x".join(map(str, shape)), ", ".join(f"d{axis}" for axis in range(len(shape)))
    loops = ", ".join(f"d{axis} = {extent}" for axis, extent in enumerate(shape))
    kinds = ", ".join(["cc"] * (len(shape) - 1) + ["ps(addf)"])
    return f"""func.func @masked(%x: tensor<{extents}xf32>, %m: tensor<{extents}xi1>) -> tensor<{extents}xf32> {{
  %empty = tensor.empty() : tensor<{extents}xf32>
  %y = mdh.compute ({loops})
    out_view(y = %empty[{indices}] : tensor<{extents}xf32>)
    md_hom((%e: f32, %is_taken: i1) {{
      %zero = arith.constant 0.0 : f32
      %taken = arith.select %is_taken, %e, %zero : f32
      mdh.yield %taken : f32
    }}, ({kinds}))
    inp_view(x = %x[{indices}] : tensor<{extents}xf32>, m = %m[{indices}] : tensor<{extents}xi1>)
  return %y : tensor<{extents}xf32>
}}
"""


#: What each library calls, along the last axis.
SCANS: dict[str, dict[str, Callable[..., Any]]] = {
    "cumsum": {
        "mdh": lambda x, mask: mdh.scan(mdh.add, x),
        "numpy": lambda x, mask: numpy.cumsum(x, axis=-1),
        "torch": lambda x, mask: torch.cumsum(x, -1),
        "jax": lambda x, mask: jax.numpy.cumsum(x, -1),
    },
    "cumprod": {
        "mdh": lambda x, mask: mdh.scan(mdh.mul, x),
        "numpy": lambda x, mask: numpy.cumprod(x, axis=-1),
        "torch": lambda x, mask: torch.cumprod(x, -1),
        "jax": lambda x, mask: jax.numpy.cumprod(x, -1),
    },
    "reverse": {
        "mdh": lambda x, mask: mdh.scan(mdh.add, x, reverse=True),
        "numpy": lambda x, mask: numpy.cumsum(x[..., ::-1], axis=-1)[..., ::-1],
        "torch": lambda x, mask: torch.cumsum(x.flip(-1), -1).flip(-1),
        "jax": lambda x, mask: jax.lax.cumsum(x, axis=x.ndim - 1, reverse=True),
    },
    "exclusive": {
        "mdh": lambda x, mask: mdh.scan(mdh.add, x, exclusive=True),
        "numpy": lambda x, mask: numpy_exclusive(x),
        "torch": lambda x, mask: torch_exclusive(x),
        "jax": lambda x, mask: jax_exclusive(x),
    },
    "masked": {
        "mdh": masked(),
        "numpy": lambda x, mask: numpy.cumsum(x * mask, axis=-1),
        "torch": lambda x, mask: torch.cumsum(x * mask, -1),
        "jax": lambda x, mask: jax.numpy.cumsum(x * mask, -1),
    },
}
