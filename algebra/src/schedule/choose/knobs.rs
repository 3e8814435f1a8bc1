//! Parameters of schedules, which a tuner searches.

use crate::random::Random;
use crate::schedule::Schedule;
use crate::schedule::gpu::Gpu;

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

    /// The configuration that is the nearest to what the model chooses, with which a search begins;
    /// and the model's schedule.
    fn default(&self) -> Option<(Vec<usize>, Schedule)>;

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

/// A configuration that begins with these values, each knob's value drawn from those that are
/// allowed; `None` where a choice left nothing to a later knob.
pub(super) fn draw(
    space: &dyn Knobs,
    mut values: Vec<usize>,
    random: &mut Random,
) -> Option<Vec<usize>> {
    for knob in &space.knobs()[values.len()..] {
        let mut allowed = Vec::new();
        for n in 0..knob.values.len() {
            values.push(n);
            allowed.extend(space.allows(&values).then_some(n));
            values.pop();
        }
        let count = allowed.len() as u64;
        values.push(*allowed.get((count > 0).then(|| random.below(count))? as usize)?);
    }
    Some(values)
}

/// The position of the number that is the nearest to another one, of equal ones the first.
pub(super) fn nearest(counts: &[i64], wanted: i64) -> usize {
    let distances = counts.iter().map(|n| n.abs_diff(wanted)).enumerate();
    distances
        .min_by_key(|(_, distance)| *distance)
        .map_or(0, |(n, _)| n)
}
