//! Several partitions over one default array (SAC's with-loop), made disjoint.
//!
//! Partitions may overlap, and the later one wins. One after the other that is so by itself; side
//! by side it is only if no two write the same element. So each partition keeps the points that no
//! later one has: a predicate on its index, like that of an index that is discarded. What no
//! partition has is the default array's.

use super::conditions::Conditions;
use super::space::{GridAxis, Space};
use crate::index::{Expr, Facts, normal};

/// Partitions of one array, of which the later one wins.
#[derive(Clone, Debug)]
pub struct WithLoop {
    partitions: Vec<Space>,
    facts: Facts,
}

impl WithLoop {
    /// These partitions, the first one first.
    ///
    /// # Errors
    /// If they have different ranks, or one is malformed.
    pub fn new(partitions: Vec<Space>, facts: &Facts) -> Result<WithLoop, String> {
        let rank = partitions.first().map_or(0, Space::rank);
        for (n, space) in partitions.iter().enumerate() {
            if space.rank() != rank {
                return Err(format!(
                    "partition {n}: found {} dimensions, expected {rank} as in the first",
                    space.rank()
                ));
            }
            let mut conditions = Conditions {
                facts,
                open: vec![],
            };
            let checked = space.check(&mut conditions);
            checked.map_err(|m| format!("partition {n}: {m}"))?;
        }
        let facts = facts.clone();
        Ok(WithLoop { partitions, facts })
    }

    /// The partitions.
    pub fn partitions(&self) -> &[Space] {
        &self.partitions
    }

    /// Returns whether a partition computes one of its indices: 1 unless a later one has it, too. `None` if
    /// no later one can.
    pub fn wins(&self, partition: usize, index: &[Expr]) -> Option<Expr> {
        let current = &self.partitions[partition];
        let later = self.partitions[partition + 1..].iter();
        let rivals = later.filter(|other| !self.are_apart(current, other));
        let lost = rivals.map(|other| other.contains(&self.facts, index).equals(0));
        lost.reduce(|both, next| both.and(next))
    }

    /// 1 for an index that no partition has: it keeps the default array's element.
    pub fn is_default(&self, index: &[Expr]) -> Expr {
        let none = self.partitions.iter();
        let none = none.map(|space| space.contains(&self.facts, index).equals(0));
        none.reduce(|all, one| all.and(one))
            .unwrap_or(Expr::constant(1))
    }

    /// Returns whether two are proved to have no point in common.
    fn are_apart(&self, a: &Space, b: &Space) -> bool {
        let before = |a: &GridAxis, b: &GridAxis| normal::at_most(&self.facts, &a.upper, &b.lower);
        let mut axes = a.axes.iter().zip(&b.axes);
        axes.any(|(a, b)| before(a, b) || before(b, a))
    }
}
