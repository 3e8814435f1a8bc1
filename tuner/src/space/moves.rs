//! Moves in a space: neighbours, repair, and coordinates for numerical techniques.
//!
//! All of them speak of ranks among the values that occur at all: values that no configuration has
//! are no distance.

use std::collections::{BTreeSet, HashSet};

use rand::{Rng, RngExt};

use super::parameter::Order;
use super::value::{Configuration, Value};
use super::{ParameterAxis, Point, Space};

/// The most configurations that filters are asked about for one that is near.
const MOST_ASKED: usize = 1000;
/// The points that are moved from without finding a nearer one.
const PATIENCE: usize = 100;

impl Space {
    /// The parameters that can be moved: those with a choice.
    pub fn movable(&self) -> Vec<usize> {
        let with_choice = |&position: &usize| self.axes[position].values.len() > 1;
        (0..self.axes.len()).filter(with_choice).collect()
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

    /// The valid point that the values of a configuration, which may be none of this space's, are repaired to.
    pub fn repaired_to(&self, wanted: &Configuration) -> Point {
        self.repaired(&self.wanted_ranks(wanted))
    }

    /// The point nearest to a configuration that may be none of this space's, by the distances of ranks.
    pub fn nearest(&self, wanted: &Configuration) -> Option<Point> {
        let ranks = self.wanted_ranks(wanted);
        let distance = |point: &Point| {
            let pairs = self.axes.iter().zip(&point.0).zip(&ranks);
            let far = pairs.map(|((axis, rank), wanted)| match axis.order {
                // A value that there is not lies between two ranks.
                Order::Sorted => (2.0 * (f64::from(*rank) - wanted).abs()) as usize,
                Order::Categories => 2 * usize::from(f64::from(*rank) != *wanted),
            });
            far.sum()
        };
        self.closest(self.repaired(&ranks), PATIENCE, &distance)
    }

    /// The point of the least distance among those that the filters let pass, as far as moves from this one find it.
    /// What is nearer than all before is moved next, or else what is fewest moves from the nearest, until so many in
    /// a row have led to nothing. `None` if the first thousand are all rejected.
    pub fn closest(
        &self,
        start: Point,
        patience: usize,
        distance: &dyn Fn(&Point) -> usize,
    ) -> Option<Point> {
        let mut seen = HashSet::from([start.clone()]);
        // Moves from the nearest point, or 0 if it is nearer; distance; number; point.
        let mut waiting = BTreeSet::from([(0, distance(&start), 0, start)]);
        let (mut best, mut left) = (None, MOST_ASKED);
        while let Some((mut moves, far, _, point)) = waiting.pop_first() {
            let is_nearer = best.as_ref().is_none_or(|(least, _)| far < *least);
            if is_nearer && self.admits(&self.configuration(&point)) {
                best = Some((far, point.clone()));
                waiting.clear();
                (left, moves) = (patience, 0);
            }
            if left == 0 || best.as_ref().is_some_and(|(least, _)| *least == 0) {
                break;
            }
            left -= 1;
            for new in self.changed_once(&point) {
                if seen.insert(new.clone()) {
                    let far = distance(&new);
                    let is_nearer = best.as_ref().is_none_or(|(least, _)| far < *least);
                    let moves = if is_nearer { 0 } else { moves + 1 };
                    waiting.insert((moves, far, seen.len(), new));
                }
            }
        }
        best.map(|(_, point)| point)
    }

    /// The points that differ from this one in any value of one parameter, and in what is repaired.
    fn changed_once(&self, point: &Point) -> Vec<Point> {
        let ranks = |parameter| (0..self.extent(parameter)).map(move |rank| (parameter, rank));
        let changes = self.movable().into_iter().flat_map(ranks);
        let points = changes.filter_map(|(n, rank)| self.moved(point, n, rank as f64));
        points.collect()
    }

    fn wanted_ranks(&self, wanted: &Configuration) -> Vec<f64> {
        let axes = self.axes.iter();
        axes.map(|axis| axis.near(wanted.get(&axis.name))).collect()
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
        let mut neighbours: Vec<Point> = Vec::new();
        for parameter in self.movable() {
            for rank in self.adjacent(point, parameter) {
                let neighbour = self.moved(point, parameter, f64::from(rank));
                neighbours.extend(
                    neighbour
                        .filter(|new| !neighbours.contains(new))
                        .into_iter()
                        .collect::<Vec<_>>(),
                );
            }
        }
        neighbours
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
        match self.values.iter().position(|own| own == value) {
            Some(rank) => rank as f64,
            None if self.order == Order::Categories => 0.0,
            None => self.values.partition_point(|own| own < value) as f64 - 0.5,
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
