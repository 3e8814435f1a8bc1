//! Estimated time of a schedule on a GPU, in words and numbers: [`mdh_schedule::gpu`].

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::Computation;
use mdh_schedule::gpu::{Gpu, estimate};
use mdh_schedule::{Resolved, Schedule};

use super::work::wanted;

/// The lines about it.
pub fn text(schedule: &Schedule, computation: &Computation, gpu: &Gpu) -> String {
    let Ok(resolved) = Resolved::new(schedule, computation, &gpu.asm()) else {
        return String::new();
    };
    let Some(found) = estimate(&resolved, computation, gpu) else {
        let wanted = wanted(computation);
        return format!("  time: not known before the sizes are{wanted}\n");
    };
    let Gpu {
        name,
        multiprocessors,
        clock,
        bandwidth,
        ..
    } = gpu;
    let limits: Vec<String> = found
        .resident
        .iter()
        .map(|(what, n)| format!("{what} {n:.0}"))
        .collect();
    let roofs: Vec<String> = found
        .roofs
        .iter()
        .map(|(what, time)| format!("{what} {}", seconds(*time)))
        .collect();
    let (bound, longest) = found.bound();
    let bound = match longest < found.time - longest {
        true => "the launch itself",
        false => bound,
    };
    format!(
        "  on '{name}': {multiprocessors:.0} multiprocessors at {:.2} GHz, {:.2} TB/s\n    \
         grid: {} blocks of {:.0} threads, {} of shared memory each, about {:.0} registers a thread\n    \
         occupancy: {:.0} blocks at once on a multiprocessor ({}), {:.2} waves; {:.0} % of the memory's \
         bandwidth can be asked for\n    \
         traffic: {} of device memory, {} of the second-level cache\n    \
         time: {}\n  \
         about {}, bound by {bound} (an estimate from data sheets, not measured)\n",
        clock / 1e9,
        bandwidth / 1e12,
        count(found.blocks),
        found.threads,
        bytes(found.shared),
        found.registers,
        found.blocks_at_once(),
        limits.join(", "),
        found.waves,
        found.reached * 100.0,
        bytes(found.device_bytes),
        bytes(found.cache_bytes),
        roofs.join(", "),
        seconds(found.time),
    )
}

/// A time, for people.
fn seconds(time: f64) -> String {
    match time {
        t if t >= 1.0 => format!("{t:.3} s"),
        t if t >= 1e-3 => format!("{:.3} ms", t * 1e3),
        t => format!("{:.2} us", t * 1e6),
    }
}
