"""The kernels that are shipped as templates compute what numpy does.

Triton's run on arrays (numpy_triton.py), CUDA's as threads of the host (cuda/host.h); for a GPU,
CUDA's are compiled to PTX by clang and assembled by ptxas, where these are installed.
"""

import ctypes
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

import numpy_triton
from mdh import ROOT, mdh

HERE = os.path.dirname(os.path.abspath(__file__))
LLVM = os.environ.get("MDH_LLVM_PREFIX", "/usr/lib/llvm-22")


def filled(template, layouts):
    """A template of the repository with these layouts."""
    folder = os.path.join(ROOT, "examples", "templates")
    return mdh("template", os.path.join(folder, template),
               "--layouts", os.path.join(folder, layouts + ".toml"))


def stored(matrix, by):
    """The elements of a matrix in the order in which they stand in memory."""
    return matrix.flatten(order={"n": "C", "t": "F"}[by])


class Triton(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def half(self, *shape):
        return self.random.integers(-4, 5, shape).astype(np.float16)

    def test_matmul(self):
        m, n, k = 512, 128, 64
        a, b = self.half(m, k), self.half(k, n)
        for of_a in "nt":
            for of_b in "nt":
                kernel = numpy_triton.module(filled("matmul.py.j2", f"matmul_{of_a}{of_b}"), "matmul")
                c = np.zeros(m * n, np.float16)
                kernel.run(stored(a, of_a), stored(b, of_b), c, m, n, k)
                np.testing.assert_array_equal(c.reshape(m, n), a @ b, f"{of_a}{of_b}")

    def test_only_the_order_differs(self):
        def lines(variant):
            path = os.path.join(ROOT, "examples", "templates", f"matmul_{variant}.toml")
            with open(path, encoding="utf-8") as file:
                return file.read().splitlines()

        first, second = lines("nn"), lines("tt")
        for one, other in zip(first[1:], second[1:], strict=True):
            if one[:1] in "AB":
                one = one.replace("Row", "Col")
            self.assertEqual(one, other)

    def test_grouped_gemm(self):
        kernel = numpy_triton.module(filled("grouped_gemm.py.j2", "grouped_gemm"), "grouped_gemm")
        tiles = [(2, 1, 2), (1, 3, 1), (3, 2, 1)]
        sizes = np.array(tiles, np.int32).flatten()
        a = [self.half(32 * m, 32 * k) for m, _, k in tiles]
        b = [self.half(32 * k, 32 * n) for _, n, k in tiles]
        c = [np.zeros(32 * m * 32 * n, np.float16) for m, n, _ in tiles]

        def addresses(arrays):
            listed = np.empty(len(arrays), object)
            listed[:] = [numpy_triton.Pointer(array.reshape(-1)) for array in arrays]
            return listed

        for programs in (1, 4):
            for array in c:
                array[:] = 0
            kernel.grouped_gemm[(programs,)](
                addresses(a), addresses(b), addresses(c), sizes, len(tiles), programs)
            for x, y, z in zip(a, b, c):
                np.testing.assert_array_equal(z.reshape(x.shape[0], y.shape[1]), x @ y)

    def test_softmax(self):
        kernel = numpy_triton.module(filled("softmax.py.j2", "softmax"), "softmax")
        for rows, cols in ((3, 1000), (5, 1), (2, 1024)):
            x = self.random.standard_normal((rows, cols)).astype(np.float32)
            y = np.zeros(rows * cols, np.float32)
            kernel.run(x.reshape(-1), y, rows, cols)
            powers = np.exp(x - x.max(axis=1, keepdims=True))
            expected = powers / powers.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(y.reshape(rows, cols), expected, rtol=1e-5)


LAUNCH_TRANSPOSE = """
extern "C" void run(const float *in, float *out, int rows, int cols) {
  launch({unsigned(cols), unsigned(rows)}, {32, 8}, [=] { transpose(in, out, rows, cols); });
}
"""
LAUNCH_NW = """
extern "C" void run(int *score, const int *similarity, int tiles, int penalty) {
  for (int diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
    const int first = diagonal < tiles ? 0 : diagonal - tiles + 1;
    const int last = diagonal < tiles ? diagonal : tiles - 1;
    launch({unsigned(last - first + 1), 1}, {16, 1},
           [=] { nw_diagonal(score, similarity, tiles, diagonal, first, penalty); });
  }
}
"""


def needleman_wunsch(similarity, penalty):
    n = len(similarity)
    score = np.zeros((n + 1, n + 1), np.int32)
    score[0, :] = score[:, 0] = -penalty * np.arange(n + 1)
    filled_in = score.copy()
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            score[i, j] = max(score[i - 1, j - 1] + similarity[i - 1, j - 1],
                              score[i - 1, j] - penalty, score[i, j - 1] - penalty)
    return filled_in, score


class Cuda(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def compiled(self, template, layouts, launch):
        """The kernels as a library for the host."""
        compiler = shutil.which("c++") or shutil.which("g++")
        if compiler is None:
            self.skipTest("there is no C++ compiler (c++)")
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "a.cpp"), os.path.join(folder, "a.so")
            with open(source, "w", encoding="utf-8") as file:
                file.write(filled(template, layouts) + launch)
            subprocess.run(
                [compiler, "-std=c++20", "-O1", "-Wall", "-Wno-unused-function", "-Werror",
                 "-pthread", "-shared", "-fPIC", "-include", os.path.join(HERE, "cuda", "host.h"),
                 source, "-o", library], check=True)
            return ctypes.CDLL(library)

    def test_transpose(self):
        library = self.compiled("transpose.cu.j2", "transpose", LAUNCH_TRANSPOSE)
        x = self.random.standard_normal((64, 96)).astype(np.float32)
        y = np.zeros((96, 64), np.float32)
        library.run(pointer(x), pointer(y), 2, 3)
        np.testing.assert_array_equal(y, x.T)

    def test_needleman_wunsch(self):
        similarity = self.random.integers(-5, 6, (48, 48)).astype(np.int32)
        start, expected = needleman_wunsch(similarity, 3)
        for buffer in ("plain", "antidiag"):
            library = self.compiled("nw.cu.j2", f"nw_{buffer}", LAUNCH_NW)
            score = start.copy()
            library.run(pointer(score), pointer(similarity), 3, 3)
            np.testing.assert_array_equal(score, expected, buffer)

    def test_for_a_gpu(self):
        clang = os.path.join(LLVM, "bin", "clang++")
        if not os.path.exists(clang):
            self.skipTest(f"there is no {clang} to compile CUDA")
        assembler = ptxas()
        for template, layouts in (("transpose.cu.j2", "transpose"), ("nw.cu.j2", "nw_plain"),
                                  ("nw.cu.j2", "nw_antidiag")):
            with tempfile.TemporaryDirectory() as folder:
                source, ptx = os.path.join(folder, "a.cu"), os.path.join(folder, "a.ptx")
                with open(source, "w", encoding="utf-8") as file:
                    file.write(filled(template, layouts))
                subprocess.run(
                    [clang, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-S",
                     "--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx80", "-O2", "-Wall", "-Werror",
                     "-Wno-unused-function", "-include", os.path.join(HERE, "cuda", "device.h"),
                     source, "-o", ptx], check=True)
                if assembler:
                    subprocess.run([assembler, "-arch=sm_90", ptx, "-o", ptx + ".o"], check=True)
        if not assembler:
            self.skipTest("PTX was made, but there is no ptxas to assemble it")


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def ptxas():
    """CUDA's assembler, or the one that comes with Triton among the peers."""
    peers = os.environ.get("MDH_PEERS", os.path.join(ROOT, ".venv-peers"))
    place = os.path.join(peers, "lib/python3*/site-packages/triton/backends/nvidia/bin/ptxas")
    return shutil.which("ptxas") or next(iter(glob.glob(place)), None)


if __name__ == "__main__":
    unittest.main()
