"""Every example at the stages that people read, on both kinds of targets: nothing in them is dead, computed twice
or known before.

    clean_stages.py RELEASE FOLDER
"""

import glob
import os
import re
import subprocess
import sys

RELEASE, FOLDER = sys.argv[1:]
TARGETS = ["cpu", "cuda"]
# Tiles are as `cse` and `canonicalize` would leave them, to the letter. In loops, conditions that
# vectorization has doubled may still be joined, which moves code but removes none of it.
ARITHMETIC = re.compile(r"= (arith|affine|vector|math|memref\.(dim|rank))\b(?!\.constant )")


def run(*command, text=None):
    """Returns what a program prints; ends the test if it fails."""
    environment = dict(os.environ, MDH_ASM=os.path.join(os.path.dirname(__file__), "..", "..", "Inputs", "avx2.json"))
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def arithmetic(text):
    """Counts the places where a module computes something."""
    return sum(1 for line in text.splitlines() if ARITHMETIC.search(line))


def cancelled(text):
    """Differences of which a part is subtracted again: `a - (0 - x)`, and `(a + x) - x` by one or two additions."""
    zeros, negated, sums, found = set(), {}, {}, []
    for line in text.splitlines():
        # Regions beside each other name their values alike.
        for name in re.findall(r"^\s*(%\w+)(?::\d+)? = ", line):
            zeros.discard(name)
            negated.pop(name, None)
            sums.pop(name, None)
        if constant := re.match(r"\s*(%\S+) = arith\.constant 0 : index$", line):
            zeros.add(constant[1])
        binary = re.match(r"\s*(%\S+) = arith\.(addi|subi) (%\S+), (%\S+) : index$", line)
        if not binary:
            continue
        name, operation, a, b = binary.groups()
        if operation == "addi":
            sums[name] = {a, b} | sums.get(a, set()) | sums.get(b, set())
        elif b in negated or b in sums.get(a, ()):
            found.append(line.strip())
        elif a in zeros:
            negated[name] = b
    return found


def main():
    mdh, opt = (os.path.join(RELEASE, name) for name in ("mdh", "mdh-opt"))
    files = sorted(glob.glob(os.path.join(FOLDER, "*.mlir")) + glob.glob(os.path.join(FOLDER, "tdsl", "*.tdsl")))
    if not files:
        sys.exit(f"{FOLDER}: found no examples")
    wrong = []
    for file in files:
        for target in TARGETS:
            tiles = run(opt, text=run(mdh, "compile", file, "--device", target, "--emit", "tiles"))
            clean = run(opt, "--cse", "--canonicalize", text=tiles)
            if tiles != clean:
                wrong.append(f"{file} for {target} at tiles: --cse --canonicalize makes of\n{tiles}\nthis:\n{clean}")
            loops = run(opt, text=run(mdh, "compile", file, "--device", target, "--emit", "loops", "--no-range-checks"))
            clean = run(opt, "--cse", "--canonicalize", text=loops)
            if arithmetic(loops) > arithmetic(clean):
                found = f"{arithmetic(loops)} operations, of which --cse --canonicalize leave {arithmetic(clean)}"
                wrong.append(f"{file} for {target} at loops: {found}")
            for stage, text in ("tiles", tiles), ("loops", loops):
                wrong += [f"{file} for {target} at {stage}: '{line}' subtracts a part again" for line in cancelled(text)]
    sys.exit("\n".join(wrong) or 0)


main()
