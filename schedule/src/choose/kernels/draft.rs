//! A schedule of a kernel as it is made: levels by dimension number, written out at last.

use mdh_algebra::mapping::axis_name;
use std::collections::BTreeMap;

use super::Model;
use crate::numbers::Parts;
use crate::schedule::{Input, Layer, LevelName, Output, Phase, Schedule};
use crate::staged_layout::{StagedLayout, Step};

/// A level, by its layer and its dimension.
pub(super) type DraftLevel = (&'static str, usize);

/// A schedule as it is made.
#[derive(Default)]
pub(super) struct Draft {
    /// Layers, outermost first, with the parts of dimensions.
    pub(super) layers: Vec<(&'static str, Vec<(usize, Parts)>)>,
    pub(super) order: Vec<DraftLevel>,
    pub(super) deferred: Option<Vec<DraftLevel>>,
    /// Inputs in shared memory, and how they lie there.
    pub(super) staged: BTreeMap<usize, Vec<Step>>,
    /// Buffers of each that is copied asynchronously.
    pub(super) stages: Option<i64>,
    /// Before which loop they are copied.
    pub(super) stage_at: Option<DraftLevel>,
    /// From which loop on results are in shared memory.
    pub(super) shared_at: Option<DraftLevel>,
    /// From which loop on results are in registers.
    pub(super) sum_at: Option<DraftLevel>,
    /// The thread's axes, `x` first.
    pub(super) axes: Vec<usize>,
    pub(super) reason: String,
}

impl Draft {
    /// The schedule, for a computation and a machine.
    pub(super) fn finish(self, model: &Model) -> Schedule {
        let names = &model.views.names;
        let levels =
            |order: &[DraftLevel]| order.iter().map(|l| level(model, *l)).collect::<Vec<_>>();
        let assign = self.assignments(model);
        let (inputs, outputs) = (self.inputs(model), self.outputs(model));
        let layers = self
            .layers
            .into_iter()
            .filter(|(_, parts)| !parts.is_empty());
        let layers = layers.map(|(name, parts)| Layer {
            name: name.into(),
            parts: (parts.into_iter())
                .map(|(d, parts)| (names[d].clone(), parts))
                .collect(),
        });
        Schedule {
            asm: Some(model.asm.name.clone()),
            layers: layers.collect(),
            decompose: Phase {
                order: Some(levels(&self.order)),
                assign: assign.clone(),
            },
            recompose: Phase {
                order: self.deferred.as_deref().map(levels),
                assign: match self.deferred {
                    Some(_) => assign,
                    None => BTreeMap::new(),
                },
            },
            inputs,
            outputs,
            ..Schedule::default()
        }
    }

    /// Returns the axes of threads and blocks that levels are assigned to, where these are others than by default.
    fn assignments(&self, model: &Model) -> BTreeMap<LevelName, LevelName> {
        // The grid is longest in x, of which a device allows the most blocks.
        let block = self.layers.iter().find(|(name, _)| *name == "block");
        let block = block.map_or(&[][..], |(_, parts)| parts);
        let mut blocks: Vec<usize> = block.iter().map(|(d, _)| *d).collect();
        blocks.sort_by_key(|d| std::cmp::Reverse(model.size(*d)));
        let mut assign = BTreeMap::new();
        for (layer, axes) in [("thread", &self.axes), ("block", &blocks)] {
            if axes.is_empty() {
                continue;
            }
            // All levels of the layer: an assignment is a bijection.
            let rest = (0..model.views.names.len()).filter(|d| !axes.contains(d));
            for (axis, d) in axes.iter().copied().chain(rest).enumerate() {
                if axis != d {
                    let to = LevelName::new(layer, &axis_name(axis));
                    assign.insert(level(model, (layer, d)), to);
                }
            }
        }
        assign
    }

    /// Returns the inputs in shared memory, by name.
    fn inputs(&self, model: &Model) -> BTreeMap<String, Input> {
        let mut inputs = BTreeMap::new();
        let Some(stage_at) = self.stage_at else {
            return inputs;
        };
        let stage_at = level(model, stage_at);
        for (n, steps) in &self.staged {
            let mut input = Input {
                stages: self.stages,
                ..Input::default()
            };
            input.stage.insert(stage_at.clone(), "shared".into());
            if !steps.is_empty() {
                let layout = StagedLayout {
                    steps: steps.clone(),
                };
                input.layout.insert(stage_at.clone(), layout);
            }
            inputs.insert(model.computation.inputs[*n].name.clone(), input);
        }
        inputs
    }

    /// Returns the memory of the outputs, by name.
    fn outputs(&self, model: &Model) -> BTreeMap<String, Output> {
        let mut outputs: BTreeMap<String, Output> = BTreeMap::new();
        for (at, region) in [(self.shared_at, "shared"), (self.sum_at, "register")] {
            let Some(at) = at else {
                continue;
            };
            for buffer in &model.computation.outputs {
                let output = outputs.entry(buffer.name.clone()).or_default();
                output.combine.insert(level(model, at), region.into());
            }
        }
        outputs
    }
}

/// Name of a level.
fn level(model: &Model, (layer, d): DraftLevel) -> LevelName {
    LevelName::new(layer, &model.views.names[d])
}

/// The levels of a layer.
pub(super) fn all(layer: &'static str, dims: &[usize]) -> Vec<DraftLevel> {
    dims.iter().map(|d| (layer, *d)).collect()
}

/// Counts that are written down.
pub(super) fn fixed(parts: &[(usize, i64)]) -> Vec<(usize, Parts)> {
    parts.iter().map(|(d, n)| (*d, Parts::Fixed(*n))).collect()
}
