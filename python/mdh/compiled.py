"""Compiled computations: objects that are called with arrays, and say what they are.

A program is compiled in this process, and kept in memory and on disk (keyed by its text, its options, the machine and
the version of mdh). What is asked of it beside calls (`explain`, `mlir`, `check`, ..) is asked of the command, in a
process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _mdh, errors
from .arguments import examined, explained, has_mask, parameters, truths
from .arrays import gpu_of

if TYPE_CHECKING:
    from typing_extensions import Self

_VERSION: str | None = None


class Compiled(_mdh.Function):
    """A compiled computation. Called with one array (or number) for each argument, in order, it returns its result, or
    a tuple of several, in arrays of the library of the first argument.

    Arrays are all in the processor's memory, or all in that of one NVIDIA GPU. A GPU computes on its own arrays where
    they are: on the stream that torch or cupy uses now, which is not waited for.

    Args:
        arguments: arrays of numpy, torch or jax, or of whatever speaks DLPack. Shapes and types of elements are
            those of the program: nothing is converted. Arrays that are only read may have any strides (they are
            copied where the program takes them in row-major order).
        out: an array, or a tuple of arrays, to put the results into; it must not overlap what is read.

    Raises:
        ShapeError, DTypeError: an argument is not what the program takes, or an array has a mask.
        DeviceError: arrays are in different places, or a GPU fails.
        ProgramError: a check at run time fails.
        ResourceError: there is not enough memory.
    """

    #: The program, in MLIR.
    text: str
    #: The function of it.
    entry: str | None
    #: The name of it in messages.
    name: str
    #: Warnings and notes of the compiler.
    said: str
    _options: dict[str, Any]
    #: The number of the GPU in whose memory arrays are for which it was compiled first; None for the processor's.
    _place: int | None
    #: Positions of arguments that are arrays of truth values.
    _truths: tuple[int, ...]

    def __new__(
        cls, text: str, name: str, options: dict[str, Any], dtypes: list[str] | None = None, place: int | None = None
    ) -> Self:
        options = {key: value for key, value in options.items() if value is not None}
        if isinstance(options.get("schedule"), dict):
            options["schedule"] = json.dumps(options["schedule"])
        loadable = _loadable(text, name, options, place)
        made = super().__new__(cls, loadable[0].interface, dtypes)
        made.text, made.name, made.entry, made.said = text, name, options.get("entry"), loadable[0].said
        made._options, made._place, made._truths = options, place, truths(made.interface)
        made.load(*loadable)
        return made

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        return _call(self, self._truths, arguments, out)

    def _load_for(self, place: int | None) -> None:
        """Makes the code for arrays in the memory of a GPU, or in the processor's: for the extension, at the first call
        with such arrays."""
        self.load(*_loadable(self.text, self.name, self._options, place))

    def _use(self, options: dict[str, Any]) -> None:
        """Takes other options from now on."""
        loadable = _loadable(self.text, self.name, options, self._place)
        self._options = options
        self.forget()
        self.load(*loadable)

    @property
    def _device(self) -> list[str]:
        """The words by which a command is for the device that computes: the first GPU that it sees, which `_command` makes
        the one whose number this object has."""
        return [] if _gpu(self._options, self._place) is None else ["--device", "cuda"]

    def __repr__(self) -> str:
        return f"<mdh.Compiled {signature(self.interface)}>"

    def _repr_html_(self) -> str:
        """A table and a picture of its loops, for notebooks."""
        from .picture import page

        return page(self)

    def mlir(self, stage: str = "compute", device: str | None = None) -> str:
        """The program at a stage on its way to machine code, as text: ``formed``, ``raised``, ``compute``,
        ``bufferized``, ``scheduled``, ``tiles``, ``vector``, ``loops``, ``parallel``, ``llvm-dialect``, ``llvm``,
        ``asm``; for a GPU (``device="cuda"``, or where one computes) also ``kernels``, ``nvvm``, ``ptx``."""
        options = self._device if device is None else ["--device", device]
        return self._command(["compile", "{}", "--emit", stage, "--no-warnings", *options])

    def asm(self) -> str:
        """The assembly of this machine's processor, or the PTX of a GPU's kernels."""
        return self.mlir("ptx" if self._device else "asm")

    @property
    def schedule(self) -> dict[str, Any]:
        """The schedule of its computation, in the form of ``mdh schedule --emit json``; of several, by the names of their
        first outputs, what the compiler has made of them included. To set it (to such a dictionary, to text in any
        spelling, or to None for the model's) compiles the computation again.

        Raises:
            ProgramError: it is no schedule of this computation; the message says what is wrong, and where.
        """
        with _Folder() as folder:
            path = folder / "scheduled.mlir"
            text = self.mlir("scheduled")
            path.write_text(text)
            words = ["schedule", str(path), "--emit", "json"]
            return _by_name(json.loads(_command(words, process_environment())), text)

    @schedule.setter
    def schedule(self, schedule: dict[str, Any] | str | None) -> None:
        text = json.dumps(schedule) if isinstance(schedule, dict) else schedule
        options = {**self._options, "schedule": text}
        self._use({key: value for key, value in options.items() if value is not None})

    def check(self, *arguments: Any) -> str:
        """Compares a run on these arguments with the definition, evaluated point by point, and returns what was found.
        That takes as long as the naive loops do: of large results a sample is compared.

        Raises:
            CheckError: an element is further from the definition than rounding explains; the message says which.
        """
        import numpy

        names = self.argument_names
        if len(arguments) != len(names):
            raise errors.ProgramError(f"found {len(arguments)} arguments, expected {len(names)}: {', '.join(names)}")
        arguments = examined(self, self._truths, arguments, None)
        with _Folder() as folder:
            given = []
            for name, argument, parameter in zip(names, arguments, parameters(self.interface)):
                if parameter.kind == "value":
                    given.append(f"{name}={argument}")
                    continue
                path = folder / f"{name}.npy"
                numpy.save(path, numpy.ascontiguousarray(_as_numpy(argument)))
                given.append(f"{name}={path}")
            return self._command(["run", "{}", "--check", "--no-warnings", *self._device, "--in", *given])

    def tune(self, seconds: float) -> None:
        """Searches its schedules for the fastest on the device that computes, for so many seconds, with a bar on standard error
        where that is a terminal; this object, and whatever is compiled from the same program later, uses the best."""
        if not isinstance(seconds, (int, float)) or not 0 < seconds < float("inf"):
            raise errors.ProgramError(f"found {seconds!r} as a time, expected a number of seconds above 0")
        self._command(["tune", "{}", "--for", f"{seconds}s", *self._device], shows_progress=True)
        self._use({key: value for key, value in self._options.items() if key != "schedule"})

    def explain(self, device: str | None = None, verbose: bool = False) -> str:
        """A report: what bounds the computation and how much of the limit it reaches, its schedule and the strongest reasons
        for it, and what would gain most; ``verbose`` says everything. ``device`` names a GPU instead of this machine:
        ``a100``, ``h100``, ``h200``, ``b200``."""
        return self._explained(device, ["--verbose"] if verbose else [])

    def explanation(self, device: str | None = None) -> dict[str, Any]:
        """The report as data, whose keys `docs/commands.md` lists."""
        data: dict[str, Any] = json.loads(self._explained(device, ["--json"]))
        return data

    def _explained(self, device: str | None, options: list[str]) -> str:
        place = self._device if device is None else ["--device", device]
        return self._command(["explain", "{}", "--no-warnings", *place, *options])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a shared library with its C function, and a header of the same name with the ending ``.h``: for the
        processor, whatever device computes here. That needs a C compiler to link with (``CC``, cc, gcc or clang)."""
        path = Path(path)
        self._command(["compile", "{}", "--emit", "shared", "--no-warnings", "-o", str(path)])
        self._command(["compile", "{}", "--emit", "header", "--no-warnings", "-o", str(path.with_suffix(".h"))])

    def _command(self, words: list[str], shows_progress: bool = False) -> str:
        """Runs a command on the program, whose file is ``{}`` among its words."""
        with _Folder() as folder:
            path = folder / f"{self.name}.mlir"
            path.write_text(self.text)
            words = [str(path) if word == "{}" else word for word in words]
            if self.entry is not None:
                words += ["--entry", self.entry]
            schedule = self._options.get("schedule")
            if schedule is not None and words[0] != "tune":
                (folder / "schedule.json").write_text(schedule)
                words += ["--schedule", str(folder / "schedule.json")]
            if self._options.get("deterministic") and words[0] != "tune":
                words.append("--deterministic")
            environment = process_environment(_gpu(self._options, self._place))
            try:
                return _command(words, environment, shows_progress).replace(f"{folder}{os.sep}", "")
            except errors.Error as error:
                raise type(error)(str(error).replace(f"{folder}{os.sep}", "")) from None


def _call(function: _mdh.Function, its_truths: tuple[int, ...], arguments: tuple, out: Any) -> Any:
    """Calls a function, whose `truths` these are, with what its code does not misread."""
    if its_truths or out is not None or any(map(has_mask, map(type, arguments))):
        arguments = examined(function, its_truths, arguments, out)
    try:
        return _mdh.Function.__call__(function, *arguments, out=out)
    except (errors.DTypeError, errors.ProgramError) as error:
        raise explained(error, function, arguments, out) from None


def _by_name(schedule: dict[str, Any], text: str) -> dict[str, Any]:
    """Schedules by the names of computations in the place of positions. These count the computations of the scheduled
    program, among which are those that the compiler has made, and a schedule that is set goes by the program as it was
    written. Where names are not clear, positions stay."""
    names = re.findall(r"(?m)^\s*out_view\((\w+) = ", text)
    if "computations" not in schedule or len(set(names)) != len(names):
        return schedule
    by_position = schedule["computations"]
    if any(not position.isdigit() or int(position) >= len(names) for position in by_position):
        return schedule
    return {**schedule, "computations": {names[int(position)]: part for position, part in by_position.items()}}


class _Folder:
    """A folder that is there for a while, as a path."""

    def __enter__(self) -> Path:
        # Here and below: calls need neither, and a process's first call waits for all that is imported.
        import tempfile

        self._folder = tempfile.TemporaryDirectory(prefix="mdh-")
        return Path(self._folder.name)

    def __exit__(self, *_: Any) -> None:
        self._folder.cleanup()


#: Exit codes of the command, as exceptions.
_FAILURES: dict[int, type[errors.Error]] = {
    1: errors.ProgramError,
    2: errors.ProgramError,
    3: errors.CheckError,
    4: errors.ResourceError,
    5: errors.DeviceError,
}


def _command(words: list[str], environment: dict[str, str], shows_progress: bool = False) -> str:
    """Runs a command in a process of its own, and returns what it prints. Progress is shown on a terminal only."""
    import subprocess

    errors_go = None if shows_progress and os.isatty(2) else subprocess.PIPE
    words = [sys.executable, "-m", "mdh", *words]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=errors_go, text=True, env=environment)
    if done.returncode != 0:
        said = _NOTES.sub("", done.stderr or "").strip()
        message = (said or f"'mdh {words[3]}' failed").removeprefix("error: ")
        raise _FAILURES.get(done.returncode, errors.InternalError)(message)
    return done.stdout


def process_environment(gpu: int | None = None) -> dict[str, str]:
    """The environment of a process that imports this package, wherever it was imported from, for as many threads, and whose
    only GPU is this process's one of that number, if one is given."""
    folder = str(Path(__file__).resolve().parent.parent)
    paths = [folder, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    threads = str(_mdh.thread_count())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MDH_THREADS": threads}
    if gpu is not None:
        environment["CUDA_VISIBLE_DEVICES"] = _visible(gpu)
    runtime = Path(__file__).with_name("libmdhrt.a")
    if runtime.is_file():
        environment["MDH_RUNTIME_LIBRARY"] = str(runtime)
    return environment


def _visible(gpu: int) -> str:
    """The name of a GPU for `CUDA_VISIBLE_DEVICES`, by whose list this process numbers GPUs.

    Raises:
        DeviceError: the list has not so many.
    """
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return str(gpu)
    names = listed.split(",")
    if gpu >= len(names):
        raise errors.DeviceError(f"found GPU {gpu}, expected one of the {len(names)} of CUDA_VISIBLE_DEVICES='{listed}'")
    return names[gpu].strip()


def cache_folder() -> Path | None:
    """The folder of compiled code: that of ``MDH_CACHE``, else ``mdh/code`` in the user's cache; none of a user without a
    home."""
    named = os.environ.get("MDH_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "mdh" / "code"
    except RuntimeError:
        return None


def _gpu(options: dict[str, Any], place: int | None) -> int | None:
    """The number of the GPU that computes on arrays in some place, None for the processor: the GPU on those in its own
    memory, the device of the options on those in the processor's.

    Raises:
        DeviceError: there is no such device.
    """
    if place is not None:
        return place
    device = options.get("device", "cpu")
    if device == "cpu":
        return None
    kind, _, number = str(device).partition(":")
    if kind != "cuda" or not (number or "0").isdigit():
        raise errors.DeviceError(f"found the device {device!r}, expected 'cpu', 'cuda', or 'cuda:1' and so on")
    return int(number or "0")


def _key(text: str, name: str, options: dict[str, Any], gpu: tuple[int, bool] | None) -> str:
    """All that compiled code depends on, as one word."""
    global _VERSION
    if _VERSION is None:
        _VERSION = _mdh.version() + _build()
    device = None if gpu is None else [_mdh.gpu(gpu[0]), gpu[1]]
    whole = json.dumps([_VERSION, text, name, options, device, _mdh.thread_count(), _tuned()], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _tuned() -> int:
    """A number that changes when a schedule is tuned: the time at which the database was written last."""
    try:
        return os.stat(_mdh.database()).st_mtime_ns
    except (OSError, errors.Error):
        return 0


def _build() -> str:
    """Size and time of the extension, which tell one build of it from another."""
    about = os.stat(_mdh.__file__)
    return f"{about.st_size} {about.st_mtime_ns}"


def _read(path: Path) -> _mdh.Code | None:
    try:
        head, _, machine_code = path.read_bytes().partition(b"\n")
        about = json.loads(head)
        if hashlib.sha256(machine_code).hexdigest() != about["digest"]:
            return None
        return _mdh.Code(about["interface"], about["symbol"], about["said"], machine_code, about["kernels"])
    except (OSError, ValueError, KeyError):
        return None


def _write(path: Path, code: _mdh.Code) -> None:
    """Keeps code. A cache that cannot be written is none: the code is compiled again the next time."""
    machine_code = code.object()
    about = {
        "interface": code.interface,
        "symbol": code.symbol,
        "said": code.said,
        "kernels": code.kernels,
        "digest": hashlib.sha256(machine_code).hexdigest(),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Under a name of this thread's, so that nobody reads a part of it.
        written = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        written.write_bytes(json.dumps(about).encode() + b"\n" + machine_code)
        os.replace(written, path)
    except OSError:
        pass


def compile_text(
    text: str,
    *,
    name: str = "program",
    entry: str | None = None,
    dtypes: list[str] | None = None,
    warns: bool = True,
    place: int | None = None,
    **options: Any,
) -> Compiled:
    """Compiles a function of a program in MLIR, or takes what was compiled before.

    Args:
        text: the program: computations of the dialect ``mdh``, linalg, and what MLIR has around them.
        name: stands for it in messages.
        entry: the function; not needed if there is one.
        dtypes: the names of the types of elements of each argument and result, where they are unsigned integers.
        warns: whether what is right and slow is said as a warning of Python's: not of programs that no user wrote.
        place: the number of the GPU in whose memory arrays will be; None for the processor's memory. For others there is
            code at the first call with them.
        options: ``schedule`` (text or a dictionary), ``tuned``, ``deterministic``, ``checked``, ``device``.

    Raises:
        ProgramError: the program is wrong; the message has each mistake with its line.
        DeviceError: there is no such device.
    """
    made = Compiled(text, name, {"entry": entry, **options}, dtypes, place)
    said = _NOTES.sub("", made.said).strip()
    if said and warns:
        warnings.warn(said, stacklevel=3)
    return made


def _loadable(
    text: str, name: str, options: dict[str, Any], place: int | None
) -> tuple[_mdh.Code, int | None, int | None]:
    """The arguments of `_mdh.Function.load`: the machine code of a program for arrays in some place, the place, and the number of
    the GPU that computes."""
    number = _gpu(options, place)
    return _code(text, name, options, None if number is None else (number, place is not None)), place, number


def _code(text: str, name: str, options: dict[str, Any], gpu: tuple[int, bool] | None) -> _mdh.Code:
    """The machine code of a program, from the cache if it is there; `gpu` is the number of the one that computes, and True
    where arrays are in its memory."""
    options = {key: value for key, value in options.items() if key != "device"}
    folder = cache_folder()
    if folder is None:
        return _mdh.compile(text, name, **options, gpu=gpu)
    path = folder / (_key(text, name, options, gpu) + ".code")
    code = _read(path)
    if code is None:
        code = _mdh.compile(text, name, **options, gpu=gpu)
        _write(path, code)
    return code


#: What the command says beside warnings.
_NOTES = re.compile(r"(?m)^note: .*\n?")


def _as_numpy(array: Any) -> Any:
    import numpy

    if gpu_of([array]) is not None:
        array = array.get() if hasattr(array, "get") else array.cpu() if hasattr(array, "cpu") else array
    if hasattr(array, "__array__") or not hasattr(array, "__dlpack__"):
        return numpy.asarray(array)
    return numpy.from_dlpack(array)


def compile(program: Any, *, name: str = "program", entry: str | None = None, **options: Any) -> Compiled:
    """Compiles a program in MLIR: its text, or a module of MLIR's Python bindings (anything whose `str` is the text).

    It may have computations of the dialect `mdh`, linalg on tensors or memrefs, and what MLIR has around them.

    Args:
        program: the text or the module.
        name: stands for it in messages.
        entry: the function; not needed if there is one.
        options: `schedule` (text or a dictionary), `tuned` (False leaves schedules that were tuned alone),
            `deterministic` (True for results that do not depend on the number of cores), `checked` (False leaves out
            checks at run time), `device` (what computes on arrays in the processor's memory: `"cpu"`, or `"cuda"` or
            `"cuda:1"` for a GPU, to which they are copied; a GPU always computes on arrays in its own memory).

    Raises:
        ProgramError: the program is wrong; the message has each mistake with its line.
        DeviceError: there is no such device.
    """
    return compile_text(str(program), name=name, entry=entry, **options)


class Library:
    """A function of a shared library, which is called as a `Compiled` is."""

    def __init__(self, function: _mdh.Function) -> None:
        self._function, self._truths = function, truths(function.interface)

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        return _call(self._function, self._truths, arguments, out)

    @property
    def interface(self) -> str:
        """The function's name, then a line for each parameter."""
        return self._function.interface

    @property
    def argument_names(self) -> list[str]:
        """The names of its arguments."""
        return self._function.argument_names

    def __repr__(self) -> str:
        return f"<mdh.Library {signature(self.interface)}>"


def signature(interface: str) -> str:
    """An interface in one line."""
    head, *lines = interface.split("\n")
    return f"{head.rpartition(' ')[0]}({', '.join(lines)})"


def load(path: str | os.PathLike[str], entry: str | None = None) -> Library:
    """Opens a shared library that `Compiled.save` or `mdh compile --emit shared` has written, and returns its function,
    which is called as a `Compiled` is. The library stays in the process.

    Args:
        path: the library. Its code is for the processor that it was made on, or one that has the same instructions.
        entry: the function; not needed if the library has one.

    Raises:
        ProgramError: the file is no such library, or has several functions and none is named.
    """
    path = Path(path).absolute()
    if entry is None:
        try:
            names = sorted(set(_ABOUT.findall(path.read_bytes())))
        except OSError as error:
            raise errors.ProgramError(f"cannot read '{path}': {error.strerror}") from None
        if len(names) != 1:
            listed = ", ".join(name.decode() for name in names) or "none"
            raise errors.ProgramError(f"'{path}' has these functions: {listed}; expected one, or the name of one as entry")
        entry = names[0].decode()
    return Library(_mdh.Function.open(path, entry))


#: The symbols of a library that describe its functions, with the names of these.
_ABOUT = re.compile(rb"\0mdh_about_(\w+)(?=\0)")
