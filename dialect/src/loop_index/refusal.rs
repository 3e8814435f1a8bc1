//! Reasons why what a body extracts is no access of a view.

use mdh_algebra::affine::Expr;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::{index, is_in_branches};
use crate::ir::{self, Op, Val};
use crate::ops;

const EXPECTED: &str = "expected one that is computed from 'linalg.index' by sums, constant factors, and \
                        divisions by positive constants of what is not negative";

/// The reason why an extraction in the body of an operation is none of a view.
pub fn refusal(op: Op, of: Op, extents: &[Option<i64>]) -> String {
    let name = ir::name_of(op);
    if !is_in_branches(op, Some(of)) {
        return format!(
            "its body has '{name}' in a loop: expected it in each iteration or in branches of an 'scf.if'"
        );
    }
    let mut indices = op.operands().skip(1).map(ir::value);
    let Some(failing) = indices.find(|i| index(*i, extents).is_none()) else {
        let from = ir::operand(op, 0).map_or(String::new(), |from| from.r#type().to_string());
        return format!("its body has '{name}' of {from}: expected a ranked tensor of numbers");
    };
    match first(failing, extents) {
        Some(by) => format!(
            "its body has '{name}' at an index that '{}' makes, {}: {EXPECTED}",
            ir::name_of(by),
            reason(by, extents)
        ),
        None => format!("its body has '{name}' at an index that is data: {EXPECTED}"),
    }
}

/// The first operation on the way to a value that makes no index of indices; `None` if it has other values.
fn first<'c>(value: Val<'c>, extents: &[Option<i64>]) -> Option<Op<'c>> {
    let op = ir::defining_op(value)?;
    if !ir::name_of(op).starts_with("arith.") {
        return None;
    }
    let mut operands = op.operands().map(ir::value);
    match operands.find(|operand| index(*operand, extents).is_none()) {
        Some(operand) => first(operand, extents),
        None => Some(op),
    }
}

fn reason(op: Op, extents: &[Option<i64>]) -> &'static str {
    let divisor = ir::operand(op, 1).and_then(|by| index(by, extents));
    let is_positive = matches!(divisor, Some(Expr::Const(by)) if by > 0);
    match ir::name_of(op) {
        ops::arith::DIVSI
        | ops::arith::DIVUI
        | ops::arith::CEILDIVSI
        | ops::arith::CEILDIVUI
        | ops::arith::FLOORDIVSI
        | ops::arith::REMSI
        | ops::arith::REMUI
            if !is_positive =>
        {
            "which divides by what is no positive constant"
        }
        ops::arith::DIVSI | ops::arith::REMSI => {
            "which rounds to zero, and divides what may be negative"
        }
        ops::arith::DIVUI | ops::arith::REMUI | ops::arith::CEILDIVUI => {
            "to which negative numbers are huge, and which divides what may be negative"
        }
        ops::arith::MAXSI | ops::arith::MAXUI | ops::arith::MINSI | ops::arith::MINUI => {
            "which cuts off more than one index, so that the rest is no quotient"
        }
        ops::arith::ADDI | ops::arith::SUBI | ops::arith::MULI => {
            "which is no sum with constant factors or may leave its type"
        }
        ops::arith::EXTSI
        | ops::arith::EXTUI
        | ops::arith::INDEX_CAST
        | ops::arith::INDEX_CASTUI
        | ops::arith::TRUNCI => "which may leave its type",
        _ => "which is no operation of index functions",
    }
}
