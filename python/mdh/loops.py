"""Annotated loops as published: a perfect nest of `for .. in range(..)`, and assignments in it.

The nest is read from the function's source: as many loops as there are combine operators. What is
within is executed once, as Python, with symbolic indices and buffers: reading an element is an access
of an input, assigning one is an access of an output. So the loops' body may use local variables,
functions and further loops, which are unrolled; assignments are written with `=` also where a dimension
is combined, since the combine operators say how.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from .affine import Affine, index_function
from .computation import Computation
from .errors import ProgramError, TraceError
from .functions import result_type
from .operators import Combine
from .program import Accesses, Described, Form
from .scalar import stored
from .sizes import OpenDimension, UnknownSize
from .trace import Trace, Value, as_value, located, source_place, structure, trace_error
from .types import BasicType, Buffer


@dataclass(frozen=True)
class Nest:
    """A function's loops: the names of their variables, and its parts as functions of the buffers.

    `bounds` gives the arguments of each `range(..)`, `body` executes the innermost statements with
    the loops' variables behind the buffers. `lines` are the lines of the loops.
    """

    parameters: tuple[str, ...]
    variables: tuple[str, ...]
    bounds: tuple[Callable, ...]
    body: Callable
    file: str
    lines: tuple[int, ...]

    def place(self, loop: int) -> tuple[str, int]:
        """File and line of a loop."""
        return self.file, self.lines[loop]


def from_loops(
    function: Callable, outputs: Mapping[str, Buffer], inputs: Mapping[str, Buffer], combines: Sequence[Combine]
) -> Computation:
    """Returns the computation of annotated loops."""
    nest = parse(function, len(combines))
    first = (nest.file, function.__code__.co_firstlineno)
    missing = [name for name in nest.parameters if name not in outputs and name not in inputs]
    unused = [name for name in (*outputs, *inputs) if name not in nest.parameters]
    if missing or unused:
        what = (
            f"the parameter '{missing[0]}' of '{function.__name__}' in neither out(..) nor inp(..)"
            if missing
            else f"the buffer '{unused[0]}' that is no parameter of '{function.__name__}'"
        )
        raise ProgramError(located(f"found {what}, expected each buffer in both", first))
    if not outputs:
        raise ProgramError(located(f"found no outputs of '{function.__name__}', expected out(..) in @mdh(..)", first))

    def form(dtypes: Mapping[str, BasicType], known: Mapping[str, Described]) -> Form:
        return _form(nest, tuple(combines), list(outputs), dtypes, known)

    return Computation(function.__name__, outputs, inputs, form, doc=function.__doc__, parameters=nest.parameters)


def parse(function: Callable, depth: int) -> Nest:
    """Reads the loops of a function; there are as many as `depth`.

    Raises `ProgramError`, with the line, for what is no perfect nest.
    """
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    try:
        lines, start = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise ProgramError(
            f"found no source of '{function.__name__}' in {file}, expected loops in a file: they are read from it"
        ) from None
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, max(start, 1) - 1)
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise ProgramError(located("found no function, expected 'def' with loops under @mdh(..)", (file, start)))
    loops, body = _perfect_nest(definition, depth, file)
    parameters = tuple(parameter.arg for parameter in definition.args.args)
    variables = tuple(loop.target.id for loop in loops)  # type: ignore[attr-defined]
    for at, variable in enumerate(variables):
        if variable in variables[:at] or variable in parameters:
            _refuse(
                loops[at], file, f"the loop variable '{variable}', which is the name of something else", "another name"
            )
    bounds, compiled = _functions(function, definition, loops, body, parameters, variables, file)
    return Nest(parameters, variables, bounds, compiled, file, tuple(loop.lineno for loop in loops))


def _refuse(node: ast.AST, file: str, what: str, expected: str) -> NoReturn:
    raise ProgramError(located(f"found {what}, expected {expected}", (file, node.lineno)))  # type: ignore[attr-defined]


def _perfect_nest(definition: ast.FunctionDef, depth: int, file: str) -> tuple[list[ast.For], list[ast.stmt]]:
    statements = definition.body
    loops: list[ast.For] = []
    if isinstance(statements[0], ast.Expr) and isinstance(statements[0].value, ast.Constant):
        # The docstring.
        statements = statements[1:]
    parent: ast.stmt = definition
    while len(loops) < depth:
        several = [statement for statement in statements if isinstance(statement, ast.For)]
        if not several:
            _refuse(
                statements[0] if statements else parent,
                file,
                f"{len(loops)} nested loops",
                f"{depth}: combine_ops has an operator for each",
            )
        if len(statements) > 1:
            beside = next(statement for statement in statements if statement is not several[0])
            _refuse(
                beside,
                file,
                "a statement beside a loop",
                "a perfect nest: nothing but the next loop in a loop, all statements in the innermost one",
            )
        loop = several[0]
        _check_loop(loop, [outer.target.id for outer in loops], file)  # type: ignore[attr-defined]
        loops.append(loop)
        statements, parent = loop.body, loop
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Return, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)):
                _refuse(
                    node,
                    file,
                    f"'{type(node).__name__.lower()}' in the loops",
                    "assignments to outputs: a function has no other effects",
                )
    return loops, statements


def _check_loop(loop: ast.For, outer: Sequence[str], file: str) -> None:
    call = loop.iter
    if loop.orelse:
        _refuse(loop.orelse[0], file, "'else' of a loop", "a loop without it")
    if not isinstance(loop.target, ast.Name):
        _refuse(loop, file, "several loop variables", "a name: for i in range(I)")
    is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
    if not is_range or call.keywords or not 1 <= len(call.args) <= 3:  # type: ignore[attr-defined]
        _refuse(
            loop,
            file,
            f"a loop over {ast.unparse(call)}",
            "range(stop), range(start, stop) or range(start, stop, step)",
        )
    used = [node.id for node in ast.walk(call) if isinstance(node, ast.Name) and node.id in outer]
    if used:
        _refuse(
            loop,
            file,
            f"a range that depends on '{used[0]}'",
            "bounds that are the same for all points; mdh.where with the operator's neutral element leaves points out",
        )


def _functions(
    function: Callable,
    definition: ast.FunctionDef,
    loops: Sequence[ast.For],
    body: list[ast.stmt],
    parameters: Sequence[str],
    variables: Sequence[str],
    file: str,
) -> tuple[tuple[Callable, ...], Callable]:
    """Compiles bounds and body as functions with the variables that the original one sees, at the original lines."""
    names = function.__code__.co_freevars
    cells = dict(zip(names, function.__closure__ or ()))
    bounds = [ast.Tuple(elts=list(loop.iter.args), ctx=ast.Load()) for loop in loops]  # type: ignore[attr-defined]
    inner = [
        _definition(f"bounds_{at}", parameters, [ast.Return(value=bound)], loops[at]) for at, bound in enumerate(bounds)
    ]
    inner.append(_definition(definition.name, [*parameters, *variables], body, definition))
    made = [ast.Name(id=part.name, ctx=ast.Load()) for part in inner]
    inner.append(ast.Return(value=ast.Tuple(elts=made, ctx=ast.Load())))  # type: ignore[arg-type]
    factory = _definition("factory", names, inner, definition)
    module = ast.Module(body=[factory], type_ignores=[])
    ast.fix_missing_locations(module)
    # A scope of its own for the factory's name; the parts see the globals of the function.
    scope: dict[str, Any] = {}
    exec(compile(module, file, "exec"), function.__globals__, scope)
    values = []
    for name in names:
        try:
            values.append(cells[name].cell_contents)
        except ValueError:
            values.append(None)
    *bound_functions, compiled = scope["factory"](*values)
    return tuple(bound_functions), compiled


def _definition(name: str, parameters: Sequence[str], body: Sequence[ast.stmt], place: ast.AST) -> ast.FunctionDef:
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=parameter) for parameter in parameters],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    definition = ast.FunctionDef(name=name, args=arguments, body=list(body), decorator_list=[])
    return ast.copy_location(definition, place)


class InputBuffer:
    """An input in loops: `M[i, k]` is the value of an access."""

    def __init__(self, name: str, dtype: BasicType | None, described: Described, accesses: Accessed):
        self.name = name
        self.dtype = dtype
        self._described = described
        self._accesses = accesses

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, where they are declared or given by an array."""
        shape = self._described.shape
        if shape is None or None in shape:
            place = source_place(2)
            raise UnknownSize(
                located(
                    f"the sizes of '{self.name}' are not known, expected them in Buffer[T, [..]], or an array", place
                )
            )
        return shape  # type: ignore[return-value]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Value:
        # Forms are made when the types of all inputs are known.
        assert self.dtype is not None
        return self._accesses.read(self.name, self.dtype, _indices(key, self.name))

    def __setitem__(self, key: Any, value: Any) -> None:
        trace_error(
            f"found an assignment to '{self.name}', which is an input; expected one to an output, declared in out(..)"
        )

    def __iter__(self) -> Any:
        trace_error(
            f"found iteration over '{self.name}', expected elements: {self.name}[..] with an index for each axis"
        )

    def __bool__(self) -> bool:
        trace_error(
            f"found '{self.name}' as a condition, expected an element: {self.name}[..] with an index for each axis"
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        trace_error(
            f"found '{self.name}' as an array, expected an element: {self.name}[..] with an index for each axis"
        )


class OutputBuffer(InputBuffer):
    """An output in loops: `w[i] = value` stores it."""

    def __getitem__(self, key: Any) -> Value:
        trace_error(
            f"found a use of '{self.name}', which is an output and is only assigned to; expected '=' also where a "
            f"dimension is combined: combine_ops says how, '+=' is not written"
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(value, (Value, bool, int, float)) and getattr(value, "shape", None) != ():
            trace_error(
                f"found {value!r} of type {type(value).__name__} for '{self.name}', expected a value or a number"
            )
        self._accesses.write(self.name, _indices(key, self.name), value)


def _indices(key: Any, name: str) -> tuple[Affine, ...]:
    if key is Ellipsis or isinstance(key, slice):
        trace_error(f"found a slice of '{name}', expected an index for each axis")
    return tuple(index_function(index, name) for index in (key if isinstance(key, tuple) else (key,)))


class Accessed:
    """The accesses of one execution of the body, and the values that it assigns.

    Arguments are numbered by `order`, where an earlier execution has found the accesses, else as they come.
    """

    def __init__(self, trace: Trace, order: Sequence[tuple[str, tuple[Affine, ...]]] = ()):
        self._trace = trace
        self._numbers = {access: number for number, access in enumerate(order)}
        self._ranks: dict[str, int] = {}
        self.read_here: list[tuple[str, tuple[Affine, ...]]] = []
        self.written: dict[tuple[str, tuple[Affine, ...]], tuple[Any, tuple[str, int] | None]] = {}

    def _check_rank(self, name: str, indices: tuple[Affine, ...]) -> None:
        rank = self._ranks.setdefault(name, len(indices))
        if rank != len(indices):
            trace_error(f"found {len(indices)} indices of '{name}', which has {rank} elsewhere, expected as many")

    def read(self, name: str, dtype: BasicType, indices: tuple[Affine, ...]) -> Value:
        """Returns the value of an access of an input."""
        self._check_rank(name, indices)
        access = (name, indices)
        if access not in self.read_here:
            self.read_here.append(access)
        return self._trace.argument(self._numbers.setdefault(access, len(self._numbers)), dtype)

    def write(self, name: str, indices: tuple[Affine, ...], value: Any) -> None:
        """Notes what an output's access is assigned; a later assignment takes the place of an earlier one."""
        self._check_rank(name, indices)
        self.written[(name, indices)] = (value, source_place(3))


def _form(
    nest: Nest,
    combines: tuple[Combine, ...],
    outputs: Sequence[str],
    dtypes: Mapping[str, BasicType],
    known: Mapping[str, Described],
) -> Form:
    dimensions = _dimensions(nest, outputs, dtypes, known)
    inputs = [name for name in nest.parameters if name in dtypes]
    first, _ = _executed(nest, outputs, dtypes, known, ())
    # Components are in the order of the buffers.
    order = [access for name in inputs for access in first.read_here if access[0] == name]
    accessed, values = _executed(nest, outputs, dtypes, known, order)
    again, repeated = _executed(nest, outputs, dtypes, known, order)
    place = (nest.file, nest.lines[-1])
    if again.read_here != accessed.read_here or structure(repeated) != structure(values):
        raise TraceError(
            located(
                "found loops that compute something else when they are executed again: they depend on "
                "something that they change; expected a function of indices and inputs",
                place,
            )
        )
    written, results = [], []
    for name in outputs:
        accesses = [access for access in accessed.written if access[0] == name]
        if not accesses:
            raise ProgramError(
                located(f"nothing is assigned to the output '{name}', expected {name}[..] = value", place)
            )
        written.append(Accesses(name, tuple(indices for _, indices in accesses)))
        for access in accesses:
            value, where = accessed.written[access]
            dtype = known[name].dtype or result_type(value)
            results.append(stored(values[0]._trace, value, dtype, name, where))
    read = [Accesses(name, tuple(indices for buffer, indices in order if buffer == name)) for name in inputs]
    return Form(dimensions, tuple(written), tuple(view for view in read if view.accesses), tuple(results), combines)


def _buffers(
    nest: Nest,
    outputs: Sequence[str],
    dtypes: Mapping[str, BasicType],
    known: Mapping[str, Described],
    accesses: Accessed,
) -> list[InputBuffer]:
    return [
        OutputBuffer(name, known[name].dtype, known[name], accesses)
        if name in outputs
        else InputBuffer(name, dtypes[name], known[name], accesses)
        for name in nest.parameters
    ]


def _executed(
    nest: Nest, outputs: Sequence[str], dtypes: Mapping[str, BasicType], known: Mapping[str, Described], order: Sequence
) -> tuple[Accessed, list[Value]]:
    """Executes the body, and returns its accesses, and what it assigns in the order of the outputs."""
    with Trace("the loops", nest.variables) as trace:
        accesses = Accessed(trace, order)
        indices = [trace.index(at) for at in range(len(nest.variables))]
        nest.body(*_buffers(nest, outputs, dtypes, known, accesses), *indices)
        values = [as_value(trace, value) for value, _ in accesses.written.values()]
    if not values:
        place = (nest.file, nest.lines[-1])
        raise ProgramError(
            located(f"nothing is assigned to the output '{outputs[0]}', expected {outputs[0]}[..] = value", place)
        )
    return accesses, values


def _dimensions(
    nest: Nest, outputs: Sequence[str], dtypes: Mapping[str, BasicType], known: Mapping[str, Described]
) -> tuple[OpenDimension, ...]:
    dimensions = []
    for at, (variable, bounds) in enumerate(zip(nest.variables, nest.bounds)):
        with Trace("a range") as trace:
            given = bounds(*_buffers(nest, outputs, dtypes, known, Accessed(trace)))
        for bound in given:
            if bound is not None and (isinstance(bound, Value) or not hasattr(bound, "__index__")):
                raise ProgramError(
                    located(f"found the bound {bound!r} of '{variable}', expected an integer", nest.place(at))
                )
        numbers = [None if bound is None else bound.__index__() for bound in given]
        lower, upper, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
        if lower is None or step is None or step < 1:
            raise ProgramError(
                located(
                    f"found the step {step} of '{variable}', expected at least 1, and a start that is an integer",
                    nest.place(at),
                )
            )
        if upper is not None:
            upper = max(upper, lower)
        name = variable if variable.strip("_") else f"d{at}"
        dimensions.append(OpenDimension(name, lower, upper, step))
    return tuple(dimensions)
