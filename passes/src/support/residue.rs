//! Remainders of indices divided by a constant, where the enclosing loops determine them.

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;

use crate::support::builder::known;
use crate::support::parallel;

/// Depth to which definitions are followed.
const DEPTH: usize = 16;

/// `value mod divisor`, of a positive divisor; `None` if it is not known, or differs.
pub fn residue(value: Val, divisor: i64) -> Option<i64> {
    at_depth(value, divisor, DEPTH)
}

fn at_depth(value: Val, divisor: i64, depth: usize) -> Option<i64> {
    if let Some(number) = known(value) {
        return Some(number.rem_euclid(divisor));
    }
    let depth = depth.checked_sub(1)?;
    let residue_of = |value| at_depth(value, divisor, depth);
    if let Some(argument) = ir::block_argument(value) {
        let [lower, step] = bounds(argument.of, argument.number)?.map(|bound| match bound {
            Bound::Static(number) => Some(number.rem_euclid(divisor)),
            Bound::Dynamic(value) => residue_of(value),
        });
        return lower.filter(|_| step == Some(0));
    }
    let op = ir::defining_op(value)?;
    let operand = |n| ir::operand(op, n);
    let (a, b) = (operand(0)?, operand(1)?);
    let both = || Some((residue_of(a)?, residue_of(b)?));
    let result = match ir::name_of(op) {
        ops::arith::ADDI => both().map(|(a, b)| a + b),
        ops::arith::SUBI => both().map(|(a, b)| a - b),
        ops::arith::MINSI | ops::arith::MAXSI => both().and_then(|(a, b)| (a == b).then_some(a)),
        ops::arith::MULI if residue_of(a) == Some(0) || residue_of(b) == Some(0) => Some(0),
        ops::arith::MULI => both().and_then(|(a, b)| a.checked_mul(b)),
        _ => None,
    };
    result.map(|result| result.rem_euclid(divisor))
}

/// The first index of a loop's variable, and what is added to it each time.
fn bounds<'c>(of: Op<'c>, number: usize) -> Option<[Bound<'c>; 2]> {
    let operand = |n| Some(Bound::Dynamic(ir::operand(of, n)?));
    match ir::name_of(of) {
        ops::scf::FOR if number == 0 => Some([operand(0)?, operand(2)?]),
        ops::scf::PARALLEL => {
            let rank = arguments(ir::only_block(ir::region(of, 0))?).len();
            Some([operand(number)?, operand(2 * rank + number)?])
        }
        _ => parallel::bounds(of).map(|[lower, _, step]| [lower, step]),
    }
}
