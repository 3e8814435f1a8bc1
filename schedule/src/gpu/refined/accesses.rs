//! Demand of the warps of a block on the first-level cache and on shared memory.
//!
//! An access of a warp takes a cycle for each line of memory that its lanes touch, and for each row
//! of banks where several lanes want different words of one bank.

use std::collections::{BTreeMap, BTreeSet};

use super::{BARRIER, BEHIND, COPY, LOAD, UNROLLED};
use crate::asm::MATRIX;
use crate::asm::facts::{BANKS, DEVICE_LINE, SECTOR, WARP, WORD};
use crate::capacity::{Allocation, PhaseName, allocations};
use crate::gpu::{Parts, WIDEST, width};
use crate::resolved::Level;
use crate::staged_layout::StagedLayout;
use mdh_algebra::affine::Linear;
use mdh_algebra::computation::{Access, Buffer, Combine, Place};

/// Cycles of a store of a copy to shared memory, whose lanes are neighbours, and of its load.
const OF_COPY: f64 = 8.0;
/// Elements of a factor of a product of matrices that a thread has: of rows, and of columns.
const FACTORS: [f64; 2] = [8.0, 4.0];

/// Accesses of a warp, all together.
#[derive(Default)]
pub(super) struct Accesses {
    /// Loads and stores.
    pub count: f64,
    /// Loads, each with its store, of copies to shared memory.
    pub copied: f64,
    /// Cycles of the ports of the first-level cache and of shared memory.
    pub cycles: f64,
    /// Cycles in which a thread waits for what it has asked for.
    pub waits: f64,
    /// Sectors that stores take the time of: each line that a store touches is a request of its own.
    pub written: f64,
    /// Bytes that a block copies of each input that is in shared memory.
    pub tiles: Vec<Option<f64>>,
}

/// Elements of a buffer that the lanes of a warp access: each so many neighbours, at these places.
struct WarpAccess {
    places: Vec<i64>,
    wide: i64,
    count: f64,
}

impl Parts<'_> {
    /// Accesses to all buffers.
    pub(super) fn accesses(&self) -> Option<Accesses> {
        let shared = self.resolved.asm.position("shared")?;
        let allocated = allocations(self.resolved, self.computation, self.tiles)?;
        let mut accesses = Accesses::default();
        let steps = self.product_of(self.sequential());
        let (mut waits, mut is_read_directly) = (0f64, false);
        for (n, buffer) in self.computation.inputs.iter().enumerate() {
            let is_own = |allocation: &&Allocation| {
                allocation.place == Place::Input(n)
                    && allocation.region == shared
                    && matches!(allocation.phase, PhaseName::Decompose)
            };
            let tile = allocated.iter().find(is_own);
            let times = self.loads(buffer);
            for access in &buffer.accesses {
                let warp = self.warp_access(buffer, access, tile, true);
                accesses.count += warp.count * times;
                accesses.cycles +=
                    warp.count * times * self.cycles_of(&warp, buffer, tile.is_some());
            }
            match tile {
                Some(tile) => waits = waits.max(self.copy(n, buffer, tile, &mut accesses)),
                None => is_read_directly = true,
            }
            let bytes = tile.map(|tile| self.copies(tile) * elements(tile) * width(buffer));
            accesses.tiles.push(bytes);
        }
        if is_read_directly && waits > 0.0 {
            waits += steps * BEHIND;
        } else if is_read_directly {
            let last = self.sequential().last();
            let trips = last.map_or(1.0, |level| self.tiles.count(level) as f64);
            waits += steps * LOAD / trips.clamp(1.0, UNROLLED);
        }
        accesses.waits += waits;
        self.add_results(&mut accesses);
        Some(accesses)
    }

    /// Times that a thread loads what it has of an input at once.
    fn loads(&self, buffer: &Buffer) -> f64 {
        let sequential: Vec<Level> = self.sequential().collect();
        let last = sequential
            .iter()
            .rposition(|level| self.uses(buffer, level.dimension));
        let loaded = sequential.iter().take(last.map_or(0, |last| last + 1));
        self.product_of(loaded.copied())
    }

    /// Times that a block copies a tile.
    fn copies(&self, tile: &Allocation) -> f64 {
        let outside = self.resolved.decompose.order[..tile.position].iter();
        self.product_of(outside.copied().filter(|level| self.is_sequential(*level)))
    }

    /// Adds the copies of a tile; returns the cycles in which threads wait for them.
    fn copy(&self, n: usize, buffer: &Buffer, tile: &Allocation, accesses: &mut Accesses) -> f64 {
        let mut wide = (WIDEST / width(buffer)).clamp(1.0, 8.0) as i64;
        let rows = [
            tile.shape.last().copied(),
            buffer.shape.last().copied().flatten(),
        ];
        let is_cut = |wide: i64| rows.iter().flatten().any(|row| row % wide != 0);
        while wide > 1 && is_cut(wide) {
            wide /= 2;
        }
        let threads = self.count("thread") * self.count("warp");
        let lanes = (threads / WARP as f64).ceil() * WARP as f64;
        let per_thread = (elements(tile) / (lanes * wide as f64)).ceil();
        let times = self.copies(tile);
        accesses.copied += per_thread * times;
        accesses.cycles += per_thread * times * OF_COPY;
        match self.resolved.inputs[n].stages.unwrap_or(1) {
            stages if stages > 1 => times * (COPY / stages as f64 + BARRIER),
            _ => {
                let rounds = (per_thread / UNROLLED).ceil();
                accesses.waits += times * COPY * (rounds - 1.0);
                times * (COPY + 2.0 * BARRIER)
            }
        }
    }

    fn add_results(&self, accesses: &mut Accesses) {
        for (plan, buffer) in self.resolved.outputs.iter().zip(&self.computation.outputs) {
            let in_memory = |level: &Level| {
                self.is_sum(level) && plan.region[level.layer][level.dimension] == 0
            };
            let rewrites = self.product_of(self.sequential().filter(in_memory));
            let times = if rewrites > 1.0 { 2.0 * rewrites } else { 1.0 };
            for access in &buffer.accesses {
                let warp = self.warp_access(buffer, access, None, false);
                accesses.count += warp.count * times;
                accesses.cycles += warp.count * times * self.cycles_of(&warp, buffer, false);
                let lines =
                    sectors(&warp, width(buffer), DEVICE_LINE) * (DEVICE_LINE / SECTOR) as f64;
                let moved = lines.max(sectors(&warp, width(buffer), SECTOR));
                accesses.written += warp.count * times * moved;
            }
        }
    }

    /// Cycles of one access.
    fn cycles_of(&self, request: &WarpAccess, buffer: &Buffer, is_shared: bool) -> f64 {
        match is_shared {
            true => banks(request, width(buffer)),
            false => {
                let lines = sectors(request, width(buffer), DEVICE_LINE);
                let in_line = (DEVICE_LINE / SECTOR) as f64;
                lines.max(sectors(request, width(buffer), SECTOR) / in_line)
            }
        }
    }

    /// Returns whether the operands of a sum are loaded for each of its terms: its loop is outside of the
    /// results' or there are none that keep them.
    fn loads_again(&self) -> bool {
        let mut registers = self.levels().filter(|l| self.layer(*l) == "register");
        let is_first = registers.next().is_some_and(|level| self.is_sum(&level));
        let dimensions = &self.computation.dimensions;
        is_first || dimensions.iter().all(|d| d.combine == Combine::Cc)
    }

    /// The access of a warp to what a thread has of a buffer.
    fn warp_access(
        &self,
        buffer: &Buffer,
        access: &Access,
        tile: Option<&Allocation>,
        is_input: bool,
    ) -> WarpAccess {
        let levels: Vec<Level> = self
            .inner()
            .filter(|l| access.map.iter().any(|e| e.uses(l.dimension)))
            .collect();
        let points: f64 = levels.iter().map(|level| self.filled(*level)).product();
        let Some(place) = self.place(buffer, access, tile) else {
            // Nobody knows: each lane has a line of its own.
            let places = (0..WARP).map(|lane| lane * DEVICE_LINE).collect();
            return WarpAccess {
                places,
                wide: 1,
                count: points,
            };
        };
        if let Some(factor) = self.factor(&levels, &place).filter(|_| is_input) {
            return factor;
        }
        let again = self.loads_again();
        let distinct = self.in_registers(buffer).unwrap_or(points) / buffer.accesses.len() as f64;
        let count = match is_input && !again && self.count(MATRIX) <= 1.0 {
            true => distinct,
            false => points,
        };
        let several = buffer.accesses.len() > 1;
        let most = if several {
            1
        } else {
            (WIDEST / width(buffer)) as i64
        };
        let wide = self.wide(&levels, &place, most, again, tile.is_some());
        WarpAccess {
            places: self.lanes(&place),
            wide,
            count: count / wide as f64,
        }
    }

    /// The place in memory that points have in a buffer or a tile of it.
    fn place(&self, buffer: &Buffer, access: &Access, tile: Option<&Allocation>) -> Option<Linear> {
        let rank = self.tiles.points.len();
        let strides = match tile {
            Some(tile) => strides(&tile.shape, &tile.layout),
            None => {
                let extent = |n: &Option<i64>| n.unwrap_or(1 << 12);
                let shape: Vec<i64> = buffer.shape.iter().map(extent).collect();
                strides(&shape, &StagedLayout::row_major())
            }
        };
        let mut address = Linear {
            coefficients: vec![0; rank],
            constant: 0,
        };
        for (expr, stride) in access.map.iter().zip(&strides) {
            let form = expr.linear(rank)?;
            for (sum, term) in address.coefficients.iter_mut().zip(&form.coefficients) {
                *sum = sum.saturating_add(term.saturating_mul(*stride));
            }
            let moved = form.constant.saturating_mul(*stride);
            address.constant = address.constant.saturating_add(moved);
        }
        if tile.is_some() {
            address.constant = 0;
        }
        Some(address)
    }

    /// Neighbours that a thread accesses at once: a power of two, at multiples of it.
    fn wide(&self, levels: &[Level], place: &Linear, most: i64, again: bool, in_tile: bool) -> i64 {
        let is_own = |level: &&Level| !(again && self.is_sum(level));
        let mut inner: Vec<Level> = levels.iter().filter(is_own).copied().collect();
        inner.sort_by_key(|level| self.tiles.size(*level));
        let moved = |level: Level| {
            let stride = place.coefficients[level.dimension];
            stride
                .saturating_mul(self.tiles.size(level))
                .saturating_abs()
        };
        let (mut run, mut chain) = (1, Vec::new());
        for level in inner {
            if moved(level) == run {
                run *= self.filled(level) as i64;
                chain.push(level);
            }
        }
        let outside: Vec<i64> = self
            .levels()
            .filter(|level| !chain.contains(level))
            .filter(|level| !in_tile || self.layer(*level) != "block")
            .map(moved)
            .collect();
        let fits = |wide: i64| {
            let mut offsets = outside.iter().chain([&run, &place.constant]);
            offsets.all(|n| n % wide == 0)
        };
        let mut wide = 1;
        while 2 * wide <= most && fits(2 * wide) {
            wide *= 2;
        }
        wide
    }

    /// The places of the lanes of a warp.
    fn lanes(&self, place: &Linear) -> Vec<i64> {
        let threads = self.resolved.assigned(&self.resolved.scalar, "thread");
        let mut places = Vec::new();
        for lane in 0..WARP {
            let (mut left, mut at) = (lane, 0i64);
            for level in &threads {
                let count = self.tiles.count(*level).max(1);
                let point = (left % count).saturating_mul(self.tiles.size(*level));
                let moved = place.coefficients[level.dimension].saturating_mul(point);
                at = at.saturating_add(moved);
                left /= count;
            }
            if left == 0 {
                places.push(at);
            }
        }
        places
    }

    /// A factor of a product of matrices: lanes have pairs of neighbours along the sum, if these are
    /// neighbours in memory.
    fn factor(&self, levels: &[Level], place: &Linear) -> Option<WarpAccess> {
        let matrix: Vec<&Level> = levels
            .iter()
            .filter(|l| self.layer(**l) == MATRIX)
            .collect();
        let sum = matrix.iter().find(|level| self.is_sum(level))?.dimension;
        let kept_dim = matrix.iter().find(|level| !self.is_sum(level))?.dimension;
        let threads = self.resolved.assigned(&self.resolved.scalar, "thread");
        let is_column = threads
            .first()
            .is_some_and(|first| first.dimension == kept_dim);
        let factors = FACTORS[usize::from(is_column)];
        let wide = if place.coefficients[sum] == 1 { 2 } else { 1 };
        let registers = levels.iter().filter(|l| self.layer(**l) == "register");
        let times: f64 = registers.map(|level| self.filled(*level)).product();
        let of_thread = threads.iter().find(|level| level.dimension == kept_dim)?;
        let size = self.tiles.size(*of_thread);
        // Rows are those of the threads that have their results; of columns each has two.
        let kept_at = |group: i64| match is_column {
            true => group / 2 * size + group % 2,
            false => group * size,
        };
        let at = |lane: i64| {
            let terms = place.coefficients[sum] * 2 * (lane % 4);
            place.coefficients[kept_dim] * kept_at(lane / 4) + terms
        };
        Some(WarpAccess {
            places: (0..WARP).map(at).collect(),
            wide,
            count: times * factors / wide as f64,
        })
    }
}

fn elements(tile: &Allocation) -> f64 {
    tile.shape.iter().map(|n| *n as f64).product()
}

/// The distances of neighbours along each axis of a tile.
fn strides(shape: &[i64], layout: &StagedLayout) -> Vec<i64> {
    let plain = StagedLayout::row_major();
    let layout = if layout.algebra().is_some() {
        &plain
    } else {
        layout
    };
    let offset = |axis: usize| {
        let index: Vec<i64> = (0..shape.len()).map(|n| i64::from(n == axis)).collect();
        layout.offset(shape, &index)
    };
    (0..shape.len()).map(offset).collect()
}

/// Runs of so many bytes, at multiples of that, that the lanes of a warp touch.
fn sectors(access: &WarpAccess, width: f64, bytes: i64) -> f64 {
    let width = width as i64;
    let mut touched = BTreeSet::new();
    for place in &access.places {
        let first = place.saturating_mul(width);
        let last = first.saturating_add(access.wide * width - 1);
        touched.extend(first.div_euclid(bytes)..=last.div_euclid(bytes));
    }
    touched.len().max(1) as f64
}

/// Cycles in which the banks of shared memory give the lanes of a warp their words: those who read more
/// than one word come in several rounds.
fn banks(access: &WarpAccess, width: f64) -> f64 {
    let words = (access.wide * width as i64 / WORD).max(1);
    let rounds = words.min(4) as usize;
    let chunk = access.places.len().div_ceil(rounds).max(1);
    let mut cycles = 0;
    for lanes in access.places.chunks(chunk) {
        let mut wanted: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for place in lanes {
            let first = place * width as i64 / WORD;
            for word in first..first + words {
                wanted
                    .entry(word.rem_euclid(BANKS))
                    .or_default()
                    .insert(word);
            }
        }
        cycles += wanted.values().map(BTreeSet::len).max().unwrap_or(1);
    }
    cycles as f64
}
