//! The total, normalised form of a schedule: positions instead of names, defaults filled in.

use mdh_algebra::mapping::axis_name;
use std::sync::Arc;

use super::names::{LeftOut, Names, layers, left_out};
use super::numbers::Count;
use super::schedule_path::SchedulePath;
use super::violation::{Constraint, Violation, find};
use crate::asm::Asm;
use crate::schedule::{ComputeAt, LevelName, Phase, Schedule, TailCode};
use crate::staged_layout::StagedLayout;
use mdh_algebra::computation::Computation;

/// An MDH level (positions of a schedule's layer and of a dimension) or an ASM level (positions
/// of an ASM's layer and dimension).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    /// The layer.
    pub layer: usize,
    /// The dimension.
    pub dimension: usize,
}

/// One value for each MDH level: `[layer][dimension]`.
pub type PerLevel<T> = Vec<Vec<T>>;

/// D1, D2 or S1, S2 or R1, R2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasePlan {
    /// All MDH levels, outermost first.
    pub order: Vec<Level>,
    /// The ASM level of each.
    pub assign: PerLevel<Level>,
}

/// D3, D4, S3, S4 of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPlan {
    /// Its name.
    pub name: String,
    /// D3, as positions of ASM layers.
    pub region: PerLevel<usize>,
    /// D4.
    pub layout: PerLevel<StagedLayout>,
    /// Buffers for tiles that are copied asynchronously.
    pub stages: Option<i64>,
    /// S3.
    pub scalar: usize,
    /// S4.
    pub scalar_layout: StagedLayout,
}

/// S5, S6, R3, R4 of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPlan {
    /// Its name.
    pub name: String,
    /// S5.
    pub scalar: usize,
    /// S6.
    pub scalar_layout: StagedLayout,
    /// R3, as positions of ASM layers.
    pub region: PerLevel<usize>,
    /// R4.
    pub layout: PerLevel<StagedLayout>,
}

/// The order of tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilePlan {
    /// The levels, in the order of the loops.
    pub levels: Vec<Level>,
    /// From their parts' numbers to the place in the order.
    pub layout: Arc<mdh_algebra::layout::Layout>,
}

/// A loop nest of fused phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseNest {
    /// True if it stages inputs.
    pub decompose: bool,
    /// True if it computes the scalar function.
    pub scalar: bool,
    /// True if it combines.
    pub recompose: bool,
    /// Its loops.
    pub phase: PhasePlan,
}

/// A schedule of one computation on one machine, with nothing left open but dynamic sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The machine.
    pub asm: Asm,
    /// The layers, outermost first.
    pub layers: Vec<String>,
    /// The dimensions.
    pub dimensions: Vec<String>,
    /// Number of points of each dimension, where it is known.
    pub points: Vec<Option<i64>>,
    /// Parameter 0.
    pub counts: PerLevel<Count>,
    /// D1, D2.
    pub decompose: PhasePlan,
    /// S1, S2.
    pub scalar: PhasePlan,
    /// R1, R2.
    pub recompose: PhasePlan,
    /// The order of tiles of neighbouring levels.
    pub tile_order: Option<TilePlan>,
    /// D3, D4, S3, S4, in the order of the computation's inputs.
    pub inputs: Vec<InputPlan>,
    /// S5, S6, R3, R4, in the order of the computation's outputs.
    pub outputs: Vec<OutputPlan>,
    /// Treatment of tails, by dimension.
    pub tails: Vec<TailCode>,
    /// Fusion with a consumer.
    pub compute_at: Option<ComputeAt>,
    /// True if the combine tree depends on sizes and schedule only.
    pub deterministic: bool,
}

impl Resolved {
    /// Resolves names, numbers of parts, orders and assignments, with their defaults; fails for
    /// those that cannot be understood.
    pub fn new(
        schedule: &Schedule,
        computation: &Computation,
        asm: &Asm,
    ) -> Result<Resolved, Vec<Violation>> {
        let mut faults: Vec<Violation> = Vec::new();
        for message in asm.check() {
            find(&mut faults, Constraint::Asm, SchedulePath::root(), message);
        }
        if let Some(name) = schedule.asm.as_ref().filter(|name| **name != asm.name) {
            let here = &asm.name;
            let message = format!("the schedule is made for ASM '{name}', found ASM '{here}'");
            find(
                &mut faults,
                Constraint::Asm,
                SchedulePath::root().entry("asm"),
                message,
            );
        }
        let dimensions: Vec<String> = computation.names().iter().map(|n| (*n).into()).collect();
        let points: Vec<_> = computation.dimensions.iter().map(|d| d.count()).collect();
        let layers = layers(&schedule.layers, asm, &mut faults);
        let mut names = Names {
            asm,
            layers: &layers,
            dimensions: &dimensions,
            found: &mut faults,
            left_out: LeftOut::default(),
        };
        let counts = names.counts(&schedule.layers, &points);
        names.left_out = left_out((&schedule.layers, asm), (&layers, &dimensions), &counts);
        let decompose = names.phase("decompose", &schedule.decompose, &counts, None);
        let scalar = names.phase("scalar", &schedule.scalar, &counts, Some(&decompose));
        let recompose = names.phase("recompose", &schedule.recompose, &counts, Some(&scalar));
        let tile_order = names.tile_order(schedule.tile_order.as_ref(), &counts, &decompose);
        let inputs = names.inputs(&schedule.inputs, computation, &decompose);
        let outputs = names.outputs(&schedule.outputs, computation, &recompose);
        let tails = names.tails(&schedule.tails, &counts, &points);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Resolved {
            asm: asm.clone(),
            layers,
            dimensions,
            points,
            counts,
            decompose,
            scalar,
            recompose,
            tile_order,
            inputs,
            outputs,
            tails,
            compute_at: schedule.compute_at.clone(),
            deterministic: schedule.deterministic.unwrap_or(false),
        })
    }

    /// Adds to the first message that names a level which takes what is left of a dimension that nobody has
    /// written it has so many parts.
    pub(super) fn explain_left_out<'m>(
        &self,
        schedule: &Schedule,
        mut messages: impl Iterator<Item = &'m mut String>,
    ) {
        let written = (&schedule.layers[..], &self.asm);
        let left = left_out(written, (&self.layers, &self.dimensions), &self.counts);
        let names = left.levels.iter().map(|l| format!("'{}'", self.name(*l)));
        let names: Vec<String> = names.collect();
        let named = messages.find(|message| names.iter().any(|name| message.contains(name)));
        if let Some(message) = named {
            *message += &left.text;
        }
    }

    /// A level's count.
    pub fn count(&self, level: Level) -> Count {
        self.counts[level.layer][level.dimension]
    }

    /// `layer.dimension`.
    pub fn name(&self, level: Level) -> LevelName {
        LevelName::new(&self.layers[level.layer], &self.dimensions[level.dimension])
    }

    /// `layer.dimension` of an ASM level.
    pub fn asm_name(&self, level: Level) -> LevelName {
        let layer = self.asm.layers[level.layer].name();
        LevelName::new(layer, &axis_name(level.dimension))
    }

    /// The ASM level of a level's own layer and dimension.
    pub fn own(&self, level: Level) -> Level {
        let layer = self.asm.position(&self.layers[level.layer]);
        Level {
            layer: layer.unwrap_or(0),
            dimension: level.dimension,
        }
    }

    /// A plan as it is written in full, whatever the phases before it are: the order of the
    /// levels of more than one part, and where levels are that are not on their own layers.
    pub fn written(&self, plan: &PhasePlan) -> Phase {
        let loops = plan.order.iter().filter(|l| !self.count(**l).is_one());
        let moved = plan.order.iter().filter_map(|level| {
            let to = plan.assign[level.layer][level.dimension];
            (to != self.own(*level)).then(|| (self.name(*level), self.asm_name(to)))
        });
        Phase {
            order: Some(loops.map(|l| self.name(*l)).collect()),
            assign: moved.collect(),
        }
    }

    /// The order of tiles, if it is followed: tiles of a producer may have fewer parts than its layout, and are
    /// taken one by one.
    pub fn ordered_tiles(&self) -> Option<&TilePlan> {
        let fits = |plan: &&TilePlan| {
            let sizes = plan.layout.sizes();
            let mut counts = plan.levels.iter().zip(&sizes);
            counts.all(|(level, size)| match self.count(*level) {
                Count::Known(count) => size.as_constant() == Some(count),
                Count::Dynamic { .. } => false,
            })
        };
        self.tile_order.as_ref().filter(fits)
    }

    /// Returns whether two levels are opened together, in one order of tiles: tiles inside of both follow each
    /// other, and those of the outer one do not.
    pub fn opens_together(&self, outer: Level, inner: Level) -> bool {
        let plan = self.ordered_tiles();
        plan.is_some_and(|plan| {
            [outer, inner]
                .iter()
                .all(|level| plan.levels.contains(level))
        })
    }

    /// Returns whether an assignment gives a level to a core layer.
    pub fn is_parallel(&self, phase: &PhasePlan, level: Level) -> bool {
        let to = phase.assign[level.layer][level.dimension];
        self.asm.layers[to.layer].core().is_some()
    }

    /// The loop nests: neighbouring phases are one where their orders and assignments agree on
    /// all levels of more than one part (paper, section 3.4 and appendix F, loop fusion).
    pub fn nests(&self) -> Vec<PhaseNest> {
        let mut nests: Vec<PhaseNest> = Vec::new();
        for (n, phase) in [&self.decompose, &self.scalar, &self.recompose]
            .into_iter()
            .enumerate()
        {
            let fused = nests
                .last()
                .is_some_and(|last| self.agree(&last.phase, phase));
            if !fused {
                nests.push(PhaseNest {
                    decompose: false,
                    scalar: false,
                    recompose: false,
                    phase: phase.clone(),
                });
            }
            if let Some(nest) = nests.last_mut() {
                nest.decompose |= n == 0;
                nest.scalar |= n == 1;
                nest.recompose |= n == 2;
            }
        }
        nests
    }

    /// Returns whether phases are separate loop nests, each of which is a computation of its own when it is
    /// lowered; deferred parts need none.
    pub fn is_apart(&self, computation: &Computation) -> bool {
        self.stages_apart() || self.combines_apart(computation)
    }

    /// Returns whether a loop nest of its own stages inputs.
    pub fn stages_apart(&self) -> bool {
        self.nests().first().is_some_and(|nest| !nest.scalar)
    }

    /// Returns whether results are combined in a loop nest that evaluates nothing.
    pub fn combines_apart(&self, computation: &Computation) -> bool {
        let is_last_alone = self.nests().last().is_some_and(|nest| !nest.scalar);
        is_last_alone && self.deferred(computation).is_none()
    }

    /// Levels of `pw` dimensions whose parts are deferred: re-composition has them further
    /// out than the scalar phase, and the two phases agree but for that. They are one nest, in
    /// which each part of these levels has a partial result of its own. `None` if the phases
    /// differ otherwise, and are separate nests.
    pub fn deferred(&self, computation: &Computation) -> Option<Vec<Level>> {
        let (scalar, recompose) = (self.loops(&self.scalar), self.loops(&self.recompose));
        let place = |loops: &[(Level, Level)], level: &Level| {
            loops.iter().position(|(l, _)| l == level).unwrap_or(0)
        };
        // Outside of a level in re-composition, but inside of it in the scalar phase.
        let moved_out = |level: &Level| {
            scalar.iter().any(|(other, _)| {
                place(&recompose, level) < place(&recompose, other)
                    && place(&scalar, level) > place(&scalar, other)
            })
        };
        let is_pw = |level: &Level| computation.dimensions[level.dimension].combine.is_pw();
        let levels = scalar.iter().map(|(level, _)| *level);
        let deferred: Vec<Level> = levels.filter(|l| is_pw(l) && moved_out(l)).collect();
        let remaining = |loops: &[(Level, Level)]| -> Vec<(Level, Level)> {
            let rest = loops.iter().filter(|(l, _)| !deferred.contains(l));
            rest.copied().collect()
        };
        (remaining(&scalar) == remaining(&recompose)).then_some(deferred)
    }

    fn agree(&self, a: &PhasePlan, b: &PhasePlan) -> bool {
        self.loops(a) == self.loops(b)
    }

    /// The levels of more than one part in their order, and the ASM level of each.
    fn loops(&self, phase: &PhasePlan) -> Vec<(Level, Level)> {
        let levels = phase.order.iter().filter(|l| !self.count(**l).is_one());
        levels
            .map(|l| (*l, phase.assign[l.layer][l.dimension]))
            .collect()
    }
}
