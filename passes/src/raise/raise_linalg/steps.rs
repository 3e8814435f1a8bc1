//! Single operations that take what is accumulated further, as `base OP element` by a known operator.
//!
//! One description for all that asks: chains of such operations, and those under a condition.

use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::selection;
use crate::support::builder::Builder;

/// An operator that is associative and commutative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// One of the algebra.
    Builtin(Builtin),
    /// An operation of two operands that is not built in.
    Named(&'static str),
}

/// The other side of a base.
#[derive(Clone, Copy)]
pub enum Element<'c> {
    /// A value.
    Value(Val<'c>),
    /// Its opposite.
    Negated(Val<'c>),
    /// A product.
    Product(Val<'c>, Val<'c>),
    /// A value, or this number where it is none.
    Number(Val<'c>, f64),
}

/// One application of an operator.
#[derive(Clone, Copy)]
pub struct Step<'c> {
    /// The operation, or the last one of several, whose result this is.
    pub op: Op<'c>,
    /// The operator.
    pub family: Family,
    /// The value that is taken further.
    pub base: Val<'c>,
    /// The other side.
    pub element: Element<'c>,
}

impl Family {
    /// The name of its operation.
    pub fn operation(self) -> String {
        match self {
            Family::Builtin(operator) => format!("arith.{}", operator.name()),
            Family::Named(name) => name.to_owned(),
        }
    }

    fn named(name: &str) -> Option<Self> {
        let named = [ops::arith::MAXNUMF, ops::arith::MINNUMF];
        let named = named.into_iter().find(|own| *own == name);
        let builtin = name.strip_prefix("arith.").and_then(Builtin::parse);
        builtin.map(Family::Builtin).or(named.map(Family::Named))
    }

    /// The element that leaves any value of a type as it is, bit for bit: a sum of floats has -0.0, since
    /// +0.0 would change it; `maxnumf` passes over NaN.
    pub fn neutral(self, of: Val) -> Option<Scalar> {
        let ty = types::scalar_type(of.r#type())?;
        match self {
            Family::Builtin(Builtin::Addf) => Some(Scalar::from_f64(ty, -0.0)),
            Family::Builtin(operator) => operator.neutral(ty),
            Family::Named(_) => Some(Scalar::from_f64(ty, f64::NAN)),
        }
    }
}

impl<'c> Step<'c> {
    /// Reads an operation of which one operand depends on what is accumulated, and is no factor.
    pub fn new(op: Op<'c>, depends: impl Fn(Val<'c>) -> bool) -> Option<Self> {
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let name = ir::name_of(op);
        let sum = |operator| Some(Family::Builtin(operator));
        let (family, base, element) = match (name, &operands[..]) {
            (ops::arith::SUBF, [a, e]) => (sum(Builtin::Addf), *a, Element::Negated(*e)),
            (ops::arith::SUBI, [a, e]) => (sum(Builtin::Addi), *a, Element::Negated(*e)),
            (ops::math::FMA, [a, b, c]) => (sum(Builtin::Addf), *c, Element::Product(*a, *b)),
            (_, [a, e]) if depends(*a) => (Family::named(name), *a, Element::Value(*e)),
            (_, [e, a]) => (Family::named(name), *a, Element::Value(*e)),
            _ => return None,
        };
        let step = Step {
            op,
            family: family?,
            base,
            element,
        };
        let is_free = step.used().into_iter().all(|v| !depends(v));
        (depends(base) && is_free).then_some(step)
    }

    /// The values that its element is made of.
    pub fn used(&self) -> Vec<Val<'c>> {
        match self.element {
            Element::Value(v) | Element::Negated(v) | Element::Number(v, _) => vec![v],
            Element::Product(a, b) => vec![a, b],
        }
    }

    /// Makes its element, before the operation.
    pub fn element(&self) -> Val<'c> {
        let mut builder = Builder::before(self.op);
        match self.element {
            Element::Value(value) => value,
            Element::Number(value, number) => selection::number(&mut builder, value, number),
            Element::Product(a, b) => builder.binary(ops::arith::MULF, a, b),
            Element::Negated(value) => match types::scalar_type(value.r#type()) {
                Some(ty) if !ty.is_float() => {
                    let zero = builder.scalar(Scalar::zero(ty));
                    builder.binary(ops::arith::SUBI, zero, value)
                }
                _ => builder.op(ops::arith::NEGF, &[value], &[value.r#type()], &[])[0],
            },
        }
    }
}
