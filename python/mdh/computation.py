"""Computations: what the front ends make, and what is called with arrays.

A `Computation` has names, index functions, a scalar function and combine operators. Sizes and element
types that it leaves open follow from the arrays of a call; for each of their combinations there is one
`Program`, the text of a function, which is compiled once.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import threads
from .arguments import refuse_mask, refuse_records
from .arrays import from_buffer, gpu_of
from .emit import identifier
from .errors import DTypeError, ProgramError, ShapeError
from .program import Described, Form, Program, make_program
from .text import symbol
from .trace import number_type
from .types import BasicType, Buffer, basic_type, promote


if TYPE_CHECKING:
    from .compiled import Compiled


class UnknownType(DTypeError):
    """An element type that neither the program nor an array says."""


# Makes a form of the inputs' types and of what is known of all arrays, by name.
FormOf = Callable[[Mapping[str, BasicType], Mapping[str, Described]], Form]


class Computation:
    """A data-parallel computation, which is called with arrays.

    `computation(*inputs, out=None)` returns the outputs: an array, or a tuple of several. With `out`, or
    called with the outputs before the inputs, it writes there. Elements of an output that the
    computation does not write are 0, or keep what `out` has there.
    """

    def __init__(
        self,
        name: str,
        outputs: Mapping[str, Buffer],
        inputs: Mapping[str, Buffer],
        form: FormOf,
        options: Mapping[str, Any] | None = None,
        doc: str | None = None,
        parameters: Sequence[str] | None = None,
    ):
        self.name = self.__name__ = name
        self.__doc__ = doc
        self.outputs = dict(outputs)
        self.inputs = dict(inputs)
        self.options = dict(options or {})
        # Order of arrays in a call with all of them: that of the loops' function, else outputs first.
        self.parameters = tuple(parameters or (*self.outputs, *self.inputs))
        self._form = form
        self._programs: dict[tuple, Program] = {}
        # Compiled functions by what calls give them, for calls that hand over arrays as they are.
        self._functions: dict[tuple, Any] = {}
        both = [buffer for buffer in self.outputs if buffer in self.inputs]
        if both:
            raise ProgramError(
                f"found '{both[0]}' as an output and as an input of '{name}', expected names that differ"
            )

    def __repr__(self) -> str:
        return f"<computation {self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}>"

    def using(self, **options: Any) -> Computation:
        """Returns the computation with options of the compiler, such as `device="cuda"`."""
        options = {**self.options, **options}
        return Computation(self.name, self.outputs, self.inputs, self._form, options, self.__doc__, self.parameters)

    def text(self, *arrays: Any, **named: Any) -> str:
        """Returns the program in MLIR, for given inputs or, without them, for the declared sizes and types."""
        return self.program(*arrays, **named).text

    def program(self, *arrays: Any, out: Any = None, **named: Any) -> Program:
        """Returns the program for given inputs or, without them, for the declared sizes and types."""
        if not arrays and not named and out is None:
            return self._program({}, {})
        arrays, written = self._split(arrays, named, out)
        inputs = self._inputs(arrays, named)
        outputs = dict(zip(self.outputs, written or ()))
        return self._program(self._described(inputs, self.inputs), self._described(outputs, self.outputs))

    def __call__(self, *arrays: Any, out: Any = None, **named: Any) -> Any:
        arrays, written = self._split(arrays, named, out)
        key = None if named else _key(arrays, written)
        function = self._functions.get(key) if key is not None else None
        if function is not None:
            return _called(function, arrays, written)
        inputs = self._inputs(arrays, named)
        outputs = dict(zip(self.outputs, map(_array, written or ())))
        program = self._program(self._described(inputs, self.inputs), self._described(outputs, self.outputs))
        listed = [inputs[view.name] for view in program.inputs]
        if key is not None and len(arrays) == len(listed) and not program.updated:
            self._functions[key] = compiled(program, self.options, listed)
        return run(program, listed, written, self.options)

    def run(self, *arrays: Any) -> None:
        """Computes with all arrays, outputs first, which are written: `run(w, M, v)`. Loops have the order of their
        function's parameters. Raises `ShapeError` for another number of arrays."""
        if len(arrays) != len(self.parameters):
            raise ShapeError(
                f"found {len(arrays)} arrays, expected {len(self.parameters)}: {', '.join(self.parameters)}"
            )
        self(*arrays)

    def compile(self, *arrays: Any, **options: Any) -> Compiled:
        """Returns the compiled function that a call with these inputs uses, which explains, checks and tunes itself.

        Without inputs, it is that for the declared sizes and types.
        """
        computation = self.using(**options)
        return compiled(computation.program(*arrays), computation.options, arrays)

    def _split(self, arrays: tuple, named: Mapping[str, Any], out: Any) -> tuple[tuple, tuple | None]:
        """The inputs that are given by position, and the outputs if they are given."""
        if out is None:
            if named or len(arrays) != len(self.parameters):
                return arrays, None
            given = dict(zip(self.parameters, arrays))
            return tuple(given[name] for name in self.inputs), tuple(given[name] for name in self.outputs)
        listed = [out[name] for name in self.outputs] if isinstance(out, dict) else out
        written = tuple(listed) if isinstance(listed, (tuple, list)) else (listed,)
        if len(written) != len(self.outputs):
            raise ShapeError(
                f"found {len(written)} arrays as out, expected {len(self.outputs)}: {', '.join(self.outputs)}"
            )
        return arrays, written

    def _inputs(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs by name."""
        names = list(self.inputs)
        inputs = {name: _array(array) for name, array in zip(names, arrays)}
        for name, array in named.items():
            if name not in names or name in inputs:
                raise ShapeError(
                    f"found the argument '{name}' {'twice' if name in inputs else 'of no input'}, expected "
                    f"{', '.join(names)}"
                )
            inputs[name] = _array(array)
        if len(arrays) > len(names) or len(inputs) != len(names):
            raise ShapeError(
                f"found {len(arrays) + len(named)} inputs of '{self.name}', expected {len(names)}: "
                f"{', '.join(names) or 'none'}"
            )
        return inputs

    def _described(self, arrays: Mapping[str, Any], declared: Mapping[str, Buffer]) -> dict[str, Described]:
        described = {name: describe(name, array, declared[name].dtype) for name, array in arrays.items()}
        known = [part.dtype for name, part in described.items() if part.dtype and not _is_number(arrays[name])]
        if not known:
            return described
        # Numbers take the type of what they meet, as constants do.
        together = functools.reduce(promote, known)
        return {
            name: Described((), number_type(arrays[name], together))
            if _is_number(arrays[name]) and declared[name].dtype is None
            else part
            for name, part in described.items()
        }

    def _program(self, inputs: dict[str, Described], outputs: dict[str, Described]) -> Program:
        key = (tuple(inputs.items()), tuple(outputs.items()))
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._made(inputs, outputs)
        return program

    def _made(self, inputs: dict[str, Described], outputs: dict[str, Described]) -> Program:
        known = {
            **{name: _joined(name, buffer, inputs.get(name)) for name, buffer in self.inputs.items()},
            **{name: _joined(name, buffer, outputs.get(name)) for name, buffer in self.outputs.items()},
        }
        for name in self.inputs:
            if known[name].dtype is None:
                raise UnknownType(
                    f"the element type of '{name}' is not known, expected it in inp_view[..] or Buffer[..], or an array"
                )
        dtypes = {name: known[name].dtype for name in self.inputs}
        return make_program(self.name, self._form(dtypes, known), known, set(outputs))  # type: ignore[arg-type]


def _joined(name: str, declared: Buffer, given: Described | None) -> Described:
    """The facts declared of an array and those given, which must agree."""
    if given is None:
        return Described(declared.shape, declared.dtype)
    if declared.dtype is not None and given.dtype is not None and given.dtype != declared.dtype:
        raise DTypeError(
            f"found {given.dtype} elements of '{name}', expected {declared.dtype}: convert the array, or declare "
            f"that type"
        )
    if declared.shape is not None and given.shape is not None:
        agree = len(declared.shape) == len(given.shape) and all(
            expected in (None, size) for expected, size in zip(declared.shape, given.shape)
        )
        if not agree:
            raise ShapeError(f"found the sizes {list(given.shape)} of '{name}', expected {list(declared.shape)}")
    return Described(given.shape if given.shape is not None else declared.shape, given.dtype or declared.dtype)


def describe(name: str, array: Any, declared: BasicType | None = None) -> Described:
    """Returns the sizes and the element type of an array, of a number, or of a `Described` itself.

    A number takes the declared type.
    """
    if isinstance(array, Described):
        return array
    if _is_number(array):
        return Described((), declared or basic_type(type(array)))
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise DTypeError(f"found {type(array).__name__} for '{name}', expected an array or a number")
    refuse_mask(f"'{name}'", array)
    refuse_records(f"'{name}'", array.dtype)
    return Described(tuple(int(size) for size in array.shape), basic_type(array.dtype))


def _key(arrays: Sequence[Any], written: Sequence[Any] | None) -> tuple | None:
    """Returns the sizes and types of arrays, for this number of threads, or None where one of them is a number, which may stand for any type."""
    try:
        inputs = tuple([(array.shape, array.dtype) for array in arrays])
        outputs = None if written is None else tuple([(array.shape, array.dtype) for array in written])
    except AttributeError:
        return None
    return (inputs, outputs, threads.changes) if all([shape for shape, _ in inputs]) else None


def _array(given: Any) -> Any:
    """An array over memory that is shown by the buffer protocol alone; anything else as it is."""
    if hasattr(given, "dtype") or _is_number(given):
        return given
    shown = from_buffer(given)
    return given if shown is None else shown


def _is_number(array: Any) -> bool:
    return isinstance(array, (bool, int, float)) and not hasattr(array, "dtype")


_compiled: dict[tuple, Any] = {}
_compiling = threading.Lock()


def _unlock_child() -> None:
    """A child that is forked while a thread compiles has no such thread, which would let go of the lock."""
    global _compiling
    _compiling = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_child)

# So many compiled programs stay; the oldest goes first.
_KEPT_PROGRAMS = 256


def compiled(program: Program, options: Mapping[str, Any], inputs: Sequence[Any] = ()) -> Compiled:
    """Returns the compiled program, which is made where it is not there yet: for the place of its inputs, if they are
    given."""
    named = tuple(sorted((name, repr(option)) for name, option in options.items()))
    key = (program.text, named, threads.changes)
    with _compiling:
        function = _compiled.get(key)
        if function is None:
            from .compiled import compile_text

            function = compile_text(
                program.text,
                name=identifier(program.name),
                entry=symbol(program.name),
                dtypes=program.dtypes,
                place=gpu_of(inputs),
                **options,
            )
            while len(_compiled) >= _KEPT_PROGRAMS:
                del _compiled[next(iter(_compiled))]
            _compiled[key] = function
    return function


def run(program: Program, inputs: Sequence[Any], outputs: Sequence[Any] | None, options: Mapping[str, Any]) -> Any:
    """Runs a program on arrays, and returns its outputs: an array, or a tuple of several."""
    function = compiled(program, options, inputs)
    arguments = [
        array if view.shape or not _is_scalar(array) else _number(array, view.dtype)
        for array, view in zip(inputs, program.inputs)
    ]
    if outputs is not None:
        # What is written must be memory of its own; its former elements are handed over in a copy.
        arguments += [_copy(outputs[at]) for at in program.updated]
    return _called(function, arguments, outputs)


def _called(function: Any, arguments: Sequence[Any], outputs: Sequence[Any] | None) -> Any:
    """Returns what a compiled function returns, or the outputs that it writes."""
    if outputs is None:
        return function(*arguments)
    written = tuple(outputs) if len(outputs) > 1 else outputs[0]
    function(*arguments, out=written)
    return written


def _copy(array: Any) -> Any:
    return array.copy() if hasattr(array, "copy") else array.clone()


def _is_scalar(array: Any) -> bool:
    return isinstance(array, (bool, int, float)) or hasattr(array, "item")


def _number(array: Any, dtype: BasicType) -> bool | int | float:
    """An argument without axes, which compiled code takes as a number."""
    number = array.item() if hasattr(array, "item") else array
    return bool(number) if dtype.kind == "b" else float(number) if dtype.is_float else int(number)
