//! Estimated time of a schedule on a GPU, in words and numbers: [`mdh_schedule::gpu`].

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::Computation;
use mdh_schedule::Resolved;
use mdh_schedule::gpu::{Estimate, Gpu, estimate};

use super::cost::{Cost, CostPart, Limits, Unit};

/// A kernel's use of a GPU.
#[derive(Clone, Debug)]
pub struct Launch {
    gpu: Gpu,
    estimate: Estimate,
}

impl Launch {
    /// Estimates a schedule; `None` where sizes are not known.
    pub fn new(resolved: &Resolved, computation: &Computation, gpu: &Gpu) -> Option<Launch> {
        Some(Launch {
            gpu: *gpu,
            estimate: estimate(resolved, computation, gpu)?,
        })
    }

    /// Its time, and the least that the GPU takes: all multiprocessors compute, the memory's bandwidth is reached,
    /// and every byte comes from each memory once.
    pub fn cost(&self, computation: &Computation) -> Cost {
        let (gpu, estimate) = (&self.gpu, &self.estimate);
        let is_wide = computation.components.iter().any(|ty| ty.byte_width() == 8);
        let lanes = if is_wide { gpu.wide_lanes } else { gpu.lanes };
        let operations = 2.0 * lanes * gpu.multiprocessors * gpu.clock;
        let blocks = count(estimate.blocks);
        let parts = estimate.roofs.iter().map(|(what, time)| {
            let (least, change) = match *what {
                "computing" => (
                    computation.flops() / operations,
                    format!(
                        "{blocks} blocks made such that {:.0} multiprocessors have equally much",
                        gpu.multiprocessors
                    ),
                ),
                "device memory" => (
                    estimate.device_bytes / gpu.bandwidth,
                    format!(
                        "more bytes in flight, which reach {:.0} % of the bandwidth",
                        100.0 * estimate.reached
                    ),
                ),
                "second-level cache" => (
                    estimate.device_bytes.min(estimate.cache_bytes) / gpu.cache_bandwidth,
                    format!(
                        "larger tiles: blocks read {:.1} times what there is",
                        estimate.cache_bytes / estimate.device_bytes.max(1.0)
                    ),
                ),
                _ => (0.0, "more results of each thread in registers".to_string()),
            };
            let least = least.min(*time);
            CostPart {
                what: what.to_string(),
                time: *time,
                least,
                change: (least < *time).then_some(change),
            }
        });
        let parts: Vec<CostPart> = parts.collect();
        let longest = parts.iter().map(|part| part.time).fold(0.0, f64::max);
        let limits = Limits {
            operations,
            memories: vec![
                ("second-level cache".to_string(), gpu.cache_bandwidth),
                ("device memory".to_string(), gpu.bandwidth),
            ],
        };
        let fusing = "one kernel with what is computed before or behind it";
        Cost::new(
            Unit::Seconds,
            (estimate.time - longest, fusing),
            parts,
            limits,
        )
    }

    /// The lines about it.
    pub fn text(&self, cost: &Cost) -> String {
        let estimate = &self.estimate;
        let Gpu {
            name,
            multiprocessors,
            clock,
            bandwidth,
            ..
        } = self.gpu;
        let limits: Vec<String> = estimate
            .resident
            .iter()
            .map(|(what, n)| format!("{what} {n:.0}"))
            .collect();
        format!(
            "  on '{name}': {multiprocessors:.0} multiprocessors at {:.2} GHz, {:.2} TB/s\n    \
             grid: {} blocks of {:.0} threads, {} of shared memory each, about {:.0} registers a thread\n    \
             occupancy: {:.0} blocks at once on a multiprocessor ({}), {:.2} waves; {:.0} % of the memory's \
             bandwidth can be asked for\n    \
             traffic: {} of device memory, {} of the second-level cache\n    \
             time: {}\n  \
             about {}, bound by {} (an estimate from data sheets, not measured)\n",
            clock / 1e9,
            bandwidth / 1e12,
            count(estimate.blocks),
            estimate.threads,
            bytes(estimate.shared),
            estimate.registers,
            estimate.blocks_at_once(),
            limits.join(", "),
            estimate.waves,
            estimate.reached * 100.0,
            bytes(estimate.device_bytes),
            bytes(estimate.cache_bytes),
            cost.parts_text(),
            cost.unit.text(cost.time),
            cost.bound,
        )
    }
}
