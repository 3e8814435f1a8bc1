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
            requests = [{"do": "load", "workload": "", "dims": {}, "texts": {}, "inputs": [], "outputs": []},
                        {"do": "run", "calls": 100}]
            done = subprocess.run([sys.executable, "-B", os.path.join(folder, "runner.py"), "idle"],
                                  input="\n".join(map(json.dumps, requests)), capture_output=True, text=True)
            loaded, times = (json.loads(line.removeprefix("@@ ")) for line in done.stdout.splitlines())
        self.assertEqual(loaded, {"done": {}})
        # A thousand calls take 100 us at least.
        self.assertLess(statistics.median(times["times"]), 50_000)


if __name__ == "__main__":
    unittest.main()
