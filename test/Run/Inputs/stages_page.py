"""docs/stages.md: one program at every stage of two targets.

    stages_page.py MDH [--write]

Fails if the page differs from what MDH prints, and shows the first difference; with --write it writes
the page.
"""

import difflib
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
PAGE = os.path.join(ROOT, "docs", "stages.md")
PROGRAM = os.path.join("test", "Run", "Inputs", "stages.mlir")
MACHINE = os.path.join("test", "Inputs", "avx2.json")
# A stage that is longer is cut: by then one line says little.
LONGEST = 45
INTRODUCTION = """# Every stage of one program

The product of a matrix and a vector on its way to machine code, as `mdh compile --emit STAGE` prints it: for a
processor (`--device cpu`, AVX2 with 2 cores) and for an NVIDIA GPU (`--device cuda`). The order of the stages, and the
passes of each, stand on one page, [`passes/src/pipelines.rs`](../passes/src/pipelines.rs). This page is
written by `python3 test/Run/Inputs/stages_page.py target/release/mdh --write`, and a test compares it
with what `mdh` prints.

Long stages are cut after some lines, and long lines too. What a processor's line ends with, `llvm` and `asm`, is not
here: it names the features of the machine that compiles. All of a stage is what this prints:

<!-- executed by test/Run/stages.test -->
```text
COMMAND
```
"""
TARGETS = {"cpu": "A processor", "cuda": "An NVIDIA GPU"}
STAGES = {
    "cpu": ["mdh", "formed", "raised", "compute", "bufferized", "scheduled", "tiles", "vector", "loops",
            "parallel", "llvm-dialect"],
    "cuda": ["scheduled", "placed", "tiles", "kernels", "vector", "loops", "device", "nvvm", "parallel",
             "llvm-dialect", "ptx"],
}


def arguments(target, stage):
    """Arguments of mdh for a stage."""
    return ["compile", PROGRAM, "--device", target, "--emit", stage, "--no-range-checks"]


def printed(mdh, target, stage):
    """A stage as mdh prints it."""
    environment = dict(os.environ, MDH_ASM=os.path.join(ROOT, MACHINE), NO_COLOR="1")
    command = [mdh, *arguments(target, stage)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed with {done.returncode}:\n{done.stderr}")
    return done.stdout


def block(text):
    """A stage's text, cut if it is long, without what differs by machine."""
    lines = [line.rstrip() for line in text.rstrip().split("\n")]
    lines = [line[:150] + " .." if len(line) > 153 else line for line in lines]
    # Data layouts and processors are LLVM's words for the machine that compiles.
    lines = [re.sub(r"attributes \{.*(dlti|llvm\.).*\} \{", "{", line) for line in lines]
    if len(lines) > LONGEST:
        left = len(lines) - LONGEST
        lines = lines[:LONGEST] + [f"// .. {left} more lines"]
    return "\n".join(lines)


def shared(mdh, target):
    """The stages of a target before those that the page shows: they must be the processor's."""
    before = STAGES["cpu"][:STAGES["cpu"].index(STAGES[target][0])]
    differing = [stage for stage in before if printed(mdh, target, stage) != printed(mdh, "cpu", stage)]
    if differing:
        sys.exit(f"{target}: {', '.join(differing)} differ from the cpu's: the page has to show them")
    return before


def page(mdh):
    """The page."""
    command = " ".join([f"MDH_ASM={MACHINE} target/release/mdh", *arguments("cuda", "tiles")])
    parts = [INTRODUCTION.replace("COMMAND", command)]
    for target, heading in TARGETS.items():
        parts.append(f"\n## {heading}\n")
        before = shared(mdh, target)
        if before:
            parts.append(f"\n`{before[0]}` to `{before[-1]}` are those of a [processor](#a-processor).\n")
        for stage in STAGES[target]:
            parts.append(f"\n### {target}: {stage}\n\n<!-- executed by test/Run/stages.test -->\n```text\n{block(printed(mdh, target, stage))}\n```\n")
    return "".join(parts)


def main():
    wanted = page(os.path.abspath(sys.argv[1]))
    if "--write" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(wanted)
        return
    with open(PAGE, encoding="utf-8") as file:
        found = file.read()
    if found != wanted:
        lines = difflib.unified_diff(found.split("\n"), wanted.split("\n"), "docs/stages.md", "mdh", lineterm="")
        sys.exit("\n".join(list(lines)[:40]) + "\nwrite it again: see test/Run/Inputs/stages_page.py")


if __name__ == "__main__":
    main()
