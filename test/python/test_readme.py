"""The README's programs run, and the files that its commands name are there."""

import json
import math
import os
import re
import tempfile
import unittest

from mdh import ROOT, mdh

# The rows of bench/results/cpu-amx.json that the README's table is about, by how it describes them.
MEASURED = {
    "ccsdt": ("ccsdt", "gdab-efgc"),
    "mcc_capsule": ("mcc_capsule", "resnet50-16"),
    "transpose": ("transpose", "8192x8192"),
    "prl": ("prl", "32768x32768"),
    "conv2d": ("conv2d", "4096x4096x5x5"),
    "prefix sum": ("scan", "16777216"),
    "histogram": ("histo", "16777216-256"),
    "jacobi3d": ("jacobi3d", "256"),
    "(mcc,": ("mcc", "resnet50-16"),
    "matrix x vector": ("matvec", "4096x4096"),
    "matrix product": ("matmul", "1024x1024x1024"),
}


def readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


def rounded(value, like):
    """A number with as many places as a text has."""
    return f"{value:.{len(like.partition('.')[2])}f}"


def blocks(language):
    """The README's code blocks in a language."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", readme())


class Readme(unittest.TestCase):
    def test_programs(self):
        self.assertTrue(blocks("mlir"))
        for program in blocks("mlir"):
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                file.write(program)
                file.flush()
                mdh("run", file.name, "--check")

    def test_commands(self):
        commands = "".join(blocks("sh") + blocks("console"))
        for path in re.findall(r"\b(?:scripts|examples|docs)/[\w./-]+", commands):
            self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)

    def test_figures(self):
        with open(os.path.join(ROOT, "bench", "results", "cpu-amx.json"), encoding="utf-8") as file:
            measured = json.load(file)
        text = readme()
        table = text[text.index("| computation | ours, ms |"):].partition("\n\n")[0].splitlines()[2:]
        self.assertEqual(len(table), len(MEASURED))
        for line in table:
            what, ours, ratio, best = [cell.strip() for cell in line.strip("|").split("|")]
            (name,) = [name for word, name in MEASURED.items() if word in what]
            (row,) = [row for row in measured if (row["workload"], row["size"]) == name]
            found = (rounded(row["ours_ms"], ours), rounded(row["ratio"], ratio), row["best_peer"])
            self.assertEqual((ours, ratio, best.lower()), found, line)
        ratios = [row["ratio"] for row in measured]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        slower = sum(ratio < 1 for ratio in ratios)
        said = re.search(r"geometric mean over all (\d+) rows is ([\d.]+); in (\d+) of them", text)
        self.assertEqual(said.groups(), (str(len(ratios)), f"{mean:.2f}", str(slower)))


if __name__ == "__main__":
    unittest.main()
