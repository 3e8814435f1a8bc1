//! Multi-directional search: a simplex is reflected about its best corner, and grows or shrinks
//! (Torczon, "Multi-directional search: a direct search algorithm for parallel machines", 1989).

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::rounds::{Rounds, beginning, least};
use super::search::Search;
use crate::space::Point;

/// The side of the first simplex.
const SIDE: f64 = 0.35;
/// The extents at which a simplex has shrunk to a point.
const POINT: f64 = 1e-3;

/// Part of an iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Move {
    Corners,
    Reflect,
    Expand,
    Contract,
}

/// Multi-directional search.
pub(super) struct Torczon {
    random: Pcg64Mcg,
    /// Corners with costs, the best first.
    corners: Vec<(Vec<f64>, f64)>,
    /// The corners that are being tried, of a simplex without its best one.
    tried: Vec<Vec<f64>>,
    /// The reflected ones, while the expanded ones are tried.
    reflected: Vec<(Vec<f64>, f64)>,
    next: Move,
    starts: usize,
}

impl Torczon {
    pub(super) fn new(random: Pcg64Mcg) -> Torczon {
        Torczon {
            random,
            corners: Vec::new(),
            tried: Vec::new(),
            reflected: Vec::new(),
            next: Move::Corners,
            starts: 0,
        }
    }

    /// A simplex with sides along the axes, which go inwards.
    fn simplex(&mut self, search: &Search<'_>) -> Vec<Vec<f64>> {
        self.starts += 1;
        let first = match self.starts {
            1 => beginning(search, &mut self.random),
            _ => search.space.sample(&mut self.random),
        };
        let first = search.space.coordinates(&first);
        let mut simplex = vec![first.clone()];
        for axis in 0..first.len() {
            let mut corner = first.clone();
            let side = SIDE * (0.5 + self.random.random::<f64>());
            corner[axis] += if corner[axis] > 0.5 { -side } else { side };
            simplex.push(corner);
        }
        simplex
    }

    /// The other corners, moved along the lines through the best one.
    fn scaled(&self, factor: f64) -> Vec<Vec<f64>> {
        let best = &self.corners[0].0;
        let rest = self.corners[1..].iter();
        rest.map(|(corner, _)| {
            let pairs = best.iter().zip(corner);
            pairs
                .map(|(best, x)| (best + factor * (x - best)).clamp(0.0, 1.0))
                .collect()
        })
        .collect()
    }

    /// Replaces all corners but the best one, and puts the best one first.
    fn replace(&mut self, others: Vec<(Vec<f64>, f64)>) {
        self.corners.truncate(1);
        self.corners.extend(others);
        self.corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let best = &self.corners[0].0;
        let extent = self
            .corners
            .iter()
            .flat_map(|(corner, _)| corner.iter().zip(best).map(|(x, best)| (x - best).abs()));
        let is_point = extent.fold(0.0, f64::max) < POINT;
        self.next = match is_point || self.corners[0].1.is_infinite() {
            true => Move::Corners,
            false => Move::Reflect,
        };
    }
}

impl Rounds for Torczon {
    const NAME: &'static str = "torczon";

    fn round(&mut self, search: &Search<'_>, _wanted: usize) -> Vec<Point> {
        self.tried = match self.next {
            Move::Corners => self.simplex(search),
            Move::Reflect => self.scaled(-1.0),
            Move::Expand => self.scaled(-2.0),
            Move::Contract => self.scaled(0.5),
        };
        self.tried
            .iter()
            .map(|corner| search.space.at(corner))
            .collect()
    }

    fn judge(&mut self, _search: &Search<'_>, _points: &[Point], costs: &[f64]) {
        let tried: Vec<(Vec<f64>, f64)> = std::mem::take(&mut self.tried)
            .into_iter()
            .zip(costs.iter().copied())
            .collect();
        let Some(best) = least(costs).map(|least| costs[least]) else {
            self.next = Move::Corners;
            return;
        };
        match self.next {
            Move::Corners => {
                self.corners = tried;
                self.corners.sort_by(|a, b| a.1.total_cmp(&b.1));
                self.next = match self.corners.len() > 1 && best.is_finite() {
                    true => Move::Reflect,
                    false => Move::Corners,
                };
            }
            Move::Reflect if best < self.corners[0].1 => {
                self.reflected = tried;
                self.next = Move::Expand;
            }
            Move::Reflect => self.next = Move::Contract,
            Move::Expand => {
                let reflected = std::mem::take(&mut self.reflected);
                let lowest = |corners: &[(Vec<f64>, f64)]| {
                    corners
                        .iter()
                        .map(|corner| corner.1)
                        .fold(f64::INFINITY, f64::min)
                };
                let better = if best < lowest(&reflected) {
                    tried
                } else {
                    reflected
                };
                self.replace(better);
            }
            Move::Contract => self.replace(tried),
        }
    }
}
