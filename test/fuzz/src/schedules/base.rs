//! Schedules to start from.

use std::collections::BTreeMap;

use mdh_algebra::computation::{Combine, Dimension};
use mdh_schedule::asm::Asm;
use mdh_schedule::{Facts, Layer, Output, Parts, Schedule, check, choose_for};

use super::targets::Target;
use crate::choices::Choices;

/// The model's schedule for a machine of random facts, one put together, or none.
pub fn base(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let kind = c.weighted("base", &[6, 50, 44]);
    let chosen = (kind == 1).then(|| {
        let (facts, group) = c.scope("facts", |c| (facts(c), c.pick("group", &[1, 2, 4])));
        let of = match c.chance("of sizes", 60) {
            true => &target.known,
            false => &target.computation,
        };
        choose_for(of, asm, facts, group)
    });
    if let Some(Some(choice)) = chosen {
        return choice.schedule;
    }
    match kind {
        0 => Schedule::default(),
        _ => c.scope("layers", |c| layered(c, target, asm)),
    }
}

/// Tiles of L1 in loops of L2 over the dimensions that are kept: all of the others is inside.
pub fn loops(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let mut schedule = Schedule {
        asm: Some(asm.name.clone()),
        ..Schedule::default()
    };
    for name in ["L2", "L1"] {
        schedule.layers.push(Layer {
            name: name.into(),
            parts: BTreeMap::new(),
        });
    }
    for dimension in &target.known.dimensions {
        let points = dimension.count().unwrap_or(7).max(1);
        let inside = match dimension.combine {
            Combine::Cc => c.scope(&dimension.name, |c| c.pick("inside", &[2, 3, 4, 1])),
            _ => points,
        };
        let parts = Parts::Fixed(inside.min(points));
        schedule.layers[1]
            .parts
            .insert(dimension.name.clone(), parts);
    }
    schedule
}

/// Facts for which small computations have several parts of everything.
fn facts(c: &mut Choices) -> Facts {
    Facts {
        cores: c.pick("cores", &[2, 3, 1, 4]),
        vector: c.pick("vector", &[64, 32, 16, 8]),
        registers: c.pick("registers", &[32, 16, 8, 4]),
        l1: c.pick("l1", &[1 << 8, 1 << 10, 32 << 10]),
        l2: c.pick("l2", &[1 << 9, 1 << 12, 1 << 20]),
        l3: c.pick("l3", &[1 << 14, 1 << 25]),
        grain: c.pick("grain", &[1, 1, 64, 1 << 15]),
        is_deterministic: false,
    }
}

/// Layers in the machine's order with random part counts, and in the order of these loops: kept
/// dimensions outside of combined ones inside a layer, so that leaves are found.
fn layered(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let mut schedule = Schedule {
        asm: (!c.chance("no machine", 20)).then(|| asm.name.clone()),
        ..Schedule::default()
    };
    let first = c.pick("outermost", &["main", "L3", "core", "L2"]);
    let start = asm.position(first).unwrap_or(0);
    for layer in &asm.layers[start..] {
        schedule.layers.push(Layer {
            name: layer.name().into(),
            parts: BTreeMap::new(),
        });
    }
    let dimensions = &target.known.dimensions;
    let count = dimensions.len() as u64;
    let lanes = c.below("lanes", 2 * count.max(1)) as usize;
    for (d, dimension) in dimensions.iter().enumerate() {
        c.scope(format!("parts{d}"), |c| {
            let points = room(c, dimension);
            parts(c, &mut schedule, &dimension.name, points, lanes == d);
        });
    }
    if c.chance("in registers", 50) {
        in_registers(c, &mut schedule, target, asm);
    }
    schedule
}

/// So many points the parts of a dimension have room for: some schedules are made for more than there are.
pub fn room(c: &mut Choices, dimension: &Dimension) -> i64 {
    let points = dimension.count().unwrap_or(7).max(1);
    points.max(c.pick("at least", &[1, 1, 1, 16]))
}

/// Part counts of a dimension, from the inside out.
fn parts(c: &mut Choices, schedule: &mut Schedule, name: &str, points: i64, has_lanes: bool) {
    let mut product = 1;
    let mut derived = false;
    for n in (0..schedule.layers.len()).rev() {
        let layer = &mut schedule.layers[n];
        let (percent, counts): (u64, &[i64]) = match layer.name.as_str() {
            "simd" if has_lanes => (100, &[4, 8, 2, 16]),
            "simd" => (0, &[1]),
            "register" => (30, &[2, 3, 4, 1]),
            "L1" => (40, &[2, 3, 5, 4]),
            "core" => (35, &[2, 3]),
            _ => (15, &[2, 3]),
        };
        let layer_name = layer.name.clone();
        let count = c.scope(layer_name, |c| {
            let is_split = product < points && c.chance("split", percent);
            is_split.then(|| c.pick("count", counts))
        });
        if let Some(count) = count {
            product *= count;
            // The parts that are left may be derived here as well as outermost.
            if !derived && n > 0 && c.scope(n, |c| c.chance("derived", 15)) {
                derived = true;
                product /= count;
                layer.parts.insert(name.into(), Parts::Derived);
            } else {
                layer.parts.insert(name.into(), Parts::Fixed(count));
            }
        }
    }
    // The outermost count is derived unless another one is.
    if let Some(first) = schedule.layers.first_mut() {
        if derived {
            first.parts.entry(name.into()).or_insert(Parts::Fixed(1));
        } else {
            first.parts.remove(name);
            if c.chance("written", 25) {
                let count = (points + product - 1) / product;
                first.parts.insert(name.into(), Parts::Fixed(count.max(1)));
            }
        }
    }
}

/// Results in registers from the innermost loop of a combined dimension on.
fn in_registers(c: &mut Choices, schedule: &mut Schedule, target: &Target, asm: &Asm) {
    let Ok(resolved) = check(schedule, &target.known, asm) else {
        return;
    };
    let combined = |d: usize| target.known.dimensions[d].combine != Combine::Cc;
    let loops = resolved.decompose.order.iter().filter(|level| {
        !resolved.count(**level).is_one() && !resolved.is_parallel(&resolved.decompose, **level)
    });
    let combined: Vec<_> = loops.filter(|level| combined(level.dimension)).collect();
    if combined.is_empty() {
        return;
    }
    let level = resolved.name(*combined[c.below("from", combined.len() as u64) as usize]);
    let before = schedule.clone();
    for output in &target.known.outputs {
        let output_plan = Output {
            combine: BTreeMap::from([(level.clone(), "register".to_string())]),
            ..Output::default()
        };
        schedule.outputs.insert(output.name.clone(), output_plan);
    }
    if check(schedule, &target.known, asm).is_err() {
        *schedule = before;
    }
}
