//! Replay: a space whose costs were recorded, in which techniques are compared without measuring.

use std::collections::HashMap;

mod table;

pub use table::{Table, improvements};

use crate::error::{Error, Result};
use crate::measure::{FailureKind, Outcome};
use crate::space::value::Configuration;
use crate::space::{Point, Space};
use crate::stats::geometric_mean;
use crate::technique::{CostModel, Known, Search, named};

/// A cost is as good as the least one if it is at most so many times it.
const AS_GOOD: f64 = 1.01;

/// A space with the recorded outcomes of its configurations.
#[derive(Debug)]
pub struct Recorded<'s> {
    space: &'s Space,
    outcomes: HashMap<Point, Outcome>,
}

impl<'s> Recorded<'s> {
    /// Records outcomes. A configuration of another space is refused.
    pub fn new(
        space: &'s Space,
        outcomes: impl IntoIterator<Item = (Configuration, Outcome)>,
    ) -> Result<Recorded<'s>> {
        let mut recorded = HashMap::new();
        for (configuration, outcome) in outcomes {
            recorded.insert(space.find(&configuration)?, outcome);
        }
        Ok(Recorded {
            space,
            outcomes: recorded,
        })
    }

    /// Records the cost that a function gives each configuration of a space.
    pub fn computed(space: &'s Space, cost: impl Fn(&Configuration) -> Outcome) -> Recorded<'s> {
        let mut outcomes = HashMap::new();
        let mut next = Some(space.first());
        while let Some(point) = next {
            outcomes.insert(point.clone(), cost(&space.configuration(&point)));
            next = space.next(&point);
        }
        Recorded { space, outcomes }
    }

    /// The space.
    pub fn space(&self) -> &'s Space {
        self.space
    }

    /// The outcome of a point; what was not recorded is rejected.
    fn outcome(&self, point: &Point) -> Outcome {
        let rejected = || Outcome::failed(FailureKind::Rejected, "it was not recorded");
        self.outcomes.get(point).cloned().unwrap_or_else(rejected)
    }

    /// The least and the largest cost.
    fn costs(&self) -> Result<(f64, f64)> {
        let costs: Vec<f64> = self.outcomes.values().filter_map(Outcome::cost).collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = costs.iter().copied().fold(0.0, f64::max);
        match least > 0.0 && least.is_finite() {
            true => Ok((least, most)),
            false => Err(Error::input(format!(
                "found the least cost {least}, expected recorded costs above 0"
            ))),
        }
    }

    /// The least cost after 1, 2, .. evaluations by a technique, infinite before the first success.
    pub fn replay(
        &self,
        technique: &str,
        seed: u64,
        evaluations: usize,
        model: Option<&CostModel<'_>>,
    ) -> Result<Vec<f64>> {
        let mut technique = named(technique, seed)?;
        let (mut known, mut curve) = (Known::default(), Vec::new());
        let start = self.space.start().cloned();
        while curve.len() < evaluations {
            let search = Search {
                space: self.space,
                known: &known,
                model,
            };
            let points = match (&start, known.is_empty()) {
                (Some(start), true) => vec![start.clone()],
                _ => technique.propose(&search, 1),
            };
            let Some(point) = points.into_iter().next() else {
                break;
            };
            let cost = self.outcome(&point).cost().unwrap_or(f64::INFINITY);
            let is_start = start.is_some() && known.is_empty();
            known.add(point.clone(), cost);
            curve.push(known.best().map_or(f64::INFINITY, |(_, best)| best));
            let search = Search {
                space: self.space,
                known: &known,
                model,
            };
            if !is_start {
                technique.learn(&search, &[(point, cost)]);
            }
        }
        // Whoever has seen all of the space stays where it is.
        let last = curve.last().copied().unwrap_or(f64::INFINITY);
        curve.resize(evaluations, last);
        Ok(curve)
    }

    /// Compares techniques, each with the seeds 0, 1, .., and as many evaluations.
    pub fn compare(
        &self,
        techniques: &[&str],
        seeds: u64,
        evaluations: usize,
        model: Option<&CostModel<'_>>,
    ) -> Result<Vec<Comparison>> {
        let each = techniques.iter().map(|technique| {
            let curves = (0..seeds).map(|seed| self.replay(technique, seed, evaluations, model));
            self.rated(technique, &curves.collect::<Result<Vec<_>>>()?)
        });
        each.collect()
    }

    /// Rates the curves of a technique, of another tuner's too: one for each seed, the least cost
    /// after each evaluation.
    pub fn rated(&self, technique: &str, curves: &[Vec<f64>]) -> Result<Comparison> {
        let (least, most) = self.costs()?;
        // Before the first success it is as bad as the worst.
        let ratio = |cost: f64| {
            if cost.is_finite() {
                cost / least
            } else {
                most / least
            }
        };
        let last = |curve: &Vec<f64>| ratio(curve.last().copied().unwrap_or(f64::INFINITY));
        let area = |curve: &Vec<f64>| geometric_mean(curve.iter().map(|cost| ratio(*cost)));
        let found = curves.iter().filter(|curve| last(curve) <= AS_GOOD).count();
        let length = curves.iter().map(Vec::len).min().unwrap_or(0);
        let mean = |n: usize| geometric_mean(curves.iter().map(|curve| ratio(curve[n])));
        Ok(Comparison {
            technique: technique.to_string(),
            regret: geometric_mean(curves.iter().map(last)).unwrap_or(f64::NAN),
            area: geometric_mean(curves.iter().filter_map(area)).unwrap_or(f64::NAN),
            found: found as f64 / curves.len().max(1) as f64,
            curve: (0..length).filter_map(mean).collect(),
        })
    }
}

/// The success of a technique, over some seeds. All but `found` are geometric means of ratios to
/// the least cost of all: 1 is the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The technique's name.
    pub technique: String,
    /// The cost found in the end.
    pub regret: f64,
    /// The cost found after each evaluation: also the mean over these, the area under the
    /// curve that has a logarithmic scale.
    pub area: f64,
    /// The share of seeds that find a cost within 1 % of the least.
    pub found: f64,
    /// The cost found after 1, 2, .. evaluations.
    pub curve: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::read;

    /// The cost of a tiled product of matrices on some machine: traffic, loops' overhead, vector
    /// length, threads; too large tiles do not compile.
    fn product(configuration: &Configuration) -> Outcome {
        let of = |name: &str| configuration.get(name).unwrap().number().unwrap();
        let (i, j, k) = (of("i"), of("j"), of("k"));
        let bytes = 4.0 * (i * k + k * j + i * j);
        if i * j > 65536.0 {
            return Outcome::failed(FailureKind::Compilation, "too many registers");
        }
        let misses = 1.0 / i + 1.0 / j + if bytes > 262_144.0 { bytes / 2e7 } else { 0.0 };
        let overhead = 4.0 / k + 30.0 / (i * j);
        let vector = if j % 16.0 == 0.0 { 1.0 } else { 1.6 };
        let threads = (of("threads") - 6.0).abs() / 20.0 + 1.0;
        let order = match configuration.get("order").unwrap().text() {
            Some("ikj") => 1.0,
            Some("ijk") => 1.15,
            _ => 1.5,
        };
        Outcome::of_cost((0.2 + misses + overhead) * vector * threads * order)
    }

    const PRODUCT: &str = r#"{"parameters": [
        {"name": "i", "interval": [0, 10], "generator": "2 ** i"},
        {"name": "j", "interval": [0, 10], "generator": "2 ** i"},
        {"name": "k", "interval": [0, 10], "generator": "2 ** i", "constraint": "k * j <= 262144"},
        {"name": "threads", "interval": [1, 8]},
        {"name": "order", "set": ["ijk", "ikj", "kij"]}]}"#;

    /// A step function with many equal costs, and a valley away from the middle.
    fn steps(configuration: &Configuration) -> Outcome {
        let of = |name: &str| configuration.get(name).unwrap().number().unwrap();
        let (a, b, c) = (of("a"), of("b"), of("c"));
        let far = (a - 37.0).abs() + 2.0 * (b - 9.0 - a / 8.0).abs();
        Outcome::of_cost(1.0 + (far / 4.0).floor() / 3.0 + 0.2 * (c - 2.0).abs())
    }

    const STEPS: &str = r#"{"parameters": [
        {"name": "a", "interval": [1, 48]},
        {"name": "b", "interval": [1, 24], "constraint": "b <= a"},
        {"name": "c", "interval": [0, 5]}]}"#;

    fn rated(text: &str, cost: fn(&Configuration) -> Outcome, names: &[&str]) -> Vec<Comparison> {
        let space = read(text).unwrap().build().unwrap();
        let recorded = Recorded::computed(&space, cost);
        recorded.compare(names, 20, 60, None).unwrap()
    }

    #[test]
    fn auto_is_no_worse_than_the_bandit_on_any_and_better_on_average() {
        let mut ratios = Vec::new();
        for (text, cost) in [
            (PRODUCT, product as fn(&_) -> _),
            (STEPS, steps as fn(&_) -> _),
        ] {
            let rated = rated(text, cost, &["auto", "bandit", "random"]);
            for comparison in &rated {
                let Comparison {
                    technique,
                    regret,
                    area,
                    found,
                    ..
                } = comparison;
                println!("{technique:10} regret {regret:.3} area {area:.3} found {found:.2}");
            }
            assert!(rated[0].regret <= rated[1].regret * 1.01, "{rated:?}");
            assert!(
                rated[0].area < rated[1].area && rated[1].area < rated[2].area,
                "{rated:?}"
            );
            ratios.push(rated[0].area / rated[1].area);
        }
        assert!(
            geometric_mean(ratios.iter().copied()).unwrap() < 1.0,
            "{ratios:?}"
        );
    }

    #[test]
    fn ratings_are_ratios_to_the_least_cost() {
        let text = r#"{"parameters": [{"name": "a", "interval": [1, 4]}]}"#;
        let space = read(text).unwrap().build().unwrap();
        let cost =
            |configuration: &Configuration| match configuration.values()[0].integer().unwrap() {
                1 => Outcome::failed(FailureKind::Crash, ""),
                a => Outcome::of_cost(a as f64),
            };
        let recorded = Recorded::computed(&space, cost);
        let curve = recorded.replay("exhaustive", 0, 6, None).unwrap();
        assert_eq!(curve, [f64::INFINITY, 2.0, 2.0, 2.0, 2.0, 2.0]);
        let rated = recorded
            .rated("other", &[vec![4.0, 4.0], vec![8.0, 2.0]])
            .unwrap();
        assert!((rated.regret - 2f64.sqrt()).abs() < 1e-12);
        assert!((rated.area - (2.0 * 2.0 * 4.0 * 1.0f64).powf(0.25)).abs() < 1e-12);
        assert_eq!((rated.found, rated.curve.len()), (0.5, 2));
    }
}
