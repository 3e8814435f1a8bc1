"""Random programs of compatible statements, whose last steps read nothing of what they assign, or the same
element without a sum: none of them has a second memory, and all are right.

    in_place.py PREFIX COUNT    names the files that are made
"""

import json
import random
import subprocess
import sys

SIZE = 24
DECLARED = f"""var M : [{SIZE} {SIZE}]
var N : [{SIZE} {SIZE}]
var s : []
var x : [{SIZE}]
var y : [{SIZE}]
"""


def other(name):
    """The vector that is not assigned."""
    return "y" if name == "x" else "x"


def statement(target, draw):
    """A compatible assignment."""
    read, matrix = other(target), draw.choice("MN")
    sums = [
        f"({matrix} # {read}) . [2 3]",
        f"({read} # {matrix}) . [1 2]",
        f"(exp({matrix} # s) # {read}) . [2 3]",
        f"({matrix} # {draw.choice('MN')} # {read}) . [[2 3] [4 5]]",
    ]
    elements = [
        f"s * {target}",
        f"{target} * {read} + {read}",
        f"tanh({read})",
        f"{draw.choice(sums)} * {target}",
    ]
    return f"{target} = {draw.choice(sums + elements)}\n"


def run(*command):
    """Returns what a command prints."""
    done = subprocess.run(["mdh", *command], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr}"


def problem(path):
    """Says what is wrong with a program, or None."""
    scheduled = run("compile", path, "--emit", "scheduled")
    if "mdh.compute" not in scheduled or "memref.copy" in scheduled:
        return f"expected computations without copies, found\n{scheduled}"
    explained = run("explain", "--verbose", path)
    if "statement 0" not in explained or "in a temporary" in explained:
        return f"expected results in their places, found\n{explained}"
    report = run("run", path, "--random", "1", "--check", "--json")
    if not report.startswith("{") or not json.loads(report)["check"]["passed"]:
        return f"expected right results, found\n{report}"
    return None


def main(prefix, count):
    wrong = 0
    for number in range(int(count)):
        draw = random.Random(number)
        # Both are read before they are assigned, so that both have memory of the caller's.
        lines = [f"x = x + y\n", f"y = s * y\n"]
        lines += [statement(draw.choice("xy"), draw) for _ in range(draw.randint(1, 5))]
        path = f"{prefix}-{number}.tdsl"
        with open(path, "w", encoding="ascii") as file:
            file.write(DECLARED + "".join(lines))
        if text := problem(path):
            print(f"{DECLARED}{''.join(lines)}{text}")
            wrong += 1
    print(f"{wrong} of the programs are wrong")


main(*sys.argv[1:])
