//! The largest and the second largest: two accumulators that meet one element.
//!
//! ```text
//! m' = max(m, x)
//! n' = max(n, min(m, x))
//! ```
//!
//! An element is the part `(x, least)`, where `least` is the number that no maximum takes, and two parts make
//!
//! ```text
//! (a, b) + (c, d) = (max(a, c), max(max(b, d), min(a, c)))
//! ```
//!
//! which is what the loops make one after the other, whatever they start from. So it is for minima.

use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Val};
use melior::ir::operation::OperationLike;

use super::accumulate::Body;
use super::operators::{Law, Own, dependent, key, tuples};
use super::steps::{Element, Family, Step};
use crate::support::builder::Builder;
use crate::support::region;

/// The first rank: its operator, the opposite one, and the element.
struct First<'c> {
    best: Builtin,
    other: Builtin,
    element: Val<'c>,
    least: Scalar,
}

impl<'c> Body<'_, 'c> {
    /// The operator on parts, if the accumulators are the best and the second best.
    pub fn ranked(&mut self) -> Option<Own<'c>> {
        let [_, _] = self.accumulators else {
            return None;
        };
        let places = [[0, 1], [1, 0]].into_iter();
        let mut ranked = places.filter_map(|places| Some((places, self.first(places)?)));
        let ([n, second], first) = ranked.next()?;
        let mut builder = Builder::before(region::terminator(self.block));
        self.yields[n] = first.element;
        self.yields[second] = builder.scalar(first.least);
        let (code, given) = tuples(self.accumulators);
        let (block, last) = (region::block(&code), region::terminator(self.block));
        let mut builder = Builder::before(last).at_end(block);
        let [best, other] = [first.best, first.other].map(|o| Family::Builtin(o).operation());
        let new = builder.binary(&best, given[n], given[n + 2]);
        let lower = builder.binary(&other, given[n], given[n + 2]);
        let seconds = builder.binary(&best, given[second], given[second + 2]);
        let mut results = [new; 2];
        results[second] = builder.binary(&best, seconds, lower);
        region::yield_from(block, last.location(), &results);
        Some(Own {
            code,
            name: "ranked".into(),
            associative: Law::Holds,
            commutative: Law::Holds,
            // A single element that is no number makes the second one that too, by what is there before.
            from_neutral: first.least.ty.is_integer()
                && (self.starts.iter()).all(|start| *start == Some(first.least)),
        })
    }

    /// Reads both ranks, of accumulators in these places.
    fn first(&self, [n, second]: [usize; 2]) -> Option<First<'c>> {
        let taken = |n: usize| {
            let op = ir::defining_op(self.yields[n])?;
            let step = Step::new(op, |v| v == self.accumulators[n])?;
            match (step.family, step.element) {
                (Family::Builtin(operator), Element::Value(element)) => Some((operator, element)),
                _ => None,
            }
        };
        let ((best, element), (again, lower)) = (taken(n)?, taken(second)?);
        let other = match best {
            Builtin::Maximumf => Builtin::Minimumf,
            Builtin::Minimumf => Builtin::Maximumf,
            Builtin::Maxsi => Builtin::Minsi,
            Builtin::Minsi => Builtin::Maxsi,
            Builtin::Maxui => Builtin::Minui,
            Builtin::Minui => Builtin::Maxui,
            _ => return None,
        };
        let op = ir::defining_op(lower)?;
        let sides = [0, 1].map(|n| ir::operand(op, n));
        let [m, x] = [Some(self.accumulators[n]), Some(element)];
        let is_lower = ir::name_of(op) == Family::Builtin(other).operation()
            && (sides == [m, x] || sides == [x, m]);
        let is_free = !dependent(self.block, self.accumulators).contains(&key(element));
        (again == best && is_lower && is_free).then_some(())?;
        Some(First {
            best,
            other,
            element,
            least: Family::Builtin(best).neutral(element)?,
        })
    }
}
