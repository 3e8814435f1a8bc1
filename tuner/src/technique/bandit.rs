//! The AUC bandit: chooses between techniques by how often, and how lately, each has found a new
//! best (Ansel et al., "OpenTuner: an extensible framework for program autotuning", 2014, section
//! 4.2; Fialho et al., "Comparison-based adaptive strategy selection with bandits in differential
//! evolution", 2010).
//!
//! Of the last uses of all techniques, V_i says of the i-th use of one, whether it found a new best.
//! Its score is 2 / (n (n + 1)) times the sum of i V_i, the area under the curve that steps up
//! where V_i is 1, plus C sqrt(2 log2 |H| / n), where n is the number of its uses and |H| that of
//! all. The technique of the highest score is used next.

use std::collections::VecDeque;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::search::{Search, Technique};
use crate::space::Point;

/// OpenTuner's parameters: the number of uses that count, and the weight of exploration.
const WINDOW: usize = 500;
const EXPLORATION: f64 = 0.05;

/// A use of a technique.
#[derive(Clone, Copy)]
struct Use {
    arm: usize,
    found_better: bool,
}

/// The AUC bandit.
pub(super) struct Bandit {
    name: &'static str,
    arms: Vec<Box<dyn Technique>>,
    history: VecDeque<Use>,
    chosen: usize,
    best: f64,
    random: Pcg64Mcg,
}

impl Bandit {
    pub(super) fn new(
        name: &'static str,
        arms: Vec<Box<dyn Technique>>,
        random: Pcg64Mcg,
    ) -> Bandit {
        Bandit {
            name,
            arms,
            history: VecDeque::new(),
            chosen: 0,
            best: f64::INFINITY,
            random,
        }
    }

    /// The score of a technique.
    fn score(&self, arm: usize) -> f64 {
        let uses = self.history.iter().filter(|used| used.arm == arm);
        let (mut n, mut area) = (0.0, 0.0);
        for used in uses {
            n += 1.0;
            area += if used.found_better { n } else { 0.0 };
        }
        if n == 0.0 {
            return f64::INFINITY;
        }
        let total = self.history.len() as f64;
        2.0 * area / (n * (n + 1.0)) + EXPLORATION * (2.0 * total.log2() / n).sqrt()
    }

    /// The techniques, the one of the highest score first, equal ones in random order.
    fn ranked(&mut self) -> Vec<usize> {
        let mut scores: Vec<(usize, f64, u32)> = (0..self.arms.len())
            .map(|arm| (arm, self.score(arm), self.random.random()))
            .collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
        scores.into_iter().map(|(arm, ..)| arm).collect()
    }

    fn note(&mut self, cost: f64) {
        self.history.push_back(Use {
            arm: self.chosen,
            found_better: cost < self.best,
        });
        self.best = self.best.min(cost);
        if self.history.len() > WINDOW {
            self.history.pop_front();
        }
    }
}

impl Technique for Bandit {
    fn name(&self) -> &str {
        self.name
    }

    fn propose(&mut self, search: &Search<'_>, most: usize) -> Vec<Point> {
        // Seeds and resumed evaluations are no technique's merit.
        let known = search.known.best().map_or(f64::INFINITY, |(_, best)| best);
        self.best = self.best.min(known);
        for arm in self.ranked() {
            let proposed = self.arms[arm].propose(search, most);
            if !proposed.is_empty() {
                self.chosen = arm;
                return proposed;
            }
        }
        Vec::new()
    }

    fn learn(&mut self, search: &Search<'_>, results: &[(Point, f64)]) {
        for (_, cost) in results {
            self.note(*cost);
        }
        self.arms[self.chosen].learn(search, results);
    }

    fn chosen(&self) -> &str {
        self.arms[self.chosen].chosen()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::technique::named;
    use crate::technique::search::generator;

    #[test]
    fn scores_are_those_of_the_paper() {
        let arms = vec![named("random", 1).unwrap(), named("exhaustive", 1).unwrap()];
        let mut bandit = Bandit::new("bandit", arms, generator(1, "bandit"));
        for (arm, cost) in [(0, 5.0), (1, 6.0), (0, 7.0), (0, 4.0)] {
            bandit.chosen = arm;
            bandit.note(cost);
        }
        // Uses of the first: better, not, better: 2 / (3 * 4) * (1 + 3).
        let exploration = |n: f64| 0.05 * (2.0 * 4f64.log2() / n).sqrt();
        assert_eq!(bandit.score(0), 2.0 / 3.0 + exploration(3.0));
        assert_eq!(bandit.score(1), exploration(1.0));
        assert_eq!(bandit.ranked(), [0, 1]);
    }

    #[test]
    fn what_was_never_used_comes_first_and_old_uses_are_forgotten() {
        let arms = vec![named("random", 1).unwrap(), named("exhaustive", 1).unwrap()];
        let mut bandit = Bandit::new("bandit", arms, generator(1, "bandit"));
        bandit.note(1.0);
        assert_eq!(bandit.ranked()[0], 1);
        bandit.chosen = 1;
        for _ in 0..WINDOW {
            bandit.note(2.0);
        }
        assert_eq!(bandit.score(0), f64::INFINITY);
    }
}
