"""Types for type checkers: the extension's stub, and the annotations of the package, are held against mypy."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import mdh

pytest.importorskip("mypy")

PACKAGE = pathlib.Path(mdh.__file__).parent
PROGRAM = pathlib.Path(__file__).with_name("typed_program.py")

#: Libraries of arrays are there or not, and large.
CONFIGURATION = """
[mypy]
check_untyped_defs = True
warn_unused_ignores = True
[mypy-torch.*,jax.*,cupy.*,torch_mlir.*,functorch.*]
follow_imports = skip
ignore_missing_imports = True
"""


@pytest.fixture
def checker(tmp_path):
    """A function that runs a module of mypy away from any sources, and expects that it finds nothing."""
    environment = dict(os.environ)
    # mypy finds an installed package by itself, and refuses to be told of the folder of these.
    if "site-packages" not in PACKAGE.parts:
        environment["PYTHONPATH"] = str(PACKAGE.parent)
    configuration = tmp_path / "mypy.ini"
    configuration.write_text(CONFIGURATION)

    def check(module, *words):
        command = [sys.executable, "-m", module, *map(str, words)]
        if module == "mypy":
            command += ["--config-file", str(configuration), "--cache-dir", str(tmp_path / "cache")]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return check


@pytest.mark.runs
def test_the_stub_is_that_of_the_extension(checker):
    checker("mypy.stubtest", "mdh._mdh")


def test_a_program_with_types(checker):
    checker("mypy", PROGRAM)


def test_the_package(checker, tmp_path):
    """All modules but those of torch, whose types need it; in a copy, since mypy checks nothing that is installed."""
    shutil.copytree(PACKAGE, tmp_path / "mdh", ignore=shutil.ignore_patterns("torch_*", "*.so", "*.a", "__pycache__"))
    checker("mypy", "mdh")
