"""Compiled programs: arrays in, arrays out, and what is refused."""

import array
import subprocess
import sys
import threading

import numpy as np
import pytest

import mdh
from mdh import errors
from mdh.compiled import compile_text

MATVEC = """
func.func @matvec(%M: tensor<?x?xf32>, %v: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %M, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %M, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows) : tensor<?xf32>
  %w = mdh.compute (i = %rows, k = %columns)
    out_view(w = %empty[i] : tensor<?xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(M = %M[i, k] : tensor<?x?xf32>, v = %v[k] : tensor<?xf32>)
  return %w : tensor<?xf32>
}
"""

SCALE = """
func.func @scale(%a: i32, %x: memref<4xi32, strided<[?]>>, %y: memref<4xi32>) {
  %factor = tensor.from_elements %a : tensor<1xi32>
  %memory = bufferization.to_buffer %factor : tensor<1xi32> to memref<1xi32>
  mdh.compute (i = 4)
    out_view(y = %y[i] : memref<4xi32>)
    md_hom(muli, (cc))
    inp_view(x = %x[i] : memref<4xi32, strided<[?]>>, a = %memory[0] : memref<1xi32>)
  return
}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))


@pytest.fixture
def matvec():
    return compile_text(MATVEC, name="matvec")


def matrix(rows, columns, dtype=np.float32):
    return (np.arange(rows * columns) % 7 - 3).astype(dtype).reshape(rows, columns)


def test_results_are_arrays_of_their_own(matvec):
    M, v = matrix(5, 3), np.ones(3, np.float32)
    w = matvec(M, v)
    assert type(w) is np.ndarray and w.dtype == np.float32
    np.testing.assert_array_equal(w, M @ v)
    assert matvec(M, v) is not w


def test_results_go_where_they_are_wanted(matvec):
    M, v = matrix(5, 3), np.ones(3, np.float32)
    out = np.full(5, 9, np.float32)
    assert matvec(M, v, out=out) is out
    np.testing.assert_array_equal(out, M @ v)
    spread = np.full(10, 9, np.float32)
    assert matvec(M, v, out=spread[::2]).base is spread
    np.testing.assert_array_equal(spread[::2], M @ v)
    np.testing.assert_array_equal(spread[1::2], 9)


@pytest.mark.parametrize("view", [np.transpose, lambda M: M[::2, ::-1], lambda M: M[1:, 1:], np.asfortranarray])
def test_strides_of_what_is_read(matvec, view):
    M = view(matrix(6, 6))
    v = np.arange(2 * M.shape[1], dtype=np.float32)[::2]
    np.testing.assert_array_equal(matvec(M, v), M @ v)


def test_memory_of_the_buffer_protocol(matvec):
    """An `array.array`, or a view of memory that some other library shows."""
    M, v = matrix(3, 4), np.arange(4, dtype=np.float32)
    expected = M @ v
    given = array.array("f", v.tolist())
    np.testing.assert_array_equal(matvec(memoryview(M), given), expected)
    np.testing.assert_array_equal(mdh.einsum("ik,k->i", memoryview(M), given), expected)
    assert mdh.reduce(mdh.add, given) == v.sum()
    np.testing.assert_array_equal(mdh.scan(mdh.add, memoryview(v)), v.cumsum())
    out = array.array("f", [0, 0, 0])
    assert matvec(M, v, out=out) is out
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(errors.ProgramError, match="read-only"):
        matvec(M, v, out=memoryview(bytes(12)).cast("f"))
    for wrong in [b"abcd", memoryview(b"abcd"), bytearray(16)]:
        with pytest.raises(errors.DTypeError, match="expected float32"):
            matvec(M, wrong)
    spread = memoryview(np.zeros(6, "float32"))[::2]
    assert matvec(M, v, out=spread) is spread
    np.testing.assert_array_equal(spread, expected)
    with pytest.raises(errors.DTypeError, match="found str"):
        matvec(M, "1234")


def test_code_calls_the_c_compilers_library():
    """A power with an integer that is not known, which no processor has."""
    f = compile_text("""
        func.func @power(%x: tensor<4xf64>, %n: i32) -> tensor<4xf64> {
          %empty = tensor.empty() : tensor<4xf64>
          %y = linalg.map ins(%x : tensor<4xf64>) outs(%empty : tensor<4xf64>)
            (%a: f64, %out: f64) { %b = math.fpowi %a, %n : f64, i32 linalg.yield %b : f64 }
          return %y : tensor<4xf64>
        }""")
    x = np.arange(1.0, 5.0)
    np.testing.assert_array_equal(f(x, 3), x**3)


def test_empty_arrays(matvec):
    assert matvec(np.zeros((0, 3), np.float32), np.zeros(3, np.float32)).shape == (0,)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((matrix(5, 3),), errors.ProgramError, "found 1 arguments, expected 2: M, v"),
        ((matrix(5, 3, np.float64), np.ones(3, np.float32)), errors.DTypeError, "argument 1 ('M'): found elements of"),
        ((matrix(5, 3), [1.0, 1.0, 1.0]), errors.DTypeError, "found list, expected an array of float32"),
        ((matrix(5, 3)[0], np.ones(3, np.float32)), errors.ShapeError, r"found shape (3,), expected (?, ?)"),
        ((matrix(5, 3), np.ones(2, np.float32)), errors.ProgramError, "reads input 'v' outside of its extent"),
        ((np.empty((5, 3), object), np.ones(3, np.float32)), errors.DTypeError, "found elements of object"),
        ((matrix(5, 3).astype(">f4"), np.ones(3, np.float32)), errors.DTypeError, "found elements of >f4"),
    ],
)
def test_wrong_arguments(matvec, arguments, error, message):
    with pytest.raises(error) as caught:
        matvec(*arguments)
    assert message in str(caught.value)
    assert isinstance(caught.value, mdh.Error)


def test_wrong_results(matvec):
    M, v = matrix(3, 3), np.ones(3, np.float32)
    read_only = np.zeros(3, np.float32)
    read_only.flags.writeable = False
    for out, error, message in [
        (np.zeros(3), errors.DTypeError, "expected float32"),
        (np.zeros(4, np.float32), errors.ProgramError, "4"),
        (read_only, errors.ProgramError, "read-only"),
        (M[0], errors.ProgramError, "overlaps"),
        ((v.copy(), v.copy()), errors.ProgramError, "out has 2 arrays, expected 1"),
    ]:
        with pytest.raises(error, match=message):
            matvec(M, v, out=out)


def test_memory_in_place_and_numbers():
    scale = compile_text(SCALE)
    x, y = np.arange(8, dtype=np.int32), np.zeros(4, np.int32)
    assert scale(-3, x[::2], y) is None
    np.testing.assert_array_equal(y, -3 * x[::2])
    y.flags.writeable = False
    with pytest.raises(errors.ProgramError, match="read-only"):
        scale(-3, x[::2], y)
    for wrong in (2**40, 1.5, "a"):
        with pytest.raises(errors.DTypeError, match="expected an integer of 32 bits"):
            scale(wrong, x[::2], np.zeros(4, np.int32))


def test_a_check_that_fails_is_an_exception_on_every_thread(matvec):
    text = MATVEC.replace("M = %M[i, k]", "M = %M[i, k + 1]").replace("dim %M, %c1 : tensor<?x?xf32>", "dim %v, %c0 : tensor<?xf32>")
    shifted = compile_text(text, name="shifted")
    with pytest.raises(errors.ProgramError):
        shifted(matrix(300, 300), np.ones(300, np.float32))
    np.testing.assert_array_equal(shifted(matrix(4, 5), np.ones(4, np.float32)), matrix(4, 5)[:, 1:].sum(1))


def test_programs_that_are_wrong_say_where():
    with pytest.raises(errors.ProgramError, match=r"broken:3:\d+: error"):
        compile_text("func.func @f() {\n  return\n  oops\n}\n", name="broken")
    for text in ("", "func.func private @f()", "\0", "(" * 10_000):
        with pytest.raises(errors.ProgramError):
            compile_text(text)


def test_code_is_kept(tmp_path, matvec):
    files = list(tmp_path.glob("*.code"))
    assert len(files) == 1
    again = compile_text(MATVEC, name="matvec")
    M, v = matrix(5, 3), np.ones(3, np.float32)
    np.testing.assert_array_equal(again(M, v), M @ v)
    files[0].write_bytes(files[0].read_bytes()[:-100])
    np.testing.assert_array_equal(compile_text(MATVEC, name="matvec")(M, v), M @ v)


def test_threads(matvec):
    M, v = matrix(300, 200), np.ones(200, np.float32)
    wrong = []

    def call():
        for _ in range(50):
            if not np.array_equal(matvec(M, v), M @ v):
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_a_child_after_fork_computes(matvec):
    program = f"""
import os, numpy as np
from mdh.compiled import compile_text
f = compile_text({MATVEC!r}, name="matvec")
M, v = np.ones((2000, 2000), np.float32), np.ones(2000, np.float32)
assert (f(M, v) == 2000).all()
child = os.fork()
if child == 0:
    os._exit(0 if (f(M, v) == 2000).all() else 1)
assert os.waitpid(child, 0)[1] == 0
assert (f(M, v) == 2000).all()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_shared_libraries(matvec, tmp_path):
    path = tmp_path / "libmatvec.so"
    matvec.save(path)
    assert "int matvec(const float *M" in (tmp_path / "libmatvec.h").read_text()
    loaded = mdh.load(path)
    M, v = matrix(5, 3), np.ones(3, np.float32)
    np.testing.assert_array_equal(loaded(M, v), M @ v)
    with pytest.raises(errors.ProgramError, match="reads input 'v' outside of its extent"):
        loaded(M, v[:2])
    with pytest.raises(errors.ShapeError):
        loaded(v, v)
    with pytest.raises(errors.ProgramError, match="no function 'g'"):
        mdh.load(path, "g")
    for wrong in (tmp_path / "libmatvec.h", tmp_path / "nothing.so"):
        with pytest.raises(errors.ProgramError):
            mdh.load(wrong)
        with pytest.raises(errors.ProgramError):
            mdh.load(wrong, "matvec")


def test_schedules_are_data(matvec):
    M, v = matrix(64, 32), np.ones(32, np.float32)
    expected = matvec(M, v)
    chosen = matvec.schedule
    assert "computations" in chosen or "layers" in chosen
    matvec.schedule = "#mdh.schedule<asm = cpu, layers = [main {i: *, k: *}]>"
    np.testing.assert_array_equal(matvec(M, v), expected)
    assert "main" in str(matvec.schedule)
    with pytest.raises(errors.ProgramError, match="q"):
        matvec.schedule = "#mdh.schedule<asm = cpu, layers = [main {q: *}]>"
    matvec.schedule = None
    assert matvec.schedule == chosen


class Shown:
    """An array of a library that is not known, which speaks DLPack."""

    def __init__(self, array):
        self._array, self.dtype, self.shape = array, array.dtype, array.shape

    def __dlpack__(self, **words):
        return self._array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_arrays_that_speak_dlpack(matvec):
    M, v = matrix(3, 4), np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(matvec(Shown(M), Shown(v)), M @ v)
    np.testing.assert_array_equal(matvec(Shown(M.T.copy().T), Shown(v)), M @ v)
    frozen = v.copy()
    frozen.flags.writeable = False
    with pytest.raises(errors.ProgramError, match="does not show its memory"):
        matvec(M, Shown(frozen))


def test_checks_against_the_definition(matvec):
    assert "check" in matvec.check(matrix(5, 3), np.ones(3, np.float32))


def test_code_is_for_as_many_cores_as_threads():
    before = mdh.thread_count()
    try:
        schedules = []
        for threads in (3, 2, 1):
            mdh.set_threads(threads)
            text = mdh.reduce_text(mdh.add, [(1, 3_000_000)], ["float32"], axis=1)
            schedules.append(str(compile_text(text, warns=False).schedule))
        assert "'core'" not in schedules[2] and len(set(schedules)) == 3
    finally:
        mdh.set_threads(before)
    with pytest.raises(errors.ProgramError, match="from 1 to 1024"):
        mdh.set_threads(0)


def test_stages(matvec):
    assert "mdh.compute" in matvec.mlir()
    assert "scf.for" in matvec.mlir("loops")
    assert ".globl" in matvec.asm()
    assert "matvec" in matvec.explain()
    with pytest.raises(errors.ProgramError, match="sass"):
        matvec.mlir("sass")


def test_reports_are_of_the_options_it_was_compiled_with():
    size = 3_000_000
    text = f"""
    func.func @total(%x: tensor<{size}xf32>) -> tensor<f32> {{
      %none = tensor.empty() : tensor<f32>
      %y = mdh.compute (i = {size})
        out_view(y = %none[] : tensor<f32>)
        md_hom((%a: f32) {{ mdh.yield %a : f32 }}, (pw(addf)))
        inp_view(x = %x[i] : tensor<{size}xf32>)
      return %y : tensor<f32>
    }}
    """
    threads = mdh.thread_count()
    try:
        mdh.set_threads(4)
        assert {"core": {"i": 4}} in compile_text(text).schedule["layers"]
        deterministic = compile_text(text, deterministic=True)
        assert not any("core" in layer for layer in deterministic.schedule["layers"])
    finally:
        mdh.set_threads(threads)


@pytest.mark.filterwarnings("ignore:note")
def test_schedules_of_several_computations_can_be_set_again():
    # Large enough that the compiler evaluates the exponential function once, in a computation that it makes.
    text = """
    func.func @softmax(%x: tensor<2048x4096xf32>) -> tensor<2048x4096xf32> {
      %none = tensor.empty() : tensor<2048x4096xf32>
      %y = linalg.softmax dimension(1) ins(%x : tensor<2048x4096xf32>) outs(%none : tensor<2048x4096xf32>)
        -> tensor<2048x4096xf32>
      return %y : tensor<2048x4096xf32>
    }
    """
    softmax = mdh.compile(text)
    chosen = softmax.schedule
    assert "exp" in chosen["computations"]
    softmax.schedule = chosen
    assert softmax.schedule == chosen


def test_reports_name_no_temporary_folder(matvec):
    matvec.schedule = {"layers": [{"L1": {"i": "*", "k": "*"}}, {"simd": {"k": 16}}]}
    assert "given by 'schedule.json'" in matvec.explain()


@pytest.mark.parametrize(
    "device, place, listed, expected",
    [
        ("cuda:1", None, None, "1"),
        ("cuda", None, "4,6", "4"),
        ("cuda:1", None, "4, GPU-8f", "GPU-8f"),
        ("cpu", 2, None, "2"),
        ("cpu", None, "4,6", "4,6"),
        ("cpu", None, None, None),
    ],
)
def test_commands_see_the_gpu_that_computes(matvec, monkeypatch, device, place, listed, expected):
    """A command takes the first GPU that it sees: it must see the one whose number the computation has."""
    asked = []

    def run(words, **options):
        asked.append((words, options["env"].get("CUDA_VISIBLE_DEVICES")))
        return subprocess.CompletedProcess(words, 0, "done", "")

    if listed is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    monkeypatch.setattr(subprocess, "run", run)
    # As it is after `mdh.compile(.., device=..)`, or where arrays were in a GPU's memory.
    matvec._options, matvec._place = {"device": device}, place
    assert matvec.explain() == "done" and matvec.check(matrix(5, 3), np.ones(3, np.float32)) == "done"
    for words, seen in asked:
        assert seen == expected and ("cuda" in words) == (device != "cpu" or place is not None)


def test_commands_for_a_gpu_that_is_not_there(matvec, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    matvec._options = {"device": "cuda:2"}
    with pytest.raises(errors.DeviceError, match="found GPU 2, expected one of the 2 of CUDA_VISIBLE_DEVICES='4,6'"):
        matvec.explain()
