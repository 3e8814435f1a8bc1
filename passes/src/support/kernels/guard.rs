//! The condition under which a block, warp or thread has a part of a loop.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<1000xf32>, %y: memref<1000xf32>) {
//!   mdh.compute (i = 1000)
//!     out_view(y = %y[i] : memref<1000xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : memref<1000xf32>)
//!     schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 128}]>)
//!   return
//! }
//! // becomes
//! scf.forall (%t) in (128) {
//!   %i = arith.addi %from, %t : index
//!   %is_there = arith.cmpi slt, %i, %end : index
//!   scf.if %is_there { // the guard: all that the body does
//!     ..
//!   }
//! } {mapping = [#gpu.thread<x>], mdh.level = "thread.i"}
//! ```
//!
//! A branch is one by what stands beside it, which only computes: nothing marks it, so that upstream's
//! passes may merge, fold and move what they like.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;

use super::effects::has_effects;
use super::spmd::is_copy_wait;
use crate::support::parallel;
use crate::support::region;

/// The guard of a loop; `None` if each has a part.
pub fn guard<'c>(op: Op<'c>) -> Option<Op<'c>> {
    let ops = parallel::body(op);
    let mut rest = ops.into_iter().filter(|op| !only_computes(*op));
    let branch = rest.next().filter(|op| ir::name_of(*op) == ops::scf::IF)?;
    let is_alone = rest.next().is_none() && branch.result_count() == 0;
    (is_alone && ir::is_empty(ir::region(branch, 1))).then_some(branch)
}

fn only_computes(op: Op) -> bool {
    let allocates = ir::name_of(op).starts_with(ops::memref::ALLOC);
    op.region_count() == 0 && !has_effects(op) && !allocates && !is_copy_wait(op)
}

/// Returns the body that each thread with a part executes.
pub fn body<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    parallel::body(guard(op).unwrap_or(op))
}

/// Gives a loop's variable a value. What only computes comes before the loop, and what stood under the
/// guard stands in it; returns the guard's condition.
pub fn open<'c>(op: Op<'c>, number: Val<'c>) -> Option<Val<'c>> {
    let inside = region::block_of(ir::region(op, 0));
    region::replace_all_uses(mdh_dialect::code::arguments(inside)[0], number);
    let guard = guard(op)?;
    let ops = parallel::body(op);
    let before: Vec<Op> = ops.into_iter().filter(|op| *op != guard).collect();
    parallel::move_before(&before, op);
    parallel::move_before(&parallel::body(guard), guard);
    let condition = ir::operand(guard, 0);
    region::erase(guard);
    condition
}
