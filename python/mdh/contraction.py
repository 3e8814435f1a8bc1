"""`einsum`, with any two operators.

What a call compiles is for the shapes, types and memory orders of its arrays; it is kept, so that the same call again
looks it up and runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _mdh, threads
from .arrays import dtype_name, gpu_of
from .compiled import Compiled, compile_text
from .errors import DTypeError, ProgramError
from .operators import Operator, as_operator

#: Types of operators that are given by name.
_Operator = str | Callable[..., Any]

#: Compiled einsums by spec, operators, path, and what is known of the arrays.
_compiled: dict[tuple, Einsum] = {}

#: Einsums that are kept; then all are forgotten, which costs a look into the cache on disk for each.
_MOST = 1024


class Einsum:
    """A compiled einsum, for arrays of certain shapes, types and memory orders.

    Attributes:
        compiled: the computation; it has `explain`, `mlir`, `tune` and what else such an object has.
        shape, dtype: those of the result.
        path: the order of contraction, as opt_einsum has it: positions of operands, whose result is appended.
        flops: scalar operations, as opt_einsum counts them.
        largest: elements of the largest array that is stored, the result included.
    """

    __slots__ = ("compiled", "shape", "dtype", "path", "flops", "largest", "_is_complex")

    def __init__(self, compiled: Compiled, about: _mdh.Einsum) -> None:
        self.compiled = compiled
        self.shape, self.dtype = tuple(about.shape), about.dtype
        self.path = [tuple(step) for step in about.path]
        self.flops, self.largest = about.flops, about.largest
        self._is_complex = about.dtype.startswith("complex")

    def __repr__(self) -> str:
        return f"<mdh.Einsum to {self.dtype}{list(self.shape)}, {self.flops:.3g} operations>"

    def _repr_html_(self) -> str:
        """A table and a picture of its loops, for notebooks."""
        return self.compiled._repr_html_()


def einsum(
    spec: Any,
    *operands: Any,
    combine: _Operator = "add",
    scalar: _Operator = "mul",
    path: Sequence[Sequence[int]] | None = None,
    distributes: bool = False,
    out: Any = None,
) -> Any:
    """Combines products of the operands' elements over the indices that the result has not.

    Args:
        spec: numpy's text: `"ij,jk->ik"`, with ellipsis, repeated indices, and an implicit output; or the operands and
            lists of integers in turns, as numpy has them too.
        operands: arrays of numpy, torch or jax. Elements of different types are promoted as numpy promotes them;
            nothing is accumulated in a wider type.
        combine: sums: the name of an operator (`add`, `min`, `max`, `and`, `or`, `xor`, `mul`, `logaddexp`), or an
            associative and commutative one of `mdh.combine_operator`.
        scalar: multiplies: a name (also `sub`, `div`, `pow`, `first`), or a function of as many values as there are
            operands.
        path: the order of contraction, as opt_einsum has it; the cheapest if there is none. Where `scalar` is not known
            to distribute over `combine`, all is one step.
        distributes: True states that `scalar` distributes over `combine`, of which one at least is no name: what no code
            shows. Both are commutative and associative then (`mdh.combine_operator(commutative=True)`).
        out: an array for the result, of its shape and type.

    Returns:
        An array of the library of the first operand.

    Raises:
        ProgramError: the text is wrong, at the character that the message shows, or sizes do not fit.
        DTypeError: there is no such operator for these elements.
    """
    if not isinstance(spec, str):
        spec, listed = _from_lists(spec, operands)
        operands = tuple(listed)
    described = [_describe(operand) for operand in operands]
    about_arrays = tuple([about[1] for about in described])
    key = (spec, combine, scalar, _hashable(path), distributes, threads.changes, about_arrays)
    try:
        program = _compiled.get(key)
    except TypeError:
        raise ProgramError(f"found operators {combine!r} and {scalar!r}, expected names or functions") from None
    if program is None:
        program = _compile(spec, about_arrays, combine, scalar, path, distributes, gpu_of(operands))
        _compiled[key] = program
    arrays = [about[0] for about in described]
    if program._is_complex:
        return _complex(program, arrays, out)
    return program.compiled(*arrays, out=out)


def compile_einsum(
    spec: str,
    *operands: Any,
    combine: _Operator = "add",
    scalar: _Operator = "mul",
    path: Sequence[Sequence[int]] | None = None,
    distributes: bool = False,
) -> Einsum:
    """Returns the program that `einsum` runs for such operands, of which shapes, types and memory orders count.

    `spec`, `operands`, `combine`, `scalar`, `path` and `distributes` are those of `einsum`, but that `spec` is text.

    Raises the errors of `einsum`.
    """
    described = [_describe(operand)[1] for operand in operands]
    return _compile(spec, described, combine, scalar, path, distributes, gpu_of(operands))


def _compile(
    spec: str,
    described: Sequence[tuple[tuple[int, ...], Any, tuple[int, ...] | None]],
    combine: _Operator,
    scalar: _Operator,
    path: Sequence[Sequence[int]] | None,
    distributes: bool,
    place: int | None,
) -> Einsum:
    if len(_compiled) >= _MOST:
        _compiled.clear()
    dtypes = [dtype_name(dtype) for _, dtype, _ in described]
    operands = [(shape, name, order) for (shape, _, order), name in zip(described, dtypes)]
    steps = None if path is None else [list(step) for step in path if not isinstance(step, str)]
    arity = 2 if distributes or isinstance(scalar, Operator) else len(operands)
    combined = _operator_text(combine, dtypes, 2, distributes)
    multiplied = _operator_text(scalar, dtypes, arity, distributes)
    if distributes and isinstance(combine, str) and isinstance(scalar, str):
        raise ProgramError("found distributes=True of two names, of which it is known; expected an operator of one's own")
    about = _mdh.einsum(spec, operands, combined, multiplied, steps)
    names = [_parts(name) for name in [*dtypes, about.dtype]]
    compiled = compile_text(about.text, name="einsum", dtypes=names, warns=False, place=place)
    return Einsum(compiled, about)


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
        if operand.flags.c_contiguous and operand.dtype.isnative:
            about = (operand.shape, operand.dtype, None)
            return (operand if operand.dtype.kind != "c" else _pairs(operand)), about
    elif kind.__module__ == "torch":
        if operand.is_contiguous():
            about = (tuple(operand.shape), operand.dtype, None)
            return (operand if not operand.is_complex() else _pairs(operand)), about
    elif not hasattr(operand, "dtype"):
        import numpy

        return _describe(numpy.asarray(operand))
    return _reordered(operand)


def _reordered(operand: Any) -> tuple[Any, tuple[tuple[int, ...], Any, tuple[int, ...] | None]]:
    """The same for other arrays: without a copy where the axes lie in another order without gaps."""
    module = type(operand).__module__.partition(".")[0]
    shape = tuple(operand.shape)
    if module == "torch":
        strides = operand.stride()
        order = _order(shape, strides)
        array = operand.contiguous() if order is None else operand.permute(order)
        return (array if not array.is_complex() else _pairs(array)), (shape, operand.dtype, order)
    if module != "numpy":
        about = (shape, operand.dtype, None)
        return (operand if not dtype_name(operand.dtype).startswith("complex") else _pairs(operand)), about
    import numpy

    array = numpy.asarray(operand)
    if array.dtype.kind not in "biufcV":
        raise DTypeError(f"found elements of {array.dtype}, expected numbers or truth values")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    order = _order(shape, [stride // max(array.itemsize, 1) for stride in array.strides])
    if order is None:
        array, order = numpy.ascontiguousarray(array).reshape(shape), None
    else:
        array = array.transpose(order)
    about = (shape, array.dtype, order)
    return (array if array.dtype.kind != "c" else _pairs(array)), about


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


def _complex(program: Einsum, arrays: list[Any], out: Any) -> Any:
    if out is not None:
        found = getattr(out, "dtype", type(out))
        if dtype_name(found) != program.dtype:
            raise DTypeError(f"out has elements of {found}, expected {program.dtype}")
        is_plain = out.is_contiguous() if hasattr(out, "is_contiguous") else out.flags.c_contiguous
        if is_plain:
            program.compiled(*arrays, out=_pairs(out))
            return out
    result = _joined(program.compiled(*arrays), program)
    if out is None:
        return result
    out[...] = result
    return out


def _hashable(path: Sequence[Sequence[int]] | None) -> Any:
    return None if path is None else tuple(step if isinstance(step, str) else tuple(step) for step in path)


def _from_lists(first: Any, rest: tuple) -> tuple[str, list[Any]]:
    """numpy's other form: operands and lists of integers in turns, a list for the result at last."""
    items = [first, *rest]
    result = items.pop() if len(items) % 2 else None
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def term(indices: Any) -> str:
        if not isinstance(indices, (list, tuple)):
            raise ProgramError(f"found {type(indices).__name__} where a list of indices was expected")
        text = ""
        for index in indices:
            if index is Ellipsis:
                text += "..."
            elif isinstance(index, int) and 0 <= index < len(letters):
                text += letters[index]
            else:
                raise ProgramError(f"found the index {index!r}, expected an integer from 0 to {len(letters) - 1}")
        return text

    spec = ",".join(term(indices) for indices in items[1::2])
    if result is not None:
        spec += "->" + term(result)
    return spec, items[0::2]
