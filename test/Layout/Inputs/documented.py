"""Runs the commands of a page's console blocks in the repository, and compares what they print."""

import os
import re
import subprocess
import sys

page = open(sys.argv[1], encoding="utf-8").read()
root = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1])))
blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
commands = [c for block in blocks for c in re.split(r"(?m)^\$ ", block) if c]
assert commands, "found no commands"
for text in commands:
    command, _, expected = text.partition("\n")
    done = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True)
    found = done.stdout + done.stderr
    if found != expected:
        sys.exit(f"{command}\nfound\n{found}\nexpected\n{expected}")
