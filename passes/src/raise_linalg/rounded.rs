//! Floats that are accumulated in a wider type, and rounded to their own with each element, as those
//! accumulated in their own type.
//!
//! `truncf(extf(acc) + e)` is `acc + truncf(e)`. Where `e` is an element of the accumulator's type, or a product of
//! two, this holds bit for bit: the wider type has more than twice as many digits, so that what is rounded twice
//! is rounded once, and so it does for minima and maxima of any elements. Any other element is rounded by
//! itself then, as linalg allows: combined in another order, it may be the first one that a neutral element meets.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::scalar_code::rounding_mode;
use mdh_dialect::{ops, types};
use melior::ir::ValueLike;

use super::masks::Lifted;
use super::steps::Element;
use crate::builder::Builder;

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
        let Some(base) = extended(step.base, ty) else {
            return;
        };
        let element = match step.element {
            Element::Value(e) => rounded(builder, e, ty),
            Element::Negated(e) => {
                let e = rounded(builder, e, ty);
                builder.op(ops::arith::NEGF, &[e], &[e.r#type()], &[])[0]
            }
            Element::Product(a, b) => match (extended(a, ty), extended(b, ty)) {
                (Some(a), Some(b)) => builder.binary(ops::arith::MULF, a, b),
                _ => builder.convert(ops::arith::TRUNCF, step.element(), ty),
            },
            Element::Number(..) => return,
        };
        let own = builder.binary(&step.family.operation(), base, element);
        self.replace(result, own);
        self.erase(op);
        self.erase_unused(wide);
    }
}

/// The number of a narrower type that a value is.
fn extended(value: Val, ty: ScalarType) -> Option<Val> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::EXTF)?;
    ir::operand(op, 0).filter(|of| types::scalar_type(of.r#type()) == Some(ty))
}

/// A number rounded to a type: a product of two numbers of that type is their product in it.
fn rounded<'c>(builder: &mut Builder<'c>, value: Val<'c>, ty: ScalarType) -> Val<'c> {
    if let Some(own) = extended(value, ty) {
        return own;
    }
    let product = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::MULF);
    let factors = product.map(|op| [0, 1].map(|n| extended(ir::operand(op, n)?, ty)));
    match factors {
        Some([Some(a), Some(b)]) => builder.binary(ops::arith::MULF, a, b),
        _ => builder.convert(ops::arith::TRUNCF, value, ty),
    }
}
