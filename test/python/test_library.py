"""Shared libraries give what they should when they are called, and a status where they cannot."""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

from mdh import ROOT, mdh

sys.path.insert(0, os.path.join(ROOT, "examples", "c"))
from call import Library  # noqa: E402

# y[i] = x[i] / d[i]: what divides by zero does so in a loop on threads.
QUOTIENTS = """
func.func @quotients(%x: tensor<?xi32>, %d: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %init = tensor.empty(%n) : tensor<?xi32>
  %y = mdh.compute (i = %n)
      out_view(y = %init[i] : tensor<?xi32>)
      md_hom((%x_i: i32, %d_i: i32) {
        %y_i = arith.divsi %x_i, %d_i : i32
        mdh.yield %y_i : i32
      }, (cc))
      inp_view(x = %x[i] : tensor<?xi32>, d = %d[i] : tensor<?xi32>)
  return %y : tensor<?xi32>
}
"""

# Every way to pass something: by value, with strides, in place, several scalar results.
WAYS = """
func.func @values(%a: i1, %b: i8, %c: i16, %d: i32, %e: i64, %f: f32, %g: f64)
    -> (i1, i64, f64) {
  %no = arith.xori %a, %a : i1
  %b64 = arith.extsi %b : i8 to i64
  %c64 = arith.extsi %c : i16 to i64
  %d64 = arith.extsi %d : i32 to i64
  %bc = arith.addi %b64, %c64 : i64
  %bcd = arith.addi %bc, %d64 : i64
  %sum = arith.addi %bcd, %e : i64
  %f64 = arith.extf %f : f32 to f64
  %product = arith.mulf %f64, %g : f64
  return %no, %sum, %product : i1, i64, f64
}

func.func @strides(%x: memref<3x?xf32, strided<[?, 2], offset: 1>>, %y: memref<?x3xf32>) {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<3x?xf32, strided<[?, 2], offset: 1>>
  mdh.compute (i = 3, j = %n)
      out_view(y = %y[j, i] : memref<?x3xf32>)
      md_hom((%x_ij: f32) {
        mdh.yield %x_ij : f32
      }, (cc, cc))
      inp_view(x = %x[i, j] : memref<3x?xf32, strided<[?, 2], offset: 1>>)
  return
}

func.func @windows(%x: tensor<?xi8>) -> tensor<?xi1> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xi8>
  %m = arith.subi %n, %c2 : index
  %init = tensor.empty(%m) : tensor<?xi1>
  %y = mdh.compute (i = %m)
      out_view(y = %init[i] : tensor<?xi1>)
      md_hom((%a: i8, %b: i8) {
        %y_i = arith.cmpi eq, %a, %b : i8
        mdh.yield %y_i : i1
      }, (cc))
      inp_view(x = %x[i][i + 2] : tensor<?xi8>)
  return %y : tensor<?xi1>
}

func.func @halves(%x: tensor<100xf32>) -> tensor<100xbf16> {
  %init = tensor.empty() : tensor<100xbf16>
  %y = mdh.compute (i = 100)
      out_view(y = %init[i] : tensor<100xbf16>)
      md_hom((%x_i: f32) {
        %y_i = arith.truncf %x_i : f32 to bf16
        mdh.yield %y_i : bf16
      }, (cc))
      inp_view(x = %x[i] : tensor<100xf32>)
  return %y : tensor<100xbf16>
}
"""

STRIDED = """
func.func @scan(%x: memref<?xf32, strided<[?]>>, %y: memref<?xf32, strided<[?]>>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32, strided<[?]>>
  mdh.compute (i = %n)
      out_view(y = %y[i] : memref<?xf32, strided<[?]>>)
      md_hom(id, (ps(addf)))
      inp_view(x = %x[i] : memref<?xf32, strided<[?]>>)
  return
}

func.func @sums(%x: memref<?x?xf32, strided<[?, ?]>>, %y: memref<?x?xf32, strided<[?, ?]>>,
                %s: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32, strided<[?, ?]>>
  %m = memref.dim %x, %c1 : memref<?x?xf32, strided<[?, ?]>>
  mdh.compute (i = %n, j = %m)
      out_view(y = %y[i, j] : memref<?x?xf32, strided<[?, ?]>>)
      md_hom((%x_ij: f32) {
        %y_ij = arith.addf %x_ij, %x_ij : f32
        mdh.yield %y_ij : f32
      }, (cc, cc))
      inp_view(x = %x[i, j] : memref<?x?xf32, strided<[?, ?]>>)
  mdh.compute (i = %n, j = %m)
      out_view(s = %s[] : memref<f32>)
      md_hom(id, (pw(addf), pw(addf)))
      inp_view(x = %x[i, j] : memref<?x?xf32, strided<[?, ?]>>)
  return
}

func.func @first(%x: tensor<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %first = tensor.extract %x[%c0] : tensor<?xf32>
  return %first : f32
}
"""


class LibraryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.quotients = cls.library("quotients", QUOTIENTS)
        cls.ways = cls.library("ways", WAYS)
        cls.strided = cls.library("strided", STRIDED)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def library(cls, name, program):
        path = os.path.join(cls.folder.name, name)
        with open(path + ".mlir", "w", encoding="utf-8") as file:
            file.write(program)
        mdh("compile", path + ".mlir", "--emit", "shared", "-o", path + ".so")
        return Library(path + ".so")

    def divide(self, n, zeros=()):
        """The quotients of n numbers, and what they should be."""
        x, d = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32) % 7 + 1
        d[list(zeros)] = 0
        y = np.full(n, -1, np.int32)
        self.quotients.quotients(x, n, d, n, y, n)
        return y, x // d

    def test_a_division_by_zero_on_any_thread_is_a_status(self):
        for n in [1, 5, 1000, 1 << 20]:
            np.testing.assert_array_equal(*self.divide(n))
            for zero in {0, n // 2, n - 1}:
                with self.assertRaisesRegex(ValueError, r"quotients.mlir:9:\d+: error: .*zero"):
                    self.divide(n, [zero])
            with self.assertRaisesRegex(ValueError, "zero"):
                self.divide(n, range(n))
            np.testing.assert_array_equal(*self.divide(n))

    def test_many_threads_call_at_once(self):
        found = []

        def work(wrong):
            for _ in range(20):
                try:
                    y, expected = self.divide(100_000, [99_999] if wrong else [])
                    found.append(not wrong and (y == expected).all())
                except ValueError as error:
                    found.append(wrong and "zero" in str(error))

        threads = [threading.Thread(target=work, args=(i % 2 == 0,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 120)

    def test_failures_leave_no_memory_behind(self):
        n = 200_000
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * 4096
        for _ in range(5):
            self.assertRaises(ValueError, self.divide, n, [n - 1])
        before = resident()
        for _ in range(100):
            self.assertRaises(ValueError, self.divide, n, [n - 1])
        self.assertLess(resident() - before, 20 * 4 * n)

    def test_scalars_by_value_and_as_results(self):
        function = self.ways.functions.values
        no, total, product = ctypes.c_bool(True), ctypes.c_int64(), ctypes.c_double()
        status = function(
            ctypes.c_bool(True), ctypes.c_int8(-100), ctypes.c_int16(-30000), ctypes.c_int32(5),
            ctypes.c_int64(1 << 40), ctypes.c_float(1.5), ctypes.c_double(-2.25),
            ctypes.byref(no), ctypes.byref(total), ctypes.byref(product))
        found = status, no.value, total.value, product.value
        self.assertEqual(found, (0, False, (1 << 40) - 30095, -3.375))

    def test_strides(self):
        # Element [i, j] is x[1 + 11 * i + 2 * j].
        x = np.arange(40, dtype=np.float32)
        y = np.full((5, 3), -1, np.float32)
        self.ways.strides(x, 5, 11, y, 5)
        i, j = np.ogrid[:3, :5]
        np.testing.assert_array_equal(y, (1 + 11 * i + 2 * j).T)
        with self.assertRaisesRegex(ValueError, "output 'y' outside of its extent"):
            self.ways.strides(x, 5, 11, y, 4)

    def test_strides_of_any_kind(self):
        scan = self.strided.scan
        for n in [2, 8, 1000]:
            x = np.arange(2 * n, dtype=np.float32) % 7
            y = np.full(2 * n, -1, np.float32)
            scan(x, n, 2, y, n, 2)
            np.testing.assert_array_equal(y[::2], np.cumsum(x[::2]))
            self.assertTrue((y[1::2] == -1).all())
            # The same one repeatedly, and between the elements of the input.
            scan(x[3:], n, 0, y, n, 1)
            np.testing.assert_array_equal(y[:n], np.full(n, x[3]).cumsum())
            expected = np.cumsum(x[::2])
            scan(x, n, 2, x[1:], n, 2)
            np.testing.assert_array_equal(x[1::2], expected)
        # A single element has no neighbour, and none at all are nowhere.
        scan(x, 1, 1 << 62, y, 1, -(1 << 63))
        self.assertEqual(y[0], x[0])
        scan(x, 0, 0, x, 0, 0)

    def test_strides_that_write_what_is_not_theirs(self):
        def refused(function, arguments, reason):
            before = [np.copy(a) for a in arguments if isinstance(a, np.ndarray)]
            with self.assertRaisesRegex(ValueError, reason):
                function(*arguments)
            after = [a for a in arguments if isinstance(a, np.ndarray)]
            for one, other in zip(before, after):
                np.testing.assert_array_equal(one, other)

        scan, sums = self.strided.scan, self.strided.sums
        x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
        overlaps = "'y', which is written, overlaps 'x' in memory: pass memory of its own"
        refused(scan, (x, 8, 1, x, 8, 1), overlaps)
        refused(scan, (x, 8, 2, x[1:], 8, 1), overlaps)
        refused(scan, (x, 8, 6, x[4:], 8, 4), overlaps)
        refused(scan, (x, 8, 4, y[60:], 8, -4), "'y' has the stride -4 along axis 0, expected at")
        refused(scan, (x[60:], 8, -4, y, 8, 1), "'x' has the stride -4 along axis 0, expected at")
        self.assertEqual(scan(x[:], 8, 6, x[1:], 8, 2), None)
        shared = r"'y' is written and has several elements in one place with its extents \[8\] " \
            r"and strides \[0\]"
        refused(scan, (x, 8, 1, y, 8, 0), shared)
        beyond = "reaches beyond all memory with its extents .* and strides"
        for stride in [1 << 62, (1 << 63) - 1, 1 << 60]:
            refused(scan, (x, 8, 1, y, 8, stride), "'y' " + beyond)
            refused(scan, (x, 8, stride, y, 8, 1), "'x' " + beyond)
        s = np.zeros((), np.float32)
        sums(x, 4, 4, 1, 4, y, 4, 4, 3, 16, s)
        self.assertEqual(s, x[:16].sum())
        refused(sums, (x, 4, 4, 4, 1, y, 4, 4, 3, 1, s), "several elements in one place")
        refused(sums, (x, 4, 4, 4, 1, y, 4, 4, 1, 4, x[15:]), "'s', .*, overlaps 'x'")
        sums(x, 4, 4, 4, 1, y, 4, 4, 1, 4, x[16:])
        self.assertEqual(x[16], x[:16].sum())
        with self.assertRaisesRegex(ValueError, "overlaps 'x'"):
            self.strided.first(x, 64, x[3:])
        with self.assertRaisesRegex(ValueError, "no multiple of 4"):
            self.strided.first(x, 64, x.view(np.uint8)[2:])

    def test_bytes_and_truth_values_of_a_computed_size(self):
        x = np.array([1, 2, 1, 3, 1, 3, 1], np.int8)
        y = np.zeros(5, np.bool_)
        self.ways.windows(x, 7, y, 5)
        np.testing.assert_array_equal(y, x[:-2] == x[2:])
        with self.assertRaisesRegex(ValueError, "y_n0 is 4, expected 5, which is x_n0 - 2"):
            self.ways.windows(x, 7, y, 4)
        with self.assertRaisesRegex(ValueError, "overlaps 'x'"):
            self.ways.windows(x, 7, x[1:6].view(np.bool_), 5)

    def test_bf16(self):
        x = np.arange(100, dtype=np.float32) / 4
        y = np.zeros(100, np.uint16)
        self.ways.halves(x, y)
        # All of them have the upper half of their bits only.
        np.testing.assert_array_equal(y, x.view(np.uint32) >> 16)

    def test_threads(self):
        functions = self.quotients.functions
        self.assertEqual(functions.mdh_set_threads(ctypes.c_int64(3)), 0)
        self.assertEqual(functions.mdh_thread_count(), 3)
        np.testing.assert_array_equal(*self.divide(1 << 20))
        with self.assertRaisesRegex(ValueError, "mdh_set_threads: found 0, expected"):
            self.quotients.mdh_set_threads(0)
        self.assertEqual(functions.mdh_thread_count(), 3)

    def test_a_child_process_computes_too(self):
        np.testing.assert_array_equal(*self.divide(1 << 20))
        child = os.fork()
        if child == 0:
            y, expected = self.divide(1 << 20)
            os._exit(0 if (y == expected).all() else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_memory_that_is_not_there_is_a_status(self):
        # In a process of its own, whose memory is limited.
        program = """
func.func @row_sums(%x: tensor<?xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %t_init = tensor.empty(%n, %n) : tensor<?x?xf32>
  %t = mdh.compute (i = %n, j = %n)
      out_view(t = %t_init[i, j] : tensor<?x?xf32>)
      md_hom(addf, (cc, ps(addf)))
      inp_view(x = %x[i][j] : tensor<?xf32>)
  %s_init = tensor.empty() : tensor<f32>
  %s = mdh.compute (i = %n, j = %n)
      out_view(s = %s_init[] : tensor<f32>)
      md_hom(id, (pw(maximumf), pw(maximumf)))
      inp_view(t = %t[j, i] : tensor<?x?xf32>)
  return %s : tensor<f32>
}
"""
        self.library("sums", program)
        code = """
import resource, sys
import numpy as np
from call import Library, passed
library = Library(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, resource.RLIM_INFINITY))
x = np.ones(100_000, np.float32)
s = np.zeros((), np.float32)
print(library.functions.row_sums(*map(passed, (x, len(x), s))))
print(library.functions.mdh_error().decode())
library.row_sums(x, 10, s)
"""
        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "examples", "c"),
                       "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code, os.path.join(self.folder.name, "sums.so")],
            capture_output=True, text=True, env=environment, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        status, message = done.stdout.splitlines()
        self.assertEqual(status, "4")
        self.assertRegex(message, r"^error: there is not enough memory: \d+ bytes more are needed$")


if __name__ == "__main__":
    unittest.main()
