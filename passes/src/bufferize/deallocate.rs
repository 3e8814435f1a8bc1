//! `mdh-deallocate`: frees the buffers that bufferization allocated, at the end of their block.
//!
//! ```mlir
//! func.func @f(%x: memref<8xf32>) {
//!   %t = memref.alloc() : memref<8xf32>
//!   memref.copy %x, %t : memref<8xf32> to memref<8xf32>
//!   return
//! }
//! // becomes
//! func.func @f(%x: memref<8xf32>) {
//!   %t = memref.alloc() : memref<8xf32>
//!   memref.copy %x, %t : memref<8xf32> to memref<8xf32>
//!   memref.dealloc %t : memref<8xf32>
//!   return
//! }
//! ```
//!
//! Upstream's ownership-based deallocation refuses operations with several regions and functions
//! that free anything themselves; this pass leaves alone what is freed already or leaves its
//! block (is returned, yielded, passed to a branch or used in another block), and says so.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, TypeLike, ValueLike};
use mlir_sys::{mlirTypeIsAMemRef, mlirTypeIsAUnrankedMemRef};

use crate::support::builder::Builder;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-deallocate",
    description: "free what was allocated and does not leave its block",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for alloc in ir::find_all(module, &[ops::memref::ALLOC]) {
        let Ok(result) = alloc.result(0) else {
            continue;
        };
        let Some(home) = alloc.block() else {
            continue;
        };
        let Some(terminator) = ir::last_of(home) else {
            continue;
        };
        match fate(ir::value(result), home) {
            Fate::Stays => {
                Builder::before(terminator).op(
                    ops::memref::DEALLOC,
                    &[ir::value(result)],
                    &[],
                    &[],
                );
            }
            Fate::Freed => {}
            Fate::Leaves => ir::remark_at(
                alloc,
                "is not freed here: it leaves its block, so that its receiver owns it",
            ),
        }
    }
    Ok(())
}

/// Fate of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    Freed,
    Leaves,
}

/// Returns the fate of a buffer that was allocated in `home`, here under one of its names: an
/// operation that is given a memref and gives one may give the same.
fn fate(buffer: Val, home: BlockRef) -> Fate {
    let mut fate_of_all = Fate::Stays;
    for user in ir::users(buffer) {
        let mut results = user.results().map(ir::value).filter(|v| is_memref(*v));
        let here = if ir::name_of(user) == ops::memref::DEALLOC {
            Fate::Freed
        } else if is_terminator(user) || !is_below(user, home) {
            Fate::Leaves
        } else {
            results
                .try_fold(Fate::Stays, |known, result| match fate(result, home) {
                    Fate::Leaves => Err(Fate::Leaves),
                    Fate::Freed => Ok(Fate::Freed),
                    Fate::Stays => Ok(known),
                })
                .unwrap_or_else(|leaves| leaves)
        };
        match here {
            Fate::Leaves => return Fate::Leaves,
            Fate::Freed => fate_of_all = Fate::Freed,
            Fate::Stays => {}
        }
    }
    fate_of_all
}

fn is_memref(value: Val) -> bool {
    let ty = value.r#type().to_raw();
    // SAFETY: the type is valid.
    unsafe { mlirTypeIsAMemRef(ty) || mlirTypeIsAUnrankedMemRef(ty) }
}

/// Returns whether an operation stands in a block, or in an operation that does.
fn is_below(op: Op, block: BlockRef) -> bool {
    let mut current = Some(op);
    while let Some(op) = current {
        if op.block().is_some_and(|own| own == block) {
            return true;
        }
        current = op.parent_operation().map(|parent| ir::op(&parent));
    }
    false
}

fn is_terminator(op: Op) -> bool {
    op.next_in_block().is_none() || matches!(ir::name_of(op), ops::bufferization::DEALLOC)
}
