"""The compiler as published: `mdhc.compile(computation=.., backend=.., tuner=..)`, and what its modules do.

    module = mdhc.compile(computation=matvec(fp32, 1024, 1024), backend=CUDA(0))
    module.run(w, M, v)
    module.destroy()

A backend says for which device code is made, a tuner that schedules are searched for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .computation import Computation, UnknownType, compiled
from .errors import DeviceError, ProgramError
from .sizes import UnknownSize


@dataclass(frozen=True)
class Backend:
    """A device, by its name for the compiler, and which of several it is."""

    device: str
    number: int = 0


def CPU() -> Backend:
    """This machine's processor."""
    return Backend("cpu")


def OpenMP(*_: Any) -> Backend:
    """This machine's processor; threads are the package's own, whatever the published name says."""
    return Backend("cpu")


def CUDA(device: int = 0, *_: Any) -> Backend:
    """An NVIDIA GPU; `device` is its number, from 0."""
    return Backend("cuda", int(device))


def OpenCL(*_: Any) -> Backend:
    """Devices of OpenCL, for which there is no code: raises `DeviceError`."""
    raise DeviceError("found the backend OpenCL, expected CPU(), OpenMP() or CUDA(device): there is no code for OpenCL")


@dataclass(frozen=True)
class Abort:
    """An end of tuning: after so many evaluations or seconds."""

    evaluations: int | None = None
    seconds: float | None = None


def evaluations(count: int) -> Abort:
    """Ends tuning after `count` configurations."""
    return Abort(evaluations=int(count))


def seconds(duration: float) -> Abort:
    """Ends tuning after `duration` seconds."""
    return Abort(seconds=float(duration))


@dataclass(frozen=True)
class Profiler:
    """A measure of configurations; the times are those of the backend's device."""

    kind: str


def CUDARuntimeProfiler(*_: Any) -> Profiler:
    """Times of kernels."""
    return Profiler("cuda")


def OpenMPRuntimeProfiler(*_: Any) -> Profiler:
    """Times of calls."""
    return Profiler("cpu")


@dataclass(frozen=True)
class Tuner:
    """A search for schedules."""

    profiler: Any = None
    abort: Abort = Abort()

    def tune(self, function: Any) -> None:
        """Searches schedules of a compiled function, until the abort condition holds."""
        seconds = self.abort.seconds
        if seconds is None:
            seconds = (self.abort.evaluations or _USUAL_EVALUATIONS) * _SECONDS_PER_EVALUATION
        function.tune(seconds)


# The search ends by the clock. A configuration is compiled and measured in about so many seconds.
_SECONDS_PER_EVALUATION = 0.25

# So many configurations are tried where nobody says it.
_USUAL_EVALUATIONS = 100


def pyATF(profiler: Any = None, abort: Abort = Abort()) -> Tuner:
    """The package's own search, under the published name of a tuner. `profiler` says what is measured, `abort` when the
    search ends: `evaluations(count)` or `seconds(duration)`."""
    return Tuner(profiler, abort)


class Module:
    """A compiled computation; `run` takes outputs, then inputs."""

    def __init__(self, computation: Computation, tuner: Tuner | None):
        self._computation: Computation | None = computation
        # A search for a computation whose sizes follow from arrays waits for the first call.
        self._tuner = tuner

    @property
    def computation(self) -> Computation:
        """The computation, until `destroy`."""
        if self._computation is None:
            raise ProgramError("found a use of a module after destroy(), expected one before it")
        return self._computation

    def run(self, *arrays: Any) -> None:
        """Computes, and writes the outputs: `run(w, M, v)`."""
        computation = self.computation
        if self._tuner is not None:
            given = dict(zip(computation.parameters, arrays))
            inputs = [given[name] for name in computation.inputs if name in given]
            self._tuner.tune(computation.compile(*inputs))
            self._tuner = None
        computation.run(*arrays)

    def nvcc_compile(self, arch: str | None = None, **_: Any) -> Module:
        """Does nothing: code is made for the device that is there, without another compiler."""
        return self

    def text(self) -> str:
        """The program in MLIR."""
        return self.computation.text()

    def destroy(self) -> None:
        """Ends the use of the module."""
        self._computation = None


def compile(
    *, computation: Computation, backend: Backend | None = None, tuner: Tuner | None = None, **options: Any
) -> Module:
    """Compiles a computation for a backend; with a tuner, a schedule is searched for first.

    Computations whose sizes follow from arrays are compiled at the first call.
    """
    if not isinstance(computation, Computation):
        raise ProgramError(f"found {computation!r} as the computation, expected what @mdh(..) makes of a function")
    if backend is not None and backend.device != "cpu":
        options["device"] = backend.device if not backend.number else f"{backend.device}:{backend.number}"
    changed = computation.using(**options)
    try:
        program = changed.program()
    except (UnknownSize, UnknownType):
        return Module(changed, tuner)
    function = compiled(program, changed.options)
    if tuner is not None:
        tuner.tune(function)
    return Module(changed, None)
