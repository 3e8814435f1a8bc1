"""mdh bench beside numpy, which is here, and libraries where they are: the runner of Python peers, and what is done with
its answers."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

from mdh import RELEASE, ROOT

# What numpy computes of the workloads.
COMPUTED = ["dot", "matvec", "matmul", "matmul_t", "bmatmul", "jacobi3d", "ccsdt", "histo", "inplace", "interpolation", "scan",
            "mbbs", "transpose", "softmax", "stencil9", "stencil27"]

# What libraries compute of them.
BLAS = ["dot", "matvec", "matmul", "matmul_t", "bmatmul", "transpose"]
LIBRARIES = {"openblas": BLAS, "mkl": BLAS, "onednn": [*BLAS[1:], "softmax", "conv2d", "conv2d_padded", "mcc", "mcc_padded"]}


class Bench(unittest.TestCase):
    def rows(self, *names, peers="numpy", code=0):
        """Rows of a quick run of some workloads, and of arguments before them."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "rows.json")
            command = [os.path.join(RELEASE, "mdh"), "bench", "--quick", "--peers", peers, "--json", file, *names]
            done = subprocess.run(command, env={**os.environ, "MDH_PEERS": sys.prefix}, capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            with open(file, encoding="utf-8") as text:
                return json.load(text)

    def own(self, program, functions, *arguments, peer="numpy", function="", code=0):
        """The row of a program beside a function of a Python file."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("own.mlir", "own.py")]
            for path, text in zip(paths, (program, functions)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            [row] = self.rows(paths[0], *arguments, peers=f"{peer}:{paths[1]}{function}", code=code)
            # The files are gone when the row is looked at.
            return json.loads(json.dumps(row).replace(folder + os.sep, ""))

    def test_the_page_of_results_is_that_of_the_files(self):
        done = subprocess.run([os.path.join(ROOT, "scripts", "results"), "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_numpy_computes_what_we_compute(self):
        for row in self.rows():
            name = row["workload"]
            with self.subTest(name, size=row["size"]):
                # A peer that is named says what it does not have.
                self.assertEqual(row["notes"], [] if name in COMPUTED else ["numpy: not in this package"])
                self.assertTrue(row["checked"])
                self.assertEqual(list(row["peers"]), ["numpy"] if name in COMPUTED else [])
                if name in COMPUTED:
                    self.assertEqual(row["best_peer"], "numpy")
                    self.assertAlmostEqual(row["ratio"], row["peers"]["numpy"] / row["ours_ms"])

    def test_installed_libraries_compute_what_we_compute(self):
        for name, computed in LIBRARIES.items():
            hello = self.answer(name, {"do": "hello"})
            if "no" in hello:
                self.assertRegex(hello["no"], "lib.* cannot be loaded")
                continue
            for row in self.rows(*computed, "scan", peers=name):
                with self.subTest(name, workload=row["workload"], size=row["size"]):
                    is_computed = row["workload"] in computed
                    self.assertEqual(row["notes"], [] if is_computed else [f"{name}: not in this package"])
                    self.assertEqual(list(row["peers"]), [name] if is_computed else [])

    def test_what_runs_in_place_beside_copies(self):
        rows = self.rows("inplace")
        self.assertEqual([row["size"] for row in rows], ["scalar", "elementwise", "combination"])
        for row in rows:
            variants = row["variants"]
            self.assertEqual([v["name"] for v in variants], ["with_copy", "kept_temporary", "other_variable"])
            for variant in variants:
                self.assertIsNone(variant["failed"])
                self.assertAlmostEqual(variant["ratio"], variant["ms"] / row["ours_ms"])

    def test_schedules_beside_ours(self):
        given = {"panels": "matmul", "columns": "transpose", "bricks": "transpose"}
        files = {name: os.path.join(ROOT, "bench", "schedules", f"{workload}-{name}.txt")
                 for name, workload in given.items()}
        arguments = [a for name, workload in given.items()
                     for a in ("--schedule", f"{workload}:{name}={files[name]}")]
        rows = self.rows(*arguments, "matmul", "transpose", "dot")
        self.assertEqual(len(rows), 3)
        for row in rows:
            names = [name for name, of in given.items() if of == row["workload"]]
            self.assertEqual([s["name"] for s in row.get("schedules", [])], names)
            for schedule in row.get("schedules", []):
                self.assertIsNone(schedule["failed"])
                self.assertEqual(schedule["file"], files[schedule["name"]])
                self.assertAlmostEqual(schedule["ratio"], schedule["ms"] / row["ours_ms"])

    def test_a_schedule_of_another_workload_is_refused(self):
        file = os.path.join(ROOT, "bench", "schedules", "matmul-panels.txt")
        command = [os.path.join(RELEASE, "mdh"), "bench", "transpose", "--quick", "--peers", "none",
                   "--schedule", f"wrong={file}"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("found dimension 'k', expected one of i, j", done.stderr)

    def test_functions_on_arrays_of_numpy(self):
        with open(os.path.join(ROOT, "examples", "matmul.mlir"), encoding="utf-8") as text:
            program = text.read()
        row = self.own(program, "def matmul(A, B):\n    return A @ B\n", "--range", "0.5..1.5")
        self.assertEqual((list(row["peers"]), row["best_peer"], row["notes"]), (["numpy:own.py"], "numpy:own.py", []))
        functions = ("def wide(A, B):\n    return A.astype('float64') @ B\n"
                     "def raises(A, B):\n    return A @ B[1:]\n")
        for function, expected in {
            ":wide": "'own.py' returns float64 of shape (64, 64) as 'C', expected float32 of shape (64, 64)",
            ":raises": "ValueError: matmul: ",
        }.items():
            row = self.own(program, functions, "--range", "0.5..1.5", function=function, code=3)
            [note] = row["notes"]
            self.assertIn(f"numpy:own.py{function}: {expected}", note)
        self.assertIn("(own.py, line 4)", note)

    def test_functions_update_arguments_or_return_them(self):
        program = """
func.func @twice(%x: memref<100xi32>) {
  mdh.compute (i = 100)
      out_view(x = %x[i] : memref<100xi32>)
      md_hom(addi, (cc))
      inp_view(a = %x[i] : memref<100xi32>, b = %x[i] : memref<100xi32>)
  return
}
"""
        for functions in ["def twice(x):\n    x *= 2\n", "def twice(x):\n    return x + x\n"]:
            row = self.own(program, functions)
            self.assertEqual((list(row["peers"]), row["notes"]), (["numpy:own.py"], []))
        row = self.own(program, "def run(x):\n    return [2 * element for element in x]\n", peer="python")
        self.assertEqual((list(row["peers"]), row["notes"]), (["python:own.py"], []))

    def test_types_that_numpy_does_not_have(self):
        for dtype in ["f16", "bf16"]:
            vector = f"tensor<100x{dtype}>"
            program = f"""
func.func @twice(%x: {vector}) -> {vector} {{
  %init = tensor.empty() : {vector}
  %y = mdh.compute (i = 100)
      out_view(y = %init[i] : {vector})
      md_hom(addf, (cc))
      inp_view(a = %x[i] : {vector}, b = %x[i] : {vector})
  return %y : {vector}
}}
"""
            row = self.own(program, "def twice(x):\n    return [2 * element for element in x]\n", peer="python")
            self.assertEqual((list(row["peers"]), row["notes"]), (["python:own.py"], []), dtype)

    def test_functions_with_names_of_workloads(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "own.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write("import numpy\n\ndef dot(x, y, s=None):\n    return numpy.dot(x, y)\n")
            peer = f"numpy:{path}"
            dot, scan = self.rows("dot", "scan", peers=peer)
        self.assertEqual((list(dot["peers"]), dot["notes"]), ([peer], []))
        self.assertEqual((list(scan["peers"]), scan["notes"]), ([], [f"{peer}: no function of that name"]))

    def test_upstream_is_beside_programs_in_linalg(self):
        program = """
func.func @product(%a: tensor<32x32xf32>, %b: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x32xf32>, tensor<32x32xf32>) outs(%init : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %c : tensor<32x32xf32>
}
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "own.mlir")
            with open(path, "w", encoding="utf-8") as file:
                file.write(program)
            [row] = self.rows(path, "--range", "0.5..1.5", peers="all")
        self.assertEqual((list(row["peers"]), row["notes"]), (["upstream"], []))

    def answer(self, package, request):
        """The runner's first answer."""
        runner = os.path.join(ROOT, "bench", "peers", "runner.py")
        done = subprocess.run([sys.executable, "-B", runner, package], input=json.dumps(request) + "\n",
                              capture_output=True, text=True)
        return json.loads(done.stdout.removeprefix("@@ "))

    def test_the_runner_answers_whatever_happens(self):
        self.assertEqual(self.answer("numpy", {"do": "hello"}), {"done": {}})
        self.assertIn("TypeError", self.answer("numpy", {"do": "run", "calls": 1})["failed"])
        self.assertEqual(self.answer("nosuch", {"do": "hello"}), {"no": "No module named 'nosuch_peer'"})

    def test_the_time_that_python_takes_for_calls_is_not_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ["runner.py", "native.py"]:
                shutil.copy(os.path.join(ROOT, "bench", "peers", name), folder)
            with open(os.path.join(folder, "idle_peer.py"), "w", encoding="utf-8") as text:
                text.write("import native\nresults = list\n"
                           "def prepare(task): return native.calls(*[[native.NOTHING, 1, 2]] * 1000)\n")
            requests = [{"do": "load", "workload": "", "entry": "", "dims": {}, "texts": {}, "inputs": [], "outputs": []},
                        {"do": "run", "calls": 100}]
            done = subprocess.run([sys.executable, "-B", os.path.join(folder, "runner.py"), "idle"],
                                  input="\n".join(map(json.dumps, requests)), capture_output=True, text=True)
            loaded, times = (json.loads(line.removeprefix("@@ ")) for line in done.stdout.splitlines())
        self.assertEqual(loaded, {"done": {}})
        # A thousand calls take 100 us at least.
        self.assertLess(statistics.median(times["times"]), 50_000)


if __name__ == "__main__":
    unittest.main()
