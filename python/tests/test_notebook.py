"""The notebook docs/mdh.ipynb: its cells as plain Python, and in a kernel where nbclient is installed."""

import ast
import importlib.util
import json
import linecache
import pathlib
from xml.etree import ElementTree

import pytest

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "docs" / "mdh.ipynb"
KERNELS = all(importlib.util.find_spec(package) for package in ("nbclient", "nbformat", "ipykernel"))

pytestmark = pytest.mark.skipif(not NOTEBOOK.is_file(), reason="the repository is not there")


def cells():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]


def execute(source, name, scope):
    """Executes a cell, and returns the value of its last line if that is an expression, as a notebook shows it."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), scope)
    return None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), scope)


@pytest.mark.runs
def test_cells(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))
    scope = {"__name__": "__main__"}
    pictures = 0
    for number, cell in enumerate(cells()):
        if cell["cell_type"] != "code":
            continue
        shown = execute("".join(cell["source"]), f"{NOTEBOOK}:{number}", scope)
        if hasattr(shown, "_repr_html_"):
            assert ElementTree.fromstring(shown._repr_html_()).find(".//{http://www.w3.org/2000/svg}svg") is not None
            pictures += 1
    assert pictures == 3


@pytest.mark.runs
@pytest.mark.skipif(not KERNELS, reason="nbclient is not installed")
def test_in_a_kernel(tmp_path, monkeypatch):
    import nbclient
    import nbformat

    monkeypatch.setenv("MDH_CACHE", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("text/html" in output.get("data", {}) for output in outputs) == 3


def test_it_is_kept_without_outputs():
    for cell in cells():
        assert not cell.get("outputs") and cell.get("execution_count") is None
