//! Simulated annealing: a walk over neighbours that takes worse ones with a probability that falls
//! with their cost and with time (Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated
//! annealing", 1983).

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::rounds::{Rounds, beginning};
use super::search::Search;
use crate::space::Point;

/// Temperatures are fractions of the best cost: at the first one a neighbour that is 30 % worse is
/// taken in one of three cases, at the last one hardly any that is 1 % worse.
const FIRST: f64 = 0.3;
const LAST: f64 = 0.003;
const COOLING: f64 = 0.96;

/// Simulated annealing.
pub(super) struct Annealing {
    random: Pcg64Mcg,
    current: Option<(Point, f64)>,
    temperature: f64,
    walks: usize,
}

impl Annealing {
    pub(super) fn new(random: Pcg64Mcg) -> Annealing {
        Annealing {
            random,
            current: None,
            temperature: FIRST,
            walks: 0,
        }
    }
}

impl Rounds for Annealing {
    const NAME: &'static str = "annealing";

    fn round(&mut self, search: &Search<'_>, wanted: usize) -> Vec<Point> {
        let Some((current, _)) = &self.current else {
            // Every other walk begins at the best, the rest anywhere.
            return vec![match self.walks % 2 {
                0 => beginning(search, &mut self.random),
                _ => search.space.sample(&mut self.random),
            }];
        };
        let mut points = Vec::new();
        for _ in 0..wanted.max(1) {
            points.extend(search.space.neighbour(current, &mut self.random));
        }
        if points.is_empty() {
            points.push(current.clone());
        }
        points
    }

    fn judge(&mut self, search: &Search<'_>, points: &[Point], costs: &[f64]) {
        for (point, cost) in points.iter().zip(costs) {
            let takes = match &self.current {
                None => true,
                Some((_, current)) => {
                    let best = search.known.best().map_or(1.0, |(_, best)| best.abs());
                    let worse = (cost - current) / best.max(f64::MIN_POSITIVE);
                    cost <= current
                        || self.random.random::<f64>() < (-worse / self.temperature).exp()
                }
            };
            if takes {
                self.current = Some((point.clone(), *cost));
            }
            self.temperature *= COOLING;
        }
        let is_lost = self
            .current
            .as_ref()
            .is_none_or(|(_, cost)| cost.is_infinite());
        if self.temperature < LAST || is_lost {
            self.temperature = FIRST;
            self.current = None;
            self.walks += 1;
        }
    }
}
