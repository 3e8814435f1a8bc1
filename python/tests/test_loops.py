"""Annotated loops: what is read of them, and every mistake with its line."""

import numpy
import pytest

from mdh import *

random = numpy.random.default_rng(2)


def loops(*combines, y=fp32, x=fp32):
    """The decorator for an output y and an input x."""
    return mdh(out(y=Buffer[y]), inp(x=Buffer[x]), combine_ops(*combines))


SIZE = 6


def test_bounds_are_those_of_the_scope():
    @loops(cc)
    def shifted(y, x):
        """Three elements, from the second one on."""
        for i in range(1, SIZE, 2):
            y[i // 2] = x[i]

    text = shifted.text()
    assert "(i = 1 to 6 step 2)" in text and "%y_init[i floordiv 2]" in text.replace("(", "").replace(")", "")
    assert shifted.__doc__.startswith("Three")


def test_sizes_of_arrays():
    @loops(cc)
    def stencil(y, x):
        for i in range(1, len(x) - 1):
            y[i - 1] = x[i - 1] + x[i + 1]

    assert "(i = 1 to 9)" in stencil.text(numpy.zeros(10, "float32"))
    with pytest.raises(ShapeError, match="sizes of 'x' are not known"):
        stencil.text()


def test_open_sizes_follow_from_arrays():
    @mdh(out(w=Buffer[fp32]), inp(M=Buffer[fp32], v=Buffer[fp32]), combine_ops(cc, pw(add)))
    def matvec(w, M, v):
        for i in range(None):
            for k in range(None):
                w[i] = M[i, k] * v[k]

    assert "(i = 3, k = 5)" in matvec.text(numpy.zeros((3, 5), "float32"), numpy.zeros(5, "float32"))
    with pytest.raises(ShapeError, match="dimension 'k' has 4 points since 'v'.*but 5 since 'M'"):
        matvec.text(numpy.zeros((3, 5), "float32"), numpy.zeros(4, "float32"))
    with pytest.raises(ShapeError, match="size of dimension 'i' follows from no array"):
        matvec.text()


def test_inner_loops_and_functions_are_executed():
    def square(e):
        return e * e

    @loops(cc)
    def powers(y, x):
        for i in range(4):
            total = 0
            for offset in range(3):
                total = total + square(x[i + offset])
            y[i] = total

    text = powers.text()
    assert "x = %x[i][i + 1][i + 2] : tensor<6xf32>" in text and text.count("arith.mulf") == 3


def test_an_access_is_one_component():
    @loops(cc)
    def twice(y, x):
        for i in range(4):
            y[i] = x[i] * x[i]

    assert "x = %x[i] :" in twice.text()


def test_several_outputs_and_accesses():
    @mdh(out(a=Buffer[fp32], b=Buffer[fp32]), inp(x=Buffer[fp32]), combine_ops(cc))
    def deal(b, x, a):
        for i in range(4):
            b[2 * i] = x[i]
            a[i] = -x[i]
            b[2 * i + 1] = 2 * x[i]

    text = deal.text()
    assert "out_view(a = %a_init[i] : tensor<4xf32>, b = %b_init[2 * i][2 * i + 1] : tensor<8xf32>)" in text
    assert "tensor.empty() : tensor<8xf32>" in text


@pytest.mark.runs
def test_order_of_arrays_is_that_of_the_function():
    @mdh(out(a=Buffer[fp32], b=Buffer[fp32]), inp(x=Buffer[fp32]), combine_ops(cc))
    def deal(b, x, a):
        for i in range(4):
            b[2 * i] = x[i]
            a[i] = -x[i]
            b[2 * i + 1] = 2 * x[i]

    x, a, b = numpy.arange(4, dtype="float32"), numpy.zeros(4, "float32"), numpy.zeros(8, "float32")
    deal.run(b, x, a)
    assert (a == -x).all() and (b[::2] == x).all() and (b[1::2] == 2 * x).all()
    first, second = deal(x)
    assert (first == a).all() and (second == b).all()


@pytest.mark.runs
def test_elements_that_are_not_written():
    @mdh(out(y=Buffer[int32, [9]]), inp(x=Buffer[int32]), combine_ops(cc))
    def every_other(y, x):
        for i in range(4):
            y[2 * i] = x[i]

    x = numpy.arange(1, 5, dtype="int32")
    assert every_other(x).tolist() == [1, 0, 2, 0, 3, 0, 4, 0, 0]
    y = numpy.full(9, 7, "int32")
    every_other(x, out=y)
    assert y.tolist() == [1, 7, 2, 7, 3, 7, 4, 7, 7]


@pytest.mark.runs
def test_indices_are_values():
    @mdh(out(y=Buffer[fp32]), inp(x=Buffer[fp32]), combine_ops(cc, pw(add)))
    def lower(y, x):
        for i in range(5):
            for k in range(5):
                y[i] = where(k <= i, x[i, k] * (i + k), 0)

    x = random.integers(-5, 5, (5, 5)).astype("float32")
    weights = numpy.add.outer(numpy.arange(5), numpy.arange(5))
    numpy.testing.assert_array_equal(lower(x), (numpy.tril(x) * weights).sum(axis=1))


def mistake(function, message, *combines, line=None, arrays=()):
    """Expects an error that has the line, which a comment marks, and its text."""
    with pytest.raises(Error, match=message) as raised:
        computation = loops(*(combines or (cc,)))(function)
        computation.text(*arrays)
    shown = str(raised.value)
    assert shown.startswith(f"{__file__}:"), shown
    assert "# here" in shown.splitlines()[-1], shown


def test_no_loop():
    def f(y, x):
        y[0] = x[0]  # here

    mistake(f, "found 0 nested loops, expected 1")


def test_too_few_loops():
    def f(y, x):
        for i in range(4):
            y[i] = x[i]  # here

    mistake(f, "found 1 nested loops, expected 2", cc, pw(add))


def test_imperfect_nest():
    def f(y, x):
        for i in range(4):
            total = 0  # here
            for k in range(4):
                y[i] = total + x[i, k]

    mistake(f, "a statement beside a loop, expected a perfect nest", cc, pw(add))


def test_two_nests():
    def f(y, x):
        for i in range(4):
            y[i] = x[i]
        for i in range(4):  # here
            y[i] = x[i]

    mistake(f, "a statement beside a loop")


def test_other_iterables():
    def f(y, x):
        for i in x:  # here
            y[i] = x[i]

    mistake(f, r"a loop over x, expected range\(stop\)")


def test_else():
    def f(y, x):
        for i in range(3):
            y[i] = x[i]
        else:
            pass  # here

    mistake(f, "'else' of a loop")


def test_triangular_bounds():
    def f(y, x):
        for i in range(3):
            for k in range(i):  # here
                y[i] = x[i, k]

    mistake(f, "range that depends on 'i'.*mdh.where", cc, pw(add))


def test_bounds_that_are_no_integers():
    def f(y, x):
        for i in range(2.5):  # here
            y[i] = x[i]

    mistake(f, "bound 2.5 of 'i', expected an integer")


def test_backward_steps():
    def f(y, x):
        for i in range(9, 0, -1):  # here
            y[i] = x[i]

    mistake(f, "step -1 of 'i'")


def test_return():
    def f(y, x):
        for i in range(4):
            return x[i]  # here

    mistake(f, "'return' in the loops")


def test_augmented_assignment():
    def f(y, x):
        for i in range(4):
            y[i] += x[i]  # here

    mistake(f, "combine_ops says how")


def test_assignment_to_an_input():
    def f(y, x):
        for i in range(4):
            x[i] = y[i]  # here

    mistake(f, "found a use of 'y', which is an output")


def test_written_input():
    def f(y, x):
        for i in range(4):
            x[i] = 1.0  # here

    mistake(f, "assignment to 'x', which is an input")


def test_no_assignment():
    def f(y, x):
        for i in range(4):  # here
            x[i]

    mistake(f, "nothing is assigned to the output 'y'")


def test_index_functions_that_are_not_affine():
    def f(y, x):
        for i in range(4):
            y[i] = x[i * i]  # here

    mistake(f, "a product of two expressions of dimensions in an index function of 'x'")


def test_gathers():
    def f(y, x):
        for i in range(4):
            y[i] = x[cast(x[i], int64)]  # here

    mistake(f, "the value of an array in an index function of 'x'")


def test_true_division():
    def f(y, x):
        for i in range(4):
            y[i] = x[i / 2]  # here

    mistake(f, "write // for a whole number")


def test_slices():
    def f(y, x):
        for i in range(4):
            y[i] = x[:]  # here

    mistake(f, "a slice of 'x'")


def test_numbers_of_indices():
    def f(y, x):
        for i in range(4):
            y[i] = x[i] + x[i, i]  # here

    mistake(f, "found 2 indices of 'x', which has 1 elsewhere")


def test_branches():
    def f(y, x):
        for i in range(4):
            if x[i] > 0:  # here
                y[i] = x[i]

    mistake(f, "Python branch")


def test_same_variable_twice():
    def f(y, x):
        for i in range(4):
            for i in range(4):  # here
                y[i] = x[i]

    mistake(f, "loop variable 'i', which is the name of something else", cc, cc)


def test_buffers_that_are_not_declared():
    def f(y, x, z):  # here
        for i in range(4):
            y[i] = x[i]

    mistake(f, "parameter 'z' of 'f' in neither")


def test_outputs_along_combined_dimensions():
    @loops(pw(add))
    def f(y, x):
        for i in range(4):
            y[i] = x[i]

    with pytest.raises(ProgramError, match="output 'y' is indexed by dimension 'i', which pw combines"):
        f.text()


def test_negative_indices():
    @loops(cc)
    def f(y, x):
        for i in range(4):
            y[i] = x[i - 1]

    with pytest.raises(ProgramError, match="reads input 'x' at -1 in axis 0"):
        f.text()


def test_types_and_shapes_of_arrays():
    @loops(cc)
    def f(y, x):
        for i in range(4):
            y[i] = x[i]

    with pytest.raises(DTypeError, match="found fp64 elements of 'x', expected fp32"):
        f.text(numpy.zeros(4))
    with pytest.raises(ShapeError, match="size 5 of 'x' in axis 0, expected 4: it is indexed by i"):
        f.text(numpy.zeros(5, "float32"))
    with pytest.raises(ShapeError, match="found 2 axes of 'x', expected 1"):
        f.text(numpy.zeros((4, 1), "float32"))
    with pytest.raises(DTypeError, match="found list for 'x'"):
        f.text([1, 2, 3, 4])
    with pytest.raises(ShapeError, match="found 3 inputs of 'f', expected 1: x"):
        f(1, 2, 3)


def test_declared_sizes():
    @mdh(out(y=Buffer[fp32, [4]]), inp(x=Buffer[fp32, [6]]), combine_ops(cc))
    def f(y, x):
        for i in range(4):
            y[i] = x[i + 1]

    assert "tensor<6xf32>" in f.text()
    with pytest.raises(ShapeError, match=r"found the sizes \[7\] of 'x', expected \[6\]"):
        f.text(numpy.zeros(7, "float32"))
