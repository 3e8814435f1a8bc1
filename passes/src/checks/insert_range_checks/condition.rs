//! Truth values that may be known now.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use crate::support::builder::{Builder, known};

/// A condition of a run-time check.
#[derive(Clone, Copy)]
pub enum Condition<'c> {
    /// Known now.
    Known(bool),
    /// A value of type i1.
    Value(Val<'c>),
}

impl<'c> Condition<'c> {
    /// Both hold.
    pub fn and(self, builder: &mut Builder<'c>, other: Condition<'c>) -> Condition<'c> {
        match (self, other) {
            (Condition::Known(true), c) | (c, Condition::Known(true)) => c,
            (Condition::Known(false), _) | (_, Condition::Known(false)) => Condition::Known(false),
            (Condition::Value(a), Condition::Value(b)) => {
                Condition::Value(builder.binary(ops::arith::ANDI, a, b))
            }
        }
    }

    /// One holds.
    pub fn or(self, builder: &mut Builder<'c>, other: Condition<'c>) -> Condition<'c> {
        match (self, other) {
            (Condition::Known(false), c) | (c, Condition::Known(false)) => c,
            (Condition::Known(true), _) | (_, Condition::Known(true)) => Condition::Known(true),
            (Condition::Value(a), Condition::Value(b)) => {
                Condition::Value(builder.binary(ops::arith::ORI, a, b))
            }
        }
    }

    /// Or the result of a longer computation, which runs only if it must.
    pub fn or_else(
        self,
        builder: &mut Builder<'c>,
        longer: impl FnOnce(&mut Builder<'c>) -> Val<'c>,
    ) -> Condition<'c> {
        match self {
            Condition::Known(true) => self,
            Condition::Known(false) => Condition::Value(longer(builder)),
            Condition::Value(value) => {
                let ty = melior::ir::ValueLike::r#type(&value);
                let result = builder.if_else(
                    value,
                    &[ty],
                    |builder| vec![builder.boolean(true)],
                    |builder| vec![longer(builder)],
                );
                Condition::Value(result[0])
            }
        }
    }

    /// As a value.
    pub fn value(self, builder: &mut Builder<'c>) -> Val<'c> {
        match self {
            Condition::Known(truth) => builder.boolean(truth),
            Condition::Value(value) => value,
        }
    }
}

/// A comparison of two values of type index by arith's predicate (`slt`, `ult`, ...).
pub fn compare<'c>(
    builder: &mut Builder<'c>,
    predicate: &str,
    lhs: Val<'c>,
    rhs: Val<'c>,
) -> Condition<'c> {
    if let (Some(a), Some(b)) = (known(lhs), known(rhs)) {
        let truth = match predicate {
            "eq" => Some(a == b),
            "slt" => Some(a < b),
            "sle" => Some(a <= b),
            "sgt" => Some(a > b),
            "sge" => Some(a >= b),
            "ult" => Some((a as u64) < b as u64),
            _ => None,
        };
        if let Some(truth) = truth {
            return Condition::Known(truth);
        }
    }
    Condition::Value(builder.compare(predicate, lhs, rhs))
}
