//! Residual schedules: the part of a schedule that is left for the tiles inside some of its loops.

use std::collections::BTreeMap;

use mdh_schedule::{
    Count, Facts, Input, Layer, Level, LevelName, Output, Parts, Phase, PhasePlan, Schedule,
    choose_for,
};

use mdh_algebra::affine::Expr;
use mdh_algebra::layout::runs::Run;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Op;
use mdh_dialect::parts::{Dim, Parts as Dims};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{layout, schedule};
use mdh_schedule::asm::{Asm, LANES};
use melior::ir::ValueLike;

use crate::support::deterministic;
use crate::support::scheduled::{Loop, Scheduled};

/// The schedule of the loops from `position` on.
pub fn residual(of: &Scheduled, loops: &[Loop], position: usize, tile: &Dims) -> Schedule {
    let (resolved, rest) = (&of.resolved, &loops[position..]);
    let is_left = |level: &Level| rest.iter().any(|l| l.level == *level);
    let mut layers: Vec<Layer> = Vec::new();
    for (layer, name) in resolved.layers.iter().enumerate() {
        let mut parts = BTreeMap::new();
        for of in rest.iter().filter(|l| l.level.layer == layer) {
            let count = match of.count {
                Count::Known(count) => Parts::Fixed(count.max(1)),
                Count::Dynamic { .. } => Parts::Derived,
            };
            parts.insert(resolved.dimensions[of.level.dimension].clone(), count);
        }
        if !parts.is_empty() {
            let name = name.clone();
            layers.push(Layer { name, parts });
        }
    }
    // A tile has no more points than its parts hold, whatever its bounds seem to allow.
    if let Some(first) = layers.first_mut() {
        for name in &resolved.dimensions {
            first.parts.entry(name.clone()).or_insert(Parts::Fixed(1));
        }
    }
    let order = |phase: &PhasePlan| -> Vec<LevelName> {
        let levels = phase.order.iter().filter(|l| is_left(l));
        levels.map(|l| resolved.name(*l)).collect()
    };
    let (first, last) = (order(&resolved.decompose), order(&resolved.recompose));
    let recompose = if first == last {
        Phase::default()
    } else {
        Phase {
            order: Some(last),
            assign: BTreeMap::new(),
        }
    };
    let assign = resolved.written(&resolved.decompose).assign;
    Schedule {
        asm: Some(resolved.asm.name.clone()),
        layers,
        decompose: Phase {
            order: Some(first),
            assign,
        },
        inputs: inputs(of, tile),
        recompose,
        outputs: outputs(of, rest, tile),
        tails: of.schedule.tails.clone(),
        ..Schedule::default()
    }
}

/// Gives the copy of a tile a schedule: the model's where it transposes in registers, else lanes
/// along the last axis of memory, row by row; of memory in a layout, along the one that has the
/// longest runs of neighbours. Then blocks are transposed in registers if that is another one.
pub fn schedule_copy(of: &Scheduled, copy: Op, parts: &Dims, element: ScalarType) {
    let asm = &of.resolved.asm;
    if let Some(schedule) = transposition(asm, copy) {
        return schedule::set(copy, Some(&schedule));
    }
    let (Some(width), Some(last)) = (asm.vector(), parts.dims.last()) else {
        return;
    };
    let bytes = element.byte_width().max(1) as i64;
    let lanes = width as i64 / bytes;
    let (along, lanes) = lanes_in_layout(parts, lanes, bytes).unwrap_or((last, lanes));
    let is_wide = |dim: &Dim| dim.upper.known().is_none_or(|n| n >= lanes);
    if lanes < 2 || !is_wide(along) {
        return;
    }
    let whole = |name: &str, parts: BTreeMap<String, Parts>| Layer {
        name: name.into(),
        parts,
    };
    let counts = parts.dims.iter().map(|d| (d.name.clone(), Parts::Derived));
    let mut layers = vec![whole("L1", counts.collect())];
    let mut order: Vec<LevelName> = (parts.dims.iter())
        .map(|d| LevelName::new("L1", &d.name))
        .collect();
    let mut inside = |layer: &str, dim: &Dim| {
        let parts = BTreeMap::from([(dim.name.clone(), Parts::Fixed(lanes))]);
        layers.push(whole(layer, parts));
        order.push(LevelName::new(layer, &dim.name));
    };
    if along.name != last.name && is_wide(last) {
        inside("register", last);
    }
    inside(LANES, along);
    let schedule = Schedule {
        asm: Some(asm.name.clone()),
        layers,
        decompose: Phase {
            order: Some(order),
            assign: BTreeMap::new(),
        },
        ..Schedule::default()
    };
    schedule::set(copy, Some(&schedule));
}

/// The last dimension along which as many lanes as possible, of so many bytes each, are neighbours in
/// the layout that a copy's memory has, and how many are.
fn lanes_in_layout<'d, 'c>(
    parts: &'d Dims<'c>,
    most: i64,
    bytes: i64,
) -> Option<(&'d Dim<'c>, i64)> {
    let halves = std::iter::successors(Some(most), |lanes| Some(lanes / 2));
    let mut wide = halves.take_while(|lanes| *lanes > 1 && lanes * bytes >= NARROWEST);
    wide.find_map(|lanes| {
        let mut dims = (0..parts.dims.len()).rev();
        let along = dims.find(|d| has_runs(parts, *d, lanes))?;
        Some((&parts.dims[along], lanes))
    })
}

/// The bytes of the shortest vectors that processors have.
const NARROWEST: i64 = 16;

/// Returns whether so many neighbours of a dimension are neighbours in the layout that a copy's memory has.
fn has_runs(parts: &Dims, dim: usize, lanes: i64) -> bool {
    let runs = [Run::Whole, Run::Blocks(lanes)];
    parts.outputs.iter().any(|buffer| {
        let mut axes = buffer.accesses[0].iter();
        let axis = axes.position(|expr| *expr == Expr::Dim(dim));
        let is_run = |axis, run| layout::is_run(buffer.value.r#type(), axis, run);
        axis.is_some_and(|axis| runs.into_iter().any(|run| is_run(axis, run)))
    })
}

/// Inputs that pass through registers to the scalar function (S3).
fn inputs(of: &Scheduled, tile: &Dims) -> BTreeMap<String, Input> {
    let resolved = &of.resolved;
    let plans = resolved.inputs.iter().zip(&tile.inputs);
    let moved = plans.filter_map(|(plan, buffer)| {
        let last = resolved.decompose.order.last()?;
        // What the scalar function has in other memory is copied before.
        let name = resolved.asm.layers[plan.scalar].name();
        let is_moved = plan.region[last.layer][last.dimension] != plan.scalar && name == "register";
        let input = Input {
            scalar: Some(name.to_string()),
            ..Input::default()
        };
        is_moved.then(|| (buffer.name.clone(), input))
    });
    moved.collect()
}

/// Returns the memory of partial results from the first of these loops on. Partial results that are
/// in memory of their own are where the output is that they are of, or all are.
fn outputs(of: &Scheduled, rest: &[Loop], tile: &Dims) -> BTreeMap<String, Output> {
    let resolved = &of.resolved;
    let mut outputs = BTreeMap::new();
    for buffer in &tile.outputs {
        let plan_of_output = resolved
            .outputs
            .iter()
            .find(|plan| plan.name == buffer.name);
        let Some(plan) = plan_of_output.or(resolved.outputs.first()) else {
            continue;
        };
        let mut combine = BTreeMap::new();
        // What the tile has memory of its own for is there already, but for registers.
        let first = rest
            .first()
            .map(|l| plan.region[l.level.layer][l.level.dimension]);
        let registers = resolved.asm.position("register");
        let mut before = first.filter(|first| Some(*first) != registers).unwrap_or(0);
        // Regions hold from their level on in R1's order.
        let is_left = |level: &&Level| rest.iter().any(|l| l.level == **level);
        for level in resolved.recompose.order.iter().filter(is_left) {
            let region = plan.region[level.layer][level.dimension];
            if region != before {
                let name = resolved.asm.layers[region].name();
                combine.insert(resolved.name(*level), name.to_string());
            }
            before = region;
        }
        // Through registers to there, from the scalar function (S5).
        let last = resolved.recompose.order.last();
        let last = last.map(|level| plan.region[level.layer][level.dimension]);
        let name = resolved.asm.layers[plan.scalar].name();
        let is_moved = last.is_some_and(|last| last != plan.scalar) && name == "register";
        let scalar = is_moved.then_some(name);
        if !combine.is_empty() || scalar.is_some() {
            let output = Output {
                combine,
                scalar: scalar.map(String::from),
                ..Output::default()
            };
            outputs.insert(buffer.name.clone(), output);
        }
    }
    outputs
}

/// Returns the model's choice for a part of a computation on one core, with the vectors of the
/// computation's own schedule.
pub fn choice(of: &Scheduled, part: Op) -> Option<Schedule> {
    let resolved = &of.resolved;
    let computation = translate::compute(part, Depth::Signatures).ok()?;
    let counts = resolved.layers.iter().zip(&resolved.counts);
    let lanes = counts.filter(|(layer, _)| *layer == LANES);
    let lanes = lanes.flat_map(|(_, counts)| counts.iter().map(known)).max();
    let components = computation.components.iter().map(|ty| ty.byte_width());
    let width = components.max().unwrap_or(1).max(1) as i64;
    let facts = Facts {
        cores: 1,
        vector: match lanes.unwrap_or(1) {
            1 => 1,
            lanes => lanes * width,
        },
        is_deterministic: deterministic::is_wanted(part),
        ..Facts::new(&resolved.asm)?
    };
    Some(choose_for(&computation, &resolved.asm, facts, 1)?.schedule)
}

fn known(count: &Count) -> i64 {
    match count {
        Count::Known(count) => *count,
        Count::Dynamic { .. } => 1,
    }
}

/// The model's schedule of a copy on one core, if it transposes.
fn transposition(asm: &Asm, copy: Op) -> Option<Schedule> {
    let computation = translate::compute(copy, Depth::Signatures).ok()?;
    let facts = Facts {
        cores: 1,
        ..Facts::new(asm)?
    };
    let choice = choose_for(&computation, asm, facts, 1)?;
    choice.is_transposed.then_some(choice.schedule)
}
