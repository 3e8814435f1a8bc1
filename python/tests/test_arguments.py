"""Arguments that compiled code would misread: masks, truth values of any bytes, fields of packed records."""

import numpy as np
import pytest

import mdh
from mdh import errors

pytestmark = pytest.mark.runs

VECTOR = """
func.func @total(%x: tensor<3xf64>) -> tensor<f64> {
  %empty = tensor.empty() : tensor<f64>
  %y = mdh.compute (i = 3)
    out_view(y = %empty[] : tensor<f64>)
    md_hom((%a: f64) { mdh.yield %a : f64 }, (pw(addf)))
    inp_view(x = %x[i] : tensor<3xf64>)
  return %y : tensor<f64>
}
"""

#: Negates truth values in place.
NEGATE = """
func.func @negate(%x: memref<4xi1>) {
  affine.for %i = 0 to 4 {
    %true = arith.constant true
    %a = memref.load %x[%i] : memref<4xi1>
    %b = arith.xori %a, %true : i1
    memref.store %b, %x[%i] : memref<4xi1>
  }
  return
}
"""

#: 0, 1, 2 and 255: numpy takes the last three for true.
BYTES = np.array([0, 1, 2, 255], np.uint8)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))


@pytest.fixture
def total():
    return mdh.compile(VECTOR)


@mdh.mdh(mdh.out(w=mdh.Buffer), mdh.inp(v=mdh.Buffer), mdh.combine_ops(mdh.cc))
def twice(w, v):
    for i in range(v.shape[0]):
        w[i] = v[i] + v[i]


MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
PLAIN = np.ones(3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mdh.einsum("i->", MASKED),
        lambda: mdh.einsum("i,i->", PLAIN, MASKED),
        lambda: mdh.einsum("i->", MASKED.astype("complex128")),
        lambda: mdh.einsum("i->", MASKED[::2]),
        lambda: mdh.einsum("ij->j", [MASKED, MASKED]),
        lambda: mdh.einsum("aij->j", [([1.0, 2.0, 3.0], MASKED)]),
        lambda: mdh.einsum("i->i", PLAIN, out=MASKED.copy()),
        lambda: mdh.einsum("i->i", PLAIN + 0j, out=MASKED.astype("complex128")),
        lambda: mdh.compile_einsum("i->", PLAIN)(MASKED),
        lambda: mdh.reduce("add", MASKED),
        lambda: mdh.reduce(mdh.argmin, MASKED, axis=0),
        lambda: mdh.scan("add", MASKED),
        lambda: mdh.scan("add", [MASKED[:1], 2.0]),
        lambda: mdh.scan("add", PLAIN, out=MASKED.copy()),
        lambda: mdh.histogram(np.ma.array([0, 1], mask=[1, 0]), bins=2),
        lambda: mdh.histogram(np.array([0, 1, 1]), MASKED, bins=2),
        lambda: twice(MASKED),
        lambda: twice(PLAIN, out=MASKED.copy()),
        lambda: twice.run(MASKED.copy(), PLAIN),
    ],
)
def test_masks_are_not_lost(call):
    with pytest.raises(errors.DTypeError, match=r"found a masked array.*expected.*x\.filled\(0\)"):
        call()


def test_masks_are_not_lost_by_compiled_code(total, tmp_path):
    assert total(PLAIN) == 3
    total.save(tmp_path / "libtotal.so")
    loaded = mdh.load(tmp_path / "libtotal.so")
    assert loaded(PLAIN) == 3 and loaded.argument_names == ["x"] and "total" in repr(loaded)
    for call in [lambda: total(MASKED), lambda: total.check(MASKED), lambda: total(PLAIN, out=np.ma.array(1.0)),
                 lambda: loaded(MASKED)]:
        with pytest.raises(errors.DTypeError, match=r"total: (argument|result) 1 \('\w'\): found a masked array"):
            call()
    # Once such a computation was called with other arrays, too.
    twice(PLAIN)
    with pytest.raises(errors.DTypeError, match="found a masked array"):
        twice(MASKED)
    np.testing.assert_array_equal(total(MASKED.filled(0)), 4)


def test_subclasses_without_masks_are_arrays(total):
    class Own(np.ndarray):
        pass

    assert total(PLAIN.view(Own)) == 3 and mdh.einsum("i->", PLAIN.view(Own)) == 3


@pytest.mark.parametrize("view", [lambda b: b, lambda b: b[::-1], lambda b: b[1::2], lambda b: b[:0]])
def test_truth_values_of_other_bytes_are_true(view):
    """As for those functions of numpy that take them for truth values; its copies keep the bytes."""
    odd, plain = view(BYTES.view(bool)), view(BYTES != 0)
    number, other = np.arange(1, 1 + odd.size), np.ones(odd.size, bool)
    for found, expected in [
        (mdh.einsum("i->i", odd), plain),
        (mdh.einsum("i,i->i", odd, other), plain),
        (mdh.einsum("i,j->ij", odd, odd), plain[:, None] & plain),
        (mdh.einsum("i,i->i", odd, number), plain * number),
        (mdh.einsum("i,i->", odd, number.astype("float32")), (plain * number).sum()),
        (mdh.reduce("xor", odd), np.logical_xor.reduce(plain)),
        (mdh.reduce("or", odd), plain.any()),
        (mdh.reduce("and", odd), plain.all()),
        (mdh.reduce("add", odd, dtype="int32"), plain.sum()),
        (mdh.scan("xor", odd), np.logical_xor.accumulate(plain)),
    ]:
        # By their bytes: numpy's comparison takes all that are not 0 for the same.
        assert np.asarray(found).tobytes() == np.asarray(expected, found.dtype).tobytes()
    np.testing.assert_array_equal(BYTES, [0, 1, 2, 255])


def test_truth_values_of_the_buffer_protocol():
    shown = memoryview(BYTES.tobytes()).cast("?")
    np.testing.assert_array_equal(mdh.einsum("i,j->ij", shown, np.array([True])), [[False], [True], [True], [True]])
    assert mdh.reduce("and", memoryview(bytes([1, 2, 4])).cast("?"))


def test_truth_values_that_are_changed_in_place():
    negate = mdh.compile(NEGATE)
    plain = BYTES != 0
    negate(plain)
    np.testing.assert_array_equal(plain, [True, False, False, False])
    odd = BYTES.copy().view(bool)
    with pytest.raises(errors.DTypeError, match=r"argument 1 \('x'\): found truth values .* 0 and 1.*changed in place"):
        negate(odd)
    np.testing.assert_array_equal(odd.view("uint8"), BYTES)


PACKED = np.dtype([("a", "i1"), ("b", "f8"), ("c", "c8")])
#: Whole distances, but each element lies one byte behind where it may.
SHIFTED = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i1", 7)])


def records(dtype):
    made = np.zeros(3, dtype)
    made["b"] = [1, 2, 4]
    return made


def test_fields_of_packed_records(total):
    packed = records(PACKED)
    message = r"float64 17 bytes apart.*expected multiples of 8 bytes.*numpy\.dtype\(\.\., align=True\)"
    for call in [lambda: total(packed["b"]), lambda: mdh.reduce("add", packed["b"]), lambda: twice(packed["b"]),
                 lambda: mdh.scan("add", PLAIN, out=packed["b"])]:
        with pytest.raises(errors.DTypeError, match=message):
            call()
    np.testing.assert_array_equal(mdh.einsum("i->i", packed["b"]), [1, 2, 4])
    np.testing.assert_array_equal(mdh.einsum("i->i", packed[:1]["b"]), [1])


@pytest.mark.parametrize("dtype", [SHIFTED, np.dtype(PACKED.descr, align=True)])
def test_fields_that_can_be_read(total, dtype):
    packed = records(dtype)
    assert total(packed["b"]) == 7 and mdh.reduce("add", packed["b"]) == 7
    mdh.scan("add", PLAIN, out=packed["b"])
    np.testing.assert_array_equal(packed["b"], [1, 2, 3])
    np.testing.assert_array_equal(packed["a"], 0)


def test_arrays_at_odd_addresses(total):
    odd = np.zeros(25, "uint8")[1:].view("float64")
    with pytest.raises(errors.ProgramError, match="at an address that is no multiple of 8.*or a copy"):
        total(odd)
    np.testing.assert_array_equal(mdh.einsum("i->i", odd + 0), 0)
    np.testing.assert_array_equal(mdh.einsum("i->i", odd), 0)


def test_complex_fields_of_packed_records():
    packed = records(PACKED)
    packed["c"] = [1, 2j, 3]
    np.testing.assert_array_equal(mdh.einsum("i->i", packed["c"]), [1, 2j, 3])


def test_records_are_no_numbers(total):
    whole = records(PACKED)
    for call in [lambda: total(whole), lambda: mdh.reduce("add", whole), lambda: mdh.einsum("i->", whole),
                 lambda: mdh.scan("add", PLAIN, out=whole), lambda: twice(whole)]:
        with pytest.raises(errors.DTypeError, match=r"found records with the fields 'a', 'b', 'c', expected .*x\['a'\]"):
            call()
