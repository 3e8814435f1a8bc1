//! Bounds that a program computes from sizes, and back: the size that gives a bound its value.

use mdh_dialect::ir::{self, Val};
use mdh_dialect::parts::{Bound, Parts};

use super::{Origin, Solver, origin};
use crate::error::Result;

/// A bound is followed back through at most so many operations. Each may use the one before it
/// twice, and with many that would take forever.
pub(super) const STEPS: usize = 8;

/// Treatment of a size that no other gives exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// There is none.
    Exact,
    /// The next one is right.
    AtLeast,
}

impl Fit {
    /// Returns the factor that makes a product of another one.
    pub(super) fn quotient(self, product: i64, factor: i64) -> Option<i64> {
        let rest = product.checked_rem(factor)?;
        let is_fit = factor > 0 && (rest == 0 || self == Fit::AtLeast);
        is_fit.then(|| product / factor + i64::from(rest > 0))
    }
}

impl<'c> Solver<'_, 'c> {
    pub(super) fn bound(&self, bound: Bound<'c>) -> Option<i64> {
        self.followed(bound, STEPS)
    }

    /// The value of a bound from which at most so many operations lead back to sizes.
    pub(super) fn followed(&self, bound: Bound<'c>, steps: usize) -> Option<i64> {
        match bound {
            Bound::Static(number) => Some(number),
            Bound::Dynamic(value) => match origin(value) {
                Origin::Argument(argument) => self.sizes.scalars[argument],
                Origin::Extent { argument, axis } => self.sizes.shapes[argument][axis],
                Origin::Constant(number) => Some(number),
                Origin::Other => self.computed(value, steps.checked_sub(1)?),
            },
        }
    }

    /// Returns a value that a program computes from sizes: `%last = arith.subi %n, %c1`.
    fn computed(&self, value: Val<'c>, steps: usize) -> Option<i64> {
        let op = ir::defining_op(value)?;
        let operand = |i: usize| {
            let operand = ir::operand(op, i)?;
            self.followed(Bound::Dynamic(operand), steps)
        };
        match ir::name_of(op) {
            "tensor.dim" | "memref.dim" => {
                let axis = usize::try_from(operand(1)?).ok()?;
                self.extent(ir::operand(op, 0)?, axis, steps)
            }
            "arith.addi" => operand(0)?.checked_add(operand(1)?),
            "arith.subi" => operand(0)?.checked_sub(operand(1)?),
            "arith.muli" => operand(0)?.checked_mul(operand(1)?),
            "arith.minsi" => Some(operand(0)?.min(operand(1)?)),
            "arith.maxsi" => Some(operand(0)?.max(operand(1)?)),
            "arith.floordivsi" | "arith.divsi" | "arith.divui" => {
                let (number, divisor) = (operand(0)?, operand(1)?);
                (number >= 0 && divisor > 0).then(|| number / divisor)
            }
            "arith.ceildivsi" | "arith.ceildivui" => {
                let (number, divisor) = (operand(0)?, operand(1)?);
                let is_simple = number >= 0 && divisor > 0;
                is_simple.then(|| number / divisor + i64::from(number % divisor > 0))
            }
            "arith.index_cast" => operand(0),
            _ => None,
        }
    }

    /// Learns a size that is not known from one that is given for a dimension, whose bound the
    /// program computes from it. Whether there was one.
    pub(super) fn learn_computed(&mut self, views: &[Parts<'c>]) -> Result<bool> {
        for dim in views.iter().flat_map(|view| &view.dims) {
            let (Some(size), Bound::Dynamic(value)) = (self.given.get(&dim.name), dim.upper) else {
                continue;
            };
            let fit = match self.assumed.contains(&dim.name) {
                true => Fit::AtLeast,
                false => Fit::Exact,
            };
            if let Some((from, number)) = self.inverse(value, *size, fit, STEPS) {
                self.set(from, number, &dim.name)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The one size that is not known of those that a value is computed from by at most so many
    /// operations, and what it has to be: the smallest, where several are right.
    pub(super) fn inverse(
        &self,
        value: Val<'c>,
        size: i64,
        fit: Fit,
        steps: usize,
    ) -> Option<(Origin, i64)> {
        let known = |value| self.bound(Bound::Dynamic(value));
        let from = origin(value);
        match from {
            _ if known(value).is_some() => return None,
            Origin::Argument(_) => return Some((from, size)),
            Origin::Extent { .. } => return (size >= 0).then_some((from, size)),
            Origin::Constant(_) => return None,
            Origin::Other => {}
        }
        let (op, steps) = (ir::defining_op(value)?, steps.checked_sub(1)?);
        let first = ir::operand(op, 0)?;
        if ir::name_of(op) == "arith.index_cast" {
            return self.inverse(first, size, fit, steps);
        }
        let second = ir::operand(op, 1)?;
        if matches!(ir::name_of(op), "tensor.dim" | "memref.dim") {
            let axis = usize::try_from(known(second)?).ok()?;
            return self.inverse_extent((first, axis), size, fit, steps);
        }
        let (operand, size) = match (known(first), known(second)) {
            (None, Some(second)) => (first, first_operand(ir::name_of(op), second, size, fit)?),
            (Some(first), None) => (second, second_operand(ir::name_of(op), first, size, fit)?),
            _ => return None,
        };
        self.inverse(operand, size, fit, steps)
    }
}

/// The smallest first operand with which an operation has a result, if its second is known.
fn first_operand(name: &str, second: i64, result: i64, fit: Fit) -> Option<i64> {
    let is_quotient = result >= 0 && second > 0;
    match name {
        "arith.subi" => result.checked_add(second),
        "arith.floordivsi" | "arith.divsi" | "arith.divui" if is_quotient => {
            result.checked_mul(second)
        }
        "arith.ceildivsi" | "arith.ceildivui" if is_quotient => match result {
            0 => Some(0),
            _ => (result - 1).checked_mul(second)?.checked_add(1),
        },
        _ => either_operand(name, second, result, fit),
    }
}

/// The second operand with which an operation has a result, if its first is known.
fn second_operand(name: &str, first: i64, result: i64, fit: Fit) -> Option<i64> {
    match name {
        "arith.subi" => first.checked_sub(result),
        _ => either_operand(name, first, result, fit),
    }
}

/// The other operand with which an operation that has no order has a result.
fn either_operand(name: &str, known: i64, result: i64, fit: Fit) -> Option<i64> {
    match name {
        "arith.addi" => result.checked_sub(known),
        "arith.muli" => fit.quotient(result, known),
        "arith.minsi" if result <= known => Some(result),
        "arith.maxsi" if result >= known => Some(result),
        _ => None,
    }
}
