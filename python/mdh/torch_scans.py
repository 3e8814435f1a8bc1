"""Prefix sums of torch: what torch-mlir makes of them, and those that it makes nothing of, as computations.

`cumsum` and `cumprod` arrive as `tm_tensor.scan`, whose dialect mdh does not know. Each becomes a call of a function with
one computation, so that what is computed before and behind it (a reversal, a mask, a padding) stays in one program, where
the compiler may fuse it. `logcumsumexp`, `cummax` and `cummin` are programs alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .operators import add, logaddexp, mul
from .reductions import scan_text


class NotAScan(Exception):
    """A `tm_tensor.scan` that is not known to be a prefix sum or product; says why."""


#: Operations of a scan's body, as operators, with the accumulator that changes nothing.
_OPERATORS = {
    "arith.addf": (add, 0.0),
    "arith.addi": (add, 0),
    "arith.mulf": (mul, 1.0),
    "arith.muli": (mul, 1),
}

#: MLIR's types of elements, as the package names them.
_ELEMENTS = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
}


def outline_scans(module: Any) -> dict[str, str]:
    """Replaces each `tm_tensor.scan` of a module, in place, by a call of a function that the module declares.

    Returns:
        the functions: declarations as they are printed, and what stands for each in the program's text.

    Raises:
        NotAScan: an operation is another one than of `cumsum` and `cumprod`.
    """
    functions: dict[str, str] = {}
    for scan in _operations(module.operation, "tm_tensor.scan"):
        _outline(module, scan, f"prefix_{len(functions)}", functions)
    return functions


def _operations(root: Any, name: str) -> list[Any]:
    """The operations of a name, outermost first, in the order of the text."""
    listed = []
    for region in root.regions:
        for block in region.blocks:
            for operation in block.operations:
                if operation.operation.name == name:
                    listed.append(operation.operation)
                listed += _operations(operation.operation, name)
    return listed


def _outline(module: Any, scan: Any, name: str, functions: dict[str, str]) -> None:
    from torch_mlir import ir

    source, start = scan.operands[0], scan.operands[2]
    tensor = ir.RankedTensorType(source.type)
    operator, neutral = _operator(scan)
    if not _is_filled_with(start, neutral):
        raise NotAScan(f"a prefix '{operator.name}' that starts from something else than {neutral}")
    if not ir.BoolAttr(scan.attributes["inclusive"]).value:
        raise NotAScan("an exclusive prefix sum")
    if list(scan.results[1].uses):
        raise NotAScan("a prefix sum whose total is used")
    element = _ELEMENTS.get(str(tensor.element_type))
    if element is None:
        raise NotAScan(f"a prefix sum of {tensor.element_type}")
    axis = ir.IntegerAttr(scan.attributes["dimension"]).value
    text = scan_text(operator, [tuple(tensor.shape)], [element], axis=axis)
    functions[f"func.func private @{name}({source.type}) -> {source.type}"] = _renamed(text, f"private @{name}")
    symbol = ir.FlatSymbolRefAttr.get(name, module.context)
    with module.context, ir.Location.unknown():
        kind = ir.TypeAttr.get(ir.FunctionType.get([source.type], [source.type]))
        attributes = {"sym_name": ir.StringAttr.get(name), "function_type": kind,
                      "sym_visibility": ir.StringAttr.get("private")}
        ir.Operation.create("func.func", attributes=attributes, regions=1, ip=ir.InsertionPoint(module.body))
        call = ir.Operation.create("func.call", results=[source.type], operands=[source],
                                   attributes={"callee": symbol}, ip=ir.InsertionPoint(scan))
    scan.results[0].replace_all_uses_with(call.results[0])
    scan.erase()


def _operator(scan: Any) -> tuple[Any, float | int]:
    """The operator of a scan's body: one operation on the two elements, whose result is yielded."""
    block = scan.regions[0].blocks[0]
    body = [operation.operation for operation in block.operations]
    known = _OPERATORS.get(body[0].name)
    takes_both = sorted(str(operand) for operand in body[0].operands) == sorted(str(value) for value in block.arguments)
    if known is None or len(body) != 2 or not takes_both or body[1].operands[0] != body[0].results[0]:
        raise NotAScan(f"a prefix sum by {', '.join(operation.name for operation in body[:-1])}")
    return known


def _is_filled_with(value: Any, number: float | int) -> bool:
    """True where a tensor is `linalg.fill` of that constant."""
    fill = _producer(value)
    constant = None if fill is None or fill.name != "linalg.fill" else _producer(fill.operands[0])
    return constant is not None and constant.name == "arith.constant" and constant.attributes["value"].value == number


def _producer(value: Any) -> Any:
    """The operation whose result a value is; None for an argument."""
    return getattr(value.owner, "operation", None)


def _renamed(text: str, name: str) -> str:
    """The function of a text under another name, which may have a visibility before it."""
    return re.sub(r"func\.func @\w+", f"func.func {name}", text, count=1)


def logcumsumexp_text(shape: Sequence[int], element: str, axis: int, _returned: Sequence[int] = (0,)) -> str:
    """The program of `torch.logcumsumexp`."""
    return _renamed(scan_text(logaddexp, [tuple(shape)], [element], axis=axis), "@logcumsumexp")


def extremum_text(shape: Sequence[int], element: str, axis: int, returned: Sequence[int], comparison: str) -> str:
    """The program of `torch.cummax` (`comparison` is `ge`) and `torch.cummin` (`le`). It returns values (0), their
    positions (1), or both, as `returned` says.

    Of equal ones the last counts, and behind a NaN only the next NaN: torch's rules. With them the choice between two
    neighbouring parts is associative.
    """
    name = {value: key for key, value in _ELEMENTS.items()}[element]
    is_float = element.endswith(("float16", "float32", "float64"))
    compare = f"arith.cmpf o{comparison}" if is_float else f"arith.cmpi s{comparison}"
    extents = "x".join(map(str, shape))
    dimensions = [f"d{at}" for at in range(len(shape))]
    values, positions = f"tensor<{extents}x{name}>", f"tensor<{extents}xi64>"
    loops = ", ".join(f"{dimension} = {extent}" for dimension, extent in zip(dimensions, shape))
    indices = ", ".join(dimensions)
    kinds = ", ".join("ps(latest)" if at == axis else "cc" for at in range(len(shape)))
    body = [f"%is_next = {compare}, %second, %first : {name}"]
    if is_float:
        body += [f"%is_nan = arith.cmpf uno, %second, %second : {name}",
                 "%is_taken = arith.ori %is_next, %is_nan : i1"]
    taken = "%is_taken" if is_float else "%is_next"
    body += [f"%value = arith.select {taken}, %second, %first : {name}",
             f"%place = arith.select {taken}, %second_at, %first_at : i64",
             f"mdh.yield %value, %place : {name}, i64"]
    combine = "\n".join(f"      {line}" for line in body)
    names = ", ".join(("%values", "%positions")[number] for number in returned)
    types = ", ".join((values, positions)[number] for number in returned)
    return f"""func.func @extremum(%x: {values}) -> ({types}) {{
  %values_init = tensor.empty() : {values}
  %positions_init = tensor.empty() : {positions}
  %values, %positions = mdh.compute ({loops})
    out_view(values = %values_init[{indices}] : {values}, positions = %positions_init[{indices}] : {positions})
    md_hom((%element: {name}) {{
      %index = mdh.index {axis} : index
      %at = arith.index_cast %index : index to i64
      mdh.yield %element, %at : {name}, i64
    }}, ({kinds}))
    inp_view(x = %x[{indices}] : {values})
    combine latest associative (%first: {name}, %first_at: i64, %second: {name}, %second_at: i64) {{
{combine}
    }}
  return {names} : {types}
}}
"""
