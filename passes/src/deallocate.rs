//! `mdh-deallocate`: frees what bufferization allocated, at the end of the block it is in.
//!
//! ```mlir
//! %t = memref.alloc() : memref<8xf32>
//! "use"(%t) : (memref<8xf32>) -> ()
//! return
//! // becomes
//! %t = memref.alloc() : memref<8xf32>
//! "use"(%t) : (memref<8xf32>) -> ()
//! memref.dealloc %t : memref<8xf32>
//! return
//! ```
//!
//! Upstream's ownership-based deallocation refuses operations with several regions and functions
//! that free anything themselves; this pass leaves alone what is freed already or leaves its
//! block (is returned, yielded or passed to a branch), and says so.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use melior::ir::operation::OperationLike;

use crate::builder::Builder;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-deallocate",
    description: "free what was allocated and does not leave its block",
    operation: "builtin.module",
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for alloc in ir::find_all(module, &["memref.alloc"]) {
        let Ok(result) = alloc.result(0) else {
            continue;
        };
        let terminator = last_in_block(alloc);
        match fate(ir::value(result)) {
            Fate::Stays => {
                Builder::before(terminator).op("memref.dealloc", &[ir::value(result)], &[], &[]);
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

/// What becomes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    Freed,
    Leaves,
}

/// Operations whose results are views of their operand.
const VIEWS: [&str; 9] = [
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.memory_space_cast",
    "memref.reinterpret_cast",
    "memref.reshape",
    "memref.subview",
    "memref.transpose",
    "memref.view",
];

fn fate(buffer: Val) -> Fate {
    let mut fate_of_all = Fate::Stays;
    for user in ir::users(buffer) {
        let name = ir::name_of(user);
        let here = if name == "memref.dealloc" {
            Fate::Freed
        } else if is_terminator(user) {
            Fate::Leaves
        } else if VIEWS.contains(&name) {
            user.result(0)
                .map_or(Fate::Stays, |view| fate(ir::value(view)))
        } else {
            Fate::Stays
        };
        match here {
            Fate::Leaves => return Fate::Leaves,
            Fate::Freed => fate_of_all = Fate::Freed,
            Fate::Stays => {}
        }
    }
    fate_of_all
}

fn is_terminator(op: Op) -> bool {
    op.next_in_block().is_none() || matches!(ir::name_of(op), "bufferization.dealloc")
}

fn last_in_block<'c>(op: Op<'c>) -> Op<'c> {
    let mut last = op;
    while let Some(next) = last.next_in_block() {
        last = next;
    }
    last
}
