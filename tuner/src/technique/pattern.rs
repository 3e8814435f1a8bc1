//! Pattern search: steps along each parameter, which grow shorter where none is better, and are
//! repeated where one is (Hooke and Jeeves, "Direct search solution of numerical and statistical
//! problems", 1961). Beside other techniques it goes on from the best that any of them has found.

use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::rounds::{Rounds, beginning, least};
use super::search::Search;
use crate::space::Point;
use crate::space::parameter::Order;

/// The first step, as a fraction of a parameter's values.
const FIRST: f64 = 0.25;

/// A step along a parameter, in ranks; of a category, the rank to take.
#[derive(Clone, Copy)]
struct Poll {
    parameter: usize,
    step: f64,
}

/// Pattern search.
pub(super) struct Pattern {
    random: Pcg64Mcg,
    centre: Option<(Point, f64)>,
    fraction: f64,
    /// Steps that were not tried yet, the last one first.
    polls: Vec<Poll>,
    asked: Vec<Poll>,
    is_finest: bool,
    /// The best point around which all has been tried.
    finished: Option<Point>,
}

impl Pattern {
    pub(super) fn new(random: Pcg64Mcg) -> Pattern {
        Pattern {
            random,
            centre: None,
            fraction: FIRST,
            polls: Vec::new(),
            asked: Vec::new(),
            is_finest: false,
            finished: None,
        }
    }

    /// Goes to a better point that another technique has found.
    fn follow(&mut self, search: &Search<'_>) {
        let (Some((_, cost)), Some((best, better))) = (&self.centre, search.known.best()) else {
            return;
        };
        if better < *cost && self.finished.as_ref() != Some(best) {
            self.centre = Some((best.clone(), better));
            self.fill(search);
        }
    }

    /// All steps from a centre, in random order.
    fn fill(&mut self, search: &Search<'_>) {
        let space = search.space;
        self.polls.clear();
        self.is_finest = true;
        for parameter in space.movable() {
            let extent = space.extent(parameter);
            if space.order(parameter) == Order::Categories {
                let polls = (0..extent).map(|rank| Poll {
                    parameter,
                    step: rank as f64,
                });
                self.polls.extend(polls);
                continue;
            }
            let step = (self.fraction * (extent - 1) as f64).round().max(1.0);
            self.is_finest &= step == 1.0;
            self.polls
                .extend([-step, step].map(|step| Poll { parameter, step }));
        }
        self.polls.shuffle(&mut self.random);
    }
}

/// The point that a step leads to.
fn target(search: &Search<'_>, centre: &Point, poll: Poll) -> Option<Point> {
    let rank = search.space.rank(centre, poll.parameter) as f64;
    let wanted = match search.space.order(poll.parameter) {
        Order::Categories => poll.step,
        Order::Sorted => rank + poll.step,
    };
    search.space.moved(centre, poll.parameter, wanted)
}

impl Rounds for Pattern {
    const NAME: &'static str = "pattern";

    fn round(&mut self, search: &Search<'_>, wanted: usize) -> Vec<Point> {
        self.asked.clear();
        self.follow(search);
        let Some((centre, _)) = self.centre.clone() else {
            // The best, unless it has been a centre to the end: then anywhere.
            let best = beginning(search, &mut self.random);
            let is_failure = search.known.cost(&best).is_some_and(f64::is_infinite);
            let point = match self.finished.as_ref() == Some(&best) || is_failure {
                false => best,
                true => search.space.sample(&mut self.random),
            };
            return vec![point];
        };
        let mut points = Vec::new();
        while points.len() < wanted.max(1) {
            let Some(poll) = self.polls.pop() else { break };
            if let Some(point) = target(search, &centre, poll) {
                points.push(point);
                self.asked.push(poll);
            }
        }
        match points.is_empty() {
            true => vec![centre],
            false => points,
        }
    }

    fn judge(&mut self, search: &Search<'_>, points: &[Point], costs: &[f64]) {
        let Some(least) = least(costs) else { return };
        let Some((_, centre_cost)) = &self.centre else {
            self.fraction = FIRST;
            self.centre = Some((points[least].clone(), costs[least]));
            self.fill(search);
            return;
        };
        if costs[least] < *centre_cost {
            self.centre = Some((points[least].clone(), costs[least]));
            self.fill(search);
            // The same step once more, before others.
            self.polls.extend(self.asked.get(least));
        } else if self.polls.is_empty() && self.is_finest {
            let best = search.known.best().map(|(best, _)| best);
            let is_best = self.centre.as_ref().map(|(centre, _)| centre) == best;
            if is_best {
                self.finished = best.cloned();
            }
            self.centre = None;
        } else if self.polls.is_empty() {
            self.fraction /= 2.0;
            self.fill(search);
        }
    }
}
