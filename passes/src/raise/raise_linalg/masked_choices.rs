//! Choices under a condition, as choices between elements of which some are never chosen.
//!
//! `m && x > acc` is `(m ? x : -inf) > acc` where `m` does not depend on what is accumulated, since -inf is
//! greater than nothing; so it is for integers with their least number. `m ? (c ? x : acc) : acc` is
//! `(m && c) ? x : acc`. What is chosen by such a comparison is an element under the condition, or not one.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;

use super::masks::Lifted;
use crate::support::builder::Builder;
use crate::support::region;

/// A comparison of an element with what is accumulated, under a condition, and what has taken its place.
#[derive(Clone, Copy)]
pub struct Masked<'c> {
    /// The condition.
    by: Val<'c>,
    /// The comparison.
    compared: Val<'c>,
    /// The element that is compared.
    old: Val<'c>,
    /// The number that is never chosen.
    never: Scalar,
    /// The element, or where the condition does not hold one that is never chosen.
    new: Val<'c>,
    /// The comparison of this one.
    holds: Val<'c>,
}

impl<'c> Masked<'c> {
    /// Returns whether a value is one of its own.
    pub fn has(&self, value: Val<'c>) -> bool {
        [self.by, self.compared, self.old, self.new, self.holds].contains(&value)
    }
}

impl<'c> Lifted<'c> {
    /// `m && c` for a comparison with what is accumulated.
    pub fn both_hold(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
        let sides = [0, 1].map(|n| ir::operand(op, n));
        let ([Some(a), Some(b)], Some(result)) = (sides, ir::result(op, 0)) else {
            return;
        };
        let (by, compared) = match (self.depends(a), self.depends(b)) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => return,
        };
        let Some(masked) = self.masked(builder, by, compared) else {
            return;
        };
        self.replace(result, masked.holds);
        for select in ir::users(masked.holds) {
            let is_chosen = ir::name_of(select) == ops::arith::SELECT
                && [0, 1].map(|n| ir::operand(select, n)) == [Some(masked.holds), Some(masked.old)];
            if is_chosen {
                region::set_operand(select, 1, masked.new);
            }
        }
        self.erase(op);
    }

    /// `m ? (c ? x : acc) : acc` for a comparison with what is accumulated.
    pub fn selected_again(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
        let [by, then, other] = [0, 1, 2].map(|n| ir::operand(op, n));
        let (Some(by), Some(then), Some(other)) = (by, then, other) else {
            return;
        };
        let inner = ir::defining_op(then).filter(|op| ir::name_of(*op) == ops::arith::SELECT);
        let Some(inner) = inner.filter(|inner| ir::operand(*inner, 2) == Some(other)) else {
            return;
        };
        let (Some(compared), Some(value)) = (ir::operand(inner, 0), ir::operand(inner, 1)) else {
            return;
        };
        if !self.depends(compared) || self.depends(value) {
            return;
        }
        let (Some(masked), Some(result)) = (self.masked(builder, by, compared), ir::result(op, 0))
        else {
            return;
        };
        let value = if value == masked.old {
            masked.new
        } else {
            value
        };
        let chosen = builder.select(masked.holds, value, other);
        self.replace(result, chosen);
        self.erase(op);
    }

    /// A comparison of an element with what is accumulated, under a condition.
    fn masked(
        &mut self,
        builder: &mut Builder<'c>,
        by: Val<'c>,
        compared: Val<'c>,
    ) -> Option<Masked<'c>> {
        let known = self
            .masked
            .iter()
            .find(|own| (own.by, own.compared) == (by, compared));
        if let Some(known) = known {
            return Some(*known);
        }
        let comparison = ir::defining_op(compared)?;
        let sides = [ir::operand(comparison, 0)?, ir::operand(comparison, 1)?];
        let n = sides.iter().position(|side| !self.depends(*side))?;
        let (old, other) = (sides[n], sides[1 - n]);
        if !self.depends(other) {
            return None;
        }
        let never = never(comparison, n)?;
        let same = (by, old, never);
        let known = (self.masked.iter()).find(|own| (own.by, own.old, own.never) == same);
        let new = known.map(|own| own.new).unwrap_or_else(|| {
            let worst = builder.scalar(never);
            builder.select(by, old, worst)
        });
        let mut compared_with = sides;
        compared_with[n] = new;
        let attributes = region::attributes(comparison);
        let name = ir::name_of(comparison);
        let holds = builder.op(name, &compared_with, &[compared.r#type()], &attributes)[0];
        let masked = Masked {
            by,
            compared,
            old,
            never,
            new,
            holds,
        };
        self.masked.push(masked);
        Some(masked)
    }
}

/// The number with which a comparison never holds, on its left-hand side or on the other one.
fn never(comparison: Op, side: usize) -> Option<Scalar> {
    let ty = types::scalar_type(ir::operand(comparison, side)?.r#type())?;
    let predicate = ir::integer(comparison, "predicate")?;
    // `greater`, then `less`, as MLIR numbers them.
    let [greater, less] = match ir::name_of(comparison) {
        ops::arith::CMPF => [CmpfPredicate::Ogt as i64, CmpfPredicate::Olt as i64],
        ops::arith::CMPI if [2, 4].contains(&predicate) => [4, 2],
        ops::arith::CMPI => [8, 6],
        _ => return None,
    };
    let is_least = match predicate {
        _ if predicate == greater => side == 0,
        _ if predicate == less => side == 1,
        _ => return None,
    };
    if ty.is_float() {
        let end = if is_least {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        return Some(Scalar::from_f64(ty, end));
    }
    let bits = match ty {
        ScalarType::Index => 64,
        _ => ty.bit_width(),
    };
    let (top, all) = (1u64 << (bits - 1), u64::MAX >> (64 - bits));
    let number = match (greater == 4, is_least) {
        (true, true) => top,
        (true, false) => top - 1,
        (false, true) => 0,
        (false, false) => all,
    };
    Some(Scalar::from_bits(ty, number))
}
