"""Explains programs for a GPU: each of their computations has a schedule and a time."""

import pathlib
import subprocess
import sys

found = 0
for program in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
    command = ["mdh", "explain", "--verbose", program, "--device", sys.argv[2]]
    run = subprocess.run(command, capture_output=True, text=True)
    computations = run.stdout.count("\ncomputation ")
    times = run.stdout.count("an estimate from data sheets") + run.stdout.count("time: not known before the sizes")
    if run.returncode != 0 or computations == 0 or times != computations:
        print(f"{program.name}: {computations} computations, {times} times\n{run.stdout}{run.stderr}")
        found += 1
print(f"{found} of the examples are not explained")
