//! Options and licences of raising.

use mdh_dialect::ir::Op;
use mdh_dialect::marks;
use melior::ir::Region;

use super::operators::Operator;
use super::selection;

/// Assertions at run time.
#[derive(Clone, Copy, PartialEq)]
pub enum Checks {
    On,
    Off,
}

/// Laws that a program grants to operators that are not known to have them.
#[derive(Clone, Copy, Default)]
pub struct Licence<'c> {
    /// The attribute or option that grants it.
    pub associative: Option<&'static str>,
    pub commutative: bool,
    /// The digest of the one operator that has these laws; without it, that which is found.
    pub digest: Option<&'c str>,
}

impl<'c> Licence<'c> {
    pub fn new(op: Op<'c>, all: bool) -> Self {
        let mark = marks::ASSOCIATIVE;
        Licence {
            associative: match mark.is_on(op) {
                true => Some(mark.name),
                false => all.then_some("associative"),
            },
            commutative: marks::COMMUTATIVE.is_on(op),
            digest: mark.text(op),
        }
    }

    /// Returns whether its laws may be those of an operator with this code.
    pub fn is_for(&self, code: &Region) -> bool {
        self.digest
            .is_none_or(|own| selection::digest(code).as_deref() == Some(own))
    }

    /// The part of it that the operator which is found is granted.
    pub fn of_operator(self, operator: &Operator) -> Self {
        match operator {
            Operator::Own(own) if !self.is_for(&own.code) => Licence::default(),
            _ => self,
        }
    }
}
