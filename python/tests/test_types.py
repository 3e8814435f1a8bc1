"""Element types: names, numpy's and MLIR's, promotion, constants."""

import itertools

import numpy
import pytest

from mdh import types
from mdh.errors import DTypeError
from mdh.types import (
    Buffer,
    Scalar,
    attribute_text,
    basic_type,
    bf16,
    bool_,
    fp16,
    fp32,
    fp64,
    int8,
    int32,
    promote,
    uint8,
)

NUMPY = [basic for basic in types.BASIC_TYPES if basic is not bf16]


@pytest.mark.parametrize("basic", NUMPY)
def test_numpy_and_back(basic):
    assert basic_type(basic.to_numpy()) is basic
    assert basic_type(basic.to_numpy().type) is basic
    assert basic_type(basic.name) is basic
    assert basic.to_numpy().itemsize * 8 == max(basic.bits, 8)


@pytest.mark.parametrize("left, right", list(itertools.product(NUMPY, NUMPY)))
def test_promotion_is_numpys(left, right):
    assert promote(left, right).to_numpy() == numpy.promote_types(left.to_numpy(), right.to_numpy())


@pytest.mark.parametrize("basic", NUMPY)
def test_types_of_functions_are_numpys(basic):
    assert types.math_type(basic).to_numpy() == numpy.exp(numpy.ones(1, basic.to_numpy())).dtype


def test_bf16_and_indices():
    assert promote(bf16, fp16) is fp32 and promote(bf16, fp64) is fp64 and promote(bf16, int8) is bf16
    assert promote(types.INDEX, fp16) is fp16 and promote(uint8, types.INDEX) is types.INDEX


@pytest.mark.parametrize(
    "described, basic",
    [("torch.float32", fp32), (float, fp64), (bool, bool_), ("half", fp16), ("f32", fp32), ("i8", int8), ("i1", bool_)],
)
def test_other_names(described, basic):
    assert basic_type(described) is basic


def test_unknown_type():
    with pytest.raises(DTypeError, match="complex64.*expected one of fp16"):
        basic_type("complex64")


def test_annotations():
    assert Scalar[fp32, int8].dtypes == (fp32, int8)
    assert (
        Buffer[fp32, [3, 4]].shape == (3, 4) and Buffer[fp32, 3, None].shape == (3, None) and Buffer[fp32].shape is None
    )


@pytest.mark.parametrize(
    "number, dtype, text",
    [
        (1, fp32, "1.0"),
        (1e-30, fp32, "1.0e-30"),
        (float("inf"), fp32, "0x7F800000"),
        (float("-inf"), fp64, "0xFFF0000000000000"),
        (1e6, fp16, "0x7C00"),
        (float("inf"), bf16, "0x7F80"),
        (-0.0, fp32, "-0.0"),
        (True, bool_, "true"),
        (-3, int32, "-3"),
    ],
)
def test_constants_as_mlir_writes_them(number, dtype, text):
    assert attribute_text(number, dtype) == text


def test_bits_of_floats_are_numpys():
    numbers = numpy.random.default_rng(0).standard_normal(200) * 10.0 ** numpy.arange(-100, 100)
    with numpy.errstate(over="ignore"):
        for number in numbers:
            assert types.float_bits(number, fp16) == numpy.float16(number).view("uint16")
            assert types.float_bits(number, fp32) == numpy.float32(number).view("uint32")
