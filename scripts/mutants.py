"""Mutants of the lowering: what scripts/mutants says.

usage: mutants.py --folder DIR [--list] [--only NAME,NAME..]
"""

import argparse
import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKED = re.compile(r"@\{(.*)\}@", re.DOTALL)
SURVIVORS = 2
# What a copy has beside the repository's files.
OTHERS = (".git", ".venv", "target")
# A mutant whose tests take this long, in seconds, does not end.
LIMIT = 900
# Which mutant is on, asked by the mutated code.
SWITCH = """
/// Returns whether a mutant is switched on.
pub fn mutant(number: u32) -> bool {
    static ON: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    let read = || std::env::var("MDH_MUTANT").ok()?.parse().ok();
    *ON.get_or_init(read) == Some(number)
}
"""
NEXTEST = ["cargo", "nextest", "run", "--release", "--locked", "--cargo-quiet"]
RANDOM = [*NEXTEST, "--fail-fast", "-p", "mdh-fuzz", "-E"]
# The tests, in the order in which they are tried: name, command, environment.
KILLERS = [
    ("exact", [*RANDOM, "test(exact)"], {"MDH_RANDOM_CASES": "60", "MDH_RANDOM_STEPS": "0"}),
    ("kernels", [*RANDOM, "test(kernels)"], {"MDH_KERNEL_CASES": "60"}),
    ("scripts", [*RANDOM, "test(random_scripts) | test(random_loops)"], {"MDH_RANDOM_CASES": "200"}),
    # Searches and benchmarks are no tests of the lowering.
    ("lit", ["{lit}", "-q", "-j", "2", "--timeout", "300", "--max-failures", "1", "--filter-out", "tune|bench|shared",
             "test/Passes", "test/Kernels", "test/Simulator", "test/Run", "test/Cuda", "test/Errors"], {}),
]


class Mutant:
    """A breakage: what of a file is replaced by what."""

    def __init__(self, number, row):
        self.number = number
        self.name, self.kind, self.file, self.by = (row[key] for key in ("name", "kind", "file", "by"))
        self.test = row.get("test")
        before, self.broken, behind = re.split(r"@\{|\}@", row["at"])
        self.at = before + self.broken + behind
        self.before, self.behind = before, behind

    def problem(self, text):
        """The reason why it does not apply to a file; None if it does."""
        count = text.count(self.at)
        if count != 1:
            return f"{self.name}: found {count} of its places in {self.file}, expected one"
        if self.test and not (ROOT / self.test).is_file():
            return f"{self.name}: found no test {self.test}"
        return None

    def switched(self):
        """Its place with both codes, of which one runs."""
        crate = "crate" if self.file.startswith("algebra/") else "mdh_algebra"
        choice = f"if {crate}::mutant({self.number}) {{ {self.by} }} else {{ {self.broken} }}"
        return self.before + (choice if self.broken.rstrip().endswith(";") else f"({choice})") + self.behind


def mutants():
    """All of them, numbered from one."""
    rows = tomllib.loads((ROOT / "scripts" / "mutants.toml").read_text())["mutant"]
    return [Mutant(number, row) for number, row in enumerate(rows, 1)]


def problems():
    """Reasons why mutants do not apply to the sources as they are."""
    found = [mutant.problem((ROOT / mutant.file).read_text()) for mutant in mutants()]
    names = collections.Counter(mutant.name for mutant in mutants())
    found += [f"{name}: found {count} mutants of this name, expected one" for name, count in names.items() if count > 1]
    return [problem for problem in found if problem]


def copy_tree(tree):
    """Makes the tree hold the repository's files with the mutants in them; what has not changed keeps its time."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"],
                            check=True, capture_output=True).stdout.decode().split("\0")
    files = {file for file in listed if (ROOT / file).is_file()}
    broken = collections.defaultdict(list)
    for mutant in mutants():
        broken[mutant.file].append(mutant)
    for old in [path for path in tree.rglob("*") if path.is_file() or path.is_symlink()]:
        name = old.relative_to(tree)
        if str(name) not in files and name.parts[0] not in OTHERS:
            old.unlink()
    for file in files:
        content = (ROOT / file).read_bytes()
        for mutant in broken.get(file, []):
            content = content.decode().replace(mutant.at, mutant.switched()).encode()
        if file == "algebra/src/lib.rs":
            content += SWITCH.encode()
        to = tree / file
        if not to.is_file() or to.read_bytes() != content:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(content)
            shutil.copymode(ROOT / file, to)
    # The tests of tidy and the seeds ask git, which would find the tree around this one.
    if not (tree / ".git").exists():
        subprocess.run(["git", "init", "-q", tree], check=True)
    venv = tree / ".venv"
    if not venv.exists():
        venv.symlink_to(ROOT / ".venv")


def digest(tree):
    """A name of the sources that the results belong to."""
    files = sorted(path for path in tree.rglob("*.rs"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


class Tests:
    """Runs the tests of a mutated tree."""

    def __init__(self, folder):
        self.tree, self.log = folder / "tree", folder / "logs"
        # A choice between two codes has parentheses, whether its place needs them or not. These flags are added to
        # those of .cargo/config.toml, which RUSTFLAGS would replace.
        flags = {"CARGO_TARGET_DIR": str(folder / "build"), "CARGO_BUILD_RUSTFLAGS": "-Awarnings"}
        self.environment = {**os.environ, **flags}
        self.log.mkdir(parents=True, exist_ok=True)

    def build(self):
        """Builds programs and tests."""
        for command in (["cargo", "build", "--release", "--workspace", "--locked", "--quiet"],
                        [*NEXTEST, "-p", "mdh-fuzz", "--no-run"]):
            subprocess.run(command, cwd=self.tree, env=self.environment, check=True)

    def fails(self, number, killer, first=None):
        """Says whether a test fails with a mutant: in words, or nothing. One of lit's may come first."""
        name, command, variables = killer
        if first and name == "lit" and (reason := self.fails(number, (name, ["{lit}", "-q", first], variables))):
            return reason
        lit = [str(ROOT / ".venv/bin/python"), os.environ["MDH_LLVM_PREFIX"] + "/bin/lit"]
        command = [part for word in command for part in (lit if word == "{lit}" else [word])]
        switches = {"MDH_FIRST_FAILURE": "1", "MDH_MUTANT": str(number)}
        environment = {**self.environment, **variables, **switches}
        with open(self.log / f"{number}.{name}.txt", "wb") as log:
            try:
                done = subprocess.run(command, cwd=self.tree, env=environment, timeout=LIMIT, stdout=log,
                                      stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                return "does not end"
        return f"exit status {done.returncode}" if done.returncode else None


def table(chosen, results):
    """The results by kind, and who survives."""
    killers = [name for name, *_ in KILLERS]
    print("| kind | mutants | " + " | ".join(f"killed by {name}" for name in killers) + " | survive |")
    print("|---" * (len(killers) + 3) + "|")
    kinds = collections.defaultdict(list)
    for mutant in chosen:
        kinds[mutant.kind].append(results[mutant.name])
    for kind, found in [*kinds.items(), ("all", [results[mutant.name] for mutant in chosen])]:
        counts = [str(found.count(by)) for by in [*killers, None]]
        print(f"| {kind} | {len(found)} | " + " | ".join(counts) + " |")
    survivors = [mutant for mutant in chosen if results[mutant.name] is None]
    for mutant in survivors:
        print(f"survives: {mutant.name} ({mutant.file})")
    return len(survivors)


def main():
    parser = argparse.ArgumentParser(prog="scripts/mutants")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--list", action="store_true", help="only lists the mutants")
    parser.add_argument("--only", help="names of mutants, with commas")
    arguments = parser.parse_args()
    if found := problems():
        sys.exit("\n".join(["error: mutants do not apply; mend scripts/mutants.toml:", *found]))
    chosen = mutants()
    if arguments.only:
        names = arguments.only.split(",")
        if unknown := set(names) - {mutant.name for mutant in chosen}:
            sys.exit(f"error: found {', '.join(sorted(unknown))}, expected names of scripts/mutants.toml")
        chosen = [mutant for mutant in chosen if mutant.name in names]
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant.number:3} {mutant.kind:8} {mutant.name} ({mutant.file})")
        return
    folder = arguments.folder.resolve()
    tests = Tests(folder)
    tests.tree.mkdir(parents=True, exist_ok=True)
    copy_tree(tests.tree)
    tests.build()
    sources, kept = digest(tests.tree), folder / "results.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    known = {(line["name"], line["killer"]): line["why"] for line in lines if line["sources"] == sources}

    def why(name, number, killer, first=None):
        """Says why a test fails with a mutant: what is known, or what comes out now."""
        if (name, killer[0]) not in known:
            start = time.time()
            found = known[name, killer[0]] = tests.fails(number, killer, first)
            result = {"name": name, "killer": killer[0], "why": found, "sources": sources}
            # A failure without a mutant is tried again: the machine may have been busy.
            if number or not found:
                with open(kept, "a") as file:
                    file.write(json.dumps({**result, "seconds": round(time.time() - start)}) + "\n")
            print(f"{name}, {killer[0]}: {found or 'passes'}, {time.time() - start:.0f} s", flush=True)
        return known[name, killer[0]]

    # Each kind of test meets all that are left, the fast ones first.
    results = dict.fromkeys(mutant.name for mutant in chosen)
    for killer in KILLERS:
        alive = [mutant for mutant in chosen if results[mutant.name] is None]
        if alive and (reason := why("none", 0, killer)):
            sys.exit(f"error: '{killer[0]}' fails without a mutant ({reason}); see {tests.log}/0.{killer[0]}.txt")
        for mutant in alive:
            if why(mutant.name, mutant.number, killer, mutant.test):
                results[mutant.name] = killer[0]
    sys.exit(table(chosen, results) > SURVIVORS)


if __name__ == "__main__":
    main()
