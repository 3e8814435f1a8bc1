//! Equality of operations of linalg: the same loops, and the same scalar code.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;

use crate::support::region;

/// Operations whose two operands may change places.
const COMMUTATIVE: [&str; 15] = [
    ops::arith::ADDF,
    ops::arith::ADDI,
    ops::arith::ANDI,
    ops::arith::MAXIMUMF,
    ops::arith::MAXNUMF,
    ops::arith::MAXSI,
    ops::arith::MAXUI,
    ops::arith::MINIMUMF,
    ops::arith::MINNUMF,
    ops::arith::MINSI,
    ops::arith::MINUI,
    ops::arith::MULF,
    ops::arith::MULI,
    ops::arith::ORI,
    ops::arith::XORI,
];

/// Returns whether maps are the same functions of the same loops.
pub fn same_maps(a: &[Vec<Expr>], b: &[Vec<Expr>], rank: usize) -> bool {
    let same = |own: &Expr, other: &Expr| match (own.linear(rank), other.linear(rank)) {
        (Some(own), Some(other)) => own == other,
        (None, None) => own == other,
        _ => false,
    };
    let same_axes = |(own, other): (&Vec<Expr>, &Vec<Expr>)| {
        own.len() == other.len() && own.iter().zip(other).all(|(a, b)| same(a, b))
    };
    a.len() == b.len() && a.iter().zip(b).all(same_axes)
}

/// Returns whether two values of scalar code are the same, of blocks with the same arguments.
pub fn same_code<'c>(a: Val<'c>, b: Val<'c>) -> bool {
    if let (Some(a), Some(b)) = (ir::block_argument(a), ir::block_argument(b)) {
        return a.number == b.number;
    }
    let (Some(of_a), Some(of_b)) = (ir::defining_op(a), ir::defining_op(b)) else {
        return false;
    };
    let is_same = ir::name_of(of_a) == ir::name_of(of_b)
        && ir::result_number(a) == ir::result_number(b)
        && [of_a, of_b].iter().all(|op| op.region_count() == 0)
        && ir::name_of(of_a) != ops::linalg::INDEX
        && region::attributes(of_a) == region::attributes(of_b);
    if !is_same {
        return false;
    }
    let operands = |op: ir::Op<'c>| -> Vec<Val<'c>> { op.operands().map(ir::value).collect() };
    let (of_a_all, of_b_all) = (operands(of_a), operands(of_b));
    let same = |a: &[Val<'c>], b: &[Val<'c>]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_code(*a, *b))
    };
    let swapped: Vec<Val> = of_b_all.iter().rev().copied().collect();
    same(&of_a_all, &of_b_all)
        || (COMMUTATIVE.contains(&ir::name_of(of_a)) && same(&of_a_all, &swapped))
}
