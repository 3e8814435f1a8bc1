//! Schedules of blocks and threads to start from.

use std::collections::BTreeMap;

use mdh_algebra::computation::Combine;
use mdh_schedule::asm::{Asm, CudaFacts, facts};
use mdh_schedule::{Layer, Parts, Schedule, choose_kernels};

use super::base::room;
use super::targets::Target;
use super::{change, matrices};
use crate::choices::Choices;

/// The model's schedule for a GPU of random facts, one put together, or none; one of matrices where
/// there are such.
pub fn base(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let factors = matrices::factors(target);
    let of = change::pick(c, "factors", &factors);
    if let Some(of) = of.filter(|_| c.chance("by warps", 80)) {
        return c.scope("matrices", |c| matrices::schedule(c, target, asm, &of));
    }
    let kind = c.weighted("base", &[4, 55, 41]);
    let chosen = (kind == 1).then(|| {
        let facts = c.scope("facts", facts);
        let of = match c.chance("of sizes", 60) {
            true => &target.known,
            false => &target.computation,
        };
        choose_kernels(of, &Asm::cuda(&facts))
    });
    if let Some(Some(choice)) = chosen {
        return choice.schedule;
    }
    match kind {
        0 => Schedule::default(),
        _ => c.scope("layers", |c| layered(c, target, asm)),
    }
}

/// Facts for which small computations have several blocks.
fn facts(c: &mut Choices) -> CudaFacts {
    CudaFacts {
        threads_per_block: c.pick("threads", &[32, 64, 128, 1024]),
        shared: c.pick("shared", &[256, 4096, facts::SHARED]),
        ..CudaFacts::default()
    }
}

/// Probability that a layer has several parts of a dimension that is kept, and of one that is
/// combined.
const SPLITS: [(&str, u64, u64, &[i64]); 5] = [
    ("register", 30, 20, &[2, 3, 4]),
    ("thread", 70, 25, &[4, 8, 2, 3, 32]),
    ("warp", 20, 20, &[2, 3, 4]),
    ("shared", 20, 30, &[2, 3, 4]),
    ("block", 20, 10, &[2, 3]),
];

/// Layers in the machine's order with random part counts; what is left of a kept dimension has
/// blocks, and of others loops on the device.
fn layered(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let names = ["device", "block", "shared", "warp", "thread", "register"];
    let layer = |name: &&str| Layer {
        name: (*name).into(),
        parts: BTreeMap::new(),
    };
    let mut schedule = Schedule {
        asm: Some(asm.name.clone()),
        layers: names.iter().map(layer).collect(),
        ..Schedule::default()
    };
    for dimension in &target.known.dimensions {
        let points = c.scope(&dimension.name, |c| room(c, dimension));
        let is_kept = dimension.combine == Combine::Cc;
        let mut product = 1;
        for (name, kept, combined, counts) in SPLITS {
            let percent = if is_kept { kept } else { combined };
            let count = c.scope(format!("{}.{name}", dimension.name), |c| {
                let is_split = product < points && c.chance("split", percent);
                is_split.then(|| c.pick("count", counts))
            });
            let Some(count) = count else { continue };
            product *= count;
            set(&mut schedule, name, &dimension.name, Parts::Fixed(count));
        }
        let rest = if is_kept { "block" } else { "device" };
        set(&mut schedule, rest, &dimension.name, Parts::Derived);
    }
    schedule
}

fn set(schedule: &mut Schedule, layer: &str, dimension: &str, parts: Parts) {
    if let Some(layer) = schedule.layers.iter_mut().find(|own| own.name == layer) {
        layer.parts.insert(dimension.into(), parts);
    }
}
