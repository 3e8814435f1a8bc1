"""Published programs, accepted as they are written, in the forms of the papers and of the project's page."""

# The programs are laid out as they are published.
# fmt: off

import sys

import numpy
import pytest

from mdh import *

random = numpy.random.default_rng(1)


def matvec(T: BasicType, I: int, K: int):
    @mdh()
    def mdh_matvec():
        @scalar_function()
        def mul(out: Scalar[T], inp: Scalar[T, T]):
            out['w'] = inp['M'] * inp['v']

        @pw_custom_func()
        def add(res, lhs, rhs):
            res['w'] = lhs['w'] + rhs['w']

        return (
            out_view[T]( w = [lambda i,k: (i)] ),
              md_hom[I,K]( mul, (cc, pw(add)) ),
                inp_view[T,T]( M = [lambda i,k: (i,k)],
                               v = [lambda i,k: (k)  ] )
        )

    return mdh_matvec


def matvec_declared(T: ScalarType, I: int, K: int):
    @mdh( out( w = Buffer[T, [I]] ) ,
          inp( M = Buffer[T, [I, K]], v = Buffer[T, [K]] ) )
    def mdh_matvec():
        def mul(out, inp):
            out['w'] = inp['M'] * inp['v']

        def scalar_plus(res, lhs, rhs):
            res['w'] = lhs['w'] + rhs['w']

        return (
            out_view[T]( w = [lambda i, k: (i)] ),
            md_hom[I, K]( mul, ( CC, PW(scalar_plus) ) ),
            inp_view[T, T]( M = [lambda i, k: (i, k)] ,
                            v = [lambda i, k: (k)   ] )
        )

    return mdh_matvec


def matvec_loops(T: BasicType, I: int, K: int):
    @mdh( out( w = Buffer[T]                ),
          inp( M = Buffer[T], v = Buffer[T] ),
          combine_ops( cc, pw(add)          ) )
    def mdh_matvec(w, M, v):
        for i in range(I):
            for k in range(K):
                w[i] = M[i,k] * v[k]

    return mdh_matvec


def matvec_by_names(T: BasicType, I: int, K: int):
    @mdh()
    def mdh_matvec():
        return (out_view[T]( w = [lambda i,k: (i)] ),
                md_hom[I,K]( mul, (cc, pw(add)) ),
                inp_view[T,T]( M = [lambda i,k: (i,k)], v = [lambda i,k: (k)] ))

    return mdh_matvec


MATVECS = [matvec, matvec_declared, matvec_loops, matvec_by_names]


@pytest.mark.parametrize("made", MATVECS)
def test_matvec_is_one_computation_of_built_in_functions(made):
    text = made(fp32, 4, 5).text()
    assert "mdh.compute (i = 4, k = 5)" in text
    assert "(cc, pw(addf))" in text
    assert "out_view(w = %w_init[i] : tensor<4xf32>)" in text
    assert "inp_view(M = %M[i, k] : tensor<4x5xf32>, v = %v[k] : tensor<5xf32>)" in text
    assert text.count("arith.mulf") == 1 and "combine " not in text


@pytest.mark.runs
@pytest.mark.parametrize("made", MATVECS)
def test_matvec(made):
    M, v = random.standard_normal((12, 7)).astype("float32"), random.standard_normal(7).astype("float32")
    computation = made(fp32, 12, 7)
    numpy.testing.assert_allclose(computation(M, v), M @ v, rtol=1e-5, atol=1e-5)
    w = numpy.full(12, numpy.nan, "float32")
    module = mdhc.compile(computation=computation, backend=CPU(), tuner=None)
    module.run(w, M, v)
    numpy.testing.assert_allclose(w, M @ v, rtol=1e-5, atol=1e-5)
    module.destroy()
    with pytest.raises(ProgramError, match="after destroy"):
        module.run(w, M, v)


def jacobi1d(T: BasicType, N: int):
    @mdh()
    def mdh_jacobi1d():
        @scalar_function()
        def j1d(out: Scalar[T], inp: Scalar[T, T, T]):
            out['y'] = (inp['x', 1] + inp['x', 2] + inp['x', 3]) / 3

        return (
            out_view[T]( y = [lambda i: (i)] ),
            md_hom[N]( j1d, (cc) ),
            inp_view[T]( x = [lambda i: (i + 0), lambda i: (i + 1), lambda i: (i + 2)] )
        )

    return mdh_jacobi1d


def test_accesses_of_one_buffer_are_components():
    text = jacobi1d(fp64, 10).text()
    assert "x = %x[i][i + 1][i + 2] : tensor<12xf64>" in text


@pytest.mark.runs
def test_jacobi1d():
    x = random.standard_normal(42)
    numpy.testing.assert_allclose(jacobi1d(fp64, 40)(x), (x[:-2] + x[1:-1] + x[2:]) / 3)


def matmul(T: BasicType, I: int, J: int, K: int, is_transposed: bool = False):
    @mdh()
    def mdh_matmul():
        written = (lambda i, j, k: (j, i)) if is_transposed else (lambda i, j, k: (i, j))
        return (
            out_view[T]( C = [written] ),
            md_hom[I, J, K]( mul, (cc, cc, pw(add)) ),
            inp_view[T, T]( A = [lambda i, j, k: (i, k)], B = [lambda i, j, k: (k, j)] )
        )

    return mdh_matmul


@pytest.mark.runs
def test_matmul_and_its_transpose():
    A, B = random.integers(-9, 9, (4, 5)).astype("int32"), random.integers(-9, 9, (5, 6)).astype("int32")
    numpy.testing.assert_array_equal(matmul(int32, 4, 6, 5)(A, B), A @ B)
    numpy.testing.assert_array_equal(matmul(int32, 4, 6, 5, True)(A, B), (A @ B).T)


def convolution(T: BasicType, P: int, Q: int, R: int, S: int, stride: int):
    @mdh()
    def mdh_conv2d():
        return (
            out_view[T]( y = [lambda p, q, r, s: (p, q)] ),
            md_hom[P, Q, R, S]( mul, (cc, cc, pw(add), pw(add)) ),
            inp_view[T, T]( x = [lambda p, q, r, s: (stride * p + r, stride * q + s)], w = [lambda p, q, r, s: (r, s)] )
        )

    return mdh_conv2d


@pytest.mark.runs
@pytest.mark.parametrize("stride", [1, 2])
def test_strided_convolution(stride):
    x, w = random.integers(-5, 5, (12, 13)).astype("int64"), random.integers(-5, 5, (3, 2)).astype("int64")
    windows = numpy.lib.stride_tricks.sliding_window_view(x, (3, 2))[::stride, ::stride]
    P, Q = windows.shape[:2]
    expected = numpy.einsum("pqrs,rs->pq", windows, w)
    numpy.testing.assert_array_equal(convolution(int64, P, Q, 3, 2, stride)(x, w), expected)


def two_reductions(T: BasicType, N: int):
    """The sum and the largest element at once."""

    @mdh()
    def mdh_reduce():
        @scalar_function()
        def both(out: Scalar[T, T], inp: Scalar[T]):
            out['total'] = inp['x']
            out['largest'] = inp['x']

        @pw_custom_func()
        def combine(res, lhs, rhs):
            res['total'] = lhs['total'] + rhs['total']
            res['largest'] = max(lhs['largest'], rhs['largest'])

        return (
            out_view[T, T]( total = [lambda i: ()], largest = [lambda i: ()] ),
            md_hom[N]( both, (pw(combine)) ),
            inp_view[T]( x = [lambda i: (i)] )
        )

    return mdh_reduce


def test_components_with_built_in_functions_of_their_own():
    assert "(pw(addi, maxsi))" in two_reductions(int32, 8).text()


@pytest.mark.runs
def test_two_reductions():
    x = random.integers(-99, 99, 50).astype("int32")
    total, largest = two_reductions(int32, 50)(x)
    assert total == x.sum() and largest == x.max()


def scan_and_add(T: BasicType, I: int, J: int):
    """Prefix sums over rows of sums within rows: the bottom boxes of a matrix."""

    @mdh( out( y = Buffer[T] ), inp( x = Buffer[T] ), combine_ops( ps(add), pw(add) ) )
    def mdh_boxes(y, x):
        for i in range(I):
            for j in range(J):
                y[i] = x[I - 1 - i, j]

    return mdh_boxes


def test_index_functions_with_negative_factors():
    text = scan_and_add(fp32, 13, 9).text()
    assert "x = %x[12 - i, j]" in text and "(ps(addf), pw(addf))" in text


@pytest.mark.runs
def test_bottom_boxes():
    x = random.integers(-9, 9, (13, 9)).astype("int32")
    numpy.testing.assert_array_equal(scan_and_add(int32, 13, 9)(x), numpy.cumsum(x[::-1].sum(axis=1)))


def linkage(N: int, E: int):
    """Record linkage: for each new record the best existing one, by weights of fields that agree."""

    @mdh()
    def mdh_prl():
        @scalar_function()
        def weigh(out: Scalar[int64, fp64], inp: Scalar[int32]):
            weight = 0.0
            for field in range(1, 4):
                known = (inp['n', field] >= 0) & (inp['e', field] >= 0)
                agrees = where(inp['n', field] == inp['e', field], 1.0 * field, -0.5)
                weight = weight + where(known, agrees, 0.0)
            out['match'] = index('j')
            out['weight'] = weight

        @pw_custom_func(commutative=True)
        def max_prl(res, lhs, rhs):
            wins = (lhs['weight'] > rhs['weight']) | ((lhs['weight'] == rhs['weight']) & (lhs['match'] < rhs['match']))
            res['match'] = where(wins, lhs['match'], rhs['match'])
            res['weight'] = where(wins, lhs['weight'], rhs['weight'])

        fields = range(3)
        return (
            out_view[int64, fp64]( match = [lambda i, j: (i)], weight = [lambda i, j: (i)] ),
            md_hom[N, E]( weigh, (cc, pw(max_prl)) ),
            inp_view[int32, int32]( n = [lambda i, j, f=f: (i, f) for f in fields],
                                    e = [lambda i, j, f=f: (j, f) for f in fields] )
        )

    return mdh_prl


@pytest.mark.runs
def test_record_linkage():
    n, e = random.integers(-1, 3, (9, 3)).astype("int32"), random.integers(-1, 3, (25, 3)).astype("int32")
    match, weight = linkage(9, 25)(n, e)
    for i in range(9):
        known = (n[i] >= 0) & (e >= 0)
        weights = (numpy.where(n[i] == e, [1.0, 2.0, 3.0], -0.5) * known).sum(axis=1)
        assert weight[i] == weights.max() and match[i] == weights.argmax()


def histogram_as_written(B: int, N: int):
    @mdh( out( h = Buffer[int32] ), inp( x = Buffer[int32] ), combine_ops( cc, pw(add) ) )
    def mdh_histo(h, x):
        for b in range(B):
            for i in range(N):
                h[b] = where(x[i] % B == b, 1, 0)

    return mdh_histo


@pytest.mark.runs
def test_histogram_as_written():
    x = random.integers(0, 1000, 500).astype("int32")
    numpy.testing.assert_array_equal(histogram_as_written(16, 500)(x), numpy.bincount(x % 16, minlength=16))


class Compiled:
    """A compiled matrix-vector product, computed by numpy."""

    tuned = 0.0

    def __call__(self, M, v, out=None):
        out[:] = M @ v
        return out

    def tune(self, seconds):
        self.tuned = seconds


@pytest.mark.parametrize("sizes", [(6, 5), (None, None)])
def test_published_uses_of_the_compiler(monkeypatch, sizes):
    made = []

    class Module:
        @staticmethod
        def compile_text(text, *, device="cpu", **options):
            made.append((Compiled(), {"device": device, **options}))
            return made[-1][0]

    monkeypatch.setitem(sys.modules, "mdh.compiled", Module)
    monkeypatch.setattr("mdh.computation._compiled", {})
    computation = matvec(fp32, *sizes)
    module = mdhc.compile(computation=computation, backend=CUDA(1),
                          tuner=pyATF(CUDARuntimeProfiler(), evaluations(1000)))
    module.nvcc_compile(arch='compute_80')
    M, v, w = numpy.ones((6, 5), "float32"), numpy.ones(5, "float32"), numpy.zeros(6, "float32")
    module.run(w, M, v)
    module.destroy()
    assert (w == 5).all()
    (compiled, options), = made
    assert options == {"name": "mdh_matvec", "entry": "mdh_matvec", "device": "cuda:1", "dtypes": ["float32"] * 3,
                       "place": None}
    assert compiled.tuned > 0


def test_devices_that_there_is_no_code_for():
    with pytest.raises(DeviceError, match="OpenCL"):
        OpenCL()
