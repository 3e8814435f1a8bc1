//! Sizes of tiles, trip counts and tails, once the numbers of points are known.

use super::numbers::ceil_div;
use super::resolved::{Level, Resolved};

/// The numbers that parameter 0 amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Points of each dimension.
    pub points: Vec<i64>,
    /// Part counts, `[layer][dimension]`.
    pub counts: Vec<Vec<i64>>,
    /// Points of one part, `[layer][dimension]`: the product of the counts inside.
    pub sizes: Vec<Vec<i64>>,
}

/// Point numbers of one dimension that a tile holds, from the first on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// From the first to the last.
    pub reach: i64,
    /// All of them lie a multiple of this apart; at least 1.
    pub step: i64,
}

/// Division of a dimension into the parts of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Parts that are full.
    pub whole: i64,
    /// Points of the part that is not; 0 if there is none.
    pub rest: i64,
}

impl Resolved {
    /// The numbers for these points of each dimension; those that are `None` are as in
    /// [`Resolved::points`]. `None` if some are not known.
    pub fn tiles(&self, points: &[Option<i64>]) -> Option<Tiles> {
        let known = |d: usize| points.get(d).copied().flatten().or(self.points[d]);
        let points: Vec<i64> = (0..self.points.len()).map(known).collect::<Option<_>>()?;
        let row = |row: &Vec<super::Count>| {
            let pairs = row.iter().zip(&points);
            pairs
                .map(|(count, points)| count.for_points(Some(*points)))
                .collect()
        };
        let counts: Vec<Vec<i64>> = self.counts.iter().map(row).collect::<Option<_>>()?;
        let mut sizes = vec![vec![1i64; points.len()]; counts.len()];
        for l in (1..counts.len()).rev() {
            for d in 0..points.len() {
                sizes[l - 1][d] = sizes[l][d].saturating_mul(counts[l][d]);
            }
        }
        Some(Tiles {
            points,
            counts,
            sizes,
        })
    }
}

impl Tiles {
    /// Parts of a level.
    pub fn count(&self, level: Level) -> i64 {
        self.counts[level.layer][level.dimension]
    }

    /// Points of one part of a level, in its dimension.
    pub fn size(&self, level: Level) -> i64 {
        self.sizes[level.layer][level.dimension]
    }

    /// Returns the part of a level that holds point number `n` of its dimension.
    pub fn part(&self, level: Level, n: i64) -> i64 {
        (n / self.size(level).max(1)) % self.count(level).max(1)
    }

    /// Returns the trip count of a level's loop where `points` are left for it.
    pub fn trips(&self, level: Level, points: i64) -> i64 {
        let needed = ceil_div(points.max(0), self.size(level).max(1));
        needed.min(self.count(level))
    }

    /// Returns the division of the dimension into the level's parts.
    pub fn tail(&self, level: Level) -> Tail {
        let (points, size) = (self.points[level.dimension], self.size(level).max(1));
        Tail {
            whole: points / size,
            rest: points % size,
        }
    }

    /// Returns whether some level of a dimension has a part that is not full.
    pub fn has_tail(&self, dimension: usize) -> bool {
        let tail = |layer| self.tail(Level { layer, dimension }).rest != 0;
        (0..self.counts.len()).any(tail)
    }

    /// For each dimension, the point numbers that agree in all levels but `free` ones: the span
    /// of a tile.
    pub fn spans(&self, free: impl IntoIterator<Item = Level>) -> Vec<Span> {
        let mut spans = vec![Span { reach: 0, step: 0 }; self.points.len()];
        for level in free {
            let steps = (self.count(level) - 1).max(0);
            if steps > 0 {
                let more = steps.saturating_mul(self.size(level));
                let span = &mut spans[level.dimension];
                span.reach = span.reach.saturating_add(more);
                span.step = gcd(span.step, self.size(level));
            }
        }
        for (span, points) in spans.iter_mut().zip(&self.points) {
            span.reach = span.reach.min((points - 1).max(0));
            span.step = span.step.max(1);
        }
        spans
    }
}

pub(super) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 {
        a.saturating_abs()
    } else {
        gcd(b, a % b)
    }
}
