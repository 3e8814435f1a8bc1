"""bench/gpu/run.py, which measures on a GPU: its order, its files, what it says of peers and of devices."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import numpy

from mdh import RELEASE

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "gpu"))
import portability  # noqa: E402
import run as runner  # noqa: E402


class Numpy:
    """A peer that has products of matrices, right ones or not."""

    name = "numpy"

    def __init__(self, wrong=0.0):
        self.wrong = wrong

    def prepare(self, entry, arrays):
        if entry["workload"] != "matmul":
            return None
        a, b = arrays[0].values(), arrays[1].values()
        return lambda: a @ b + self.wrong

    def results(self, value):
        return [(value, 0.0)]

    def times(self, runs, samples):
        return [1.0 for _ in range(samples)]


def arguments(folder, **others):
    given = dict(folder=str(folder), exec=f"{RELEASE}/mdh-exec", json=None, results=None, minutes=9, case=60, quick=True)
    return types.SimpleNamespace(**{**given, **others})


def row(name, ours, peers, **others):
    workload, size = name.split("/")
    return {"workload": workload, "size": size, "device": "G", "chip": "sm_90", "ours_ms": ours, "peers": peers,
            "checked": True, "failed": None, **others}


class Device(unittest.TestCase):
    """On the interpreter of PTX."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        driver = cls.folder / "driver"
        driver.mkdir()
        (driver / "libcuda.so.1").symlink_to(pathlib.Path(RELEASE) / "libmdh_ptx.so")
        os.environ["LD_LIBRARY_PATH"] = str(driver)
        line = [f"{RELEASE}/mdh", "bench", "--device", "cuda", "--quick", "matmul", "transpose", "--package",
                str(cls.folder / "packages")]
        subprocess.run(line, check=True)
        cls.index = json.loads((cls.folder / "packages" / "index.json").read_text())

    @classmethod
    def tearDownClass(cls):
        del os.environ["LD_LIBRARY_PATH"]
        cls.temporary.cleanup()

    def rows(self, *peers, **others):
        rows, _ = runner.run(arguments(self.folder / "packages", **others), self.index, list(peers))
        return {row["workload"]: row for row in rows}

    def test_results_of_peers_are_compared(self):
        found = self.rows(Numpy())
        self.assertEqual(found["matmul"]["peers"], {"numpy": 1.0})
        self.assertEqual(found["matmul"]["agree"], {"numpy": True})
        self.assertEqual(found["transpose"]["peers"], {})

    def test_a_peer_that_is_wrong_has_no_time(self):
        found = self.rows(Numpy(wrong=0.01))["matmul"]
        self.assertEqual((found["peers"], found["agree"], found["ratio"]), ({}, {"numpy": False}, None))
        self.assertIn("numpy disagrees with us: 240 elements differ", found["notes"][0])

    def test_rows_are_written_one_by_one(self):
        results = self.folder / "results"
        results.mkdir()
        before = []

        class Watching(Numpy):
            def prepare(self, entry, arrays):
                before.append([len(json.loads(path.read_text())) for path in results.glob("*.json")])
                return None

        self.rows(Watching(), results=str(results))
        self.assertEqual(before, [[], [1]])
        [path] = results.iterdir()
        self.assertEqual(path.name, "interpreter-of-ptx.json")
        self.assertEqual(len(json.loads(path.read_text())), 2)

    def test_runs_are_timed_together(self):
        timing = self.rows()["matmul"]["timing"]
        self.assertEqual((timing["copies"], timing["cold"]), (2, False))
        self.assertGreaterEqual(timing["runs"], 1)


class Rules(unittest.TestCase):
    """Figures that are computed of rows."""

    def test_one_row_of_each_workload_and_type_comes_first(self):
        index = [{"workload": w, "dtype": d, "package": f"{w}-{d}-{n}"} for w, d, n in
                 [("dot", "f32", 5), ("matmul", "f32", 70), ("matmul", "f32", 90), ("matmul", "f16", 80)]]
        manifests = {e["package"]: {"flops": float(e["package"].split("-")[2]), "bytes": 1.0} for e in index}
        names = [entry["package"] for entry in runner.ordered(index, manifests)]
        self.assertEqual(names, ["matmul-f32-90", "matmul-f16-80", "dot-f32-5", "matmul-f32-70"])

    def test_portability_is_over_the_best_application(self):
        devices = {
            "a": {"w/1": row("w/1", 2.0, {"x": 1.0, "y": 3.0}), "w/2": row("w/2", 1.0, {"x": 2.0}),
                  "w/3": row("w/3", 1.0, {})},
            "b": {"w/1": row("w/1", 4.0, {"x": 4.0}), "w/2": row("w/2", None, {"x": 2.0}, failed="failed: wrong"),
                  "w/3": row("w/3", 1.0, {"x": 1.0})},
        }
        found = portability.measures(devices)
        self.assertEqual(set(found), {"w/1", "w/2"})
        self.assertAlmostEqual(found["w/1"], 2 / (1 / 0.5 + 1 / 1.0))
        self.assertEqual(found["w/2"], 0.0)

    def test_files_of_cpus_are_no_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            cpu = {key: value for key, value in row("w/1", 1.0, {"x": 1.0}).items() if key != "chip"}
            (folder / "cpu.json").write_text(json.dumps([cpu]))
            (folder / "gpu.json").write_text(json.dumps([row("w/1", 1.0, {"x": 1.0})]))
            self.assertIn("needs two GPUs, found gpu in", portability.summary(folder))
            (folder / "other.json").write_text(json.dumps([row("w/1", 2.0, {"x": 1.0})]))
            self.assertIn("1 rows on gpu, other): mean 0.67, lowest 0.67", portability.summary(folder))

    def test_results_differ_by_no_more_than_both_may(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "result-0.bin"
            numpy.array([1.0, 2.0, numpy.inf], dtype="<f4").tofile(path)
            ours = [(runner.Array({"dtype": "f32", "shape": [3]}, path), 0.1)]
            compare = lambda *values: runner.disagreement(ours, [(numpy.array(values), 0.0)])
            self.assertIsNone(compare(1.19, 1.81, numpy.inf))
            self.assertEqual(compare(1.0, 2.3, numpy.inf), "1 elements differ, the first is 2.3 where ours is 2")
            self.assertEqual(compare(1.0, 2.0, 3.0), "1 elements differ, the first is 3 where ours is inf")
            self.assertEqual(compare(1.0, numpy.nan, numpy.inf), "1 elements differ, the first is nan where ours is 2")
            self.assertEqual(compare(1.0), "has a result of 1 elements, expected 3")

    def test_bf16_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "argument-0.bin"
            numpy.array([0x3F80, 0xC040], dtype="<u2").tofile(path)
            values = runner.Array({"dtype": "bf16", "shape": [2]}, path).values()
            self.assertEqual(values.tolist(), [1.0, -3.0])


if __name__ == "__main__":
    unittest.main()
