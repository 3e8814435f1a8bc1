//! The edits that make a schedule.

use std::collections::BTreeMap;

use super::{Edit, PhaseName, Role};
use crate::schedule::{ComputeAt, Input, Layer, LevelName, Output, Phase, Schedule, TileOrder};
use crate::staged_layout::StagedLayout;

/// Lists the edits that turn any schedule into this one. The first one gives what no other can:
/// layers or dimensions that are badly named, and entries that are empty.
pub fn edits(schedule: &Schedule) -> Vec<Edit> {
    let mut base = Schedule::default();
    let mut rest = Vec::new();
    rest.extend(schedule.asm.clone().map(|machine| Edit::Asm { machine }));
    if layers_are_plain(&schedule.layers) {
        rest.extend(schedule.layers.iter().map(|layer| Edit::Parts {
            layer: layer.name.clone(),
            counts: layer.parts.clone(),
            outside: None,
        }));
    } else {
        base.layers = schedule.layers.clone();
    }
    for (name, phase) in [
        (PhaseName::Decompose, &schedule.decompose),
        (PhaseName::Scalar, &schedule.scalar),
        (PhaseName::Recompose, &schedule.recompose),
    ] {
        rest.extend(of_phase(name, phase));
    }
    let tiles = schedule.tile_order.clone();
    rest.extend(tiles.map(|TileOrder { levels, layout }| Edit::TileOrder { levels, layout }));
    for (name, input) in &schedule.inputs {
        if *input == Input::default() {
            base.inputs.insert(name.clone(), Input::default());
        }
        rest.extend(of_input(name, input));
    }
    for (name, output) in &schedule.outputs {
        if *output == Output::default() {
            base.outputs.insert(name.clone(), Output::default());
        }
        rest.extend(of_output(name, output));
    }
    if schedule.tails.contains_key("") {
        base.tails = schedule.tails.clone();
    } else if !schedule.tails.is_empty() {
        let dimensions = schedule.tails.clone();
        rest.push(Edit::Tails { dimensions });
    }
    let at = schedule.compute_at.clone();
    rest.extend(at.map(|ComputeAt { consumer, level }| Edit::ComputeAt { consumer, level }));
    let deterministic = schedule.deterministic;
    rest.extend(deterministic.map(|value| Edit::Deterministic { value }));
    let mut edits = vec![Edit::Schedule {
        schedule: Box::new(base),
    }];
    edits.append(&mut rest);
    edits
}

/// Returns whether layers differ, and no dimension of theirs has the empty name, which is no key of an
/// attribute.
fn layers_are_plain(layers: &[Layer]) -> bool {
    let is_first = |n: usize| layers[..n].iter().all(|l| l.name != layers[n].name);
    (0..layers.len()).all(|n| is_first(n) && !layers[n].parts.contains_key(""))
}

fn of_phase(name: PhaseName, phase: &Phase) -> impl Iterator<Item = Edit> {
    let order = phase.order.clone().map(|levels| Edit::Order {
        phase: name,
        levels,
    });
    let assign = (!phase.assign.is_empty()).then(|| Edit::Assign {
        phase: name,
        levels: phase.assign.clone(),
    });
    order.into_iter().chain(assign)
}

/// For each level: the region and the layout from there on.
fn by_level(
    regions: &BTreeMap<LevelName, String>,
    layouts: &BTreeMap<LevelName, StagedLayout>,
) -> Vec<(LevelName, Option<String>, Option<StagedLayout>)> {
    let layout_only = layouts.keys().filter(|level| !regions.contains_key(*level));
    let row = |level: &LevelName| {
        let (region, layout) = (regions.get(level).cloned(), layouts.get(level).cloned());
        (level.clone(), region, layout)
    };
    regions.keys().chain(layout_only).map(row).collect()
}

fn scalar(
    role: Role,
    buffer: &str,
    region: &Option<String>,
    layout: &Option<StagedLayout>,
) -> Option<Edit> {
    (region.is_some() || layout.is_some()).then(|| Edit::Scalar {
        role,
        buffer: buffer.into(),
        region: region.clone(),
        layout: layout.clone(),
    })
}

fn of_input(name: &str, input: &Input) -> Vec<Edit> {
    let levels = by_level(&input.stage, &input.layout).into_iter();
    let stage = levels.map(|(at, region, layout)| Edit::Stage {
        input: name.into(),
        at,
        region,
        layout,
    });
    let scalar = scalar(Role::Input, name, &input.scalar, &input.scalar_layout);
    let stages = input.stages.map(|count| Edit::Stages {
        input: name.into(),
        count,
    });
    stage.chain(stages).chain(scalar).collect()
}

fn of_output(name: &str, output: &Output) -> Vec<Edit> {
    let levels = by_level(&output.combine, &output.layout).into_iter();
    let combine = levels.map(|(at, region, layout)| Edit::Combine {
        output: name.into(),
        at,
        region,
        layout,
    });
    let scalar = scalar(Role::Output, name, &output.scalar, &output.scalar_layout);
    combine.chain(scalar).collect()
}
