"""Element types: their names, and what numpy and MLIR call them.

`BasicType` is one element type; `fp32` and the like are its only instances. `Scalar[T, ..]` says
which types a scalar function takes or gives, `Buffer[T]` and `Buffer[T, [I, K]]` what an array
holds. MLIR's integers have no sign; that an element is unsigned is known here only, and shows in
the operations that are emitted.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import DTypeError

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class BasicType:
    """An element type.

    `kind` is `b` (truth values), `i` (signed), `u` (unsigned), `f` (floats) or `x` (an index of a
    dimension, which has 64 bits and a sign, and takes part in arithmetic like a Python integer).
    """

    name: str
    kind: str
    bits: int
    mlir: str
    numpy_name: str

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple:
        # Types are compared by identity, so that a copy must be the type itself.
        return basic_type, (self.name,)

    @property
    def is_float(self) -> bool:
        """True for floating-point types."""
        return self.kind == "f"

    @property
    def is_unsigned(self) -> bool:
        """True for types whose integers are compared, divided and extended without a sign."""
        return self.kind in "ub"

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest integer of an integer type."""
        if self.kind == "b":
            return 0, 1
        if self.kind == "u":
            return 0, (1 << self.bits) - 1
        return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1

    def to_numpy(self) -> Any:
        """Returns numpy's dtype. That of `bf16` is in the package `ml_dtypes`.

        Raises `DTypeError` where that package is not installed.
        """
        import numpy

        if self.name != "bf16":
            return numpy.dtype(self.numpy_name)
        try:
            import ml_dtypes
        except ImportError:
            raise DTypeError(
                "numpy has no bfloat16 of its own, expected the package ml_dtypes to be installed"
            ) from None
        return numpy.dtype(ml_dtypes.bfloat16)


fp16 = BasicType("fp16", "f", 16, "f16", "float16")
bf16 = BasicType("bf16", "f", 16, "bf16", "bfloat16")
fp32 = BasicType("fp32", "f", 32, "f32", "float32")
fp64 = BasicType("fp64", "f", 64, "f64", "float64")
int8 = BasicType("int8", "i", 8, "i8", "int8")
int16 = BasicType("int16", "i", 16, "i16", "int16")
int32 = BasicType("int32", "i", 32, "i32", "int32")
int64 = BasicType("int64", "i", 64, "i64", "int64")
uint8 = BasicType("uint8", "u", 8, "i8", "uint8")
uint16 = BasicType("uint16", "u", 16, "i16", "uint16")
uint32 = BasicType("uint32", "u", 32, "i32", "uint32")
uint64 = BasicType("uint64", "u", 64, "i64", "uint64")
bool_ = BasicType("bool_", "b", 1, "i1", "bool")

# The type of a dimension's index. No array has it.
INDEX = BasicType("index", "x", 64, "index", "int64")

float16, bfloat16, float32, float64 = fp16, bf16, fp32, fp64
half, single, double = fp16, fp32, fp64
char, uchar = int8, uint8

# The paper's word for the class.
ScalarType = BasicType

BASIC_TYPES = (fp16, bf16, fp32, fp64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_)

# Integers in MLIR have no sign: by its names they are the signed ones.
_BY_NAME = {
    **{basic.mlir: basic for basic in BASIC_TYPES if not basic.is_unsigned},
    "i1": bool_,
    **{basic.name: basic for basic in BASIC_TYPES},
    **{basic.numpy_name: basic for basic in BASIC_TYPES},
    "half": fp16,
    "float": fp64,
    "double": fp64,
    "char": int8,
    "int": int64,
    "bool": bool_,
}

_FLOAT_CODES = {"fp16": ("<e", "<H"), "fp32": ("<f", "<I"), "fp64": ("<d", "<Q")}


# Types by what described them before: the name of a dtype is computed anew each time.
_described: dict[Any, BasicType] = {}


def basic_type(described: Any) -> BasicType:
    """Returns the element type that a value describes.

    Accepted are a `BasicType`, its name, that of numpy or of MLIR, `float`, `int` and `bool`, and the
    dtypes of numpy, ml_dtypes, PyTorch, JAX and others whose names are the same.

    Raises `DTypeError` for anything else.
    """
    if isinstance(described, BasicType):
        return described
    try:
        return _described[described]
    except (KeyError, TypeError):
        pass
    python = {float: fp64, int: int64, bool: bool_}
    if isinstance(described, type) and described in python:
        return python[described]
    name = described if isinstance(described, str) else getattr(described, "name", None)
    if not isinstance(name, str):
        name = getattr(described, "__name__", None) or str(described)
    basic = _BY_NAME.get(name.rpartition(".")[2])
    if basic is None:
        known = ", ".join(basic.name for basic in BASIC_TYPES)
        raise DTypeError(f"found the element type {described!r}, expected one of {known}")
    _described[described] = basic
    return basic


def float_bits(number: float, dtype: BasicType) -> int:
    """Returns the bits of a number in a floating-point type, rounded to the nearest, of two to the even one.

    Numbers that are too large become infinite.
    """
    if dtype.name == "bf16":
        bits = float_bits(number, fp32)
        if number != number:
            return 0x7FC0
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF
    as_float, as_bits = _FLOAT_CODES[dtype.name]
    try:
        packed = struct.pack(as_float, number)
    except OverflowError:
        packed = struct.pack(as_float, float("inf") if number > 0 else float("-inf"))
    return struct.unpack(as_bits, packed)[0]


def attribute_text(number: bool | int | float, dtype: BasicType) -> str:
    """Returns a number as MLIR writes it in an attribute of that type, without the type."""
    if dtype.kind == "b":
        return "true" if number else "false"
    if not dtype.is_float:
        return str(int(number))
    number = float(number)
    bits = float_bits(number, dtype)
    exponent = {"fp16": 0x7C00, "bf16": 0x7F80, "fp32": 0x7F800000, "fp64": 0x7FF0000000000000}[dtype.name]
    if bits & exponent == exponent:
        return f"0x{bits:0{dtype.bits // 4}X}"
    digits = repr(number)
    if "." not in digits:
        mantissa, _, power = digits.partition("e")
        digits = f"{mantissa}.0e{power}" if power else f"{mantissa}.0"
    return digits


def typed_attribute(number: bool | int | float, dtype: BasicType) -> str:
    """Returns a number as an attribute with its type, such as `1.0 : f32`."""
    text = attribute_text(number, dtype)
    return text if dtype.kind == "b" else f"{text} : {dtype.mlir}"


class _Bracketed(type):
    """Type of classes that brackets make an object of: `Scalar[T]`. Type checkers take `__class_getitem__` for generics."""

    def __getitem__(cls: type[_T], described: Any) -> _T:
        return cls._of(described)  # type: ignore[attr-defined]


class Scalar(metaclass=_Bracketed):
    """Annotation of a scalar function's parameter: `Scalar[T, ..]` has a type for each component, or one for every
    component."""

    def __init__(self, dtypes: tuple[BasicType, ...]):
        self.dtypes = dtypes

    @classmethod
    def _of(cls, dtypes: Any) -> Scalar:
        """`Scalar[dtypes]`"""
        listed = dtypes if isinstance(dtypes, tuple) else (dtypes,)
        return cls(tuple(basic_type(dtype) for dtype in listed))

    def __repr__(self) -> str:
        return f"Scalar[{', '.join(dtype.name for dtype in self.dtypes)}]"


class Buffer(metaclass=_Bracketed):
    """An array's element type, and its sizes if they are given: `Buffer[T]`, `Buffer[T, [I, K]]`."""

    def __init__(self, dtype: BasicType | None, shape: tuple[int | None, ...] | None = None):
        self.dtype = dtype
        self.shape = shape

    @classmethod
    def _of(cls, described: Any) -> Buffer:
        """`Buffer[described]`"""
        if not isinstance(described, tuple):
            return cls(basic_type(described))
        dtype, *sizes = described
        if len(sizes) == 1 and isinstance(sizes[0], Sequence):
            sizes = list(sizes[0])
        return cls(basic_type(dtype), tuple(None if size is None else int(size) for size in sizes))

    def __repr__(self) -> str:
        sizes = "" if self.shape is None else f", {list(self.shape)}"
        return f"Buffer[{self.dtype}{sizes}]"


def promote(left: BasicType, right: BasicType) -> BasicType:
    """Returns the type in which two values meet, as numpy has it.

    An index behaves like a Python integer beside floats, whose type it takes, and like 64 bits with
    a sign beside integers. Integers of more than 8 bits beside `bf16` follow those beside `fp16`.
    """
    if left == right or right.kind == "b":
        return left
    if left.kind == "b":
        return right
    if INDEX in (left, right):
        other = right if left == INDEX else left
        return other if other.is_float else INDEX
    if left.is_float and right.is_float:
        if left.bits == right.bits:
            return fp32
        return left if left.bits > right.bits else right
    if left.is_float or right.is_float:
        floating, integer = (left, right) if left.is_float else (right, left)
        enough = {8: 16, 16: 32, 32: 64, 64: 64}[integer.bits]
        return floating if floating.bits >= enough else {32: fp32, 64: fp64}[enough]
    if left.kind == right.kind:
        return left if left.bits > right.bits else right
    signed, unsigned = (left, right) if left.kind == "i" else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    return {8: int16, 16: int32, 32: int64, 64: fp64}[unsigned.bits]


def math_type(dtype: BasicType) -> BasicType:
    """Returns the type in which functions such as `exp` compute for an argument of a type, as numpy has it."""
    if dtype.is_float:
        return dtype
    return {1: fp16, 8: fp16, 16: fp32}.get(dtype.bits, fp64)
