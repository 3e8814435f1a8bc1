"""between.py some|each FOLDER: runs programs with upstream's passes between those of the compiler.

Results must be what the definition says, on every target, whatever passes that change no meaning do to what passes
of the compiler tell each other. FOLDER is the repository's. Programs are the examples, and those of test/Kernels with
the commands that are written there. 'some' has the passes in all places at once, and fewer programs on targets that
are slow; 'each' runs all of them, also with the passes in each place alone.
"""

import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

PASSES = "canonicalize,cse,loop-invariant-code-motion"
# What 'some' runs beside the examples on the processor and the simulator.
ON_CUDA = ["ccsdt", "matmul", "matvec", "scan", "softmax"]
KERNELS = {"mma": ["edges"], "prefixes": ["parts"], "shared": ["transposed"], "stages": ["edges"], "warps": ["both", "late", "product"]}


def commands(folder, is_all):
    """The arguments of each run, with the name of the program."""
    for program in sorted((folder / "examples").glob("*.mlir")):
        for device in ["cpu", "sim", "cuda"]:
            if is_all or device != "cuda" or program.stem in ON_CUDA:
                yield [program, "--device", device, "--random", "1", "--check"]
    line = re.compile(r"// RUN: mdh run %s (.*--entry (\w+) .*--check)(?: [^|]*)?(?:\||$)")
    for program in sorted((folder / "test" / "Kernels").glob("*.mlir")):
        for options, entry in line.findall(program.read_text()):
            if is_all or entry in KERNELS.get(program.stem, []):
                yield [program, *shlex.split(options.replace("--report", ""))]


def run(arguments):
    """The output of a run, and whether its results are right."""
    done = subprocess.run(["mdh", "run", *arguments, "--no-warnings"], capture_output=True, text=True)
    return done.stdout + done.stderr, done.returncode == 0 and "check  passed" in done.stdout


def wrong(arguments, is_all):
    """Counts the runs of a program, and gives a text for each run that is wrong."""
    count, found = 0, []
    gaps = [[]]
    if is_all:
        # So many places as the message about one that there is not says.
        said, _ = run([*arguments, "--between", PASSES, "--between-gap", str(10**6)])
        below = re.search(r"expected the number of a pass, below (\d+)", said)
        gaps += [["--between-gap", str(gap)] for gap in range(int(below[1]))]
    for gap in gaps:
        whole = [*map(str, arguments), "--between", PASSES, *gap]
        said, is_right = run(whole)
        count += 1
        if not is_right:
            found.append(f"mdh run {shlex.join(whole)}\n{said}")
    return count, found


how, folder = sys.argv[1:]
if how not in ["some", "each"]:
    sys.exit(f"found '{how}', expected some or each")
every = list(commands(pathlib.Path(folder), how == "each"))
with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if how == "each" else 1) as pool:
    results = list(pool.map(lambda arguments: wrong(arguments, how == "each"), every))
for count, found in results:
    print("\n".join(found), end="")
runs, all_wrong = sum(count for count, _ in results), sum(len(found) for _, found in results)
print(f"{runs} runs of {len(every)} programs, {all_wrong} of them wrong")
sys.exit(all_wrong > 0)
