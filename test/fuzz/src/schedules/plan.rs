//! A schedule in the making, which is valid at all times.

use mdh_schedule::asm::Asm;
use mdh_schedule::{Layer, Level, LevelName, Parts, Phase, PhasePlan, Resolved, Schedule, check};

use super::targets::Target;
use crate::choices::Choices;

/// The parts of a dimension have room for at most so many times its points: beyond that, a run
/// is spent in empty iterations.
const WASTE: i64 = 16;
/// At most so many points are unrolled: more take long to compile.
const UNROLLED: i64 = 96;

/// A valid schedule of a computation.
pub struct ValidSchedule<'a> {
    /// Of what.
    pub target: &'a Target,
    /// For which machine.
    pub asm: &'a Asm,
    /// The schedule.
    pub schedule: Schedule,
}

/// D, S or R.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseOf {
    /// De-composition.
    Decompose,
    /// The scalar function.
    Scalar,
    /// Re-composition.
    Recompose,
}

impl<'a> ValidSchedule<'a> {
    /// Starts from a schedule, or from none if that is not valid.
    pub fn new(target: &'a Target, asm: &'a Asm, start: Schedule) -> ValidSchedule<'a> {
        let mut plan = ValidSchedule {
            target,
            asm,
            schedule: start,
        };
        if !plan.is_valid(&plan.schedule) {
            plan.schedule = Schedule::default();
        }
        // Without a name, a schedule is for the processor.
        if asm.has_kernels() {
            plan.schedule.asm = Some(asm.name.clone());
        }
        plan
    }

    fn is_valid(&self, schedule: &Schedule) -> bool {
        let target = self.target;
        let mut sizes = std::iter::once(&target.known).chain(&target.others);
        check(schedule, &target.computation, self.asm).is_ok()
            && sizes
                .all(|of| check(schedule, of, self.asm).is_ok_and(|resolved| is_small(&resolved)))
    }

    /// The schedule with its defaults, with the sizes that are known here.
    pub fn total(&self) -> Resolved {
        let resolved = Resolved::new(&self.schedule, &self.target.known, self.asm);
        resolved.unwrap_or_else(|_| unreachable!("the schedule is valid"))
    }

    /// The dimensions' names.
    pub fn dimensions(&self) -> Vec<String> {
        let names = self.target.computation.names();
        names.into_iter().map(String::from).collect()
    }

    /// The levels of more than one part, in the order of a phase.
    pub fn loops(&self, of: PhaseOf) -> Vec<LevelName> {
        let resolved = self.total();
        let order = phase_of(&resolved, of).order.iter();
        let loops = order.filter(|level| !resolved.count(**level).is_one());
        loops.map(|level| resolved.name(*level)).collect()
    }

    /// Changes it, unless that breaks a constraint.
    pub fn change(&mut self, change: impl FnOnce(&mut Schedule)) -> bool {
        let mut next = self.schedule.clone();
        change(&mut next);
        let is_valid = self.is_valid(&next);
        if is_valid {
            self.schedule = next;
        }
        is_valid
    }

    /// Changes it by choices of their own, in a scope that reducing a case may drop.
    pub fn step(
        &mut self,
        c: &mut Choices,
        name: &str,
        change: impl FnOnce(&mut Choices, &mut Self),
    ) {
        c.scope(name, |c| {
            if c.keep() {
                change(c, self);
            }
        });
    }
}

/// Returns whether there are few empty loop iterations, and little code.
fn is_small(resolved: &Resolved) -> bool {
    let count = |layer: usize, dimension: usize| {
        let count = resolved.count(Level { layer, dimension });
        count.of(resolved.points[dimension]).unwrap_or(1).max(1)
    };
    let product = |counts: &mut dyn Iterator<Item = i64>| counts.fold(1, i64::saturating_mul);
    let (layers, ranks) = (resolved.layers.len(), resolved.dimensions.len());
    let is_wasteful = |d: usize| {
        let parts = product(&mut (0..layers).map(|layer| count(layer, d)));
        parts > WASTE * resolved.points[d].unwrap_or(1).max(4)
    };
    let register = resolved.layers.iter().position(|name| name == "register");
    let unrolled = register.map_or(1, |layer| product(&mut (0..ranks).map(|d| count(layer, d))));
    !(0..ranks).any(is_wasteful) && unrolled <= UNROLLED
}

/// A phase of a schedule with its defaults.
pub fn phase_of(resolved: &Resolved, of: PhaseOf) -> &PhasePlan {
    match of {
        PhaseOf::Decompose => &resolved.decompose,
        PhaseOf::Scalar => &resolved.scalar,
        PhaseOf::Recompose => &resolved.recompose,
    }
}

/// A phase as it is written.
pub fn phase_mut(schedule: &mut Schedule, of: PhaseOf) -> &mut Phase {
    match of {
        PhaseOf::Decompose => &mut schedule.decompose,
        PhaseOf::Scalar => &mut schedule.scalar,
        PhaseOf::Recompose => &mut schedule.recompose,
    }
}

/// The written layer of a name, added where the machine has it if it is not there.
pub fn layer_mut<'s>(schedule: &'s mut Schedule, asm: &Asm, name: &str) -> &'s mut Layer {
    let place = schedule.layers.iter().position(|layer| layer.name == name);
    let place = place.unwrap_or_else(|| {
        let position = |name: &str| asm.position(name);
        let behind = |layer: &Layer| position(&layer.name) > position(name);
        let place = schedule.layers.iter().position(behind);
        let place = place.unwrap_or(schedule.layers.len());
        let layer = Layer {
            name: name.into(),
            parts: Default::default(),
        };
        schedule.layers.insert(place, layer);
        place
    });
    &mut schedule.layers[place]
}

/// Sets a part count; the written orders get the level, next to the one that it is inside of.
pub fn set_parts(schedule: &mut Schedule, asm: &Asm, level: &LevelName, parts: Parts) {
    layer_mut(schedule, asm, &level.layer)
        .parts
        .insert(level.dimension.clone(), parts);
    complete_orders(schedule);
}

/// Adds to the written orders what they lack, in the order of the layers.
pub fn complete_orders(schedule: &mut Schedule) {
    let layers: Vec<String> = schedule.layers.iter().map(|l| l.name.clone()).collect();
    let mut levels: Vec<LevelName> = Vec::new();
    let dimensions = schedule.layers.iter().flat_map(|layer| layer.parts.keys());
    let mut dimensions: Vec<String> = dimensions.cloned().collect();
    dimensions.sort();
    dimensions.dedup();
    for layer in &schedule.layers {
        for dimension in &dimensions {
            // What the outermost layer does not say is derived.
            if layer.parts.contains_key(dimension) || layer.name == layers[0] {
                levels.push(LevelName::new(&layer.name, dimension));
            }
        }
    }
    let position = |level: &LevelName| layers.iter().position(|name| *name == level.layer);
    for of in [PhaseOf::Decompose, PhaseOf::Scalar, PhaseOf::Recompose] {
        let Some(order) = &mut phase_mut(schedule, of).order else {
            continue;
        };
        for level in &levels {
            if order.contains(level) {
                continue;
            }
            let inside = order
                .iter()
                .position(|other| position(other) > position(level));
            order.insert(inside.unwrap_or(order.len()), level.clone());
        }
    }
}
