//! `mdh-separate-empties`: each computation writes to memory of its own.
//!
//! ```mlir
//! func.func @chain(%x: tensor<65536xf32>) -> tensor<65536xf32> {
//!   %memory = tensor.empty() : tensor<65536xf32>
//!   %t = mdh.compute (i = 65536)
//!     out_view(t = %memory[i] : tensor<65536xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : tensor<65536xf32>)
//!   %y = mdh.compute (i = 65536)
//!     out_view(y = %memory[i] : tensor<65536xf32>)
//!     md_hom(id, (cc))
//!     inp_view(t = %t[65535 - i] : tensor<65536xf32>)
//!   return %y : tensor<65536xf32>
//! }
//! // becomes
//! func.func @chain(%x: tensor<65536xf32>) -> tensor<65536xf32> {
//!   %own = tensor.empty() : tensor<65536xf32>
//!   %memory = tensor.empty() : tensor<65536xf32>
//!   %t = mdh.compute (i = 65536)
//!     out_view(t = %memory[i] : tensor<65536xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : tensor<65536xf32>)
//!   %y = mdh.compute (i = 65536)
//!     out_view(y = %own[i] : tensor<65536xf32>)
//!     md_hom(id, (cc))
//!     inp_view(t = %t[65535 - i] : tensor<65536xf32>)
//!   return %y : tensor<65536xf32>
//! }
//! ```
//!
//! The elimination of common subexpressions makes one tensor of all empty ones of a shape, and
//! bufferization one buffer of what lives at different times in it. Computations that write where
//! others read cannot be computed tile by tile in the loops of those, which saves far more memory where
//! there is much of it.

use std::collections::HashMap;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::{Operation, OperationLike};
use mlir_sys::{mlirOperationClone, mlirOperationSetOperand};

use crate::builder::Builder;
use crate::inline::key;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-separate-empties",
    description: "give computations that share an empty tensor one each",
    operation: "builtin.module",
    options: &[],
    run,
};

/// Bytes that are worth memory of their own: what is smaller stays in the caches of a core anyway.
const LEAST: i64 = 128 << 10;

/// Says of memory that several computations write to why they keep sharing it.
fn say_shared(empty: Op, result: Val, bytes: Option<i64>) {
    let users = ir::users(result);
    let computations = users.iter().filter(|op| ir::name_of(**op) == "mdh.compute");
    let count = computations.count();
    if count > 1 {
        let found = bytes.map_or("a size that is not known".into(), |n| format!("{n} bytes"));
        let text = format!(
            "stays the memory of {count} computations: found {found}, and from {LEAST} bytes on each \
             gets its own"
        );
        ir::remark_at(empty, &text);
    }
}

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let empties = ir::find_all(module, &["tensor.empty"]).into_iter();
    let large = empties.filter_map(|empty| {
        let result = empty.results().next().map(ir::value)?;
        let bytes = types::buffer_type(result.r#type())?.bytes();
        if bytes.is_none_or(|bytes| bytes < LEAST) {
            say_shared(empty, result, bytes);
            return None;
        }
        Some((key(result), (empty, false)))
    });
    let mut shared: HashMap<usize, (Op, bool)> = large.collect();
    for op in ir::find_all(module, &["mdh.compute"]) {
        for (number, operand) in op.operands().map(ir::value).enumerate() {
            let Some((empty, is_taken)) = shared.get_mut(&key(operand)) else {
                continue;
            };
            if !std::mem::replace(is_taken, true) {
                continue;
            }
            // SAFETY: the clone is inserted where its original is, so that it is there wherever
            // that is, and has its type.
            unsafe {
                let own = Operation::from_raw(mlirOperationClone(empty.to_raw()));
                let own = Builder::before(*empty).insert(own);
                if let Some(own) = own.results().next().map(ir::value) {
                    mlirOperationSetOperand(op.to_raw(), number as isize, own.to_raw());
                }
            }
        }
    }
    Ok(())
}
