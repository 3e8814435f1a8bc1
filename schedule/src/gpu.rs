//! Estimated time of a schedule on a GPU, from its operations, its bytes, and the number of
//! resident threads, where nothing can be measured.
//!
//! The roofs are those of the plain arithmetic units, of the device's memory (each element once, since
//! blocks that read the same run at about the same time), of the second-level cache (what every block
//! reads and writes), and of the banks of shared memory. A grid that does not fill the multiprocessors
//! uses a part of them, and threads that have too few bytes in flight do not reach the memory's
//! bandwidth (Little's law).

mod refined;

use super::capacity::allocations;
use super::footprint::footprint;
use super::resolved::{Level, Resolved};
use super::tiles::{Span, Tiles};
use crate::asm::facts::{BANKS, WARP, WORD};
use crate::asm::{Asm, CudaFacts};
use mdh_algebra::computation::{Access, Buffer, Computation, Place};

pub use refined::refined;

/// Facts about a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gpu {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// Streaming multiprocessors.
    pub multiprocessors: f64,
    /// Cycles in a second, at most.
    pub clock: f64,
    /// Multiply-adds of f32 that a multiprocessor does in a cycle.
    pub lanes: f64,
    /// Lanes for f64.
    pub wide_lanes: f64,
    /// Bytes of device memory.
    pub memory: u64,
    /// Bytes that it moves in a second.
    pub bandwidth: f64,
    /// Bytes that the second-level cache gives in a second.
    pub cache_bandwidth: f64,
    /// Bytes of shared memory of a multiprocessor.
    pub shared: f64,
}

/// Registers of a multiprocessor, of 4 bytes.
const REGISTERS: f64 = 65536.0;
/// Threads that a multiprocessor holds.
const THREADS: f64 = 2048.0;
/// Blocks that it holds.
const BLOCKS: f64 = 32.0;
/// Bytes that the banks of shared memory give in a cycle.
const OF_BANKS: f64 = (BANKS * WORD) as f64;
/// Bytes of the widest access of a thread.
const WIDEST: f64 = 16.0;
/// Seconds from asking the device's memory to having what was asked for.
const LATENCY: f64 = 600e-9;
/// Bytes that a thread has in flight at most: four of the widest accesses.
const IN_FLIGHT: f64 = 4.0 * WIDEST;
/// Seconds from a launch to its end, if there is nothing to do.
const LAUNCH: f64 = 2e-6;
/// Registers that a thread needs beside what it computes with.
const OVERHEAD: f64 = 16.0;

impl Gpu {
    /// Known GPUs, from NVIDIA's data sheets (A100 80 GB, H100 SXM, H200 SXM, B200).
    pub const ALL: [Gpu; 4] = [
        Gpu {
            name: "a100",
            multiprocessors: 108.0,
            clock: 1.41e9,
            lanes: 64.0,
            wide_lanes: 32.0,
            memory: 80 << 30,
            bandwidth: 2.04e12,
            cache_bandwidth: 4.5e12,
            shared: 164.0 * 1024.0,
        },
        Gpu {
            name: "h100",
            multiprocessors: 132.0,
            clock: 1.98e9,
            lanes: 128.0,
            wide_lanes: 64.0,
            memory: 80 << 30,
            bandwidth: 3.35e12,
            cache_bandwidth: 5.5e12,
            shared: 228.0 * 1024.0,
        },
        Gpu {
            name: "h200",
            multiprocessors: 132.0,
            clock: 1.98e9,
            lanes: 128.0,
            wide_lanes: 64.0,
            memory: 141_000_000_000,
            bandwidth: 4.8e12,
            cache_bandwidth: 5.5e12,
            shared: 228.0 * 1024.0,
        },
        Gpu {
            name: "b200",
            multiprocessors: 148.0,
            clock: 1.96e9,
            lanes: 128.0,
            wide_lanes: 64.0,
            memory: 180_000_000_000,
            bandwidth: 8.0e12,
            cache_bandwidth: 10.0e12,
            shared: 228.0 * 1024.0,
        },
    ];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Gpu> {
        Gpu::ALL.into_iter().find(|gpu| gpu.name == name)
    }

    /// The abstract system model, `cuda` with its facts.
    pub fn asm(&self) -> Asm {
        Asm::cuda(&CudaFacts {
            device: Some(self.memory),
            multiprocessors: Some(self.multiprocessors as u64),
            ..CudaFacts::default()
        })
    }
}

/// Resources and time of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Blocks of the grid.
    pub blocks: f64,
    /// Threads of a block.
    pub threads: f64,
    /// Bytes of a block's shared memory.
    pub shared: f64,
    /// Registers of a thread, estimated.
    pub registers: f64,
    /// Blocks that are resident on a multiprocessor at a time, by what limits them.
    pub resident: [(&'static str, f64); 4],
    /// Number of times that the grid fills the multiprocessors.
    pub waves: f64,
    /// The part of the memory's bandwidth that threads can ask for.
    pub reached: f64,
    /// Bytes to and from the device's memory.
    pub device_bytes: f64,
    /// Bytes to and from the second-level cache.
    pub cache_bytes: f64,
    /// Seconds: what takes them, and how many. The longest one counts.
    pub roofs: [(&'static str, f64); 4],
    /// Seconds of all of it.
    pub time: f64,
}

impl Estimate {
    /// Blocks that are resident on a multiprocessor at a time.
    pub fn blocks_at_once(&self) -> f64 {
        let blocks = self.resident.iter().map(|(_, blocks)| *blocks);
        blocks.fold(f64::INFINITY, f64::min).max(1.0)
    }

    /// Returns the bottleneck and its time.
    pub fn bound(&self) -> (&'static str, f64) {
        let longest = self.roofs.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        longest.copied().unwrap_or(("nothing", 0.0))
    }
}

/// Estimates a schedule of blocks and threads; `None` where sizes are not known.
pub fn estimate(resolved: &Resolved, computation: &Computation, gpu: &Gpu) -> Option<Estimate> {
    let tiles = resolved.tiles(&[])?;
    let parts = Parts {
        resolved,
        computation,
        tiles: &tiles,
    };
    let occupancy = parts.occupancy(gpu)?;
    let traffic = parts.traffic()?;
    let Occupancy {
        blocks,
        threads,
        used,
        ..
    } = occupancy;
    let waves = blocks / (gpu.multiprocessors * occupancy.at_once);
    // The last wave takes as long as the others.
    let filled = waves / waves.ceil();
    let busy = if blocks < gpu.multiprocessors {
        1.0
    } else {
        filled
    };
    let per_thread = (traffic.step / threads).min(IN_FLIGHT);
    let in_flight = occupancy.at_once * used * threads * per_thread;
    let reached = (in_flight / (gpu.bandwidth * LATENCY)).min(1.0);
    let is_wide = computation.components.iter().any(|ty| ty.byte_width() == 8);
    let lanes = if is_wide { gpu.wide_lanes } else { gpu.lanes };
    let rate = 2.0 * lanes * used * gpu.clock * busy;
    let banks = parts.bank_cycles()? * blocks / used / gpu.clock / busy;
    let roofs = [
        ("computing", computation.flops() / rate),
        ("device memory", traffic.device / gpu.bandwidth / reached),
        ("second-level cache", traffic.cache / gpu.cache_bandwidth),
        ("shared memory", banks),
    ];
    let longest = roofs.iter().map(|roof| roof.1).fold(0.0, f64::max);
    Some(Estimate {
        blocks,
        threads,
        shared: occupancy.shared,
        registers: occupancy.registers,
        resident: occupancy.resident,
        waves,
        reached,
        device_bytes: traffic.device,
        cache_bytes: traffic.cache,
        roofs,
        time: LAUNCH + longest,
    })
}

/// A launch's use of the multiprocessors; fields as in [`Estimate`].
struct Occupancy {
    blocks: f64,
    threads: f64,
    shared: f64,
    registers: f64,
    resident: [(&'static str, f64); 4],
    /// Blocks on a multiprocessor at a time, of those that there are.
    at_once: f64,
    /// Multiprocessors that have a block.
    used: f64,
}

/// Bytes that a launch moves.
struct Traffic {
    /// To and from the device's memory.
    device: f64,
    /// To and from the second-level cache.
    cache: f64,
    /// Those of a block's step.
    step: f64,
}

/// Returns the number of things of a size that fit.
fn floor_of(all: f64, one: f64) -> f64 {
    if one > 0.0 {
        (all / one).floor()
    } else {
        BLOCKS
    }
}

fn width(buffer: &Buffer) -> f64 {
    buffer.element.byte_width() as f64
}

/// The spans of all points.
fn all_spans(tiles: &Tiles) -> Vec<Span> {
    let span = |points: &i64| Span {
        reach: (points - 1).max(0),
        step: 1,
    };
    tiles.points.iter().map(span).collect()
}

/// Input of an estimate.
struct Parts<'a> {
    resolved: &'a Resolved,
    computation: &'a Computation,
    tiles: &'a Tiles,
}

impl Parts<'_> {
    fn occupancy(&self, gpu: &Gpu) -> Option<Occupancy> {
        let blocks = self.count("block");
        let threads = self.count("thread") * self.count("warp");
        let shared = self.held("shared")?;
        let fragments: f64 = (self.computation.inputs.iter())
            .map(|input| Some(self.in_registers(input)? * width(input)))
            .sum::<Option<f64>>()?;
        let registers = ((self.held("register")? + fragments) / 4.0 + OVERHEAD).min(255.0);
        let resident = [
            ("threads", (THREADS / threads).floor()),
            ("shared memory", floor_of(gpu.shared, shared)),
            ("registers", floor_of(REGISTERS, registers * threads)),
            ("blocks", BLOCKS),
        ];
        let most = resident.iter().map(|r| r.1).fold(f64::INFINITY, f64::min);
        Some(Occupancy {
            blocks,
            threads,
            shared,
            registers,
            resident,
            at_once: most.max(1.0).min((blocks / gpu.multiprocessors).ceil()),
            used: gpu.multiprocessors.min(blocks),
        })
    }

    /// Bytes that the schedule allocates in a region.
    fn held(&self, region: &str) -> Option<f64> {
        let region = self.resolved.asm.position(region)?;
        let allocations = allocations(self.resolved, self.computation, self.tiles)?;
        let held = allocations.iter().filter(|held| held.region == region);
        // (The sum of nothing is -0.)
        Some(held.map(|held| held.bytes as f64).sum::<f64>().abs())
    }

    fn traffic(&self) -> Option<Traffic> {
        let mut traffic = Traffic {
            device: 0.0,
            cache: 0.0,
            step: 0.0,
        };
        for place in self.computation.places() {
            let buffer = self.computation.buffer(place);
            let (Some(buffer), Place::Input(_) | Place::Output(_)) = (buffer, place) else {
                continue;
            };
            let whole = self.bytes(buffer, &all_spans(self.tiles))?;
            let (cache, step) = self.moved(buffer, whole)?;
            traffic.device += whole;
            traffic.cache += cache;
            traffic.step += step;
        }
        Some(traffic)
    }

    /// The layer of the machine that a level is given to.
    fn layer(&self, level: Level) -> &str {
        let place = self.resolved.scalar.assign[level.layer][level.dimension];
        self.resolved.asm.layers[place.layer].name()
    }

    /// Levels with several parts, in the order of the loops.
    fn levels(&self) -> impl Iterator<Item = Level> + '_ {
        let order = self.resolved.scalar.order.iter().copied();
        order.filter(|level| self.tiles.count(*level) > 1)
    }

    /// Returns the number of a layer's parts, in all dimensions.
    fn count(&self, layer: &str) -> f64 {
        let levels = self.levels().filter(|level| self.layer(*level) == layer);
        levels.map(|level| self.tiles.count(level) as f64).product()
    }

    fn uses(&self, buffer: &Buffer, dimension: usize) -> bool {
        let used = |access: &Access| access.map.iter().any(|expr| expr.uses(dimension));
        buffer.accesses.iter().any(used)
    }

    fn bytes(&self, buffer: &Buffer, spans: &[Span]) -> Option<f64> {
        let elements = footprint(self.computation, buffer, spans)?.elements();
        Some(elements as f64 * width(buffer))
    }

    /// Bytes that all blocks read or write of a buffer, and those of one step of one block.
    fn moved(&self, buffer: &Buffer, all: f64) -> Option<(f64, f64)> {
        let is_outside = |level: &Level| matches!(self.layer(*level), "device" | "block");
        let (fixed, free): (Vec<Level>, Vec<Level>) = self.levels().partition(is_outside);
        let step = self.bytes(buffer, &self.tiles.spans(free))?;
        // The innermost loops along which it does not move leave it where it is.
        let last = fixed
            .iter()
            .rposition(|level| self.uses(buffer, level.dimension));
        let loaded = &fixed[..last.map_or(0, |last| last + 1)];
        let times: f64 = loaded.iter().map(|l| self.tiles.count(*l) as f64).product();
        Some(((step * times).max(all), step))
    }

    /// Elements of a buffer that a thread works with at once.
    fn in_registers(&self, buffer: &Buffer) -> Option<f64> {
        let levels = self
            .levels()
            .filter(|level| self.layer(*level) == "register");
        let spans = self.tiles.spans(levels);
        Some(footprint(self.computation, buffer, &spans)?.elements() as f64)
    }

    /// Cycles in which the banks of shared memory give a block what its threads read.
    fn bank_cycles(&self) -> Option<f64> {
        let region = self.resolved.asm.position("shared")?;
        let warps = (self.count("warp") * self.count("thread") / WARP as f64).ceil();
        let sequential = |level: &Level| matches!(self.layer(*level), "device" | "shared");
        let steps = self.levels().filter(sequential);
        let steps: f64 = steps.map(|level| self.tiles.count(level) as f64).product();
        let mut cycles = 0.0;
        for (plan, buffer) in self.resolved.inputs.iter().zip(&self.computation.inputs) {
            if !plan.region.iter().flatten().any(|own| *own == region) {
                continue;
            }
            let elements = self.in_registers(buffer)?;
            // Lanes that read the same share it.
            let mut free = WARP;
            let mut distinct = 1.0;
            let threads = self.levels().filter(|level| self.layer(*level) == "thread");
            for level in threads.collect::<Vec<_>>().into_iter().rev() {
                let lanes = self.tiles.count(level).min(free);
                free = (free / lanes.max(1)).max(1);
                if self.uses(buffer, level.dimension) {
                    distinct *= lanes as f64;
                }
            }
            let accesses = (elements * width(buffer) / WIDEST).ceil();
            let rounds = (elements * distinct * width(buffer) / OF_BANKS).ceil();
            cycles += accesses.max(rounds) * warps * steps;
        }
        Some(cycles)
    }
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
