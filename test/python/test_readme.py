"""The files that the README's commands name are there, its numbers are those of the results, its pictures what is drawn.

Its program and commands are executed by test/Documented/Pages."""

import json
import math
import os
import re
import subprocess
import unittest

from mdh import ROOT

def readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


def blocks(language):
    """The README's code blocks in a language."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", readme())


class Readme(unittest.TestCase):
    def test_commands(self):
        commands = "".join(blocks("sh") + blocks("console"))
        for path in re.findall(r"\b(?:scripts|examples|docs)/[\w./-]+", commands):
            self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)

    def test_figures(self):
        text = " ".join(readme().split())
        for name, before in {"cpu-amx.json": "", "nvidia-h100-80gb-hbm3.json": "On an NVIDIA H100, "}.items():
            with open(os.path.join(ROOT, "bench", "results", name), encoding="utf-8") as file:
                rows = [row for row in json.load(file) if row["ratio"]]
            mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
            slower = [row["workload"] for row in rows if row["ratio"] < 1]
            if before:
                said = f"it is {mean:.2f} over {len(rows)} rows; {len(rows) - len(slower)} are faster"
            else:
                products = sum("matmul" in workload for workload in slower)
                said = (f"the geometric mean over all {len(rows)} rows is {mean:.2f}; in {len(slower)} of them another one is "
                        f"faster, {products} of these products of matrices")
            self.assertIn(said, text[text.index(before):])

    def test_losses_on_a_gpu(self):
        with open(os.path.join(ROOT, "bench", "results", "nvidia-h100-80gb-hbm3.json"), encoding="utf-8") as file:
            rows = [row for row in json.load(file) if row["ratio"]]
        lost = [row["ratio"] for row in rows
                if row["workload"] in ("histo", "scan") or row["workload"] == "matmul" and row["dtype"] in ("f16", "bf16")]
        factor = re.search(r"slower by a factor of (\d+) and more", " ".join(readme().split()))[1]
        self.assertEqual(math.floor(1 / max(lost)), int(factor))

    def test_pictures(self):
        done = subprocess.run([os.path.join(ROOT, "scripts", "pictures"), "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
