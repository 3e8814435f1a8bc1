"""Fixtures of all tests: those that run programs are skipped where the compiled half of the package is not built."""

import importlib.util
import os
import sys

import pytest

# Modules that tests share.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))

if importlib.util.find_spec("mdh") is None:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def has_compiler() -> bool:
    """True where programs can be run."""
    try:
        importlib.import_module("mdh.compiled")
    except ImportError:
        return False
    return True


runs = pytest.mark.skipif(not has_compiler(), reason="the extension mdh._mdh is not built")


def pytest_configure(config):
    config.addinivalue_line("markers", "runs: runs programs, which needs the extension")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("runs"):
            item.add_marker(runs)


@pytest.fixture(scope="session")
def random_cases():
    """Seeds of random cases: those of `MDH_PYTHON_CASES` (`1..20001`), 300 without."""
    first, _, last = os.environ.get("MDH_PYTHON_CASES", "1..301").partition("..")
    return range(int(first), int(last))
