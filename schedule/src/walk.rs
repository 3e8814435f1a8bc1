//! The order in which a schedule's de-composition reaches the points of the space.

use super::resolved::{Level, Resolved};
use super::tiles::Tiles;

/// A point, by whom it is computed, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Its number in each dimension, from 0.
    pub numbers: Vec<i64>,
    /// The part of each parallel loop, outermost loop first: who computes it.
    pub core: Vec<i64>,
    /// The part of each sequential loop, outermost loop first: equal ones are at the same time.
    pub step: Vec<i64>,
}

/// All points in the order of D1, the parts of parallel loops one after the other. Loops of one
/// part are left out of [`Visit::core`] and [`Visit::step`].
pub fn walk(resolved: &Resolved, tiles: &Tiles) -> Vec<Visit> {
    let phase = &resolved.decompose;
    let order = phase.order.iter();
    let loops: Vec<(Level, bool)> = order
        .filter(|l| !resolved.count(**l).is_one())
        .map(|l| (*l, resolved.is_parallel(phase, *l)))
        .collect();
    let mut visits = Vec::new();
    let mut parts = vec![0; loops.len()];
    descend(&loops, tiles, 0, &mut parts, &mut visits);
    visits
}

fn descend(
    loops: &[(Level, bool)],
    tiles: &Tiles,
    position: usize,
    parts: &mut Vec<i64>,
    visits: &mut Vec<Visit>,
) {
    if let Some((level, _)) = loops.get(position) {
        for part in 0..tiles.count(*level) {
            parts[position] = part;
            descend(loops, tiles, position + 1, parts, visits);
        }
        return;
    }
    let mut numbers = vec![0; tiles.points.len()];
    for ((level, _), part) in loops.iter().zip(parts.iter()) {
        numbers[level.dimension] += part * tiles.size(*level);
    }
    if numbers
        .iter()
        .zip(&tiles.points)
        .all(|(n, points)| n < points)
    {
        let parts_where = |parallel: bool| {
            let pairs = loops.iter().zip(parts.iter());
            pairs
                .filter(|((_, p), _)| *p == parallel)
                .map(|(_, part)| *part)
                .collect()
        };
        visits.push(Visit {
            numbers,
            core: parts_where(true),
            step: parts_where(false),
        });
    }
}
