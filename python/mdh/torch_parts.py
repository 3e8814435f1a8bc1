"""Graphs of aten operations, cut into parts that mdh computes and operations that stay with torch.

```text
objections (device, type, effects) -> proposals of torch's partitioner -> programs -> one call in the graph for each
                     ^                                          |
                     '----------- operations to blame ----------'
```

A part that has no program costs only the operations that have none alone: they stay with torch, and the rest is cut
again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.tools_common import legalize_graph
from torch.fx.passes.utils.fuser_utils import erase_nodes, fuse_as_graphmodule, insert_subgm

from . import torch_operations
from .torch_text import DTYPES, SCANS, Refused

aten = torch.ops.aten

#: What makes the program of a part: a function of tensors, which says as `slow` why torch computes it faster (None if it
#: does not). It raises `Refused` if there is none.
Compile = Callable[[fx.GraphModule], Any]

#: Operations that torch does as well by itself: a part of nothing else is none.
_CREATIONS = {
    aten.full.default, aten.empty.memory_format, aten.zeros.default, aten.ones.default, aten.scalar_tensor.default,
    aten.arange.start_step, aten.arange.start, aten.arange.default, aten.eye.default,
}

#: Properties of operations for which a program has no counterpart, and what they mean.
_TAGS = {
    torch.Tag.nondeterministic_seeded: "it draws random numbers",
    torch.Tag.dynamic_output_shape: "the shape of its result depends on data",
    torch.Tag.data_dependent_output: "its result is a number that torch reads",
}


class Division:
    """A graph whose parts are calls of programs.

    Attributes:
        graph: the graph, which is called with the arguments of the one that was given.
        parts: the number of programs.
        staying: operations that stay with torch, by name, and why.
    """

    def __init__(self, graph: fx.GraphModule, compile_part: Compile) -> None:
        self.graph = graph
        self.staying: dict[str, str] = {}
        self._compile = compile_part
        self._programs: dict[frozenset[fx.Node], Any] = {}
        self._alone: dict[Any, str | None] = {}
        _pass_constants(graph)
        stays = {node: reason for node in graph.graph.nodes if (reason := _objection(node)) is not None}
        parts = self._settle(stays)
        self.parts = len(parts)
        for node, reason in stays.items():
            if reason:
                self.staying.setdefault(f"{node.target}", reason)
        self._replace(parts)

    def _settle(self, stays: dict[fx.Node, str]) -> list[list[fx.Node]]:
        """The parts, all of which have programs; adds to what stays."""
        while True:
            _keep_last_views(self.graph, stays)
            blamed: dict[fx.Node, str] = {}
            parts = [part for nodes in _propose(self.graph, stays) for part in self._compiled_parts(nodes, blamed)]
            if not blamed:
                return parts
            stays |= blamed

    def _compiled_parts(self, nodes: list[fx.Node], blamed: dict[fx.Node, str]) -> list[list[fx.Node]]:
        """The parts that a part consists of: itself, if it has a program. If it has none, and no operation is to blame,
        its halves; if one is, it is added to `blamed`."""
        key = frozenset(nodes)
        try:
            if key not in self._programs:
                part, _, _ = fuse_as_graphmodule(self.graph, nodes, "mdh_part")
                self._programs[key] = self._compile(part)
            refusal, is_slow = None, self._programs[key].slow is not None
        except Refused as reason:
            refusal, is_slow = str(reason), False
        if refusal is None and not is_slow:
            return [nodes]
        culprits = self._blame(nodes)
        blamed |= culprits
        if culprits or refusal is None:
            return [] if culprits else [nodes]
        first, second = _halves(nodes)
        if not second:
            blamed |= {node: refusal for node in nodes if node.target is not operator.getitem}
            return []
        return [part for half in (first, second) if not all(map(_is_trivial, half))
                for part in self._compiled_parts(half, blamed)]

    def _blame(self, nodes: list[fx.Node]) -> dict[fx.Node, str]:
        """The operations of a part that alone have no program, or a slow one, and why."""
        blamed = {}
        for node in nodes:
            if node.target is operator.getitem or _is_trivial(node):
                continue
            key = (node.target, str(node.args), str(node.kwargs), tuple(map(_described, node.all_input_nodes)))
            if key not in self._alone:
                self._alone[key] = self._failure(node)
            if self._alone[key] is not None:
                blamed[node] = self._alone[key]
        return blamed

    def _failure(self, node: fx.Node) -> str | None:
        """The reason for which an operation alone has no program, or a slow one; None if it has a good one."""
        try:
            return self._compile(_alone(node)).slow
        except Refused as refusal:
            return str(refusal)

    def _replace(self, parts: list[list[fx.Node]]) -> None:
        """Puts a call in the place of each part."""
        graph, programs = self.graph, {}
        for number, nodes in enumerate(parts):
            name = f"mdh_part_{number}"
            part, inputs, outputs = fuse_as_graphmodule(graph, nodes, name)
            insert_subgm(graph, part, inputs, outputs)
            erase_nodes(graph, nodes)
            programs[name] = self._programs[frozenset(nodes)]
        for call in graph.graph.nodes:
            if call.op != "call_module":
                continue
            program = programs[call.target]
            program.__name__ = program.__qualname__ = call.target
            call.op, call.target = "call_function", program
        graph.delete_all_unused_submodules()
        legalize_graph(graph)
        graph.recompile()


def _constant(value: Any) -> Any:
    """A constant of a graph: what is called is no constant to whoever cuts the graph, but an argument of its parts."""
    return value


def _pass_constants(graph: fx.GraphModule) -> None:
    """Has parts take the graph's constants as arguments, since programs hold no data."""
    for node in graph.graph.find_nodes(op="get_attr"):
        value = _attribute(graph, node.target)
        if not isinstance(value, torch.Tensor):
            continue
        with graph.graph.inserting_after(node):
            passed = graph.graph.call_function(_constant, (node,))
        passed.meta["val"] = value
        node.replace_all_uses_with(passed, delete_user_cb=lambda user: user is not passed)


def _attribute(graph: fx.GraphModule, path: str) -> Any:
    value: Any = graph
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _objection(node: fx.Node) -> str | None:
    """The reason for which an operation stays with torch, whatever its program would be; empty where that is not worth a
    word, None where there is no such reason."""
    if node.op != "call_function" or node.target is _constant:
        return ""
    if node.target is operator.getitem:
        return _objection(node.args[0]) if isinstance(node.args[0], fx.Node) else ""
    if not isinstance(node.target, torch._ops.OpOverload):
        return "it is no operation on tensors"
    if node.target._schema.is_mutable:
        return "" if node.target is aten.copy_.default else "it writes into its arguments"
    for tag, reason in _TAGS.items():
        if tag in node.target.tags and not _has_known_shape(node):
            return reason
    for about in (node, *node.all_input_nodes):
        reason = _unfit(about.meta.get("val"))
        if reason is not None:
            return reason
    if node.target in SCANS:
        source = node.args[0].meta["val"]
        if source.ndim == 0 or source.dtype is torch.bool:
            return f"it is a prefix sum of {source.dtype} with {source.ndim} axes"
    return torch_operations.objection(node)


def _has_known_shape(node: fx.Node) -> bool:
    """True for elements at positions, which only truth values give an unknown number of."""
    if node.target is not aten.index.Tensor:
        return False
    return all(index is None or index.meta["val"].dtype is not torch.bool for index in node.args[1])


def _unfit(value: Any) -> str | None:
    """The reason for which no program has such a value; None if one may."""
    if isinstance(value, (tuple, list)):
        return next((reason for part in value if part is not None and (reason := _unfit(part)) is not None), None)
    if not isinstance(value, torch.Tensor):
        return "it computes with numbers beside tensors"
    if value.device.type != "cpu":
        return f"its tensors are on the device {value.device}"
    if value.dtype not in DTYPES:
        return f"its elements are {value.dtype}"
    if value.layout is not torch.strided or value.is_quantized:
        return f"a tensor has the layout {value.layout}"
    if value.is_neg():
        return "the memory of a tensor has the negated numbers"
    if value.numel() == 0:
        return ""
    return None


def _is_view(node: fx.Node) -> bool:
    """True for an operation whose result is memory of its argument."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    schema = node.target._schema
    return not schema.is_mutable and any(result.alias_info is not None for result in schema.returns)


def _keep_last_views(graph: fx.GraphModule, stays: dict[fx.Node, str]) -> None:
    """Leaves to torch views that no part reads: as parts' results they would be copies."""
    for node in reversed(graph.graph.nodes):
        if node.op != "call_function" or node in stays or not _is_view(node):
            continue
        parts = [user for user in node.users if user.target is operator.getitem]
        if all(user in stays for result in (node, *parts) for user in result.users if user not in parts):
            stays[node] = ""
            stays.update((user, "") for user in parts)


class _Support(OperatorSupportBase):
    """torch's question, of which operations parts are to be made."""

    def __init__(self, stays: dict[fx.Node, str]) -> None:
        self.stays = stays

    def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
        source = node.args[0] if node.target is operator.getitem else node
        return node not in self.stays and source not in self.stays and source.target not in SCANS


def _propose(graph: fx.GraphModule, stays: dict[fx.Node, str]) -> list[list[fx.Node]]:
    """Operations that are one program each, in the order of the graph."""
    partitioner = CapabilityBasedPartitioner(graph, _Support(stays), allows_single_node_partition=True)
    proposed = [list(partition.nodes) for partition in partitioner.propose_partitions()]
    for node in graph.graph.nodes:
        if node.op == "call_function" and node.target in SCANS and node not in stays:
            proposed.append([node, *(user for user in node.users if user.target is operator.getitem)])
    places = {node: place for place, node in enumerate(graph.graph.nodes)}
    parts = [sorted(nodes, key=places.__getitem__) for nodes in proposed]
    return [nodes for nodes in parts if not all(map(_is_trivial, nodes))]


def _halves(nodes: list[fx.Node]) -> tuple[list[fx.Node], list[fx.Node]]:
    """The operations in the order of the graph, cut in the middle; results of an operation stay with it."""
    operations = [node for node in nodes if node.target is not operator.getitem]
    first = set(operations[: (len(operations) + 1) // 2])

    def is_first(node: fx.Node) -> bool:
        return (node.args[0] if node.target is operator.getitem and node not in first else node) in first

    return [node for node in nodes if is_first(node)], [node for node in nodes if not is_first(node)]


def _is_trivial(node: fx.Node) -> bool:
    """True for an operation that computes nothing."""
    return node.target is operator.getitem or node.target in _CREATIONS or _is_view(node)


def _alone(node: fx.Node) -> fx.GraphModule:
    """An operation as a graph of its own."""
    graph = fx.Graph()
    inputs = {}
    for source in node.all_input_nodes:
        inputs[source] = graph.placeholder(source.name)
        inputs[source].meta = dict(source.meta)
    copied = graph.node_copy(node, inputs.__getitem__)
    chosen = [user for user in node.users if user.target is operator.getitem]
    returned = [graph.node_copy(user, lambda _: copied) for user in chosen]
    graph.output(tuple(returned) if returned else copied)
    return fx.GraphModule(torch.nn.Module(), graph)


def _described(node: fx.Node) -> Any:
    """Those properties of an argument on which a program depends."""
    values: Iterable[Any] = [node.meta["val"]] if isinstance(node.meta["val"], torch.Tensor) else node.meta["val"]
    return tuple((tuple(value.shape), value.dtype, value.stride()) for value in values if value is not None)
