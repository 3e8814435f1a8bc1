//! `mdh-plain-subviews`: slices that drop an axis of one index, in which they take a step, are casts. So are reshapes
//! whose extents do not follow from the memory's own.
//!
//! ```mlir
//! func.func @f(%x: memref<4x4xf32>, %i: index) -> f32 {
//!   %c0 = arith.constant 0 : index
//!   %s = memref.subview %x[%i, 0] [1, 1] [2, 1] : memref<4x4xf32> to memref<1xf32, strided<[8], offset: ?>>
//!   %r = memref.load %s[%c0] : memref<1xf32, strided<[8], offset: ?>>
//!   return %r : f32
//! }
//! // becomes
//! func.func @f(%x: memref<4x4xf32>, %i: index) -> f32 {
//!   %c0 = arith.constant 0 : index
//!   %c4 = arith.constant 4 : index
//!   %o = arith.muli %i, %c4 : index
//!   %s = memref.reinterpret_cast %x to offset: [%o], sizes: [1], strides: [8]
//!       : memref<4x4xf32> to memref<1xf32, strided<[8], offset: ?>>
//!   %r = memref.load %s[%c0] : memref<1xf32, strided<[8], offset: ?>>
//!   return %r : f32
//! }
//! ```
//!
//! Upstream's expansion of strided metadata does not find out which axis such a slice has dropped, and ends the
//! process. Slices of memory whose offset or strides are not known stay as they are. Of a reshape it computes an extent by
//! dividing by the others of its group, also where one of these is 0; where several are open it ends the process. That
//! they are those of the memory is asserted by `mdh-insert-range-checks`.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types::{self, DYNAMIC};
use melior::ir::ValueLike;

use crate::support::buffers::{self, EXPANDED, SLICE, listed, open, value};
use crate::support::builder::Builder;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-plain-subviews",
    description: "slices that drop an axis in which they take a step, and reshapes to given extents, to casts",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::memref::SUBVIEW]) {
        if takes_dropped_steps(op) {
            cast(op);
        }
    }
    for op in ir::find_all(module, &[ops::memref::EXPAND_SHAPE]) {
        if is_given(op) {
            cast_reshape(op);
        }
    }
    Ok(())
}

/// Returns whether a slice has fewer axes than its source, and steps where it has one index.
fn takes_dropped_steps(op: Op) -> bool {
    let [sizes, strides] = ["static_sizes", "static_strides"].map(|name| ir::integers(op, name));
    let rank = ir::result(op, 0).and_then(|slice| types::buffer_type(slice.r#type()));
    let is_shorter = rank.is_some_and(|ty| ty.shape.len() < sizes.len());
    let mut axes = sizes.iter().zip(&strides);
    is_shorter && axes.any(|(size, stride)| *size == 1 && *stride != 1)
}

/// Makes a cast of it, if all that the cast has to say is known.
fn cast(op: Op) -> Option<()> {
    let (source, slice) = (ir::operand(op, 0)?, ir::result(op, 0)?);
    let (start, steps) = known(source)?;
    let (offset, strides) = types::strides(slice.r#type())?;
    let strides = strides.into_iter().map(|n| n.map(Bound::Static));
    let strides: Vec<Bound> = strides.collect::<Option<_>>()?;
    let [offsets, sizes, _] = listed(op, 1, SLICE)?;
    // What is dropped has one index, so that these are those of the slice, in its order.
    let mut given = open(&sizes);
    let shape = types::buffer_type(slice.r#type())?.shape.into_iter();
    let shape = shape.map(|size| match size {
        Some(number) => Some(Bound::Static(number)),
        None => given.next().map(Bound::Dynamic),
    });
    let shape: Vec<Bound> = shape.collect::<Option<_>>()?;
    let mut builder = Builder::before(op);
    let place = match offset {
        Some(number) => Bound::Static(number),
        None => Bound::Dynamic(self::offset(&mut builder, (start, &steps), offsets)),
    };
    replace(
        &mut builder,
        (op, source, slice),
        [&[place], &shape, &strides],
    );
    Some(())
}

/// Puts a cast to an offset, sizes and strides in the place of an operation.
fn replace<'c>(
    builder: &mut Builder<'c>,
    (op, source, view): (Op<'c>, Val<'c>, Val<'c>),
    lists: [&[Bound<'c>]; 3],
) {
    let (operands, attributes) = buffers::lists(builder, &[source], SLICE, lists);
    let name = ops::memref::REINTERPRET_CAST;
    let cast = builder.op(name, &operands, &[view.r#type()], &attributes)[0];
    region::replace_all_uses(view, cast);
    region::erase(op);
}

/// Returns whether a reshape splits an axis into extents of which an open one is no quotient of the axis and the others.
fn is_given(op: Op) -> bool {
    let shape = ir::integers(op, EXPANDED[0]);
    let count = |group: &[usize], size: i64| {
        let sizes = group.iter().filter_map(|axis| shape.get(*axis));
        sizes.filter(|own| **own == size).count()
    };
    let groups = ir::axis_groups(op);
    groups.iter().any(|own| match count(own, DYNAMIC) {
        0 => false,
        1 => count(own, 0) > 0,
        _ => true,
    })
}

/// Makes a cast of a reshape: the last axis of a group has the stride of the one that is split, and each axis skips
/// those behind it.
fn cast_reshape(op: Op) -> Option<()> {
    let (source, view) = (ir::operand(op, 0)?, ir::result(op, 0)?);
    let (offset, known) = types::strides(view.r#type())?;
    let [shape] = listed(op, 1, EXPANDED)?;
    let mut builder = Builder::before(op);
    let (place, steps) = described(&mut builder, source)?;
    let place = offset.map_or(Bound::Dynamic(place), Bound::Static);
    let mut strides = vec![Bound::Static(1); shape.len()];
    for (group, mut step) in ir::axis_groups(op).into_iter().zip(steps) {
        let mut inner = None;
        for axis in group.into_iter().rev() {
            if let Some(size) = inner.replace(shape[axis]) {
                let size = value(&mut builder, size);
                step = builder.binary(ops::arith::MULI, step, size);
            }
            strides[axis] = known[axis].map_or(Bound::Dynamic(step), Bound::Static);
        }
    }
    replace(
        &mut builder,
        (op, source, view),
        [&[place], &shape, &strides],
    );
    Some(())
}

/// The offset and strides of memory as values: it is asked for those that its type leaves open.
fn described<'c>(builder: &mut Builder<'c>, memory: Val<'c>) -> Option<(Val<'c>, Vec<Val<'c>>)> {
    if let Some((offset, strides)) = known(memory) {
        let strides = strides.into_iter().map(|stride| builder.index(stride));
        let strides = strides.collect();
        return Some((builder.index(offset), strides));
    }
    let (_, strides) = types::strides(memory.r#type())?;
    let parts = buffers::metadata(builder, memory);
    let asked = parts.get(2 + strides.len()..)?.iter();
    let strides = strides.into_iter().zip(asked);
    let strides = strides.map(|(known, asked)| match known {
        Some(number) => builder.index(number),
        None => *asked,
    });
    let strides = strides.collect();
    Some((parts[1], strides))
}

/// The offset and strides of memory, if they are known.
fn known(memory: Val) -> Option<(i64, Vec<i64>)> {
    let (offset, strides) = types::strides(memory.r#type())?;
    Some((offset?, strides.into_iter().collect::<Option<_>>()?))
}

/// The place of a slice's first element in the memory.
fn offset<'c>(
    builder: &mut Builder<'c>,
    (start, steps): (i64, &[i64]),
    offsets: Vec<Bound<'c>>,
) -> Val<'c> {
    let mut sum = builder.index(start);
    for (first, step) in offsets.into_iter().zip(steps) {
        let first = buffers::value(builder, first);
        let step = builder.index(*step);
        let part = builder.binary(ops::arith::MULI, first, step);
        sum = builder.binary(ops::arith::ADDI, sum, part);
    }
    sum
}
