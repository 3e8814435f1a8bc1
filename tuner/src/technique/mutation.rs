//! Greedy mutation: the best points so far, changed in one parameter or a few (as the techniques
//! that OpenTuner's bandit chooses most).

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::random::unseen;
use super::rounds::beginning;
use super::search::{Search, Technique};
use crate::space::Point;

/// Greedy mutation.
pub(super) struct Mutation {
    random: Pcg64Mcg,
}

impl Mutation {
    pub(super) fn new(random: Pcg64Mcg) -> Mutation {
        Mutation { random }
    }
}

impl Technique for Mutation {
    fn name(&self) -> &str {
        "mutation"
    }

    fn propose(&mut self, search: &Search<'_>, most: usize) -> Vec<Point> {
        let best = beginning(search, &mut self.random);
        let mut proposed: Vec<Point> = Vec::new();
        if search.known.cost(&best).is_none() {
            proposed.push(best.clone());
        }
        while proposed.len() < most {
            let new = (0..50).find_map(|_| {
                let point = mutant(search, &best, &mut self.random);
                let is_new = search.known.cost(&point).is_none() && !proposed.contains(&point);
                is_new.then_some(point)
            });
            // All that is near is known.
            let new =
                new.or_else(|| unseen(search.space, search.known, &proposed, &mut self.random));
            match new {
                Some(point) => proposed.push(point),
                None => break,
            }
        }
        proposed
    }
}

/// A point that differs from another by one move, two with half the probability, and so on.
pub(super) fn mutant(search: &Search<'_>, point: &Point, random: &mut Pcg64Mcg) -> Point {
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
