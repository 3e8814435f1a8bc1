//! Lanes, and the block of points that is unrolled.

use std::collections::HashSet;

use super::views::{Motion, View, Views};
use super::{Facts, turn};
use crate::computation::Combine;

/// What stays in registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The dimension along which lanes lie, and how many there are.
    pub lanes: Option<(usize, i64)>,
    /// How many parts of each dimension are unrolled: vectors, in that of the lanes.
    pub unrolled: Vec<i64>,
    /// The dimension along which inputs are read that are transposed in registers.
    pub turned: Option<usize>,
    /// Why.
    pub reasons: Vec<String>,
}

/// The largest block of points without anything to combine: enough to overlap them.
const MAP: i64 = 4;
/// Independent sums that hide the latency of an addition.
const CHAINS: i64 = 8;
/// The most accesses of single lanes in a block that is unrolled.
const SCATTERED: i64 = 16;
/// The most parts of one dimension that are unrolled.
const UNROLL: i64 = 8;

impl Block {
    /// Chooses lanes, then what is unrolled.
    pub fn choose(views: &Views, facts: &Facts) -> Block {
        let mut reasons = Vec::new();
        let lanes = lanes(views, facts, &mut reasons);
        let turned = lanes.and_then(|(d, count)| turn::turned(views, facts, d, count));
        let unrolled = match (lanes, turned) {
            (Some((d, count)), Some(rows)) => {
                reasons.push(format!(
                    "blocks of {count} points in dimensions {rows} and {d} are transposed in \
                     registers"
                ));
                let mut unrolled = vec![1; views.points.len()];
                unrolled[rows] = count;
                unrolled
            }
            _ => unrolled(views, facts, lanes, &mut reasons),
        };
        Block {
            lanes,
            unrolled,
            turned,
            reasons,
        }
    }

    /// The points of the block in a dimension.
    pub fn points(&self, d: usize) -> i64 {
        let lanes = self
            .lanes
            .filter(|(dim, _)| *dim == d)
            .map_or(1, |(_, n)| n);
        self.unrolled[d] * lanes
    }
}

/// What the accesses of a point cost if lanes lie along a dimension; 1 is a scalar access.
fn cost(views: &Views, facts: &Facts, d: usize, lanes: i64) -> f64 {
    let is_turned = turn::turned(views, facts, d, lanes).is_some();
    let cost = |view: &View| match views.motion(view, d) {
        Motion::Still if view.is_output => 1.0,
        Motion::Still => 0.5,
        Motion::Next => 1.0,
        Motion::Previous => 1.2,
        // A load, and the shuffles.
        _ if is_turned => 1.5,
        _ if views.is_packable(view, d) => 1.1,
        _ => lanes as f64,
    };
    let all: f64 = views.all.iter().map(cost).sum();
    let size = views.size(d).max(1);
    let vectors = size.div_euclid(lanes) + i64::from(size % lanes != 0);
    let filled = size as f64 / (vectors * lanes) as f64;
    // Lanes of a sum are combined in the end, those of a prefix-sum step by step.
    let steps = (lanes as f64).log2();
    let combined = match views.combine[d] {
        Combine::Cc => 0.0,
        Combine::Pw(_) => steps * lanes as f64 / size as f64,
        Combine::Ps(_) => 2.0 * steps,
    };
    (all + combined) / (lanes as f64 * filled)
}

fn lanes(views: &Views, facts: &Facts, reasons: &mut Vec<String>) -> Option<(usize, i64)> {
    let count = facts.vector / views.widest;
    if count < 2 || views.narrowest * count > facts.vector {
        return None;
    }
    let scalar = views.all.len() as f64;
    let mut best: Option<(f64, usize, i64)> = None;
    for d in 0..views.points.len() {
        if views.points[d].is_some_and(|n| n < 2) {
            continue;
        }
        let count = turn::lanes(views, facts, d, count);
        let cost = cost(views, facts, d, count);
        reasons.push(format!(
            "lanes along dimension {d} cost {cost:.2} accesses a point"
        ));
        let is_better = best.is_none_or(|(least, at, _)| {
            cost < least || (cost == least && views.size(d) > views.size(at))
        });
        if cost < scalar && is_better {
            best = Some((cost, d, count));
        }
    }
    best.map(|(_, d, count)| (d, count))
}

/// Distinct loads of a block, a vector counting once.
fn loads(views: &Views, lanes: Option<(usize, i64)>, unrolled: &[i64]) -> i64 {
    let mut seen: HashSet<(usize, Vec<i64>, Vec<Vec<i64>>)> = HashSet::new();
    let mut others = 0;
    let scale = |d: usize| lanes.filter(|(dim, _)| *dim == d).map_or(1, |(_, n)| n);
    let positions = positions(unrolled);
    for view in views.all.iter().filter(|v| !v.is_output) {
        let Some(axes) = &view.axes else {
            others += positions.len() as i64 * scale_of(lanes);
            continue;
        };
        let each = match lanes.map(|(d, n)| (views.motion(view, d), n, d)) {
            Some((Motion::Other | Motion::Axis(_), n, d)) if !views.is_packable(view, d) => n,
            _ => 1,
        };
        let before = seen.len();
        for position in &positions {
            let at = axes.iter().map(|form| {
                let terms = position.iter().enumerate();
                let sum: i64 = terms
                    .map(|(d, n)| n * scale(d) * form.coefficients[d])
                    .sum();
                form.constant + sum
            });
            let moving = axes.iter().map(|form| form.coefficients.clone()).collect();
            seen.insert((view.buffer, at.collect(), moving));
        }
        others += (seen.len() - before) as i64 * (each - 1);
    }
    seen.len() as i64 + others
}

fn scale_of(lanes: Option<(usize, i64)>) -> i64 {
    lanes.map_or(1, |(_, n)| n)
}

fn positions(unrolled: &[i64]) -> Vec<Vec<i64>> {
    let start = vec![vec![0; unrolled.len()]];
    unrolled.iter().enumerate().fold(start, |all, (d, count)| {
        let each = |at: &Vec<i64>| -> Vec<Vec<i64>> {
            let part = |n: i64| {
                let mut at = at.clone();
                at[d] = n;
                at
            };
            (0..*count).map(part).collect()
        };
        all.iter().flat_map(each).collect()
    })
}

fn unrolled(
    views: &Views,
    facts: &Facts,
    lanes: Option<(usize, i64)>,
    reasons: &mut Vec<String>,
) -> Vec<i64> {
    let rank = views.points.len();
    let mut best = vec![1; rank];
    if lanes.is_some_and(|(d, n)| scattered(views, d) * n > SCATTERED) {
        reasons.push("nothing is unrolled: each lane of many accesses is loaded alone".into());
        return best;
    }
    let sums = (0..rank).any(|d| views.combine[d].is_pw());
    // Accumulators, the vectors they are made from, and one that is loaded.
    let room = if sums {
        (facts.registers * 3 / 4).max(1)
    } else {
        MAP
    };
    let scale = |d: usize| lanes.filter(|(dim, _)| *dim == d).map_or(1, |(_, n)| n);
    let most = |d: usize| (views.size(d) / scale(d)).clamp(1, UNROLL.min(room));
    let is_kept = |d: &usize| views.combine[*d] == Combine::Cc && most(*d) > 1;
    let mut open: Vec<usize> = (0..rank).filter(is_kept).collect();
    // Only what shares loads is worth unrolling; those that share the most come first.
    let alone = loads(views, lanes, &best);
    let gain = |d: usize| {
        let mut two = vec![1; rank];
        two[d] = 2;
        2 * alone - loads(views, lanes, &two)
    };
    open.retain(|d| gain(*d) > 0);
    // Of those that share as much, what is written next to each other.
    open.sort_by_key(|d| std::cmp::Reverse((gain(*d), views.written_axis(*d))));
    open.truncate(3);
    let mut least = alone as f64;
    let mut tried = 0;
    for candidate in candidates(&open, rank, &most, room) {
        let points: i64 = candidate.iter().product();
        // The last block of a dimension may not be full.
        let filled: f64 = (candidate.iter().enumerate())
            .map(|(d, count)| filled(views.size(d), scale(d), *count))
            .product();
        let per_point = loads(views, lanes, &candidate) as f64 / (points as f64 * filled);
        tried += 1;
        let smaller = points <= best.iter().product();
        if per_point < least - 1e-9 || (per_point <= least + 1e-9 && smaller) {
            (least, best) = (per_point, candidate);
        }
    }
    if sums {
        match lanes.filter(|(d, _)| views.is_streamed(*d, facts.l2)) {
            // Neighbours in a row are independent sums too.
            Some((d, _)) => best[d] = best[d].max(most(d)),
            None => chains(views, lanes, &mut best),
        }
    }
    reasons.push(format!(
        "of {tried} blocks that fit {room} registers, {best:?} needs the fewest loads: {least:.2} \
         a point"
    ));
    best
}

/// The share of the vectors of all blocks that have points.
fn filled(size: i64, lanes: i64, count: i64) -> f64 {
    let up = |n: i64, d: i64| n.div_euclid(d) + i64::from(n % d != 0);
    let vectors = up(size, lanes).max(1);
    vectors as f64 / (up(vectors, count) * count) as f64
}

/// Accesses that go to each lane's element alone.
fn scattered(views: &Views, d: usize) -> i64 {
    let is_scattered = |view: &&View| {
        let is_whole = !matches!(views.motion(view, d), Motion::Other | Motion::Axis(_));
        !is_whole && !views.is_packable(view, d)
    };
    views.all.iter().filter(is_scattered).count() as i64
}

/// Several independent sums where the kept dimensions do not give them.
fn chains(views: &Views, lanes: Option<(usize, i64)>, best: &mut [i64]) {
    let points: i64 = best.iter().product();
    let combined = |d: &usize| views.combine[*d].is_pw();
    let along = lanes.map(|(d, _)| d).filter(combined);
    let d = along.or_else(|| (0..best.len()).rev().find(combined));
    if let Some(d) = d {
        let scale = lanes.filter(|(dim, _)| *dim == d).map_or(1, |(_, n)| n);
        let wanted = (CHAINS / points).max(1);
        best[d] = wanted.min(views.size(d) / scale / 2).max(1);
    }
}

fn candidates(
    open: &[usize],
    rank: usize,
    most: &dyn Fn(usize) -> i64,
    room: i64,
) -> Vec<Vec<i64>> {
    let start = vec![vec![1; rank]];
    open.iter().fold(start, |all, d| {
        let each = |at: &Vec<i64>| -> Vec<Vec<i64>> {
            let used: i64 = at.iter().product();
            let part = |n: i64| {
                let mut at = at.clone();
                at[*d] = n;
                at
            };
            (1..=most(*d))
                .filter(|n| used * n <= room)
                .map(part)
                .collect()
        };
        all.iter().flat_map(each).collect()
    })
}
