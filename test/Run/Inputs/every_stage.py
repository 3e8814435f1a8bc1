"""Prints a program at every stage of every target, and reads it again: every_stage.py RELEASE FILE"""

import os
import subprocess
import sys

RELEASE, FILE = sys.argv[1:]
COMMON = ["formed", "compute", "bufferized", "scheduled", "tiles", "vector", "loops", "parallel", "llvm-dialect"]
GPU = ["placed", "kernels", "device"]
TARGETS = {"cpu": COMMON, "sim": COMMON + GPU, "cuda": COMMON + GPU + ["nvvm"]}


def run(*command, text=None):
    """Returns what a program prints; ends the test if it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def main():
    mdh, opt = (os.path.join(RELEASE, name) for name in ("mdh", "mdh-opt"))
    for target, stages in TARGETS.items():
        seen = set()
        for stage in stages:
            printed = run(mdh, "compile", FILE, "--device", target, "--emit", stage)
            run(opt, text=printed)
            lowered = run(opt, FILE, f"--mdh-lower=target={target} stage={stage}")
            if printed in seen and stage != "compute":
                sys.exit(f"{target} {stage}: the same as another stage")
            seen.add(printed)
            # Checks of all other stages are in both; before they would hide the computations.
            is_same = lowered.strip() == printed.strip()
            if stage not in ("compute", "parallel", "llvm-dialect") and not is_same:
                sys.exit(f"{target} {stage}: mdh compile and mdh-lower differ:\n{printed}\n{lowered}")


main()
