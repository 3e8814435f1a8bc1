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

use mdh_algebra::affine::Linear;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::{loop_index, ops, types};
use melior::ir::operation::OperationLike;
use melior::ir::{Region, ValueLike};

use super::accumulate::Body;
use super::loops::Loops;
use super::operators::{append, tuples};
use super::selection::{self, Chosen};
use crate::support::builder::Builder;
use crate::support::extents;
use crate::support::region;

impl<'c> Loops<'c> {
    /// Returns whether an index grows with each iteration of the loops that are not kept.
    fn grows(&self, index: &Linear) -> bool {
        // What all loops inside of one add at most.
        let mut inside = Some(0i64);
        let pairs = index.coefficients.iter().zip(&self.extents);
        let reduced = pairs.zip(&self.is_kept).filter(|(_, kept)| !**kept);
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

    /// Returns whether a value of a body is the row-major index of the loops that are not kept, whatever their
    /// extents: `(i * m + j) * n + k`. It fits its type, as the indices of any array do.
    fn is_row_major(&self, value: Val<'c>) -> bool {
        let reduced: Vec<usize> = (0..self.is_kept.len())
            .filter(|d| !self.is_kept[*d])
            .collect();
        let is_wide = |v: Val| {
            let ty = types::scalar_type(v.r#type());
            matches!(ty, Some(ScalarType::Index | ScalarType::I64))
        };
        let made = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::INDEX_CAST);
        let index = made.and_then(|op| ir::operand(op, 0)).unwrap_or(value);
        is_wide(value) && is_wide(index) && self.counts(index, &reduced)
    }

    /// The same for some of the loops, in their order.
    fn counts(&self, value: Val<'c>, loops: &[usize]) -> bool {
        let Some((last, before)) = loops.split_last() else {
            return false;
        };
        let operand_of = |value: Val<'c>, name: &str| {
            let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == name)?;
            Some([ir::operand(op, 0)?, ir::operand(op, 1)?])
        };
        let is_own = |value: Val| {
            let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::linalg::INDEX);
            op.and_then(|op| ir::integer(op, "dim")) == i64::try_from(*last).ok()
        };
        if before.is_empty() {
            return is_own(value);
        }
        let lines = |value: Val<'c>| {
            let sides = operand_of(value, ops::arith::MULI);
            let is_size = |v: Val<'c>| self.sizes[*last] == Some(extents::of_value(v));
            let both = |[a, b]: [Val<'c>; 2]| is_size(b) && self.counts(a, before);
            sides.is_some_and(|[a, b]| both([a, b]) || both([b, a]))
        };
        let sides = operand_of(value, ops::arith::ADDI);
        sides.is_some_and(|[a, b]| is_own(b) && lines(a) || is_own(a) && lines(b))
    }
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
            let growing = loop_index::linear(self.yields[*n], &loops.extents)
                .filter(|index| loops.grows(index));
            let start = self.starts[*n].map(|start| start.as_i64());
            let least =
                growing.and_then(|index| Some(loop_index::range(&index, &loops.extents)?.min));
            let least = least.or(loops.is_row_major(self.yields[*n]).then_some(0));
            start
                .zip(least)
                .is_some_and(|(start, least)| i128::from(start) <= least)
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
