//! `mdh-preserve-truncation`: an index is cut off by way of 64 bits.
//!
//! ```mlir
//! func.func @lowest(%i: index) -> (i8, i16) {
//!   %a = arith.index_cast %i : index to i8
//!   %b = arith.index_castui %i : index to i16
//!   return %a, %b : i8, i16
//! }
//! // becomes
//! func.func @lowest(%i: index) -> (i8, i16) {
//!   %wide = arith.index_cast %i : index to i64
//!   %a = arith.trunci %wide : i64 to i8
//!   %wide_1 = arith.index_cast %i : index to i64
//!   %b = arith.trunci %wide_1 : i64 to i16
//!   return %a, %b : i8, i16
//! }
//! ```
//!
//! Upstream's canonicalisation takes the cast of an index to a narrow integer and back for the
//! index itself, whatever that has cut off. It knows better of `arith.trunci`.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-preserve-truncation",
    description: "casts of indices to narrow integers by way of 64 bits",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::arith::INDEX_CAST, ops::arith::INDEX_CASTUI]) {
        let (Ok(operand), Ok(result)) = (op.operand(0), op.result(0)) else {
            continue;
        };
        let (operand, result) = (ir::value(operand), ir::value(result));
        let from = types::scalar_type(types::element(operand.r#type()));
        let to = types::scalar_type(types::element(result.r#type()));
        let Some(to) = to.filter(|to| *to != ScalarType::I64) else {
            continue;
        };
        if from == Some(ScalarType::Index) {
            let mut builder = Builder::before(op);
            let wide = builder.convert(ops::arith::INDEX_CAST, operand, ScalarType::I64);
            let narrow = builder.convert(ops::arith::TRUNCI, wide, to);
            region::replace_all_uses(result, narrow);
            region::erase(op);
        }
    }
    Ok(())
}
