"""The algebra's functions beside the published programs: open sizes and types, views, mistakes."""

import numpy
import pytest

from mdh import *

random = numpy.random.default_rng(3)


def test_sizes_and_types_of_arrays():
    @mdh()
    def matmul():
        return (
            out_view(C=[lambda i, j, k: (i, j)]),
            md_hom(mul, (cc, cc, pw(add))),
            inp_view(A=[lambda i, j, k: (i, k)], B=[lambda i, j, k: (k, j)]),
        )

    text = matmul.text(numpy.zeros((2, 3), "float16"), numpy.zeros((3, 4), "float32"))
    assert "(i = 2, j = 4, k = 3)" in text and "tensor<2x4xf32>" in text and "arith.extf" in text
    with pytest.raises(DTypeError, match="element type of 'A' is not known"):
        matmul.text()


def test_sizes_of_windows():
    @mdh()
    def windows():
        return (
            out_view[fp32](y=[lambda p, r: (p,)]),
            md_hom(mul, (cc, pw(add))),
            inp_view[fp32](x=[lambda p, r: (2 * p + r,)], w=[lambda p, r: (r,)]),
        )

    assert "(p = 4, r = 3)" in windows.text(numpy.zeros(10, "float32"), numpy.zeros(3, "float32"))


def test_scalars_are_buffers_without_axes():
    @mdh()
    def axpy():
        return (
            out_view[fp32](z=[lambda i: i]),
            md_hom[4](lambda a, x, y: a * x + y, cc),
            inp_view[fp32](a=[lambda i: ()], x=[lambda i: i], y=[lambda i: i]),
        )

    text = axpy.text()
    assert "%a: f32" in text and "a = %a[] : f32" in text


@pytest.mark.runs
def test_scalar_arguments():
    @mdh()
    def axpy():
        return (
            out_view[fp32](z=[lambda i: i]),
            md_hom[4](lambda a, x, y: a * x + y, cc),
            inp_view[fp32](a=[lambda i: ()], x=[lambda i: i], y=[lambda i: i]),
        )

    x, y = random.standard_normal((2, 4)).astype("float32")
    numpy.testing.assert_allclose(axpy(2.5, x, y), numpy.float32(2.5) * x + y, rtol=1e-6)
    numpy.testing.assert_allclose(axpy(2.5, y=y, x=x), numpy.float32(2.5) * x + y, rtol=1e-6)


def test_floor_division_and_remainder():
    @mdh()
    def blocks():
        return (
            out_view[fp32](y=[lambda i: (i // 4, i % 4)]),
            md_hom[12](identity, cc),
            inp_view[fp32](x=[lambda i: i]),
        )

    assert "[i floordiv 4, i mod 4] : tensor<3x4xf32>" in blocks.text().replace(
        "(i floordiv 4)", "i floordiv 4"
    ).replace("(i mod 4)", "i mod 4")


@pytest.mark.runs
def test_reshape():
    @mdh()
    def blocks():
        return (
            out_view[fp32](y=[lambda i: (i // 4, i % 4)]),
            md_hom[12](identity, cc),
            inp_view[fp32](x=[lambda i: 11 - i]),
        )

    x = random.standard_normal(12).astype("float32")
    numpy.testing.assert_array_equal(blocks(x), x[::-1].reshape(3, 4))


@pytest.mark.runs
def test_no_inputs():
    @mdh()
    def mandelbrot():
        @scalar_function()
        def escape(out: Scalar[int32], inp):
            c_re, c_im = index("x") / 15 - 2, index("y") / 10 - 1
            re, im, count = 0.0, 0.0, 0
            for _ in range(10):
                inside = re * re + im * im <= 4
                count = count + where(inside, 1, 0) if not isinstance(inside, bool) else count + 1
                re, im = re * re - im * im + c_re, 2 * re * im + c_im
            out["count"] = count

        return out_view[int32](count=[lambda y, x: (y, x)]), md_hom[21, 40](escape, (cc, cc)), inp_view()

    c = (numpy.arange(40) / 15 - 2)[None, :] + 1j * (numpy.arange(21) / 10 - 1)[:, None]
    z, count = numpy.zeros_like(c), numpy.zeros(c.shape, int)
    with numpy.errstate(all="ignore"):
        for _ in range(10):
            count += z.real * z.real + z.imag * z.imag <= 4
            z = z.real * z.real - z.imag * z.imag + c.real + 1j * (2 * z.real * z.imag + c.imag)
    assert (mandelbrot() != count).mean() < 0.01


def test_components_may_be_wider_than_what_is_stored():
    @mdh()
    def total():
        @scalar_function()
        def widen(out: Scalar[fp32], inp: Scalar[fp16]):
            out["y"] = inp["x"]

        return out_view[fp16](y=[lambda i: ()]), md_hom[9](widen, pw(add)), inp_view[fp16](x=[lambda i: i])

    text = total.text()
    assert "arith.extf %v0_x : f16 to f32" in text and "mdh.yield %extf : f32" in text and "-> tensor<f16>" in text


@pytest.mark.runs
def test_wide_sums():
    @mdh()
    def total():
        @scalar_function()
        def widen(out: Scalar[fp32], inp: Scalar[fp16]):
            out["y"] = inp["x"]

        return out_view[fp16](y=[lambda i: ()]), md_hom(widen, pw(add)), inp_view[fp16](x=[lambda i: i])

    assert total(numpy.array([2048, 1, 1], "float16")) == 2050


def triple(out=None, hom=None, inp=None):
    """A computation with one part changed."""

    @mdh()
    def f():
        return (
            (out or (lambda: out_view[fp32](y=[lambda i, k: i])))(),
            (hom or (lambda: md_hom[3, 4](identity, (cc, pw(add)))))(),
            (inp or (lambda: inp_view[fp32](x=[lambda i, k: (i, k)])))(),
        )

    return f.text()


@pytest.mark.parametrize(
    "parts, message",
    [
        ({"hom": lambda: md_hom[3](identity, (cc, pw(add)))}, "found 1 sizes and 2 combine operators"),
        ({"hom": lambda: md_hom[3, 4](identity, (cc, add))}, "expected cc, pw"),
        ({"hom": lambda: md_hom[3, -4](identity, (cc, pw(add)))}, "size -4"),
        ({"hom": lambda: md_hom[3, 4](identity, (pw(mul), pw(add)))}, "index"),
        ({"hom": lambda: md_hom[3, 4](lambda x, y: x, (cc, pw(add)))}, "does not take the 1 components"),
        ({"hom": lambda: md_hom[3, 4](lambda x: (x, x), (cc, pw(add)))}, "found 2 results"),
        ({"out": lambda: out_view[fp32](y=[lambda i: i])}, "index function of 1 dimensions"),
        ({"out": lambda: out_view[fp32](y=[])}, "no index function"),
        ({"out": lambda: out_view[fp32](y=[3])}, "found 3 for the buffer 'y'"),
        ({"out": lambda: out_view[fp32](x=[lambda i, k: i])}, "'x' as an output and as an input"),
        ({"out": lambda: out_view[fp32, fp32, fp32](y=[lambda i, k: i], z=[lambda i, k: i])}, "found 3 types"),
        ({"inp": lambda: inp_view[fp32](x=[lambda i, k: (i * k, k)])}, "product of two expressions"),
        ({"inp": lambda: inp_view[fp32](x=[lambda i, k: (i, k), lambda i, k: i])}, "different numbers of axes"),
        ({"inp": lambda: inp_view[fp32](x=[lambda i, k: (i / 2, k)])}, "write //"),
        ({"inp": lambda: inp_view[fp32](x=[lambda i, k: (i, k // i)])}, "positive constant"),
        ({"inp": lambda: inp_view[fp32](x=[lambda i, k: ("a", k)])}, "'a' of type str"),
        ({"inp": lambda: out_view[fp32](x=[lambda i, k: (i, k)])}, r"found \(out_view, md_hom, out_view\)"),
    ],
)
def test_mistakes(parts, message):
    with pytest.raises(Error, match=message):
        triple(**parts)


def test_two_operators():
    @mdh()
    def f():
        return (
            out_view[fp32](y=[lambda i, k: ()]),
            md_hom[3, 4](identity, (pw(mul), pw(add))),
            inp_view[fp32](x=[lambda i, k: (i, k)]),
        )

    with pytest.raises(ProgramError, match="operators 'mul' and 'add' in one md_hom.*applied first"):
        f.text()


def test_names_of_buffers_in_functions():
    def published(body):
        @mdh()
        def f():
            def g(out, inp):
                body(out, inp)

            return (
                out_view[fp32](y=[lambda i: i]),
                md_hom[3](g, cc),
                inp_view[fp32](x=[lambda i: i, lambda i: i + 1], c=[lambda i: ()]),
            )

        return f.text()

    def assign(out, inp):
        out["y"] = inp["x", 1] + inp["x", 2] * inp["c"]

    assert "arith.addf" in published(assign)
    cases = [
        (lambda out, inp: inp["z"], "found inp\\['z'\\], expected one of the buffers 'x', 'c'"),
        (lambda out, inp: inp["x"], "with k from 1 to 2"),
        (lambda out, inp: inp["x", 0], "with k from 1 to 2"),
        (lambda out, inp: out["y"], "before it is assigned"),
        (lambda out, inp: inp.__setitem__("c", 1), "read only"),
        (lambda out, inp: None, "nothing is assigned to out\\['y'\\]"),
    ]
    for body, message in cases:
        with pytest.raises(TraceError, match=message) as raised:
            published(body)
        assert str(raised.value).startswith(f"{__file__}:")


def test_decorators_with_wrong_parts():
    with pytest.raises(ProgramError, match="expected out"):
        mdh(3)
    with pytest.raises(ProgramError, match="without combine_ops"):

        @mdh(out(y=Buffer[fp32]), inp(x=Buffer[fp32]))
        def f(y, x):
            pass

    with pytest.raises(ProgramError, match="expected Buffer"):
        out(y=3)


def test_names_that_mean_something_in_mlir():
    @mdh()
    def step():
        return (
            out_view[fp32](to=[lambda mod, é: (mod, é)]),
            md_hom[3, 4](identity, (cc, cc)),
            inp_view[fp32](mod=[lambda mod, é: (mod, é)]),
        )

    text = step.text()
    assert "(mod_ = 3, ue9 = 4)" in text and "to_ = %to__init" in text and "mod__1 = %mod__1" in text


@pytest.mark.runs
def test_names_are_accepted():
    @mdh()
    def step():
        return (
            out_view[fp32](to=[lambda mod, é: (mod, é)]),
            md_hom[3, 4](identity, (cc, cc)),
            inp_view[fp32](mod=[lambda mod, é: (mod, é)]),
        )

    x = random.standard_normal((3, 4)).astype("float32")
    numpy.testing.assert_array_equal(step(x), x)
