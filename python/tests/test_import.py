"""The package as a whole: what it exports, and what importing it costs."""

import os
import subprocess
import sys

import pytest

import mdh

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(mdh.__file__)))


def python(code: str, **variables: str) -> str:
    """Runs code in a new interpreter, and returns what it prints."""
    environment = {**os.environ, "PYTHONPATH": FOLDER, **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_numpy_is_not_imported():
    assert python("import sys, mdh; print('numpy' in sys.modules, 'mdh._mdh' in sys.modules)") == "False False"


@pytest.mark.runs
def test_calls_need_no_modules_of_commands(tmp_path):
    """A process's first call waits for all that is imported."""
    text = "import sys, mdh, array; mdh.compile('func.func @f(%x: f32) -> f32 { return %x : f32 }')(1.0)"
    shown = "print([name for name in ('subprocess', 'tempfile', 'shutil', 'random') if name in sys.modules])"
    assert python(f"{text}; {shown}", MDH_CACHE=str(tmp_path)) == "[]"
    assert list(tmp_path.glob("*.code"))


def test_both_spellings_of_the_decorator():
    assert python("import mdh; print(callable(mdh.mdh))") == "True"
    assert python("from mdh import *; print(callable(mdh), mdhc.__name__)") == "True mdh.mdhc"


def test_the_decorator_has_what_the_package_has():
    assert (
        python("import mdh; from mdh import *; print(mdh.reduce is reduce, mdh.mdh is mdh, mdh.fp32)")
        == "True True fp32"
    )
    with pytest.raises(AttributeError, match="module 'mdh' has no attribute 'nothing'"):
        getattr(mdh.mdh, "nothing")


def test_everything_exported_is_there():
    for name in mdh.__all__:
        assert getattr(mdh, name) is not None


def test_what_a_star_imports_has_all_functions():
    """The list is written out for type checkers, beside that of the module."""
    assert set(mdh.functions.__all__) - set(mdh.__all__) == {"abs", "pow", "round"}


def test_builtins_keep_their_meaning_beside_numbers():
    assert (
        python("from mdh import *; print(max(1, 2), min([3, 1]), max(2, 5, key=lambda x: -x), abs(-1), pow(2, 3, 5))")
        == "2 1 2 1 3"
    )


@pytest.mark.parametrize(
    "name", ["ProgramError", "ShapeError", "DTypeError", "DeviceError", "TraceError", "CheckError", "InternalError"]
)
def test_errors_are_errors_of_the_package(name):
    assert issubclass(getattr(mdh, name), mdh.Error)
