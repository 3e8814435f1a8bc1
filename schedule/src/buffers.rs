//! Resolution of a schedule's names to positions: regions and layouts of buffers.

use std::collections::BTreeMap;

use super::names::{Names, Spot};
use super::resolved::{InputPlan, Level, OutputPlan, PerLevel, PhasePlan};
use super::schedule_path::SchedulePath;
use super::violation::Constraint;
use crate::schedule::{Input, LevelName, Output};
use crate::staged_layout::StagedLayout;
use mdh_algebra::computation::Computation;

impl Names<'_> {
    fn region(&mut self, name: &str, spot: &Spot) -> Option<usize> {
        if self.asm.memory(name).is_none() {
            let known = self.asm.memory_names().join(", ");
            let message = format!("{spot}: found region '{name}', expected one of {known}");
            self.find(Constraint::UnknownRegion, spot.place.clone(), message);
            return None;
        }
        self.asm.position(name)
    }

    /// Values that hold from their level on, in an order.
    fn inherit<T: Clone>(
        &mut self,
        spot: &Spot,
        written: BTreeMap<LevelName, T>,
        order: &[Level],
        first: T,
    ) -> (PerLevel<T>, T) {
        let mut per_level = vec![vec![first.clone(); self.dimensions.len()]; self.layers.len()];
        let mut at: BTreeMap<Level, T> = BTreeMap::new();
        for (name, value) in written {
            let place = spot.place.clone().entry(name.to_string()).name();
            if let Some(level) = self.level(&name, &spot.at(place)) {
                at.insert(level, value);
            }
        }
        let mut current = first;
        for level in order {
            if let Some(value) = at.get(level) {
                current = value.clone();
            }
            per_level[level.layer][level.dimension] = current.clone();
        }
        (per_level, current)
    }

    fn regions(
        &mut self,
        spot: &Spot,
        written: &BTreeMap<LevelName, String>,
        order: &[Level],
    ) -> (PerLevel<usize>, usize) {
        let resolved = written.iter().filter_map(|(level, region)| {
            let place = spot.place.clone().entry(level.to_string());
            Some((level.clone(), self.region(region, &spot.at(place))?))
        });
        let resolved = resolved.collect();
        self.inherit(spot, resolved, order, 0)
    }

    fn layouts(
        &mut self,
        spot: &Spot,
        written: &BTreeMap<LevelName, StagedLayout>,
        order: &[Level],
        rank: usize,
    ) -> (PerLevel<StagedLayout>, StagedLayout) {
        for (level, layout) in written {
            let place = spot.place.clone().entry(level.to_string());
            self.layout(&spot.at(place), layout, rank);
        }
        self.inherit(spot, written.clone(), order, StagedLayout::row_major())
    }

    fn layout(&mut self, spot: &Spot, layout: &StagedLayout, rank: usize) {
        if let Err(message) = layout.check(rank) {
            let message = format!("{spot}: {message}");
            self.find(Constraint::Layout, spot.place.clone(), message);
        }
    }

    fn known<T>(&mut self, kind: &str, written: &BTreeMap<String, T>, names: Vec<&String>) {
        for name in written.keys().filter(|name| !names.contains(name)) {
            let known: Vec<_> = names.iter().map(|n| n.as_str()).collect();
            let message = format!(
                "found {kind} '{name}', expected one of {}",
                known.join(", ")
            );
            let place = SchedulePath::root()
                .entry(format!("{kind}s"))
                .entry(name)
                .name();
            self.find(Constraint::UnknownBuffer, place, message);
        }
    }

    pub(super) fn inputs(
        &mut self,
        written: &BTreeMap<String, Input>,
        computation: &Computation,
        phase: &PhasePlan,
    ) -> Vec<InputPlan> {
        self.known(
            "input",
            written,
            computation.inputs.iter().map(|b| &b.name).collect(),
        );
        let default = Input::default();
        let mut plans = Vec::new();
        for buffer in &computation.inputs {
            let (name, rank) = (buffer.name.clone(), buffer.shape.len());
            let input = written.get(&name).unwrap_or(&default);
            let spot = |entry: &str| Spot {
                text: format!("input '{name}'"),
                place: SchedulePath::root()
                    .entry("inputs")
                    .entry(&name)
                    .entry(entry),
            };
            let (region, last) = self.regions(&spot("stage"), &input.stage, &phase.order);
            let (layout, last_layout) =
                self.layouts(&spot("layout"), &input.layout, &phase.order, rank);
            let scalar = input.scalar.as_ref();
            let scalar = scalar.and_then(|r| self.region(r, &spot("scalar")));
            let scalar_layout = input.scalar_layout.clone().unwrap_or(last_layout);
            self.layout(&spot("scalar_layout"), &scalar_layout, rank);
            plans.push(InputPlan {
                name,
                region,
                layout,
                stages: input.stages,
                scalar: scalar.unwrap_or(last),
                scalar_layout,
            });
        }
        plans
    }

    pub(super) fn outputs(
        &mut self,
        written: &BTreeMap<String, Output>,
        computation: &Computation,
        phase: &PhasePlan,
    ) -> Vec<OutputPlan> {
        self.known(
            "output",
            written,
            computation.outputs.iter().map(|b| &b.name).collect(),
        );
        let default = Output::default();
        let mut plans = Vec::new();
        for buffer in &computation.outputs {
            let (name, rank) = (buffer.name.clone(), buffer.shape.len());
            let output = written.get(&name).unwrap_or(&default);
            let spot = |entry: &str| Spot {
                text: format!("output '{name}'"),
                place: SchedulePath::root()
                    .entry("outputs")
                    .entry(&name)
                    .entry(entry),
            };
            let (region, last) = self.regions(&spot("combine"), &output.combine, &phase.order);
            let (layout, last_layout) =
                self.layouts(&spot("layout"), &output.layout, &phase.order, rank);
            let scalar = output.scalar.as_ref();
            let scalar = scalar.and_then(|r| self.region(r, &spot("scalar")));
            let scalar_layout = output.scalar_layout.clone().unwrap_or(last_layout);
            self.layout(&spot("scalar_layout"), &scalar_layout, rank);
            plans.push(OutputPlan {
                name,
                scalar: scalar.unwrap_or(last),
                scalar_layout,
                region,
                layout,
            });
        }
        plans
    }
}
