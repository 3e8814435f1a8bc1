//! Floats that are accumulated in a wider type, and rounded to their own with each element, as those
//! accumulated in their own type.
//!
//! `truncf(extf(acc) + extf(x))` is `acc + x`, bit for bit: the wider type has more than twice as many digits, so
//! that what is rounded twice is as if it was rounded once. Minima and maxima are of any elements, since rounding
//! keeps their order. Other elements of the wider type, products too, would lose digits that the program has not
//! let go, or leave the narrow type, and stay.

use mdh_algebra::nest::narrow::{Made, is_narrow};
use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::scalar_code::rounding_mode;
use mdh_dialect::{ops, types};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use super::masks::Lifted;
use super::steps::{Element, Family, Step};
use crate::support::builder::Builder;

impl<'c> Lifted<'c> {
    /// Combines in an accumulator's own type what is rounded to it afterwards.
    pub fn rounding(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
        let (Some(wide), Some(result)) = (ir::operand(op, 0), ir::result(op, 0)) else {
            return;
        };
        let Some(ty) = types::scalar_type(result.r#type()) else {
            return;
        };
        let Some(step) = self.step(wide).filter(|_| rounding_mode(op).is_none()) else {
            return;
        };
        let base = extended(step.base, ty).filter(|_| loses_nothing(&step, ty, op.block()));
        let Some(base) = base else {
            return;
        };
        let element = match step.element {
            Element::Value(e) => rounded(builder, e, ty),
            Element::Negated(e) => {
                let e = rounded(builder, e, ty);
                builder.op(ops::arith::NEGF, &[e], &[e.r#type()], &[])[0]
            }
            Element::Product(..) | Element::Number(..) => return,
        };
        let combined = builder.binary(&step.family.operation(), base, element);
        self.replace(result, combined);
        self.erase(op);
        self.erase_unused(wide);
    }
}

/// Returns whether an element may be rounded before it is combined.
fn loses_nothing(step: &Step, ty: ScalarType, body: Option<BlockRef>) -> bool {
    let sums = [Builtin::Addf, Builtin::Mulf].map(Family::Builtin);
    match step.element {
        _ if !sums.contains(&step.family) => true,
        Element::Value(e) | Element::Negated(e) => is_narrow(e, ty, &|e| made(e, body)),
        Element::Product(..) | Element::Number(..) => false,
    }
}

/// The way that a value is made, as the body itself shows: the definition sees no more.
fn made<'c>(value: Val<'c>, body: Option<BlockRef>) -> Made<Val<'c>> {
    let is_inside = |op: &Op| ir::ancestors(*op).any(|op| op.block() == body);
    let Some(op) = ir::defining_op(value).filter(is_inside) else {
        return Made::Otherwise;
    };
    let made = match ir::name_of(op) {
        ops::arith::CONSTANT => {
            let number = ir::attribute(op, "value").and_then(types::scalar);
            number.map(Made::Constant)
        }
        ops::arith::EXTF => {
            let type_before = ir::operand(op, 0).and_then(|of| types::scalar_type(of.r#type()));
            type_before.map(Made::Extended)
        }
        ops::arith::NEGF => ir::operand(op, 0).map(Made::Negated),
        ops::arith::SELECT => {
            let operands = [1, 2].into_iter().filter_map(|n| ir::operand(op, n));
            Some(Made::OneOf(operands.collect()))
        }
        _ => None,
    };
    made.unwrap_or(Made::Otherwise)
}

/// The number of a narrower type that a value is.
fn extended(value: Val, ty: ScalarType) -> Option<Val> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::EXTF)?;
    ir::operand(op, 0).filter(|of| types::scalar_type(of.r#type()) == Some(ty))
}

/// A number rounded to a type.
fn rounded<'c>(builder: &mut Builder<'c>, value: Val<'c>, ty: ScalarType) -> Val<'c> {
    let wide = extended(value, ty);
    wide.unwrap_or_else(|| builder.convert(ops::arith::TRUNCF, value, ty))
}
