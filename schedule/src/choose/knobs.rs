//! Parameters of schedules, which a tuner searches.

use crate::gpu::Gpu;
use crate::schedule::{LevelName, Schedule};
use mdh_algebra::random::Random;

/// The parts of dimensions that a space of schedules has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchedParts {
    /// Those that the model would consider.
    #[default]
    Model,
    /// All others, too.
    All,
}

/// One parameter of schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Its name, with that of its dimension or input.
    pub name: String,
    /// Its values as they are written, neighbours next to each other.
    pub values: Vec<String>,
    /// The earlier knobs that its constraint depends on.
    pub depends_on: Vec<usize>,
    /// Its constraint in words.
    pub constraint: &'static str,
    /// Its values as numbers, where they are counts.
    counts: Vec<i64>,
}

impl Knob {
    pub(super) fn new(
        name: &str,
        values: Vec<String>,
        depends_on: Vec<usize>,
        constraint: &'static str,
    ) -> Knob {
        Knob {
            name: name.into(),
            counts: values.iter().map_while(|text| text.parse().ok()).collect(),
            values,
            depends_on,
            constraint,
        }
    }

    pub(super) fn counts(&self) -> &[i64] {
        &self.counts
    }
}

/// The model's choice in a space of schedules.
#[derive(Clone, Debug)]
pub struct ModelChoice {
    /// The configuration that is it, or the nearest to it; with it a search begins.
    pub values: Vec<usize>,
    /// True if they are it, up to the names of layers.
    pub is_exact: bool,
    /// The model's schedule.
    pub schedule: Schedule,
}

/// The schedules of a computation as values of knobs, each by its position in [`Knob::values`].
pub trait Knobs: Send + Sync {
    /// Its knobs, in the order in which they are decided.
    fn knobs(&self) -> &[Knob];

    /// Returns whether the last of these values is allowed, the others being those of all earlier
    /// knobs.
    fn allows(&self, values: &[usize]) -> bool;

    /// The schedule of a configuration.
    fn schedule(&self, values: &[usize]) -> Schedule;

    /// Everything against a schedule: constraints that it breaks, and parts of it that there is no
    /// code for.
    fn objections(&self, schedule: &Schedule) -> Vec<String>;

    /// The model's choice; `None` where it has none.
    fn default(&self) -> Option<ModelChoice>;

    /// Choice of the knobs for chains of computations; `None` where none are searched.
    fn chained(&self) -> Option<&dyn Chained> {
        None
    }

    /// The cycles of a core that the model counts for a configuration on a processor; `None` where it
    /// counts none. They are for comparing configurations.
    fn cycles(&self, _: &[usize]) -> Option<f64> {
        None
    }

    /// Estimated seconds of a schedule on a GPU; `None` where nothing is estimated.
    fn estimate(&self, _: &Schedule, _: &Gpu) -> Option<f64> {
        None
    }
}

/// A loop of a computation in which another one is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct TileLoop {
    /// The loop.
    pub level: LevelName,
    /// The dimensions that move what is computed there.
    pub moving: Vec<usize>,
    /// The inputs, by name, that are computed there.
    pub inputs: Vec<String>,
}

/// Knobs of a computation that is computed in loops of another one, or others in its own.
pub trait Chained {
    /// The loops that others may be computed in, if what they compute there moves with these
    /// dimensions; outermost layers first, those of cores as they are nested.
    fn levels(&self, moving: &[usize]) -> Vec<LevelName>;

    /// Returns whether a knob has a say in [`Chained::keeps`], [`Chained::is_outside`] and
    /// [`Chained::is_of_tile`].
    fn decides(&self, knob: usize) -> bool;

    /// Returns whether the last of these values leaves a level one of several parts, outside of which
    /// all loops move what is computed there, else the same would be recomputed, and nothing of it
    /// is packed. The others are those of the knobs that it depends on.
    fn keeps(&self, values: &[usize], at: &TileLoop) -> bool;

    /// Returns whether the last of these values leaves the loop of one level outside of that of another
    /// one, where both are loops around tiles, or both in a tile.
    fn is_outside(&self, values: &[usize], outer: &LevelName, inner: &LevelName) -> bool;

    /// Returns whether the last of these values may be one of a tile that is computed in a loop of
    /// another computation: that has the cores.
    fn is_of_tile(&self, values: &[usize]) -> bool;
}

/// A configuration that begins with these values; each other knob's is picked from those that are allowed, of which
/// there are none where an earlier choice left nothing to it.
pub fn draw(
    space: &dyn Knobs,
    mut values: Vec<usize>,
    pick: &mut dyn FnMut(&Knob, &[usize]) -> Option<usize>,
) -> Option<Vec<usize>> {
    for knob in &space.knobs()[values.len()..] {
        let mut allowed = Vec::new();
        for n in 0..knob.values.len() {
            values.push(n);
            allowed.extend(space.allows(&values).then_some(n));
            values.pop();
        }
        values.push(pick(knob, &allowed)?);
    }
    Some(values)
}

/// The same at random.
pub(super) fn draw_at_random(
    space: &dyn Knobs,
    values: Vec<usize>,
    random: &mut Random,
) -> Option<Vec<usize>> {
    draw(space, values, &mut |_, allowed| {
        let count = allowed.len() as u64;
        (count > 0).then(|| allowed[random.below(count) as usize])
    })
}

/// The position of the number that is the nearest to another one, of equal ones the first.
pub(super) fn nearest(counts: &[i64], wanted: i64) -> usize {
    let distances = counts.iter().map(|n| n.abs_diff(wanted)).enumerate();
    distances
        .min_by_key(|(_, distance)| *distance)
        .map_or(0, |(n, _)| n)
}
