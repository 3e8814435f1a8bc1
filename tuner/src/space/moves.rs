//! Moves in a space: neighbours, repair, and coordinates for numerical techniques.
//!
//! All of them speak of ranks among the values that occur at all: values that no configuration has
//! are no distance.

use std::collections::{HashSet, VecDeque};

use rand::{Rng, RngExt};

use super::parameter::Order;
use super::value::{Configuration, Value};
use super::{ParameterAxis, Point, Space};
use crate::error::Result;

/// The most configurations that filters are asked about for one that is near.
const MOST_ASKED: usize = 1000;

impl Space {
    /// The parameters that can be moved: those with a choice, and not derived from others.
    pub fn movable(&self) -> Vec<usize> {
        (0..self.axes.len())
            .filter(|&position| !self.axes[position].is_derived)
            .filter(|&position| self.axes[position].values.len() > 1)
            .collect()
    }

    /// The number of values that a parameter has in this space.
    pub fn extent(&self, parameter: usize) -> usize {
        self.axes[parameter].values.len()
    }

    /// The relation of a parameter's values to each other.
    pub fn order(&self, parameter: usize) -> Order {
        self.axes[parameter].order
    }

    /// The rank of a parameter's value.
    pub fn rank(&self, point: &Point, parameter: usize) -> usize {
        point.0[parameter] as usize
    }

    /// The valid point that is nearest to the ranks wanted: parameters are decided in order, each
    /// takes the valid rank nearest to the one wanted (the lower of two), or, of categories, the
    /// first if the one wanted is not valid. What is valid stays as it is.
    pub fn repaired(&self, wanted: &[f64]) -> Point {
        let mut ranks = vec![0; self.axes.len()].into_boxed_slice();
        for tree in &self.trees {
            let mut step = Some(tree.start());
            for &position in &tree.parameters {
                let Some(here) = step else { break };
                let valid = here.ranks();
                let child = match self.axes[position].order {
                    Order::Sorted => nearest(valid, wanted[position]),
                    Order::Categories => {
                        let wanted = wanted[position].round() as u32;
                        valid.binary_search(&wanted).unwrap_or(0)
                    }
                };
                ranks[position] = valid[child];
                step = here.child(child);
            }
        }
        Point(ranks)
    }

    /// The point nearest to a configuration that may be none of this space's: the valid one by
    /// [`Space::repaired`], or where the filters reject it, one of those that the fewest moves lead to.
    /// `None` if the nearest thousand are all rejected.
    pub fn nearest(&self, wanted: &Configuration) -> Result<Option<Point>> {
        let ranks = self
            .axes
            .iter()
            .map(|axis| axis.near(wanted.get(&axis.name)));
        let first = self.repaired(&ranks.collect::<Vec<f64>>());
        let mut seen = HashSet::from([first.clone()]);
        let mut waiting = VecDeque::from([first]);
        for _ in 0..MOST_ASKED {
            let Some(point) = waiting.pop_front() else {
                break;
            };
            if self.admits(&self.configuration(&point))? {
                return Ok(Some(point));
            }
            let new = self.neighbours(&point).into_iter();
            waiting.extend(new.filter(|new| seen.insert(new.clone())));
        }
        Ok(None)
    }

    /// The point with a parameter at the valid rank nearest to the one wanted, later ones that
    /// depend on it repaired; none if this is the point itself.
    pub fn moved(&self, point: &Point, parameter: usize, wanted: f64) -> Option<Point> {
        let mut ranks: Vec<f64> = point.0.iter().map(|&rank| f64::from(rank)).collect();
        ranks[parameter] = wanted;
        let moved = self.repaired(&ranks);
        (moved != *point).then_some(moved)
    }

    /// The ranks next to a parameter's in a point: of numbers the valid one below and the one
    /// above, of categories all other valid ones.
    fn adjacent(&self, point: &Point, parameter: usize) -> Vec<u32> {
        let tree = &self.trees[self.axes[parameter].tree];
        let mut step = tree.start();
        for &position in &tree.parameters {
            let valid = step.ranks();
            let Ok(at) = valid.binary_search(&point.0[position]) else {
                return Vec::new();
            };
            if position == parameter {
                return match self.axes[parameter].order {
                    Order::Sorted => {
                        let below = at.checked_sub(1).map(|below| valid[below]);
                        below
                            .into_iter()
                            .chain(valid.get(at + 1).copied())
                            .collect()
                    }
                    Order::Categories => {
                        let here = valid[at];
                        valid.iter().copied().filter(|rank| *rank != here).collect()
                    }
                };
            }
            match step.child(at) {
                Some(next) => step = next,
                None => break,
            }
        }
        Vec::new()
    }

    /// The neighbours of a point: one parameter moves to an adjacent valid value, later ones that
    /// depend on it are repaired.
    pub fn neighbours(&self, point: &Point) -> Vec<Point> {
        let mut found: Vec<Point> = Vec::new();
        for parameter in self.movable() {
            for rank in self.adjacent(point, parameter) {
                let neighbour = self.moved(point, parameter, f64::from(rank));
                found.extend(
                    neighbour
                        .filter(|new| !found.contains(new))
                        .into_iter()
                        .collect::<Vec<_>>(),
                );
            }
        }
        found
    }

    /// A point that differs from another in one parameter, and in what is repaired: numbers move
    /// mostly by little (each further step has half the probability), categories to any other.
    /// None in a space of one point.
    pub fn neighbour(&self, point: &Point, random: &mut impl Rng) -> Option<Point> {
        let mut movable = self.movable();
        while !movable.is_empty() {
            let chosen = random.random_range(0..movable.len());
            let parameter = movable.swap_remove(chosen);
            let adjacent = self.adjacent(point, parameter);
            if adjacent.is_empty() {
                continue;
            }
            let rank = adjacent[random.random_range(0..adjacent.len())];
            let wanted = match self.axes[parameter].order {
                Order::Categories => f64::from(rank),
                Order::Sorted => {
                    let step = f64::from(rank) - f64::from(point.0[parameter]);
                    let more = f64::from(random.random::<u32>().trailing_ones());
                    f64::from(rank) + step.signum() * more
                }
            };
            let moved = self.moved(point, parameter, wanted);
            // Beyond the border, the nearest valid value can be the point's own.
            match moved.or_else(|| self.moved(point, parameter, f64::from(rank))) {
                Some(moved) => return Some(moved),
                None => continue,
            }
        }
        None
    }

    /// The number of coordinates of a point: one for each movable parameter.
    pub fn dimensions(&self) -> usize {
        self.movable().len()
    }

    /// The coordinates of a point, from 0 to 1.
    pub fn coordinates(&self, point: &Point) -> Vec<f64> {
        self.movable()
            .into_iter()
            .map(|position| {
                let last = self.axes[position].values.len() - 1;
                f64::from(point.0[position]) / last as f64
            })
            .collect()
    }

    /// The valid point nearest to coordinates, which may lie outside of 0 to 1.
    pub fn at(&self, coordinates: &[f64]) -> Point {
        let mut wanted = vec![0.0; self.axes.len()];
        for (position, coordinate) in self.movable().into_iter().zip(coordinates) {
            let last = self.axes[position].values.len() - 1;
            wanted[position] = coordinate.clamp(0.0, 1.0) * last as f64;
        }
        self.repaired(&wanted)
    }
}

impl ParameterAxis {
    /// The rank of a value, or of a number between ranks if it has none; 0 of what is not there.
    fn near(&self, value: Option<&Value>) -> f64 {
        let Some(value) = value else { return 0.0 };
        match self.values.iter().position(|own| own.means(value)) {
            Some(rank) => rank as f64,
            None if self.order == Order::Categories => 0.0,
            None => self.values.partition_point(|own| own.order(value).is_lt()) as f64 - 0.5,
        }
    }
}

/// The place of the rank nearest to the one wanted; the lower of two.
fn nearest(ranks: &[u32], wanted: f64) -> usize {
    let above = ranks.partition_point(|&rank| f64::from(rank) < wanted);
    let distance = |at: usize| ranks.get(at).map(|&rank| (f64::from(rank) - wanted).abs());
    match (above.checked_sub(1), distance(above)) {
        (None, _) => 0,
        (Some(below), None) => below,
        (Some(below), Some(up)) => match distance(below).is_some_and(|down| down <= up) {
            true => below,
            false => above,
        },
    }
}
