//! Resolution of a schedule's names to positions: regions and layouts of buffers, and tails.

use std::collections::BTreeMap;

use super::names::{Names, Spot};
use super::numbers::Count;
use super::place::SchedulePath;
use super::resolved::{InputPlan, Level, OutputPlan, PerLevel, PhasePlan};
use super::violation::Constraint;
use super::{Input, LevelName, Output, StagedLayout, TailCode};
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

    /// Default: the first two dimensions that may have a tail are peeled, others masked.
    pub(super) fn tails(
        &mut self,
        written: &BTreeMap<String, TailCode>,
        counts: &PerLevel<Count>,
        points: &[Option<i64>],
    ) -> Vec<TailCode> {
        for name in written.keys() {
            let spot = Spot {
                text: "tails".into(),
                place: SchedulePath::root().entry("tails").entry(name).name(),
            };
            self.dimension(name, &spot);
        }
        let mut peeled = 0;
        let mut tails = Vec::new();
        for (d, name) in self.dimensions.iter().enumerate() {
            let mut covered = counts.iter().map(|row| row[d].for_points(points[d]));
            let covered = covered.try_fold(1i64, |p, n| Some(p.saturating_mul(n?)));
            let even = covered.is_some() && covered == points[d];
            let code = match written.get(name) {
                Some(code) => *code,
                None if even || peeled < 2 => TailCode::Peel,
                None => TailCode::Mask,
            };
            peeled += usize::from(!even && code == TailCode::Peel);
            tails.push(code);
        }
        tails
    }
}
