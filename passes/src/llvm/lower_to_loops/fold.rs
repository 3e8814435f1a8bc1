//! The combine operators' function on whole tuples, and tuples that may be absent.

use mdh_algebra::computation::Computation;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use melior::ir::{Attribute, Type, ValueLike};

use crate::support::builder::Builder;
use crate::support::inline::inline;

/// A tuple that may be absent: nothing has been combined yet.
#[derive(Clone)]
pub struct Partial<'c> {
    /// Its components.
    pub values: Vec<Val<'c>>,
    /// `None` where it is always there.
    pub valid: Option<Val<'c>>,
}

impl<'c> Partial<'c> {
    /// The values that a loop carries.
    pub fn pack(&self) -> Vec<Val<'c>> {
        self.values.iter().copied().chain(self.valid).collect()
    }

    /// The tuple of this shape in the values that a loop carries.
    pub fn unpack(&self, packed: &[Val<'c>]) -> Partial<'c> {
        let (values, valid) = packed.split_at(self.values.len());
        Partial {
            values: values.to_vec(),
            valid: valid.first().copied(),
        }
    }

    /// The same tuple in the shape that a loop carries: with a valid bit if `like` has one.
    pub fn kept_valid(mut self, like: &Partial<'c>, builder: &mut Builder<'c>) -> Partial<'c> {
        if like.valid.is_some() && self.valid.is_none() {
            self.valid = Some(builder.boolean(true));
        }
        self
    }
}

/// The function of a computation's combine operator.
pub struct Fold<'c, 'p> {
    /// The operation, whose second region it may be.
    pub op: Op<'c>,
    /// The operation, as data.
    pub computation: &'p Computation,
}

impl<'c> Fold<'c, '_> {
    /// The tuple before anything has been combined: the neutral element where there is one.
    ///
    /// A sum to which something is carried in starts from -0.0, the only number that also leaves -0.0 as it is.
    /// Others start from 0.0, as sums are written whose start raising has left out.
    pub fn nothing(&self, builder: &mut Builder<'c>) -> Partial<'c> {
        let components = &self.computation.components;
        let is_carried = self.computation.carries.iter().any(|c| !c.has_valid_bit);
        match self.computation.operators.first() {
            Some(Operator::Builtin(operators)) => {
                let pairs = operators.iter().zip(components);
                let neutral = |(op, ty): (&Builtin, &ScalarType)| match op {
                    Builtin::Addf if is_carried => Scalar::from_f64(*ty, -0.0),
                    _ => op.neutral(*ty).unwrap_or_else(|| Scalar::zero(*ty)),
                };
                let values = pairs.map(|pair| builder.scalar(neutral(pair))).collect();
                Partial {
                    values,
                    valid: None,
                }
            }
            Some(Operator::User(operator)) if operator.neutral.is_some() => {
                let neutral = operator.neutral.iter().flatten();
                Partial {
                    values: neutral.map(|v| builder.scalar(*v)).collect(),
                    valid: None,
                }
            }
            _ => {
                let values = components
                    .iter()
                    .map(|ty| builder.scalar(Scalar::zero(*ty)))
                    .collect();
                Partial {
                    values,
                    valid: Some(builder.boolean(false)),
                }
            }
        }
    }

    /// `f(left, right)` on whole tuples.
    pub fn apply(
        &self,
        builder: &mut Builder<'c>,
        left: &[Val<'c>],
        right: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        match self.computation.operators.first() {
            Some(Operator::Builtin(operators)) => {
                let pairs = left.iter().zip(right).zip(operators);
                pairs
                    .map(|((a, b), op)| builtin(builder, *op, *a, *b))
                    .collect()
            }
            _ => {
                let arguments: Vec<Val> = left.iter().chain(right).copied().collect();
                inline(builder, ir::region(self.op, 1), &arguments, &[])
            }
        }
    }

    /// `f(left, right)` where either may be absent.
    pub fn combine(
        &self,
        builder: &mut Builder<'c>,
        left: &Partial<'c>,
        right: &Partial<'c>,
    ) -> Partial<'c> {
        let types: Vec<Type> = right.values.iter().map(|v| v.r#type()).collect();
        let both = |builder: &mut Builder<'c>| self.apply(builder, &left.values, &right.values);
        let right_if_there = |builder: &mut Builder<'c>| match right.valid {
            None => both(builder),
            Some(valid) => builder.if_else(valid, &types, both, |_| left.values.clone()),
        };
        let values = match left.valid {
            None => right_if_there(builder),
            Some(valid) => builder.if_else(valid, &types, right_if_there, |_| right.values.clone()),
        };
        let valid = match (left.valid, right.valid) {
            (Some(a), Some(b)) => Some(builder.binary(ops::arith::ORI, a, b)),
            _ => None,
        };
        Partial { values, valid }
    }
}

fn builtin<'c>(builder: &mut Builder<'c>, op: Builtin, a: Val<'c>, b: Val<'c>) -> Val<'c> {
    let name = format!("arith.{}", op.name());
    if !matches!(op, Builtin::Addf | Builtin::Mulf) {
        return builder.op(&name, &[a, b], &[a.r#type()], &[])[0];
    }
    // `pw(addf)` licenses any order of the sum; that is what the attribute says to LLVM.
    let reassociate = Attribute::parse(builder.context, "#arith.fastmath<reassoc>");
    let reassociate = reassociate.expect("arith is loaded: its operations are being built");
    builder.op(&name, &[a, b], &[a.r#type()], &[("fastmath", reassociate)])[0]
}
