//! Random search: each point that is not known yet is as probable as every other.

use rand_pcg::Pcg64Mcg;

use super::search::{Known, Search, Technique};
use crate::space::{Point, Space};

/// Random search.
pub(super) struct Random {
    random: Pcg64Mcg,
}

impl Random {
    pub(super) fn new(random: Pcg64Mcg) -> Random {
        Random { random }
    }
}

impl Technique for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn propose(&mut self, search: &Search<'_>, most: usize) -> Vec<Point> {
        let mut proposed = Vec::new();
        while proposed.len() < most {
            match unseen(search.space, search.known, &proposed, &mut self.random) {
                Some(point) => proposed.push(point),
                None => break,
            }
        }
        proposed
    }
}

/// A random point that is neither known nor among those taken; none if there is no such point.
pub(super) fn unseen(
    space: &Space,
    known: &Known,
    taken: &[Point],
    random: &mut Pcg64Mcg,
) -> Option<Point> {
    let is_new = |point: &Point| known.cost(point).is_none() && !taken.contains(point);
    for _ in 0..50 {
        let point = space.sample(random);
        if is_new(&point) {
            return Some(point);
        }
    }
    // Most points are known, so the space is hardly larger than what is known.
    let first = space.sample(random);
    let mut point = first.clone();
    loop {
        if is_new(&point) {
            return Some(point);
        }
        point = space.next(&point).unwrap_or_else(|| space.first());
        if point == first {
            return None;
        }
    }
}
