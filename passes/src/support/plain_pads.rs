//! Negative padding, which removes elements: the operand is sliced, and the slice is padded.
//!
//! Upstream's lowering puts a tensor into the padded one at an offset, which must not be negative.

use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::tiling::{self, IndexBox};
use melior::ir::ValueLike;

use crate::support::buffers::{self, PAD, as_bound, listed, value};
use crate::support::builder::Builder;
use crate::support::extents;
use crate::support::ranges;
use crate::support::region;

/// Replaces a `tensor.pad` whose padding may be negative by padding of a slice, which it returns.
pub fn plain<'c>(op: Op<'c>) -> Option<Op<'c>> {
    let (source, padded) = (ir::operand(op, 0)?, ir::result(op, 0)?);
    let [low, high] = listed(op, 1, PAD)?;
    let is_plain = |bound: &Bound| ranges::is_natural(*bound);
    if low.iter().chain(&high).all(is_plain) {
        return None;
    }
    let mut builder = Builder::before(op);
    let mut lists = [const { Vec::new() }; 4];
    for (axis, (low, high)) in low.into_iter().zip(high).enumerate() {
        let extent = extents::bound(&mut builder, source, axis);
        let slice = match is_plain(&low) && is_plain(&high) {
            true => [Bound::Static(0), extent, low, high],
            false => cut(&mut builder, extent, low, high),
        };
        lists
            .iter_mut()
            .zip(slice)
            .for_each(|(list, slice)| list.push(slice));
    }
    let [offsets, sizes, low, high] = lists;
    let part = tiling::slice(builder.here(), op, source, &IndexBox { offsets, sizes });
    let (part, code) = (ir::result(part, 0)?, region::take(op, 0));
    let new = buffers::padded(&mut builder, part, [&low, &high], padded.r#type(), code);
    region::replace_all_uses(padded, new);
    region::erase(op);
    ir::defining_op(new)
}

/// The part of an axis that is left, its first element and their number, and how many elements are before that
/// and behind. With `e` elements, of which `low` are added before and `high` behind: from `max(0, -low)` to
/// `min(e, e + high)`, as far as these are elements.
fn cut<'c>(
    builder: &mut Builder<'c>,
    extent: Bound<'c>,
    low: Bound<'c>,
    high: Bound<'c>,
) -> [Bound<'c>; 4] {
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
    let size = builder.binary(ops::arith::SUBI, end, start);
    let whole = builder.binary(ops::arith::ADDI, behind, l);
    let most = builder.binary(ops::arith::MAXSI, whole, zero);
    let low = within(builder, l, zero, most);
    let left = builder.binary(ops::arith::SUBI, whole, low);
    let high = builder.binary(ops::arith::SUBI, left, size);
    [start, size, low, high].map(as_bound)
}
