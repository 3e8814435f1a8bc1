//! Round robin: techniques take turns.

use super::search::{Search, Technique};
use crate::space::Point;

/// Techniques that take turns.
pub(super) struct RoundRobin {
    arms: Vec<Box<dyn Technique>>,
    chosen: usize,
}

impl RoundRobin {
    pub(super) fn new(arms: Vec<Box<dyn Technique>>) -> RoundRobin {
        RoundRobin { chosen: 0, arms }
    }
}

impl Technique for RoundRobin {
    fn name(&self) -> &str {
        "round-robin"
    }

    fn propose(&mut self, search: &Search<'_>, most: usize) -> Vec<Point> {
        for _ in 0..self.arms.len() {
            self.chosen = (self.chosen + 1) % self.arms.len();
            let proposed = self.arms[self.chosen].propose(search, most);
            if !proposed.is_empty() {
                return proposed;
            }
        }
        Vec::new()
    }

    fn learn(&mut self, search: &Search<'_>, results: &[(Point, f64)]) {
        self.arms[self.chosen].learn(search, results);
    }

    fn chosen(&self) -> &str {
        self.arms[self.chosen].chosen()
    }
}
