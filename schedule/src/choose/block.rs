//! Lanes, and the block of points that is unrolled.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::facts::Facts;
use super::views::{Motion, StreamedRow, View, Views};
use super::{scattered, transpose};
use crate::asm::facts::LINE;
use mdh_algebra::affine::Linear;
use mdh_algebra::computation::Combine;

/// Register block: the points whose results stay in registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The vectorised dimension, and the number of its lanes.
    pub lanes: Option<(usize, i64)>,
    /// The combined dimension of which each lane combines neighbouring points at once, and how
    /// many.
    pub group: Option<(usize, i64)>,
    /// Number of unrolled parts of each dimension: vectors, in that of the lanes.
    pub unrolled: Vec<i64>,
    /// The combined dimension whose unrolled parts add to the same results one after the other;
    /// those of others have results of their own.
    pub shared: Option<usize>,
    /// The dimension along which inputs are read that are transposed in registers.
    pub transposed: Option<usize>,
    /// Reasons for the choice.
    pub reasons: Vec<String>,
}

/// Cycles of a block's loads of an access.
#[derive(Clone, Copy, Debug)]
pub struct Loads {
    /// From a copy whose lanes are neighbours.
    pub packed: f64,
    /// From where it is.
    pub plain: f64,
}

/// The largest block of points without anything to combine: enough to overlap them.
const MAP: i64 = 4;
/// Number of dimensions of lanes that are tried at most.
const CANDIDATES: usize = 3;
const NEAR: f64 = 4.0;
/// Number of blocks tried for each.
const BLOCKS: usize = 3;
/// Number of blocks tried with a combined dimension in them.
const SHARED: usize = 12;
/// Loads of each point, as a share of those of a single row, for which several rows are unrolled
/// though their stores have to go through the caches, which read lines before they are written. Single
/// rows that end within lines are stored partly through the caches, too, and a core that reads one row
/// waits for memory longer than one that reads several at a time.
const CACHED: f64 = 0.8;
/// The most parts of one dimension that are unrolled.
const UNROLL: i64 = 8;

impl Block {
    /// The most promising blocks, for different dimensions of the lanes; the best comes first.
    pub fn candidates(views: &Views, facts: &Facts, group: i64) -> Vec<Block> {
        let mut reasons = Vec::new();
        let lanes = lanes(views, facts, &mut reasons);
        let lanes: Vec<Option<(usize, i64)>> = match lanes[..] {
            [] => vec![None],
            _ => lanes.into_iter().map(Some).collect(),
        };
        let blocks = |lanes: Option<(usize, i64)>| {
            Block::of_lanes(views, facts, lanes, group, reasons.clone())
        };
        lanes.into_iter().flat_map(blocks).collect()
    }

    /// Describes its lanes and its unrolled dimensions, for people.
    pub fn display(&self, views: &Views) -> String {
        let lanes = match self.lanes {
            Some((d, _)) => format!(" with lanes along '{}'", views.names[d]),
            None => String::new(),
        };
        let group = match self.group {
            Some((d, count)) => format!(" of {count} points of '{}'", views.names[d]),
            None => String::new(),
        };
        format!("{:?}{lanes}{group}", self.unrolled)
    }

    fn of_lanes(
        views: &Views,
        facts: &Facts,
        lanes: Option<(usize, i64)>,
        group: i64,
        mut reasons: Vec<String>,
    ) -> Vec<Block> {
        let transposed = lanes.and_then(|(d, count)| transpose::transposed(views, facts, d, count));
        let unrolled = match (lanes, transposed) {
            (Some((d, count)), Some(rows)) => {
                reasons.push(format!(
                    "blocks of {count} points in dimensions '{}' and '{}' are transposed in \
                     registers",
                    views.names[rows], views.names[d]
                ));
                let mut unrolled = vec![1; views.points.len()];
                unrolled[rows] = count;
                vec![unrolled]
            }
            _ => unrolled(views, facts, lanes, &mut reasons),
        };
        let mut groups = Vec::new();
        if let (Some(d), None) = (grouped(views, facts, lanes, group), transposed) {
            groups = Block::of_groups(views, facts, lanes, (d, group));
        }
        let block = |unrolled: Vec<i64>| Block {
            lanes,
            group: None,
            shared: shared(views, lanes).filter(|d| unrolled[*d] > 1),
            unrolled,
            transposed,
            reasons: reasons.clone(),
        };
        groups
            .into_iter()
            .chain(unrolled.into_iter().map(block))
            .collect()
    }

    /// The blocks whose lanes combine several points at once, each with one instruction. What that
    /// takes besides leaves them fewer registers.
    fn of_groups(
        views: &Views,
        facts: &Facts,
        lanes: Option<(usize, i64)>,
        (d, count): (usize, i64),
    ) -> Vec<Block> {
        let fewer = Facts {
            registers: facts.registers * 7 / 8,
            ..*facts
        };
        let mut reasons = vec![format!(
            "one instruction combines {count} neighbouring points of '{}' in each lane",
            views.names[d]
        )];
        let unrolled = unrolled(views, &fewer, lanes, &mut reasons);
        let is_kept =
            |block: &Vec<i64>| (0..block.len()).all(|d| !views.combine[d].is_pw() || block[d] == 1);
        let block = |unrolled: Vec<i64>| Block {
            lanes,
            group: Some((d, count)),
            shared: None,
            unrolled,
            transposed: None,
            reasons: reasons.clone(),
        };
        unrolled.into_iter().filter(is_kept).map(block).collect()
    }

    /// For each access, how often the block loads it, and the cycles of one load if there is a copy
    /// whose lanes are neighbours, and if there is none. Outputs are not loaded.
    pub fn loads(&self, views: &Views) -> Vec<Loads> {
        let distinct = distinct(views, self.lanes, &self.unrolled);
        let loads = views.all.iter().zip(distinct).map(|(view, count)| {
            let count = if view.is_output { 0 } else { count };
            let points = self.group.map_or(1, |(_, n)| n) as f64;
            let (packed, plain) = match self.lanes.map(|(d, n)| (views.motion(view, d), n)) {
                // One by one, but for neighbours; or rows of each point, that are shuffled.
                Some((Motion::Still, _)) if self.is_apart(view, views) => (0.5, 1.5 * points),
                Some((Motion::Next, _)) if self.group.is_some() => (1.0, 3.0 * points),
                // Two scalars a cycle, or one vector.
                None | Some((Motion::Still, _)) => (0.5, 0.5),
                Some((Motion::Next, _)) => (1.0, 1.0),
                Some((Motion::Previous, _)) => (1.0, 1.5),
                Some((_, lanes)) => (1.0, lanes as f64 * points),
            };
            Loads {
                packed: packed * count as f64,
                plain: plain * count as f64,
            }
        });
        loads.collect()
    }

    /// Returns whether the points of a group are no neighbours in memory.
    fn is_apart(&self, view: &View, views: &Views) -> bool {
        let motion = self.group.map(|(d, _)| views.motion(view, d));
        motion.is_some_and(|motion| !matches!(motion, Motion::Next | Motion::Still))
    }

    /// The points of the block in a dimension.
    pub fn points(&self, d: usize) -> i64 {
        let both = [self.lanes, self.group].into_iter().flatten();
        let factors = both.filter(|(dim, _)| *dim == d).map(|(_, n)| n);
        self.unrolled[d] * factors.product::<i64>()
    }
}

/// The combined dimension of which lanes of a kept one can combine `group` points at once: one
/// along which all inputs move by one, as neighbours if possible.
pub fn grouped(
    views: &Views,
    facts: &Facts,
    lanes: Option<(usize, i64)>,
    group: i64,
) -> Option<usize> {
    let (lane, count) = lanes.filter(|_| group > 1)?;
    let inputs = || views.all.iter().filter(|view| !view.is_output);
    let narrowest = inputs().filter_map(|view| view.bytes).min()?;
    if views.combine[lane] != Combine::Cc || narrowest * count * group > facts.vector {
        return None;
    }
    let is_next = |view: &&View, d: usize| views.motion(view, d) == Motion::Next;
    let moves =
        |view: &View, d: usize| matches!(views.motion(view, d), Motion::Next | Motion::Axis(_));
    let fits = |d: &usize| {
        let is_long = views.size(*d) >= group;
        let is_dense = views.is_dense[*d] && views.is_anchored[*d];
        let is_moving = inputs().all(|view| moves(view, *d));
        views.combine[*d].is_pw() && is_long && is_dense && is_moving
    };
    let fitting = (0..views.points.len()).filter(fits);
    let neighbours = |d: &usize| inputs().filter(|view| is_next(view, *d)).count();
    fitting.max_by_key(|d| (neighbours(d), views.size(*d)))
}

/// Returns the cost of a point's accesses if a dimension is vectorised; 1 is a scalar access.
fn cost(views: &Views, facts: &Facts, d: usize, lanes: i64) -> f64 {
    let is_transposed_block = transpose::transposed(views, facts, d, lanes).is_some();
    let cost = |view: &View| match views.motion(view, d) {
        Motion::Still if view.is_output => 1.0,
        Motion::Still => 0.5,
        Motion::Next => 1.0,
        Motion::Previous => 1.2,
        // A load, and the shuffles.
        _ if is_transposed_block => 1.5,
        _ if views.is_packable(view, d) => 1.1,
        _ => lanes as f64,
    };
    // What is combined before it is written is written less often.
    let sums = (0..views.points.len()).filter(|d| views.combine[*d].is_pw());
    let depth = sums.map(|d| views.size(d).max(1) as f64).product::<f64>();
    let weight = |view: &View| if view.is_output { 1.0 / depth } else { 1.0 };
    let accesses: f64 = views.all.iter().map(|view| cost(view) * weight(view)).sum();
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
    (accesses + combined) / (lanes as f64 * filled)
}

/// The dimensions that lanes can lie along, and how many there are: the cheapest first.
fn lanes(views: &Views, facts: &Facts, reasons: &mut Vec<String>) -> Vec<(usize, i64)> {
    let count = facts.vector / views.widest;
    if count < 2 || views.narrowest * count > facts.vector {
        return Vec::new();
    }
    let scalar = views.all.len() as f64;
    let mut choices: Vec<(f64, usize, i64)> = Vec::new();
    for d in 0..views.points.len() {
        if views.points[d].is_some_and(|n| n < 2) {
            continue;
        }
        let count = transpose::lanes(views, facts, d, count);
        let cost = cost(views, facts, d, count);
        reasons.push(format!(
            "lanes along '{}' cost {cost:.2} accesses a point",
            views.names[d]
        ));
        if cost < scalar {
            choices.push((cost, d, count));
        }
    }
    // Of equal ones, the longest dimension.
    choices.sort_by(|a, b| {
        a.0.total_cmp(&b.0)
            .then(views.size(b.1).cmp(&views.size(a.1)))
    });
    let least = choices.first().map_or(0.0, |(cost, ..)| *cost);
    let near = choices
        .into_iter()
        .filter(|(cost, ..)| *cost <= NEAR * least);
    near.take(CANDIDATES)
        .map(|(_, d, count)| (d, count))
        .collect()
}

/// Returns the number of elements (or vectors) of a block in each access; those that an access
/// before has too count there.
fn distinct(views: &Views, lanes: Option<(usize, i64)>, unrolled: &[i64]) -> Vec<i64> {
    let mut seen: HashSet<(usize, Vec<i64>, Vec<Vec<i64>>)> = HashSet::new();
    let scale = |d: usize| lanes.filter(|(dim, _)| *dim == d).map_or(1, |(_, n)| n);
    let positions = positions(unrolled);
    let counts = views.all.iter().map(|view| {
        let Some(axes) = &view.axes else {
            return positions.len() as i64;
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
        (seen.len() - before) as i64
    });
    counts.collect()
}

/// Distinct loads of a block, a vector counting once.
fn loads(views: &Views, lanes: Option<(usize, i64)>, unrolled: &[i64]) -> i64 {
    let distinct = distinct(views, lanes, unrolled);
    let inputs = views.all.iter().zip(distinct).filter(|(v, _)| !v.is_output);
    let counts = inputs.map(|(view, count)| match lanes {
        Some((d, n)) => match views.motion(view, d) {
            Motion::Other | Motion::Axis(_) if !views.is_packable(view, d) => n * count,
            _ => count,
        },
        None => count,
    });
    counts.sum()
}

fn positions(unrolled: &[i64]) -> Vec<Vec<i64>> {
    let start = vec![vec![0; unrolled.len()]];
    unrolled
        .iter()
        .enumerate()
        .fold(start, |partial, (d, count)| {
            let extend = |at: &Vec<i64>| -> Vec<Vec<i64>> {
                let part = |n: i64| {
                    let mut at = at.clone();
                    at[d] = n;
                    at
                };
                (0..*count).map(part).collect()
            };
            partial.iter().flat_map(extend).collect()
        })
}

/// Chooses the unrolled dimensions: the best first.
fn unrolled(
    views: &Views,
    facts: &Facts,
    lanes: Option<(usize, i64)>,
    reasons: &mut Vec<String>,
) -> Vec<Vec<i64>> {
    let rank = views.points.len();
    let one = vec![1; rank];
    let sums = (0..rank).any(|d| views.combine[d].is_pw());
    if let Some(block) = scattered::block(views, facts, lanes, reasons) {
        return vec![block];
    }
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
    let alone = loads(views, lanes, &one);
    let gain = |d: usize| {
        let mut two = vec![1; rank];
        two[d] = 2;
        2 * alone - loads(views, lanes, &two)
    };
    open.retain(|d| gain(*d) > 0);
    let is_map = (0..rank).all(|d| views.combine[d] == Combine::Cc);
    if let Some(row) = views.streamed_row(facts).filter(|_| is_map) {
        // Rows next to each other find in L1 what they share; what rows farther away share is in L2
        // or beyond.
        open.retain(|d| *d != row.dimension);
        let outermost = |d: &usize| (gain(*d), Reverse(views.written_axis(*d)));
        let along = open.into_iter().max_by_key(outermost);
        return of_rows(views, lanes, row, (along, &most), reasons);
    }
    // Of those that share as much, what is written next to each other.
    open.sort_by_key(|d| Reverse((gain(*d), views.written_axis(*d))));
    open.truncate(3);
    let mut all = ranked(views, lanes, candidates(&open, rank, &most, room));
    share_sums(views, lanes, &mut all, room / 2);
    reasons.push(format!(
        "of {} blocks that fit {room} registers, {:?} needs the fewest loads: {:.2} a point",
        all.len(),
        all[0].2,
        all[0].0
    ));
    all.truncate(BLOCKS);
    let blocks = all.into_iter().map(|(.., mut block)| {
        if sums {
            add_chains(views, facts, lanes, &most, &mut block);
        }
        block
    });
    blocks.collect()
}

/// Adds independent sums to a block, of at most so many parts of a dimension.
fn add_chains(
    views: &Views,
    facts: &Facts,
    lanes: Option<(usize, i64)>,
    most: &dyn Fn(usize) -> i64,
    block: &mut [i64],
) {
    match lanes.filter(|(d, _)| views.is_streamed(*d, facts.l2)) {
        // Neighbours in a row are independent sums too.
        Some((d, _)) => block[d] = block[d].max(most(d)),
        None => scattered::chains(views, lanes, block),
    }
}

/// The blocks of a map that writes rows non-temporally: of several neighbouring rows, if these share
/// what they read, and of a single one.
fn of_rows(
    views: &Views,
    lanes: Option<(usize, i64)>,
    row: StreamedRow,
    (along, most): (Option<usize>, &dyn Fn(usize) -> i64),
    reasons: &mut Vec<String>,
) -> Vec<Vec<i64>> {
    let rank = views.points.len();
    let vectors = lanes.filter(|(d, _)| *d == row.dimension);
    let line = vectors.map_or(1, |(_, n)| LINE / (n * row.bytes).max(1));
    let line = line.clamp(1, most(row.dimension));
    // Rows that are no whole lines go through the caches, in vectors of any address.
    let (part, worth) = match row.fills_lines {
        true => (line, 1.0),
        false => (1, CACHED),
    };
    let room = (MAP / part).max(1);
    let along: Vec<usize> = along.into_iter().collect();
    let alone = loads(views, lanes, &vec![1; rank]) as f64;
    let mut shared = ranked(views, lanes, candidates(&along, rank, most, room));
    shared.retain(|(each, points, _)| *points > 1 && *each <= worth * alone);
    let name = &views.names[row.dimension];
    reasons.push(match shared.first() {
        None => format!(
            "nothing but '{name}' is unrolled: whole lines are stored non-temporally, row by row"
        ),
        Some((each, ..)) => format!(
            "several rows along '{name}' share what they read: {each:.2} loads a point instead of \
             {alone}; they are stored {}",
            match row.fills_lines {
                true => "non-temporally, in whole lines",
                false => "in the caches, since they end within lines",
            }
        ),
    });
    let shared = shared.into_iter().map(|(.., mut block)| {
        block[row.dimension] = part;
        block
    });
    let mut single = vec![1; rank];
    single[row.dimension] = line;
    shared.chain([single]).take(BLOCKS).collect()
}

/// Blocks with the loads of each of their points and the number of these: those with the fewest loads come
/// first, of equal ones the smallest.
fn ranked(
    views: &Views,
    lanes: Option<(usize, i64)>,
    blocks: Vec<Vec<i64>>,
) -> Vec<(f64, i64, Vec<i64>)> {
    let scale = |d: usize| lanes.filter(|(dim, _)| *dim == d).map_or(1, |(_, n)| n);
    let rank = |block: Vec<i64>| {
        let points: i64 = block.iter().product();
        // The last block of a dimension may not be full.
        let filled: f64 = (block.iter().enumerate())
            .map(|(d, count)| filled(views.size(d), scale(d), *count))
            .product();
        let per_point = loads(views, lanes, &block) as f64 / (points as f64 * filled);
        (per_point, points, block)
    };
    let mut ranking: Vec<(f64, i64, Vec<i64>)> = blocks.into_iter().map(rank).collect();
    ranking
        .sort_by(|a, b| ((a.0 * 1e9).round().total_cmp(&(b.0 * 1e9).round())).then(a.1.cmp(&b.1)));
    ranking
}

/// A short combined dimension along which neighbours along a kept one read the same: rows of an
/// image under a filter.
pub fn shared(views: &Views, lanes: Option<(usize, i64)>) -> Option<usize> {
    let is_kept = |d: usize| views.combine[d] == Combine::Cc;
    let is_lane = |d: usize| lanes.is_some_and(|(dim, _)| dim == d);
    if lanes.is_some_and(|(d, _)| !is_kept(d)) {
        return None;
    }
    let rank = views.points.len();
    let meets = |d: usize| {
        let mut forms = views.all.iter().flat_map(|view| view.axes.iter().flatten());
        let beside = |form: &Linear| {
            (0..rank).any(|k| is_kept(k) && !is_lane(k) && form.coefficients[k] != 0)
        };
        forms.any(|form| form.coefficients[d] != 0 && beside(form))
    };
    let is_short = |d: usize| views.points[d].is_some_and(|n| (2..=UNROLL).contains(&n));
    (0..rank).find(|d| views.combine[*d].is_pw() && is_short(*d) && meets(*d))
}

/// Adds blocks in which such a dimension is unrolled whole, where that leaves fewer loads.
fn share_sums(
    views: &Views,
    lanes: Option<(usize, i64)>,
    all: &mut Vec<(f64, i64, Vec<i64>)>,
    room: i64,
) {
    let Some(d) = shared(views, lanes) else {
        return;
    };
    let alone = all.first().map_or(0.0, |(per_point, ..)| *per_point);
    let small = all.iter().filter(|(_, points, _)| *points <= room);
    let mut more = Vec::new();
    for (_, points, block) in small.take(SHARED) {
        let mut block = block.clone();
        block[d] = views.size(d);
        let points = points * block[d];
        let per_point = loads(views, lanes, &block) as f64 / points as f64;
        if per_point < 0.8 * alone {
            more.push((per_point, points, block));
        }
    }
    more.sort_by(|a, b| a.0.total_cmp(&b.0));
    more.append(all);
    *all = more;
}

/// The share of the vectors of all blocks that have points.
fn filled(size: i64, lanes: i64, count: i64) -> f64 {
    let up = |n: i64, d: i64| n.div_euclid(d) + i64::from(n % d != 0);
    let vectors = up(size, lanes).max(1);
    vectors as f64 / (up(vectors, count) * count) as f64
}

fn candidates(
    open: &[usize],
    rank: usize,
    most: &dyn Fn(usize) -> i64,
    room: i64,
) -> Vec<Vec<i64>> {
    let start = vec![vec![1; rank]];
    open.iter().fold(start, |partial, d| {
        let extend = |at: &Vec<i64>| -> Vec<Vec<i64>> {
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
        partial.iter().flat_map(extend).collect()
    })
}
