//! Choices over several loops whose ties the order of iterations decides, by the place that is kept.
//!
//! The first of the best is no operator of its values alone that commutes: of equal ones it keeps what it
//! has. Where one of the components is a place that grows with every iteration, such as the row-major index
//! `i * 13 + j`, the tuple with the smaller place came first. So `f(x, y)` is taken in this order, whichever
//! of them is given first:
//!
//! ```text
//! g(x, y) = place(x) <= place(y) ? f(x, y) : f(y, x)
//! ```
//!
//! which is `f` as the loops run, and commutes where the algebra says so of the code.

use mdh_algebra::affine::{Expr, Linear};
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{Region, ValueLike};

use super::accumulate::Body;
use super::accumulators::constant;
use super::operators::{append, tuples};
use super::selection::{self, Chosen};
use super::structured::Loops;
use crate::builder::Builder;
use crate::region;

impl Loops {
    /// The least and the largest value of an index.
    fn range(&self, index: &Linear) -> Option<(i64, i64)> {
        let (mut min, mut max) = (index.constant, index.constant);
        for (coefficient, extent) in index.coefficients.iter().zip(&self.extents) {
            if *coefficient == 0 {
                continue;
            }
            let way = coefficient.checked_mul((*extent)?.max(1) - 1)?;
            min = min.checked_add(way.min(0))?;
            max = max.checked_add(way.max(0))?;
        }
        Some((min, max))
    }

    /// Returns whether an index grows with each iteration of the loops that are not kept.
    fn grows(&self, index: &Linear) -> bool {
        // What all loops inside of one add at most.
        let mut inside = Some(0i64);
        let all = index.coefficients.iter().zip(&self.extents);
        let reduced = all.zip(&self.is_kept).filter(|(_, kept)| !**kept);
        for ((coefficient, extent), _) in reduced.collect::<Vec<_>>().into_iter().rev() {
            let Some(extent) = *extent else {
                return false;
            };
            if extent <= 1 {
                continue;
            }
            if inside.is_none_or(|inside| *coefficient <= inside) {
                return false;
            }
            let way = coefficient.checked_mul(extent - 1);
            inside = inside.zip(way).and_then(|(a, b)| a.checked_add(b));
        }
        true
    }
}

/// The index that a value in a body is, if it is computed from indices and constants, and none of what it is
/// computed from leaves its type.
fn index(value: Val, loops: &Loops) -> Option<Linear> {
    let rank = loops.extents.len();
    let found = match constant(value) {
        Some(number) if number.ty.is_integer() => Expr::constant(number.as_i64()).linear(rank)?,
        Some(_) => return None,
        None => {
            let op = ir::defining_op(value)?;
            let operand = |n| index(ir::operand(op, n)?, loops);
            match ir::name_of(op) {
                ops::linalg::INDEX => {
                    let d = usize::try_from(ir::integer(op, "dim")?).ok()?;
                    Expr::dim(d).linear(rank)?
                }
                ops::arith::INDEX_CAST | ops::arith::EXTSI | ops::arith::TRUNCI => operand(0)?,
                ops::arith::ADDI => operand(0)?.plus(1, &operand(1)?)?,
                ops::arith::SUBI => operand(0)?.plus(-1, &operand(1)?)?,
                ops::arith::MULI => {
                    let (a, b) = (operand(0)?, operand(1)?);
                    match (a.as_constant(), b.as_constant()) {
                        (Some(factor), _) => b.times(factor)?,
                        (_, Some(factor)) => a.times(factor)?,
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
    };
    let bits = match types::scalar_type(value.r#type())? {
        ScalarType::Index => 64,
        ty if ty.is_integer() => ty.bit_width(),
        _ => return None,
    };
    let most = i64::MAX >> (64 - bits);
    let (min, max) = loops.range(&found)?;
    (-most <= min && max <= most).then_some(found)
}

impl<'c> Body<'_, 'c> {
    /// The operator that takes tuples in the order of their places, if one of the components is a place, and
    /// it commutes. The elements are `yields` already.
    pub fn in_order(&self, code: &Region<'c>, chosen: &Chosen) -> Option<Region<'c>> {
        let loops = self.loops?;
        if !chosen.associative.holds() || chosen.commutative.holds() {
            return None;
        }
        let is_place = |n: &usize| {
            let found = index(self.yields[*n], loops).filter(|index| loops.grows(index));
            let start = self.starts[*n].map(|start| start.as_i64());
            let least = found.and_then(|index| Some(loops.range(&index)?.0));
            start
                .zip(least)
                .is_some_and(|(start, least)| start <= least)
        };
        let place = (0..self.yields.len()).find(is_place)?;
        let ordered = ordered(code, self.accumulators, place);
        let laws = selection::laws_between(&ordered, code, (chosen, self.starts))?;
        (laws.associative.is_none() && laws.commutative.is_none()).then_some(ordered)
    }
}

/// Code that gives tuples to other code in the order of one component.
fn ordered<'c>(code: &Region<'c>, accumulators: &[Val<'c>], place: usize) -> Region<'c> {
    let (own, given) = tuples(accumulators);
    let block = region::block(&own);
    let last = region::terminator(region::block(code));
    let mut builder = Builder::before(last).at_end(block);
    let (first, second) = given.split_at(accumulators.len());
    let is_first = builder.compare("sle", first[place], second[place]);
    let mut choose = |a: &[Val<'c>], b: &[Val<'c>]| -> Vec<Val<'c>> {
        let both = a.iter().zip(b);
        both.map(|(a, b)| builder.select(is_first, *a, *b))
            .collect()
    };
    let both = [choose(first, second), choose(second, first)].concat();
    let results = append(&own, code, &both);
    region::yield_from(block, last.location(), &results);
    own
}
