//! `mdh-check-lowered`: operations of the dialect that nothing has lowered are errors.
//!
//! ```mlir
//! func.func @f(%n: i64) -> i64 {
//!   return %n : i64
//! }
//! // becomes
//! func.func @f(%n: i64) -> i64 {
//!   return %n : i64
//! }
//! ```
//!
//! Stands before upstream's conversions, which leave what they do not know as it is, and convert what
//! stands in it: an operation without a lowering would be an error about something else.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use melior::ir::operation::OperationLike;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-check-lowered",
    description: "fails for operations of the dialect that nothing has lowered",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// The dialect, as names of its operations begin.
const DIALECT: &str = "mdh.";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let is_own = |op: Op| ir::name_of(op).starts_with(DIALECT);
    // What stands in an operation of ours goes with it.
    let is_inner = |op: Op| op.parent_operation().is_some_and(is_own);
    let left = ir::all(module).into_iter();
    let left: Vec<Op> = left.filter(|op| is_own(*op) && !is_inner(*op)).collect();
    let mut outcome = Ok(());
    for op in left {
        outcome = emit_all(op, vec![MESSAGE.to_string()]);
    }
    outcome
}

/// The message, which stands behind the name of an operation.
const MESSAGE: &str = "is left at the end: nothing has lowered it; expected the passes before mdh-check-lowered to \
     have left no operation of the dialect: mdh-lower runs them all, in order, and if it did, this is a bug in mdh";
