//! A finer estimate, by which schedules of one computation are ranked: beside the roofs of
//! [`super::estimate`], what warps ask of the first-level cache, instructions, the latency of steps
//! that wait for memory, and partial results of blocks that share a sum.
//!
//! Its constants are round numbers; it is for what differs among schedules, and not for times.

use std::collections::BTreeSet;

use super::{LANES, LAUNCH, Parts, WIDEST, estimate, width};
use crate::asm::MATRIX;
use crate::computation::{Buffer, Computation};
use crate::schedule::gpu::Gpu;
use crate::schedule::resolved::{Level, Resolved};

/// Bytes of a sector of memory, and sectors that the first-level cache gives in a cycle.
const SECTOR: i64 = 32;
const SECTORS: f64 = 4.0;
/// Instructions that a multiprocessor issues in a cycle.
const ISSUED: f64 = 4.0;
/// Instructions of a step beside loads and arithmetic.
const OF_STEP: f64 = 8.0;
/// Instructions of a load or store.
const OF_ACCESS: f64 = 2.0;
/// Instructions of a combination of what the threads of a warp have.
const OF_SHUFFLES: f64 = 40.0;
/// Warps, times independent results of each, that keep a multiprocessor busy.
const BUSY: f64 = 24.0;
/// Independent results of a thread that hide latency.
const RESULTS: f64 = 4.0;
/// Seconds of a step that waits for the second-level cache.
const STEP: f64 = 400e-9;
/// The share of what other roofs take that is not hidden behind the highest.
const EXPOSED: f64 = 0.15;
/// Registers from which on a thread keeps results in memory.
const SPILLED: f64 = 250.0;

/// Estimated seconds of a schedule, for a comparison with others; `None` where sizes are not known.
pub fn refined(resolved: &Resolved, computation: &Computation, gpu: &Gpu) -> Option<f64> {
    let first = estimate(resolved, computation, gpu)?;
    let tiles = resolved.tiles(&[])?;
    let of = Parts {
        resolved,
        computation,
        tiles: &tiles,
    };
    let used = gpu.multiprocessors.min(first.blocks);
    let warps = (first.threads / LANES as f64).ceil();
    let rounds = first.waves.ceil() / first.waves.max(1e-9);
    let rounds = if first.blocks < gpu.multiprocessors {
        1.0
    } else {
        rounds
    };
    let per_multiprocessor = warps * first.blocks / used * rounds;
    let steps = of.steps();
    let accesses = of.accesses()?;
    let results = of.results();
    let instructions = of.instructions(&accesses, steps);
    let spilled = if first.registers >= SPILLED { 3.0 } else { 1.0 };
    let resident = first.blocks_at_once().min((first.blocks / used).ceil());
    let busy = (resident * warps * results.min(RESULTS) / BUSY).min(1.0);
    let issue = instructions * spilled / ISSUED * per_multiprocessor / gpu.clock / busy;
    let sectors: f64 = accesses.iter().map(|own| own.cycles * own.times).sum();
    let cache = sectors * spilled * per_multiprocessor / gpu.clock;
    let banks = first.roofs[3].1;
    let waits = first.waves.ceil() * of.waits(steps) * STEP;
    let roofs = [
        first.roofs[1].1,
        first.roofs[2].1,
        issue,
        cache + banks,
        waits,
    ];
    let highest = roofs.iter().copied().fold(0.0, f64::max);
    let others = roofs.iter().sum::<f64>() - highest;
    Some(LAUNCH + highest + EXPOSED * others + of.merged(gpu)?)
}

/// Accesses of a warp to one buffer.
struct Accesses {
    /// Instructions of one step.
    count: f64,
    /// Cycles of the first-level cache for one step; none where shared memory is read.
    cycles: f64,
    /// The number of steps.
    times: f64,
}

impl Parts<'_> {
    fn sequential(&self) -> impl Iterator<Item = Level> + '_ {
        let own = |level: &Level| matches!(self.layer(*level), "device" | "shared");
        self.levels().filter(own)
    }

    /// Iterations of a thread's loops.
    fn steps(&self) -> f64 {
        let counts = self
            .sequential()
            .map(|level| self.tiles.count(level) as f64);
        counts.product()
    }

    fn is_sum(&self, level: &Level) -> bool {
        self.computation.dimensions[level.dimension].combine.is_pw()
    }

    /// Results of a thread that are independent of each other.
    fn results(&self) -> f64 {
        let own = self.levels().filter(|level| {
            matches!(self.layer(*level), "register" | MATRIX) && !self.is_sum(level)
        });
        own.map(|level| self.tiles.count(level) as f64).product()
    }

    /// Instructions of a warp.
    fn instructions(&self, accesses: &[Accesses], steps: f64) -> f64 {
        let points: f64 = self.tiles.points.iter().map(|n| *n as f64).product();
        let each = (self.computation.flops() / 2.0 / points.max(1.0)).max(1.0);
        let inner = |layer: &str| self.count(layer);
        let arithmetic = match inner(MATRIX) > 1.0 {
            true => inner("register"),
            false => inner("register") * each,
        };
        let loads: f64 = accesses.iter().map(|own| own.count * own.times).sum();
        let is_shared = self
            .levels()
            .any(|l| self.layer(l) == "thread" && self.is_sum(&l));
        let shuffles = if is_shared { OF_SHUFFLES } else { 0.0 };
        (arithmetic + OF_STEP) * steps + loads * OF_ACCESS + shuffles
    }

    /// Steps for which threads wait: each, unless what it reads was asked for before.
    fn waits(&self, steps: f64) -> f64 {
        let ahead = self.resolved.inputs.iter().filter_map(|plan| plan.stages);
        match ahead.max() {
            Some(stages) if stages > 1 => steps / stages as f64,
            _ => steps,
        }
    }

    /// Accesses to all buffers.
    fn accesses(&self) -> Option<Vec<Accesses>> {
        let shared = self.resolved.asm.position("shared")?;
        let mut all = Vec::new();
        for (plan, buffer) in self.resolved.inputs.iter().zip(&self.computation.inputs) {
            let is_staged = plan.region.iter().flatten().any(|own| *own == shared);
            let sequential: Vec<Level> = self.sequential().collect();
            let last = sequential
                .iter()
                .rposition(|l| self.uses(buffer, l.dimension));
            let loaded = &sequential[..last.map_or(0, |last| last + 1)];
            let times = loaded.iter().map(|l| self.tiles.count(*l) as f64).product();
            all.push(self.access(buffer, times, is_staged)?);
        }
        for (plan, buffer) in self.resolved.outputs.iter().zip(&self.computation.outputs) {
            let region = |level: &Level| plan.region[level.layer][level.dimension];
            let in_memory = |level: &Level| self.is_sum(level) && region(level) == 0;
            let rewrites = self.sequential().filter(in_memory);
            let rewrites: f64 = rewrites.map(|l| self.tiles.count(l) as f64).product();
            let times = if rewrites > 1.0 { 2.0 * rewrites } else { 1.0 };
            all.push(self.access(buffer, times, false)?);
        }
        Some(all)
    }

    fn access(&self, buffer: &Buffer, times: f64, is_staged: bool) -> Option<Accesses> {
        let own = self.in_registers(buffer)?.max(1.0);
        let bytes = width(buffer);
        let widest = (WIDEST / bytes).max(1.0);
        let wide = (self.run(buffer) as f64).clamp(1.0, widest);
        let count = (own / wide).ceil();
        let sectors = self.sectors(buffer, (wide * bytes) as i64) as f64;
        let cycles = if is_staged {
            0.0
        } else {
            count * (sectors / SECTORS).max(1.0)
        };
        Some(Accesses {
            count,
            cycles,
            times,
        })
    }

    /// Neighbours in memory that a thread has.
    fn run(&self, buffer: &Buffer) -> i64 {
        let rank = self.tiles.points.len();
        let access = buffer.accesses.first();
        let Some(last) = access.and_then(|access| access.map.last()?.linear(rank)) else {
            return 1;
        };
        let own = self.levels().filter(|level| {
            let d = level.dimension;
            self.layer(*level) == "register"
                && last.coefficients[d] == 1
                && self.tiles.size(*level) == 1
        });
        own.map(|level| self.tiles.count(level)).product()
    }

    /// Sectors of memory that the lanes of a warp access at once, so many bytes each.
    fn sectors(&self, buffer: &Buffer, bytes: i64) -> usize {
        let rank = self.tiles.points.len();
        let forms = buffer.accesses.first().map(|access| {
            let all = access.map.iter().map(|expr| expr.linear(rank));
            all.collect::<Option<Vec<_>>>()
        });
        let Some(Some(forms)) = forms else {
            return LANES as usize;
        };
        let mut strides = vec![buffer.element.byte_width() as i64; forms.len()];
        for axis in (1..forms.len()).rev() {
            let extent = buffer.shape[axis].unwrap_or(1 << 12).max(1);
            strides[axis - 1] = strides[axis].saturating_mul(extent);
        }
        let threads = self.resolved.assigned(&self.resolved.scalar, "thread");
        let mut found = BTreeSet::new();
        for lane in 0..LANES {
            let mut left = lane;
            let mut address = 0i64;
            for level in &threads {
                let count = self.tiles.count(*level).max(1);
                let part = left % count;
                left /= count;
                let points = part.saturating_mul(self.tiles.size(*level));
                for (form, stride) in forms.iter().zip(&strides) {
                    let moved = form.coefficients[level.dimension].saturating_mul(points);
                    address = address.saturating_add(moved.saturating_mul(*stride));
                }
            }
            if left == 0 {
                found.extend(address.div_euclid(SECTOR)..=(address + bytes - 1).div_euclid(SECTOR));
            }
        }
        found.len().max(1)
    }

    /// Seconds for partial results of blocks that share a sum.
    fn merged(&self, gpu: &Gpu) -> Option<f64> {
        let shared = self
            .levels()
            .filter(|l| self.layer(*l) == "block" && self.is_sum(l));
        let parts: f64 = shared.map(|level| self.tiles.count(level) as f64).product();
        if parts < 2.0 {
            return Some(0.0);
        }
        let mut bytes = 0.0;
        for buffer in &self.computation.outputs {
            bytes += self.bytes(buffer, &super::all_spans(self.tiles))?;
        }
        Some(2.0 * LAUNCH + 2.0 * parts * bytes / gpu.bandwidth)
    }
}
