"""Says what the innermost loops of x86-64 assembly (AT&T syntax, on standard input) compute with.

One line for each of them that has a fused multiply-add:

    matmul_parallel: 24 packed on zmm (24 sums), 0 on narrower registers, 0 accesses to the stack

A loop is the text from a label to a jump back to it; it is innermost if no other is in it. Spills
are accesses to the stack: of the stack's pointer, of the frame's where the function has one, and
whatever the code generator's own remarks call a spill or a reload.
"""

import re
import sys

FMA = re.compile(r"\s+v?fn?m(?:add|sub)\d*([ps][sd])\s+(.*)")
LABEL = re.compile(r"(\.L\w+):")
JUMP = re.compile(r"\s+j\w+\s+(\.L\w+)")


def functions(lines):
    """The lines of each function, under its name."""
    name, found = None, {}
    for line in lines:
        if start := re.match(r"\"?([A-Za-z_][\w.$]*)\"?:", line):
            name = start[1]
        elif name is not None:
            found.setdefault(name, []).append(line)
    return found


def innermost(lines):
    """The innermost loops, each as its lines."""
    labels = {label[1]: n for n, line in enumerate(lines) if (label := LABEL.match(line))}
    jumps = [(jump[1], n) for n, line in enumerate(lines) if (jump := JUMP.match(line))]
    # A loop that continues has several jumps to its label: the last one closes it.
    last = {}
    for label, end in jumps:
        start = labels.get(label, end)
        if start < end:
            last[start] = max(end, last.get(start, 0))
    for start, end in last.items():
        if not any(start < other and last[other] <= end for other in last):
            yield lines[start : end + 1]


def described(loop, has_frame):
    """Says what a loop does, or nothing if it has no fused multiply-add."""
    packed, narrow, sums, stack = 0, 0, set(), 0
    memory = r"\(%r[sb]p[,)]" if has_frame else r"\(%rsp[,)]"
    for line in loop:
        code, _, remark = line.partition("#")
        stack += bool(re.search(memory, code) or "Spill" in remark or "Reload" in remark)
        if fma := FMA.match(code):
            result = fma[2].split(",")[-1].split("{")[0].strip()
            is_widest = fma[1].startswith("p") and result.startswith("%zmm")
            packed, narrow = packed + is_widest, narrow + (not is_widest)
            sums.add(result)
    if packed + narrow > 0:
        return (
            f"{packed} packed on zmm ({len(sums)} sums), {narrow} on narrower registers, "
            f"{stack} accesses to the stack"
        )
    return None


for name, lines in functions(sys.stdin.read().splitlines()).items():
    has_frame = any(re.match(r"\s+movq\s+%rsp, %rbp", line) for line in lines)
    for loop in innermost(lines):
        if text := described(loop, has_frame):
            print(f"{name}: {text}")
