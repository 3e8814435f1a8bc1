//! Differential evolution: a member of a population is challenged by the sum of one and a
//! difference of others (Storn and Price, "Differential evolution", 1997).

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::rounds::Rounds;
use super::search::Search;
use crate::space::Point;

/// Probability with which a coordinate is the challenger's.
const CROSSOVER: f64 = 0.8;

/// Differential evolution.
pub(super) struct Evolution {
    random: Pcg64Mcg,
    members: Vec<(Vec<f64>, f64)>,
    /// Members that are challenged in this round, and by which coordinates.
    challenges: Vec<(usize, Vec<f64>)>,
    next: usize,
    /// Challenges since the last that was won.
    lost: usize,
}

impl Evolution {
    pub(super) fn new(random: Pcg64Mcg) -> Evolution {
        Evolution {
            random,
            members: Vec::new(),
            challenges: Vec::new(),
            next: 0,
            lost: 0,
        }
    }

    fn size(search: &Search<'_>) -> usize {
        (2 * search.space.dimensions() + 4).clamp(8, 24)
    }

    fn challenger(&mut self, search: &Search<'_>, target: usize) -> Vec<f64> {
        let mut pick = || self.random.random_range(0..self.members.len());
        let (a, b, c) = (pick(), pick(), pick());
        let base = match self.random.random_bool(0.4) {
            true => search
                .known
                .best()
                .map(|(best, _)| search.space.coordinates(best)),
            false => None,
        };
        let base = base.unwrap_or_else(|| self.members[a].0.clone());
        let scale = 0.4 + 0.6 * self.random.random::<f64>();
        let mut new = self.members[target].0.clone();
        let always = self.random.random_range(0..new.len().max(1));
        for axis in 0..new.len() {
            if axis == always || self.random.random_bool(CROSSOVER) {
                let difference = self.members[b].0[axis] - self.members[c].0[axis];
                let x: f64 = base[axis] + scale * difference;
                // Beyond a border it comes back, as from a mirror.
                let folded = x.rem_euclid(2.0);
                new[axis] = if folded > 1.0 { 2.0 - folded } else { folded };
            }
        }
        new
    }
}

impl Rounds for Evolution {
    const NAME: &'static str = "evolution";

    fn round(&mut self, search: &Search<'_>, wanted: usize) -> Vec<Point> {
        let size = Evolution::size(search);
        self.challenges.clear();
        if self.members.len() < size {
            let mut points: Vec<Point> = Vec::new();
            let begins = self.members.is_empty();
            if begins {
                points.extend(search.known.best().map(|(best, _)| best.clone()));
            }
            while points.len() < wanted.clamp(1, size - self.members.len()) {
                points.push(search.space.sample(&mut self.random));
            }
            return points;
        }
        for _ in 0..wanted.clamp(1, size) {
            let challenger = self.challenger(search, self.next);
            self.challenges.push((self.next, challenger));
            self.next = (self.next + 1) % size;
        }
        self.challenges
            .iter()
            .map(|(_, at)| search.space.at(at))
            .collect()
    }

    fn judge(&mut self, search: &Search<'_>, points: &[Point], costs: &[f64]) {
        if self.challenges.is_empty() {
            let coordinates = points.iter().map(|point| search.space.coordinates(point));
            self.members.extend(coordinates.zip(costs.iter().copied()));
            return;
        }
        for ((target, _), (point, cost)) in self.challenges.iter().zip(points.iter().zip(costs)) {
            self.lost += 1;
            if *cost <= self.members[*target].1 {
                if *cost < self.members[*target].1 {
                    self.lost = 0;
                }
                self.members[*target] = (search.space.coordinates(point), *cost);
            }
        }
        // Nobody has been beaten for long: the population is of one kind.
        if self.lost > 8 * self.members.len() {
            self.members.clear();
            self.lost = 0;
            self.next = 0;
        }
    }
}
