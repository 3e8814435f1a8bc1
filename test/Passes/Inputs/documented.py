"""Executes the examples at the top of the passes' source files.

    documented.py mdh-opt passes/src

A file of passes/src that shows a rewrite has blocks of MLIR in its module's comment, each with
the IR before, a line `// becomes`, and the IR after. What the pass makes of the former must
print as the latter does, but for values that are unused or computed twice. The pass is the one whose row stands in the file, or canonicalize for
the files of that folder. Blocks that are no whole functions are passed over.
"""

import pathlib
import re
import subprocess
import sys


def blocks(source):
    """The MLIR blocks of a file's leading `//!` comment."""
    comment = []
    for line in source.splitlines():
        if not line.startswith("//!"):
            break
        comment.append(line[4:])
    return re.findall(r"^```mlir\n(.*?)^```", "\n".join(comment), re.M | re.S)


def pass_of(path, source):
    if "canonicalize" in path.parts:
        return "canonicalize"
    argument = re.search(r'argument: "([^"]+)"', source)
    return argument and argument.group(1)


def printed(mdh_opt, text, flags):
    done = subprocess.run([mdh_opt, *flags], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{text}\n{done.stderr}")
    return done.stdout


def main():
    mdh_opt, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    count = failures = 0
    for path in sorted(folder.rglob("*.rs")):
        source = path.read_text()
        for block in blocks(source):
            before, _, after = block.partition("// becomes\n")
            if "func.func" not in before or "func.func" not in after:
                continue
            name = pass_of(path, source)
            count += 1
            found = printed(mdh_opt, before, [f"--{name}", "--cse"])
            expected = printed(mdh_opt, after, ["--cse"])
            if found != expected:
                failures += 1
                print(f"{path}: --{name} gives\n{found}\nbut the comment says\n{expected}")
    print(f"{count} rewrites, {failures} not as their comments say")
    sys.exit(failures > 0)


main()
