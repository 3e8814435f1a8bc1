"""Parts of torch's graphs as programs in MLIR.

A part is a graph of aten operations on tensors of known sizes. Its tensors are arguments and results of one function,
weights too: the text holds no data. Prefix sums that torch-mlir has no linalg for have texts of ours (`torch_scans`).
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from .torch_scans import NotAScan, extremum_text, logcumsumexp_text, outline_scans

#: Types of elements that programs have.
DTYPES = {
    torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32", torch.float64: "float64",
    torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64", torch.uint8: "uint8",
    torch.bool: "bool",
}

#: The function of a program.
ENTRY = "part"

#: torch-mlir's passes, from the dialect `torch` to linalg on tensors.
_PIPELINES = (
    "builtin.module(torchdynamo-export-to-torch-backend-pipeline{extra-library=})",
    "builtin.module(torch-backend-to-linalg-on-tensors-backend-pipeline)",
)


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
    from torch_mlir.passmanager import PassManager

    context = ir.Context()
    context.emit_error_diagnostics = True
    dialect.register_dialect(context)
    messages: list[str] = []
    context.attach_diagnostic_handler(lambda diagnostic: _note(messages, diagnostic))
    try:
        importer = FxImporter(context=context)
        importer.import_stateless_graph(part.graph, func_name=ENTRY)
        module = importer.module
        with context:
            for pipeline in _PIPELINES:
                PassManager.parse(pipeline).run(module.operation)
        functions = outline_scans(module)
    except NotAScan as reason:
        raise Refused(f"{reason} is no computation that mdh knows") from None
    except Exception as failure:
        # Whatever torch-mlir raises (NotImplementedError, MLIRError, ..) says that it does not take the graph.
        raise Refused(_summary(messages, failure)) from failure
    text = str(module)
    foreign = re.search(r"\b(tm_tensor|torch|torch_c|ml_program)\.[\w.]+", text)
    if foreign is not None:
        raise Refused(f"torch-mlir makes {foreign[0]} of it, which mdh does not know")
    return _with_functions(text, functions)


def _note(messages: list[str], diagnostic: Any) -> bool:
    messages.append(diagnostic.message)
    return True


def _summary(messages: list[str], failure: Exception) -> str:
    """A line that says why torch-mlir has failed."""
    first = next((message for message in messages if "failed to legalize" in message), None)
    lines = (first or (messages[0] if messages else str(failure))).strip().split("\n")
    return f"torch-mlir: {lines[0][:200] or type(failure).__name__}"


def _with_functions(text: str, functions: dict[str, str]) -> str:
    """A module's text in which declarations are functions."""
    for declaration, function in functions.items():
        if text.count(declaration) != 1:
            raise Refused(f"bug: found no declaration {declaration} in the text of torch-mlir")
        text = text.replace(declaration, function)
    return text


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
    text = make(tuple(value.shape), DTYPES[value.dtype], axis)
    # A maximum has two results, of which not all may be used.
    returned = [node.args[1] if node.target is operator.getitem else 0 for node in results(part)]
    return make(tuple(value.shape), DTYPES[value.dtype], axis, returned)


#: Prefix sums that are programs of ours, by operation.
SCANS: dict[Any, Callable[[tuple[int, ...], str, int, list[int]], str]] = {
    torch.ops.aten.logcumsumexp.default: logcumsumexp_text,
    torch.ops.aten.cummax.default: functools.partial(extremum_text, comparison="ge"),
    torch.ops.aten.cummin.default: functools.partial(extremum_text, comparison="le"),
}
