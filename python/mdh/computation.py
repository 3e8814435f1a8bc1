"""Computations: what the front ends make, and what is called with arrays.

A `Computation` has names, index functions, a scalar function and combine operators. Sizes and element
types that it leaves open follow from the arrays of a call; for each of their combinations there is one
`Program`, the text of a function, which is compiled once.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .affine import Affine
from .errors import DeviceError, DTypeError, ProgramError, ShapeError
from .operators import Combine, NamedOperator, Operator, combination
from .scalar import Key
from .sizes import OpenDimension, Sized, check_shape, infer_dimensions, least_shape
from .text import ARGUMENT, UNDEFINED, Code, View, function_text, identifier, symbol
from .trace import Value
from .types import BasicType, Buffer, basic_type


@dataclass(frozen=True)
class Described:
    """An array's sizes and element type; None is what is not known."""

    shape: tuple[int | None, ...] | None = None
    dtype: BasicType | None = None


@dataclass(frozen=True)
class Accesses:
    """A buffer's name and its accesses: an expression for each axis."""

    name: str
    accesses: tuple[tuple[Affine, ...], ...]

    @property
    def keys(self) -> list[Key]:
        """The accesses by name and number."""
        return [(self.name, at + 1) for at in range(len(self.accesses))]


@dataclass(frozen=True)
class Form:
    """A computation whose element types are known: what a front end makes of a function.

    `results` has a value for each access of the outputs, in their order.
    """

    dimensions: tuple[OpenDimension, ...]
    outputs: tuple[Accesses, ...]
    inputs: tuple[Accesses, ...]
    results: tuple[Value, ...]
    combines: tuple[Combine, ...]


@dataclass(frozen=True)
class Program:
    """A function in MLIR with the arrays that it takes and gives.

    `updated` are the numbers of the outputs whose former contents are further arguments, behind the inputs.
    """

    name: str
    text: str
    inputs: tuple[View, ...]
    outputs: tuple[View, ...]
    updated: tuple[int, ...] = ()

    @property
    def dtypes(self) -> list[str]:
        """The element types of the arguments and the results, which have signs here, by numpy's names."""
        views = (*self.inputs, *(self.outputs[at] for at in self.updated), *self.outputs)
        return [view.dtype.numpy_name for view in views]


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

    def __init__(self, name: str, outputs: Mapping[str, Buffer], inputs: Mapping[str, Buffer], form: FormOf,
                 options: Mapping[str, Any] | None = None, doc: str | None = None):
        self.name = self.__name__ = name
        self.__doc__ = doc
        self.outputs = dict(outputs)
        self.inputs = dict(inputs)
        self.options = dict(options or {})
        # Order of arrays in a call with the outputs: that of the loops' function.
        self.parameters = (*self.outputs, *self.inputs)
        self._form = form
        self._programs: dict[tuple, Program] = {}
        both = [buffer for buffer in self.outputs if buffer in self.inputs]
        if both:
            raise ProgramError(f"found '{both[0]}' as an output and as an input of '{name}', expected names that differ")

    def __repr__(self) -> str:
        return f"<computation {self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}>"

    def using(self, **options: Any) -> Computation:
        """Returns the computation with options of the compiler, such as `device="cuda"`."""
        changed = Computation(self.name, self.outputs, self.inputs, self._form, {**self.options, **options}, self.__doc__)
        changed.parameters = self.parameters
        return changed

    def text(self, *arrays: Any, **named: Any) -> str:
        """Returns the program in MLIR, for given inputs or, without them, for the declared sizes and types."""
        return self.program(*arrays, **named).text

    def program(self, *arrays: Any, out: Any = None, **named: Any) -> Program:
        """Returns the program for given inputs or, without them, for the declared sizes and types."""
        if not arrays and not named and out is None:
            return self._program({}, {})
        inputs, outputs = self._arguments(arrays, named, out)
        return self._program(self._described(inputs, self.inputs), self._described(outputs, self.outputs))

    def __call__(self, *arrays: Any, out: Any = None, **named: Any) -> Any:
        inputs, outputs = self._arguments(arrays, named, out)
        program = self._program(self._described(inputs, self.inputs), self._described(outputs, self.outputs))
        given = [outputs.get(view.name) for view in program.outputs]
        listed = [inputs[view.name] for view in program.inputs]
        return run(program, listed, given if outputs else None, self.options)

    def run(self, *arrays: Any) -> None:
        """Computes with all arrays, outputs first, which are written: `run(w, M, v)`. Loops have the order of their
        function's parameters."""
        if len(arrays) != len(self.parameters):
            raise ShapeError(f"found {len(arrays)} arrays, expected {len(self.parameters)}: {', '.join(self.parameters)}")
        self(*arrays)

    def compile(self, *arrays: Any, **options: Any) -> Any:
        """Returns the compiled function that a call with these inputs uses, which explains, checks and tunes itself.

        Without inputs, it is that for the declared sizes and types.
        """
        computation = self.using(**options)
        return compiled(computation.program(*arrays), computation.options)

    def _arguments(self, arrays: Sequence[Any], named: Mapping[str, Any], out: Any) -> tuple[dict, dict]:
        """Arrays by name: the inputs, and the outputs if they are given."""
        names, outputs = list(self.inputs), {}
        if len(arrays) == len(self.parameters) and not named and out is None:
            given = dict(zip(self.parameters, arrays))
            outputs = {name: given[name] for name in self.outputs}
            arrays = [given[name] for name in names]
        elif out is not None:
            listed = out if isinstance(out, (tuple, list)) else (out,)
            listed = [out[name] for name in self.outputs] if isinstance(out, dict) else listed
            if len(listed) != len(self.outputs):
                raise ShapeError(f"found {len(listed)} arrays as out, expected {len(self.outputs)}: "
                                 f"{', '.join(self.outputs)}")
            outputs = dict(zip(self.outputs, listed))
        inputs = dict(zip(names, arrays))
        for name, array in named.items():
            if name not in names or name in inputs:
                raise ShapeError(f"found the argument '{name}' {'twice' if name in inputs else 'of no input'}, expected "
                                 f"{', '.join(names)}")
            inputs[name] = array
        if len(arrays) > len(names) or len(inputs) != len(names):
            raise ShapeError(f"found {len(arrays) + len(named)} inputs of '{self.name}', expected {len(names)}: "
                             f"{', '.join(names) or 'none'}")
        return inputs, outputs

    def _described(self, arrays: Mapping[str, Any], declared: Mapping[str, Buffer]) -> dict[str, Described]:
        return {name: describe(name, array, declared[name].dtype) for name, array in arrays.items()}

    def _program(self, inputs: dict[str, Described], outputs: dict[str, Described]) -> Program:
        key = (tuple(inputs.items()), tuple(outputs.items()))
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._made(inputs, outputs)
        return program

    def _made(self, inputs: dict[str, Described], outputs: dict[str, Described]) -> Program:
        known = {**{name: _joined(name, buffer, inputs.get(name)) for name, buffer in self.inputs.items()},
                 **{name: _joined(name, buffer, outputs.get(name)) for name, buffer in self.outputs.items()}}
        for name in self.inputs:
            if known[name].dtype is None:
                raise UnknownType(f"the element type of '{name}' is not known, expected it in inp_view[..] or Buffer[..], or an "
                                 f"array")
        dtypes = {name: known[name].dtype for name in self.inputs}
        return make_program(self.name, self._form(dtypes, known), known, set(outputs))  # type: ignore[arg-type]


def _joined(name: str, declared: Buffer, given: Described | None) -> Described:
    """The facts declared of an array and those given, which must agree."""
    if given is None:
        return Described(declared.shape, declared.dtype)
    if declared.dtype is not None and given.dtype is not None and given.dtype != declared.dtype:
        raise DTypeError(f"found {given.dtype} elements of '{name}', expected {declared.dtype}: convert the array, or declare "
                         f"that type")
    if declared.shape is not None and given.shape is not None:
        agree = len(declared.shape) == len(given.shape) and all(
            expected in (None, size) for expected, size in zip(declared.shape, given.shape))
        if not agree:
            raise ShapeError(f"found the sizes {list(given.shape)} of '{name}', expected {list(declared.shape)}")
    return Described(given.shape if given.shape is not None else declared.shape, given.dtype or declared.dtype)


def describe(name: str, array: Any, declared: BasicType | None = None) -> Described:
    """Returns the sizes and the element type of an array, of a number, or of a `Described` itself.

    A number takes the declared type.
    """
    if isinstance(array, Described):
        return array
    if isinstance(array, (bool, int, float)) and not hasattr(array, "dtype"):
        return Described((), declared or basic_type(type(array)))
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise DTypeError(f"found {type(array).__name__} for '{name}', expected an array or a number")
    return Described(tuple(int(size) for size in array.shape), basic_type(array.dtype))


def make_program(name: str, form: Form, known: Mapping[str, Described], given: set[str],
                 initial: Mapping[str, int | float] | None = None) -> Program:
    """Returns the program of a form, with the sizes that are known of arrays.

    `given` are outputs that exist already, whose elements stay where nothing is written; `initial` are the
    numbers that others have there, which are 0 otherwise.
    """
    sized = {view.name: Sized(view.name, view.accesses, known[view.name].shape) for view in (*form.outputs, *form.inputs)}
    dimensions = infer_dimensions(form.dimensions, list(sized.values()))
    if not dimensions:
        raise ProgramError(f"the computation '{name}' has no dimensions, expected at least one")
    if len(form.combines) != len(dimensions):
        raise ProgramError(f"found {len(form.combines)} combine operators of '{name}', expected {len(dimensions)}: one for "
                           f"each of the dimensions {', '.join(dimension.name for dimension in dimensions)}")
    results = list(form.results)
    # A point-wise combined dimension has one point left, which is at 0.
    left = [OneLeft(dimension) if combine.kind == "pw" else dimension
            for dimension, combine in zip(dimensions, form.combines)]
    inputs, outputs, contents = [], [], []
    for view in form.inputs:
        shape = _final_shape(sized[view.name], dimensions, f"'{name}' reads input")
        inputs.append(View(view.name, view.accesses, known[view.name].dtype, shape))  # type: ignore[arg-type]
    at = 0
    for view in form.outputs:
        _check_output(view, dimensions, form.combines)
        shape = _final_shape(sized[view.name], left, f"'{name}' writes output")
        dtype = known[view.name].dtype or results[at].dtype
        outputs.append(View(view.name, view.accesses, dtype, shape))
        is_given, number = view.name in given, (initial or {}).get(view.name, 0)
        contents.append(_contents(shape, len(view.accesses), left, ARGUMENT if is_given else number))
        at += len(view.accesses)
    operator = one_operator(name, form.combines, [key for view in form.outputs for key in view.keys])
    combined = None
    if operator is not None:
        count = sum(combine.kind != "cc" for combine in form.combines)
        combined = combination(operator, [result.dtype for result in results], count)
    arguments = tuple((f"{view.name}_{number}" if len(view.accesses) > 1 else view.name, view.dtype)
                      for view in inputs for number in range(1, len(view.accesses) + 1))
    arguments = tuple((f"v{at}_{_ascii(name)}", dtype) for at, (name, dtype) in enumerate(arguments))
    text = function_text(name, dimensions, outputs, inputs, Code(arguments, tuple(results)),
                         [combine.kind for combine in form.combines], combined, contents)
    updated = tuple(at for at, content in enumerate(contents) if content == ARGUMENT)
    return Program(name, text, tuple(inputs), tuple(outputs), updated)


def _ascii(name: str) -> str:
    return "".join(letter if letter.isascii() else "u" for letter in name)


@dataclass(frozen=True)
class OneLeft:
    """A dimension after its point-wise combination."""

    combined: Any

    @property
    def name(self) -> str:
        """The dimension's name."""
        return self.combined.name

    @property
    def points(self) -> range:
        """The one index."""
        return range(1)

    lower, step = 0, 1


def _final_shape(sized: Sized, dimensions: Sequence[Any], what: str) -> tuple[int, ...]:
    least = least_shape(sized, dimensions, what)
    if sized.shape is None:
        return least
    check_shape(sized, least, dimensions)
    return tuple(needed if size is None else size for size, needed in zip(sized.shape, least))


def _contents(shape: Sequence[int], accesses: int, left: Sequence[Any],
              otherwise: str | int | float) -> str | int | float:
    """Returns what an output contains before: it is of no matter where all elements are written, which are as many as the
    points, since no element is written twice."""
    points, elements = accesses, 1
    for dimension in left:
        points *= len(dimension.points)
    for size in shape:
        elements *= size
    return UNDEFINED if points == elements else otherwise


def _check_output(view: Accesses, dimensions: Sequence[Any], combines: Sequence[Combine]) -> None:
    for access in view.accesses:
        used = set().union(*(axis.dimensions() for axis in access)) if access else set()
        for at in sorted(used):
            if combines[at].kind == "pw":
                raise ProgramError(f"the output '{view.name}' is indexed by dimension '{dimensions[at].name}', which pw "
                                   f"combines to one point; expected index functions without it")


def one_operator(name: str, combines: Sequence[Combine], keys: Sequence[Key]) -> Operator | None:
    """Returns the operator that all combined dimensions have.

    Raises `ProgramError` where there are two: the result would depend on which is applied first.
    """
    chosen = {combine.operator.source: combine.operator for combine in combines if combine.operator is not None}
    operators: list[Operator] = list(chosen.values())
    if len(operators) > 1:
        names = " and ".join(f"'{operator.name}'" for operator in operators)
        raise ProgramError(f"found the operators {names} in one md_hom of '{name}', expected one for all combined dimensions: "
                           f"with two, the result depends on which is applied first")
    if not operators:
        return None
    return operators[0].named(keys) if isinstance(operators[0], NamedOperator) else operators[0]


_compiled: dict[tuple, Any] = {}
_compiling = threading.Lock()

# So many compiled programs stay; the oldest goes first.
_KEPT_PROGRAMS = 256


def compiled(program: Program, options: Mapping[str, Any]) -> Any:
    """Returns the compiled program, which is made where it is not there yet."""
    key = (program.text, tuple(sorted((name, repr(option)) for name, option in options.items())))
    with _compiling:
        found = _compiled.get(key)
        if found is None:
            from .compiled import compile_text

            _check_device(compile_text, options)

            found = compile_text(program.text, name=identifier(program.name), entry=symbol(program.name),
                                 dtypes=program.dtypes, **options)
            while len(_compiled) >= _KEPT_PROGRAMS:
                del _compiled[next(iter(_compiled))]
            _compiled[key] = found
    return found


def _check_device(compile_text: Callable, options: Mapping[str, Any]) -> None:
    """Refuses a device where compiled functions run on the processor only."""
    parameters = inspect.signature(compile_text).parameters
    if options.get("device", "cpu") != "cpu" and "device" not in parameters:
        raise DeviceError(f"found the device '{options['device']}', expected the processor: compiled functions run on it only; "
                          f"'mdh run --device cuda' runs the text of a computation on a GPU")


def run(program: Program, inputs: Sequence[Any], outputs: Sequence[Any] | None, options: Mapping[str, Any]) -> Any:
    """Runs a program on arrays, and returns its outputs: an array, or a tuple of several."""
    function = compiled(program, options)
    arguments = [array if view.shape or not _is_scalar(array) else _number(array, view.dtype)
                 for array, view in zip(inputs, program.inputs)]
    if outputs is None:
        return function(*arguments)
    # What is written must be memory of its own; its former elements are handed over in a copy.
    arguments += [_copy(outputs[at]) for at in program.updated]
    function(*arguments, out=tuple(outputs) if len(outputs) > 1 else outputs[0])
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


def _copy(array: Any) -> Any:
    return array.copy() if hasattr(array, "copy") else array.clone()


def _is_scalar(array: Any) -> bool:
    return isinstance(array, (bool, int, float)) or hasattr(array, "item")


def _number(array: Any, dtype: BasicType) -> bool | int | float:
    """An argument without axes, which compiled code takes as a number."""
    number = array.item() if hasattr(array, "item") else array
    return bool(number) if dtype.kind == "b" else float(number) if dtype.is_float else int(number)
