//! Reasons why what a body extracts is no access of a view.

use mdh_algebra::affine::Expr;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::expression::Reading;
use super::is_in_branches;
use crate::code::arguments;
use crate::ir::{self, Op, Val};
use crate::ops;

const EXPECTED: &str = "expected one that is computed from 'linalg.index' by sums, constant factors, and \
                        divisions by positive constants that round down or divide nothing negative";

/// The reason why an extraction in the body of an operation is none of a view.
pub fn refusal(op: Op, of: Op, extents: &[Option<i64>]) -> String {
    let name = ir::name_of(op);
    if !is_in_branches(op, Some(of)) {
        return format!(
            "its body has '{name}' in a loop: expected it in each iteration or in branches of an 'scf.if'"
        );
    }
    let mut reading = Reading::new(extents);
    let mut indices = op.operands().skip(1).map(ir::value);
    let Some(failing) = indices.find(|i| reading.value(*i).is_none()) else {
        let from = ir::operand(op, 0).map_or(String::new(), |from| from.r#type().to_string());
        return format!("its body has '{name}' of {from}: expected a ranked tensor of numbers");
    };
    let cause = match first(failing, of, &mut reading) {
        Cause::Data => "is data".to_string(),
        Cause::Outside => "is known at run time only".to_string(),
        Cause::Operation(by) => {
            let reason = reason(by, &mut reading);
            format!("'{}' makes, {reason}", ir::name_of(by))
        }
    };
    format!("its body has '{name}' at an index that {cause}: {EXPECTED}")
}

/// A value by which another is no index.
enum Cause<'c> {
    /// It comes from elements.
    Data,
    /// It is computed outside of the body.
    Outside,
    /// An operation makes none of indices.
    Operation(Op<'c>),
}

/// The first cause on the way to a value in the body of an operation.
fn first<'c>(value: Val<'c>, outer: Op<'c>, reading: &mut Reading) -> Cause<'c> {
    let Some(op) = ir::defining_op(value) else {
        let local = (0..outer.region_count()).filter_map(|n| ir::only_block(ir::region(outer, n)));
        let mut local = local.flat_map(arguments);
        return match local.any(|argument| argument == value) {
            true => Cause::Data,
            false => Cause::Outside,
        };
    };
    if !ir::ancestors(op).any(|around| around == outer) {
        return Cause::Outside;
    }
    let name = ir::name_of(op);
    if [ops::tensor::EXTRACT, ops::memref::LOAD].contains(&name) {
        return Cause::Data;
    }
    let mut operands = op.operands().map(ir::value);
    match operands.find(|operand| reading.value(*operand).is_none()) {
        Some(operand) => first(operand, outer, reading),
        None => Cause::Operation(op),
    }
}

fn reason(op: Op, reading: &mut Reading) -> &'static str {
    let divisor = ir::operand(op, 1).and_then(|by| reading.value(by));
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
        ops::arith::DIVSI => {
            "which rounds to zero, and divides what may be minus its divisor or less"
        }
        ops::arith::REMSI => "which rounds to zero, and divides what may be negative",
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
