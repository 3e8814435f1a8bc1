//! Domains: dense, shifted, strided; with empty and size-1 dimensions.

use mdh_algebra::domain::Grid;

use crate::choices::Choices;
use crate::program::Dim;

/// So many points a domain has at most, about.
const POINTS: f64 = 2500.0;

const NAMES: [&str; 7] = ["i", "j", "k", "p", "q", "r", "s"];

/// Some dimensions. `hints` are sizes that suit buffers that are there already.
pub fn dims(c: &mut Choices, hints: &[i64]) -> Vec<Dim> {
    let rank = 1 + c.weighted("rank", &[16, 26, 21, 14, 10, 8, 5]);
    let mut left = POINTS;
    let mut dims: Vec<Dim> = Vec::new();
    for (d, name) in NAMES.iter().enumerate().take(rank) {
        let share = left.powf(1.0 / (rank - d) as f64);
        let limit = (share * 1.6).clamp(2.0, 40.0).min(left.max(1.0)) as i64;
        c.scope(format!("dim{d}"), |c| {
            if c.keep() || (d + 1 == rank && dims.is_empty()) {
                let dim = Dim::new(name, grid(c, limit, hints));
                left /= dim.grid.count().max(1) as f64;
                dims.push(dim);
            }
        });
    }
    dims
}

/// The dimension with a number.
pub fn dim(number: usize, grid: Grid) -> Dim {
    Dim::new(NAMES[number], grid)
}

/// The points of a dimension, about so many at most.
pub fn grid(c: &mut Choices, limit: i64, hints: &[i64]) -> Grid {
    let fitting: Vec<i64> = hints.iter().copied().filter(|h| *h <= limit).collect();
    if !fitting.is_empty() && c.chance("hinted", 70) {
        return Grid::dense(c.pick("hint", &fitting));
    }
    let count = match c.weighted("edge", &[82, 13, 5]) {
        0 => 2.min(limit) + c.below("size", (limit - 1).max(1) as u64) as i64,
        1 => 1,
        _ => 0,
    };
    let lower = match c.weighted("shifted", &[60, 20, 20]) {
        0 => 0,
        1 => 1 + c.below("lower", 9) as i64,
        _ => -1 - c.below("lower", 9) as i64,
    };
    let (step, width) = match c.weighted("strided", &[65, 20, 15]) {
        0 => (1, 1),
        1 => (2 + c.below("step", 3) as i64, 1),
        _ => {
            let step = 2 + c.below("step", 4) as i64;
            (step, 2 + c.below("width", step as u64 - 1) as i64)
        }
    };
    let rest = count % width;
    let mut span = count / width * step + rest;
    if rest == 0 && count > 0 {
        // The last period may end anywhere behind its last point.
        span -= c.below("cut", (step - width + 1) as u64) as i64;
    }
    if count == 0 {
        span -= c.below("reversed", 3) as i64;
    }
    Grid {
        lower,
        upper: lower + span,
        step,
        width,
    }
}

/// The grids that index functions run over; of an empty one the first index.
pub fn reach(dims: &[Dim]) -> Vec<Option<Grid>> {
    let grid = |dim: &Dim| match dim.grid.is_empty() {
        true => Grid {
            upper: dim.grid.lower + 1,
            ..dim.grid
        },
        false => dim.grid,
    };
    dims.iter().map(|dim| Some(grid(dim))).collect()
}
