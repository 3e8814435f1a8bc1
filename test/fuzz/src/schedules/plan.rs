//! A schedule in the making, which is valid at all times.

use std::collections::BTreeSet;

use mdh_schedule::asm::Asm;
use mdh_schedule::edit::{Edit, PhaseName};
use mdh_schedule::{Level, LevelName, Phase, PhasePlan, Resolved, Schedule, check};

use super::targets::Target;

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
    pub fn loops(&self, phase: PhaseName) -> Vec<LevelName> {
        let resolved = self.total();
        let order = phase_of(&resolved, phase).order.iter();
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

    /// Changes it by some edits, unless that breaks a constraint.
    pub fn apply(&mut self, edits: &[Edit]) -> bool {
        self.change(|s| {
            // What cannot be applied changes nothing.
            edits.iter().for_each(|edit| drop(edit.apply(s)));
        })
    }
}

/// Returns whether there are few empty loop iterations, and little code.
fn is_small(resolved: &Resolved) -> bool {
    let count = |layer: usize, dimension: usize| {
        let count = resolved.count(Level { layer, dimension });
        count
            .for_points(resolved.points[dimension])
            .unwrap_or(1)
            .max(1)
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
pub fn phase_of(resolved: &Resolved, phase: PhaseName) -> &PhasePlan {
    match phase {
        PhaseName::Decompose => &resolved.decompose,
        PhaseName::Scalar => &resolved.scalar,
        PhaseName::Recompose => &resolved.recompose,
    }
}

/// A phase as it is written.
pub fn phase_mut(schedule: &mut Schedule, phase: PhaseName) -> &mut Phase {
    match phase {
        PhaseName::Decompose => &mut schedule.decompose,
        PhaseName::Scalar => &mut schedule.scalar,
        PhaseName::Recompose => &mut schedule.recompose,
    }
}

/// Adds to the written orders what they lack, in the order of the layers.
pub fn complete_orders(schedule: &mut Schedule) {
    let layers = schedule.layers.clone();
    let position = |level: &LevelName| layers.iter().position(|own| own.name == level.layer);
    let dimensions: BTreeSet<&String> = layers.iter().flat_map(|own| own.parts.keys()).collect();
    for phase in [
        PhaseName::Decompose,
        PhaseName::Scalar,
        PhaseName::Recompose,
    ] {
        let Some(order) = &mut phase_mut(schedule, phase).order else {
            continue;
        };
        for (n, layer) in layers.iter().enumerate() {
            for dimension in &dimensions {
                let level = LevelName::new(&layer.name, dimension);
                // What the outermost layer does not say is derived.
                let is_there = n == 0 || layer.parts.contains_key(*dimension);
                if is_there && !order.contains(&level) {
                    let inside = order.iter().position(|other| position(other) > Some(n));
                    order.insert(inside.unwrap_or(order.len()), level);
                }
            }
        }
    }
}
