//! The loops around a block of a computation that reduces: found by counting, not by rules.
//!
//! Kept dimensions along which the same inputs move are one group: between its loops nothing is
//! to be gained but neighbours in memory. Those that move all inputs come first, since nothing is
//! read again across them. The orders of the other groups, one dimension that is cut once more
//! (its inner part goes innermost), the cut of a combined dimension (outside of all groups), which
//! dimension the cores share and which inputs are packed where are tried out; the nest that takes
//! the fewest cycles is the one ([`super::traffic`]).

mod cycles;
mod given;
mod visited;

pub use cycles::Cycles;

use super::block::{Block, Loads};
use super::facts::Facts;
use super::pack;
use super::traffic::{self, Loop, Region};
use super::views::Views;
use crate::numbers::ceil_div;
use cycles::At;
use mdh_algebra::amounts::count;
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::support::Support;
use std::cell::RefCell;
use visited::Visits;

/// Purpose of a loop of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Around everything that is read again: kept dimensions, and all but the last group.
    Outer,
    /// Parts of a combined dimension that is cut.
    Cut,
    /// The last group.
    Last,
    /// The inner part of a dimension that is cut once more.
    Inner,
    /// A combined dimension, around the block.
    Sum,
}

/// The loops around a block.
#[derive(Clone, Debug)]
pub struct BlockLoops {
    /// The dimensions that the cores share, and into how many parts.
    pub cores: Vec<(usize, i64)>,
    /// Outermost first, after that of the cores.
    pub loops: Vec<(Role, Loop)>,
    /// The combined dimension that is cut, and into parts of how many points.
    pub cut: Option<(usize, i64)>,
    /// The inputs that are packed (positions of their views), and before which loop.
    pub packed: Vec<(usize, usize)>,
    /// Its estimated cycles.
    pub cycles: Cycles,
}

/// The most depths of a cut, and inner parts, that are tried: powers of two.
const DEPTHS: std::ops::RangeInclusive<u32> = 4..=11;
const INNER: std::ops::RangeInclusive<u32> = 1..=6;
/// The most groups whose orders are tried.
const GROUPS: usize = 4;

/// A nest in the making.
#[derive(Clone, Debug)]
struct Draft {
    cores: Vec<(usize, i64)>,
    /// Positions of groups.
    order: Vec<usize>,
    inner: Option<(usize, i64)>,
    cut: Option<(usize, i64)>,
}

/// The dimensions that cores share, and into how many parts.
type Shares = Vec<(usize, i64)>;

/// A computation and a block of it.
pub struct Search<'a> {
    computation: &'a Computation,
    facts: &'a Facts,
    views: &'a Views,
    block: &'a Block,
    regions: Vec<Region>,
    sums: Vec<usize>,
    batch: Vec<usize>,
    groups: Vec<Vec<usize>>,
    /// Of each access.
    loads: Vec<Loads>,
    cuts: Vec<Option<(usize, i64)>>,
    support: Support,
    /// Visits of cores, where these are known: they take long to count.
    visits: RefCell<Vec<(Shares, Visits)>>,
}

impl<'a> Search<'a> {
    /// For a block of a computation.
    pub fn new(
        computation: &'a Computation,
        facts: &'a Facts,
        views: &'a Views,
        block: &'a Block,
    ) -> Search<'a> {
        let rank = views.points.len();
        let regions = Region::all(computation);
        let inputs: Vec<&Region> = regions.iter().filter(|r| !r.is_output).collect();
        let mut alike: Vec<(Vec<bool>, Vec<usize>)> = Vec::new();
        let mut kept_dims: Vec<usize> = (0..rank)
            .filter(|d| views.combine[*d] == Combine::Cc)
            .filter(|d| views.points[*d].is_none_or(|n| n > block.points(*d)))
            .collect();
        // What is written next to each other is closest to the block.
        kept_dims.sort_by_key(|d| (block.points(*d) > 1, views.written_axis(*d)));
        for d in kept_dims {
            let moved: Vec<bool> = inputs.iter().map(|r| r.moves(d)).collect();
            match alike.iter_mut().find(|(other, _)| *other == moved) {
                Some((_, group)) => group.push(d),
                None => alike.push((moved, vec![d])),
            }
        }
        let (batch, groups): (Vec<_>, Vec<_>) = alike
            .into_iter()
            .partition(|(moved, _)| moved.iter().all(|m| *m));
        let sums: Vec<usize> = (0..rank).filter(|d| views.combine[*d].is_pw()).collect();
        Search {
            computation,
            facts,
            views,
            block,
            loads: block.loads(views),
            cuts: cuts(views, block, &sums),
            sums,
            batch: batch.into_iter().flat_map(|(_, group)| group).collect(),
            groups: groups.into_iter().map(|(_, group)| group).collect(),
            support: Support::new(computation),
            visits: RefCell::default(),
            regions,
        }
    }

    /// Returns the nest that takes the fewest cycles among those that share one of `cores`, and the
    /// number of nests tried.
    pub fn best(&self, cores: &[usize]) -> (BlockLoops, usize) {
        let orders = orders(self.groups.len());
        let cores: Vec<Vec<(usize, i64)>> = match cores {
            [] => vec![Vec::new()],
            _ => cores.iter().flat_map(|d| self.shares(*d)).collect(),
        };
        let mut first = Vec::new();
        for cores in &cores {
            for order in &orders {
                first.extend(self.cuts.iter().map(|cut| Draft {
                    cores: cores.clone(),
                    order: order.clone(),
                    inner: None,
                    cut: *cut,
                }));
            }
        }
        let mut tried = first.len();
        let start = first.remove(0);
        let nest = self.nest(&start);
        let mut best = self.least((start, nest), first);
        // Inner parts, then what they do to the cut.
        for round in [Draft::with_inner_parts, Draft::with_cuts] {
            let drafts = round(&best.0, self, &orders);
            tried += drafts.len();
            best = self.least(best, drafts);
        }
        (best.1, tried)
    }

    /// The best of some, the first of equal ones: it is the simplest.
    fn least(&self, first: (Draft, BlockLoops), others: Vec<Draft>) -> (Draft, BlockLoops) {
        others.into_iter().fold(first, |best, draft| {
            let nest = self.nest(&draft);
            match nest.cycles.total() < best.1.cycles.total() * 0.999 {
                true => (draft, nest),
                false => best,
            }
        })
    }

    /// Returns the number of a core's blocks in a dimension.
    fn blocks(&self, d: usize, cores: &[(usize, i64)]) -> i64 {
        let blocks = ceil_div(self.views.size(d), self.block.points(d));
        let shares = cores.iter().find(|(shared, _)| *shared == d);
        ceil_div(blocks, shares.map_or(1, |(_, parts)| *parts))
    }

    /// The loops of a draft.
    fn loops(&self, draft: &Draft) -> Vec<(Role, Loop)> {
        let mut loops = Vec::new();
        let mut add = |role: Role, dimension: usize, trips: i64| {
            if trips > 1 || (role != Role::Inner && self.views.points[dimension].is_none()) {
                loops.push((role, Loop { dimension, trips }));
            }
        };
        for d in &self.batch {
            add(Role::Outer, *d, self.blocks(*d, &draft.cores));
        }
        if let Some((d, depth)) = draft.cut {
            let blocks = self.blocks(d, &draft.cores);
            add(Role::Cut, d, ceil_div(blocks, depth / self.block.points(d)));
        }
        for (n, group) in draft.order.iter().enumerate() {
            let role = match n + 1 == draft.order.len() {
                true => Role::Last,
                false => Role::Outer,
            };
            for d in &self.groups[*group] {
                let parts = draft
                    .inner
                    .filter(|(inner, _)| inner == d)
                    .map_or(1, |(_, n)| n);
                add(role, *d, ceil_div(self.blocks(*d, &draft.cores), parts));
            }
        }
        if let Some((d, parts)) = draft.inner {
            add(Role::Inner, d, parts);
        }
        for d in &self.sums {
            let trips = match draft.cut {
                Some((cut, depth)) if cut == *d => depth / self.block.points(*d),
                _ => self.blocks(*d, &draft.cores),
            };
            add(Role::Sum, *d, trips);
        }
        loops
    }

    /// Loops as their cycles are counted.
    fn at(&self, cores: &[(usize, i64)], cut: Option<(usize, i64)>, loops: &[(Role, Loop)]) -> At {
        let plain: Vec<Loop> = loops.iter().map(|(_, each)| *each).collect();
        let around = loops.iter().take_while(|(role, _)| *role != Role::Sum);
        let points: Vec<i64> = (0..self.views.points.len())
            .map(|d| {
                let blocks = self.blocks(d, cores);
                blocks
                    .saturating_mul(self.block.points(d))
                    .min(self.views.size(d))
            })
            .collect();
        let block: Vec<i64> = (0..points.len())
            .map(|d| self.block.points(d).min(points[d]))
            .collect();
        At {
            visits: self.visits(cores),
            cores: cores.to_vec(),
            is_cut: cut.is_some(),
            kept: around.count(),
            tiles: traffic::tiles(&plain, &block, &points),
            plain,
        }
    }

    /// A draft's nest, with the inputs packed for which that takes fewer cycles.
    fn nest(&self, draft: &Draft) -> BlockLoops {
        let loops = self.loops(draft);
        let at = self.at(&draft.cores, draft.cut, &loops);
        let mut packed = Vec::new();
        let mut cycles = self.cycles(&at, &packed);
        for (n, view) in self.views.all.iter().enumerate() {
            let can =
                !view.is_output && pack::blocks(self.views, self.block, draft.cut, view).is_some();
            let Some(before) = can.then(|| self.where_to_pack(&at, view)) else {
                continue;
            };
            packed.push((n, before));
            let with = self.cycles(&at, &packed);
            // A copy must be worth its memory.
            if with.total() < cycles.total() * 0.98 {
                cycles = with;
            } else {
                packed.pop();
            }
        }
        BlockLoops {
            cores: draft.cores.clone(),
            cut: draft
                .cut
                .filter(|_| loops.iter().any(|(role, _)| *role == Role::Cut)),
            loops,
            packed,
            cycles,
        }
    }

    /// Describes a nest, in words and numbers.
    pub fn reason(&self, nest: &BlockLoops, tried: usize) -> String {
        let names = self.computation.names();
        let loops: Vec<&str> = nest.loops.iter().map(|(_, l)| names[l.dimension]).collect();
        let Cycles {
            computing,
            storing,
            moving,
            copying,
        } = nest.cycles;
        let [l2, l3, main, pages] = moving;
        let cycles = |cycles: f64| count(cycles.ceil());
        let order = match loops.is_empty() {
            true => "none around the block".to_string(),
            false => loops.join(" "),
        };
        format!(
            "of {tried} orders, cuts and tiles of the loops, {order} takes the fewest cycles a core: {} \
             to compute, {} to store, {} from L2, {} from L3, {} from memory, {} for \
             pages, {} to pack",
            cycles(computing),
            cycles(storing),
            cycles(l2),
            cycles(l3),
            cycles(main),
            cycles(pages),
            cycles(copying)
        )
    }
}

impl Draft {
    fn with_inner_parts(&self, search: &Search, orders: &[Vec<usize>]) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for order in orders {
            // An inner part of the last group would be where it is already.
            let outer = order.split_last().map_or(&[][..], |(_, outer)| outer);
            for d in outer
                .iter()
                .filter_map(|group| search.groups[*group].last())
            {
                let blocks = search.blocks(*d, &self.cores);
                let parts = INNER.map(|power| 1i64 << power).filter(|n| *n < blocks);
                drafts.extend(parts.map(|parts| Draft {
                    order: order.clone(),
                    inner: Some((*d, parts)),
                    ..self.clone()
                }));
            }
        }
        drafts
    }

    fn with_cuts(&self, search: &Search, _: &[Vec<usize>]) -> Vec<Draft> {
        let cuts = search.cuts.iter().copied();
        cuts.map(|cut| Draft {
            cut,
            ..self.clone()
        })
        .collect()
    }
}

/// The cuts of the largest combined dimension, none being the first.
fn cuts(views: &Views, block: &Block, sums: &[usize]) -> Vec<Option<(usize, i64)>> {
    let largest = sums.iter().copied().max_by_key(|d| views.size(*d));
    let Some(d) = largest.filter(|_| views.keeps_partial_results()) else {
        return vec![None];
    };
    let points = block.points(d);
    let depths = DEPTHS.map(|power| 1i64 << power);
    let fits = |size: &i64| size % points == 0 && views.points[d].is_none_or(|n| n > *size);
    let cuts = depths.filter(fits).map(|size| Some((d, size)));
    [None].into_iter().chain(cuts).collect()
}

/// All orders of the first so many, while there are few.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count > GROUPS {
        return vec![(0..count).collect()];
    }
    (0..count).fold(vec![Vec::new()], |all, n| {
        let insert = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let at = |place: usize| {
                let mut order = order.clone();
                order.insert(place, n);
                order
            };
            (0..=order.len()).rev().map(at).collect()
        };
        all.iter().flat_map(insert).collect()
    })
}
