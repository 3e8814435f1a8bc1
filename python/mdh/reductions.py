"""Reductions, prefix sums and histograms of arrays, by any operator.

`reduce`, `scan` and `histogram` make the computation for the arrays' sizes and types, compile it once
for these, and call it. `reduce_program` and the like make the program only. An operator is an
`Operator`, or a Python function of two values, or of two tuples where several arrays are combined at once.
What is made of an operator stays, so that a function must not change what it does.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from . import functions
from .affine import Affine, constant, dimension
from .arguments import refuse_masks_within
from .computation import describe, run
from .errors import DTypeError, ProgramError, ShapeError
from .operators import Combine, add, argmax, argmin, as_operator, cc
from .program import Accesses, Described, Form, Program, make_program
from .scalar import trace_scalar
from .sizes import OpenDimension
from .types import BasicType, basic_type, int64

Shape = tuple[int, ...]


def reduce(
    op: Any,
    x: Any,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **options: Any,
) -> Any:
    """Combines the elements of an array along axes.

    Args:
        op: an operator or its name (`"add"`, `"max"`), or a function of two values, or of two tuples where several arrays
            are combined.
        x: an array, or a tuple of arrays of the same shape, whose elements are combined as tuples.
        axis: an axis or several, negative ones from the last one on; all of them without it.
        keepdims: True leaves the axes with size 1.
        dtype: the type in which elements are combined; without it their own.
        out: an array for the result, or a tuple of several, of its shape and type.
        options: those of the compiler, as `mdh.compile` has them.

    Returns:
        An array of the shape of `x` without the axes; a tuple of them for a tuple `x`, and `(values, positions)` for
        `argmax` and `argmin` of one array. Where nothing is combined (an axis of size 0), elements are the operator's
        neutral ones.

    Raises:
        ShapeError: an axis is not there, or sizes differ.
        DTypeError: there are no such elements.
        ProgramError: the operator cannot do it; it has no neutral element for an axis of size 0, for instance.
    """
    arrays = _arrays(x)
    program = reduce_program(
        op,
        *_shapes_and_types(arrays),
        _hashable(axis),
        keepdims,
        None if dtype is None else basic_type(dtype),
    )
    return _called(program, arrays, out, _is_several(x) or len(program.outputs) > 1, options)


def scan(
    op: Any,
    x: Any,
    axis: int = -1,
    reverse: bool = False,
    exclusive: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
    **options: Any,
) -> Any:
    """Prefix sums of an array along an axis: element `i` is the combination of those up to `i`.

    Args:
        op: an operator or its name (`"add"`, `"max"`), or a function of two values, or of two tuples where several arrays
            are combined.
        x: an array, or a tuple of arrays of the same shape, whose elements are combined as tuples.
        axis: the axis, a negative one from the last one on.
        reverse: True combines those from `i` on.
        exclusive: True leaves out element `i` itself; the first one is the operator's neutral element.
        dtype: the type in which elements are combined; without it their own.
        out: an array for the result, or a tuple of several, of its shape and type.
        options: those of the compiler, as `mdh.compile` has them.

    Returns:
        An array of the shape of `x`, or a tuple of them for a tuple `x`.

    Raises:
        ShapeError: the axis is not there, or sizes differ.
        DTypeError: there are no such elements.
        ProgramError: the operator cannot do it; it has no neutral element for an exclusive scan, for instance.
    """
    arrays = _arrays(x)
    program = scan_program(
        op,
        *_shapes_and_types(arrays),
        axis,
        reverse,
        exclusive,
        None if dtype is None else basic_type(dtype),
    )
    return _called(program, arrays, out, _is_several(x), options)


def histogram(indices: Any, weights: Any = None, *, bins: int, op: Any = add, out: Any = None, **options: Any) -> Any:
    """Combines, for each bin, the weights of the elements whose index it is; without weights, counts them.

    Args:
        indices: an array of integers; those that are no bin from 0 to `bins - 1` count nowhere.
        weights: an array of the same shape; without it, each element counts 1, in 64 bits.
        bins: their number.
        op: an operator with a neutral element, which bins without elements get.
        out: an array for the result, of its shape and type.
        options: those of the compiler, as `mdh.compile` has them.

    Returns:
        An array of the shape `(bins,)` with elements of the weights' type.

    Raises:
        ShapeError: sizes differ, there is no axis, or the number of bins is negative.
        DTypeError: indices are no integers.
        ProgramError: the operator has no neutral element.
    """
    arrays = [_array(indices)] if weights is None else [_array(indices), _array(weights)]
    described = _describe(arrays)
    program = histogram_program(
        described[0].shape, described[0].dtype, bins, None if weights is None else described[1].dtype, op
    )
    return _called(program, arrays, out, False, options)


def reduce_text(
    op: Any, shapes: Sequence[Shape], dtypes: Sequence[Any], axis: Any = None, keepdims: bool = False, dtype: Any = None
) -> str:
    """Returns the program of `reduce`, in MLIR, for arrays of these shapes and types.

    `shapes` and `dtypes` have one entry for each array; `op`, `axis`, `keepdims` and `dtype` are those of `reduce`.

    Raises the errors of `reduce`.
    """
    return reduce_program(
        op, *_normal(shapes, dtypes), _hashable(axis), keepdims, None if dtype is None else basic_type(dtype)
    ).text


def scan_text(
    op: Any,
    shapes: Sequence[Shape],
    dtypes: Sequence[Any],
    axis: int = -1,
    reverse: bool = False,
    exclusive: bool = False,
    dtype: Any = None,
) -> str:
    """Returns the program of `scan`, in MLIR, for arrays of these shapes and types.

    `shapes` and `dtypes` have one entry for each array; `op`, `axis`, `reverse`, `exclusive` and `dtype` are those of
    `scan`.

    Raises the errors of `scan`.
    """
    return scan_program(
        op, *_normal(shapes, dtypes), axis, reverse, exclusive, None if dtype is None else basic_type(dtype)
    ).text


def histogram_text(shape: Shape, dtype: Any, bins: int, weight_dtype: Any = None, op: Any = add) -> str:
    """Returns the program of `histogram`, in MLIR, for indices of a shape and a type.

    `shape` and `dtype` are those of the indices, `weight_dtype` is the type of the weights, None without any; `bins` and
    `op` are those of `histogram`.

    Raises the errors of `histogram`.
    """
    return histogram_program(
        tuple(shape), basic_type(dtype), bins, None if weight_dtype is None else basic_type(weight_dtype), op
    ).text


def _normal(shapes: Sequence[Shape], dtypes: Sequence[Any]) -> tuple[tuple[Shape, ...], tuple[BasicType, ...]]:
    return tuple(tuple(shape) for shape in shapes), tuple(basic_type(dtype) for dtype in dtypes)


def _hashable(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, (list, tuple)) else axis


@functools.lru_cache(maxsize=512)
def reduce_program(
    op: Any,
    shapes: tuple[Shape, ...],
    dtypes: tuple[BasicType, ...],
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    dtype: BasicType | None = None,
) -> Program:
    """Returns the program of `reduce`."""
    operator = as_operator(op)
    shape = _common(shapes)
    combined = _axes(axis, len(shape))
    kinds = tuple(Combine("pw", operator) if at in combined else cc for at in range(len(shape)))
    left = [
        constant(0) if at in combined else dimension(at) for at in range(len(shape)) if keepdims or at not in combined
    ]
    every = tuple(dimension(at) for at in range(len(shape)))
    positions = None
    if operator in (argmax, argmin) and len(shapes) == 1:
        if len(combined) != 1:
            raise ShapeError(f"found {len(combined)} axes for {operator.name}, expected one: positions are along it")
        positions = combined[0]

    def scalar(*values: Any) -> tuple:
        return values if positions is None else (*values, functions.cast(functions.index(positions), int64))

    types = [dtype or part for part in dtypes] + ([int64] if positions is not None else [])
    dimensions = tuple(OpenDimension(f"d{at}", upper=size) for at, size in enumerate(shape))
    return _program(f"reduce_{operator.name}", dimensions, shapes, dtypes, every, types, tuple(left), scalar, kinds)


@functools.lru_cache(maxsize=512)
def scan_program(
    op: Any,
    shapes: tuple[Shape, ...],
    dtypes: tuple[BasicType, ...],
    axis: int = -1,
    reverse: bool = False,
    exclusive: bool = False,
    dtype: BasicType | None = None,
) -> Program:
    """Returns the program of `scan`."""
    operator = as_operator(op)
    shape = _common(shapes)
    (along,) = _axes(axis, len(shape))
    size = shape[along]
    # In reverse, neighbours are combined in the other direction: the left one has the larger index.
    used = operator.reversed() if reverse and not operator.commutative else operator
    kinds = tuple(Combine("ps", used) if at == along else cc for at in range(len(shape)))

    def at_distance(distance: int) -> tuple[Affine, ...]:
        """The element that stands so far behind the point in the direction of the scan."""
        moved = dimension(along).plus(constant(-distance))
        moved = constant(size - 1).plus(moved, -1) if reverse else moved
        return tuple(moved if at == along else dimension(at) for at in range(len(shape)))

    dimensions = tuple(
        OpenDimension(f"d{at}", 1, max(length, 1))
        if exclusive and at == along
        else OpenDimension(f"d{at}", upper=length)
        for at, length in enumerate(shape)
    )
    types = [dtype or part for part in dtypes]
    neutral = operator.neutral_for(types)
    if exclusive and neutral is None:
        raise ProgramError(
            f"found the operator '{operator.name}' without a neutral element for an exclusive scan, expected "
            f"one: it is the first element"
        )
    return _program(
        f"scan_{operator.name}",
        dimensions,
        shapes,
        dtypes,
        at_distance(1 if exclusive else 0),
        types,
        at_distance(0),
        lambda *values: values,
        kinds,
        shape,
        neutral if exclusive else None,
    )


@functools.lru_cache(maxsize=512)
def histogram_program(
    shape: Shape, dtype: BasicType, bins: int, weight_dtype: BasicType | None = None, op: Any = add
) -> Program:
    """Returns the program of `histogram`."""
    operator = as_operator(op)
    if dtype.kind not in "iu":
        raise DTypeError(f"found indices of {dtype}, expected integers: the number of a bin for each element")
    if not hasattr(bins, "__index__"):
        raise ShapeError(f"found {bins!r} bins, expected an integer")
    if bins < 0:
        raise ShapeError(f"found {bins} bins, expected at least 0")
    if not shape:
        raise ShapeError("found indices without axes, expected at least one")
    result = weight_dtype or int64
    neutral = operator.neutral_for([result])
    if neutral is None:
        raise ProgramError(
            f"found the operator '{operator.name}' without a neutral element for a histogram, expected one: "
            f"bins without elements have it"
        )

    def scalar(index: Any, weight: Any = 1) -> Any:
        return functions.where(
            functions.index(0) == index, functions.cast(weight, result), functions.cast(neutral[0], result)
        )

    dimensions = (
        OpenDimension("bin", upper=bins),
        *(OpenDimension(f"d{at}", upper=size) for at, size in enumerate(shape)),
    )
    kinds = (cc, *(Combine("pw", operator) for _ in shape))
    every = tuple(dimension(1 + at) for at in range(len(shape)))
    dtypes = (dtype,) if weight_dtype is None else (dtype, weight_dtype)
    return _program(
        f"histogram_{operator.name}",
        dimensions,
        (shape,) * len(dtypes),
        dtypes,
        every,
        [result],
        (dimension(0),),
        scalar,
        kinds,
    )


def _program(
    name: str,
    dimensions: tuple[OpenDimension, ...],
    shapes: Sequence[Shape],
    dtypes: Sequence[BasicType],
    read: tuple[Affine, ...],
    types: Sequence[BasicType],
    written: tuple[Affine, ...],
    scalar: Any,
    kinds: tuple[Combine, ...],
    out_shape: Shape | None = None,
    contents: tuple | None = None,
) -> Program:
    """Returns the program whose inputs are all accessed in one way, and its outputs in another one."""
    inputs = tuple(Accesses(f"x{at}", (read,)) for at in range(len(shapes)))
    outputs = tuple(Accesses(f"y{at}", (written,)) for at in range(len(types)))
    results = trace_scalar(
        scalar,
        [part.name for part in dimensions],
        [((view.name, 1), dtype) for view, dtype in zip(inputs, dtypes)],
        [((view.name, 1), dtype) for view, dtype in zip(outputs, types)],
    )
    known = {
        **{view.name: Described(shape, dtype) for view, shape, dtype in zip(inputs, shapes, dtypes)},
        **{view.name: Described(out_shape, dtype) for view, dtype in zip(outputs, types)},
    }
    form = Form(dimensions, outputs, inputs, results, kinds)
    initial = dict(zip((view.name for view in outputs), contents)) if contents else {}
    return make_program(name, form, known, set(), initial)


def _common(shapes: Sequence[Shape]) -> Shape:
    if len(set(shapes)) != 1:
        raise ShapeError(
            f"found arrays of the sizes {', '.join(str(list(shape)) for shape in shapes)}, expected the same"
        )
    if not shapes[0]:
        raise ShapeError("found an array without axes, expected at least one")
    return shapes[0]


def _axes(axis: int | tuple[int, ...] | None, rank: int) -> list[int]:
    listed = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    chosen = []
    for number in listed:
        if not hasattr(number, "__index__"):
            raise ShapeError(f"found the axis {number!r}, expected an integer, or several in a tuple")
        number = number.__index__()
        at = number + rank if number < 0 else number
        if not 0 <= at < rank or at in chosen:
            raise ShapeError(
                f"found the axis {number} {'twice' if at in chosen else f'of an array with {rank} axes'}, expected "
                f"different ones from {-rank} to {rank - 1}"
            )
        chosen.append(at)
    return sorted(chosen)


def _array(x: Any) -> Any:
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return x
    import numpy

    if isinstance(x, (list, tuple)):
        refuse_masks_within("a list", x)
    return numpy.asarray(x)


def _is_several(x: Any) -> bool:
    """True for tuples, and for lists of arrays; a list of numbers is an array."""
    return isinstance(x, tuple) or (isinstance(x, list) and bool(x) and all(getattr(part, "shape", ()) for part in x))


def _arrays(x: Any) -> list[Any]:
    return [_array(part) for part in x] if _is_several(x) else [_array(x)]


def _shapes_and_types(arrays: Sequence[Any]) -> tuple[tuple[Shape, ...], tuple[BasicType, ...]]:
    described = _describe(arrays)
    return tuple(part.shape for part in described), tuple(part.dtype for part in described)


def _describe(arrays: Sequence[Any]) -> list[Any]:
    return [describe(f"x{at}", array) for at, array in enumerate(arrays)]


def _called(program: Program, arrays: Sequence[Any], out: Any, is_tuple: bool, options: dict[str, Any]) -> Any:
    given: list[Any] | None = None
    if out is not None:
        given = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(given) != len(program.outputs):
            raise ShapeError(f"found {len(given)} arrays as out, expected {len(program.outputs)}")
    result = run(program, arrays, given, options)
    return result if isinstance(result, tuple) or not is_tuple else (result,)
