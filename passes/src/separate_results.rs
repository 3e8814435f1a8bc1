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
//! the buffer of the first go, and then stumbles over the second.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;
use mlir_sys::mlirOperationSetOperand;

use crate::buffers;
use crate::builder::Builder;

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
