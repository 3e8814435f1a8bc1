//! Schedules to start from: draws from the space that a search has, and choices of the model, for machines of
//! random facts.

use std::collections::BTreeMap;

use mdh_algebra::computation::{Combine, Computation};
use mdh_schedule::asm::{Asm, CudaFacts, facts};
use mdh_schedule::{
    Facts, KernelSpace, Knob, Knobs, Layer, Parts, Schedule, ScheduleSpace, SearchedParts,
    choose_for, choose_kernels,
};

use super::edit::pick;
use super::matrices;
use super::targets::Target;
use crate::choices::Choices;

/// Draws of which the first that keeps all rules is taken.
const TRIES: usize = 3;

/// A draw from the space of schedules, the model's choice, or none. Of products of matrices the space has few that
/// small programs have room for: these are put together.
pub fn start(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    if asm.has_kernels()
        && let Some(factors) = pick(c, "factors", &matrices::factors(target))
        && c.chance("by warps", 80)
    {
        return c.scope("matrices", |c| matrices::schedule(c, target, asm, &factors));
    }
    let computation = &match c.weighted("sizes", &[45, 25, 30]) {
        0 => target.known.clone(),
        1 => target.computation.clone(),
        _ => without_sizes(target.known.clone()),
    };
    let parts = match c.chance("all parts", 50) {
        true => SearchedParts::All,
        false => SearchedParts::Model,
    };
    let start = c.weighted("start", &[5, 25, 70]);
    let drawn = |c: &mut Choices, space: Option<&dyn Knobs>| match start {
        2 => space.and_then(|space| draw(c, space)),
        _ => None,
    };
    let schedule = match asm.has_kernels() {
        _ if start == 0 => None,
        true => {
            let asm = Asm::cuda(&c.scope("facts", kernel_facts));
            let space = KernelSpace::new(computation, &asm, parts);
            let space = space.as_ref().map(|space| space as &dyn Knobs);
            drawn(c, space)
                .or_else(|| choose_kernels(computation, &asm).map(|choice| choice.schedule))
        }
        false => {
            let (facts, group) = c.scope("facts", |c| (cpu_facts(c), c.pick("group", &[1, 2, 4])));
            let space = ScheduleSpace::new(computation, asm, facts, group, parts);
            let space = space.as_ref().map(|space| space as &dyn Knobs);
            drawn(c, space).or_else(|| {
                let choice = choose_for(computation, asm, facts, group);
                choice.map(|choice| choice.schedule)
            })
        }
    };
    schedule.unwrap_or_default()
}

/// The same for any number of points: schedules for more than there are have large tiles.
fn without_sizes(mut computation: Computation) -> Computation {
    for dimension in &mut computation.dimensions {
        dimension.upper = None;
    }
    computation
}

/// A schedule of a space; none where no draw keeps all rules.
fn draw(c: &mut Choices, space: &dyn Knobs) -> Option<Schedule> {
    let once = |c: &mut Choices| {
        let pick_value = &mut |knob: &Knob, allowed: &[usize]| pick(c, &knob.name, allowed);
        let values = mdh_schedule::draw(space, Vec::new(), pick_value)?;
        let schedule = space.schedule(&values);
        space.objections(&schedule).is_empty().then_some(schedule)
    };
    (0..TRIES).find_map(|n| c.scope(n, once))
}

/// Facts for which small computations have several parts of everything.
fn cpu_facts(c: &mut Choices) -> Facts {
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

/// Facts for which small computations have several blocks.
fn kernel_facts(c: &mut Choices) -> CudaFacts {
    CudaFacts {
        threads_per_block: c.pick("threads", &[32, 64, 128, 1024]),
        shared: c.pick("shared", &[256, 4096, facts::SHARED]),
        ..CudaFacts::default()
    }
}

/// Tiles of L1 in loops of L2 over the dimensions that are kept: all of the others is inside.
pub fn loops(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let mut inside = BTreeMap::new();
    for dimension in &target.known.dimensions {
        let points = dimension.count().unwrap_or(7).max(1);
        let count = match dimension.combine {
            Combine::Cc => c.scope(&dimension.name, |c| c.pick("inside", &[2, 3, 4, 1])),
            _ => points,
        };
        inside.insert(dimension.name.clone(), Parts::Fixed(count.min(points)));
    }
    let layer = |(name, parts): (&str, BTreeMap<String, Parts>)| Layer {
        name: name.into(),
        parts,
    };
    Schedule {
        asm: Some(asm.name.clone()),
        layers: [("L2", BTreeMap::new()), ("L1", inside)].map(layer).into(),
        ..Schedule::default()
    }
}
