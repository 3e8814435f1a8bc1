"""Arrays in the memory of a GPU: `test_gpu.py` runs these tests in a process whose driver is the interpreter of PTX, and
whose `cupy` is that of `interpreted`."""

import ctypes
import threading

import cupy
import numpy as np
import pytest
from test_einsum import random_einsum

import mdh
from mdh import errors

random = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))


def integers(*shape, dtype="float32"):
    return random.integers(-4, 5, shape).astype(dtype)


def same(result, expected):
    assert isinstance(result, cupy.ndarray)
    expected = np.asarray(expected)
    assert result.shape == expected.shape and result.dtype == expected.dtype
    np.testing.assert_array_equal(result.get(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool"])
def test_einsum(dtype):
    a, b = integers(9, 17, dtype=dtype), integers(17, 5, dtype=dtype)
    same(mdh.einsum("ik,kj->ij", cupy.asarray(a), cupy.asarray(b)), np.einsum("ik,kj->ij", a, b))


@pytest.mark.parametrize("spec, shapes", [
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]), ("ii->i", [(6, 6)]), ("ij->", [(7, 9)]), ("...ij->...ji", [(2, 3, 4)]),
    ("i,->i", [(4,), ()]), ("ij->i", [(3, 0)]), ("abc,cd,bd->a", [(3, 4, 5), (5, 6), (4, 6)]),
])
def test_notation(spec, shapes):
    operands = [integers(*shape, dtype="int32") for shape in shapes]
    same(mdh.einsum(spec, *[cupy.asarray(operand) for operand in operands]), np.einsum(spec, *operands))


@pytest.mark.parametrize("part", range(4))
def test_random_einsums(part):
    """The first cases of `test_einsum.py`, of real numbers."""
    for seed in range(1 + part, 61, 4):
        spec, operands = random_einsum(np.random.default_rng(seed))
        operands = [np.ascontiguousarray(operand.real).reshape(operand.shape) for operand in operands]
        same(mdh.einsum(spec, *[cupy.asarray(operand) for operand in operands]), np.einsum(spec, *operands))


def test_any_operators():
    a, b = integers(9, 17), integers(17, 5)
    result = mdh.einsum("ik,kj->ij", cupy.asarray(a), cupy.asarray(b), combine="min", scalar="add")
    same(result, (a[:, :, None] + b[None]).min(axis=1))

    @mdh.combine_operator
    def later(first, second):
        return mdh.where(second != 0, second, first)

    x = integers(40, dtype="int32")
    nonzero = x[x != 0]
    assert mdh.reduce(later, cupy.asarray(x)).get() == nonzero[-1]


def test_reductions():
    x = integers(12, 33)
    on_gpu = cupy.asarray(x)
    same(mdh.reduce(mdh.add, on_gpu, axis=1), x.sum(axis=1))
    same(mdh.reduce(mdh.max, on_gpu, axis=0), x.max(axis=0))
    assert mdh.reduce(mdh.add, on_gpu).get() == x.sum()
    value, position = mdh.reduce(mdh.argmax, on_gpu, axis=1)
    same(value, x.max(axis=1))
    same(position, x.argmax(axis=1))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans(axis, reverse):
    x = integers(12, 133)
    expected = np.flip(np.flip(x, axis).cumsum(axis), axis) if reverse else x.cumsum(axis)
    same(mdh.scan(mdh.add, cupy.asarray(x), axis=axis, reverse=reverse), expected)


def test_histogram():
    x = random.integers(0, 7, 500)
    same(mdh.histogram(cupy.asarray(x), bins=7), np.bincount(x, minlength=7))


def test_the_algebra():
    from mdh import add, cc, fp32, inp_view, md_hom, mul, out_view, pw

    @mdh.mdh()
    def matvec():
        return (
            out_view[fp32](w=[lambda i, k: (i)]),
            md_hom[8, 30](mul, (cc, pw(add))),
            inp_view[fp32, fp32](M=[lambda i, k: (i, k)], v=[lambda i, k: (k)]),
        )

    matrix, vector = integers(8, 30), integers(30)
    same(matvec(cupy.asarray(matrix), cupy.asarray(vector)), matrix @ vector)
    written = cupy.empty((8,), "float32")
    matvec(written, cupy.asarray(matrix), cupy.asarray(vector))
    same(written, matrix @ vector)


SOFTMAX = """
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
"""


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_chains_have_memory_of_their_own():
    f = mdh.compile(SOFTMAX)
    for shape in [(4, 9), (7, 31), (1, 1)]:
        x = integers(*shape)
        result = f(cupy.asarray(x))
        np.testing.assert_allclose(result.get(), softmax(x), rtol=1e-5)


@pytest.mark.parametrize("body, expected", [
    # What is returned as it is needs a copy on the device.
    ("return %x : tensor<6xf32>", lambda x: x),
    # A destination that is written in part.
    ("""%y = mdh.compute (i = 3)
          out_view(y = %x[i * 2] : tensor<6xf32>)
          md_hom(id, (cc))
          inp_view(x = %x[i] : tensor<6xf32>)
        return %y : tensor<6xf32>""", lambda x: np.array([x[0], x[1], x[1], x[3], x[2], x[5]])),
])
def test_copies_are_made_on_the_device(body, expected):
    f = mdh.compile("func.func @f(%x: tensor<6xf32>) -> tensor<6xf32> {\n" + body + "\n}")
    x = integers(6)
    same(f(cupy.asarray(x)), expected(x).astype("float32"))


def test_strides():
    a, b = integers(9, 17), integers(9, 5)
    same(mdh.einsum("ik,kj->ij", cupy.asarray(a).T, cupy.asarray(b)), a.T @ b)


def test_work_is_on_the_callers_stream():
    a = cupy.asarray(integers(8, 8))
    mdh.einsum("ik,kj->ij", a, a)
    first, second = cupy.cuda.Stream(), cupy.cuda.Stream()
    f = mdh.compile(SOFTMAX)
    with first:
        mdh.einsum("ik,kj->ij", a, a)
    assert (first.launches, second.launches) == (1, 0)
    with second:
        f(a)
    assert first.launches == 1 and second.launches > 0


def test_threads_have_streams_of_their_own():
    f = mdh.compile(SOFTMAX)
    wrong = []

    def work(seed):
        x = np.random.default_rng(seed).integers(-4, 5, (seed, 40)).astype("float32")
        for _ in range(10):
            if not np.allclose(f(cupy.asarray(x)).get(), softmax(x), rtol=1e-5):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def current_context():
    context = ctypes.c_size_t()
    cupy.cuda.driver("cuCtxGetCurrent", ctypes.byref(context))
    return context.value


def test_the_devices_that_threads_have_chosen_stay():
    cupy.cuda.driver("cuCtxSetCurrent", 42)
    a = cupy.asarray(integers(8, 8))
    mdh.einsum("ik,kj->ji", a, a)
    assert current_context() == 42


def test_several_gpus():
    x = integers(5, 6)
    with cupy.cuda.Device(1):
        second = cupy.asarray(x)
    result = mdh.einsum("ij->ji", second)
    same(result, x.T)
    assert result.device == 1
    with pytest.raises(errors.DeviceError, match="the memory of GPU 1, expected one in the memory of GPU 0"):
        mdh.einsum("ij,jk->ik", cupy.asarray(x.T), second)


def test_places_are_not_mixed():
    a = integers(4, 4)
    with pytest.raises(errors.DeviceError, match="argument 2 .*the processor's memory, expected one in the memory of GPU 0"):
        mdh.einsum("ik,kj->ij", cupy.asarray(a), a)
    with pytest.raises(errors.DeviceError, match="result 1"):
        mdh.einsum("ik,kj->ij", a, a, out=cupy.empty((4, 4), "float32"))


def test_one_program_on_both():
    f = mdh.compile(SOFTMAX)
    x = integers(3, 8)
    on_host = f(x)
    assert isinstance(on_host, np.ndarray)
    np.testing.assert_allclose(f(cupy.asarray(x)).get(), on_host, rtol=1e-5)
    np.testing.assert_array_equal(f(x), on_host)


def test_arrays_of_the_host_are_copied_to_a_device_that_is_asked_for():
    f = mdh.compile(SOFTMAX, device="cuda")
    x = integers(3, 8)
    result = f(x)
    assert isinstance(result, np.ndarray)
    np.testing.assert_allclose(result, softmax(x), rtol=1e-5)
    assert "--device" in f._device and ".entry" in f.asm()
    assert "passed" in f.check(x)
    with pytest.raises(errors.DeviceError, match="'tpu'"):
        mdh.compile(SOFTMAX, device="tpu")
    with pytest.raises(errors.DeviceError, match="no device 7"):
        mdh.compile(SOFTMAX, device="cuda:7")


class Foreign:
    """An array of a library that the package does not know."""

    def __init__(self, array):
        self._array, self.shape, self.dtype, self.streams = array, array.shape, array.dtype, []

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self._array._capsule()


def test_other_libraries_get_a_stream_and_give_an_array_for_the_result():
    x = integers(4, 8)
    given, out = Foreign(cupy.asarray(x)), cupy.empty((4, 8), "float32")
    f = mdh.compile(SOFTMAX)
    assert f(given, out=out) is out
    np.testing.assert_allclose(out.get(), softmax(x), rtol=1e-5)
    (stream,) = given.streams
    assert stream > 2
    with pytest.raises(errors.DeviceError, match="out="):
        f(given)


def test_what_is_the_hosts_is_refused():
    f = mdh.compile("""
        func.func @first(%x: tensor<6xf32>) -> f32 {
          %zero = arith.constant 0 : index
          %y = tensor.extract %x[%zero] : tensor<6xf32>
          return %y : f32
        }""")
    x = integers(6)
    assert f(x) == x[0]
    with pytest.raises(errors.ProgramError, match="(?s)'memref.load' op is the host's.*pass arrays in the host's memory"):
        f(cupy.asarray(x))


def test_schedules():
    a = cupy.asarray(integers(64, 64))
    f = mdh.compile_einsum("ik,kj->ij", a, a)
    expected = f(a, a).get()
    assert "block" in f.asm() or ".entry" in f.asm()
    f.schedule = "#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {j: *}]>"
    np.testing.assert_array_equal(f(a, a).get(), expected)
    assert "cuda" in str(f.schedule)
    assert "passed" in f.check(a, a)
    with pytest.raises(errors.ProgramError, match="cpu"):
        f.schedule = "#mdh.schedule<asm = cpu, layers = [core {i: 8}]>"
    np.testing.assert_array_equal(f(a, a).get(), expected)


def test_code_is_kept(tmp_path):
    mdh.compile(SOFTMAX)(cupy.asarray(integers(3, 8)))
    first = sorted(tmp_path.iterdir())
    mdh.compile(SOFTMAX)(cupy.asarray(integers(3, 8)))
    assert sorted(tmp_path.iterdir()) == first and len(first) == 2
