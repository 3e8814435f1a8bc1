//! `mdh-separate-results`: no two results of a function are one buffer.
//!
//! ```mlir
//! func.func @twice(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
//!   %t = memref.alloc() : memref<4xf32>
//!   memref.copy %x, %t : memref<4xf32> to memref<4xf32>
//!   return %t, %t : memref<4xf32>, memref<4xf32>
//! }
//! // becomes
//! func.func @twice(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
//!   %t = memref.alloc() : memref<4xf32>
//!   memref.copy %x, %t : memref<4xf32> to memref<4xf32>
//!   %copy = memref.alloc() : memref<4xf32>
//!   memref.copy %t, %copy : memref<4xf32> to memref<4xf32>
//!   return %t, %copy : memref<4xf32>, memref<4xf32>
//! }
//! ```
//!
//! Where results become arguments, each is memory of its own; upstream's pass that does it lets
//! the buffer of the first go, and then stumbles over the second. It also takes only what is allocated for
//! the argument: of another shape of that it would make a copy, so that memory that is returned in another
//! shape is allocated in that one.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::operation::OperationLike;
use mlir_sys::mlirOperationSetOperand;

use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-separate-results",
    description: "copy what a function returns twice",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for returned in ir::find_all(module, &[ops::func::RETURN]) {
        for value in returned.operands().map(ir::value) {
            allocate_as_returned(returned, value);
        }
        let operands: Vec<Val> = returned.operands().map(ir::value).collect();
        for (number, value) in operands.iter().enumerate() {
            if !operands[..number].contains(value) {
                continue;
            }
            match copy(returned, *value) {
                // SAFETY: the operand is there, and the copy has its type.
                Some(copy) => unsafe {
                    mlirOperationSetOperand(returned.to_raw(), number as isize, copy.to_raw());
                },
                None => say_same(returned, number, *value),
            }
        }
    }
    Ok(())
}

/// Allocates memory that is returned in another shape in that one: what it was before is a view of it.
fn allocate_as_returned<'c>(returned: Op<'c>, value: Val<'c>) -> Option<()> {
    let reshape = ir::defining_op(value)?;
    let back = match ir::name_of(reshape) {
        ops::memref::COLLAPSE_SHAPE => ops::memref::EXPAND_SHAPE,
        ops::memref::EXPAND_SHAPE => ops::memref::COLLAPSE_SHAPE,
        _ => return None,
    };
    let memory = ir::operand(reshape, 0)?;
    let allocation = ir::defining_op(memory).filter(|op| ir::name_of(*op) == ops::memref::ALLOC)?;
    let is_returned = returned.operands().any(|other| ir::value(other) == memory);
    let (result, other) = (
        types::buffer_type(value.r#type())?,
        types::buffer_type(memory.r#type())?,
    );
    let known = |shape: &[Option<i64>]| shape.iter().copied().collect::<Option<Vec<i64>>>();
    let (shape, before) = (known(&result.shape)?, known(&other.shape)?);
    let ty = buffers::shaped(
        BufferKind::MemRef,
        &shape,
        types::mlir_type(ir::context_of(returned), result.element),
    );
    if is_returned || ty != value.r#type() {
        return None;
    }
    let mut builder = Builder::before(allocation);
    let of_allocation = region::attributes(allocation);
    let new = builder.op(ops::memref::ALLOC, &[], &[ty], &of_allocation)[0];
    let mut attributes = vec![("reassociation", ir::attribute(reshape, "reassociation")?)];
    if back == ops::memref::EXPAND_SHAPE {
        let shape = DenseI64ArrayAttribute::new(builder.context, &before).into();
        attributes.push((buffers::EXPANDED[0], shape));
    }
    let view = builder.op(back, &[new], &[memory.r#type()], &attributes)[0];
    region::replace_all_uses(memory, view);
    region::replace_all_uses(value, new);
    region::erase(reshape);
    region::erase(allocation);
    Some(())
}

/// Remarks the reason for which a memref that is returned twice is not copied.
fn say_same(returned: Op, number: usize, value: Val) {
    let ty = value.r#type();
    if types::buffer_type(ty).is_some_and(|ty| ty.kind == BufferKind::MemRef) {
        let text = format!(
            "returns result #{number} in memory of another one: found {ty}, expected elements row by \
             row; return a copy"
        );
        ir::remark_at(returned, &text);
    }
}

/// A copy of a memref in row-major order, made before an operation.
fn copy<'c>(before: Op<'c>, value: Val<'c>) -> Option<Val<'c>> {
    let ty = types::buffer_type(value.r#type()).filter(|ty| ty.kind == BufferKind::MemRef)?;
    let mut builder = Builder::before(before);
    let extents: Vec<Bound> = (0..ty.shape.len())
        .map(|axis| match ty.shape[axis] {
            Some(extent) => Bound::Static(extent),
            None => Bound::Dynamic(builder.dim(value, axis)),
        })
        .collect();
    let element = types::mlir_type(builder.context, ty.element);
    let copy = buffers::empty(&mut builder, BufferKind::MemRef, &extents, element);
    // A layout of its own is none that a copy can take over.
    if copy.r#type() != value.r#type() {
        return None;
    }
    builder.op(ops::memref::COPY, &[value, copy], &[], &[]);
    Some(copy)
}
