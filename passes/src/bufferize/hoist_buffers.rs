//! `mdh-hoist-buffers`: memory that each iteration of a loop allocates and frees is allocated before the loop.
//!
//! ```mlir
//! func.func @use(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   scf.for %i = %c0 to %n step %c1 {
//!     %t = memref.alloc(%n) : memref<?xf32>
//!     memref.copy %x, %t : memref<?xf32> to memref<?xf32>
//!     memref.copy %t, %y : memref<?xf32> to memref<?xf32>
//!     memref.dealloc %t : memref<?xf32>
//!   }
//!   return
//! }
//! // becomes
//! func.func @use(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %t = memref.alloc(%n) : memref<?xf32>
//!   scf.for %i = %c0 to %n step %c1 {
//!     memref.copy %x, %t : memref<?xf32> to memref<?xf32>
//!     memref.copy %t, %y : memref<?xf32> to memref<?xf32>
//!   }
//!   memref.dealloc %t : memref<?xf32>
//!   return
//! }
//! ```
//!
//! An iteration frees what it allocates in the same block, so that nothing of it is left for the next
//! one. The size must be known outside of the loop: it is a constant, or defined there, as
//! `loop-invariant-code-motion` sees to. Branches on the way to a loop are crossed too. Parallel
//! loops are not: each of their iterations needs memory of its own.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::operation::OperationLike;
use mlir_sys::{mlirOperationMoveAfter, mlirOperationMoveBefore};

use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-hoist-buffers",
    description: "allocate memory before a loop that each of its iterations allocates and frees",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Loops whose iterations would take the memory.
const LOOPS: [&str; 5] = [
    ops::scf::FOR,
    ops::scf::WHILE,
    ops::affine::FOR,
    ops::scf::FORALL,
    ops::scf::PARALLEL,
];

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for alloc in ir::find_all(module, &[ops::memref::ALLOC]) {
        let Some(free) = freed_beside(alloc) else {
            say_stays(
                alloc,
                "it is not freed in its block: expected one dealloc there",
            );
            continue;
        };
        if let Some(outside) = outermost(alloc) {
            // SAFETY: all three are in the module; what the allocation uses stands before
            // `outside`, and all that uses it is inside.
            unsafe {
                mlirOperationMoveBefore(alloc.to_raw(), outside.to_raw());
                mlirOperationMoveAfter(free.to_raw(), outside.to_raw());
            }
        } else {
            say_stays(
                alloc,
                match is_sized_in_loop(alloc) {
                    true => {
                        "its size is computed there: expected one that is known before the loop"
                    }
                    false => "iterations are not one after the other: expected a sequential loop",
                },
            );
        }
    }
    Ok(())
}

/// Returns whether the nearest loop around computes the size of some memory.
fn is_sized_in_loop(alloc: Op) -> bool {
    let mut around = ir::ancestors(alloc).skip(1);
    let nearest = around.find(|op| LOOPS.contains(&ir::name_of(*op)));
    let mut sizes = alloc.operands().map(ir::value);
    nearest.is_some_and(|nearest| sizes.any(|size| region::is_defined_in(size, nearest)))
}

/// Remarks the reason for which memory that each iteration of a loop allocates stays there.
fn say_stays(alloc: Op, why: &str) {
    let mut around = ir::ancestors(alloc).skip(1);
    if around.any(|op| LOOPS.contains(&ir::name_of(op))) {
        ir::remark_at(alloc, &format!("stays in its loop: {why}"));
    }
}

/// The only operation that frees a buffer, if it stands in the same block.
fn freed_beside<'c>(alloc: Op<'c>) -> Option<Op<'c>> {
    let buffer = ir::result(alloc, 0)?;
    let users = ir::users(buffer).into_iter();
    let frees: Vec<Op> = users
        .filter(|user| ir::name_of(*user) == ops::memref::DEALLOC)
        .collect();
    match frees[..] {
        [free] if free.block() == alloc.block() => Some(free),
        _ => None,
    }
}

/// The outermost loop around an operation before which its operands are defined.
fn outermost<'c>(alloc: Op<'c>) -> Option<Op<'c>> {
    let operands: Vec<Val> = alloc.operands().map(ir::value).collect();
    let mut place = None;
    let mut inner = alloc;
    while let Some(parent) = inner.parent_operation().map(|p| ir::op(&p)) {
        let is_loop = match ir::name_of(parent) {
            ops::scf::FOR | ops::scf::WHILE | ops::affine::FOR => true,
            ops::scf::IF | ops::affine::IF => false,
            _ => break,
        };
        if operands
            .iter()
            .any(|operand| region::is_defined_in(*operand, parent))
        {
            break;
        }
        if is_loop {
            place = Some(parent);
        }
        inner = parent;
    }
    place
}
