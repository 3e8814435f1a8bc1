"""Executes the blocks of MLIR at the top of the passes' source files.

    documented.py PATH/OF/mdh-opt FILE-OR-FOLDER..

A block is what a pass makes of a program:

    ```mlir
    // mdh-opt FLAGS..
    the program before
    // becomes
    what there is afterwards
    ```

Without flags it is the pass whose row stands in the file, or canonicalize for the files of that
folder, and cse. A program that is long stands in test/Documented/Inputs, and then the line names
it, `// mdh-opt NAME.mlir FLAGS..`, and the block is what there is afterwards. What there is
afterwards, if it is whole functions, must print as the result does, but for values that are unused
or computed twice; otherwise the result must have it in it: `..` stands for whatever there is, names
of values are those of the result, whatever it calls them, and how lines are broken says nothing.

A block that is not executed says so, and why: ```` ```mlir not executed: REASON ````. The last
line counts both kinds.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {**os.environ, "MDH_ASM": str(HERE.parent / "Inputs" / "avx512.json")}
NAME = r"%[\w$-]*[\w$](?:\.[\w$-]+)*"


def comment(source):
    """The text of a file's leading `//!` comment."""
    lines = []
    for line in source.splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line[4:])
    return "\n".join(lines)


def blocks(source):
    """(info, text) of each block of MLIR in a file's leading comment."""
    return re.findall(r"^```mlir\b *([^\n]*)\n(.*?)^```", comment(source), re.M | re.S)


def pass_of(path, source):
    if "canonicalize" in path.parts:
        return "canonicalize"
    argument = re.search(r'argument: "([^"]+)"', source)
    return argument and argument.group(1)


def printed(mdh_opt, text, flags):
    """Returns what mdh-opt makes of a program in a file a.mlir, and what it says."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "a.mlir").write_text(text, encoding="utf-8")
        done = subprocess.run([os.path.abspath(mdh_opt), "a.mlir", *flags], cwd=folder, capture_output=True,
                              text=True, env=ENVIRONMENT)
    if done.returncode != 0:
        raise ValueError(f"mdh-opt {' '.join(flags)} refuses\n{text}\n{done.stderr}")
    return done.stdout, done.stderr


def pieces(pattern):
    """Regular expressions for what stands between the `..` of a pattern."""
    text = re.sub(r" *//.*", "", pattern).strip()
    known, all_pieces = {}, []
    for piece in re.split(r"\s*\.\.\.?\s*", text):
        parts = []
        for token in re.findall(rf"{NAME}|\s+|[^%\s]+|%", piece):
            if re.fullmatch(r"%c\d+", token):
                parts.append(re.escape(token) + r"(?:_\d+)?")
            elif re.fullmatch(NAME, token):
                fresh = token not in known
                group = known.setdefault(token, f"v{len(known)}")
                parts.append(f"(?P<{group}>{NAME})" if fresh else f"(?P={group})(?![\\w$-])")
            else:
                parts.append(r"\s+" if token.isspace() else re.escape(token))
        all_pieces.append("".join(parts))
    return all_pieces


def missing(pattern, output):
    """Returns what of a pattern is not in an output, from where they differ on; or None."""
    found = pieces(pattern)
    holds = lambda count: re.search(r".*?".join(found[:count]), output, re.S)
    if holds(len(found)):
        return None
    count = next(n for n in range(len(found), -1, -1) if n == 0 or holds(n))
    source = re.split(r"\s*\.\.\.?\s*", re.sub(r" *//.*", "", pattern).strip())
    return source[count]


def wrong(mdh_opt, path, source, block):
    """Says what is wrong with a block, or None."""
    first, _, rest = block.partition("\n")
    words = shlex.split(first) if first.startswith("// mdh-opt") else []
    flags, named = [f"--{pass_of(path, source)}", "--cse"], None
    if words[:2] == ["//", "mdh-opt"]:
        flags, block = words[2:], rest
        if flags and flags[0].endswith(".mlir"):
            named = (HERE / "Inputs" / flags.pop(0)).read_text()
    before, becomes, after = block.partition("// becomes")
    after = after.partition("\n")[2]
    if named is not None:
        before, after = named, block
    elif not becomes:
        return "found no line '// becomes' and no program: name one, or say why it is not executed"
    try:
        found, said = printed(mdh_opt, before, flags)
        if "func.func" in after and ".." not in after:
            expected, _ = printed(mdh_opt, after, ["--cse"])
            return None if found == expected else f"found\n{found}\nexpected\n{expected}"
        piece = missing(after, found + said)
        return piece and f"found\n{found}{said}\nexpected in it\n{after}\nof which there is no\n{piece}"
    except ValueError as error:
        return str(error)


def check(mdh_opt, path):
    """(blocks executed, blocks that are not, what is wrong) of a file."""
    path = pathlib.Path(path)
    source = path.read_text(encoding="utf-8")
    executed, skipped, failures = 0, [], []
    for number, (info, block) in enumerate(blocks(source), 1):
        if info.startswith("not executed: "):
            skipped.append(info)
            continue
        executed += 1
        reason = wrong(mdh_opt, path, source, block) if not info else f"found '```mlir {info}', expected '```mlir'"
        if reason is not None:
            failures.append(f"{path}, block {number}: {reason}")
    return executed, skipped, failures


def main():
    executed = skipped = failed = 0
    given = [pathlib.Path(path) for path in sys.argv[2:]]
    for path in sorted(one for path in given for one in (path.rglob("*.rs") if path.is_dir() else [path])):
        one, others, failures = check(sys.argv[1], path)
        executed, skipped, failed = executed + one, skipped + len(others), failed + len(failures)
        print("\n".join([*failures, *(f"{path}: {other}" for other in others)]), end="\n" if failures or others else "")
    print(f"{executed} blocks are executed, {failed} of them wrong; {skipped} are not")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
