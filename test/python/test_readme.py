"""The README's programs run, and the files that its commands name are there."""

import os
import re
import tempfile
import unittest

from mdh import ROOT, mdh


def blocks(language):
    """The README's code blocks in a language."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return re.findall(rf"(?ms)^```{language}\n(.*?)^```", file.read())


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


if __name__ == "__main__":
    unittest.main()
