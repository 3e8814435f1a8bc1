//! The points of a tile, and the boxes that it accesses of buffers.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, BlockArgument, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::tiling::{IndexBox, Refusal};
use mdh_dialect::types::{self, BufferKind};
use mdh_schedule::reach::Reach;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::buffers::{as_bound, value};
use crate::support::builder::Builder;
use crate::support::draft::{count, is_kind};
use crate::support::extents::Sum;

/// Returns the message about an index that leaves the 64-bit range.
pub fn too_large() -> Refusal {
    "cannot be tiled: an index leaves the 64-bit range".into()
}

/// Returns the distance between the starts of a dimension's periods, if it is known: 1 where all
/// indices are points.
pub fn step(dim: &Dim) -> Option<i64> {
    match (dim.step.known()?, dim.width.known()?) {
        (step, width) if step == width => Some(1),
        (step, _) => Some(step),
    }
}

/// Returns whether a buffer is a tensor whose type says that it has no elements.
pub fn has_nothing(buffer: &BufferPart) -> bool {
    let ty = types::buffer_type(buffer.value.r#type());
    ty.is_some_and(|ty| ty.kind == BufferKind::Tensor && ty.shape.contains(&Some(0)))
}

/// From the first to one past the last candidate.
pub fn span<'c>(dim: &Dim<'c>) -> Option<Sum<'c>> {
    Sum::of_bound(dim.upper).plus(&Sum::of_bound(dim.lower), -1)
}

/// Returns the number of a dimension's periods; 0 or a negative number if it is empty.
pub fn periods<'c>(builder: &mut Builder<'c>, dim: &Dim<'c>) -> Bound<'c> {
    if let Some(number) = known_periods(dim) {
        return Bound::Static(number);
    }
    let upper = value(builder, dim.upper);
    let lower = value(builder, dim.lower);
    let span = match dim.lower.known() {
        Some(0) => upper,
        _ => builder.binary(ops::arith::SUBI, upper, lower),
    };
    if step(dim) == Some(1) {
        return Bound::Dynamic(span);
    }
    let step = value(builder, dim.step);
    Bound::Dynamic(builder.binary(ops::arith::CEILDIVSI, span, step))
}

fn known_periods(dim: &Dim) -> Option<i64> {
    let (span, step) = (span(dim)?.known()?.max(0), step(dim)?);
    Some(span / step + i64::from(span % step != 0))
}

/// Returns whether as many periods are all of a dimension's.
fn are_all(periods: Bound, dim: &Dim) -> bool {
    let is_span = |sum: Sum| {
        let rest = span(dim).and_then(|span| sum.plus(&span, -1));
        rest.and_then(|rest| rest.known()) == Some(0)
    };
    if let Some(number) = known_periods(dim) {
        return Sum::of_bound(periods).known() == Some(number);
    }
    if step(dim) == Some(1) {
        return is_span(Sum::of_bound(periods));
    }
    let Bound::Dynamic(periods) = periods else {
        return false;
    };
    let quotient = ir::defining_op(periods).filter(|op| ir::name_of(*op) == ops::arith::CEILDIVSI);
    let operands = quotient.map(|op| op.operands().map(ir::value).collect::<Vec<Val>>());
    operands.is_some_and(|operands| {
        let rest = Sum::of_value(operands[1]).plus(&Sum::of_bound(dim.step), -1);
        is_span(Sum::of_value(operands[0])) && rest.and_then(|r| r.known()) == Some(0)
    })
}

/// The indices of a tile in one dimension.
struct Span<'c> {
    /// True if it is not all of the dimension.
    is_cut: bool,
    offset: Bound<'c>,
    first: Sum<'c>,
    /// From the first index to one past the last candidate.
    length: Option<Sum<'c>>,
    /// From the first index to the last one; no index is beyond. `None`: not known as a sum.
    beyond: Option<Sum<'c>>,
    /// True if the last index is a point.
    is_exact: bool,
    /// True if there may be no index, for a thread beyond the last tile.
    may_be_empty: bool,
}

/// The indices of a tile.
pub struct Spans<'c>(Vec<Span<'c>>);

/// A part of a buffer's axis.
enum Range<'c> {
    Whole,
    Of {
        offset: Sum<'c>,
        size: Sum<'c>,
        /// True if it may start before the buffer or end behind it.
        may_leave: bool,
        /// True if there is padding around the buffer.
        is_padded: bool,
    },
}

impl<'c> Spans<'c> {
    /// The indices of a part of the domain.
    pub fn new(parts: &Parts<'c>, part: &IndexBox<'c>) -> Result<Self, Refusal> {
        let dims = parts.dims.iter().zip(part.offsets.iter().zip(&part.sizes));
        let spans = dims.map(|(dim, (offset, size))| span_of(dim, *offset, *size));
        let spans: Vec<Span> = spans.collect::<Result<_, _>>()?;
        match spans.len() == parts.dims.len() {
            true => Ok(Spans(spans)),
            false => Err(format!(
                "cannot be tiled: found {} for a tile, expected one for each of {}",
                ir::count(spans.len(), "size"),
                ir::count(parts.dims.len(), "dimension"),
            )),
        }
    }

    /// Returns whether a dimension is cut.
    pub fn is_cut(&self, d: usize) -> bool {
        self.0[d].is_cut
    }

    /// Returns the start of the tile, counted in periods.
    pub fn offset(&self, d: usize) -> Bound<'c> {
        self.0[d].offset
    }

    /// The first index.
    pub fn first(&self, d: usize) -> &Sum<'c> {
        &self.0[d].first
    }

    /// From the first index to one past the last candidate.
    pub fn length(&self, d: usize) -> Result<&Sum<'c>, Refusal> {
        self.0[d].length.as_ref().ok_or_else(too_large)
    }

    /// The dimensions of the tile.
    pub fn dims(
        &self,
        builder: &mut Builder<'c>,
        all: &[Dim<'c>],
    ) -> Result<Vec<Dim<'c>>, Refusal> {
        let mut dims = all.to_vec();
        for (dim, span) in dims.iter_mut().zip(&self.0).filter(|(_, s)| s.is_cut) {
            let length = span.length.as_ref().ok_or_else(too_large)?.bound(builder);
            let last = dim.upper;
            dim.lower = span.first.bound(builder);
            // As a sum of the lower bound, which shows the number of points where that is known.
            let [lower, length] = [dim.lower, length].map(|bound| value(builder, bound));
            let end = as_bound(builder.binary(ops::arith::ADDI, lower, length));
            dim.upper = end;
            if !span.is_exact {
                let [end, last] = [end, last].map(|bound| value(builder, bound));
                dim.upper = Bound::Dynamic(builder.binary(ops::arith::MINSI, end, last));
            }
            if step(dim) == Some(1) {
                (dim.step, dim.width) = (Bound::Static(1), Bound::Static(1));
            }
        }
        Ok(dims)
    }

    /// The box of a tensor that the tile accesses; `None` where it is all of it, and for other
    /// values, which need no slice.
    pub fn part(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
    ) -> Result<Option<IndexBox<'c>>, Refusal> {
        // Upstream takes no slices of what has no elements, and none are read.
        if !is_kind(buffer, BufferKind::Tensor) || has_nothing(buffer) {
            return Ok(None);
        }
        let ranges: Vec<Range> = (0..buffer.origin.len())
            .map(|axis| self.range(buffer, axis).ok_or_else(too_large))
            .collect::<Result<_, _>>()?;
        if ranges.iter().all(|range| matches!(range, Range::Whole)) {
            return Ok(None);
        }
        let mut part = IndexBox::default();
        for (axis, range) in ranges.iter().enumerate() {
            let (offset, size) = bounds(builder, buffer.value, axis, range);
            part.offsets.push(offset);
            part.sizes.push(size);
        }
        Ok(Some(part))
    }

    /// The indices that the tile has along an axis; `None` on overflow.
    fn range(&self, buffer: &BufferPart<'c>, axis: usize) -> Option<Range<'c>> {
        let exprs = buffer.accesses.iter().map(|a| &a[axis]);
        let reach = Reach::in_step(exprs, self.0.len());
        let is_cut = |reach: &Reach| reach.terms().any(|(d, _)| self.is_cut(d));
        let Some(reach) = reach.filter(is_cut) else {
            return Some(Range::Whole);
        };
        let mut offset = Sum::number(reach.low).plus(&Sum::of_bound(buffer.origin[axis]), -1)?;
        let mut size = Sum::number(reach.halo()?);
        let mut may_leave = buffer.pad.is_some();
        for (d, coefficient) in reach.terms() {
            let span = &self.0[d];
            let Some(beyond) = &span.beyond else {
                return Some(Range::Whole);
            };
            offset = offset.plus(&span.first, coefficient)?;
            if coefficient < 0 {
                offset = offset.plus(beyond, coefficient)?;
            }
            size = size.plus(beyond, coefficient.checked_abs()?)?;
            // A dimension of unknown size may be empty.
            let is_there = span.is_cut || beyond.known().is_some_and(|b| b >= 0);
            may_leave |= !span.is_exact || !is_there || span.may_be_empty;
        }
        Some(Range::Of {
            offset,
            size,
            may_leave,
            is_padded: buffer.pad.is_some(),
        })
    }
}

/// Returns the start and the length of a range.
fn bounds<'c>(
    builder: &mut Builder<'c>,
    buffer: Val<'c>,
    axis: usize,
    range: &Range<'c>,
) -> (Bound<'c>, Bound<'c>) {
    let extent = |builder: &mut Builder<'c>| builder.dim(buffer, axis);
    match range {
        Range::Whole => (Bound::Static(0), as_bound(extent(builder))),
        Range::Of {
            offset,
            size,
            may_leave: false,
            ..
        } => (offset.bound(builder), size.bound(builder)),
        Range::Of {
            offset,
            size,
            is_padded,
            ..
        } => {
            let (zero, extent) = (builder.index(0), extent(builder));
            // A tile that lies in the padding takes an element that it does not read: MLIR verifies that a slice of
            // a slice starts before its end, also where no element is taken.
            let (least, last) = match (is_padded, as_bound(extent).known()) {
                (false, _) => (zero, extent),
                (true, Some(known)) => (builder.index(1), builder.index(known - 1)),
                (true, None) => {
                    let element = builder.index(1);
                    let last = builder.binary(ops::arith::SUBI, extent, element);
                    let last = builder.binary(ops::arith::MAXSI, last, zero);
                    (builder.binary(ops::arith::MINSI, extent, element), last)
                }
            };
            let start = offset.bound(builder);
            let start = value(builder, start);
            let size = size.bound(builder);
            let size = value(builder, size);
            let end = builder.binary(ops::arith::ADDI, start, size);
            let [start, end] = [(start, last), (end, extent)].map(|(index, most)| {
                let index = builder.binary(ops::arith::MAXSI, index, zero);
                builder.binary(ops::arith::MINSI, index, most)
            });
            let size = builder.binary(ops::arith::SUBI, end, start);
            // What ends before the buffer, or is empty.
            let size = builder.binary(ops::arith::MAXSI, size, least);
            (as_bound(start), as_bound(size))
        }
    }
}

fn span_of<'c>(dim: &Dim<'c>, offset: Bound<'c>, size: Bound<'c>) -> Result<Span<'c>, Refusal> {
    let is_cut = Sum::of_bound(offset).known() != Some(0) || !are_all(size, dim);
    let lower = Sum::of_bound(dim.lower);
    let Some(step) = step(dim) else {
        if is_cut {
            return Err(format!(
                "cannot be tiled in dimension '{}': its step and width are known only when the \
                 program runs, expected numbers",
                dim.name
            ));
        }
        return Ok(Span {
            is_cut,
            offset,
            first: lower,
            length: None,
            beyond: None,
            is_exact: false,
            may_be_empty: true,
        });
    };
    let is_sparse = step != 1;
    let width = dim.width.known().unwrap_or(1);
    let last = Sum::number(if is_sparse { width - 1 } else { 0 });
    // What a tile of `n` periods spans, and that without what lies behind its last point.
    let of_periods = |n: &Sum<'c>| {
        let before = n.plus(&Sum::number(1), -1)?;
        Some((Sum::number(0).plus(n, step)?, last.plus(&before, step)?))
    };
    let whole = || match is_sparse {
        true => count(dim).map(|_| Sum::number(known_periods(dim).unwrap_or(0))),
        false => span(dim),
    };
    let number = if is_cut {
        Some(Sum::of_bound(size))
    } else {
        whole()
    };
    let lengths = number.as_ref().and_then(of_periods);
    let first = if is_cut {
        lower.plus(&Sum::of_bound(offset), step)
    } else {
        Some(lower)
    };
    let first = first.ok_or_else(too_large)?;
    Ok(Span {
        is_cut,
        offset,
        length: lengths.as_ref().map(|(length, _)| length.clone()),
        beyond: lengths.map(|(_, beyond)| beyond),
        first,
        is_exact: !is_sparse || width == 1,
        may_be_empty: is_maximum(size),
    })
}

/// Returns whether a size is the larger one of two: of 0 and another one, where upstream has more threads
/// than there are tiles.
pub fn is_maximum(size: Bound) -> bool {
    let Bound::Dynamic(size) = size else {
        return false;
    };
    ir::defining_op(size)
        .is_some_and(|op| matches!(ir::name_of(op), ops::affine::MAX | ops::arith::MAXSI))
}

/// Returns whether an index is the smaller one of two.
pub fn is_minimum(index: Val) -> bool {
    ir::defining_op(index).is_some_and(|op| ir::name_of(op) == ops::arith::MINSI)
}

/// Returns whether an index comes from the number of a thread of an `scf.forall`.
pub fn is_of_forall(index: Bound) -> bool {
    comes_from(index, |argument| {
        ir::name_of(argument.of) == ops::scf::FORALL
    })
}

/// Returns whether an index comes from such an argument of a block.
pub fn comes_from(index: Bound, is_it: impl Fn(&BlockArgument) -> bool) -> bool {
    let mut pending: Vec<Val> = match index {
        Bound::Static(_) => return false,
        Bound::Dynamic(value) => vec![value],
    };
    while let Some(value) = pending.pop() {
        if let Some(argument) = ir::block_argument(value) {
            if is_it(&argument) {
                return true;
            }
        } else if let Some(op) = ir::defining_op(value) {
            let operands = op.operands().map(ir::value::<'_>);
            pending.extend(operands.filter(|v| types::scalar_type(v.r#type()).is_some()));
        }
    }
    false
}

/// The only dimension of an index function, with a factor of 1 or -1, and the constant.
pub fn unit(expr: &Expr, rank: usize) -> Option<(usize, i64, i64)> {
    let form = expr.linear(rank)?;
    let mut terms = form.terms();
    let (d, factor) = terms.next()?;
    (terms.next().is_none() && factor.abs() == 1).then_some((d, factor, form.constant))
}
