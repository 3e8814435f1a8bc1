//! Linear index functions of which neither the coefficients nor a corner of the domain decide.
//!
//! Two points are written to one element if the index function is 0 on their difference. So all
//! vectors of differences are gone through, variable by variable: whatever the other variables
//! can no longer make up for is left out. The points themselves need not be enumerated.

use super::{Clash, Space, View};
use crate::affine::Expr;

/// So many steps are taken at most.
const STEPS: usize = 1 << 16;

/// Describes what a search found.
pub(super) enum Search {
    /// No two points differ by a vector that is mapped to 0.
    Injective,
    /// Two do.
    Clash(Clash),
    /// Something is not linear or not known, or there are too many vectors.
    Unknown,
}

/// Looks for two points from which one access writes the same element.
pub(super) fn search(access: usize, map: &[Expr], view: &View, space: &Space) -> Search {
    let Some(mut differences) = Differences::new(view, space) else {
        return Search::Unknown;
    };
    let sums = vec![0; view.axes.len()];
    differences.extend(0, &sums);
    let Some(found) = differences.found.take() else {
        return match differences.steps < STEPS {
            true => Search::Injective,
            false => Search::Unknown,
        };
    };
    let (Some(first), Some(second)) = (
        space.point(&found.iter().map(|d| (-d).max(0)).collect::<Vec<_>>()),
        space.point(&found.iter().map(|d| (*d).max(0)).collect::<Vec<_>>()),
    ) else {
        return Search::Unknown;
    };
    let (first, second) = (first.clone().min(second.clone()), first.max(second));
    let index: Option<Vec<i64>> = map.iter().map(|e| e.eval(&first)).collect();
    index.map_or(Search::Unknown, |index| {
        Search::Clash(Clash {
            index,
            first: (access, first),
            second: (access, second),
        })
    })
}

impl Space {
    /// The point with these values of the variables, if it is one of the domain.
    fn point(&self, values: &[i128]) -> Option<Vec<i64>> {
        let lower = self.lower.iter().map(|l| l.map(i128::from));
        let mut point: Vec<i128> = lower.collect::<Option<_>>()?;
        for (variable, value) in self.variables.iter().zip(values) {
            point[variable.dimension] += variable.factor * value;
        }
        let point = point.into_iter().map(|i| i64::try_from(i).ok());
        let point: Vec<i64> = point.collect::<Option<_>>()?;
        let mut pairs = self.grids.iter().zip(&point);
        let is_there = pairs.all(|(grid, i)| grid.is_some_and(|grid| grid.number(*i).is_some()));
        is_there.then_some(point)
    }
}

/// The state of a search, depth first.
struct Differences<'a> {
    space: &'a Space,
    /// The variables in the order in which they are chosen: those that move an index most first.
    order: Vec<usize>,
    /// Of each axis, the coefficients of all variables.
    rows: Vec<&'a [i128]>,
    /// Of each variable, the largest value.
    spans: Vec<i128>,
    /// Holds what variables from a place in the order on can add to an axis: `reach[place][axis]`.
    reach: Vec<Vec<i128>>,
    /// The difference of each variable so far.
    chosen: Vec<i128>,
    found: Option<Vec<i128>>,
    steps: usize,
}

impl<'a> Differences<'a> {
    fn new(view: &'a View, space: &'a Space) -> Option<Self> {
        let rows = view
            .axes
            .iter()
            .map(|r| Some(&r.as_ref()?.coefficients[..]));
        let rows: Vec<&[i128]> = rows.collect::<Option<_>>()?;
        let spans = space.variables.iter().map(|v| v.span);
        let spans: Vec<i128> = spans.collect::<Option<_>>()?;
        let weight = |v: usize| rows.iter().map(|row| row[v].unsigned_abs()).max();
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_by_key(|v| std::cmp::Reverse(weight(*v)));
        let mut reach = vec![vec![0i128; rows.len()]];
        for v in order.iter().rev() {
            let below = &reach[reach.len() - 1];
            let more = rows.iter().zip(below).map(|(row, below)| {
                row[*v]
                    .checked_abs()?
                    .checked_mul(spans[*v])?
                    .checked_add(*below)
            });
            reach.push(more.collect::<Option<_>>()?);
        }
        reach.reverse();
        Some(Differences {
            space,
            order,
            rows,
            chosen: vec![0; spans.len()],
            spans,
            reach,
            found: None,
            steps: 0,
        })
    }

    /// Chooses the difference of the variable at a place of the order, and those that follow;
    /// `sums` is what those before it add to each axis.
    fn extend(&mut self, place: usize, sums: &[i128]) {
        let Some(&variable) = self.order.get(place) else {
            self.end();
            return;
        };
        let Some((least, most)) = self.range(place, variable, sums) else {
            return;
        };
        for difference in least..=most {
            self.steps += 1;
            if self.steps >= STEPS || self.found.is_some() {
                return;
            }
            let rows = self.rows.iter().zip(sums);
            let next = rows.map(|(row, sum)| sum + row[variable] * difference);
            let next: Vec<i128> = next.collect();
            self.chosen[variable] = difference;
            self.extend(place + 1, &next);
            self.chosen[variable] = 0;
        }
    }

    /// The differences for which the variables that follow can make every axis 0 again. Of a
    /// vector and its opposite, that is enough whose first number is positive.
    fn range(&self, place: usize, variable: usize, sums: &[i128]) -> Option<(i128, i128)> {
        let is_first = self.chosen.iter().all(|d| *d == 0);
        let span = self.spans[variable];
        let (mut least, mut most) = (if is_first { 0 } else { -span }, span);
        for ((row, sum), reach) in self.rows.iter().zip(sums).zip(&self.reach[place + 1]) {
            let factor = row[variable];
            // Of |sum + factor * difference| <= reach.
            let (low, high) = match factor {
                0 if sum.abs() > *reach => return None,
                0 => continue,
                f if f > 0 => (-reach - sum, reach - sum),
                _ => (sum - reach, sum + reach),
            };
            let factor = factor.abs();
            least = least.max(-(-low).div_euclid(factor));
            most = most.min(high.div_euclid(factor));
        }
        (least <= most).then_some((least, most))
    }

    /// All are chosen. In a period that is cut off not all points of the box are there; of two
    /// that are, the smallest two with this difference are there as well.
    fn end(&mut self) {
        let differs = self.chosen.iter().any(|d| *d != 0);
        let end = |sign: i128| {
            let values: Vec<i128> = self.chosen.iter().map(|d| (sign * d).max(0)).collect();
            self.space.point(&values).is_some()
        };
        if differs && end(1) && end(-1) {
            self.found = Some(self.chosen.clone());
        }
    }
}
