//! The loops around a block of a computation that reduces: found by counting, not by rules.
//!
//! Kept dimensions along which the same inputs move are one group: between its loops nothing is
//! to be gained but neighbours in memory. Those that move all inputs come first, since nothing is
//! read again across them. The orders of the other groups, one dimension that is cut once more
//! (its inner part goes innermost), the cut of a combined dimension (outside of all groups), which
//! dimension the cores share and which inputs are packed where are tried out; the nest that takes
//! the fewest cycles is the one ([`super::traffic`]).

use super::Facts;
use super::block::{Block, Loads};
use super::pack;
use super::rates::OPERATIONS;
use super::traffic::{self, Loop, Region, Taken};
use super::views::{Motion, View, Views};
use crate::computation::{Combine, Computation};
use crate::schedule::numbers::ceil_div;

/// What a loop of a nest is.
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
pub struct Nest {
    /// The dimension that the cores share.
    pub cores: Option<usize>,
    /// Outermost first, after that of the cores.
    pub loops: Vec<(Role, Loop)>,
    /// The combined dimension that is cut, and into parts of how many points.
    pub cut: Option<(usize, i64)>,
    /// The inputs that are packed (positions of their views), and before which loop.
    pub packed: Vec<(usize, usize)>,
    /// What it takes.
    pub cycles: Cycles,
}

/// Where the cycles of a core go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cycles {
    /// Operations on registers, or the loads for them, whichever is more.
    pub computing: f64,
    /// Results that leave registers and come back.
    pub storing: f64,
    /// From the memories around L1, L2 and L3, and to find pages.
    pub moving: [f64; 4],
    /// Packing.
    pub copying: f64,
}

/// What is not the bottleneck is hidden behind it, but for this part: of computing, and of moving
/// from the memories around L1, L2 and L3. The farther away, the less is fetched ahead.
const EXPOSED: [f64; 4] = [0.25, 0.2, 0.2, 0.3];
/// Cycles before the first and after the last operation of a block.
const START: f64 = 10.0;
/// The most depths of a cut, and inner parts, that are tried: powers of two.
const DEPTHS: std::ops::RangeInclusive<u32> = 4..=11;
const INNER: std::ops::RangeInclusive<u32> = 1..=6;
/// The most groups whose orders are tried.
const GROUPS: usize = 4;
/// Cycles of an operation: with fewer results in that time, one waits for the other.
const LATENCY: f64 = 4.0;
/// Cycles to copy an element: with its neighbours, in a block that is transposed in registers, and
/// alone.
const COPY: f64 = 0.2;
const TURNED: f64 = 0.4;
const SCATTER: f64 = 1.5;
/// Cycles that a block which is transposed waits for the first neighbours of each of its rows: a
/// page that is looked up, and a line that nothing has fetched ahead.
const ROW: f64 = 20.0;
/// Cycles until all cores have what they are to do, and bytes of partial results that are combined
/// in a cycle.
const HAND_OVER: f64 = 3000.0;
const COMBINED: f64 = 4.0;

impl Cycles {
    /// All in all.
    pub fn total(&self) -> f64 {
        let [l1, l2, l3, pages] = self.moving;
        let hidden = [self.computing, l1, l2, l3];
        let (first, most) = (hidden.into_iter().enumerate())
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, 0.0));
        let rest = (hidden.into_iter().zip(EXPOSED).enumerate()).filter(|(n, _)| *n != first);
        let exposed: f64 = rest.map(|(_, (cycles, part))| cycles * part).sum();
        most + exposed + self.storing + pages + self.copying
    }
}

/// What a nest is made from.
#[derive(Clone, Debug)]
struct Draft {
    cores: Option<usize>,
    /// Positions of groups.
    order: Vec<usize>,
    inner: Option<(usize, i64)>,
    cut: Option<(usize, i64)>,
}

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
        let mut kept: Vec<usize> = (0..rank)
            .filter(|d| views.combine[*d] == Combine::Cc)
            .filter(|d| views.points[*d].is_none_or(|n| n > block.points(*d)))
            .collect();
        // What is written next to each other is closest to the block.
        kept.sort_by_key(|d| (block.points(*d) > 1, views.written_axis(*d)));
        for d in kept {
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
            regions,
        }
    }

    /// The nest that takes the fewest cycles among those that share one of `cores`, and how many
    /// were tried.
    pub fn best(&self, cores: &[usize]) -> (Nest, usize) {
        let orders = orders(self.groups.len());
        let cores: Vec<Option<usize>> = match cores {
            [] => vec![None],
            _ => cores.iter().copied().map(Some).collect(),
        };
        let mut first = Vec::new();
        for &cores in &cores {
            for order in &orders {
                first.extend(self.cuts.iter().map(|cut| Draft {
                    cores,
                    order: order.clone(),
                    inner: None,
                    cut: *cut,
                }));
            }
        }
        let mut tried = first.len();
        let one = first.remove(0);
        let nest = self.nest(&one);
        let mut best = self.least((one, nest), first);
        // Inner parts, then what they do to the cut.
        for round in [Draft::with_inner_parts, Draft::with_cuts] {
            let drafts = round(&best.0, self, &orders);
            tried += drafts.len();
            best = self.least(best, drafts);
        }
        (best.1, tried)
    }

    /// The best of some, the first of equal ones: it is the simplest.
    fn least(&self, first: (Draft, Nest), others: Vec<Draft>) -> (Draft, Nest) {
        others.into_iter().fold(first, |best, draft| {
            let nest = self.nest(&draft);
            match nest.cycles.total() < best.1.cycles.total() * 0.999 {
                true => (draft, nest),
                false => best,
            }
        })
    }

    /// How many blocks a core has in a dimension.
    fn blocks(&self, d: usize, cores: Option<usize>) -> i64 {
        let blocks = ceil_div(self.views.size(d), self.block.points(d));
        match cores == Some(d) {
            true => ceil_div(blocks, self.facts.cores),
            false => blocks,
        }
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
            add(Role::Outer, *d, self.blocks(*d, draft.cores));
        }
        if let Some((d, depth)) = draft.cut {
            let blocks = self.blocks(d, draft.cores);
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
                add(role, *d, ceil_div(self.blocks(*d, draft.cores), parts));
            }
        }
        if let Some((d, parts)) = draft.inner {
            add(Role::Inner, d, parts);
        }
        for d in &self.sums {
            let trips = match draft.cut {
                Some((cut, depth)) if cut == *d => depth / self.block.points(*d),
                _ => self.blocks(*d, draft.cores),
            };
            add(Role::Sum, *d, trips);
        }
        loops
    }

    /// A draft's nest, with the inputs packed for which that takes fewer cycles.
    fn nest(&self, draft: &Draft) -> Nest {
        let loops = self.loops(draft);
        let plain: Vec<Loop> = loops.iter().map(|(_, each)| *each).collect();
        let kept = loops
            .iter()
            .take_while(|(role, _)| *role != Role::Sum)
            .count();
        let points: Vec<i64> = (0..self.views.points.len())
            .map(|d| {
                let blocks = self.blocks(d, draft.cores);
                blocks
                    .saturating_mul(self.block.points(d))
                    .min(self.views.size(d))
            })
            .collect();
        let block: Vec<i64> = (0..points.len())
            .map(|d| self.block.points(d).min(points[d]))
            .collect();
        let tiles = traffic::tiles(&plain, &block, &points);
        let at = At {
            draft,
            plain: &plain,
            kept,
            tiles: &tiles,
        };
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
        Nest {
            cores: draft.cores,
            cut: draft
                .cut
                .filter(|_| loops.iter().any(|(role, _)| *role == Role::Cut)),
            loops,
            packed,
            cycles,
        }
    }

    fn region(&self, view: &View) -> usize {
        let region = self.regions.iter().position(|r| r.buffer == view.buffer);
        region.unwrap_or(0)
    }

    /// Before which loop a copy takes the fewest cycles; the innermost of those.
    fn where_to_pack(&self, at: &At, view: &View) -> usize {
        let cycles: Vec<f64> = (0..=at.kept).map(|n| self.copying(at, view, n)).collect();
        let least = cycles.iter().copied().fold(f64::INFINITY, f64::min);
        let is_least = |cycles: &f64| *cycles <= least * 1.01;
        cycles.iter().rposition(is_least).unwrap_or(0)
    }

    fn copying(&self, at: &At, view: &View, before: usize) -> f64 {
        let region = &self.regions[self.region(view)];
        let Taken {
            elements,
            bytes,
            runs,
            ..
        } = region.taken(&at.tiles[before]);
        let last = |d: usize| self.views.motion(view, d) == Motion::Next;
        // What is next to each other in the block.
        let inner = self
            .block
            .lanes
            .map(|(d, _)| d)
            .filter(|d| region.moves(*d));
        let inner = inner.or_else(|| {
            let unrolled = |d: &usize| self.block.unrolled[*d] > 1 && region.moves(*d);
            (0..self.block.unrolled.len()).rfind(unrolled)
        });
        // Blocks of as many neighbours as lanes can be transposed.
        let can_turn = |d: usize| {
            let lanes = self.block.lanes.filter(|(lane, _)| *lane == d);
            lanes.is_some_and(|(_, lanes)| elements / runs >= lanes as f64)
        };
        let cycles = match inner {
            Some(d) if !last(d) && can_turn(d) => elements * TURNED + runs * ROW,
            Some(d) if !last(d) => elements * SCATTER,
            _ => elements * COPY,
        };
        // It comes from where all of it has room, and goes to where the copy has; what is written
        // is brought before.
        let all = region.taken(&at.tiles[0]).bytes;
        let copied = elements * region.bytes_of_an_element();
        let read = bytes * traffic::cycles_a_byte(self.facts, all);
        let written = 2.0 * copied * traffic::cycles_a_byte(self.facts, copied);
        traffic::trips(&at.plain[..before]) * (cycles + read + written)
    }

    fn cycles(&self, at: &At, packed: &[(usize, usize)]) -> Cycles {
        let is_packed = |n: usize| packed.iter().any(|(view, _)| *view == n);
        let regions: Vec<bool> = (self.regions.iter())
            .map(|region| {
                packed
                    .iter()
                    .any(|(n, _)| self.views.all[*n].buffer == region.buffer)
            })
            .collect();
        let blocks = traffic::trips(at.plain);
        let results: f64 = self.block.unrolled.iter().map(|n| *n as f64).product();
        let loads = self.loads.iter().enumerate();
        let loads: f64 = loads
            .map(|(n, loads)| {
                if is_packed(n) {
                    loads.packed
                } else {
                    loads.plain
                }
            })
            .sum();
        let visits = traffic::trips(&at.plain[..at.kept]);
        let copying = packed
            .iter()
            .map(|(n, before)| self.copying(at, &self.views.all[*n], *before));
        Cycles {
            computing: blocks * (loads.max(results) / OPERATIONS).max(LATENCY),
            storing: visits * self.store_cycles(at.draft) + self.combine_cycles(at),
            moving: traffic::moving(
                self.facts,
                &self.regions,
                at.plain,
                at.kept,
                at.tiles,
                &regions,
            ),
            copying: copying.fold(0.0, |sum, one| sum + one),
        }
    }

    /// Of the results of a block.
    fn store_cycles(&self, draft: &Draft) -> f64 {
        let kept = |d: &usize| self.views.combine[*d] == Combine::Cc;
        let unrolled = (0..self.block.unrolled.len()).filter(kept);
        let results: f64 = unrolled.map(|d| self.block.unrolled[d] as f64).product();
        let ways = if draft.cut.is_some() { 2.0 } else { 1.0 };
        let outputs = self.views.all.iter().filter(|v| v.is_output);
        let each = outputs.map(|view| match self.block.lanes {
            // One lane after the other is added to half of the rest.
            Some((d, lanes)) if self.views.combine[d].is_pw() => 3.0 * (lanes as f64).log2(),
            Some((d, lanes)) if self.views.motion(view, d) != Motion::Next => 3.0 * lanes as f64,
            _ => 1.0,
        });
        START + results * ways * each.sum::<f64>()
    }

    /// Of combining what each core has of the results, if the cores share a combined dimension.
    fn combine_cycles(&self, at: &At) -> f64 {
        let is_combined = |d: usize| self.views.combine[d] != Combine::Cc;
        if !at.draft.cores.is_some_and(is_combined) {
            return 0.0;
        }
        let outputs = self.regions.iter().filter(|region| region.is_output);
        let bytes: f64 = outputs.map(|region| region.taken(&at.tiles[0]).bytes).sum();
        HAND_OVER + bytes * (self.facts.cores + 1) as f64 / COMBINED
    }

    /// What a nest is, in words and numbers.
    pub fn reason(&self, nest: &Nest, tried: usize) -> String {
        let names = self.computation.names();
        let loops: Vec<&str> = nest.loops.iter().map(|(_, l)| names[l.dimension]).collect();
        let Cycles {
            computing,
            storing,
            moving,
            copying,
        } = nest.cycles;
        let [l2, l3, main, pages] = moving;
        let million = |cycles: f64| format!("{:.3}", cycles / 1e6);
        format!(
            "of {tried} orders, cuts and tiles of the loops, {} takes the fewest cycles a core: {} \
             million to compute, {} to store, {} from L2, {} from L3, {} from memory, {} for \
             pages, {} to pack",
            loops.join(" "),
            million(computing),
            million(storing),
            million(l2),
            million(l3),
            million(main),
            million(pages),
            million(copying)
        )
    }
}

/// Where a draft stands while its cycles are counted.
struct At<'a> {
    draft: &'a Draft,
    plain: &'a [Loop],
    /// How many of the loops are not around the block alone.
    kept: usize,
    tiles: &'a [Vec<i64>],
}

impl Draft {
    fn with_inner_parts(&self, search: &Search, orders: &[Vec<usize>]) -> Vec<Draft> {
        let mut all = Vec::new();
        for order in orders {
            // An inner part of the last group would be where it is already.
            let outer = order.split_last().map_or(&[][..], |(_, outer)| outer);
            for d in outer
                .iter()
                .filter_map(|group| search.groups[*group].last())
            {
                let blocks = search.blocks(*d, self.cores);
                let parts = INNER.map(|power| 1i64 << power).filter(|n| *n < blocks);
                all.extend(parts.map(|parts| Draft {
                    order: order.clone(),
                    inner: Some((*d, parts)),
                    ..self.clone()
                }));
            }
        }
        all
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
