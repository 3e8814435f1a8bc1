//! The cycles of a nest, counted.

use super::super::rates::OPERATIONS;
use super::super::traffic::{self, Loop, Taken};
use super::super::views::{Motion, View};
use super::Search;
use super::visited::Visits;
use mdh_algebra::computation::Combine;

/// Cycles of a core, by cause.
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

/// Exposed part of what is not the bottleneck, while the rest is hidden behind it: of computing,
/// and of moving from the memories around L1, L2 and L3. The farther away, the less is prefetched.
const EXPOSED: [f64; 4] = [0.25, 0.2, 0.2, 0.3];
/// Cycles before the first and after the last operation of a block.
const START: f64 = 10.0;
/// Cycles in which a vector of results leaves registers, or comes back: nothing hides the last of a block, nor
/// the first of the next one.
const STORED: f64 = 2.0;
/// Cycles of an operation: with fewer results in that time, one waits for the other.
const LATENCY: f64 = 4.0;
/// Cycles to copy an element: with its neighbours, in a block that is transposed in registers, and
/// alone.
const COPY: f64 = 0.2;
const TRANSPOSED: f64 = 0.4;
const SCATTER: f64 = 1.5;
/// Cycles that a block which is transposed waits for the first neighbours of each of its rows: a
/// page that is looked up, and a line that nothing has prefetched.
const ROW: f64 = 20.0;
/// Cycles until all cores have what they are to do, and bytes of partial results that are combined
/// in a cycle.
pub(super) const HAND_OVER: f64 = 3000.0;
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

/// Loops whose cycles are counted.
pub(super) struct At {
    /// Visits of a part's points by a core.
    pub(super) visits: Visits,
    /// The dimensions that cores share.
    pub(super) cores: Vec<(usize, i64)>,
    /// True if a combined dimension is cut.
    pub(super) is_cut: bool,
    pub(super) plain: Vec<Loop>,
    /// Number of loops that are not around the block alone.
    pub(super) kept: usize,
    pub(super) tiles: Vec<Vec<i64>>,
}

impl Search<'_> {
    fn region(&self, view: &View) -> usize {
        let region = self.regions.iter().position(|r| r.buffer == view.buffer);
        region.unwrap_or(0)
    }

    /// Before which loop a copy takes the fewest cycles; the innermost of those.
    pub(super) fn where_to_pack(&self, at: &At, view: &View) -> usize {
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
        let can_transpose = |d: usize| {
            let lanes = self.block.lanes.filter(|(lane, _)| *lane == d);
            lanes.is_some_and(|(_, lanes)| elements / runs >= lanes as f64)
        };
        let cycles = match inner {
            Some(d) if !last(d) && can_transpose(d) => elements * TRANSPOSED + runs * ROW,
            Some(d) if !last(d) => elements * SCATTER,
            _ => elements * COPY,
        };
        // It comes from where all of it has room, and goes to where the copy has; what is written
        // is prefetched.
        let all_bytes = region.taken(&at.tiles[0]).bytes;
        let copied = elements * region.bytes_of_an_element();
        let read = bytes * traffic::cycles_a_byte(self.facts, all_bytes);
        let written = 2.0 * copied * traffic::cycles_a_byte(self.facts, copied);
        traffic::trips(&at.plain[..before]) * (cycles + read + written)
    }

    /// Returns the cycles of a nest with some inputs packed: positions of their views, and before
    /// which loop.
    pub(super) fn cycles(&self, at: &At, packed: &[(usize, usize)]) -> Cycles {
        let is_packed = |n: usize| packed.iter().any(|(view, _)| *view == n);
        let regions: Vec<bool> = (self.regions.iter())
            .map(|region| {
                packed
                    .iter()
                    .any(|(n, _)| self.views.all[*n].buffer == region.buffer)
            })
            .collect();
        let blocks = traffic::trips(&at.plain);
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
        let Visits { points, parts } = at.visits;
        let moving = traffic::moving(
            self.facts,
            &self.regions,
            &at.plain,
            at.kept,
            &at.tiles,
            &regions,
        );
        Cycles {
            computing: points * blocks * (loads.max(results) / OPERATIONS).max(LATENCY),
            storing: parts * visits * self.store_cycles(at) + self.combine_cycles(at),
            moving: moving.map(|cycles| points * cycles),
            copying: parts * copying.fold(0.0, |sum, one| sum + one),
        }
    }

    /// Of the results of a block.
    pub(super) fn store_cycles(&self, at: &At) -> f64 {
        let is_kept = |d: &usize| self.views.combine[*d] == Combine::Cc;
        let unrolled = (0..self.block.unrolled.len()).filter(is_kept);
        let results: f64 = unrolled.map(|d| self.block.unrolled[d] as f64).product();
        let ways = if at.is_cut { 2.0 } else { 1.0 };
        let outputs = self.views.all.iter().filter(|v| v.is_output);
        let stores = outputs.map(|view| match self.block.lanes {
            // One lane after the other is added to half of the rest.
            Some((d, lanes)) if self.views.combine[d].is_pw() => 3.0 * (lanes as f64).log2(),
            Some((d, lanes)) if self.views.motion(view, d) != Motion::Next => 3.0 * lanes as f64,
            _ => 1.0,
        });
        START + STORED * results * ways * stores.sum::<f64>()
    }

    /// Of combining what each core has of the results, if the cores share a combined dimension.
    fn combine_cycles(&self, at: &At) -> f64 {
        let is_combined = |(d, _): &(usize, i64)| self.views.combine[*d] != Combine::Cc;
        if !at.cores.iter().any(is_combined) {
            return 0.0;
        }
        let outputs = self.regions.iter().filter(|region| region.is_output);
        let bytes: f64 = outputs.map(|region| region.taken(&at.tiles[0]).bytes).sum();
        HAND_OVER + bytes * (self.facts.cores + 1) as f64 / COMBINED
    }
}
