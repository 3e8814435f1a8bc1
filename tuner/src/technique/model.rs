//! The configurations that a model thinks best of, which a search begins with.

use std::collections::HashMap;

use super::search::{CostModel, generator};
use crate::error::Result;
use crate::space::value::Configuration;
use crate::space::{Point, Space};

/// Points drawn at random, of which the best are climbed from.
const DRAWN: usize = 300;
const CLIMBED: usize = 8;
/// The most estimates in all.
const MOST_ESTIMATES: usize = 5000;

/// Estimates of a model, remembered.
struct Estimates<'m> {
    space: &'m Space,
    model: &'m CostModel<'m>,
    known: HashMap<Point, Option<f64>>,
}

impl Estimates<'_> {
    fn of(&mut self, point: &Point) -> Option<f64> {
        if let Some(known) = self.known.get(point) {
            return *known;
        }
        let estimate = (self.model)(&self.space.configuration(point)).filter(|e| e.is_finite());
        self.known.insert(point.clone(), estimate);
        estimate
    }

    /// The point that is reached by going to the best neighbour, as long as one is better.
    fn climb(&mut self, mut point: Point, mut best: f64) {
        while self.known.len() < MOST_ESTIMATES {
            let neighbours = self.space.neighbours(&point).into_iter();
            let rated = neighbours.filter_map(|other| Some((self.of(&other)?, other)));
            let Some((estimate, next)) = rated.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                return;
            };
            if estimate >= best {
                return;
            }
            (point, best) = (next, estimate);
        }
    }
}

/// The configurations of a space that a model thinks best of, the best first, as far as a search by
/// the model alone finds them. Filters let all of them pass.
pub fn best_by_model(
    space: &Space,
    model: &CostModel<'_>,
    count: usize,
    seed: u64,
) -> Result<Vec<Configuration>> {
    let mut random = generator(seed, "model");
    let mut estimates = Estimates {
        space,
        model,
        known: HashMap::new(),
    };
    let start = space.start().cloned();
    let drawn: Vec<Point> = (0..DRAWN).map(|_| space.sample(&mut random)).collect();
    let mut rated: Vec<(f64, Point)> = start
        .into_iter()
        .chain(drawn)
        .filter_map(|point| Some((estimates.of(&point)?, point)))
        .collect();
    rated.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    rated.dedup();
    for (estimate, point) in rated.into_iter().take(CLIMBED) {
        estimates.climb(point, estimate);
    }
    let known = estimates.known.into_iter();
    let mut all: Vec<(f64, Point)> = known
        .filter_map(|(point, estimate)| Some((estimate?, point)))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let mut best = Vec::new();
    for (_, point) in all {
        if best.len() == count {
            break;
        }
        let configuration = space.configuration(&point);
        if space.admits(&configuration)? {
            best.push(configuration);
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::read;

    #[test]
    fn the_best_of_the_model_are_found_and_pass_the_filters() {
        let text = r#"{"parameters": [
            {"name": "a", "interval": [1, 60]}, {"name": "b", "interval": [1, 60]},
            {"name": "c", "interval": [1, 60], "constraint": "c >= b"}],
            "filter": "a != 20"}"#;
        let space = read(text).unwrap().build().unwrap();
        let model = |configuration: &Configuration| {
            let of = |n: usize| configuration.values()[n].number().unwrap();
            (of(2) < 50.0)
                .then(|| (of(0) - 20.0).abs() + (of(1) - 7.0).abs() + (of(2) - 40.0).abs())
        };
        let best = best_by_model(&space, &model, 3, 1).unwrap();
        let shown: Vec<String> = best.iter().map(Configuration::to_string).collect();
        assert_eq!(shown[..2], ["a=19 b=7 c=40", "a=21 b=7 c=40"]);
        assert_eq!(best, best_by_model(&space, &model, 3, 1).unwrap());
        assert!(best_by_model(&space, &|_| None, 3, 1).unwrap().is_empty());
    }
}
