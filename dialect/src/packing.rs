//! Tiles of `linalg.pack` and `linalg.unpack`: where an element of a tensor lies in the packed one, and back.
//!
//! `packed[o, t] = tensor[o * T + t]`, so that `tensor[i] = packed[i floordiv T, i mod T]`.

use mdh_algebra::affine::Expr;

use crate::ir::{self, Op};
use crate::types::DYNAMIC;

/// The attribute that says how large tiles are.
const TILES: &str = "static_inner_tiles";

/// A tensor and the axes of its tiles.
pub struct Tiles {
    /// For each axis of the tensor, that of the packed one which counts its tiles.
    pub outer: Vec<usize>,
    /// And the axis within a tile with its extent, if it is cut.
    pub inner: Vec<Option<(usize, Extent)>>,
}

/// Extent of a tile.
#[derive(Clone, Copy)]
pub enum Extent {
    /// So many elements.
    Known(i64),
    /// The one with this number of those that operands say.
    Open(usize),
}

impl Extent {
    /// The product of an expression and the extent, for a copy of so many loops: open extents stand behind the
    /// loops' indices.
    fn times(self, expr: Expr, loops: usize) -> Expr {
        match self {
            Extent::Known(number) => expr * number,
            Extent::Open(_) => Expr::Mul(Box::new(expr), Box::new(self.expr(loops))),
        }
    }

    fn expr(self, loops: usize) -> Expr {
        match self {
            Extent::Known(number) => Expr::Const(number),
            Extent::Open(n) => Expr::Dim(loops + n),
        }
    }
}

impl Tiles {
    /// Reads the tiles of an operation whose unpacked tensor has so many axes.
    pub fn new(op: Op, rank: usize) -> Result<Self, String> {
        let axis = |n: i64| usize::try_from(n).ok().filter(|n| *n < rank);
        let axis = |n: &i64| axis(*n).ok_or("names an axis that is not there");
        let mut outer: Vec<usize> = (0..rank).collect();
        for (place, n) in ir::integers(op, "outer_dims_perm").iter().enumerate() {
            outer[axis(n)?] = place;
        }
        let mut inner = vec![None; rank];
        let (sizes, mut open) = (ir::integers(op, TILES), 0);
        let cut = ir::integers(op, "inner_dims_pos");
        for (n, (cut, size)) in cut.iter().zip(sizes).enumerate() {
            let extent = match size {
                DYNAMIC => {
                    open += 1;
                    Extent::Open(open - 1)
                }
                1.. => Extent::Known(size),
                _ => return Err(format!("has tiles of {size} elements: expected at least 1")),
            };
            inner[axis(cut)?] = Some((rank + n, extent));
        }
        Ok(Tiles { outer, inner })
    }

    /// The number of tiles' extents that operands say.
    pub fn open(&self) -> usize {
        let extents = self.inner.iter().flatten();
        extents
            .filter(|(_, e)| matches!(e, Extent::Open(_)))
            .count()
    }

    /// The place in the tensor of an element of the packed one, by so many loops.
    pub fn packed(&self, loops: usize) -> Vec<Expr> {
        let axes = self.outer.iter().zip(&self.inner);
        let place = |(outer, inner): (&usize, &Option<(usize, Extent)>)| match inner {
            Some((within, size)) => size.times(Expr::Dim(*outer), loops) + Expr::Dim(*within),
            None => Expr::Dim(*outer),
        };
        axes.map(place).collect()
    }

    /// The place in the packed tensor of an element, by so many loops.
    pub fn unpacked(&self, loops: usize) -> Vec<Expr> {
        let cut = self.inner.iter().flatten().count();
        let mut places = vec![Expr::Const(0); self.outer.len() + cut];
        for (axis, (outer, inner)) in self.outer.iter().zip(&self.inner).enumerate() {
            let here = || Box::new(Expr::Dim(axis));
            places[*outer] = Expr::Dim(axis);
            if let Some((within, size)) = inner {
                places[*outer] = Expr::FloorDiv(here(), Box::new(size.expr(loops)));
                places[*within] = Expr::Mod(here(), Box::new(size.expr(loops)));
            }
        }
        places
    }
}
