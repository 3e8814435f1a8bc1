"""Combine operators: their text, and their laws."""

import builtins
import math
import operator as stdlib_operator

import numpy
import pytest

from mdh import *
from mdh.emit import einsum_region
from mdh.combination import combination
from mdh.operators import as_operator
from mdh.types import basic_type

ARITHMETIC = [add, mul, min, max, and_, or_, xor]


def clause(operator, *dtypes, dimensions=1):
    """Operators in the text of a computation."""
    return combination(as_operator(operator), [basic_type(dtype) for dtype in dtypes], dimensions)


@pytest.mark.parametrize(
    "operator, names",
    [
        (add, ["addf", "addi", "addi"]),
        (mul, ["mulf", "muli", "muli"]),
        (min, ["minimumf", "minsi", "minui"]),
        (max, ["maximumf", "maxsi", "maxui"]),
        (and_, [None, "andi", "andi"]),
        (or_, [None, "ori", "ori"]),
        (xor, [None, "xori", "xori"]),
        (lambda a, b: b + a, ["addf", "addi", "addi"]),
        (builtins.max, ["maximumf", "maxsi", "maxui"]),
        (stdlib_operator.mul, ["mulf", "muli", "muli"]),
        (lambda a, b: maximum(a, b), ["maximumf", "maxsi", "maxui"]),
    ],
)
def test_built_in_functions_are_recognised(operator, names):
    for name, dtype in zip(names, ["fp32", "int32", "uint8"]):
        if name is not None:
            result = clause(operator, dtype)
            assert (result.function, result.region) == (name, ())


def test_truth_values():
    assert clause(add, "bool").function == "ori" and clause(mul, "bool").function == "andi"
    assert clause(max, "bool").function == "maxui"


def test_two_components():
    assert clause(lambda a, b: (a[0] + b[0], maximum(a[1], b[1])), "fp32", "int32").function == "addf, maxsi"
    assert clause(pw(add, max).operator, "fp32", "uint8").function == "addf, maxui"


def test_regions():
    saturate = combine_operator(lambda a, b: where(a + b < a, 255, a + b), commutative=True, neutral=0, name="saturate")
    result = clause(saturate, "uint8", dimensions=2)
    assert result.function == "saturate"
    assert result.region[0] == "combine saturate commutative associative neutral(0 : i8) (%left0: i8, %right0: i8) {"
    assert "cmpi ult" in "".join(result.region)


def test_symmetric_functions_are_proved_to_commute():
    result = clause(combine_operator(lambda a, b: (a + b) + a * b, name="odd"), "int32", dimensions=2)
    assert result.region[0].startswith("combine odd commutative associative (")


def test_what_is_not_stated_is_not_declared():
    result = clause(combine_operator(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), name="then"), "int64", "int64")
    assert result.region[0].startswith("combine then associative (")


def test_several_dimensions_need_a_commutative_function():
    then = combine_operator(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), name="then")
    with pytest.raises(ProgramError, match="'then' is not commutative: several.*a.b = b.a does not hold for a = "):
        clause(then, "int64", "int64", dimensions=2)
    with pytest.raises(ProgramError, match="declared not commutative"):
        clause(combine_operator(lambda a, b: where(a < b, a, b), commutative=False), "int32", dimensions=2)
    # Nothing was said, and no value shows that it does not commute.
    assert "commutative" in clause(lambda a, b: where(a < b, a, b), "int32", dimensions=2).region[0]


@pytest.mark.parametrize(
    "operator, dtypes, message",
    [
        (lambda a, b: (a, b), ("fp32",), "found 2 results"),
        (lambda a, b: a / b, ("int32",), "result of fp64.*component of int32"),
        (lambda a, b: a if a > b else b, ("fp32",), "Python branch"),
        (lambda a, b: index(0), ("fp32",), "operators and index functions do not have it"),
        (argmax, ("fp32",), "expected two: a value and its position"),
        (pw(add, max).operator, ("fp32",), "found 2 operators for 1 components"),
    ],
)
def test_mistakes(operator, dtypes, message):
    with pytest.raises(TraceError, match=message):
        clause(operator, *dtypes)


@pytest.mark.parametrize("neutral", ["0", [0], 1j, numpy.zeros(3)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_neutral_elements_are_numbers(neutral, dtype):
    with pytest.raises(ProgramError, match="found the neutral element .* expected one of its numbers"):
        clause(combine_operator(lambda a, b: a + b, neutral=neutral), dtype)


def test_neutral_elements_have_all_components():
    with pytest.raises(ProgramError, match="neutral element of 1 components.*combines 2"):
        clause(combine_operator(lambda a, b: a, neutral=0), "int32", "int32")


def test_published_operators_need_outputs():
    with pytest.raises(ProgramError, match="names outputs of an out_view"):
        clause(pw_custom_func()(lambda res, lhs, rhs: None), "fp32")


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "fp64", "int8", "int64", "uint8", "uint64", "bool"])
@pytest.mark.parametrize("operator", ARITHMETIC)
def test_laws_of_built_in_operators(operator, dtype):
    if basic_type(dtype).is_float and operator in (and_, or_, xor):
        return
    assert check_laws(operator, dtype, 2000) == []


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "fp64"])
def test_laws_of_logaddexp(dtype):
    assert check_laws(logaddexp, dtype, 2000) == []


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "int8", "uint32"])
@pytest.mark.parametrize("operator", [argmin, argmax])
def test_laws_of_positions(operator, dtype):
    assert check_laws(operator, (dtype, "int64"), 4000) == []


@pytest.mark.parametrize(
    "operator, dtype, laws",
    [
        (
            combine_operator(lambda a, b: a - b, commutative=True, neutral=0),
            "int32",
            ["associative", "commutative", "neutral"],
        ),
        (combine_operator(lambda a, b: a - b), "fp32", ["associative"]),
        (combine_operator(lambda a, b: a, commutative=True), "fp32", ["commutative"]),
        (combine_operator(lambda a, b: where(a > b, a, b), commutative=True), "fp32", ["associative", "commutative"]),
        (combine_operator(lambda a, b: maximum(a, b), neutral=0), "fp32", ["neutral"]),
        (lambda a, b: (a + b) / 2, "fp64", ["associative"]),
    ],
)
def test_broken_laws_have_counterexamples(operator, dtype, laws):
    result = check_laws(operator, dtype, 2000, seed=3)
    assert [example.law for example in result] == laws
    assert all("does not hold for a = " in str(example) for example in result)


def test_nan_is_among_the_values_unless_it_is_not_wanted():
    larger = combine_operator(lambda a, b: where(a > b, a, b), commutative=True)
    assert check_laws(larger, "fp32", 2000, special=False) == []
    broken = check_laws(larger, "fp32", 2000)
    assert any(math.isnan(value) for example in broken for (value,) in example.operands)


def test_laws_are_tested_on_the_same_values_again():
    operator = combine_operator(lambda a, b: a - b)
    assert str(check_laws(operator, "fp32", 100, 7)) == str(check_laws(operator, "fp32", 100, 7))


def test_regions_of_einsums():
    assert einsum_region(add, "float32", 2) == (
        "commutative associative neutral(0.0 : f32) (%x0: f32, %x1: f32) {\n"
        "  %add = arith.addf %x0, %x1 : f32\n  mdh.yield %add : f32\n}"
    )
    then = combine_operator(lambda a, b: where(a < b, a - b, a))
    assert einsum_region(then, "int8", 2).startswith("associative (%x0: i8, %x1: i8) {\n")
    three = einsum_region(lambda a, b, c: a * b - c, "float64", 3)
    assert three.startswith("(%x0: f64, %x1: f64, %x2: f64) {\n") and three.count("arith") == 2
    with pytest.raises(DTypeError, match="complex64"):
        einsum_region(add, "complex64", 2)
    with pytest.raises(TraceError, match="Python branch"):
        einsum_region(lambda a, b, c: a if b else c, "float32", 3)


@pytest.mark.runs
def test_a_product_of_matrices_in_order():
    """Composition of affine functions, which does not commute, along one of two dimensions."""

    @combine_operator(neutral=(1, 0))
    def then(first, second):
        return first[0] * second[0], second[0] * first[1] + second[1]

    @mdh(out(a=Buffer[int64], b=Buffer[int64]), inp(p=Buffer[int64], q=Buffer[int64]), combine_ops(cc, pw(then)))
    def composed(a, b, p, q):
        for i in range(3):
            for k in range(7):
                a[i] = p[i, k]
                b[i] = q[i, k]

    p, q = numpy.random.default_rng(0).integers(-3, 3, (2, 3, 7))
    a, b = composed(p, q)
    for i in range(3):
        scale, shift = 1, 0
        for k in range(7):
            scale, shift = scale * p[i, k], p[i, k] * shift + q[i, k]
        assert (a[i], b[i]) == (scale, shift)
