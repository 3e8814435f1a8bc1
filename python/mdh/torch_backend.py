"""`torch.compile(f, backend="mdh")`: what torch traces, computed by mdh.

```text
torch.compile -> graphs of aten operations (AOTAutograd) -> parts (torch_parts) -> MLIR (torch_text) -> Compiled
```

A graph is compiled when torch hands it over; one whose sizes are known only when it is called, for each size that it is
called with. What mdh does not take stays with torch, and a warning names it once for each graph. Both directions of
training are graphs as well.

torch finds this module by the package's entry points; importing it registers the name, too.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx

from . import torch_operations
from .compiled import Compiled, compile_text
from .errors import Error, InternalError, ProgramError
from .torch_parts import Division
from .torch_text import SCANS, Refused, Text, lower, results

aten = torch.ops.aten

#: Programs, and what the compiler says of them, at the level INFO.
log = logging.getLogger("mdh.torch")


def backend(graph: fx.GraphModule, inputs: Sequence[Any], *, mode: str | None = None,
            options: dict[str, Any] | None = None) -> Callable[..., Any]:
    """The backend `mdh` of torch.compile.

    Args:
        graph, inputs: what torch hands over.
        mode: none but "default".
        options: those of `mdh.compile` (`deterministic`, `tuned`, `checked`).

    Raises:
        ProgramError: the options are no such ones, or torch-mlir is not installed.
    """
    from torch._dynamo.backends.common import aot_autograd

    if mode not in (None, "default"):
        raise ProgramError(f"found mode={mode!r}, expected none: options={{..}} says what mdh is to do otherwise")
    unknown = set(options or {}) - {"deterministic", "tuned", "checked"}
    if unknown:
        raise ProgramError(f"found the options {', '.join(sorted(unknown))}, expected deterministic, tuned or checked")
    _import_torch_mlir()
    compiler = _Compiler(options or {}).called
    compile_graph = aot_autograd(fw_compiler=compiler, bw_compiler=compiler, inference_compiler=compiler,
                                 decompositions=_decompositions())
    return compile_graph(graph, inputs)


def _import_torch_mlir() -> None:
    try:
        import torch_mlir  # noqa: F401
    except ImportError as error:
        raise ProgramError(f'torch.compile(backend="mdh") needs the package torch-mlir: {error}') from None


def _decompositions() -> dict[Any, Callable[..., Any]]:
    """Operations that torch takes apart before it hands over graphs."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    return {**get_decomposition_table(), **torch_operations.exact()}


class _Compiler:
    """Graphs of aten operations to functions of lists of arguments."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options

    def called(self, graph: fx.GraphModule, inputs: Sequence[Any]) -> Callable[[list[Any]], Any]:
        """The function that torch calls with a list of arguments, once or often."""
        from functorch.compile import make_boxed_func

        if any(map(_is_open, graph.graph.find_nodes(op="placeholder"))):
            return make_boxed_func(_ForEachSize(graph, self.compile))
        return make_boxed_func(self.compile(graph).forward)

    def compile(self, graph: fx.GraphModule) -> fx.GraphModule:
        """A graph whose parts are programs. Warns of what none takes."""
        operations = sum(node.op == "call_function" for node in graph.graph.nodes)
        division = Division(graph, self._compile_part)
        if division.staying:
            reasons = "\n".join(f"  {name}: {reason}" for name, reason in sorted(division.staying.items()))
            message = (f"of a graph of {operations} operations, {division.parts} parts are computed by mdh; these stay "
                       f"with torch:\n{reasons}")
            warnings.warn(message, stacklevel=2)
        return division.graph

    def _compile_part(self, part: fx.GraphModule) -> Callable[..., Any]:
        reads, writes = _in_order_of_memory(part)
        program = lower(part)
        log.info("%s", program.text)
        compiled, remarks = self._compile_text(program)
        call = _caller(compiled, part, reads, writes)
        call.slow = next((f"mdh: {remark}" for remark in remarks if " stays as it is" in remark), None)
        return call

    def _compile_text(self, program: Text) -> tuple[Compiled, list[str]]:
        """A program's code, and the lines that the compiler says of it."""
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                compiled = compile_text(program.text, name="torch", entry=program.entry, dtypes=program.dtypes,
                                        **self._options)
        except InternalError:
            raise
        except Error as error:
            lines = str(error).strip().splitlines()
            log.info("%s", error)
            raise Refused(f"mdh: {next((line for line in lines if 'error:' in line), lines[0])}") from error
        remarks = [line for warning in caught for line in str(warning.message).splitlines()]
        log.info("%s", "\n".join(remarks))
        return compiled, remarks


class _ForEachSize:
    """A graph with sizes that its arguments have: a program for each."""

    def __init__(self, graph: fx.GraphModule, compile_graph: Callable[[fx.GraphModule], fx.GraphModule]) -> None:
        self._graph, self._compile = graph, compile_graph
        self._programs: dict[tuple, Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        key = tuple(map(_described, arguments))
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._compile(self._with_sizes(arguments)).forward
        return program(*arguments)

    def _with_sizes(self, arguments: Sequence[Any]) -> fx.GraphModule:
        """The graph for such arguments."""
        from torch.fx.experimental.proxy_tensor import make_fx

        with torch.no_grad():
            plain = [_plain(argument) for argument in arguments]
            return make_fx(self._graph, tracing_mode="fake")(*plain)


def _is_open(placeholder: fx.Node) -> bool:
    """True where a number, or a tensor's size, is known only when the graph is called."""
    value = placeholder.meta.get("val")
    numbers = [*value.shape, *value.stride(), value.storage_offset()] if isinstance(value, torch.Tensor) else [value]
    return any(isinstance(number, (torch.SymInt, torch.SymFloat, torch.SymBool)) for number in numbers)


def _described(argument: Any) -> Any:
    """Those properties of an argument on which a graph's program depends."""
    if isinstance(argument, torch.Tensor):
        return argument.shape, argument.dtype, argument.stride(), argument.device
    return argument


def _plain(argument: Any) -> Any:
    """An argument as an array, which takes no part in differentiation."""
    return argument.detach() if isinstance(argument, torch.Tensor) and argument.requires_grad else argument


Order = tuple[int, ...]


def _memory_order(value: torch.Tensor) -> Order | None:
    """The axes of a tensor without gaps, slowest first, where these are not in row-major order already."""
    shape, strides = value.shape, value.stride()
    order = tuple(sorted(range(value.ndim), key=lambda axis: (-strides[axis], axis)))
    if value.is_contiguous() or not value.permute(order).is_contiguous():
        return None
    return order


def _inverse(order: Order) -> Order:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _in_order_of_memory(part: fx.GraphModule) -> tuple[list[Order | None], list[Order | None]]:
    """Has a part take and return tensors as they lie in memory, so that none is copied; returns the orders of the axes
    of its arguments and results there. (A prefix sum with a program of ours reads and writes all in row-major order.)"""
    graph = part.graph
    placeholders = graph.find_nodes(op="placeholder")
    if any(node.target in SCANS for node in graph.nodes):
        return [None] * len(placeholders), [None] * len(results(part))
    reads = [_memory_order(node.meta["val"]) for node in placeholders]
    first = next(node for node in graph.nodes if node.op != "placeholder")
    for placeholder, order in zip(placeholders, reads):
        if order is None:
            continue
        with graph.inserting_before(first):
            seen = graph.call_function(aten.permute.default, (placeholder, list(_inverse(order))))
        placeholder.replace_all_uses_with(seen, delete_user_cb=lambda user: user is not seen)
        seen.meta["val"] = placeholder.meta["val"]
        placeholder.meta = {"val": placeholder.meta["val"].permute(order)}
    returned = results(part)
    writes = [_memory_order(node.meta["val"]) for node in returned]
    if any(order is not None for order in writes):
        output = next(node for node in graph.nodes if node.op == "output")
        with graph.inserting_before(output):
            laid = [_permuted(graph, node, order) for node, order in zip(returned, writes)]
        output.args = (tuple(laid) if isinstance(output.args[0], (tuple, list)) else laid[0],)
    part.recompile()
    return reads, writes


def _permuted(graph: fx.Graph, node: fx.Node, order: Order | None) -> fx.Node:
    if order is None:
        return node
    moved = graph.call_function(aten.permute.default, (node, list(order)))
    moved.meta["val"] = node.meta["val"].permute(order)
    return moved


def _caller(compiled: Compiled, part: fx.GraphModule, reads: list[Order | None],
            writes: list[Order | None]) -> Callable[..., Any]:
    """A function of tensors that calls the program of a part, which takes and returns them in these orders of axes."""
    taken = [node.meta["val"] for node in part.graph.find_nodes(op="placeholder")]
    values = [node.meta["val"] for node in results(part)]
    back = [None if order is None else _inverse(order) for order in writes]
    strides = [None if is_laid else value.stride() for value, is_laid in zip(values, map(_is_laid, values, writes))]
    kinds = [(tuple(value.shape), value.dtype) for value in values]
    # numpy's view of a tensor is made in a fraction of the time that a capsule of DLPack takes; it has no bfloat16.
    array = _as_array if all(value.dtype is not torch.bfloat16 for value in (*taken, *values)) else _plain
    is_ordered = any(order is not None for order in reads)
    is_shown = any(order is not None for order in back) or any(strides)

    def call(*tensors: torch.Tensor) -> Any:
        if is_ordered:
            tensors = [tensor if order is None else tensor.permute(order) for tensor, order in zip(tensors, reads)]
        made = [torch.empty(shape, dtype=dtype) for shape, dtype in kinds]
        compiled(*[array(tensor) for tensor in tensors], out=tuple([array(tensor) for tensor in made]))
        if is_shown:
            made = [_shown(tensor, *about) for tensor, *about in zip(made, back, strides)]
        return made[0] if len(made) == 1 else made

    return call


def _as_array(tensor: torch.Tensor) -> Any:
    """numpy's view of a tensor."""
    return (tensor.detach() if tensor.requires_grad else tensor).numpy()


def _is_laid(value: torch.Tensor, order: Order | None) -> bool:
    """True where a program writes a result with the strides that torch expects."""
    return order is not None or value.is_contiguous()


def _shown(tensor: torch.Tensor, back: Order | None, strides: tuple[int, ...] | None) -> torch.Tensor:
    """A result under the axes and strides that torch expects."""
    if back is not None:
        return tensor.permute(back)
    if strides is not None:
        return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)
    return tensor


def _register() -> None:
    """Makes the name known where the package is not installed: entry points do it otherwise, and no name comes twice."""
    from torch._dynamo.backends.registry import list_backends, register_backend

    if "mdh" not in list_backends(exclude_tags=()):
        register_backend(name="mdh", compiler_fn=backend)


_register()
