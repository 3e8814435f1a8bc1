//! Options and licences of raising.

use mdh_dialect::ir::Op;
use mdh_dialect::marks;

/// Assertions at run time.
#[derive(Clone, Copy, PartialEq)]
pub enum Checks {
    On,
    Off,
}

/// Laws that a program grants to operators that are not known to have them.
#[derive(Clone, Copy, Default)]
pub struct Licence {
    /// The attribute or option that grants it.
    pub associative: Option<&'static str>,
    pub commutative: bool,
}

impl Licence {
    pub fn of(op: Op, all: bool) -> Self {
        let mark = marks::ASSOCIATIVE;
        Licence {
            associative: match mark.is_on(op) {
                true => Some(mark.name),
                false => all.then_some("associative"),
            },
            commutative: marks::COMMUTATIVE.is_on(op),
        }
    }
}
