//! Padding by less than nothing, which leaves elements out: what is left is a slice, and that is padded.
//!
//! Upstream's lowering puts a tensor into the padded one at an offset, which must not be negative.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::types::{self, BufferKind, DYNAMIC};
use melior::ir::ValueLike;
use melior::ir::attribute::{DenseI32ArrayAttribute, DenseI64ArrayAttribute};

use crate::buffers::{self, listed, numbers, open, value};
use crate::builder::Builder;
use crate::extents;
use crate::region;

/// One axis of a padded tensor.
struct PaddedAxis<'c> {
    /// The part of it that is left: its first element, and their number.
    start: Bound<'c>,
    kept: Bound<'c>,
    /// The elements before it, and those behind.
    low: Bound<'c>,
    high: Bound<'c>,
}

/// Makes padding of a slice of a `tensor.pad` that may be by less than nothing.
pub fn plain(op: Op) -> Option<()> {
    let (source, padded) = (ir::operand(op, 0)?, ir::result(op, 0)?);
    let ty = types::buffer_type(source.r#type())?;
    let dynamic = ir::integers(op, "static_low").into_iter();
    let first_high = 1 + dynamic.filter(|n| *n == DYNAMIC).count();
    let amounts = (0..ty.shape.len()).map(|axis| {
        let low = listed(op, "static_low", 1, axis)?;
        Some((low, listed(op, "static_high", first_high, axis)?))
    });
    let amounts: Vec<(Bound, Bound)> = amounts.collect::<Option<_>>()?;
    let is_plain = |bound: &Bound| bound.known().is_some_and(|n| n >= 0);
    if amounts
        .iter()
        .all(|(low, high)| is_plain(low) && is_plain(high))
    {
        return None;
    }
    let mut builder = Builder::before(op);
    let mut axes = Vec::new();
    for (axis, (low, high)) in amounts.into_iter().enumerate() {
        let extent = extents::bound(&mut builder, source, axis);
        axes.push(match is_plain(&low) && is_plain(&high) {
            true => PaddedAxis {
                start: Bound::Static(0),
                kept: extent,
                low,
                high,
            },
            false => cut(&mut builder, extent, low, high),
        });
    }
    let element = types::mlir_type(builder.context, ty.element);
    let shape = axes.iter().map(|axis| axis.kept.known().unwrap_or(DYNAMIC));
    let shape: Vec<i64> = shape.collect();
    let part = buffers::shaped(BufferKind::Tensor, &shape, element);
    let [start, kept, low, high] = lists(&axes);
    let part = slice(&mut builder, source, [&start, &kept], part);
    let segments = [1, open(&low).count(), open(&high).count()].map(|n| n as i32);
    let attributes = [
        ("static_low", numbers(&builder, &low)),
        ("static_high", numbers(&builder, &high)),
        (
            "operandSegmentSizes",
            DenseI32ArrayAttribute::new(builder.context, &segments).into(),
        ),
    ];
    let operands: Vec<Val> = std::iter::once(part)
        .chain(open(&low))
        .chain(open(&high))
        .collect();
    let results = [padded.r#type()];
    let regions = vec![region::take(op, 0)];
    let new = builder.build(ops::tensor::PAD, &operands, &results, &attributes, regions);
    region::replace_all_uses(padded, ir::result(new, 0)?);
    region::erase(op);
    Some(())
}

fn lists<'c>(axes: &[PaddedAxis<'c>]) -> [Vec<Bound<'c>>; 4] {
    [
        axes.iter().map(|axis| axis.start).collect(),
        axes.iter().map(|axis| axis.kept).collect(),
        axes.iter().map(|axis| axis.low).collect(),
        axes.iter().map(|axis| axis.high).collect(),
    ]
}

/// With `e` elements, of which `low` are added before and `high` behind: from `max(0, -low)` to `min(e, e +
/// high)`, as far as these are elements.
fn cut<'c>(
    builder: &mut Builder<'c>,
    extent: Bound<'c>,
    low: Bound<'c>,
    high: Bound<'c>,
) -> PaddedAxis<'c> {
    if let (Some(e), Some(l), Some(h)) = (extent.known(), low.known(), high.known()) {
        let whole = e.saturating_add(l).saturating_add(h);
        let start = l.saturating_neg().clamp(0, e);
        let kept = e.saturating_add(h).clamp(start, e) - start;
        let low = l.clamp(0, whole.max(0));
        let high = whole.saturating_sub(low).saturating_sub(kept);
        return PaddedAxis {
            start: Bound::Static(start),
            kept: Bound::Static(kept),
            low: Bound::Static(low),
            high: Bound::Static(high),
        };
    }
    let [e, l, h] = [extent, low, high].map(|bound| value(builder, bound));
    let zero = builder.index(0);
    let within = |builder: &mut Builder<'c>, number, least, most| {
        let number = builder.binary(ops::arith::MAXSI, number, least);
        builder.binary(ops::arith::MINSI, number, most)
    };
    let before = builder.binary(ops::arith::SUBI, zero, l);
    let start = within(builder, before, zero, e);
    let behind = builder.binary(ops::arith::ADDI, e, h);
    let end = within(builder, behind, start, e);
    let kept = builder.binary(ops::arith::SUBI, end, start);
    let whole = builder.binary(ops::arith::ADDI, behind, l);
    let most = builder.binary(ops::arith::MAXSI, whole, zero);
    let low = within(builder, l, zero, most);
    let left = builder.binary(ops::arith::SUBI, whole, low);
    let high = builder.binary(ops::arith::SUBI, left, kept);
    let [start, kept, low, high] = [start, kept, low, high].map(Bound::Dynamic);
    PaddedAxis {
        start,
        kept,
        low,
        high,
    }
}

fn slice<'c>(
    builder: &mut Builder<'c>,
    source: Val<'c>,
    [start, kept]: [&[Bound<'c>]; 2],
    ty: melior::ir::Type<'c>,
) -> Val<'c> {
    let context = builder.context;
    let segments = [1, open(start).count(), open(kept).count(), 0].map(|n| n as i32);
    let attributes = [
        ("static_offsets", numbers(builder, start)),
        ("static_sizes", numbers(builder, kept)),
        (
            "static_strides",
            DenseI64ArrayAttribute::new(context, &vec![1; start.len()]).into(),
        ),
        (
            "operandSegmentSizes",
            DenseI32ArrayAttribute::new(context, &segments).into(),
        ),
    ];
    let operands: Vec<Val> = std::iter::once(source)
        .chain(open(start))
        .chain(open(kept))
        .collect();
    builder.op(ops::tensor::EXTRACT_SLICE, &operands, &[ty], &attributes)[0]
}
