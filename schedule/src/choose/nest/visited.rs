//! The share of its points that a core visits, where conditions on indices narrow loops.
//!
//! Parts of a triangle are not equally large. Cores take the next part when they have done theirs, so
//! that several parts for each of them even that out.

use super::Search;
use mdh_algebra::domain::Grid;

/// The points that the busiest core visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Visits {
    /// In parts whose points are all visited.
    pub(super) points: f64,
    /// In parts.
    pub(super) parts: f64,
}

/// Parts for each core that are tried where parts are not equally large.
const PARTS: [i64; 3] = [1, 4, 8];

impl Search<'_> {
    /// The parts of a dimension that cores may share.
    pub(super) fn shares(&self, d: usize) -> Vec<Vec<(usize, i64)>> {
        let decides = self.support.dimensions().any(|own| own == d);
        let blocks = self.views.size(d) / self.block.points(d).max(1);
        let parts = PARTS.into_iter().map(|parts| parts * self.facts.cores);
        let mut parts: Vec<i64> = parts.filter(|parts| decides && *parts <= blocks).collect();
        if parts.is_empty() {
            parts.push(self.facts.cores);
        }
        parts.into_iter().map(|parts| vec![(d, parts)]).collect()
    }

    /// Visits of the busiest core.
    pub(super) fn visits(&self, cores: &[(usize, i64)]) -> Visits {
        if self.support.is_everything() {
            return Visits {
                points: 1.0,
                parts: 1.0,
            };
        }
        let mut known = self.visits.borrow_mut();
        if let Some((_, visits)) = known.iter().find(|(own, _)| own == cores) {
            return *visits;
        }
        let visits = self.counted(cores);
        known.push((cores.to_vec(), visits));
        visits
    }

    fn counted(&self, cores: &[(usize, i64)]) -> Visits {
        let dimensions = self.computation.dimensions.iter().enumerate();
        let whole: Vec<Grid> = dimensions
            .map(|(d, dimension)| {
                let lower = dimension.lower.unwrap_or(0);
                let upper = lower.saturating_add(self.views.size(d));
                let upper = dimension.upper.unwrap_or(upper);
                Grid {
                    lower,
                    ..Grid::dense(upper)
                }
            })
            .collect();
        let mut parts = vec![whole];
        for (d, count) in cores {
            let cut = |grids: &Vec<Grid>| -> Vec<Vec<Grid>> {
                let Grid { lower, upper, .. } = grids[*d];
                let at = |n: i64| {
                    let span = i128::from(upper) - i128::from(lower);
                    let distance = span * i128::from(n) / i128::from(*count);
                    lower.saturating_add(i64::try_from(distance).unwrap_or(i64::MAX))
                };
                let part = |n: i64| {
                    let mut part = grids.clone();
                    (part[*d].lower, part[*d].upper) = (at(n), at(n + 1));
                    part
                };
                (0..*count).map(part).collect()
            };
            parts = parts.iter().flat_map(cut).collect();
        }
        let count = self.facts.cores.max(1) as usize;
        let mut busy = vec![(0.0_f64, 0.0_f64); count];
        for part in &parts {
            let next = busy.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((points, parts)) = next {
                *points += self.support.share(part);
                *parts += 1.0;
            }
        }
        let most = busy
            .into_iter()
            .reduce(|a, b| if b.0 > a.0 { b } else { a });
        let (points, parts) = most.unwrap_or((1.0, 1.0));
        // Tiles straddle the edges of what is visited.
        Visits {
            points: points.max(1.0 / 64.0),
            parts,
        }
    }
}

#[cfg(test)]
#[path = "visited_tests.rs"]
mod tests;
