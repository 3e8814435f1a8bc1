"""The page about the published forms: every block of it is executed."""

import linecache
import os
import re

import pytest

import mdh

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python-programs.md")


@pytest.mark.runs
def test_blocks():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    scope: dict = {"__name__": "page"}
    for match in re.finditer(r"(?ms)^```python\n(.*?)^```", text):
        # Loops are read from their source, which has the lines of the page.
        source = "\n" * text.count("\n", 0, match.start(1)) + match[1]
        name = f"{PAGE}:{match.start(1)}"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), scope)
    assert isinstance(scope["matvec_loops"], mdh.Computation)
