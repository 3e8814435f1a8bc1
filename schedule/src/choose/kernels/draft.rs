//! A schedule of a kernel as it is made: levels by dimension number, written out at last.

use mdh_algebra::mapping::axis_name;
use std::collections::BTreeMap;

use super::Model;
use crate::{Input, Layer, LevelName, Output, Parts, Phase, Schedule, StagedLayout, Step};

/// A schedule as it is made.
#[derive(Default)]
pub(super) struct Draft {
    /// Layers, outermost first, with the parts of dimensions.
    pub(super) layers: Vec<(&'static str, Vec<(usize, Parts)>)>,
    pub(super) order: Vec<(&'static str, usize)>,
    pub(super) deferred: Option<Vec<(&'static str, usize)>>,
    /// Inputs in shared memory, and how they lie there.
    pub(super) staged: BTreeMap<usize, Vec<Step>>,
    /// Buffers of each that is copied asynchronously.
    pub(super) stages: Option<i64>,
    /// Before which loop they are copied.
    pub(super) stage_at: Option<(&'static str, usize)>,
    /// From which loop on results are in shared memory.
    pub(super) shared_at: Option<(&'static str, usize)>,
    /// From which loop on results are in registers.
    pub(super) sum_at: Option<(&'static str, usize)>,
    /// The thread's axes, `x` first.
    pub(super) axes: Vec<usize>,
    pub(super) reason: String,
}

impl Draft {
    /// The schedule, for a computation and a machine.
    pub(super) fn finish(self, model: &Model) -> Schedule {
        let names = &model.views.names;
        let level = |(layer, d): &(&str, usize)| LevelName::new(layer, &names[*d]);
        let levels = |order: &[(&str, usize)]| order.iter().map(level).collect::<Vec<_>>();
        // The grid is longest in x, of which a device allows the most blocks.
        let of = |layer: &str| self.layers.iter().find(|(name, _)| *name == layer);
        let mut blocks: Vec<usize> = of("block")
            .map_or(&[][..], |(_, parts)| parts)
            .iter()
            .map(|(d, _)| *d)
            .collect();
        blocks.sort_by_key(|d| std::cmp::Reverse(model.size(*d)));
        let mut assign = BTreeMap::new();
        for (layer, axes) in [("thread", &self.axes), ("block", &blocks)] {
            if axes.is_empty() {
                continue;
            }
            // All levels of the layer: an assignment is a bijection.
            let others = (0..names.len()).filter(|d| !axes.contains(d));
            for (axis, d) in axes.iter().copied().chain(others).enumerate() {
                if axis != d {
                    let to = LevelName::new(layer, &axis_name(axis));
                    assign.insert(level(&(layer, d)), to);
                }
            }
        }
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
        let mut inputs = BTreeMap::new();
        if let Some(at) = &self.stage_at {
            for (n, steps) in self.staged {
                let mut input = Input {
                    stages: self.stages,
                    ..Input::default()
                };
                input.stage.insert(level(at), "shared".into());
                if !steps.is_empty() {
                    let layout = StagedLayout { steps };
                    input.layout.insert(level(at), layout);
                }
                inputs.insert(model.computation.inputs[n].name.clone(), input);
            }
        }
        let mut outputs = BTreeMap::new();
        let regions = [(self.shared_at, "shared"), (self.sum_at, "register")];
        for (at, region) in regions {
            for buffer in model.computation.outputs.iter().filter(|_| at.is_some()) {
                let output: &mut Output = outputs.entry(buffer.name.clone()).or_default();
                let level = at.as_ref().map(level);
                output
                    .combine
                    .extend(level.map(|level| (level, region.into())));
            }
        }
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
}

/// The levels of a layer.
pub(super) fn all(layer: &'static str, dims: &[usize]) -> Vec<(&'static str, usize)> {
    dims.iter().map(|d| (layer, *d)).collect()
}

/// Counts that are written down.
pub(super) fn fixed(parts: &[(usize, i64)]) -> Vec<(usize, Parts)> {
    parts.iter().map(|(d, n)| (*d, Parts::Fixed(*n))).collect()
}
