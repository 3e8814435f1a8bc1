"""Runs the tests of `on_gpu.py` where there is a driver of a GPU: the interpreter of PTX, under the driver's name."""

import os
import pathlib
import subprocess
import sys

import pytest

import mdh

pytestmark = pytest.mark.runs

HERE = pathlib.Path(__file__).parent
INTERPRETER = HERE.parent.parent / "target" / "release" / "libmdh_ptx.so"


@pytest.fixture
def environment(tmp_path):
    """The environment of a process whose driver is the interpreter's."""
    if not INTERPRETER.is_file():
        pytest.skip(f"{INTERPRETER} is not built")
    (tmp_path / "libcuda.so.1").symlink_to(INTERPRETER)
    paths = [str(HERE / "interpreted"), str(pathlib.Path(mdh.__file__).parent.parent)]
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(paths),
        "MDH_PTX_DEVICES": "2",
        "MDH_CACHE": str(tmp_path / "cache"),
    }


def test_arrays_on_a_gpu(environment):
    words = ["-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider", str(HERE / "on_gpu.py")]
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


FAILURE = """
import cupy, numpy, mdh
x = cupy.asarray(numpy.ones((4, 4), "float32"))
try:
    mdh.einsum("ik,kj->ij", x, x)
except mdh.DeviceError as error:
    print(error)
"""


@pytest.mark.parametrize("call", ["cuLaunchKernel", "cuModuleLoadDataEx", "cuDeviceGetAttribute"])
def test_failures_of_the_driver_are_exceptions(environment, call):
    environment = {**environment, "MDH_PTX_FAIL": call}
    done = subprocess.run([sys.executable, "-c", FAILURE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and f"{call} failed" in done.stdout, done.stdout + done.stderr


def test_without_a_driver():
    text = "import mdh; mdh.compile('func.func @f(%x: f32) -> f32 { return %x : f32 }', device='cuda')"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 1 and "DeviceError: there is no driver of CUDA" in done.stderr, done.stderr
