//! Cyclic parts: the parts of an outer layer inside of those of an inner one, in one dimension.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<20xf32>, %y: memref<20xf32>) {
//!   mdh.compute (i = 20)
//!     out_view(y = %y[i] : memref<20xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : memref<20xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, L2 {i: 2}, register {i: 3}],
//!       decompose = {order: [L2.i, L1.i, register.i]}>)
//!   return
//! }
//! // becomes
//! scf.for %i = %c0 to %c6 step %c3 {              // L2.i: its two parts of 3 in the first 6 points
//!   scf.for %j = %i to %c20 step %c6 {            // L1.i: that part of each 6 points
//!     %next = arith.addi %j, %c3 : index
//!     %end = arith.minsi %next, %c20 : index
//!     mdh.compute (i = %j to %end) ..
//!   } {mdh.level = "L1.i"}
//! } {mdh.level = "L2.i"}
//! ```
//!
//! The tiles of the outer loop here are points in groups with gaps, `i = %i to 20 step 6 width 3`, which
//! is a domain as any other. A tile is one as long as the levels that are not opened yet are neighbours,
//! but for one gap.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::Dim;
pub use mdh_schedule::legality::is_cyclic as is_in;
use mdh_schedule::legality::{self, Left};

use super::nest::{ScheduledNest, Tile, bound, ceil_div};
use super::steps::Steps;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers::value;
use crate::support::builder::Builder;
use crate::support::scheduled::Loop;

/// Returns the rest of a dimension whose loops up to a position are open.
fn left(loops: &[Loop], d: usize, position: usize) -> Left {
    let left = legality::cyclic_left(loops, d, position);
    left.unwrap_or_else(|| panic!("gaps of several sizes in dimension {d} are refused"))
}

/// Parts of a level in a tile of a dimension with cyclic parts.
pub struct Cyclic<'c> {
    /// The dimension.
    d: usize,
    /// The rest of it inside.
    left: Left,
    /// True if that goes beyond one part: a part is then a group of each.
    is_apart: bool,
    /// From one point to the next.
    stride: Val<'c>,
    /// From one part to the next.
    span: Val<'c>,
}

impl<'c> Cyclic<'c> {
    /// The parts of the loop at a position; `None` if its dimension's loops are in the order of its layers.
    pub fn new(nest: &ScheduledNest<'c, '_>, position: usize) -> Option<Self> {
        let tile_loop = nest.loops[position];
        let d = tile_loop.level.dimension;
        if !is_in(nest.loops, d) {
            return None;
        }
        let mut outside = nest.outside;
        let grid = Grid::new(&mut outside, &nest.of.parts.dims[d]);
        let stride = grid.stride(&mut outside);
        let stride = stride.unwrap_or_else(|| panic!("points in groups are refused"));
        let left = left(nest.loops, d, position);
        let is_outer = |n: &usize| nest.loops[*n].level.layer < tile_loop.level.layer;
        Some(Cyclic {
            d,
            is_apart: left.apart.iter().any(is_outer),
            left,
            stride,
            span: outside.binary(ops::arith::MULI, nest.size(tile_loop), stride),
        })
    }

    /// The first indices of the parts, in a tile: those of the first part of the levels outside, if
    /// these are not open.
    pub fn steps(
        &self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        position: usize,
        mut grid: Grid<'c>,
    ) -> (Grid<'c>, Steps<'c>) {
        if self.is_apart {
            let mut outside = nest.outside;
            let parts = nest.parts(nest.loops[position]);
            let reach = outside.binary(ops::arith::MULI, parts, self.span);
            let end = builder.binary(ops::arith::ADDI, grid.lower, reach);
            grid.upper = builder.binary(ops::arith::MINSI, end, grid.upper);
        }
        (grid, Steps::Strided(self.span))
    }

    /// The tile of the part that starts at an index.
    pub fn enter(
        &self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        tile: &mut Tile<'c>,
        index: Val<'c>,
    ) {
        let mut outside = nest.outside;
        let points = |outside: &mut Builder<'c>, positions: &[usize]| {
            let unit = outside.index(1);
            positions.iter().fold(unit, |points, n| {
                let parts = nest.parts(nest.loops[*n]);
                outside.binary(ops::arith::MULI, points, parts)
            })
        };
        let (apart, group) = (&self.left.apart, &self.left.group);
        let original = &nest.of.parts.dims[self.d];
        let dim = &mut tile.parts.dims[self.d];
        dim.lower = bound(index);
        if !self.is_apart {
            let first = apart.iter().chain(group).next();
            let reach = match first.map(|n| nest.loops[*n]) {
                None => self.stride,
                Some(first) => {
                    let (parts, size) = (nest.parts(first), nest.size(first));
                    let points = outside.binary(ops::arith::MULI, parts, size);
                    outside.binary(ops::arith::MULI, points, self.stride)
                }
            };
            let upper = value(builder, dim.upper);
            let end = builder.binary(ops::arith::ADDI, index, reach);
            dim.upper = bound(builder.binary(ops::arith::MINSI, end, upper));
        }
        let (groups, width) = (points(&mut outside, apart), points(&mut outside, group));
        tile.most[self.d] = outside.binary(ops::arith::MULI, groups, width);
        tile.spans[self.d] = None;
        (dim.step, dim.width) = (original.step, original.width);
        if let Some(last) = apart.last() {
            let size = nest.size(nest.loops[*last]);
            let step = outside.binary(ops::arith::MULI, size, self.stride);
            (dim.step, dim.width) = (bound(step), bound(width));
            let unit = outside.index(1);
            let gaps = outside.binary(ops::arith::SUBI, groups, unit);
            // An open dimension may have no points, and so no groups.
            let none = outside.index(0);
            let gaps = outside.binary(ops::arith::MAXSI, gaps, none);
            let gaps = outside.binary(ops::arith::MULI, gaps, step);
            tile.spans[self.d] = Some(outside.binary(ops::arith::ADDI, gaps, width));
        }
    }
}

/// Returns the number of a level's parts in a tile, whose dimension is that.
pub fn parts<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    dim: &Dim<'c>,
) -> Option<Val<'c>> {
    let position = nest.loops.iter().position(|l| *l == of)?;
    let cyclic = Cyclic::new(nest, position)?;
    let (lower, upper) = (value(builder, dim.lower), value(builder, dim.upper));
    let distance = builder.binary(ops::arith::SUBI, upper, lower);
    Some(ceil_div(builder, distance, cyclic.span))
}
