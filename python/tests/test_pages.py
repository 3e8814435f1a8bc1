"""The blocks of docs/python.md, in their order, in one namespace."""

import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="the repository is not there")
def test_python_page(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    namespace = {}
    for block in re.finditer(r"(?ms)^```python\n(.*?)^```$", text):
        line = text[: block.start(1)].count("\n")
        source = "\n" * line + block.group(1)
        exec(compile(source, str(PAGE), "exec"), namespace)
