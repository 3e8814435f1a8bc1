//! `mdh-save-overwritten`: a tensor that is needed after its memory was overwritten is copied before.
//!
//! ```mlir
//! func.func @doubled(%m: memref<8xf32>) -> tensor<8xf32> {
//!   %before = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
//!   %after = mdh.compute (i = 8)
//!     out_view(after = %before[i] : tensor<8xf32>)
//!     md_hom(addf, (cc))
//!     inp_view(before = %before[i][i] : tensor<8xf32>)
//!   bufferization.materialize_in_destination %after in restrict writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
//!   return %before : tensor<8xf32>
//! }
//! // becomes
//! func.func @doubled(%m: memref<8xf32>) -> tensor<8xf32> {
//!   %before = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
//!   %saved = bufferization.alloc_tensor() copy(%before) : tensor<8xf32>
//!   %after = mdh.compute (i = 8)
//!     out_view(after = %before[i] : tensor<8xf32>)
//!     md_hom(addf, (cc))
//!     inp_view(before = %before[i][i] : tensor<8xf32>)
//!   bufferization.materialize_in_destination %after in restrict writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
//!   return %saved : tensor<8xf32>
//! }
//! ```
//!
//! Bufferization takes a tensor in its own memory (`restrict`) for one that nothing else writes, and does not see that
//! what puts elements into that memory does. What computations make of such a tensor may be in the same
//! memory, and is saved too.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::read;
use melior::ir::operation::OperationLike;

use crate::builder::Builder;
use crate::loop_buffers::code::{COPY, is_tensor, saved, set_operand};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-save-overwritten",
    description: "copy tensors that are needed after their memory was overwritten",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for write in ir::find_all(module, &[COPY]) {
        let Some(memory) = write.operands().nth(1).map(ir::value) else {
            continue;
        };
        let later = after(write);
        for tensor in ir::users(memory) {
            if ir::name_of(tensor) == ops::bufferization::TO_TENSOR && !later.contains(&tensor) {
                save(tensor, &later);
            }
        }
    }
    Ok(())
}

/// The operations behind one, and what is in them.
fn after(op: Op) -> Vec<Op> {
    let mut found = Vec::new();
    let mut next = op.next_in_block().map(|op| ir::op(&op));
    while let Some(op) = next {
        found.extend(ir::all(op));
        next = op.next_in_block().map(|op| ir::op(&op));
    }
    found
}

/// Has later operations read copies of a tensor, and of what may be in its memory.
fn save<'c>(tensor: Op<'c>, later: &[Op<'c>]) {
    let mut open = vec![tensor];
    let mut seen = Vec::new();
    while let Some(op) = open.pop() {
        if seen.contains(&op) || later.contains(&op) {
            continue;
        }
        seen.push(op);
        for result in op.results().map(ir::value).filter(|own| is_tensor(*own)) {
            open.extend(
                ir::users(result)
                    .into_iter()
                    .filter(|user| may_share(*user, result)),
            );
            let readers: Vec<Op> = ir::users(result)
                .into_iter()
                .filter(|user| later.contains(user))
                .collect();
            if readers.is_empty() {
                continue;
            }
            let mut builder = match op.next_in_block() {
                Some(next) => Builder::before(ir::op(&next)),
                None => continue,
            };
            let copy = saved(&mut builder, result);
            for reader in readers {
                let operands: Vec<Val> = reader.operands().map(ir::value).collect();
                let own = operands.iter().enumerate();
                for (number, _) in own.filter(|(_, operand)| **operand == result) {
                    set_operand(reader, number, copy);
                }
            }
        }
    }
}

/// Returns whether a result of an operation may be in the memory of a tensor that it takes: a computation writes
/// into its destinations, a copy has memory of its own, and of others nothing is known.
fn may_share(user: Op, tensor: Val) -> bool {
    match read::compute(user) {
        Ok(parts) => parts.outputs.iter().any(|buffer| buffer.value == tensor),
        Err(_) => ir::name_of(user) != ops::bufferization::ALLOC_TENSOR,
    }
}
