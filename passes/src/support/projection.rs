//! Computations over some of the dimensions of another one.

use mdh_algebra::affine::Expr;
use mdh_dialect::parts::{BufferPart, Dim};

use crate::support::draft;

/// The dimensions that are kept, in their new order: of each other one, point 0 is left.
pub struct Projection<'k> {
    kept: &'k [usize],
    /// The expression that stands for each dimension.
    places: Vec<Expr>,
}

impl<'k> Projection<'k> {
    /// The projection of `rank` dimensions to some that are kept.
    pub fn new(kept: &'k [usize], rank: usize) -> Self {
        let place = |d: usize| {
            let at = kept.iter().position(|kept| *kept == d);
            at.map_or(Expr::Const(0), Expr::Dim)
        };
        Projection {
            kept,
            places: (0..rank).map(place).collect(),
        }
    }

    /// Returns a dimension's position among those that are kept.
    pub fn place(&self, d: usize) -> Expr {
        self.places[d].clone()
    }

    /// The kept dimensions.
    pub fn dims<'c>(&self, all: &[Dim<'c>]) -> Vec<Dim<'c>> {
        self.kept.iter().map(|d| all[*d].clone()).collect()
    }

    /// A buffer as a computation over the kept dimensions accesses it.
    pub fn buffer<'c>(&self, buffer: &BufferPart<'c>) -> BufferPart<'c> {
        let mut moved = buffer.clone();
        draft::substitute_accesses(&mut moved, &self.places);
        moved
    }
}
