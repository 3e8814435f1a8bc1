"""`einsum`, with any two operators.

What a call compiles is for the shapes, types and memory orders of its arrays; it is kept, so that the same call again
looks it up and runs it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _mdh, threads
from .arguments import is_packed, refuse_mask, refuse_masks_within, refuse_records
from .arrays import dtype_name, gpu_of
from .compiled import Compiled
from .errors import DTypeError, ProgramError, ShapeError
from .operators import Operator, as_operator

if TYPE_CHECKING:
    from typing_extensions import Self

    from .tuples import TupleEinsum

#: Types of operators that are given by name.
_Operator = str | Callable[..., Any]

#: Compiled einsums by spec, operators, path, and what is known of the arrays.
_compiled: dict[tuple, Einsum] = {}

#: Einsums that are kept; then all are forgotten, which costs a look into the cache on disk for each.
_MOST = 1024


class Einsum(Compiled):
    """A compiled einsum, for arrays of certain shapes, types and memory orders.

    Called with such operands (and `out=`), it computes. What else a compiled computation has (`interface`, `mlir`,
    `explain`, `save`, ..) is of the arrays' axes in the order in which they lie in memory, and has complex elements as
    pairs of floats, in a last axis.

    Attributes:
        shape, dtype: those of the result; of a tuple of results, the type of each.
        path: the order of contraction, as opt_einsum has it: positions of operands, whose result is appended.
        flops: scalar operations, as opt_einsum counts them.
        largest: elements of the largest array that is stored, the result included.
    """

    shape: tuple[int, ...]
    dtype: str | tuple[str, ...]
    path: list[tuple[int, ...]]
    flops: float
    largest: float
    _is_complex: bool
    #: Shapes, types and memory orders of the operands.
    _operands: list[Any]
    #: Positions of operands that the program takes as numbers.
    _numbers: list[int]

    def __new__(
        cls, about: _mdh.Einsum | TupleEinsum, operands: Sequence[Any], dtypes: list[str], place: int | None,
        options: dict[str, Any]
    ) -> Self:
        made = super().__new__(cls, about.text, "einsum", options, dtypes, place)
        made._operands = list(operands)
        # Programs on tuples take operands without axes as numbers.
        is_tuple = isinstance(about.dtype, tuple)
        made._numbers = [at for at, (shape, _, _) in enumerate(operands) if is_tuple and not shape]
        made.shape, made.dtype = tuple(about.shape), about.dtype
        made.path = [tuple(step) for step in about.path]
        made.flops, made.largest = about.flops, about.largest
        made._is_complex = not is_tuple and str(about.dtype).startswith("complex")
        return made

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        """Computes the einsum.

        Raises:
            ShapeError: operands have other shapes, types or memory orders than those that it was compiled for.
        """
        return self._run(self._arrays(operands), out)

    def check(self, *operands: Any) -> str:
        """Compares a run on these operands with the definition, as `Compiled.check` does."""
        return super().check(*self._arrays(operands))

    def _arrays(self, operands: Sequence[Any]) -> list[Any]:
        """Operands as the program takes them."""
        described = [_describe(operand) for operand in operands]
        found = [about for _, about in described]
        if found != self._operands:
            raise ShapeError(f"found operands of {_listed(found)}, expected those that it is for, {_listed(self._operands)}")
        return [array for array, _ in described]

    def _run(self, arrays: list[Any], out: Any) -> Any:
        """Computes with operands as the program takes them."""
        for at in self._numbers:
            arrays[at] = arrays[at].item()
        if not self._is_complex:
            return super().__call__(*arrays, out=out)
        if out is None:
            return _joined(super().__call__(*arrays), self)
        if _takes_pairs(out, self):
            super().__call__(*arrays, out=_pairs(out))
        else:
            out[...] = _joined(super().__call__(*arrays), self)
        return out

    def __repr__(self) -> str:
        return f"<mdh.Einsum to {self.dtype}{list(self.shape)}, {self.flops:.3g} operations>"


def einsum(
    spec: Any,
    *operands: Any,
    combine: _Operator = "add",
    scalar: _Operator = "mul",
    path: Sequence[Sequence[int]] | None = None,
    distributes: bool = False,
    out: Any = None,
    **options: Any,
) -> Any:
    """Combines products of the operands' elements over the indices that the result has not.

    Args:
        spec: numpy's text: `"ij,jk->ik"`, with ellipsis, repeated indices, and an implicit output; or the operands and
            lists of integers in turns, as numpy has them too.
        operands: arrays of numpy, torch or jax. Elements of different types are promoted as numpy promotes them;
            sums are of the result's type, but those of 16-bit floats, which are kept in 32 bits.
        combine: sums: the name of an operator (`add`, `min`, `max`, `and`, `or`, `xor`, `mul`, `logaddexp`), or an
            associative and commutative one of `mdh.combine_operator`.
        scalar: multiplies: a name (also `sub`, `div`, `pow`, `first`), or a function of as many values as there are
            operands. One that gives a tuple, which may have `mdh.index` of a letter, makes tuples that `combine` takes:
            `combine=mdh.argmin, scalar=lambda a, b: (a + b, mdh.index("k"))`.
        path: the order of contraction, as opt_einsum has it; the cheapest if there is none. Where `scalar` is not known
            to distribute over `combine`, all is one step.
        distributes: True states that `scalar` distributes over `combine`, of which one at least is no name: what no code
            shows. Both are commutative and associative then (`mdh.combine_operator(commutative=True)`).
        out: an array for the result, of its shape and type.
        options: those of the compiler, as `mdh.compile` has them.

    Returns:
        An array of the library of the first operand; a tuple of arrays where `scalar` gives a tuple.

    Raises:
        ProgramError: the text is wrong, at the character that the message shows, or sizes do not fit.
        DTypeError: there is no such operator for these elements.
    """
    if not isinstance(spec, str):
        spec, listed = _from_lists(spec, operands)
        operands = tuple(listed)
    described = [_describe(operand) for operand in operands]
    about_arrays = tuple([about[1] for about in described])
    wanted = tuple(sorted((name, repr(option)) for name, option in options.items())) if options else ()
    key = (spec, combine, scalar, _hashable(path), distributes, wanted, threads.changes, about_arrays)
    try:
        program = _compiled.get(key)
    except TypeError:
        raise ProgramError(f"found operators {combine!r} and {scalar!r}, expected names or functions") from None
    if program is None:
        program = _compile(spec, about_arrays, combine, scalar, path, distributes, gpu_of(operands), options)
        _compiled[key] = program
    return program._run([array for array, _ in described], out)


def compile_einsum(
    spec: str,
    *operands: Any,
    combine: _Operator = "add",
    scalar: _Operator = "mul",
    path: Sequence[Sequence[int]] | None = None,
    distributes: bool = False,
    **options: Any,
) -> Einsum:
    """Returns the program that `einsum` runs for such operands, of which shapes, types and memory orders count.

    `spec`, `operands`, `combine`, `scalar`, `path`, `distributes` and `options` are those of `einsum`, but that `spec` is
    text.

    Raises the errors of `einsum`.
    """
    described = [_describe(operand)[1] for operand in operands]
    return _compile(spec, described, combine, scalar, path, distributes, gpu_of(operands), options)


def _compile(
    spec: str,
    described: Sequence[tuple[tuple[int, ...], Any, tuple[int, ...] | None]],
    combine: _Operator,
    scalar: _Operator,
    path: Sequence[Sequence[int]] | None,
    distributes: bool,
    place: int | None,
    options: dict[str, Any],
) -> Einsum:
    if len(_compiled) >= _MOST:
        _compiled.clear()
    for _, dtype, _ in described:
        refuse_records("einsum", dtype)
    dtypes = [dtype_name(dtype) for _, dtype, _ in described]
    operands = [(shape, name, order) for (shape, _, order), name in zip(described, dtypes)]
    steps = None if path is None else _steps(path)
    if callable(scalar) and not isinstance(scalar, Operator):
        from .text import symbol
        from .tuples import tuple_einsum

        tuples = tuple_einsum(spec, operands, combine, scalar)
        if tuples is not None:
            program = tuples.program
            return Einsum(tuples, described, program.dtypes, place, {"entry": symbol(program.name), **options})
    arity = 2 if distributes or isinstance(scalar, Operator) else len(operands)
    combined = _operator_text(combine, dtypes, 2, distributes)
    multiplied = _operator_text(scalar, dtypes, arity, distributes)
    if distributes and isinstance(combine, str) and isinstance(scalar, str):
        raise ProgramError("found distributes=True of two names, of which it is known; expected an operator of one's own")
    about = _mdh.einsum(spec, operands, combined, multiplied, steps)
    names = [_parts(name) for name in [*dtypes, about.dtype]]
    return Einsum(about, described, names, place, options)


def _listed(described: Sequence[tuple]) -> str:
    """Operands in a message: shapes, types, and orders of axes that are not the usual ones."""
    texts = []
    for shape, dtype, order in described:
        text = f"{dtype_name(dtype)}{list(shape)}"
        texts.append(text if order is None else f"{text} with the axes {list(order)} in memory")
    return ", ".join(texts) or "none"


def _parts(dtype: str) -> str:
    """The type that memory of elements is made of."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def _operator_text(operator: _Operator, dtypes: list[str], arity: int, distributes: bool) -> str:
    """An operator as the extension takes it: a name, or a region of MLIR with its laws."""
    if isinstance(operator, str):
        return operator
    import numpy

    from .emit import einsum_region

    element = numpy.result_type(*dtypes).name if dtypes else "float64"
    text = einsum_region(as_operator(operator) if arity == 2 else operator, element, arity)
    if not distributes:
        return text
    if not text.startswith("commutative"):
        raise ProgramError(
            f"found distributes=True with an operator that is not known to commute, {operator!r}: expected "
            f"mdh.combine_operator(commutative=True)"
        )
    return f"distributes {text}"


def _describe(operand: Any) -> tuple[Any, tuple[tuple[int, ...], Any, tuple[int, ...] | None]]:
    """An array whose elements lie in row-major order of its axes, and what the array was: its shape, its type, and the
    order of its axes in memory where that is not the usual one."""
    kind = type(operand)
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray":
        flags = operand.flags
        if flags.c_contiguous and flags.aligned and operand.dtype.isnative:
            about = (operand.shape, operand.dtype, None)
            return (operand if operand.dtype.kind != "c" else _pairs(operand)), about
    elif kind.__module__ == "torch":
        if operand.is_contiguous():
            about = (tuple(operand.shape), operand.dtype, None)
            return (operand if not operand.is_complex() else _pairs(operand)), about
    elif not hasattr(operand, "dtype"):
        import numpy

        if isinstance(operand, (list, tuple)):
            refuse_masks_within("einsum", operand)
        return _describe(numpy.asarray(operand))
    return _reordered(operand)


def _reordered(operand: Any) -> tuple[Any, tuple[tuple[int, ...], Any, tuple[int, ...] | None]]:
    """The same for other arrays: without a copy where the axes lie in another order without gaps."""
    refuse_mask("einsum", operand)
    module = type(operand).__module__.partition(".")[0]
    shape = tuple(operand.shape)
    if module == "torch":
        strides = operand.stride()
        order = _order(shape, strides)
        array = operand.contiguous() if order is None else operand.permute(order)
        return (array if not array.is_complex() else _pairs(array)), (shape, operand.dtype, order)
    if module != "numpy":
        is_complex = dtype_name(operand.dtype).startswith("complex")
        return (_pairs(operand) if is_complex else operand), (shape, operand.dtype, None)
    import numpy

    array = numpy.asarray(operand)
    if array.dtype.kind not in "biufcV":
        raise DTypeError(f"found elements of {array.dtype}, expected numbers or truth values")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    size = max(array.itemsize, 1)
    order = None if is_packed(array) else _order(shape, [stride // size for stride in array.strides])
    if order is None:
        array = numpy.require(array, requirements=["C", "A"]).reshape(shape)
    else:
        array = array.transpose(order)
    return (array if array.dtype.kind != "c" else _pairs(array)), (shape, array.dtype, order)


def _order(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...] | None:
    """The order of axes, slowest first, in which an array has no gaps; None if there is none."""
    order = sorted(range(len(shape)), key=lambda axis: (-strides[axis], shape[axis] == 1))
    expected = 1
    for axis in reversed(order):
        if shape[axis] == 0:
            return None
        if shape[axis] != 1 and strides[axis] != expected:
            return None
        expected *= shape[axis]
    return tuple(order)


def _pairs(array: Any) -> Any:
    """A complex array as one of floats, with an axis of real and imaginary part behind the others."""
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        import torch

        return torch.view_as_real(array.resolve_conj())
    if library in ("jax", "jaxlib"):
        import jax.numpy

        return jax.numpy.stack([array.real, array.imag], axis=-1)
    if library == "cupy":
        import cupy

        array = cupy.ascontiguousarray(array)
    return array.reshape(array.shape + (1,)).view("float32" if array.dtype.itemsize == 8 else "float64")


def _joined(pairs: Any, program: Einsum) -> Any:
    """The complex array that an array of floats is, which `_pairs` has made or might have."""
    library = type(pairs).__module__.partition(".")[0]
    if library == "torch":
        import torch

        return torch.view_as_complex(pairs)
    if library in ("jax", "jaxlib"):
        return pairs[..., 0] + 1j * pairs[..., 1]
    return pairs.view(program.dtype).reshape(program.shape)


def _takes_pairs(out: Any, program: Einsum) -> bool:
    """True where the complex results of a program may be written into an array as pairs of floats.

    Raises:
        DTypeError, ShapeError, ProgramError: it is no array for them.
    """
    refuse_mask("einsum: out", out)
    found = getattr(out, "dtype", type(out))
    if dtype_name(found) != program.dtype:
        raise DTypeError(f"out has elements of {found}, expected {program.dtype}")
    if tuple(out.shape) != program.shape:
        raise ShapeError(f"out has the shape {tuple(out.shape)}, expected {program.shape}")
    if hasattr(out, "flags") and not out.flags.writeable:
        raise ProgramError("out is read-only, expected an array that may be written")
    return out.is_contiguous() if hasattr(out, "is_contiguous") else out.flags.c_contiguous


def _steps(path: Any) -> list[list[int]]:
    """The steps of a path; numpy's begins with a word.

    Raises:
        ProgramError: it is no path.
    """
    try:
        if isinstance(path, str):
            raise TypeError
        steps = [[operator.index(at) for at in step] for step in path if step != "einsum_path"]
        if any(at < 0 for step in steps for at in step):
            raise TypeError
    except TypeError:
        raise ProgramError(
            f"found the path {path!r}, expected the positions of operands for each step, such as [(0, 1), (0, 1)]; without "
            f"a path it is the cheapest one"
        ) from None
    return steps


def _hashable(path: Any) -> Any:
    return None if path is None else tuple(tuple(step) for step in _steps(path))


def _from_lists(first: Any, rest: tuple) -> tuple[str, list[Any]]:
    """numpy's other form: operands and lists of integers in turns, a list for the result at last."""
    items = [first, *rest]
    result = items.pop() if len(items) % 2 else None
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def term(indices: Any) -> str:
        if not isinstance(indices, (list, tuple)) and not hasattr(indices, "tolist"):
            raise ProgramError(f"found {type(indices).__name__} where a list of indices was expected")
        text = ""
        for index in indices:
            if index is Ellipsis:
                text += "..."
            elif hasattr(index, "__index__") and 0 <= operator.index(index) < len(letters):
                text += letters[operator.index(index)]
            else:
                raise ProgramError(f"found the index {index!r}, expected an integer from 0 to {len(letters) - 1}")
        return text

    spec = ",".join(term(indices) for indices in items[1::2])
    if result is not None:
        spec += "->" + term(result)
    return spec, items[0::2]
