"""Parts of torch's graphs as programs in MLIR.

A part is a graph of aten operations on tensors of known sizes. Its tensors are arguments and results of one function,
weights too: the text holds no data. Prefix sums that torch-mlir has no linalg for have texts of ours (`torch_scans`).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from . import torch_worker
from .torch_scans import extremum_text, logcumsumexp_text

#: Types of elements that programs have. torch-mlir extends some unsigned ones as if they had a sign (in `sum`): they stay.
DTYPES = {
    torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32", torch.float64: "float64",
    torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64", torch.bool: "bool",
}

#: The function of a program.
ENTRY = "part"


class Refused(Exception):
    """An operation has no program; says why."""


@dataclass(frozen=True)
class Text:
    """A program, its function, and the types of the elements of its arguments and results."""

    text: str
    entry: str | None
    dtypes: list[str]


def lower(part: fx.GraphModule) -> Text:
    """The program of a part, whose arguments are its placeholders.

    Raises:
        Refused: there is none.
    """
    values = [node.meta["val"] for node in part.graph.nodes if node.op == "placeholder"]
    values += [node.meta["val"] for node in results(part)]
    dtypes = [DTYPES[value.dtype] for value in values]
    text = _scan_alone(part)
    if text is not None:
        return Text(text, None, dtypes)
    return Text(_by_torch_mlir(part), ENTRY, dtypes)


def results(part: fx.GraphModule) -> list[fx.Node]:
    """The nodes that a part returns."""
    (returned,) = next(node for node in part.graph.nodes if node.op == "output").args
    return list(returned) if isinstance(returned, (tuple, list)) else [returned]


def _by_torch_mlir(part: fx.GraphModule) -> str:
    from torch_mlir import ir
    from torch_mlir.dialects import torch as dialect
    from torch_mlir.extras.fx_importer import FxImporter

    context = ir.Context()
    dialect.register_dialect(context)
    try:
        importer = FxImporter(context=context)
        importer.import_stateless_graph(part.graph, func_name=ENTRY)
    except Exception as failure:
        # Whatever the importer raises (NotImplementedError, AssertionError, ..) says that it does not take the graph.
        raise Refused(f"torch-mlir: {str(failure).strip().partition(chr(10))[0][:200] or type(failure).__name__}") from failure
    try:
        return torch_worker.lower(str(importer.module))
    except torch_worker.NotLowered as reason:
        raise Refused(str(reason)) from None


def _scan_alone(part: fx.GraphModule) -> str | None:
    """The program of a part that is one prefix sum for which torch-mlir has no linalg."""
    operations = [node for node in part.graph.nodes if node.op == "call_function"]
    make = SCANS.get(operations[0].target) if operations else None
    if make is None:
        return None
    source = operations[0].args[0]
    placeholders = [node for node in part.graph.nodes if node.op == "placeholder"]
    if placeholders != [source]:
        raise Refused("found a prefix sum among other operations, expected it alone")
    value = source.meta["val"]
    axis = operations[0].args[1] % value.ndim
    # A maximum has two results, of which not all may be used.
    returned = [node.args[1] if node.target is operator.getitem else 0 for node in results(part)]
    return make(tuple(value.shape), DTYPES[value.dtype], axis, returned)


#: Prefix sums that are programs of ours, by operation.
SCANS: dict[Any, Callable[[tuple[int, ...], str, int, list[int]], str]] = {
    torch.ops.aten.logcumsumexp.default: logcumsumexp_text,
    torch.ops.aten.cummax.default: functools.partial(extremum_text, comparison="ge"),
    torch.ops.aten.cummin.default: functools.partial(extremum_text, comparison="le"),
}
