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
//! there is much of it. Of small tensors, each that several write is one for eight of them at most:
//! bufferization holds every one that writes a buffer against every one that reads it.
//!
//! So does a computation that writes all of an argument and whose result the function returns: it would
//! be computed in the argument's memory, which the caller sees change, and copied to the result's.
//!
//! A tensor that is expanded to a shape with an extent of 0 has no elements, so that it is an empty one:
//! upstream's run-time verification would divide by that extent.

use mdh_dialect::ops;
use std::collections::HashMap;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::draft;
use crate::support::inline::key;
use crate::support::overwritten::{self, EqualSizes};
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-separate-empties",
    description: "give computations that share an empty tensor one each",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Bytes that are worth memory of their own: what is smaller stays in the caches of a core anyway.
const LEAST: i64 = 128 << 10;

/// Remarks the reason for which computations keep sharing the memory that they write.
fn say_shared(empty: Op, result: Val, bytes: Option<i64>) {
    let users = ir::users(result);
    let computations = users
        .iter()
        .filter(|op| ir::name_of(**op) == ops::mdh::COMPUTE);
    let count = computations.count();
    if count > 1 {
        let size = bytes.map_or("a size that is not known".into(), |n| format!("{n} bytes"));
        let text = format!(
            "stays the memory of {count} computations: found {size}, and from {LEAST} bytes on each \
             gets its own"
        );
        ir::remark_at(empty, &text);
    }
}

/// The most computations that write the same small tensor.
const SMALL: usize = 8;

/// An empty tensor, how many computations may write it, and how many do.
struct Shared<'c> {
    empty: Op<'c>,
    most: usize,
    taken: usize,
    /// The tensor that the next one writes.
    own: Val<'c>,
}

/// Replaces tensors without elements that others are expanded to by empty ones.
fn replace_expanded(module: Op) {
    for op in ir::find_all(module, &[ops::tensor::EXPAND_SHAPE]) {
        let Some(result) = ir::result(op, 0) else {
            continue;
        };
        let ty = types::buffer_type(result.r#type());
        if ty.is_some_and(|ty| ty.shape.contains(&Some(0))) {
            let sizes: Vec<Val> = op.operands().map(ir::value).skip(1).collect();
            let mut builder = Builder::before(op);
            let empty = builder.op(ops::tensor::EMPTY, &sizes, &[result.r#type()], &[]);
            region::replace_all_uses(result, empty[0]);
            region::erase(op);
        }
    }
}

/// Gives what a function returns memory of its own, in the place of an argument that is written whole.
fn release_arguments(function: Op) {
    let equal = EqualSizes::new(function);
    for op in ir::find_all(function, &[ops::mdh::COMPUTE]) {
        let Some(parts) = draft::parts(op) else {
            continue;
        };
        let destinations = parts.destinations().zip(draft::result_numbers(&parts));
        for (number, (buffer, result)) in destinations.enumerate() {
            let argument = ir::block_argument(buffer.value);
            let is_argument = argument.is_some_and(|argument| argument.of == function);
            let result = result.and_then(|result| ir::result(op, result));
            let is_returned = result.is_some_and(|result| {
                let mut users = ir::users(result).into_iter();
                users.any(|user| ir::name_of(user) == ops::func::RETURN)
            });
            if is_argument && is_returned && overwritten::writes_all(&parts, buffer, &equal) {
                let empty = empty_like(op, buffer.value);
                // The destinations' operands follow the inputs'.
                region::set_operand(op, parts.inputs.len() + number, empty);
            }
        }
    }
}

/// An empty tensor of another's type and sizes, before an operation.
fn empty_like<'c>(op: Op<'c>, tensor: Val<'c>) -> Val<'c> {
    let mut builder = Builder::before(op);
    let shape = types::buffer_type(tensor.r#type()).map_or(vec![], |ty| ty.shape);
    let open = (0..shape.len()).filter(|axis| shape[*axis].is_none());
    let sizes: Vec<Val> = open.map(|axis| builder.dim(tensor, axis)).collect();
    builder.op(ops::tensor::EMPTY, &sizes, &[tensor.r#type()], &[])[0]
}

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    replace_expanded(module);
    for function in ir::find_all(module, &[ops::func::FUNC]) {
        release_arguments(function);
    }
    let empties = ir::find_all(module, &[ops::tensor::EMPTY]).into_iter();
    let shared = empties.filter_map(|empty| {
        let result = ir::result(empty, 0)?;
        let bytes = types::buffer_type(result.r#type())?.bytes();
        if bytes < Some(LEAST) {
            say_shared(empty, result, bytes);
        }
        let shared = Shared {
            empty,
            most: if bytes >= Some(LEAST) { 1 } else { SMALL },
            taken: 0,
            own: result,
        };
        Some((key(result), shared))
    });
    let mut shared: HashMap<usize, Shared> = shared.collect();
    for op in ir::find_all(module, &[ops::mdh::COMPUTE]) {
        for (number, operand) in op.operands().map(ir::value).enumerate() {
            let Some(shared) = shared.get_mut(&key(operand)) else {
                continue;
            };
            if shared.taken == shared.most {
                shared.renew();
            }
            shared.taken += 1;
            region::set_operand(op, number, shared.own);
        }
    }
    Ok(())
}

impl Shared<'_> {
    /// Makes another empty tensor, for later users.
    fn renew(&mut self) {
        let copy = region::copy_before(self.empty, self.empty);
        if let Some(own) = ir::result(copy, 0) {
            (self.own, self.taken) = (own, 0);
        }
    }
}
