//! Conditions under which a mapping is one-to-one: proved, refuted, or kept to be checked at run
//! time.

use super::space::known;
use crate::index::{Expr, Facts};

/// Conditions that are neither proved nor refuted.
pub(super) struct Conditions<'f> {
    pub(super) facts: &'f Facts,
    pub(super) open: Vec<Expr>,
}

impl Conditions<'_> {
    /// False if a condition is refuted. What is not proved is kept.
    pub(super) fn hold(&mut self, condition: Expr) -> bool {
        let condition = known(self.facts, condition);
        match condition.as_constant() {
            Some(value) => value != 0,
            None => {
                if !self.open.contains(&condition) {
                    self.open.push(condition);
                }
                true
            }
        }
    }
}
