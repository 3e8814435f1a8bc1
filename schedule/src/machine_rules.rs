//! The machine's constraints on parts, assignments and regions (MDH paper, appendix C.1).

use super::resolved::{Level, PhasePlan, Resolved};
use super::schedule_path::SchedulePath;
use super::violation::{Constraint, Violation, find};
use crate::asm::{Core, MATRIX};
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::mapping::axis_name;
use mdh_algebra::scalar::ScalarType;

pub(super) fn check(resolved: &Resolved, computation: &Computation, found: &mut Vec<Violation>) {
    for phase in [&resolved.decompose, &resolved.scalar, &resolved.recompose] {
        for layer in &resolved.asm.layers {
            if let Some(core) = layer.core() {
                extents(resolved, phase, core, found);
                width(resolved, phase, core, computation, found);
            }
        }
        limits(resolved, phase, found);
    }
    combine_regions(resolved, computation, found);
    check_grain(resolved, computation, found);
}

impl Resolved {
    /// The MDH levels that a phase gives to an ASM layer, by ASM dimension.
    pub fn assigned(&self, phase: &PhasePlan, layer: &str) -> Vec<Level> {
        let position = self.asm.position(layer);
        let mut levels: Vec<Level> = (phase.order.iter().copied())
            .filter(|l| Some(phase.assign[l.layer][l.dimension].layer) == position)
            .collect();
        levels.sort_by_key(|l| phase.assign[l.layer][l.dimension].dimension);
        levels
    }

    /// The parts of all levels that a phase gives to an ASM layer; `None` if not known.
    pub fn parts(&self, phase: &PhasePlan, layer: &str) -> Option<i64> {
        let levels = self.assigned(phase, layer);
        let mut counts = levels
            .iter()
            .map(|l| self.count(*l).for_points(self.points[l.dimension]));
        counts.try_fold(1i64, |product, count| Some(product.saturating_mul(count?)))
    }

    /// Returns whether the parts of a level are groups: points of a sum that one instruction
    /// combines in each lane of its results, or each thread with `mma`, with no partial results of
    /// their own.
    pub fn is_group(&self, phase: &PhasePlan, level: Level, computation: &Computation) -> bool {
        let to = phase.assign[level.layer][level.dimension];
        let layer = &self.asm.layers[to.layer];
        let is_pw = |l: &Level| computation.dimensions[l.dimension].combine.is_pw();
        let lanes = self.assigned(phase, layer.name());
        let is_lane = |l: &Level| !is_pw(l) && !self.count(*l).is_one();
        let has_lanes = layer.core().is_some_and(|core| core.width.is_some());
        let has_lanes = has_lanes || layer.name() == MATRIX;
        has_lanes && is_pw(&level) && lanes.iter().any(is_lane)
    }

    /// The parts of all levels that a phase gives to an ASM layer, as far as they do not depend on
    /// how many points there are, which may be none.
    fn least_parts(&self, phase: &PhasePlan, layer: &str) -> i64 {
        self.least_product(&self.assigned(phase, layer))
    }

    fn least_product(&self, levels: &[Level]) -> i64 {
        let counts = levels
            .iter()
            .filter_map(|l| self.count(*l).for_points(self.points[l.dimension]));
        counts.fold(1i64, |product, count| product.saturating_mul(count.max(1)))
    }
}

fn limits(resolved: &Resolved, phase: &PhasePlan, found: &mut Vec<Violation>) {
    for limit in &resolved.asm.limits {
        let parts = (limit.layers.iter()).map(|layer| resolved.least_parts(phase, layer));
        let product = parts.fold(1, i64::saturating_mul);
        if exceeds(product, limit.at_most) {
            let message = format!(
                "{product} {} (the parts of {}), expected at most {}",
                limit.what,
                limit.layers.join(" times "),
                limit.at_most
            );
            let place = limit
                .layers
                .first()
                .map_or(SchedulePath::root(), SchedulePath::layer);
            find(found, Constraint::PartLimit, place, message);
        }
    }
}

fn exceeds(found: i64, at_most: u64) -> bool {
    u64::try_from(found).is_ok_and(|found| found > at_most)
}

fn extents(resolved: &Resolved, phase: &PhasePlan, core: &Core, found: &mut Vec<Violation>) {
    if core.extents.is_empty() {
        return;
    }
    let last = core.extents.len() - 1;
    let mut parts = vec![1i64; core.extents.len()];
    for level in resolved.assigned(phase, &core.name) {
        let n = phase.assign[level.layer][level.dimension]
            .dimension
            .min(last);
        let count = resolved
            .count(level)
            .for_points(resolved.points[level.dimension]);
        parts[n] = parts[n].saturating_mul(count.unwrap_or(1).max(1));
    }
    for (n, (parts, at_most)) in parts.iter().zip(&core.extents).enumerate() {
        if exceeds(*parts, *at_most) {
            let message = format!(
                "{parts} parts in dimension '{}' of '{}', expected at most {at_most}",
                axis_name(n),
                core.name
            );
            find(
                found,
                Constraint::Extent,
                SchedulePath::layer(&core.name),
                message,
            );
        }
    }
}

fn width(
    resolved: &Resolved,
    phase: &PhasePlan,
    core: &Core,
    computation: &Computation,
    found: &mut Vec<Violation>,
) {
    let smallest =
        |types: &mut dyn Iterator<Item = ScalarType>| types.map(|ty| ty.byte_width() as i64).min();
    let Some(width) = core.width else {
        return;
    };
    let mut refuse = |parts: i64, bytes: Option<i64>, what: &str| {
        let Some(bytes) = bytes else {
            return;
        };
        if exceeds(parts.saturating_mul(bytes), width) {
            let message = format!(
                "{parts} {what} of {bytes} bytes on '{}', {} bytes, expected at most {width}",
                core.name,
                parts.saturating_mul(bytes)
            );
            find(
                found,
                Constraint::Width,
                SchedulePath::layer(&core.name),
                message,
            );
        }
    };
    // Lanes of results each combine a few points of inputs, which may be narrower; but what one
    // loop nest leaves for the next to combine are components.
    let levels = resolved.assigned(phase, &core.name).into_iter();
    let levels = levels.filter(|l| !resolved.count(*l).is_one());
    let is_kept = |l: &Level| !computation.dimensions[l.dimension].combine.is_pw();
    let (kept, groups): (Vec<Level>, Vec<Level>) = levels.partition(is_kept);
    let results = smallest(&mut computation.components.iter().copied());
    let parts = resolved.least_parts(phase, &core.name);
    if kept.is_empty() || groups.is_empty() || resolved.combines_apart(computation) {
        return refuse(parts, results, "parts");
    }
    let inputs = smallest(&mut computation.inputs.iter().map(|input| input.element));
    refuse(resolved.least_product(&kept), results, "parts");
    refuse(parts, inputs.min(results).or(results), "points");
}

/// If a core layer has several parts of a dimension that is not `cc`, R3 at that level is a
/// region in which that layer can combine.
fn combine_regions(resolved: &Resolved, computation: &Computation, found: &mut Vec<Violation>) {
    let phase = &resolved.recompose;
    for level in &phase.order {
        let combine = computation.dimensions[level.dimension].combine;
        let to = phase.assign[level.layer][level.dimension];
        let Some(core) = resolved.asm.layers[to.layer].core() else {
            continue;
        };
        if combine == Combine::Cc || resolved.count(*level).is_one() {
            continue;
        }
        for output in &resolved.outputs {
            let region = resolved.asm.layers[output.region[level.layer][level.dimension]].name();
            let allowed = core.combine_in.iter().find(|c| c.region == region);
            let parts = resolved.parts(phase, &core.name);
            let count = resolved
                .count(*level)
                .for_points(resolved.points[level.dimension]);
            let count = count.map_or("?".into(), |n| n.to_string());
            let name = resolved.name(*level);
            let place = SchedulePath::layer(&name.layer).entry(&name.dimension);
            let what = format!(
                "output '{}' combines the {count} parts of '{}' on '{}' in '{region}'",
                output.name,
                resolved.name(*level),
                core.name
            );
            match allowed.map(|c| c.at_most) {
                None => {
                    let regions = core.combine_in.iter().map(|c| c.region.as_str());
                    let regions: Vec<_> = regions.collect();
                    let message = format!(
                        "{what}, expected one of {} (R3), or 1 part",
                        regions.join(", ")
                    );
                    find(found, Constraint::CombineRegion, place, message);
                }
                Some(Some(most)) if parts.is_none_or(|parts| exceeds(parts, most)) => {
                    let parts = parts.map_or("?".into(), |n| n.to_string());
                    let message =
                        format!("{what} among {parts} of them, expected at most {most} there");
                    find(found, Constraint::CombineRegion, place, message);
                }
                _ => {}
            }
        }
    }
}

/// Between nests with different assignments, private regions stay with the cores they belong to.
fn check_grain(resolved: &Resolved, computation: &Computation, found: &mut Vec<Violation>) {
    let between = |(from, phase): (&str, &PhasePlan), (to, next): (&str, &PhasePlan)| {
        let mut differ = Vec::new();
        for core in resolved.asm.core_names() {
            let loops = |phase| -> Vec<Level> {
                let levels = resolved.assigned(phase, core);
                levels
                    .into_iter()
                    .filter(|l| !resolved.count(*l).is_one())
                    .collect()
            };
            let (before, after) = (loops(phase), loops(next));
            if before != after {
                let text = |levels: Vec<Level>| -> String {
                    let names: Vec<_> = levels
                        .iter()
                        .map(|l| resolved.name(*l).to_string())
                        .collect();
                    if names.is_empty() {
                        "nothing".into()
                    } else {
                        names.join(" and ")
                    }
                };
                let (before, after) = (text(before), text(after));
                let message = format!(
                    "private to each '{core}', which has {before} in {from} and {after} in {to}"
                );
                differ.push((core, message));
            }
        }
        differ
    };
    let decompose = ("de-composition", &resolved.decompose);
    let scalar = ("the scalar phase", &resolved.scalar);
    let recompose = ("re-composition", &resolved.recompose);
    let mut refuse = |kind: &str, name: &str, region: usize, differ: &[(&str, String)]| {
        let region = resolved.asm.layers[region].name();
        for (core, message) in differ {
            if resolved.asm.owners(region).contains(core) {
                let message = format!("{kind} '{name}' is left in '{region}', {message}");
                let place = SchedulePath::root().entry(format!("{kind}s")).entry(name);
                find(found, Constraint::HandOver, place, message);
            }
        }
    };
    let differ = between(decompose, scalar);
    for (plan, buffer) in resolved.inputs.iter().zip(&computation.inputs) {
        if let Some(last) = resolved.decompose.order.last() {
            let region = plan.region[last.layer][last.dimension];
            refuse("input", &buffer.name, region, &differ);
        }
    }
    let differ = between(scalar, recompose);
    for plan in &resolved.outputs {
        refuse("output", &plan.name, plan.scalar, &differ);
    }
}
