//! Sums of exponentials beside their largest exponent: the softmax of one pass.
//!
//! ```text
//! m' = max(m, x)
//! s' = s * exp(m - m') + exp(x - m') * v
//! ```
//!
//! is one step of a part's largest `x` and of the sum of `exp(x - m) * v`. An element is the part `(x, v)`,
//! where `v` is 1 if there is none, and two parts make
//!
//! ```text
//! (m, s) + (n, t) = (o, s * exp(m - o) + t * exp(n - o))   with o = max(m, n),
//! ```
//!
//! which is associative and commutative as sums are, of numbers. Of two infinities the difference is none: a row
//! that begins with -inf has no sum in its own order, and has one where parts of the row are combined first. So
//! the differences have to declare that they are numbers (`fastmath<nnan>`), or the operation that it is
//! associative. Where `m` is `o`, the factor is 1: parts of which all is masked by -inf are no harm to others.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::accumulate::Body;
use super::operators::{Broken, Law, Own, dependent, key, tuples};
use super::selection::declares_numbers;
use super::steps::{Element, Family, Step};
use crate::support::builder::Builder;
use crate::support::region;

/// The largest exponent.
struct Largest<'c> {
    /// The number of its accumulator.
    n: usize,
    operation: String,
    element: Val<'c>,
}

impl<'c> Body<'_, 'c> {
    /// The operator on parts, if the accumulators are the largest exponent and sums.
    pub fn rescaled(&mut self) -> Option<Own<'c>> {
        let largest = (0..self.accumulators.len()).find_map(|n| self.largest(n))?;
        let (mut factors, mut exponential) = (Vec::new(), None);
        for n in 0..self.accumulators.len() {
            if n == largest.n {
                factors.push(Some(largest.element));
                continue;
            }
            let (name, factor) = self.sum(n, &largest)?;
            if exponential.is_some_and(|own| own != name) {
                return None;
            }
            exponential = Some(name);
            factors.push(factor);
        }
        let exponential = exponential?;
        let mut builder = Builder::before(region::terminator(self.block));
        let element = |(factor, accumulator): (&Option<Val<'c>>, &Val<'c>)| {
            let ty = types::scalar_type(accumulator.r#type())?;
            Some(factor.unwrap_or_else(|| builder.scalar(Scalar::from_f64(ty, 1.0))))
        };
        let elements: Option<Vec<Val>> =
            factors.iter().zip(self.accumulators).map(element).collect();
        self.yields = elements?;
        Some(self.of_parts(&largest, exponential))
    }

    /// Reads `max(m, x)`, or a minimum.
    fn largest(&self, n: usize) -> Option<Largest<'c>> {
        let free = dependent(self.block, self.accumulators);
        let op = ir::defining_op(self.yields[n])?;
        let step = Step::new(op, |v| v == self.accumulators[n])?;
        let Element::Value(element) = step.element else {
            return None;
        };
        let is_largest = match step.family {
            Family::Builtin(Builtin::Maximumf) => true,
            Family::Builtin(_) => false,
            Family::Named(name) => name == ops::arith::MAXNUMF,
        };
        let is_own = is_largest && !free.contains(&key(element));
        is_own.then(|| Largest {
            n,
            operation: step.family.operation(),
            element,
        })
    }

    /// Reads `s * exp(m - m') + exp(x - m') * v`: the exponential, and `v` if there is one.
    fn sum(&self, n: usize, largest: &Largest<'c>) -> Option<(&'c str, Option<Val<'c>>)> {
        let (own, result) = (self.accumulators[n], self.yields[n]);
        let [m, new] = [self.accumulators[largest.n], self.yields[largest.n]];
        if own.r#type() != m.r#type() {
            return None;
        }
        let op = ir::defining_op(result)?;
        let [a, b] = match ir::name_of(op) {
            ops::arith::ADDF => [0, 1].map(|n| ir::operand(op, n)),
            _ => return None,
        };
        let (a, b) = (a?, b?);
        let rescaled = |value: Val<'c>| {
            let [s, factor] = product(value)?;
            let (s, factor) = if s == own { (s, factor) } else { (factor, s) };
            exponential(factor, m, new).filter(|_| s == own)
        };
        let (name, term) = match (rescaled(a), rescaled(b)) {
            (Some(name), _) => (name, b),
            (_, Some(name)) => (name, a),
            _ => return None,
        };
        let is_exponential = |value| exponential(value, largest.element, new) == Some(name);
        if is_exponential(term) {
            return Some((name, None));
        }
        let [p, v] = product(term)?;
        let v = match (is_exponential(p), is_exponential(v)) {
            (true, false) => v,
            (false, true) => p,
            _ => return None,
        };
        let is_free = !dependent(self.block, self.accumulators).contains(&key(v));
        is_free.then_some((name, Some(v)))
    }

    /// The code that makes one part of two.
    fn of_parts(&self, largest: &Largest<'c>, exponential: &str) -> Own<'c> {
        let (code, given) = tuples(self.accumulators);
        let (block, last) = (region::block(&code), region::terminator(self.block));
        let mut builder = Builder::before(last).at_end(block);
        let (first, second) = given.split_at(self.accumulators.len());
        let both = [first[largest.n], second[largest.n]];
        let new = builder.binary(&largest.operation, both[0], both[1]);
        let ty = types::scalar_type(new.r#type());
        let zero = ty.map(|ty| builder.scalar(Scalar::zero(ty))).unwrap_or(new);
        let factors = both.map(|own| {
            let is_same = builder.compare_floats(CmpfPredicate::Oeq, own, new);
            let less = builder.binary(ops::arith::SUBF, own, new);
            let by = builder.select(is_same, zero, less);
            builder.op(exponential, &[by], &[new.r#type()], &[])[0]
        });
        let mut results = Vec::new();
        for n in 0..first.len() {
            results.push(if n == largest.n {
                new
            } else {
                let a = builder.binary(ops::arith::MULF, first[n], factors[0]);
                let b = builder.binary(ops::arith::MULF, second[n], factors[1]);
                builder.binary(ops::arith::ADDF, a, b)
            });
        }
        region::yield_from(block, last.location(), &results);
        let mut starts = self.starts.iter().enumerate();
        let from_neutral = |(n, start): (usize, &Option<Scalar>)| {
            let neutral = if n == largest.n {
                f64::NEG_INFINITY
            } else {
                0.0
            };
            start.is_some_and(|start| start.as_f64() == neutral)
        };
        Own {
            code,
            name: "rescaled".into(),
            associative: self.of_numbers(),
            commutative: Law::Holds,
            from_neutral: starts.all(from_neutral),
        }
    }
}

impl Body<'_, '_> {
    /// The law that holds where all differences are numbers.
    fn of_numbers(&self) -> Law {
        let mut differences = ir::ops_of(self.block);
        differences.retain(|op| ir::name_of(*op) == ops::arith::SUBF);
        match differences.into_iter().all(declares_numbers) {
            true => Law::Holds,
            false => Law::Broken(Broken {
                rule: "its body rescales a sum of exponentials in a way that is not associative where two \
                       infinities are subtracted, as in a row that begins with -inf"
                    .into(),
                expected: "where none are, put 'fastmath<nnan>' on each 'arith.subf', or \
                           'mdh.associative' on the operation"
                    .into(),
            }),
        }
    }
}

/// The factors of a product.
fn product(value: Val) -> Option<[Val; 2]> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::MULF)?;
    Some([ir::operand(op, 0)?, ir::operand(op, 1)?])
}

/// The name of the exponential of a difference that a value is.
fn exponential<'c>(value: Val<'c>, from: Val<'c>, subtracted: Val<'c>) -> Option<&'c str> {
    let op = ir::defining_op(value)?;
    let name =
        Some(ir::name_of(op)).filter(|name| [ops::math::EXP, ops::math::EXP2].contains(name));
    let difference = ir::defining_op(ir::operand(op, 0)?)?;
    let sides = [0, 1].map(|n| ir::operand(difference, n));
    let is_it =
        ir::name_of(difference) == ops::arith::SUBF && sides == [Some(from), Some(subtracted)];
    name.filter(|_| is_it)
}
