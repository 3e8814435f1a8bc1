//! Techniques that compare some points, decide, and compare the next ones.

use rand_pcg::Pcg64Mcg;

use super::random::unseen;
use super::search::{Search, Technique, generator};
use crate::space::Point;

/// The most rounds without a point that is not known yet, before a random one is proposed.
const MOST_KNOWN_ROUNDS: usize = 200;

/// A technique in rounds. It need not care what is known, or how many points are asked for.
pub(super) trait Rounds {
    /// Its name.
    const NAME: &'static str;

    /// The points of the next round, at least one. `wanted` is how many are measured together.
    fn round(&mut self, search: &Search<'_>, wanted: usize) -> Vec<Point>;

    /// Decides by the costs of the points of the round; that of a failure is infinite.
    fn judge(&mut self, search: &Search<'_>, points: &[Point], costs: &[f64]);
}

/// The adapter that makes a technique of one in rounds. What is known already is not proposed, but
/// answered.
pub(super) struct InRounds<R> {
    rounds: R,
    current: Vec<Point>,
    random: Pcg64Mcg,
}

impl<R: Rounds + 'static> InRounds<R> {
    pub(super) fn boxed(rounds: R, seed: u64) -> Box<dyn Technique> {
        Box::new(InRounds {
            rounds,
            current: Vec::new(),
            random: generator(seed, "rounds"),
        })
    }
}

impl<R: Rounds> Technique for InRounds<R> {
    fn name(&self) -> &str {
        R::NAME
    }

    fn propose(&mut self, search: &Search<'_>, most: usize) -> Vec<Point> {
        for _ in 0..MOST_KNOWN_ROUNDS {
            if self.current.is_empty() {
                self.current = self.rounds.round(search, most);
            }
            let mut proposed: Vec<Point> = Vec::new();
            for point in &self.current {
                let is_new = search.known.cost(point).is_none() && !proposed.contains(point);
                if is_new && proposed.len() < most {
                    proposed.push(point.clone());
                }
            }
            if !proposed.is_empty() {
                return proposed;
            }
            let points = std::mem::take(&mut self.current);
            let cost = |point| search.known.cost(point).unwrap_or(f64::INFINITY);
            let costs: Vec<f64> = points.iter().map(cost).collect();
            self.rounds.judge(search, &points, &costs);
        }
        // It goes round in what is known.
        unseen(search.space, search.known, &[], &mut self.random)
            .into_iter()
            .collect()
    }
}

/// The position of the least cost.
pub(super) fn least(costs: &[f64]) -> Option<usize> {
    (0..costs.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b]))
}

/// The point that a search begins with: the best known, or a random one.
pub(super) fn beginning(search: &Search<'_>, random: &mut Pcg64Mcg) -> Point {
    match search.known.best() {
        Some((best, _)) => best.clone(),
        None => search.space.sample(random),
    }
}
