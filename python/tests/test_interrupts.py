"""Processes that a user watches: the progress of a search, and Ctrl-C while one compiles, runs and searches.

No time is a condition: processes that hang are ended.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import mdh

pytestmark = [pytest.mark.runs, pytest.mark.skipif(sys.platform != "linux", reason="terminals and signals of Linux")]

#: Seconds after which a process hangs.
PATIENCE = 300


@pytest.fixture
def start(tmp_path):
    """A function that starts a program in a group of its own, with an empty cache; whatever runs in the end is ended."""
    started = []
    folder = str(pathlib.Path(mdh.__file__).parent.parent)
    places = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "MDH_CACHE")}

    def begin(text, errors_go=subprocess.PIPE):
        environment = {**os.environ, **places, "PYTHONPATH": folder}
        # Which the suite switches off.
        environment.pop("MDH_PROGRESS", None)
        process = subprocess.Popen([sys.executable, "-c", text], env=environment, start_new_session=True,
                                   stdout=subprocess.PIPE, stderr=errors_go, text=True)
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


TUNE = """
import numpy as np, mdh
A, x = np.ones((8, 64), "float32"), np.ones(64, "float32")
f = mdh.compile_einsum("ij,j->i", A, x)
try:
    f.tune({seconds})
    print("tuned")
except KeyboardInterrupt:
    print("interrupted")
except mdh.ProgramError as error:
    # On a machine that is slow or busy.
    assert "{seconds} s" in str(error) and "configuration" in str(error), error
    print("tuned")
assert (f(A, x) == 64).all()
"""


def read_terminal(terminal, until=b"\0"):
    """All that is written to a terminal, to its end or to some word."""
    text = b""
    while until not in text:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            # Linux' word for the end.
            part = b""
        if not part:
            break
        text += part
    return text.decode()


@pytest.fixture
def terminal():
    ours, theirs = os.openpty()
    yield ours, theirs
    os.close(ours)


def test_a_search_shows_its_progress_on_a_terminal(start, terminal):
    ours, theirs = terminal
    process = start(TUNE.format(seconds=2), theirs)
    os.close(theirs)
    shown = read_terminal(ours)
    assert process.communicate(timeout=PATIENCE)[0] == "tuned\n", shown
    assert "] tuning einsum.mlir ... 1 s of 2 s: " in shown
    # The line is removed in the end.
    assert re.fullmatch(r"(\x1b\[\d+A)?", shown.rpartition("\x1b[2K")[2].strip("\r\n")), shown


def test_a_search_shows_nothing_elsewhere(start):
    assert start(TUNE.format(seconds=1)).communicate(timeout=PATIENCE) == ("tuned\n", "")


def test_an_error_of_a_search_is_what_the_command_says(monkeypatch):
    function = mdh.compile_einsum("ij,j->i", np.ones((8, 64), "float32"), np.ones(64, "float32"))
    monkeypatch.setenv("XDG_CACHE_HOME", "nowhere")
    monkeypatch.setenv("HOME", "nowhere")
    with pytest.raises(mdh.ProgramError, match="found no folder for the database"):
        function.tune(1)


def test_ctrl_c_ends_a_search(start, terminal):
    """All processes of the terminal get the signal. Those that measure have no part in it, and end with the search."""
    ours, theirs = terminal
    process = start(TUNE.format(seconds=PATIENCE), theirs)
    os.close(theirs)
    shown = read_terminal(ours, f" of {PATIENCE} s: ".encode())
    os.killpg(process.pid, signal.SIGINT)
    # To the end of what is written: nobody has the terminal any more.
    shown += read_terminal(ours)
    assert process.communicate(timeout=PATIENCE)[0] == "interrupted\n", shown
    assert process.returncode == 0


#: Compiles one program after the other until it is interrupted, and then computes. It prints where that was.
COMPILE = """
import itertools, traceback, numpy as np, mdh
x = np.ones((3, 4, 5), "float32")
mdh.scan("add", x)
try:
    print("compiling", flush=True)
    for size in itertools.count(2):
        mdh.scan("add", np.ones((3, 4, size), "float32"), axis=1)
except KeyboardInterrupt as interrupt:
    name = traceback.extract_tb(interrupt.__traceback__)[-1].name
assert (mdh.scan("add", x, axis=1)[:, -1] == 4).all()
assert (mdh.einsum("ijk->", x) == 60).all()
print(name)
"""


def test_ctrl_c_is_heard_while_a_program_is_compiled(start):
    """Most of the time is the compiler's, which is called by `_code`."""
    names = []
    while "_code\n" not in names:
        assert len(names) < 20, names
        process = start(COMPILE)
        assert process.stdout.readline() == "compiling\n"
        process.send_signal(signal.SIGINT)
        name, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, "")
        names.append(name)


#: Computes until it is interrupted: a result is whole by then, or not begun.
RUN = """
import numpy as np, mdh
A, x, out = np.ones((2000, 500), "float32"), np.ones(500, "float32"), np.zeros(2000, "float32")
f = mdh.compile_einsum("ij,j->i", A, x)
f(A, x)
try:
    print("running", flush=True)
    while True:
        out[:] = 0
        f(A, x, out=out)
except KeyboardInterrupt:
    assert len(set(out)) == 1, out
out[:] = 0
f(A, x, out=out)
assert (out == 500).all()
print("computed")
"""


def test_ctrl_c_comes_after_a_run(start):
    process = start(RUN)
    assert process.stdout.readline() == "running\n"
    # A user who sees nothing happen presses the keys again.
    for _ in range(PATIENCE // 20):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
            break
    assert process.communicate(timeout=PATIENCE) == ("computed\n", "")
    assert process.returncode == 0


def test_ctrl_c_ends_a_process_that_does_not_catch_it(start):
    process = start("import numpy as np, mdh\nprint('ready', flush=True)\n"
                    "while True:\n    mdh.einsum('ij->', np.ones((30, 30)))")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=PATIENCE)[1].rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT
