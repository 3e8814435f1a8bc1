"""Rewrites change nothing: random chains of computations give what they give without them."""

import os
import subprocess
import unittest

from chains import Chain
from mdh import RELEASE

LLVM = os.environ.get("MDH_LLVM_PREFIX", "/usr/lib/llvm-22")
SEED = int(os.environ.get("MDH_SEED", "1"))
CASES = int(os.environ.get("MDH_REWRITE_CASES", "12"))

BUFFERIZE = ("func.func(convert-elementwise-to-linalg),one-shot-bufferize{"
             "bufferize-function-boundaries "
             "function-boundary-type-conversion=identity-layout-map}")
LOWER = "convert-linalg-to-loops,mdh-loops,mdh-llvm"
# What is done before bufferization, and after it.
REWRITES = [
    ("canonicalize,cse,canonicalize", ""),
    ("mdh-fuse,canonicalize", ""),
    ("canonicalize,mdh-to-triple,canonicalize,mdh-form-compute", ""),
    ("", "canonicalize,"),
]


def printed(program, before, after):
    """Returns what a program prints after these rewrites."""
    passes = ["mdh-form-compute"] + ([before] if before else [])
    pipeline = f"builtin.module({','.join(passes)},{BUFFERIZE},{after}{LOWER})"
    lowered = subprocess.run([f"{RELEASE}/mdh-opt", f"--pass-pipeline={pipeline}"], input=program,
                             capture_output=True, text=True, check=True)
    libraries = ",".join(f"{LLVM}/lib/{name}.so"
                         for name in ("libmlir_runner_utils", "libmlir_c_runner_utils"))
    run = [f"{LLVM}/bin/mlir-runner", "-e", "main", "-entry-point-result=void",
           f"--shared-libs={libraries}"]
    done = subprocess.run(run, input=lowered.stdout, capture_output=True, text=True, check=True)
    # The first line has an address in it.
    return [line for line in done.stdout.splitlines() if "base@" not in line]


class Rewrites(unittest.TestCase):
    def test_random_chains(self):
        for seed in range(SEED, SEED + CASES):
            program = Chain(seed).program()
            expected = printed(program, "", "")
            for before, after in REWRITES:
                with self.subTest(seed=seed, before=before, after=after):
                    self.assertEqual(printed(program, before, after), expected, program)


if __name__ == "__main__":
    unittest.main()
