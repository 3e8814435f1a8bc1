"""The recipes of docs/recipes.md: each section is a test of its own, after the block that all of them need."""

import importlib.util
import linecache
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
BLOCK = re.compile(r"(?ms)^```python(?: needs (\w+))?\n(.*?)^```$")


def sections():
    """The sections of the page, by heading: the text before the first one has an empty heading."""
    if not PAGE.is_file():
        return {}
    text = PAGE.read_text(encoding="utf-8")
    starts = [0, *(match.start() for match in re.finditer(r"(?m)^## ", text)), len(text)]
    parts = {}
    for start, end in zip(starts, starts[1:]):
        heading = text[start:end].partition("\n")[0].removeprefix("## ") if start else ""
        parts[heading] = (text.count("\n", 0, start), text[start:end])
    return parts


SECTIONS = sections()


def execute(heading, scope):
    """Executes the blocks of a section in a namespace, with the lines that they have on the page."""
    line, text = SECTIONS[heading]
    for block in BLOCK.finditer(text):
        package, code = block.groups()
        if package and importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
        # Loops are read from their source.
        source = "\n" * (line + text.count("\n", 0, block.start(2))) + code
        name = f"{PAGE}:{heading}"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), scope)


@pytest.mark.runs
@pytest.mark.skipif(not SECTIONS, reason="the repository is not there")
@pytest.mark.parametrize("heading", [heading for heading in SECTIONS if heading])
def test_recipe(heading, tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))
    scope = {"__name__": "recipes"}
    execute("", scope)
    execute(heading, scope)


@pytest.mark.skipif(not SECTIONS, reason="the repository is not there")
def test_each_recipe_has_a_block_that_checks_itself():
    headings = [heading for heading in SECTIONS if heading]
    assert len(headings) == 20
    for heading in headings:
        assert any("assert" in block[2] for block in BLOCK.finditer(SECTIONS[heading][1])), heading
