//! The model's choice for a program: as a configuration, and as schedules.

use std::collections::BTreeMap;

use mdh_schedule::{Schedule, Schedules};

use super::program::{Searched, SearchedProgram};
use crate::space::value::{Configuration, Value};

/// The configuration that stands for the model's choice where none of the space is that.
const OUTSIDE: (&str, &str) = ("schedule", "the model's");

/// A schedule without the names of layers between cores and registers, which say nothing of its code, and without
/// the loop of another computation that it is in.
fn meaning(schedule: &Schedule) -> serde_json::Value {
    let alone = Schedule {
        compute_at: None,
        ..schedule.clone()
    };
    let mut value = serde_json::to_value(alone).unwrap_or_default();
    let order = schedule.decompose.order.iter().flatten();
    let names: BTreeMap<String, String> = order
        .enumerate()
        .map(|(n, level)| (level.to_string(), format!("{n}.{}", level.dimension)))
        .collect();
    let parts = schedule.layers.iter().map(|layer| {
        let kind = match layer.name.as_str() {
            "core" | "register" | "simd" => layer.name.as_str(),
            _ => "memory",
        };
        let parts = layer.parts.iter();
        let parts = parts.map(|(dimension, parts)| format!("{kind} {dimension} {parts:?}"));
        parts.collect::<Vec<_>>()
    });
    let mut parts: Vec<String> = parts.flatten().collect();
    parts.sort();
    value["layers"] = parts.into();
    rename(&mut value, &names);
    value
}

/// Replaces names of levels, as keys and as texts; memories are all the same.
fn rename(value: &mut serde_json::Value, names: &BTreeMap<String, String>) {
    use serde_json::Value::{Array, Object, String};
    let renamed = |text: &str| match text {
        "main" | "L3" | "L2" | "L1" => "memory".to_string(),
        text => names.get(text).cloned().unwrap_or(text.to_string()),
    };
    match value {
        String(text) => *text = renamed(text),
        Array(values) => values.iter_mut().for_each(|inner| rename(inner, names)),
        Object(pairs) => {
            let taken = std::mem::take(pairs).into_iter();
            *pairs = taken
                .map(|(name, mut inner)| {
                    rename(&mut inner, names);
                    (renamed(&name), inner)
                })
                .collect();
        }
        _ => {}
    }
}

impl SearchedProgram {
    /// The model's choice: a configuration of the space, or one that only stands for it.
    pub fn default(&self) -> Option<Configuration> {
        match self.has_default() {
            true => self.nearest_to_default(),
            false => {
                let (name, value) = OUTSIDE;
                Some(Configuration::from_pairs([(name, Value::from(value))]))
            }
        }
    }

    /// The configuration that is the nearest to what the model chooses.
    pub fn nearest_to_default(&self) -> Option<Configuration> {
        let mut pairs: Vec<(String, Value)> = Vec::new();
        for (n, one) in self.searched.iter().enumerate() {
            let mut values = one.space.default()?.values;
            let place = self
                .fusion
                .as_ref()
                .and_then(|own| own.default(n, &mut values));
            pairs.extend(place.into_iter().chain(one.pairs(&values)));
        }
        let pairs = pairs.iter().map(|(name, v)| (name.as_str(), v.clone()));
        Some(Configuration::from_pairs(pairs))
    }

    /// Returns whether the model's choice is a configuration.
    fn has_default(&self) -> bool {
        let choices = self.searched.iter().map(|entry| entry.space.default());
        let mut choices = choices.flatten();
        let are_exact = self.says_default() && choices.all(|choice| choice.is_exact);
        let Some(fusion) = self.fusion.as_ref().filter(|_| are_exact) else {
            return are_exact;
        };
        // For a chain, the model chooses again: other tiles of the consumer, and no cores for what is computed in it.
        let nearest = self.nearest_to_default();
        let Some(nearest) = nearest.and_then(|nearest| self.schedules(&nearest)) else {
            return false;
        };
        self.searched.iter().all(|entry| {
            let schedule = nearest.computations.get(&entry.key);
            let chosen = fusion.chosen_for(&entry.name);
            schedule
                .zip(chosen)
                .is_some_and(|(schedule, chosen)| meaning(schedule) == meaning(chosen))
        })
    }

    /// Returns whether schedules say all that the model chooses: as far as that shows, also what it computes once
    /// that several computations evaluate, and where it computes what others read.
    fn says_default(&self) -> bool {
        let is_shared = self.formed.is_some();
        match &self.fusion {
            Some(fusion) => fusion.says_default() && (!is_shared || self.has_made()),
            None => !is_shared,
        }
    }

    fn has_made(&self) -> bool {
        self.made().next().is_some()
    }

    /// The computations that the compiler makes.
    pub(crate) fn made(&self) -> impl Iterator<Item = &Searched> {
        self.searched.iter().filter(|one| one.key == one.name)
    }

    /// The schedules of a configuration as others are to have them: of the model's choice those that it has made.
    pub fn written(&self, configuration: &Configuration) -> Option<Schedules> {
        match self.default().as_ref() == Some(configuration) {
            true => self.model(),
            false => self.schedules(configuration),
        }
    }

    /// The model's choice, by position; none where only the model knows it.
    pub fn model(&self) -> Option<Schedules> {
        if self.fusion.is_some() || self.formed.is_some() {
            return match self.has_default() {
                true => self.schedules(&self.nearest_to_default()?),
                false => Some(Schedules::default()),
            };
        }
        let choices = self.searched.iter();
        let choices = choices.map(|one| Some((one.key.clone(), one.space.default()?.schedule)));
        Some(Schedules {
            computations: choices.collect::<Option<_>>()?,
        })
    }

    /// The cycles of a core that the model counts for a configuration on a processor, of all computations
    /// of which it counts any.
    pub fn cycles(&self, configuration: &Configuration) -> Option<f64> {
        // Counts of some computations only would compare nothing.
        if self.script.is_some() {
            return None;
        }
        // What is computed in a loop of another one is counted as if it were alone, on the cores of that
        // one. That its results stay in caches is not counted: so chains stand behind what is alike
        // without them, but among the others, and every third proposal is drawn at random.
        let cycles = |(n, entry): (usize, &Searched)| {
            let count = entry.space.cycles(&entry.values(configuration)?)?;
            let fusion = self.fusion.as_ref();
            Some(count / fusion.map_or(Some(1.0), |fusion| fusion.cores(n, configuration))?)
        };
        let counted = self.searched.iter().enumerate().filter_map(cycles);
        let counted: Vec<f64> = counted.collect();
        (!counted.is_empty()).then(|| counted.iter().sum())
    }
}
