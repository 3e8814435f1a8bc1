//! Index sets: the grid of one dimension, and the points of a domain.
//!
//! A grid `(L, U, T, W)` holds all `i` with `L <= i < U` and `(i - L) mod T < W` (GPU index
//! mapping, definition 2.1). Its points are counted in order: number `k` is
//! `L + (k / W) * T + k mod W`.

/// One dimension's index set; well formed if `step >= 1` and `1 <= width <= step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// First index (any sign).
    pub lower: i64,
    /// One past the last candidate.
    pub upper: i64,
    /// Period, at least 1.
    pub step: i64,
    /// Points at the start of each period, between 1 and `step`.
    pub width: i64,
}

/// Returns the distance between the points of a grid of this step and width; `None` where it is not
/// always the same, or not known.
pub fn stride(step: Option<i64>, width: Option<i64>) -> Option<i64> {
    match (step?, width?) {
        (step, width) if step == width => Some(1),
        (step, 1) => Some(step),
        _ => None,
    }
}

impl Grid {
    /// The grid, unless `step` and `width` are malformed.
    pub fn new(lower: i64, upper: i64, step: i64, width: i64) -> Option<Self> {
        (step >= 1 && 1 <= width && width <= step).then_some(Grid {
            lower,
            upper,
            step,
            width,
        })
    }

    /// `0..count`.
    pub fn dense(count: i64) -> Self {
        Grid {
            lower: 0,
            upper: count,
            step: 1,
            width: 1,
        }
    }

    /// Returns the number of points; `i64::MAX` if there are more than that.
    pub fn count(&self) -> i64 {
        if self.upper <= self.lower {
            return 0;
        }
        let (step, width) = (i128::from(self.step.max(1)), i128::from(self.width));
        let span = i128::from(self.upper) - i128::from(self.lower);
        let count = (span / step) * width + (span % step).min(width);
        i64::try_from(count).unwrap_or(i64::MAX)
    }

    /// Returns whether it has no point.
    pub fn is_empty(&self) -> bool {
        self.upper <= self.lower
    }

    /// Point number `k`, for `0 <= k < count()`.
    #[inline]
    pub fn point(&self, k: i64) -> i64 {
        if self.step == self.width {
            return self.lower.wrapping_add(k);
        }
        let period = (k / self.width).wrapping_mul(self.step);
        self.lower.wrapping_add(period).wrapping_add(k % self.width)
    }

    /// The number of the point `index`, if it is one.
    pub fn number(&self, index: i64) -> Option<i64> {
        if index < self.lower || index >= self.upper {
            return None;
        }
        let offset = i128::from(index) - i128::from(self.lower);
        let (step, width) = (i128::from(self.step), i128::from(self.width));
        if offset % step >= width {
            return None;
        }
        i64::try_from((offset / step) * width + offset % step).ok()
    }

    /// The last point, if there is one.
    pub fn last(&self) -> Option<i64> {
        if self.is_empty() {
            return None;
        }
        let span = i128::from(self.upper) - 1 - i128::from(self.lower);
        let (step, width) = (i128::from(self.step), i128::from(self.width));
        let last = (span / step) * step + (span % step).min(width - 1);
        i64::try_from(i128::from(self.lower) + last).ok()
    }

    /// All points in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.count()).map(|k| self.point(k))
    }
}

/// The product of the counts; `None` if it overflows.
pub fn total_points(grids: &[Grid]) -> Option<i64> {
    if grids.iter().any(Grid::is_empty) {
        return Some(0);
    }
    grids
        .iter()
        .try_fold(1i64, |n, grid| n.checked_mul(grid.count()))
}

/// The number of elements of a shape; `None` if it overflows or an extent is negative.
pub fn total_elements(shape: &[i64]) -> Option<i64> {
    let grids: Vec<Grid> = shape.iter().map(|n| Grid::dense(*n)).collect();
    let negative = shape.iter().any(|n| *n < 0);
    total_points(&grids).filter(|_| !negative)
}

/// Counts through the points of a box of `counts` in lexicographic order, the last dimension
/// fastest.
#[derive(Clone, Debug)]
pub struct Odometer {
    counts: Vec<i64>,
    /// The current point's numbers.
    pub numbers: Vec<i64>,
    exhausted: bool,
}

impl Odometer {
    /// At the first point.
    pub fn new(counts: Vec<i64>) -> Self {
        let exhausted = counts.iter().any(|&c| c <= 0);
        Odometer {
            numbers: vec![0; counts.len()],
            counts,
            exhausted,
        }
    }

    /// The current point's numbers, unless all were visited.
    pub fn current(&self) -> Option<&[i64]> {
        (!self.exhausted).then_some(&self.numbers)
    }

    /// To the next point; returns the outermost position that changed, `None` at the end.
    #[inline]
    pub fn advance(&mut self) -> Option<usize> {
        for d in (0..self.counts.len()).rev() {
            self.numbers[d] += 1;
            if self.numbers[d] < self.counts[d] {
                return Some(d);
            }
            self.numbers[d] = 0;
        }
        self.exhausted = true;
        None
    }
}

/// All points of a domain in lexicographic order.
pub fn points(grids: &[Grid]) -> impl Iterator<Item = Vec<i64>> + '_ {
    let mut odometer = Odometer::new(grids.iter().map(Grid::count).collect());
    std::iter::from_fn(move || {
        let numbers = odometer.current()?;
        let point = numbers.iter().zip(grids).map(|(&k, g)| g.point(k));
        let point = point.collect();
        odometer.advance();
        Some(point)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, on small grids.
    #[test]
    fn points_are_those_of_the_definition() {
        for (lower, span) in [(-3, 0), (-3, 1), (0, 7), (2, 10), (-5, -2)] {
            for step in 1..5 {
                for width in 1..=step {
                    let grid = Grid::new(lower, lower + span, step, width).unwrap();
                    let expected: Vec<i64> = (lower..lower + span)
                        .filter(|i| (i - lower).rem_euclid(step) < width)
                        .collect();
                    assert_eq!(grid.iter().collect::<Vec<_>>(), expected);
                    assert_eq!(grid.count(), expected.len() as i64);
                    assert_eq!(grid.last(), expected.last().copied());
                    for i in lower - 2..lower + span + 2 {
                        let number = expected.iter().position(|&p| p == i);
                        assert_eq!(grid.number(i), number.map(|n| n as i64));
                    }
                }
            }
        }
    }

    #[test]
    fn malformed_grids_are_refused() {
        assert_eq!(Grid::new(0, 4, 0, 1), None);
        assert_eq!(Grid::new(0, 4, 2, 3), None);
        assert_eq!(Grid::new(0, 4, 2, 0), None);
    }

    #[test]
    fn extreme_bounds_do_not_overflow() {
        let grid = Grid::new(i64::MIN, i64::MAX, 1, 1).unwrap();
        assert_eq!(grid.count(), i64::MAX);
        assert_eq!(grid.last(), Some(i64::MAX - 1));
        assert_eq!(total_points(&[grid, Grid::dense(2)]), None);
        assert_eq!(total_points(&[grid, Grid::dense(0)]), Some(0));
        assert_eq!(total_elements(&[i64::MAX, i64::MAX, 0]), Some(0));
        assert_eq!(total_elements(&[2, -1]), None);
    }

    #[test]
    fn points_are_lexicographic() {
        let grids = [Grid::dense(2), Grid::new(1, 6, 3, 1).unwrap()];
        let indices: Vec<_> = points(&grids).collect();
        assert_eq!(indices, [[0, 1], [0, 4], [1, 1], [1, 4]]);
        assert_eq!(points(&[]).count(), 1, "no dimension: one point");
        assert_eq!(points(&[Grid::dense(0)]).count(), 0);
    }
}
