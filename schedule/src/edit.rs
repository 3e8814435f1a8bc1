//! A schedule as a list of edits, each of which changes one part of it: the third spelling, that
//! of transform operations. An edit's fields are the attributes of its operation, whose name is
//! that of the variant.
//!
//! ```text
//! apply(edits(s), t) = s        for all schedules s and t
//! ```

mod listing;
mod print;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spelling::{control_character, unprintable};
use crate::numbers::Parts;
use crate::schedule::{ComputeAt, Layer, LevelName, Phase, Schedule, TailCode, TileOrder};
use crate::schedule_path::SchedulePath;
use crate::staged_layout::StagedLayout;

pub use listing::edits;
pub use print::name;

/// One of the three phases of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseName {
    /// D1, D2.
    Decompose,
    /// S1, S2.
    Scalar,
    /// R1, R2.
    Recompose,
}

/// Role of a buffer: read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Read.
    Input,
    /// Written.
    Output,
}

/// A change of one part of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Edit {
    /// The whole schedule is this one.
    Schedule {
        /// The schedule.
        schedule: Box<Schedule>,
    },
    /// It is made for this ASM.
    Asm {
        /// The ASM's name.
        machine: String,
    },
    /// Parameter 0: a layer's part counts. Those of other dimensions stay; a layer that is not
    /// there yet becomes the innermost one.
    Parts {
        /// The layer.
        layer: String,
        /// The counts.
        #[serde(deserialize_with = "super::numbers::unique")]
        counts: BTreeMap<String, Parts>,
        /// The layer moves to where it is the next one outside of this one.
        outside: Option<String>,
    },
    /// D1, S1, R1.
    Order {
        /// The phase.
        phase: PhaseName,
        /// Its levels, outermost first.
        levels: Vec<LevelName>,
    },
    /// D2, S2, R2. Assignments of other levels stay.
    Assign {
        /// The phase.
        phase: PhaseName,
        /// The ASM levels of MDH levels.
        #[serde(deserialize_with = "super::numbers::unique")]
        levels: BTreeMap<LevelName, LevelName>,
    },
    /// In which order tiles of neighbouring levels are taken.
    TileOrder {
        /// The levels.
        levels: Vec<LevelName>,
        /// A layout of their part counts.
        layout: StagedLayout,
    },
    /// D3, D4: where an input's tiles are from a level on, and how they lie there.
    Stage {
        /// The input.
        input: String,
        /// The level.
        at: LevelName,
        /// The region.
        region: Option<String>,
        /// The layout.
        layout: Option<StagedLayout>,
    },
    /// R3, R4: the same of an output's partial results.
    Combine {
        /// The output.
        output: String,
        /// The level.
        at: LevelName,
        /// The region.
        region: Option<String>,
        /// The layout.
        layout: Option<StagedLayout>,
    },
    /// The number of buffers for tiles of an input that are copied asynchronously.
    Stages {
        /// The input.
        input: String,
        /// The buffers.
        count: i64,
    },
    /// S3 to S6: where the scalar function reads or writes, and how elements lie there.
    Scalar {
        /// The buffer's role.
        role: Role,
        /// The buffer.
        buffer: String,
        /// The region.
        region: Option<String>,
        /// The layout.
        layout: Option<StagedLayout>,
    },
    /// Treatment of points that do not fill a tile. Other dimensions stay.
    Tails {
        /// By dimension.
        #[serde(deserialize_with = "super::numbers::unique")]
        dimensions: BTreeMap<String, TailCode>,
    },
    /// The position in another computation at which this one is computed.
    ComputeAt {
        /// The computation that reads this one's result.
        consumer: String,
        /// Its level.
        level: LevelName,
    },
    /// Dependence of the combine tree on sizes and schedule only.
    Deterministic {
        /// True if it depends on nothing else.
        value: bool,
    },
}

impl Edit {
    /// Reads the edit of a name (`parts`) from its fields.
    pub fn read(name: &str, fields: Value) -> Result<Edit, String> {
        if let Some(bad) = unprintable(&fields) {
            return Err(control_character(&bad));
        }
        let entries = [(name.to_string(), fields)].into_iter().collect();
        let edit = Edit::deserialize(Value::Object(entries)).map_err(|error| error.to_string())?;
        match &edit {
            Edit::Stage { region, layout, .. }
            | Edit::Combine { region, layout, .. }
            | Edit::Scalar { region, layout, .. }
                if region.is_none() && layout.is_none() =>
            {
                Err("found neither a region nor a layout, expected 'in' or 'layout'".into())
            }
            _ => Ok(edit),
        }
    }

    /// The name, as it stands in `transform.mdh.parts`.
    pub fn name(&self) -> &'static str {
        match self {
            Edit::Schedule { .. } => "schedule",
            Edit::Asm { .. } => "asm",
            Edit::Parts { .. } => "parts",
            Edit::Order { .. } => "order",
            Edit::Assign { .. } => "assign",
            Edit::TileOrder { .. } => "tile_order",
            Edit::Stage { .. } => "stage",
            Edit::Stages { .. } => "stages",
            Edit::Combine { .. } => "combine",
            Edit::Scalar { .. } => "scalar",
            Edit::Tails { .. } => "tails",
            Edit::ComputeAt { .. } => "compute_at",
            Edit::Deterministic { .. } => "deterministic",
        }
    }

    /// Returns the part of the schedule that it changes.
    pub fn place(&self) -> SchedulePath {
        let whole = SchedulePath::root();
        let phase = |phase: &PhaseName| {
            whole.clone().entry(match phase {
                PhaseName::Decompose => "decompose",
                PhaseName::Scalar => "scalar",
                PhaseName::Recompose => "recompose",
            })
        };
        let input = |name: &String| whole.clone().entry("inputs").entry(name);
        let output = |name: &String| whole.clone().entry("outputs").entry(name);
        match self {
            Edit::Schedule { .. } => whole,
            Edit::Asm { .. } => whole.entry("asm"),
            Edit::Parts { layer, .. } => SchedulePath::layer(layer),
            Edit::Order { phase: of, .. } => phase(of).entry("order"),
            Edit::Assign { phase: of, .. } => phase(of).entry("assign"),
            Edit::TileOrder { .. } => whole.entry("tile_order"),
            Edit::Stage { input: name, .. } => input(name).entry("stage"),
            Edit::Stages { input: name, .. } => input(name).entry("stages"),
            Edit::Combine { output: name, .. } => output(name).entry("combine"),
            Edit::Scalar { role, buffer, .. } => match role {
                Role::Input => input(buffer).entry("scalar"),
                Role::Output => output(buffer).entry("scalar"),
            },
            Edit::Tails { .. } => whole.entry("tails"),
            Edit::ComputeAt { .. } => whole.entry("compute_at"),
            Edit::Deterministic { .. } => whole.entry("deterministic"),
        }
    }

    /// Changes a schedule, or says why it cannot; then nothing has changed.
    pub fn apply(&self, schedule: &mut Schedule) -> Result<(), String> {
        match self.clone() {
            Edit::Schedule { schedule: whole } => *schedule = *whole,
            Edit::Asm { machine } => schedule.asm = Some(machine),
            Edit::Parts {
                layer,
                counts,
                outside,
            } => return set_parts(&mut schedule.layers, layer, counts, outside),
            Edit::Order { phase, levels } => phase_of(schedule, phase).order = Some(levels),
            Edit::Assign { phase, levels } => phase_of(schedule, phase).assign.extend(levels),
            Edit::TileOrder { levels, layout } => {
                schedule.tile_order = Some(TileOrder { levels, layout });
            }
            Edit::Stage {
                input,
                at,
                region,
                layout,
            } => {
                let entry = schedule.inputs.entry(input).or_default();
                entry.stage.extend(region.map(|r| (at.clone(), r)));
                entry.layout.extend(layout.map(|l| (at, l)));
            }
            Edit::Stages { input, count } => {
                schedule.inputs.entry(input).or_default().stages = Some(count);
            }
            Edit::Combine {
                output,
                at,
                region,
                layout,
            } => {
                let entry = schedule.outputs.entry(output).or_default();
                entry.combine.extend(region.map(|r| (at.clone(), r)));
                entry.layout.extend(layout.map(|l| (at, l)));
            }
            Edit::Scalar {
                role,
                buffer,
                region,
                layout,
            } => {
                let (regions, layouts) = scalar_of(schedule, role, buffer);
                *regions = region.or(regions.take());
                *layouts = layout.or(layouts.take());
            }
            Edit::Tails { dimensions } => schedule.tails.extend(dimensions),
            Edit::ComputeAt { consumer, level } => {
                schedule.compute_at = Some(ComputeAt { consumer, level });
            }
            Edit::Deterministic { value } => schedule.deterministic = Some(value),
        }
        Ok(())
    }
}

fn phase_of(schedule: &mut Schedule, phase: PhaseName) -> &mut Phase {
    match phase {
        PhaseName::Decompose => &mut schedule.decompose,
        PhaseName::Scalar => &mut schedule.scalar,
        PhaseName::Recompose => &mut schedule.recompose,
    }
}

fn scalar_of(
    schedule: &mut Schedule,
    role: Role,
    buffer: String,
) -> (&mut Option<String>, &mut Option<StagedLayout>) {
    match role {
        Role::Input => {
            let entry = schedule.inputs.entry(buffer).or_default();
            (&mut entry.scalar, &mut entry.scalar_layout)
        }
        Role::Output => {
            let entry = schedule.outputs.entry(buffer).or_default();
            (&mut entry.scalar, &mut entry.scalar_layout)
        }
    }
}

fn set_parts(
    layers: &mut Vec<Layer>,
    name: String,
    counts: BTreeMap<String, Parts>,
    outside: Option<String>,
) -> Result<(), String> {
    let place = |layers: &[Layer], name: &str| layers.iter().position(|l| l.name == name);
    let inner = outside.filter(|inner| *inner != name);
    if let Some(inner) = inner.as_deref().filter(|i| place(layers, i).is_none()) {
        let names: Vec<&str> = layers.iter().map(|l| l.name.as_str()).collect();
        let names = match names.is_empty() {
            true => "no layer yet".to_string(),
            false => format!("one of {}", names.join(", ")),
        };
        return Err(format!(
            "found no layer '{inner}' to put '{name}' outside of, expected {names}"
        ));
    }
    let old = place(layers, &name);
    let (at, mut layer) = match old {
        Some(at) => (at, layers.remove(at)),
        None => (
            layers.len(),
            Layer {
                name,
                parts: BTreeMap::new(),
            },
        ),
    };
    layer.parts.extend(counts);
    let at = inner.and_then(|inner| place(layers, &inner)).unwrap_or(at);
    layers.insert(at, layer);
    Ok(())
}
