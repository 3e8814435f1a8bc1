//! The box of a buffer that a tile accesses.

use mdh_algebra::domain::stride;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;
use mdh_dialect::types;
use mdh_schedule::reach::Reach;
use melior::ir::ValueLike;

use super::cyclic;
use super::layout::{Counts, MemoryAxis};
use super::nest::{ScheduledNest, Tile, lower};
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::builder::{Builder, known};

/// Extent of a buffer's accesses in a tile, by axis.
pub struct Extent<'c> {
    /// The first index.
    pub first: Vec<Val<'c>>,
    /// The extent at most: from before all loops.
    pub most: Vec<Val<'c>>,
    /// True if the tile has that extent always: no tile is cut off at the end of a dimension.
    is_full: Vec<bool>,
}

impl<'c> Extent<'c> {
    /// Returns the extent of the accesses to a buffer in a tile; `None` where they do not move in step.
    pub fn new(
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        tile: &Tile<'c>,
        input: &BufferPart<'c>,
    ) -> Option<Extent<'c>> {
        let rank = input.origin.len();
        let (mut first, mut most, mut is_full) = (Vec::new(), Vec::new(), vec![true; rank]);
        for axis in 0..rank {
            let exprs = input.accesses.iter().map(|access| &access[axis]);
            let reach = Reach::in_step(exprs, tile.parts.dims.len())?;
            let mut outside = nest.outside;
            let mut start = builder.index(reach.low);
            let halo = reach.halo()?;
            let mut length = outside.index(halo);
            // Of a dimension without points, the last index is before the first.
            let mut least = halo;
            for (d, coefficient) in reach.terms() {
                // From the first to the last index of the tile.
                let dim = &tile.parts.dims[d];
                let span = tile.spans[d];
                let stride = match known(tile.most[d]) {
                    // One point has no next one, whatever the distance to that is.
                    Some(1) => 1,
                    _ if span.is_some() => 1,
                    _ => stride(dim.step.known(), dim.width.known())?,
                };
                is_full[axis] &= is_full_in(nest, tile, d);
                let unit = outside.index(1);
                let more = outside.binary(ops::arith::SUBI, span.unwrap_or(tile.most[d]), unit);
                let scale = stride * coefficient.abs();
                if known(tile.most[d]).is_none_or(|most| most < 1) {
                    least -= scale;
                }
                let scale = outside.index(scale);
                let more = outside.binary(ops::arith::MULI, more, scale);
                length = outside.binary(ops::arith::ADDI, length, more);
                let lowest = if coefficient > 0 {
                    lower(builder, tile, d)
                } else {
                    last(builder, tile, d)
                };
                let factor = builder.index(coefficient);
                let term = builder.binary(ops::arith::MULI, lowest, factor);
                start = builder.binary(ops::arith::ADDI, start, term);
            }
            if least < 0 {
                let nothing = outside.index(0);
                length = outside.binary(ops::arith::MAXSI, length, nothing);
            }
            first.push(start);
            most.push(length);
        }
        Some(Extent {
            first,
            most,
            is_full,
        })
    }

    /// Returns whether a tile, its blocks filled up, is known to lie in its buffer.
    pub fn lies_inside(&self, input: &BufferPart, axes: &[MemoryAxis]) -> bool {
        let Some(buffer) = types::buffer_type(input.value.r#type()) else {
            return false;
        };
        (0..input.origin.len()).all(|axis| {
            let Some(most) = known(self.most[axis]) else {
                return false;
            };
            let block = axes.iter().find_map(|a| match a.counts {
                Counts::Inside(block) | Counts::Groups { block, .. } if a.of == axis => {
                    Some(block.max(1))
                }
                _ => None,
            });
            let block = block.unwrap_or(1);
            let filled = (most + block - 1).div_euclid(block) * block;
            // What points access lies inside.
            if self.is_full[axis] && filled == most {
                return true;
            }
            let numbers = (
                known(self.first[axis]),
                input.origin[axis].known(),
                buffer.shape.get(axis).copied().flatten(),
            );
            let (Some(first), Some(origin), Some(size)) = numbers else {
                return false;
            };
            first >= origin && first - origin + filled <= size
        })
    }
}

/// Returns whether tiles of this size are known to fill a dimension.
fn is_full_in(nest: &ScheduledNest, tile: &Tile, d: usize) -> bool {
    let pair = nest
        .points(d)
        .zip(known(tile.most[d]).filter(|most| *most > 0));
    pair.is_some_and(|(points, most)| points % most == 0) && !cyclic::is_in(nest.loops, d)
}

/// The last index of a tile in a dimension.
fn last<'c>(builder: &mut Builder<'c>, tile: &Tile<'c>, d: usize) -> Val<'c> {
    let grid = Grid::new(builder, &tile.parts.dims[d]);
    let unit = builder.index(1);
    let number = builder.binary(ops::arith::SUBI, grid.count, unit);
    if let Some(stride) = grid.stride(builder) {
        let distance = builder.binary(ops::arith::MULI, number, stride);
        return builder.binary(ops::arith::ADDI, grid.lower, distance);
    }
    grid.point(builder, number)
}
