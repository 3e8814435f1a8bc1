"""Executes the blocks of a page of docs/, or of README.md.

    pages.py RELEASE PAGE

It works in a folder that sees what stands in the repository's root. What becomes of a block goes
by its language, or by a comment in the line before it:

- ```console: each command after `$ ` prints what follows it, where a line `...` is any number of
  lines, and ` ...` at the end of a line what is left of it.
- ```sh: the commands succeed.
- ```python and ```py: a test of python/tests names the page and executes it, by the wheel.
- ```mlir, ```json: a schedule is read by `mdh schedule`, any other program by `mdh-opt`.
- `<!-- file: NAME -->`: the block is a file, for the commands that follow; one of the tensor
  language is checked.
- `<!-- in: NAME -->`: the block stands in a file, which the commands before may have written.
- `<!-- executed by PATH -->`: a test of the repository, which names the page, executes the block.
- `<!-- not executed: REASON -->`: nobody does.

The last line counts what is executed and what is not. docs/langref.md has rules of its own, and a
test: test/python/test_langref.py.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LLVM = os.environ.get("MDH_LLVM_PREFIX", "/usr/lib/llvm-22")
BLOCK = re.compile(r"(?ms)^(?:<!-- ([^\n]*?) -->\n)?^```(\w*)(?: [^\n]*)?\n(.*?)^```$")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pattern(expected):
    """A regular expression for what a command prints."""
    pieces = re.split(r"(?m)^\.\.\.\n", expected)
    lines = lambda piece: re.escape(piece).replace(re.escape(" ...\n"), r" .*\n")
    return r"(?:.*\n)*?".join(map(lines, pieces))


class Page:
    """A page, and the folder in which its commands run."""

    def __init__(self, release, path, folder, environment):
        self.path, self.folder = path, folder
        for name in os.listdir(ROOT):
            if name != "target":
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        os.symlink(os.path.dirname(release), os.path.join(folder, "target"))
        # A GPU, and LLVM's tools under Debian's names.
        tools = os.path.join(folder, ".tools")
        os.mkdir(tools)
        os.symlink(os.path.join(release, "libmdh_ptx.so"), os.path.join(tools, "libcuda.so.1"))
        for tool in ("mlir-opt", "clang++"):
            os.symlink(os.path.join(LLVM, "bin", tool), os.path.join(tools, f"{tool}-22"))
        self.environment = {**environment, "NO_COLOR": "1", "LD_LIBRARY_PATH": tools,
                            "PATH": os.pathsep.join([release, tools, environment.get("PATH", "")])}

    def run(self, command):
        return subprocess.run(["bash", "-ec", command], cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=self.environment)

    def succeeds(self, command):
        """Returns what a command says if it fails, or None."""
        done = self.run(command)
        return f"{command}\nfails:\n{done.stdout}{done.stderr}" if done.returncode else None

    def prints(self, text):
        """Says what is wrong with a block of commands and what they print, or None."""
        for one in re.split(r"(?m)^\$ ", text)[1:]:
            command, _, expected = one.partition("\n")
            done = self.run(command)
            found = done.stdout + done.stderr
            if not re.fullmatch(pattern(expected), found):
                return f"{command}\nfound\n{found}\nexpected\n{expected}"
        return None

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def wrong(self, note, language, text):
        """Says what is wrong with a block, or None."""
        kind, _, name = note.partition(" ") if note.startswith("executed by ") else note.partition(": ")
        if kind == "executed":
            path = name.removeprefix("by ")
            names = os.path.isfile(os.path.join(ROOT, path)) and os.path.basename(self.path) in read(os.path.join(ROOT, path))
            return None if names else f"{path} does not name the page"
        if kind == "file":
            self.write(name, text)
            return self.succeeds(f"mdh check {name}") if name.endswith(".tdsl") else None
        if kind == "in":
            return None if text in read(os.path.join(self.folder, name)) else f"{name} has nothing like\n{text}"
        if language == "console":
            return self.prints(text)
        if language == "sh":
            return self.succeeds(text)
        if language in ("python", "py"):
            tests = glob.glob(os.path.join(ROOT, "python", "tests", "test_*.py"))
            if any(os.path.basename(self.path) in read(test) for test in tests):
                return None
            return "no test in python/tests names the page"
        if language in ("mlir", "json"):
            is_schedule = language == "json" or text.startswith("#mdh.schedule")
            name = "block.json" if language == "json" else "block.attr" if is_schedule else "block.mlir"
            self.write(name, text)
            return self.succeeds(f"mdh schedule {name} --emit attr" if is_schedule else f"mdh-opt {name}")
        return f"nothing executes ```{language}: say in a comment before it what does, or why nothing can"


def check(release, path, environment=os.environ):
    """(blocks executed, the reasons of those that are not, what is wrong) of a page."""
    executed, skipped, failures = 0, [], []
    text = read(path)
    with tempfile.TemporaryDirectory() as folder:
        page = Page(os.path.abspath(release), path, folder, environment)
        for match in BLOCK.finditer(text):
            note = match[1] or ""
            if note.startswith("not executed: "):
                skipped.append(note)
                continue
            executed += 1
            wrong = page.wrong(note, match[2], match[3])
            if wrong is not None:
                failures.append(f"{path}:{text.count(chr(10), 0, match.start(2)) + 1}: {wrong}")
    return executed, skipped, failures


def main():
    executed = skipped = failed = 0
    for path in sys.argv[2:]:
        one, others, failures = check(sys.argv[1], path)
        executed, skipped, failed = executed + one, skipped + len(others), failed + len(failures)
        for line in [*failures, *(f"{path}: {other}" for other in others)]:
            print(line)
    print(f"{executed} blocks are executed, {failed} of them wrong; {skipped} are not")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
