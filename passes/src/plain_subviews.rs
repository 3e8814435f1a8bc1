//! `mdh-plain-subviews`: slices that drop an axis of one index, in which they take a step, are casts. So are reshapes
//! of nothing to an extent that is given.
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
//! dividing by the others of its group, also where one of these is 0.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types::{self, DYNAMIC};
use melior::ir::ValueLike;

use crate::buffers::{self, SLICE, listed, open};
use crate::builder::Builder;
use crate::region;

/// The list of extents of a reshape.
const SHAPE: &str = "static_output_shape";

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-plain-subviews",
    description: "slices that drop an axis in which they take a step, and reshapes of nothing, to casts",
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
        if divides_by_nothing(op) {
            cast_nothing(op);
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

/// Returns whether a reshape has an open extent beside a 0.
fn divides_by_nothing(op: Op) -> bool {
    let shape = ir::integers(op, SHAPE);
    let has = |group: &[usize], size: i64| group.iter().any(|axis| shape.get(*axis) == Some(&size));
    let groups = ir::axis_groups(op);
    groups.iter().any(|own| has(own, 0) && has(own, DYNAMIC))
}

/// Makes a cast of a reshape to memory without elements: nothing is read or written there, so that an offset and
/// strides that its type leaves open may be any.
fn cast_nothing(op: Op) -> Option<()> {
    let (source, view) = (ir::operand(op, 0)?, ir::result(op, 0)?);
    let (offset, strides) = types::strides(view.r#type())?;
    let [shape] = listed(op, 1, [SHAPE])?;
    let mut builder = Builder::before(op);
    let mut known = |number: Option<i64>| match number {
        Some(number) => Bound::Static(number),
        None => Bound::Dynamic(builder.index(0)),
    };
    let place = known(offset);
    let strides: Vec<Bound> = strides.into_iter().map(known).collect();
    replace(
        &mut builder,
        (op, source, view),
        [&[place], &shape, &strides],
    );
    Some(())
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
