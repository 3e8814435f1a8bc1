//! Slices of the tuple in memory: results that tiles of a dimension that combines carry out, and
//! partial results of parts.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use melior::ir::Attribute;

use super::code::{cc, component_types};
use super::cyclic;
use super::nest::{Memory, ScheduledNest, Slices, Tile, bound, ceil_div, lower};
use super::owner;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers::value;
use crate::support::builder::Builder;
use crate::support::names::fresh;
use crate::support::projection::Projection;
use crate::support::scheduled::Loop;

impl<'c> Slices<'c> {
    /// One element for each point of these dimensions of a tile, in registers of each thread; `None`
    /// where sizes are not known.
    pub fn of_threads(
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        tile: &Tile<'c>,
        dims: Vec<usize>,
    ) -> Option<Self> {
        let extents: Vec<Val> = dims.iter().map(|d| nest.span_of(tile, *d)).collect();
        let types = component_types(builder, &nest.of.computation.components);
        let memories = types
            .iter()
            .map(|ty| owner::in_registers(nest, tile, &extents, *ty));
        let memories: Vec<Memory> = memories.collect::<Option<_>>()?;
        let slices = Slices::from_memories(builder, tile, dims, &memories);
        Some(Slices {
            is_own: true,
            ..slices
        })
    }

    /// One element for each point of these dimensions of a tile; with `parts`, that many times.
    pub fn new(
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        tile: &Tile<'c>,
        dims: Vec<usize>,
        parts: Option<Val<'c>>,
    ) -> Self {
        let extents: Vec<Val> = parts
            .into_iter()
            .chain(dims.iter().map(|d| nest.span_of(tile, *d)))
            .collect();
        let types = component_types(builder, &nest.of.computation.components);
        let types = types.iter();
        let memories = types.map(|ty| nest.allocate(tile, &extents, *ty, None));
        let memories: Vec<Memory> = memories.collect();
        Slices::from_memories(builder, tile, dims, &memories)
    }

    fn from_memories(
        builder: &mut Builder<'c>,
        tile: &Tile<'c>,
        dims: Vec<usize>,
        memories: &[Memory<'c>],
    ) -> Self {
        let cores = memories
            .iter()
            .map(|memory| memory.origins(builder))
            .collect();
        let origin = dims
            .iter()
            .map(|d| bound(lower(builder, tile, *d)))
            .collect();
        Slices {
            cores,
            values: memories.iter().map(|memory| memory.value).collect(),
            dims,
            origin,
            is_own: false,
        }
    }

    /// The slices as buffers; `first` indexes the parts, from an origin.
    pub fn buffers(
        &self,
        first: Option<(Expr, Bound<'c>)>,
        place: impl Fn(usize) -> Expr,
    ) -> Vec<BufferPart<'c>> {
        let named = self.values.iter().enumerate();
        named
            .map(|(n, value)| {
                let mut access: Vec<Expr> = self.dims.iter().map(|d| place(*d)).collect();
                let mut origin = self.origin.clone();
                if let Some((expr, from)) = first.as_ref().filter(|_| !self.is_own) {
                    access.insert(0, expr.clone());
                    origin.insert(0, *from);
                }
                let cores = &self.cores[n];
                access.splice(0..0, cores.iter().map(|_| Expr::Const(0)));
                origin.splice(0..0, cores.iter().copied());
                BufferPart::accessed(format!("partial_{n}"), *value, access, origin)
            })
            .collect()
    }

    /// Their elements for a tile's last point in a dimension.
    pub fn last(
        &self,
        builder: &mut Builder<'c>,
        tile: &Tile<'c>,
        d: usize,
    ) -> Vec<BufferPart<'c>> {
        let grid = Grid::new(builder, &tile.parts.dims[d]);
        let unit = builder.index(1);
        let number = builder.binary(ops::arith::SUBI, grid.count, unit);
        let index = grid.point(builder, number);
        let mut moved = self.clone();
        if let Some(axis) = self.dims.iter().position(|kept| *kept == d) {
            let first = value(builder, self.origin[axis]);
            moved.origin[axis] = bound(builder.binary(ops::arith::SUBI, first, index));
        }
        let place = |kept| match kept == d {
            true => Expr::Const(0),
            false => Expr::Dim(kept),
        };
        moved.buffers(None, place)
    }

    /// From the whole computation to the dimensions that the slices hold.
    pub fn projection(&self, whole: &Parts<'c>) -> Projection<'_> {
        Projection::new(&self.dims, whole.dims.len())
    }

    /// The dimensions that the slices hold, and how they and the parts combine: a computation
    /// over the parts has these, and one that counts the parts, as its last.
    pub fn over_parts(
        &self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        of: Loop,
        whole: &Parts<'c>,
    ) -> (Vec<Dim<'c>>, Vec<Attribute<'c>>) {
        let dim = &whole.dims[of.level.dimension];
        let count = cyclic::parts(nest, builder, of, dim).unwrap_or_else(|| {
            let points = Grid::new(builder, dim).count;
            ceil_div(builder, points, nest.size(of))
        });
        // Where an outer loop cuts the dimension too, no more than in each of its parts.
        let most = nest.parts(of);
        let count = builder.binary(ops::arith::MINSI, count, most);
        let mut dims = self.projection(whole).dims(&whole.dims);
        let name = fresh("part", |name| dims.iter().any(|d| d.name == name));
        dims.push(Dim::dense(&name, bound(count)));
        let mut combine: Vec<Attribute> = self.dims.iter().map(|_| cc(builder)).collect();
        combine.push(whole.combine[of.level.dimension]);
        (dims, combine)
    }
}

/// The dimensions that a tile keeps, other than one.
pub fn kept(tile: &Tile, but: Option<usize>) -> Vec<usize> {
    let dims = 0..tile.combine.len();
    dims.filter(|d| !tile.combine[*d].is_pw() && Some(*d) != but)
        .collect()
}
