//! Exhaustive search: all points, in order.

use super::search::{Search, Technique};
use crate::space::Point;

/// Exhaustive search.
#[derive(Default)]
pub(super) struct Exhaustive {
    last: Option<Point>,
}

impl Technique for Exhaustive {
    fn name(&self) -> &str {
        "exhaustive"
    }

    fn propose(&mut self, search: &Search<'_>, most: usize) -> Vec<Point> {
        let mut proposed = Vec::new();
        while proposed.len() < most {
            let next = match &self.last {
                None => Some(search.space.first()),
                Some(last) => search.space.next(last),
            };
            let Some(point) = next else { break };
            if search.known.cost(&point).is_none() {
                proposed.push(point.clone());
            }
            self.last = Some(point);
        }
        proposed
    }
}
