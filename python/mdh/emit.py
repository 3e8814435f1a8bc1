"""MLIR for graphs of symbolic values: the operations of a region, in `arith` and `math`.

`region` gives the arguments and the lines of the region of a scalar function or of an operator. What
numpy defines and `arith` does not (integer divisions by zero, shifts by the width) is emitted such
that it is numpy's result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .trace import Value, reachable
from .types import INDEX, BasicType, basic_type, fp32, int64, typed_attribute

# Words that have a meaning of their own where the name of a dimension or of a buffer stands.
_TAKEN = frozenset(["mod", "floordiv", "ceildiv", "symbol", "to", "step", "width", "origin", "pad", "valid", "_"])

_FLOAT_OPS = {
    "add": "arith.addf",
    "sub": "arith.subf",
    "mul": "arith.mulf",
    "div": "arith.divf",
    "min": "arith.minimumf",
    "max": "arith.maximumf",
    "fmin": "arith.minnumf",
    "fmax": "arith.maxnumf",
    "neg": "arith.negf",
    "abs": "math.absf",
    "pow": "math.powf",
    "round": "math.roundeven",
}
_SIGNED_OPS = {
    "add": "arith.addi",
    "sub": "arith.subi",
    "mul": "arith.muli",
    "min": "arith.minsi",
    "max": "arith.maxsi",
    "and": "arith.andi",
    "or": "arith.ori",
    "xor": "arith.xori",
    "pow": "math.ipowi",
    "abs": "math.absi",
}
_UNSIGNED_OPS = {**_SIGNED_OPS, "min": "arith.minui", "max": "arith.maxui"}

# Ordered comparisons are false for NaN, `!=` is true.
_FLOAT_PREDICATES = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_SIGNED_PREDICATES = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
_UNSIGNED_PREDICATES = {"lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge", "eq": "eq", "ne": "ne"}

# Built-in functions of `pw` and `ps`, by the operation that they are: of floats, of signed and of unsigned integers.
BUILT_IN = {
    "add": ("addf", "addi", "addi"),
    "mul": ("mulf", "muli", "muli"),
    "min": ("minimumf", "minsi", "minui"),
    "max": ("maximumf", "maxsi", "maxui"),
    "and": (None, "andi", "andi"),
    "or": (None, "ori", "ori"),
    "xor": (None, "xori", "xori"),
}


def identifier(name: str) -> str:
    """Returns a name as an identifier of MLIR's, which has letters of ASCII only."""
    written = re.sub(r"[^A-Za-z0-9_]", lambda match: f"u{ord(match[0]):x}", name)
    if not written or written[0].isdigit():
        written = f"x{written}"
    return f"{written}_" if written in _TAKEN else written


def built_in(op: str, dtype: BasicType) -> str | None:
    """Returns the name that `pw` and `ps` have for an operation on values of a type, if they have one."""
    floats, signed, unsigned = BUILT_IN.get(op, (None, None, None))
    if dtype.is_float:
        return floats
    return unsigned if dtype.is_unsigned else signed


class _Writer:
    """Lines of one region, with names for their values."""

    def __init__(self, arguments: Sequence[str]):
        self.lines: list[str] = []
        self._arguments = arguments
        self._names: dict[int, str] = {}
        self._used = set(arguments)
        self._constants: dict[tuple[str, str], str] = {}

    def fresh(self, hint: str) -> str:
        """Returns a name that no value has."""
        name, count = f"%{hint}", 0
        while name in self._used:
            count += 1
            name = f"%{hint}_{count}"
        self._used.add(name)
        return name

    def line(self, hint: str, text: str) -> str:
        """Appends an operation, and returns the name of its result."""
        name = self.fresh(hint)
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, number: bool | int | float, dtype: BasicType) -> str:
        """Returns the name of a constant, which is defined once."""
        text = typed_attribute(number, dtype)
        key = (text, dtype.mlir)
        if key not in self._constants:
            self._constants[key] = self.line("c", f"arith.constant {text}")
        return self._constants[key]

    def binary(self, operation: str, left: str, right: str, dtype: BasicType) -> str:
        """Appends an operation on two values of a type."""
        return self.line(operation.partition(".")[2], f"{operation} {left}, {right} : {dtype.mlir}")

    def compare(self, predicate: str, left: str, right: str, dtype: BasicType) -> str:
        """Appends a comparison; `predicate` is that of integers or of floats."""
        operation = "arith.cmpf" if dtype.is_float else "arith.cmpi"
        return self.line("is", f"{operation} {predicate}, {left}, {right} : {dtype.mlir}")

    def select(self, condition: str, chosen: str, other: str, dtype: BasicType) -> str:
        """Appends a choice."""
        return self.line("select", f"arith.select {condition}, {chosen}, {other} : {dtype.mlir}")

    def value(self, value: Value) -> str:
        """Returns the name of a value whose operands have names, and appends what it needs."""
        name = self._names.get(value._number)
        if name is None:
            name = self._names[value._number] = self._written(value)
        return name

    def _written(self, value: Value) -> str:
        op, dtype = value._op, value.dtype
        operands = [self.value(operand) for operand in value._operands]
        if op == "argument":
            return self._arguments[value._attribute]
        if op == "constant":
            return self.constant(value._attribute, dtype)
        if op == "index":
            return self.line("index", f"mdh.index {value._attribute} : index")
        if op == "cast":
            return self.cast(operands[0], value._operands[0].dtype, dtype)
        if op == "where":
            condition, chosen, other = operands
            return self.select(condition, chosen, other, dtype)
        if op in _SIGNED_PREDICATES:
            left, right = operands
            compared = value._operands[0].dtype
            return self.compare(predicates(compared)[op], left, right, compared)
        if op == "not":
            return self.binary(
                "arith.xori", operands[0], self.constant(-1 if dtype.kind != "b" else True, dtype), dtype
            )
        if not dtype.is_float:
            return self._integer(op, operands, value)
        if op in ("floordiv", "mod"):
            return self._float_division(op, operands[0], operands[1], dtype)
        operation = _FLOAT_OPS.get(op, f"math.{op}")
        return self.line(op, f"{operation} {', '.join(operands)} : {dtype.mlir}")

    def _integer(self, op: str, operands: list[str], value: Value) -> str:
        dtype = value.dtype
        if op == "neg":
            return self.binary("arith.subi", self.constant(0, dtype), operands[0], dtype)
        if op == "abs" and dtype == INDEX:
            negated = self.binary("arith.subi", self.constant(0, dtype), operands[0], dtype)
            return self.binary("arith.maxsi", operands[0], negated, dtype)
        if op in ("floordiv", "mod"):
            return self._integer_division(op, operands[0], operands[1], value)
        if op in ("shl", "shr"):
            return self._shift(op, operands[0], operands[1], value)
        operation = (_UNSIGNED_OPS if dtype.is_unsigned else _SIGNED_OPS)[op]
        return self.line(op, f"{operation} {', '.join(operands)} : {dtype.mlir}")

    def _integer_division(self, op: str, left: str, right: str, value: Value) -> str:
        """Floor division, or the remainder with the divisor's sign. By zero both are 0, as in numpy."""
        dtype, divisor = value.dtype, value._operands[1]
        if divisor._op == "constant":
            if divisor._attribute == -1 and not dtype.is_unsigned:
                zero = self.constant(0, dtype)
                return zero if op == "mod" else self.binary("arith.subi", zero, left, dtype)
            return self._division(op, left, right, dtype)
        zero, unit = self.constant(0, dtype), self.constant(1, dtype)
        by_zero = self.compare("eq", right, zero, dtype)
        safe = self.select(by_zero, unit, right, dtype)
        if not dtype.is_unsigned:
            # The least number divided by -1 does not fit: it is computed as a negation, which wraps around.
            negates = self.compare("eq", right, self.constant(-1, dtype), dtype)
            safe = self.select(negates, unit, safe, dtype)
        result = self._division(op, left, safe, dtype)
        if op == "mod":
            # The remainder of a division by 1, which stands for those by 0 and -1, is 0 already.
            return result
        if not dtype.is_unsigned:
            result = self.select(negates, self.binary("arith.subi", zero, left, dtype), result, dtype)
        return self.select(by_zero, zero, result, dtype)

    def _division(self, op: str, left: str, right: str, dtype: BasicType) -> str:
        """A division that has a result."""
        if dtype.is_unsigned:
            return self.binary("arith.divui" if op == "floordiv" else "arith.remui", left, right, dtype)
        if op == "floordiv":
            return self.binary("arith.floordivsi", left, right, dtype)
        return self._signed_remainder(left, right, dtype)

    def _signed_remainder(self, left: str, right: str, dtype: BasicType) -> str:
        zero = self.constant(0, dtype)
        remainder = self.binary("arith.remsi", left, right, dtype)
        is_rest = self.compare("ne", remainder, zero, dtype)
        signs_differ = self.compare("slt", self.binary("arith.xori", remainder, right, dtype), zero, dtype)
        is_other_side = self.line("and", f"arith.andi {is_rest}, {signs_differ} : i1")
        return self.select(is_other_side, self.binary("arith.addi", remainder, right, dtype), remainder, dtype)

    def _shift(self, op: str, left: str, right: str, value: Value) -> str:
        """A shift. By the width or more it gives 0, or -1 for negative numbers that are shifted to the right."""
        dtype = value.dtype
        operation = "arith.shli" if op == "shl" else ("arith.shrui" if dtype.is_unsigned else "arith.shrsi")
        if value._operands[1]._op == "constant":
            return self.binary(operation, left, right, dtype)
        most = self.constant(dtype.bits - 1, dtype)
        bounded = self.binary("arith.minui", right, most, dtype)
        shifted = self.binary(operation, left, bounded, dtype)
        if operation == "arith.shrsi":
            return shifted
        fits = self.compare("ule", right, most, dtype)
        return self.select(fits, shifted, self.constant(0, dtype), dtype)

    def _float_division(self, op: str, left: str, right: str, dtype: BasicType) -> str:
        """Python's `//` and `%` of floats, from the remainder with the dividend's sign."""
        zero = self.constant(0.0, dtype)
        remainder = self.binary("arith.remf", left, right, dtype)
        is_rest = self.compare("one", remainder, zero, dtype)
        below, divisor_below = (self.compare("olt", operand, zero, dtype) for operand in (remainder, right))
        signs_differ = self.line("xor", f"arith.xori {below}, {divisor_below} : i1")
        is_other_side = self.line("and", f"arith.andi {is_rest}, {signs_differ} : i1")
        if op == "mod":
            moved = self.binary("arith.addf", remainder, right, dtype)
            modulo = self.select(is_other_side, moved, remainder, dtype)
            is_exact = self.compare("oeq", remainder, zero, dtype)
            signed_zero = self.binary("math.copysign", zero, right, dtype)
            return self.select(is_exact, signed_zero, modulo, dtype)
        # What is left after the remainder is a multiple of the divisor, up to rounding.
        multiple = self.binary("arith.divf", self.binary("arith.subf", left, remainder, dtype), right, dtype)
        less = self.binary("arith.subf", multiple, self.constant(1.0, dtype), dtype)
        lower = self.select(is_other_side, less, multiple, dtype)
        whole = self.line("roundeven", f"math.roundeven {lower} : {dtype.mlir}")
        by_zero = self.compare("oeq", right, zero, dtype)
        return self.select(by_zero, self.binary("arith.divf", left, right, dtype), whole, dtype)

    def cast(self, operand: str, source: BasicType, target: BasicType) -> str:
        """Appends what makes a value of one type a value of another one, and returns its name."""
        if source.mlir == target.mlir and target.kind != "b":
            return operand
        if INDEX in (source, target):
            return self._index_cast(operand, source, target)
        if target.kind == "b":
            zero = self.constant(0, source)
            return self.compare("une" if source.is_float else "ne", operand, zero, source)
        if source.is_float and target.is_float:
            if source.bits == target.bits:
                # Between the two types of 16 bits there is no operation.
                return self.cast(self.cast(operand, source, fp32), fp32, target)
            operation = "extf" if source.bits < target.bits else "truncf"
        elif source.is_float:
            operation = "fptoui" if target.kind == "u" else "fptosi"
        elif target.is_float:
            operation = "uitofp" if source.is_unsigned else "sitofp"
        elif source.bits > target.bits:
            operation = "trunci"
        else:
            operation = "extui" if source.is_unsigned else "extsi"
        return self.line(operation, f"arith.{operation} {operand} : {source.mlir} to {target.mlir}")

    def _index_cast(self, operand: str, source: BasicType, target: BasicType) -> str:
        if source == INDEX and target.kind not in "iu":
            return self.cast(self.cast(operand, INDEX, int64), int64, target)
        if target == INDEX and source.is_float:
            return self.cast(self.cast(operand, source, int64), int64, INDEX)
        operation = "index_castui" if source.is_unsigned else "index_cast"
        return self.line(operation, f"arith.{operation} {operand} : {source.mlir} to {target.mlir}")


def predicates(dtype: BasicType) -> dict[str, str]:
    """Returns the predicates of comparisons of values of a type."""
    if dtype.is_float:
        return _FLOAT_PREDICATES
    return _UNSIGNED_PREDICATES if dtype.is_unsigned else _SIGNED_PREDICATES


def region(arguments: Sequence[tuple[str, BasicType]], results: Iterable[Value]) -> tuple[str, list[str]]:
    """Returns a region's arguments, `(%x: f32, ..)`, and its lines, of which the last one yields the results."""
    results = list(results)
    names = [f"%{name}" for name, _ in arguments]
    writer = _Writer(names)
    for value in reachable(results):
        writer.value(value)
    yielded = ", ".join(writer.value(result) for result in results)
    types = ", ".join(result.dtype.mlir for result in results)
    listed = ", ".join(f"{name}: {dtype.mlir}" for name, (_, dtype) in zip(names, arguments))
    return f"({listed})", [*writer.lines, f"mdh.yield {yielded} : {types}"]


def einsum_region(operator: Any, element: Any, arity: int) -> str:
    """Returns an operator of an einsum as text: its laws, its arguments, and its code in braces.

    `operator` is an `Operator` for two values, or a Python function of `arity` values, of elements of one type.
    Stated is what is known: that an `Operator` is associative, and what else its laws or its code say.
    """
    # These modules emit what they trace by way of this one.
    from .combination import graph
    from .operators import Operator
    from .scalar import trace_scalar

    dtype = basic_type(element)
    names = [f"x{at}" for at in range(arity)]
    laws = ""
    if isinstance(operator, Operator) and arity == 2:
        traced = graph(operator, [dtype])
        results: Iterable[Value] = traced.results
        neutral = operator.neutral_for([dtype])
        laws = "commutative associative" if operator.commutative or traced.is_symmetric else "associative"
        if neutral is not None:
            laws += f" neutral({typed_attribute(neutral[0], dtype)})"
    else:
        results = trace_scalar(operator, (), [((name, 1), dtype) for name in names], [(("y", 1), dtype)])
    header, lines = region([(name, dtype) for name in names], results)
    code = "\n".join(f"  {line}" for line in lines)
    return f"{laws} {header} {{\n{code}\n}}".strip()
