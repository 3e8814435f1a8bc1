"""Runs programs on the simulated GPU, where the model chooses the kernels, and checks results and accesses."""

import pathlib
import subprocess
import sys

found = 0
for program in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
    command = ["mdh", "run", program, "--device", "sim", "--report", "--random", "1", "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    wanted = ["no mistakes found", "check  passed"]
    missing = [text for text in wanted if text not in run.stdout]
    if run.returncode != 0 or missing:
        print(f"{program.name}: exit code {run.returncode}, without {missing}\n{run.stdout}{run.stderr}")
        found += 1
    elif " sim    0 launches" in run.stdout:
        print(f"{program.name}: no kernels\n{run.stdout}")
        found += 1
print(f"{found} of the programs are wrong")
