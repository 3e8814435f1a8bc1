//! Features of a case: parameters of table 1 that are not the default, layers and what they
//! compute, tails, and sizes that are left open.

use mdh_algebra::computation::Combine;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_schedule::asm::{Asm, MATRIX};
use mdh_schedule::{InputPlan, Level, PhasePlan, Resolved, Schedule, StagedLayout};

use super::targets::Target;
use crate::program::{Definition, RandomProgram, Statement, View};

/// The parameters of table 1.
pub const PARAMETERS: [&str; 15] = [
    "0", "D1", "D2", "D3", "D4", "S1", "S2", "S3", "S4", "S5", "S6", "R1", "R2", "R3", "R4",
];

/// A core layer and what it combines.
pub const CORES: [&str; 6] = [
    "core cc", "core pw", "core ps", "simd cc", "simd pw", "simd ps",
];

/// Further features that must occur.
pub const OTHERS: [&str; 14] = [
    "tail",
    "tail peel",
    "tail mask",
    "deterministic",
    "compute_at",
    "tile order",
    "cyclic",
    "algebra",
    "open sizes",
    "empty",
    "one point",
    "odd domain",
    "padded",
    "not commutative",
];

/// Returns the features of a program.
pub fn of_program(program: &RandomProgram) -> Vec<String> {
    let mut kinds = Vec::new();
    let mut add = |name: &str, is: bool| {
        if is {
            kinds.push(name.to_string());
        }
    };
    for statement in &program.body {
        let Statement::Step(step) = statement else {
            continue;
        };
        add("open sizes", step.dims.iter().any(|dim| !dim.is_fixed()));
        add("empty", step.dims.iter().any(|dim| dim.grid.is_empty()));
        let combined = |d: usize| step.homs.iter().any(|h| h.combine[d] != Combine::Cc);
        let empty = |d: usize| step.dims[d].grid.is_empty() && combined(d);
        add("empty combined", (0..step.dims.len()).any(empty));
        let scans = step
            .homs
            .iter()
            .map(|h| h.combine.iter().filter(|c| c.is_ps()).count());
        add("two scans", scans.max() > Some(1));
        add(
            "one point",
            step.dims.iter().any(|dim| dim.grid.count() == 1),
        );
        let types = step.homs.last().map_or(&[][..], |hom| hom.components());
        let is_narrow = |view: &View| {
            let stored = program.values[view.value].ty.element;
            let is_narrow = |ty: &ScalarType| stored.bit_width() < ty.bit_width();
            !stored.is_float() && types.get(view.component).is_some_and(is_narrow)
        };
        add("narrowed", step.outputs.iter().any(is_narrow));
        let is_odd = |dim: &crate::program::Dim| dim.grid.lower != 0 || dim.grid.step != 1;
        add("odd domain", step.dims.iter().any(is_odd));
        add("padded", step.inputs.iter().any(|view| view.pad.is_some()));
        let operators = step.homs.iter().filter_map(|hom| hom.operator.as_ref());
        let mut operators = operators.filter(|operator| !operator.is_commutative());
        add("not commutative", operators.next().is_some());
    }
    let values = program.values.iter();
    let mut arguments = values.filter(|v| matches!(v.definition, Definition::Argument(_)));
    add(
        "open arguments",
        arguments.any(|value| value.ty.dynamic.contains(&true)),
    );
    add("by --size", !program.sizes.is_empty());
    let contents = program.values.iter().filter_map(|v| match &v.definition {
        Definition::Argument(contents) => contents.as_ref(),
        _ => None,
    });
    let is_special = |scalar: &Scalar| scalar.ty.is_float() && !scalar.as_f64().is_finite();
    let mut contents = contents.flatten();
    add("special", contents.any(is_special));
    kinds
}

/// Returns the features of a schedule.
pub fn of_schedule(schedule: &Schedule, target: &Target, asm: &Asm) -> Vec<String> {
    let Ok(resolved) = Resolved::new(schedule, &target.known, asm) else {
        return Vec::new();
    };
    let see = See {
        resolved: &resolved,
        target,
    };
    let mut kinds: Vec<String> = see.phases();
    kinds.extend(see.inputs().into_iter().map(String::from));
    kinds.extend(see.outputs().into_iter().map(String::from));
    kinds.extend(see.cores());
    let is_tail = |d: usize| see.is_tail(d);
    if (0..resolved.dimensions.len()).any(is_tail) {
        kinds.push("tail".into());
    }
    for code in schedule.tails.values() {
        kinds.push(format!("tail {code:?}").to_lowercase());
    }
    let has = |name: &str| kinds.iter().any(|kind| kind == name);
    if has("R4") && has("pw in parallel") {
        kinds.push("R4 of partial sums".into());
    }
    if resolved.deterministic {
        kinds.push("deterministic".into());
    }
    if resolved.inputs.iter().any(|plan| plan.stages.is_some()) {
        kinds.push("stages".into());
    }
    if resolved.compute_at.is_some() {
        kinds.push("compute_at".into());
    }
    let mut layers = see
        .assigned(&resolved.decompose)
        .into_iter()
        .map(|to| to.layer);
    if layers.any(|layer| resolved.asm.layers[layer].name() == MATRIX) {
        kinds.push("mma".into());
    }
    if resolved.tile_order.is_some() {
        kinds.push("tile order".into());
    }
    let inputs = resolved.inputs.iter().map(|plan| &plan.layout);
    let mut layouts = inputs.chain(resolved.outputs.iter().map(|plan| &plan.layout));
    if layouts.any(|of| of.iter().flatten().any(|layout| layout.algebra().is_some())) {
        kinds.push("algebra".into());
    }
    kinds
}

struct See<'a> {
    resolved: &'a Resolved,
    target: &'a Target,
}

impl See<'_> {
    fn loops(&self, phase: &PhasePlan) -> Vec<Level> {
        let order = phase.order.iter();
        let loops = order.filter(|level| !self.resolved.count(**level).is_one());
        loops.copied().collect()
    }

    fn assigned(&self, phase: &PhasePlan) -> Vec<Level> {
        let mut loops = self.loops(phase);
        loops.sort();
        let to = loops.iter().map(|l| phase.assign[l.layer][l.dimension]);
        to.collect()
    }

    fn phases(&self) -> Vec<String> {
        let resolved = self.resolved;
        let mut kinds = Vec::new();
        let mut add = |name: &str, is: bool| {
            if is {
                kinds.push(name.to_string());
            }
        };
        let loops = self.loops(&resolved.decompose);
        let mut default = loops.clone();
        default.sort();
        // All points in one layer is what there is without a schedule.
        let layers = |d: usize| loops.iter().filter(|l| l.dimension == d).count();
        add("0", (0..resolved.dimensions.len()).any(|d| layers(d) > 1));
        add("D1", loops != default);
        let loops_of = |d: usize| loops.iter().filter(move |l| l.dimension == d);
        let is_inverse = |d: usize| !loops_of(d).is_sorted_by_key(|l| l.layer);
        add("cyclic", (0..resolved.dimensions.len()).any(is_inverse));
        let by_name = default.iter().map(|level| Level {
            layer: resolved
                .asm
                .position(&resolved.layers[level.layer])
                .unwrap_or(0),
            dimension: level.dimension,
        });
        let by_name: Vec<Level> = by_name.collect();
        add("D2", self.assigned(&resolved.decompose) != by_name);
        add("S1", self.loops(&resolved.scalar) != loops);
        let scalar = self.assigned(&resolved.scalar);
        add("S2", scalar != self.assigned(&resolved.decompose));
        add(
            "R1",
            self.loops(&resolved.recompose) != self.loops(&resolved.scalar),
        );
        add("R2", self.assigned(&resolved.recompose) != scalar);
        kinds
    }

    fn inputs(&self) -> Vec<&'static str> {
        let mut kinds = Vec::new();
        let loops = self.loops(&self.resolved.decompose);
        for plan in &self.resolved.inputs {
            let region = |l: &Level| plan.region[l.layer][l.dimension];
            let layout = |l: &Level| &plan.layout[l.layer][l.dimension];
            let row_major = StagedLayout::row_major();
            if loops.iter().any(|l| region(l) != 0) {
                kinds.push("D3");
            }
            if loops.iter().any(|l| *layout(l) != row_major) {
                kinds.push("D4");
            }
            if self.is_staged_again(plan, &loops) {
                kinds.push("staged again");
            }
            let last = loops.last();
            if plan.scalar != last.map_or(0, region) {
                kinds.push("S3");
            }
            if plan.scalar_layout != *last.map_or(&row_major, layout) {
                kinds.push("S4");
            }
        }
        kinds
    }

    /// Returns whether tiles are copied, in a layout, that have been copied inside of a parallel loop.
    fn is_staged_again(&self, plan: &InputPlan, loops: &[Level]) -> bool {
        let resolved = self.resolved;
        let at = |l: &Level| {
            let layout = &plan.layout[l.layer][l.dimension];
            (plan.region[l.layer][l.dimension], layout)
        };
        let is_core = |l: &Level| resolved.is_parallel(&resolved.decompose, *l);
        let parallel = loops.iter().position(is_core).unwrap_or(loops.len());
        let row_major = StagedLayout::row_major();
        let mut copies = 0;
        for (n, level) in loops.iter().enumerate() {
            let before = n.checked_sub(1).map_or((0, &row_major), |n| at(&loops[n]));
            if at(level) == before {
                continue;
            }
            if copies > 0 && *at(level).1 != row_major {
                return true;
            }
            copies += usize::from(n > parallel);
        }
        false
    }

    fn outputs(&self) -> Vec<&'static str> {
        let mut kinds = Vec::new();
        let loops = self.loops(&self.resolved.recompose);
        for plan in &self.resolved.outputs {
            let region = |l: &Level| plan.region[l.layer][l.dimension];
            let layout = |l: &Level| &plan.layout[l.layer][l.dimension];
            let row_major = StagedLayout::row_major();
            if loops.iter().any(|l| region(l) != 0) {
                kinds.push("R3");
            }
            if loops.iter().any(|l| *layout(l) != row_major) {
                kinds.push("R4");
            }
            let last = loops.last();
            if plan.scalar != last.map_or(0, region) {
                kinds.push("S5");
            }
            if plan.scalar_layout != *last.map_or(&row_major, layout) {
                kinds.push("S6");
            }
        }
        kinds
    }

    fn cores(&self) -> Vec<String> {
        let resolved = self.resolved;
        let mut kinds = Vec::new();
        for level in self.loops(&resolved.decompose) {
            let to = resolved.decompose.assign[level.layer][level.dimension];
            let layer = &resolved.asm.layers[to.layer];
            if layer.core().is_some() {
                let kind = match self.target.known.dimensions[level.dimension].combine {
                    Combine::Cc => "cc",
                    Combine::Pw(_) => "pw",
                    Combine::Ps(_) => "ps",
                };
                kinds.push(format!("{} {kind}", layer.name()));
                if kind == "pw" {
                    kinds.push("pw in parallel".into());
                }
            }
        }
        kinds
    }

    /// Returns whether some part of a dimension is not full.
    fn is_tail(&self, d: usize) -> bool {
        let points = self.resolved.points[d].unwrap_or(1);
        let counts = self
            .resolved
            .counts
            .iter()
            .map(|row| row[d].for_points(Some(points)));
        let covered: i64 = counts.map(|count| count.unwrap_or(1).max(1)).product();
        points > 0 && covered != points
    }
}
