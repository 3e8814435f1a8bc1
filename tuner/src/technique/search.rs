//! All that a technique is, and all that it sees.

use std::collections::HashMap;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::space::value::Configuration;
use crate::space::{Point, Space};

/// A technique of search.
pub trait Technique {
    /// Its name.
    fn name(&self) -> &str;

    /// The points to measure next: at most that many, none of them known, none twice. An empty
    /// list says that there is nothing more to propose.
    fn propose(&mut self, search: &Search<'_>, most: usize) -> Vec<Point>;

    /// Learns what has become of points that it has proposed. They are known by now.
    fn learn(&mut self, _search: &Search<'_>, _results: &[(Point, f64)]) {}

    /// The name of the technique that has proposed the last points: of those that choose between
    /// others, the one chosen.
    fn chosen(&self) -> &str {
        self.name()
    }
}

/// A cost function that is cheaper than measuring, such as a compiler's model: the estimate for a
/// configuration, if it has one.
pub type CostModel<'m> = dyn Fn(&Configuration) -> Option<f64> + 'm;

/// All that a technique sees.
#[derive(Clone, Copy)]
pub struct Search<'s> {
    /// The space.
    pub space: &'s Space,
    /// The points whose cost is known.
    pub known: &'s Known,
    /// Estimates.
    pub model: Option<&'s CostModel<'s>>,
}

/// Points whose cost is known; that of a failure is infinite.
#[derive(Clone, Debug, Default)]
pub struct Known {
    points: Vec<(Point, f64)>,
    places: HashMap<Point, usize>,
    best: Option<usize>,
}

impl Known {
    /// Adds a point. One that is known already stays as it is.
    pub fn add(&mut self, point: Point, cost: f64) {
        if self.places.contains_key(&point) {
            return;
        }
        let place = self.points.len();
        if cost.is_finite() && self.best().is_none_or(|(_, best)| cost < best) {
            self.best = Some(place);
        }
        self.places.insert(point.clone(), place);
        self.points.push((point, cost));
    }

    /// The cost of a point.
    pub fn cost(&self, point: &Point) -> Option<f64> {
        self.places.get(point).map(|place| self.points[*place].1)
    }

    /// The best point and its cost.
    pub fn best(&self) -> Option<(&Point, f64)> {
        self.best
            .map(|place| (&self.points[place].0, self.points[place].1))
    }

    /// All points, in the order in which they became known.
    pub fn points(&self) -> &[(Point, f64)] {
        &self.points
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }
}

/// A generator of random numbers whose sequence will not change with a library's version, another
/// one for each name.
pub(super) fn generator(seed: u64, name: &str) -> Pcg64Mcg {
    let of_name = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Pcg64Mcg::seed_from_u64(seed ^ of_name)
}
