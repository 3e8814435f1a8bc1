"""Operations that torch-mlir does not take as torch defines them, written by others that it does.

It loses NaN in maxima, minima and bounds, has each number equal itself, refuses to divide by zero in a reciprocal, takes
`True` for -1 where it is compared with numbers, and approximates a GELU more roughly. `exact` has what stands for these
in graphs; `objection` names what has no such form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx

aten = torch.ops.aten


def exact() -> dict[Any, Callable[..., Any]]:
    """Decompositions for AOTAutograd, by operation."""
    from torch._decomp import get_decompositions

    return {
        aten.reciprocal.default: _reciprocal,
        aten.eq.Tensor: _equal,
        aten.pow.Tensor_Scalar: _power,
        aten.maximum.default: _maximum,
        aten.minimum.default: _minimum,
        aten.clamp.default: _clamp,
        aten.clamp.Tensor: _clamp,
        aten.clamp_min.default: _clamp,
        aten.clamp_min.Tensor: _clamp,
        aten.clamp_max.default: lambda x, upper: _clamp(x, None, upper),
        aten.clamp_max.Tensor: lambda x, upper: _clamp(x, None, upper),
        aten.hardtanh.default: lambda x, lower=-1.0, upper=1.0: _clamp(x, lower, upper),
        **get_decompositions([aten.gelu]),
        **{getattr(aten, name).Tensor: _compared(name) for name in ("lt", "le", "gt", "ge")},
        **{getattr(aten, name).Scalar: _compared(name) for name in ("lt", "le", "gt", "ge")},
    }


def objection(node: fx.Node) -> str | None:
    """The reason for which torch-mlir's form of an operation is not taken; None if it is."""
    value = node.meta.get("val")
    if node.target is aten.logcumsumexp.default and value.dtype in (torch.float16, torch.bfloat16):
        return "its sums would be rounded more often than torch's"
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return None
    is_floor = node.target is aten.div.Tensor_mode and node.kwargs.get("rounding_mode") == "floor"
    if is_floor or node.target in (aten.floor_divide.default, aten.fmod.Tensor, aten.fmod.Scalar):
        return "torch-mlir rounds a quotient before it is used"
    return None


def _reciprocal(x: torch.Tensor) -> torch.Tensor:
    return torch.div(torch.ones_like(x), x)


def _power(x: torch.Tensor, exponent: Any) -> torch.Tensor:
    """The powers for which torch has formulas of their own."""
    if exponent in (2, 3) and torch.result_type(x, exponent) == x.dtype:
        return x * x if exponent == 2 else x * x * x
    known = {0.5: torch.sqrt, -0.5: torch.rsqrt, -1: torch.reciprocal}
    return known[exponent](x) if x.is_floating_point() and exponent in known else NotImplemented


def _equal(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if not x.is_floating_point() and not y.is_floating_point():
        return NotImplemented
    return torch.logical_not(x != y)


def _maximum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if not x.is_floating_point() or x.dtype != y.dtype:
        return NotImplemented
    return torch.where((x > y) | (x != x), x, y)


def _minimum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if not x.is_floating_point() or x.dtype != y.dtype:
        return NotImplemented
    return torch.where((x < y) | (x != x), x, y)


def _clamp(x: torch.Tensor, lower: Any = None, upper: Any = None) -> torch.Tensor:
    """Bounds that are NaN are left to torch-mlir where they are tensors: what they bound is NaN, too."""
    if not x.is_floating_point() or isinstance(lower, torch.Tensor) or isinstance(upper, torch.Tensor):
        return NotImplemented
    bounded = x if lower is None else torch.where(x < lower, torch.full_like(x, lower), x)
    return bounded if upper is None else torch.where(bounded > upper, torch.full_like(x, upper), bounded)


def _compared(name: str) -> Callable[..., Any]:
    """A comparison in which truth values are numbers, where they meet such."""
    compare = getattr(torch, name)

    def decomposed(x: torch.Tensor, y: Any) -> torch.Tensor:
        together = torch.result_type(x, y)
        is_mixed = x.dtype is torch.bool or isinstance(y, torch.Tensor) and y.dtype is torch.bool
        if not is_mixed or together is torch.bool:
            return NotImplemented
        return compare(x.to(together), y.to(together) if isinstance(y, torch.Tensor) else y)

    return decomposed
