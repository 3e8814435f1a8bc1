//! A finer estimate, by which schedules of one computation are ranked: what the warps of a multiprocessor
//! ask of its schedulers, its first-level cache and the banks of its shared memory, how long one
//! warp waits for memory, the sectors that blocks read and write, and the combination of partial
//! results.
//!
//! Its constants are facts about an H100, not about programs; what it took for schedules of several
//! programs (`tuner/measured/h100.json`) is compared with it in a test.

mod accesses;

use super::{LAUNCH, Parts, all_spans, estimate, width};
use crate::asm::MATRIX;
use crate::asm::facts::{SECTOR, WARP};
use crate::gpu::{Estimate, Gpu};
use crate::resolved::{Level, Resolved};
use accesses::Accesses;
use mdh_algebra::computation::{Buffer, Computation};

/// Instructions that a multiprocessor issues in a cycle.
const ISSUED: f64 = 4.0;
/// Instructions of a step beside loads and arithmetic.
const OF_STEP: f64 = 8.0;
/// Instructions of a load or store, with its address.
const OF_ACCESS: f64 = 2.0;
/// Loads and stores, with their addresses, that an access of a copy to shared memory is.
const OF_COPY: f64 = 5.0;
/// Instructions that a product of matrices of a warp takes the time of.
const OF_PRODUCT: f64 = 8.0;
/// Instructions of a combination of what the threads of a warp have.
const OF_SHUFFLES: f64 = 40.0;
/// Independent results of a thread that hide the latency of arithmetic.
const RESULTS: f64 = 4.0;
/// The cycles from one instruction of a warp to the next that depends on it, beside others' of it.
const DEPENDENT: f64 = 2.0;
/// Registers from which on a thread keeps results in memory, and how much slower that is.
const SPILLED: (f64, f64) = (250.0, 3.0);
/// The factor for threads whose results are apart and are kept in memory since a last step is not full:
/// code indexes them.
const INDEXED: f64 = 8.0;
/// Cycles from asking the second-level cache for a tile to having it in shared memory.
const COPY: f64 = 800.0;
/// Cycles in which the threads of a block wait for each other.
const BARRIER: f64 = 60.0;
/// Cycles of a load that does not go through shared memory, and of one that cannot start before threads
/// have waited for each other.
const LOAD: f64 = 300.0;
const BEHIND: f64 = 600.0;
/// Steps of a loop, or accesses of a copy, that are in flight, as code is unrolled.
const UNROLLED: f64 = 4.0;
/// Bytes of a multiprocessor's first-level cache that are not shared memory.
const FIRST_LEVEL: f64 = 192.0 * 1024.0;
/// The share of the schedulers and of the memories' ports that the other of them does not hide.
const EXPOSED: f64 = 0.5;
/// The same of the kernel and of the device's memory.
const UNHIDDEN: f64 = 0.3;
/// Threads of a block that combine partial results of blocks.
const MERGING: f64 = 256.0;
/// Seconds in which each of them has the first part of a result, and another one.
const MERGED: (f64, f64) = (600e-9, 10e-9);
/// Seconds of a block's part of a prefix-sum, which one thread goes through.
const CHAINED: f64 = 50e-9;

/// Estimated seconds of a schedule, for a comparison with others; `None` where sizes are not known.
pub fn refined(resolved: &Resolved, computation: &Computation, gpu: &Gpu) -> Option<f64> {
    let first = estimate(resolved, computation, gpu)?;
    let tiles = resolved.tiles(&[])?;
    let parts = Parts {
        resolved,
        computation,
        tiles: &tiles,
    };
    let accesses = parts.accesses()?;
    let used = gpu.multiprocessors.min(first.blocks);
    let at_once = first.blocks_at_once().min((first.blocks / used).ceil());
    // (A grid that fills the multiprocessors exactly is no wave more.)
    let waves = (first.blocks / (used * at_once) - 1e-9).ceil();
    let cycles = parts.wave(&accesses, &first, at_once);
    let computing = waves * cycles / gpu.clock;
    let memory = parts.memory(&accesses, &first, at_once, gpu)?;
    let (longer, shorter) = (computing.max(memory), computing.min(memory));
    Some(LAUNCH + longer + UNHIDDEN * shorter + parts.merged(&first, gpu)?)
}

impl Parts<'_> {
    fn sequential(&self) -> impl Iterator<Item = Level> + '_ {
        self.levels().filter(|level| self.is_sequential(*level))
    }

    fn is_sequential(&self, level: Level) -> bool {
        matches!(self.layer(level), "device" | "shared")
    }

    fn is_sum(&self, level: &Level) -> bool {
        self.computation.dimensions[level.dimension].combine.is_pw()
    }

    fn product_of(&self, levels: impl Iterator<Item = Level>) -> f64 {
        let counts = levels.map(|level| self.tiles.count(level) as f64);
        counts.product()
    }

    /// The parts of a level that have points.
    fn filled(&self, level: Level) -> f64 {
        let (all, size) = (self.tiles.points[level.dimension], self.tiles.size(level));
        let needed = (all as f64 / size.max(1) as f64).ceil().max(1.0);
        needed.min(self.tiles.count(level) as f64)
    }

    /// The levels of a thread's registers and products.
    fn inner(&self) -> impl Iterator<Item = Level> + '_ {
        let is_inner = |level: &Level| matches!(self.layer(*level), "register" | MATRIX);
        self.levels().filter(is_inner)
    }

    /// Instructions of a warp.
    fn instructions(&self, accesses: &Accesses) -> f64 {
        let points: f64 = self.tiles.points.iter().map(|n| *n as f64).product();
        let flops = (self.computation.flops() / 2.0 / points.max(1.0)).max(1.0);
        let is_wide = |ty: &mdh_algebra::scalar::ScalarType| ty.byte_width() == 8;
        let wide = match self.computation.components.iter().any(is_wide) {
            true => 2.0,
            false => 1.0,
        };
        let results = self.levels().filter(|l| self.layer(*l) == "register");
        let results: f64 = results.map(|level| self.filled(level)).product();
        let arithmetic = match self.count(MATRIX) > 1.0 {
            true => results * OF_PRODUCT,
            false => results * flops * wide,
        };
        let exchanges = |level: &Level| self.layer(*level) == "thread" && self.is_sum(level);
        let shuffles = match self.levels().any(|level| exchanges(&level)) {
            true => OF_SHUFFLES,
            false => 0.0,
        };
        let steps = self.product_of(self.sequential());
        let moved = (accesses.count + OF_COPY * accesses.copied) * OF_ACCESS;
        (arithmetic + OF_STEP) * steps + moved + shuffles
    }

    /// Returns whether a thread has points that are not neighbours, and a sum has a step that is not full.
    fn is_indexed(&self) -> bool {
        let is_apart = |level: &Level| {
            let mut levels = self.levels();
            let is_inside =
                |inner: &Level| self.layer(*inner) == "thread" && inner.layer > level.layer;
            !self.is_sum(level)
                && levels.any(|inner| inner.dimension == level.dimension && is_inside(&inner))
        };
        let registers = || self.levels().filter(|l| self.layer(*l) == "register");
        let is_short = |level: &Level| self.is_sum(level) && self.tiles.has_tail(level.dimension);
        registers().any(|level| is_apart(&level)) && registers().any(|level| is_short(&level))
    }

    /// Cycles of the blocks that a multiprocessor has at once.
    fn wave(&self, accesses: &Accesses, first: &Estimate, at_once: f64) -> f64 {
        let warps = at_once * (first.threads / WARP as f64).ceil();
        let spilled = match (self.is_indexed(), first.registers >= SPILLED.0) {
            (true, _) => INDEXED,
            (false, true) => SPILLED.1,
            _ => 1.0,
        };
        let instructions = self.instructions(accesses) * spilled;
        let issued = instructions / ISSUED * warps;
        let ports = accesses.cycles * spilled * warps;
        let busy = issued.max(ports) + EXPOSED * issued.min(ports);
        let unsummed = self.inner().filter(|level| !self.is_sum(level));
        let results: f64 = unsummed.map(|level| self.filled(level)).product();
        let path = instructions * DEPENDENT / results.clamp(1.0, RESULTS);
        // Others fill the time in which one waits, and the longer of both hides the shorter.
        busy.hypot(path + accesses.waits)
    }

    /// Seconds of the memories that multiprocessors share.
    fn memory(
        &self,
        accesses: &Accesses,
        first: &Estimate,
        at_once: f64,
        gpu: &Gpu,
    ) -> Option<f64> {
        let reached = (first.reached * UNROLLED).min(1.0);
        let mut device = first.device_bytes / gpu.bandwidth / reached;
        let mut cache = accesses.written * self.warps(first) * SECTOR as f64;
        for (n, buffer) in self.computation.inputs.iter().enumerate() {
            let whole = self.bytes(buffer, &all_spans(self.tiles))?;
            let moved = self.moved(buffer, whole)?.0;
            cache += match accesses.tiles[n] {
                Some(bytes) => bytes * first.blocks,
                None => {
                    let inside = self.levels().filter(|level| self.layer(*level) != "block");
                    let of_block = self.bytes(buffer, &self.tiles.spans(inside))?;
                    match of_block * at_once <= FIRST_LEVEL {
                        true => moved.min(of_block * first.blocks),
                        false => moved,
                    }
                }
            };
        }
        for buffer in &self.computation.outputs {
            let whole = self.bytes(buffer, &all_spans(self.tiles))?;
            device += whole * self.partly(buffer) / gpu.bandwidth;
        }
        let cache = cache / gpu.cache_bandwidth;
        Some(device.max(cache))
    }

    fn warps(&self, first: &Estimate) -> f64 {
        first.blocks * (first.threads / WARP as f64).ceil()
    }

    /// The excess of what the device moves of a result whose sectors several blocks write a part of: each of
    /// them reads and writes all of it.
    fn partly(&self, buffer: &Buffer) -> f64 {
        let rank = self.tiles.points.len();
        let last = buffer.accesses.first().and_then(|access| access.map.last());
        let Some(form) = last.and_then(|expr| expr.linear(rank)) else {
            return 0.0;
        };
        let inside = self.levels().filter(|level| self.layer(*level) != "block");
        let spans = inside.map(|level| {
            let moved = form.coefficients[level.dimension].abs() * self.tiles.size(level);
            moved as f64 * (self.tiles.count(level) - 1) as f64
        });
        let run = (1.0 + spans.sum::<f64>()) * width(buffer);
        let row = buffer.shape.last().copied().flatten().unwrap_or(1) as f64 * width(buffer);
        match run < row.min(SECTOR as f64) {
            true => 2.0 * SECTOR as f64 / run - 1.0,
            false => 0.0,
        }
    }

    /// Seconds for partial results of blocks that share a sum: another kernel, each of whose threads goes
    /// through its results.
    fn merged(&self, first: &Estimate, gpu: &Gpu) -> Option<f64> {
        let of_blocks = || self.levels().filter(|l| self.layer(*l) == "block");
        let dimensions = &self.computation.dimensions;
        let chained = of_blocks().filter(|l| dimensions[l.dimension].combine.is_ps());
        let chained = self.product_of(chained);
        if chained > 1.0 {
            return Some(2.0 * LAUNCH + chained * CHAINED);
        }
        let parts = self.product_of(of_blocks().filter(|level| self.is_sum(level)));
        if parts < 2.0 {
            return Some(0.0);
        }
        let (mut bytes, mut points) = (0.0, 0f64);
        for buffer in &self.computation.outputs {
            let written = self.bytes(buffer, &all_spans(self.tiles))?;
            bytes += written;
            points = points.max(written / width(buffer));
        }
        let blocks = first.blocks / parts;
        let per_thread = (points / blocks / MERGING).ceil();
        let rounds = (blocks / gpu.multiprocessors / 8.0).ceil();
        let path = per_thread * rounds * (MERGED.0 + parts * MERGED.1);
        Some(LAUNCH + path + 2.0 * parts * bytes / gpu.cache_bandwidth)
    }
}
