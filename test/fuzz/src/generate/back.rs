//! Reading back what an earlier computation wrote: the same elements by other indices, so that
//! the two can be fused.

use mdh_algebra::affine::Expr;
use mdh_algebra::domain::Grid;

use super::domain;
use crate::choices::Choices;
use crate::program::{Dim, ValueId, View};

/// A computation's output, with its index functions.
pub struct Written {
    value: ValueId,
    grids: Vec<Grid>,
    map: Vec<Expr>,
    origin: Vec<i64>,
}

impl Written {
    /// The result of an output with one access, over all points of a domain.
    pub fn new(value: ValueId, view: &View, dims: &[Dim]) -> Option<Written> {
        let [map] = &view.accesses[..] else {
            return None;
        };
        Some(Written {
            value,
            grids: dims.iter().map(|dim| dim.grid).collect(),
            map: map.clone(),
            origin: view.origin.iter().map(|origin| origin.number).collect(),
        })
    }
}

/// A domain, and the index function that reads at its points what was written.
pub struct Back {
    /// The domain.
    pub dims: Vec<Dim>,
    /// The value that is read.
    pub value: ValueId,
    /// The index function.
    pub map: Vec<Expr>,
    /// The global index of the first element.
    pub origin: Vec<i64>,
}

/// Reads what was written, each dimension shifted, reversed, in part or at one point, and in another order.
pub fn back(c: &mut Choices, written: &Written) -> Back {
    let rank = written.grids.len();
    let first = c.below("first", rank as u64) as usize;
    let mut dims = Vec::new();
    let mut points = vec![Expr::Const(0); rank];
    for place in 0..rank {
        let d = (first + place) % rank;
        let grid = written.grids[d];
        let is_needed = dims.is_empty() && place + 1 == rank;
        points[d] = c.scope(format!("back{place}"), |c| {
            match grid.last().filter(|_| !is_needed && c.chance("point", 12)) {
                Some(last) => Expr::Const(match c.chance("last", 50) {
                    true => last,
                    false => (grid.lower + grid.step).min(last),
                }),
                None => {
                    let (grid, point) = dimension(c, grid, dims.len());
                    dims.push(domain::dim(dims.len(), grid));
                    point
                }
            }
        });
    }
    let map = written.map.iter().map(|e| e.substitute(&points));
    Back {
        dims,
        value: written.value,
        map: map.collect(),
        origin: written.origin.clone(),
    }
}

/// A grid, and the point of the one that was written at its points.
fn dimension(c: &mut Choices, mut written: Grid, place: usize) -> (Grid, Expr) {
    let shift = c.below("shift", 7) as i64 - 3;
    let q = Expr::Dim(place);
    let is_dense = written.step == 1 && !written.is_empty();
    if is_dense && c.chance("part", 20) {
        written.lower += 1;
    }
    if is_dense && c.chance("turned", 35) {
        let grid = Grid {
            lower: shift - written.upper + 1,
            upper: shift - written.lower + 1,
            ..written
        };
        return (grid, q * -1 + shift);
    }
    let grid = Grid {
        lower: written.lower + shift,
        upper: written.upper + shift,
        ..written
    };
    (grid, q + -shift)
}
