"""Runs programs' PTX, at once, in integers and from packages, and compares results with the definition."""

import json
import pathlib
import subprocess
import sys

found = 0


def run(program, *command):
    """Returns what a command prints, or None if it fails."""
    global found
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{program.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        found += 1
        return None
    return done.stdout


for program in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
    package = f"{sys.argv[2]}-{program.stem}.mdhpkg"
    text = run(program, "mdh", "run", program, "--device", "cuda", "--random", "1", "--check", "--json")
    own = text and json.loads(text)
    run(program, "mdh", "run", program, "--device", "cuda", "--random", "1", "--check=exact")
    if run(program, "mdh", "compile", program, "--device", "cuda", "--random", "1", "-o", package) is None:
        continue
    text = run(program, "mdh-exec", package, "--repeat", "1", "--json")
    other = text and json.loads(text)
    if own and other:
        launches = own["gpu"]["launches"]
        if not own["check"]["passed"] or not other["checked"] or launches == 0 or launches != other["launches"]:
            print(f"{program.name}: {own} and {other} are not alike")
            found += 1
print(f"{found} of the programs are wrong")
