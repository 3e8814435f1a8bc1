//! A surrogate: a forest learns the costs that are known, and what it expects most of is measured
//! (Hutter, Hoos and Leyton-Brown, "Sequential model-based optimization for general algorithm
//! configuration", 2011). Estimates of a model, if there are any, say what is measured before the
//! forest has learned enough, and are one of its features later: it learns how far to trust them.

use std::collections::HashMap;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::random::unseen;
use super::rounds::beginning;
use super::search::{Search, Technique};
use crate::forest::{Forest, Prediction};
use crate::space::Point;
use crate::space::parameter::Order;

/// The number of trees, of costs before the forest is asked, and of those it learns from.
const TREES: usize = 16;
const BEFORE: usize = 8;
const MOST_ROWS: usize = 1000;
/// Candidates drawn from all of the space, and from around the best points.
const ANYWHERE: usize = 200;
const NEAR: usize = 200;
/// One proposal in so many is random, so that no mistake of the forest lasts.
const RANDOM: u32 = 12;
/// Categories of a parameter, up to which each has a feature of its own.
const MOST_CATEGORIES: usize = 12;

/// A surrogate.
pub(super) struct Surrogate {
    random: Pcg64Mcg,
    estimates: HashMap<Point, Option<f64>>,
    rows: HashMap<Point, Vec<f64>>,
    forest: Option<(usize, Forest)>,
}

impl Surrogate {
    pub(super) fn new(random: Pcg64Mcg) -> Surrogate {
        Surrogate {
            random,
            estimates: HashMap::new(),
            rows: HashMap::new(),
            forest: None,
        }
    }

    /// The model's estimate, remembered.
    fn estimate(&mut self, search: &Search<'_>, point: &Point) -> Option<f64> {
        let model = search.model?;
        if let Some(known) = self.estimates.get(point) {
            return *known;
        }
        let estimate = model(&search.space.configuration(point)).filter(|e| e.is_finite());
        self.estimates.insert(point.clone(), estimate);
        estimate
    }

    /// The features of a point: its coordinates, categories one by one, and the estimate.
    fn row(&mut self, search: &Search<'_>, point: &Point) -> Vec<f64> {
        if let Some(row) = self.rows.get(point) {
            return row.clone();
        }
        let space = search.space;
        let mut row = Vec::new();
        for parameter in space.movable() {
            let (rank, extent) = (space.rank(point, parameter), space.extent(parameter));
            let is_small = (3..=MOST_CATEGORIES).contains(&extent);
            if space.order(parameter) == Order::Categories && is_small {
                row.extend((0..extent).map(|other| f64::from(u8::from(other == rank))));
            } else {
                row.push(rank as f64);
            }
        }
        if search.model.is_some() {
            row.push(self.estimate(search, point).map_or(0.0, compressed));
        }
        self.rows.insert(point.clone(), row.clone());
        row
    }

    /// Learns from what is known, unless little has been added.
    fn learn_again(&mut self, search: &Search<'_>) {
        let known = search.known.points();
        if let Some((learned, _)) = &self.forest
            && known.len() < learned + 1 + learned / 20
        {
            return;
        }
        // The last ones, and the good ones among those before.
        let mut chosen: Vec<&(Point, f64)> = known.iter().collect();
        if chosen.len() > MOST_ROWS {
            let (old, new) = known.split_at(known.len() - MOST_ROWS / 2);
            chosen = old.iter().collect();
            chosen.sort_by(|a, b| a.1.total_cmp(&b.1));
            chosen.truncate(MOST_ROWS / 2);
            chosen.extend(new);
        }
        let costs: Vec<f64> = chosen.iter().map(|(_, cost)| *cost).collect();
        let targets = targets(&costs);
        let rows: Vec<Vec<f64>> = chosen.iter().map(|(p, _)| self.row(search, p)).collect();
        if let Ok(forest) = Forest::fit(&rows, &targets, TREES, self.random.random()) {
            self.forest = Some((known.len(), forest));
        }
    }

    /// Points that are not known: from anywhere, and from around the best ones.
    fn candidates(&mut self, search: &Search<'_>) -> Vec<Point> {
        let mut candidates: Vec<Point> = Vec::new();
        for _ in 0..ANYWHERE {
            candidates.push(search.space.sample(&mut self.random));
        }
        let mut best: Vec<&(Point, f64)> = search.known.points().iter().collect();
        best.sort_by(|a, b| a.1.total_cmp(&b.1));
        best.truncate(6);
        if let Some((first, _)) = best.first() {
            candidates.extend(search.space.neighbours(first).into_iter().take(NEAR));
        }
        for n in 0..NEAR {
            if let Some((point, _)) = best.get(n % best.len().max(1)) {
                candidates.push(mutant(search, point, &mut self.random));
            }
        }
        candidates.sort();
        candidates.dedup();
        candidates.retain(|point| search.known.cost(point).is_none());
        candidates
    }

    /// Points by the model alone, the best first; the start before all of them.
    fn by_model(&mut self, search: &Search<'_>, most: usize) -> Vec<Point> {
        let first = beginning(search, &mut self.random);
        let mut proposed: Vec<Point> = Vec::new();
        if search.known.cost(&first).is_none() {
            proposed.push(first);
        }
        if search.model.is_some() {
            let mut rated = Vec::new();
            for point in self.candidates(search) {
                if let Some(estimate) = self.estimate(search, &point) {
                    rated.push((estimate, point));
                }
            }
            rated.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
            let mut rated = rated.into_iter().map(|(_, point)| point);
            // Every third one is random, for the forest to learn what the model does not say.
            while proposed.len() < most && (search.known.len() + proposed.len()) % 3 != 2 {
                match rated.find(|point| !proposed.contains(point)) {
                    Some(point) => proposed.push(point),
                    None => break,
                }
            }
        }
        proposed.truncate(most);
        proposed
    }
}

impl Technique for Surrogate {
    fn name(&self) -> &str {
        "surrogate"
    }

    fn propose(&mut self, search: &Search<'_>, most: usize) -> Vec<Point> {
        let measured = search
            .known
            .points()
            .iter()
            .filter(|(_, cost)| cost.is_finite());
        let mut proposed = Vec::new();
        if measured.count() < BEFORE {
            proposed = self.by_model(search, most);
        } else {
            self.learn_again(search);
            let candidates = self.candidates(search);
            let rows: Vec<Vec<f64>> = candidates.iter().map(|p| self.row(search, p)).collect();
            let said = self
                .forest
                .as_ref()
                .and_then(|(_, forest)| forest.predict(&rows).ok());
            let said = said.unwrap_or_default();
            let best = said_of_best(search);
            let mut rated: Vec<(f64, &Point)> = said
                .iter()
                .map(|prediction| improvement(prediction, best))
                .zip(&candidates)
                .collect();
            rated.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
            let mut rated = rated.into_iter();
            while proposed.len() < most {
                if self.random.random_range(0..RANDOM) == 0 {
                    break;
                }
                match rated.next() {
                    Some((_, point)) => proposed.push(point.clone()),
                    None => break,
                }
            }
        }
        if proposed.is_empty() {
            let new = unseen(search.space, search.known, &proposed, &mut self.random);
            proposed.extend(new);
        }
        proposed
    }
}

/// Costs as the forest sees them: logarithms, since a cost is mostly a time and effects are
/// factors; of a failure something that is worse than all.
fn targets(costs: &[f64]) -> Vec<f64> {
    let finite = costs.iter().copied().filter(|cost| cost.is_finite());
    let worst = finite.map(compressed).fold(f64::NEG_INFINITY, f64::max);
    let failed = if worst.is_finite() { worst + 0.7 } else { 0.0 };
    let target = |cost: &f64| {
        if cost.is_finite() {
            compressed(*cost)
        } else {
            failed
        }
    };
    costs.iter().map(target).collect()
}

/// The logarithm of a cost, of costs that are not positive too (a negative score, say).
fn compressed(cost: f64) -> f64 {
    const LEAST: f64 = 1e-15;
    match cost > LEAST {
        true => cost.ln(),
        false => 2.0 * LEAST.ln() - (LEAST.max(-cost)).ln(),
    }
}

fn said_of_best(search: &Search<'_>) -> f64 {
    search
        .known
        .best()
        .map_or(0.0, |(_, cost)| compressed(cost))
}

/// The expected improvement over the best of what is predicted, if it is normal; 0.01 less than
/// the best is no improvement.
fn improvement(said: &Prediction, best: f64) -> f64 {
    let deviation = said.deviation.max(1e-3);
    let z = (best - 0.01 - said.mean) / deviation;
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    // The logistic approximation of the distribution is within 0.01.
    let below = 1.0 / (1.0 + (-1.702 * z).exp());
    // Far below, only the mean tells candidates apart.
    (deviation * (z * below + density)).max(0.0) + 1e-9 * (best - said.mean)
}

/// A point that differs from another by one move, two with half the probability, and so on.
fn mutant(search: &Search<'_>, point: &Point, random: &mut Pcg64Mcg) -> Point {
    let moves = 1 + random.random::<u32>().trailing_ones();
    let mut point = point.clone();
    for _ in 0..moves {
        // One in four goes anywhere.
        let moved = match random.random_range(0..4) {
            0 => {
                let movable = search.space.movable();
                if movable.is_empty() {
                    return point;
                }
                let parameter = movable[random.random_range(0..movable.len())];
                let rank = random.random_range(0..search.space.extent(parameter));
                search.space.moved(&point, parameter, rank as f64)
            }
            _ => search.space.neighbour(&point, random),
        };
        point = moved.unwrap_or(point);
    }
    point
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_keep_their_order() {
        let costs = [-1e6, -2.0, -1e-3, 0.0, 1e-9, 1.0, 5.0];
        assert!(
            costs
                .windows(2)
                .all(|pair| compressed(pair[0]) < compressed(pair[1]))
        );
        let targets = targets(&[1.0, f64::INFINITY, 8.0]);
        assert!(targets[1] > targets[2]);
    }

    #[test]
    fn improvement_is_expected_of_the_low_and_of_the_unknown() {
        let improved = |mean, deviation| improvement(&Prediction { mean, deviation }, 0.0);
        assert!(improved(-1.0, 0.1) > improved(0.0, 0.1));
        assert!(improved(0.5, 1.0) > improved(0.5, 0.1));
        assert!(improved(3.0, 0.0) > improved(4.0, 0.0));
    }
}
