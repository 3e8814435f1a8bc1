#!/usr/bin/env python3
"""Calls compiled functions under a sanitizer: run.py FOLDER SANITIZER [PROGRAM ...]

    PROGRAM.mlir   --mdh compile-->  LLVM IR, optimised as ever
      --a call to the sanitizer at each access of memory (opt, clang)-->  an object file
      --a caller in C, libmdhrt-->  a program, which runs with random numbers

SANITIZER is `address` or `thread`. A PROGRAM is a file or a folder of testing's example `cases`:
f.mlir, what it is called with, and a schedule. Before all of them comes wrong.mlir, each function
of which the sanitizer must report.

Compiled code is all that is instrumented, and the caller: libmdhrt is not, so that what its
mdh_copy does with memory is seen only where it calls the C library's memcpy. Under `address`
parallel loops run on libmdhrt's threads, and what is allocated and not released is reported, too;
under `thread` on those of caller.c, which says why. The thread sanitizer looks at accesses of up
to 16 bytes without a mask and at no others, so that vectors become scalars first; the target's
features go, with which masks would stay.
"""

import collections
import os
import re
import shutil
import subprocess
import sys

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import interface

HERE = Path(__file__).resolve().parent
LLVM = Path(os.environ["MDH_LLVM_PREFIX"]) / "bin"
RELEASE = Path(os.environ["MDH_RELEASE"])

# What open extents are: less than a vector, no multiple of anything, and several tiles.
USUAL = (1, 61, 1030)
# Exit codes: of a call that is refused (caller.c), and of a report.
REFUSED, REPORTED = 3, 66
SECONDS = 300
# So much of what a tool or a sanitizer says is shown.
SHOWN = 3000
# What is no defect of compiled code. (A schedule may ask for what is not followed.)
FINE = ("silent", "not followed", "without a form in C")
# The functions of wrong.mlir that are wrong in a sanitizer's way.
WRONG = {"address": "beyond", "thread": "race"}

OPTIONS = {
    "address": {"ASAN_OPTIONS": f"exitcode={REPORTED}:detect_leaks=1", "LSAN_OPTIONS": f"exitcode={REPORTED}"},
    "thread": {"TSAN_OPTIONS": f"exitcode={REPORTED}:halt_on_error=1"},
}


class Failed(Exception):
    """A tool failed: what it said."""


def tool(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def instrumented(code, sanitizer):
    """Code whose functions ask for the sanitizer."""
    code = re.sub(r"^(define .*\)(?: (?:local_)?unnamed_addr)?)", rf"\1 sanitize_{sanitizer}", code, flags=re.M)
    if sanitizer == "thread":
        code = re.sub(r'"(target-cpu|target-features|prefer-vector-width)"="[^"]*"', "", code)
    return code


def compiled(folder, file, schedule, sanitizer, options=()):
    """The object file of a program; and the interfaces of its functions."""
    command = [RELEASE / "mdh", "compile", file, *options, *(["--schedule", schedule] if schedule else [])]
    tool(*command, "--emit", "header", "-o", folder / "f.h")
    code = tool(*command, "--emit", "llvm")
    (folder / "f.ll").write_text(instrumented(code, sanitizer))
    if sanitizer == "thread":
        passes = "function(scalarize-masked-mem-intrin,scalarizer<load-store>)"
        tool(LLVM / "opt", f"-passes={passes}", "-S", folder / "f.ll", "-o", folder / "f.ll")
    clang = [LLVM / "clang", "-O1", f"-fsanitize={sanitizer}", "-Wno-override-module"]
    tool(*clang, "-c", folder / "f.ll", "-o", folder / "f.o")
    return interface.interfaces(code)


def linked(folder, calls, caller, sanitizer):
    (folder / "main.c").write_text(interface.program("f.h", calls))
    wrapped = ["mdh_parallel_for", "mdh_thread_count"] if sanitizer == "thread" else []
    tool(LLVM / "clang", "-O1", f"-fsanitize={sanitizer}", "--rtlib=compiler-rt",
         "--unwindlib=libgcc", "-I", HERE, "-I", folder,
         folder / "main.c", folder / "f.o", caller, *(f"-Wl,--wrap={name}" for name in wrapped),
         RELEASE / "libmdhrt.a", "-lm", "-lpthread", "-ldl", "-o", folder / "main")


def called(folder, name, sanitizer):
    """Returns the outcome of a function's calls, and what was said."""
    environment = {**os.environ, **OPTIONS[sanitizer], "MDH_THREADS": "4"}
    try:
        done = subprocess.run([folder / "main", name], capture_output=True, text=True, errors="replace",
                              env=environment, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "endless", f"no end in {SECONDS} s"
    outcome = {0: "silent", REFUSED: "refused", REPORTED: "reported"}
    return outcome.get(done.returncode, f"ended with {done.returncode}"), done.stderr


def arguments(folder):
    """Reads what the folder says of each argument: its shape and the file with its elements."""
    given = []
    for line in (folder / "arguments").read_text().splitlines():
        shape, file = line.split(" ")
        extents = [] if shape == "-" else [int(extent) for extent in shape.split("x")]
        given.append((extents, None if file == "-" else folder / file))
    return given


def tried(path, results, caller, sanitizer):
    """The outcome of each function of a program: with its name, and what was said."""
    path = Path(path)
    is_case = path.is_dir()
    name = f"{path.parent.name}-{path.name}" if is_case else path.stem
    folder = results / name
    folder.mkdir(parents=True, exist_ok=True)
    schedule = path / "schedule.json"
    try:
        if is_case:
            schedule = schedule if schedule.exists() else None
            found, usual = compiled(folder, path / "f.mlir", schedule, sanitizer), USUAL[:1]
            calls = [interface.call(text, arguments(path), n) for text in found for n in usual]
        else:
            found = compiled(folder, path, None, sanitizer)
            usual = USUAL if any(" ?" in text for text in found) else USUAL[:1]
            calls = [interface.call(text, [], n) for text in found for n in usual]
        linked(folder, calls, caller, sanitizer)
    except Failed as failure:
        return [(refusal(str(failure)), name, str(failure))]
    names = dict.fromkeys(function for function, _ in calls)
    outcomes = [(function, *called(folder, function, sanitizer)) for function in names]
    if all(outcome == "silent" for _, outcome, _ in outcomes):
        shutil.rmtree(folder)
    return [(outcome, f"{name} @{function}", said) for function, outcome, said in outcomes]


def refusal(said):
    """Names the reason that there is no program: a schedule may be one that is not followed, and
    a function may have no form in C."""
    if "has a schedule" in said:
        return "not followed"
    return "without a form in C" if " --emit header" in said.split("\n")[0] else "not compiled"


def is_trusted(results, caller, sanitizer):
    """Tells whether the sanitizer reports each function of wrong.mlir that is wrong in its way."""
    folder = results / "wrong"
    folder.mkdir(parents=True, exist_ok=True)
    found = compiled(folder, HERE / "wrong.mlir", None, sanitizer, ["--no-range-checks"])
    calls = [interface.call(text, [], USUAL[1]) for text in found]
    linked(folder, calls, caller, sanitizer)
    wrong = [name for name, _ in calls if name.startswith(WRONG[sanitizer])]
    silent = [name for name in wrong if called(folder, name, sanitizer)[0] != "reported"]
    for name in silent:
        print(f"the {sanitizer} sanitizer says nothing of wrong.mlir's @{name}")
    return wrong and not silent


def main():
    sanitizer, programs = sys.argv[2], sys.argv[3:]
    results = Path(sys.argv[1]).resolve() / sanitizer
    results.mkdir(parents=True, exist_ok=True)
    caller = results / "caller.o"
    clang = [LLVM / "clang", "-O1", f"-fsanitize={sanitizer}", "-Wall", "-Wextra", "-Werror"]
    tool(*clang, "-c", HERE / "caller.c", "-o", caller)
    if not is_trusted(results, caller, sanitizer):
        return 1
    totals, is_bad = collections.Counter(), False
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for outcomes in pool.map(lambda path: tried(path, results, caller, sanitizer), programs):
            for outcome, name, said in outcomes:
                totals[outcome] += 1
                if outcome not in FINE:
                    is_bad = True
                    print(f"== {name}: {outcome}, see {results}\n{said[:SHOWN]}", flush=True)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in totals.most_common())
    print(f"{sanitizer} sanitizer: {totals.total()} functions: {counts}")
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
