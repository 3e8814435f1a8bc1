//! Changes of one parameter each, in forms that the lowering mostly follows, so that every
//! parameter of table 1 is away from its default in many of the cases that are run. What the wild
//! changes try beyond these is often refused.

use mdh_algebra::computation::Extent;
use mdh_schedule::{LevelName, StagedLayout, Step};

use super::change::{self, pick};
use super::coverage;
use super::plan::{PhaseOf, ValidSchedule, phase_mut};
use crate::choices::Choices;

/// A parameter of table 1, how often it is chosen among the others, and its change.
type Focus = (&'static str, u64, fn(&mut Choices, &mut ValidSchedule));

/// In this order: what others depend on first.
const FOCI: [Focus; 12] = [
    ("D1", 5, |c, p| order(c, p, PhaseOf::Decompose)),
    ("D2", 10, |c, p| assign(c, p, PhaseOf::Decompose)),
    ("S1", 17, |c, p| order(c, p, PhaseOf::Scalar)),
    ("S2", 8, |c, p| assign(c, p, PhaseOf::Scalar)),
    ("R1", 10, |c, p| order(c, p, PhaseOf::Recompose)),
    ("R2", 11, |c, p| assign(c, p, PhaseOf::Recompose)),
    ("D4", 4, layout_of_tiles),
    ("S3", 5, region_of_input),
    ("S4", 10, layout_of_input),
    ("S5", 5, region_of_output),
    ("S6", 13, layout_of_output),
    ("R4", 13, layout_of_results),
];

/// So often a change is tried until the parameter is away from its default.
const TRIES: usize = 6;

/// Changes some parameters for sure, if there is a way.
pub fn some(c: &mut Choices, plan: &mut ValidSchedule) {
    let count = 1 + c.weighted("foci", &[35, 40, 25]);
    let weights: Vec<u64> = FOCI.iter().map(|(_, often, _)| *often).collect();
    let mut chosen: Vec<usize> = (0..count)
        .map(|n| c.scope(n, |c| c.weighted("parameter", &weights)))
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    for (name, _, change) in chosen.into_iter().map(|n| FOCI[n]) {
        plan.step(c, name, |c, plan| {
            for n in 0..TRIES {
                if has(plan, name) {
                    return;
                }
                c.scope(n, |c| change(c, plan));
            }
        });
    }
}

fn has(plan: &ValidSchedule, parameter: &str) -> bool {
    let found = coverage::of_schedule(&plan.schedule, plan.target, plan.asm);
    found.iter().any(|found| found == parameter)
}

/// A level of a memory layer and one that is not given to it change their ASM levels: these are
/// sequential loops with other homes.
fn assign(c: &mut Choices, plan: &mut ValidSchedule, of: PhaseOf) {
    let memory = ["main", "L3", "L2", "L1", "device", "shared"];
    let loops = plan.loops(of);
    let loops: Vec<LevelName> = (loops.into_iter())
        .filter(|level| memory.contains(&level.layer.as_str()))
        .collect();
    let Some(a) = pick(c, "level", &loops) else {
        return;
    };
    let dimensions = plan.dimensions();
    let b = match c.chance("another dimension", 30) {
        true => pick(c, "dimension", &dimensions).map(|d| LevelName::new(&a.layer, &d)),
        false => pick(c, "layer", &memory).map(|layer| LevelName::new(layer, &a.dimension)),
    };
    if let Some(b) = b.filter(|b| *b != a) {
        change::exchange(plan, of, &a, &b);
    }
}

fn memory(c: &mut Choices, plan: &ValidSchedule) -> String {
    let regions: &[&str] = match plan.asm.has_kernels() {
        true => &["shared", "device"],
        false => &["L1", "L2", "L3"],
    };
    c.pick("region", regions).into()
}

/// Axes in another order or with room behind them.
fn layout(c: &mut Choices, shape: &[Extent]) -> Option<StagedLayout> {
    let rank = shape.len();
    let kind = c.weighted("layout", &[45, 30, 15, 10]);
    let mut axes: Vec<usize> = (1..=rank).collect();
    axes.rotate_left(1.min(rank));
    let pads = (0..rank).map(|n| c.scope(n, |c| c.below("pad", 3) as i64));
    let mut pads: Vec<i64> = pads.collect();
    *pads.last_mut()? += 1;
    let steps = match kind {
        0 if rank > 1 => vec![Step::Permuted(axes)],
        2 if rank > 1 => vec![Step::Permuted(axes), Step::Padded(pads)],
        3 => return Some(change::layout(c, shape)),
        _ => vec![Step::Padded(pads)],
    };
    Some(StagedLayout { steps })
}

fn pick_input(c: &mut Choices, plan: &ValidSchedule) -> Option<(String, Vec<Extent>)> {
    let inputs = plan.target.known.inputs.iter();
    let inputs: Vec<_> = inputs.map(|b| (b.name.clone(), b.shape.clone())).collect();
    pick(c, "input", &inputs)
}

/// Two neighbouring levels of a phase's order change places, but those of one dimension; when parts
/// in registers are combined is mostly the affair of those alone.
fn order(c: &mut Choices, plan: &mut ValidSchedule, of: PhaseOf) {
    let mut order = plan.loops(of);
    let is_followed = |n: &usize| {
        let (a, b) = (&order[n - 1], &order[*n]);
        let is_deferred = of == PhaseOf::Recompose && (is_inner(a) || is_inner(b));
        a.dimension != b.dimension && !is_deferred
    };
    let places: Vec<usize> = (1..order.len()).filter(is_followed).collect();
    if let Some(place) = pick(c, "place", &places) {
        order.swap(place - 1, place);
        plan.change(|s| phase_mut(s, of).order = Some(order));
    }
}

/// Returns whether a level is in registers by its name.
fn is_inner(level: &LevelName) -> bool {
    ["register", "simd"].contains(&level.layer.as_str())
}

/// A level outside of registers.
fn outside(c: &mut Choices, plan: &ValidSchedule, of: PhaseOf) -> Option<LevelName> {
    let mut loops = plan.loops(of);
    loops.retain(|level| !is_inner(level));
    pick(c, "level", &loops)
}

/// An input's tiles in a layout (D4).
fn layout_of_tiles(c: &mut Choices, plan: &mut ValidSchedule) {
    let level = outside(c, plan, PhaseOf::Decompose);
    let (Some((name, shape)), Some(level)) = (pick_input(c, plan), level) else {
        return;
    };
    let (layout, region) = (layout(c, &shape), memory(c, plan));
    plan.change(|s| {
        let input = s.inputs.entry(name).or_default();
        input.stage.retain(|_, region| region != "register");
        input.stage.entry(level.clone()).or_insert(region);
        if let Some(layout) = layout {
            input.layout.insert(level, layout);
        }
    });
}

fn region_of_input(c: &mut Choices, plan: &mut ValidSchedule) {
    let Some((name, _)) = pick_input(c, plan) else {
        return;
    };
    let is_register = c.chance("register", 25);
    let region = memory(c, plan);
    plan.change(|s| {
        let input = s.inputs.entry(name).or_default();
        input.stage.retain(|_, region| region != "register");
        input.scalar = Some(if is_register {
            "register".into()
        } else {
            region
        });
    });
}

fn layout_of_input(c: &mut Choices, plan: &mut ValidSchedule) {
    let Some((name, shape)) = pick_input(c, plan) else {
        return;
    };
    let (layout, region) = (layout(c, &shape), memory(c, plan));
    let has_region = c.chance("region", 50);
    plan.change(|s| {
        let input = s.inputs.entry(name).or_default();
        input.stage.retain(|_, region| region != "register");
        input.scalar_layout = layout;
        if has_region || input.scalar.as_deref() == Some("register") {
            input.scalar = Some(region);
        }
    });
}

fn region_of_output(c: &mut Choices, plan: &mut ValidSchedule) {
    let Some((name, _)) = pick(c, "output", &change::outputs(plan)) else {
        return;
    };
    let is_register = c.chance("register", 25);
    let region = memory(c, plan);
    plan.change(|s| {
        let output = s.outputs.entry(name).or_default();
        output.combine.retain(|_, region| region != "register");
        output.scalar = Some(if is_register {
            "register".into()
        } else {
            region
        });
    });
}

fn layout_of_output(c: &mut Choices, plan: &mut ValidSchedule) {
    let Some((name, shape)) = pick(c, "output", &change::outputs(plan)) else {
        return;
    };
    let (layout, region) = (layout(c, &shape), memory(c, plan));
    let has_region = c.chance("region", 50);
    plan.change(|s| {
        let output = s.outputs.entry(name).or_default();
        output.combine.retain(|_, region| region != "register");
        output.scalar_layout = layout;
        if has_region || output.scalar.as_deref() == Some("register") {
            output.scalar = Some(region);
        }
    });
}

/// Partial results in memory of their own from an outer level on.
fn layout_of_results(c: &mut Choices, plan: &mut ValidSchedule) {
    let level = outside(c, plan, PhaseOf::Recompose);
    let (Some(level), Some((name, shape))) = (level, pick(c, "output", &change::outputs(plan)))
    else {
        return;
    };
    let (layout, region) = (layout(c, &shape), memory(c, plan));
    plan.change(|s| {
        let output = s.outputs.entry(name).or_default();
        output.combine.retain(|_, region| region != "register");
        if let Some(layout) = layout {
            output.layout.insert(level.clone(), layout);
        }
        output.combine.entry(level).or_insert(region);
    });
}
