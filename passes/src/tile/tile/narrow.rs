//! Loops and tiles without the points at which conditions say that nothing is contributed.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<64x64xf32>, %y: memref<64xf32>) {
//!   mdh.compute (i = 64, k = 64)
//!     out_view(y = %y[i] : memref<64xf32>)
//!     md_hom((%x_ik: f32) {
//!       %i = mdh.index 0 : index
//!       %k = mdh.index 1 : index
//!       %zero = arith.constant 0.0 : f32
//!       %below = arith.cmpi sle, %k, %i : index
//!       %v = arith.select %below, %x_ik, %zero : f32
//!       mdh.yield %v : f32
//!     }, (cc, pw(addf)))
//!     inp_view(x = %x[i, k] : memref<64x64xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {k: *}, register {i: 4}],
//!       decompose = {order: [L2.i, L1.k, register.i]}, outputs = {y: {combine: {L1.k: register}}}>)
//!   return
//! }
//! // becomes
//! scf.for %i = %c0 to %c64 step %c4 {
//!   %end = arith.addi %i, %c4 : index
//!   ..
//!   %is_some = arith.cmpi sgt, %all, %c0 : index
//!   scf.if %is_some {
//!     mdh.compute (i = %i to %end, k = %all) // k <= i for all of these points
//!       out_view(y = %y[i] : memref<64xf32>)
//!       md_hom(id, (cc, pw(addf)))
//!     ..
//!   scf.if %are_left {
//!     ..
//!     mdh.compute (i = %i to %end, k = %all to %some) // and for some of those
//!     ..
//! ```
//!
//! A loop over parts of a combined dimension goes from the first part in which a condition can hold, for
//! any of the tile's points in the other dimensions, to the last; one part is left in any case, which then
//! has the neutral element as its result. The loop that a leaf keeps in registers is cut in up to three: where the
//! conditions hold for all points of the tile, the scalar function has none. Conditions that exclude whole results are not
//! asked inside of sums at all: those results are set to the neutral element afterwards.
//!
//! What threads of a block do together has to go through the same iterations: there, bounds are those of
//! the block.

use mdh_dialect::ir::{self, Errors, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, CarryPart, Parts};

use super::carry::numbered;
use super::code::{self, cc, component_types};
use super::cyclic::is_in;
use super::nest::{Home, ScheduledNest, Tile, bound};
use super::slices::kept;
use super::split::{is_summed, summed};
use super::steps::Steps;
use super::walk::LevelParts;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers::value;
use crate::support::builder::{Builder, known};
use crate::support::conditions::Points;
use crate::support::draft::point_index;
use crate::support::kernels::BLOCK;
use crate::support::projection::Projection;
use crate::support::region;
use crate::support::scheduled::Loop;
use crate::support::tiles::{so_far, stored};

/// The bounds of a loop over parts, without those that contribute nothing.
pub fn iterations<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    parts: &LevelParts<'_, 'c>,
) -> Grid<'c> {
    let (position, tile, grid) = (parts.position, parts.tile, parts.grid);
    let d = parts.tile_loop.level.dimension;
    let (Steps::Strided(span) | Steps::Points(span)) = &parts.steps else {
        return grid;
    };
    // All parts of a deferred level have results, and others may read what a producer leaves.
    let is_deferred = nest.deferred.is_some_and(|own| own.inside == position);
    let mut around = nest.producers.iter().filter(|p| p.at >= position);
    let is_plain = !parts.tile_loop.is_parallel
        && tile.combine[d].is_pw()
        && !is_deferred
        && !tile.has_order_at(position)
        && !is_in(nest.loops, d)
        && !around.any(|producer| producer.homes.contains(&Home::Whole));
    if nest.conditions.is_empty() || !is_plain {
        return grid;
    }
    let [mut lower, mut upper] = some(nest, builder, tile, d, (grid.lower, grid.upper, *span));
    if has_deferred_parts(nest, tile, d) {
        lower = grid.lower;
        let distance = builder.binary(ops::arith::SUBI, upper, lower);
        let parts = builder.binary(ops::arith::CEILDIVSI, distance, *span);
        let distance = builder.binary(ops::arith::MULI, parts, *span);
        let end = builder.binary(ops::arith::ADDI, lower, distance);
        upper = builder.binary(ops::arith::MINSI, end, grid.upper);
    }
    Grid {
        lower,
        upper,
        ..grid
    }
}

/// Returns whether parts further in have results of their own, which are combined outside of a loop: in its first
/// iteration, whole, each of them leaves one.
fn has_deferred_parts(nest: &ScheduledNest, tile: &Tile, d: usize) -> bool {
    let inside = nest.deferred.map(|own| nest.loops[own.inside]);
    tile.deferred.is_some() && inside.is_some_and(|of| of.level.dimension == d)
}

/// The bounds of a dimension with all of its points that contribute something, and one at least; the
/// first of them is a multiple of a span away from the first index.
fn some<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    d: usize,
    (lower, upper, span): (Val<'c>, Val<'c>, Val<'c>),
) -> [Val<'c>; 2] {
    let bounds = [lower, upper];
    let [mut first, mut end] = within(nest, builder, tile, d, bounds, Points::Any);
    let unit = builder.index(1);
    if first != lower {
        let last = builder.binary(ops::arith::SUBI, upper, unit);
        first = builder.binary(ops::arith::MINSI, first, last);
        first = builder.binary(ops::arith::MAXSI, first, lower);
        let distance = builder.binary(ops::arith::SUBI, first, lower);
        let parts = builder.binary(ops::arith::DIVUI, distance, span);
        let distance = builder.binary(ops::arith::MULI, parts, span);
        first = builder.binary(ops::arith::ADDI, lower, distance);
    }
    if end != upper {
        let least = builder.binary(ops::arith::ADDI, first, unit);
        end = builder.binary(ops::arith::MAXSI, end, least);
        end = builder.binary(ops::arith::MINSI, end, upper);
    }
    [first, end]
}

fn within<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    d: usize,
    bounds: [Val<'c>; 2],
    points: Points,
) -> [Val<'c>; 2] {
    let conditions = &nest.conditions;
    conditions.bounds(builder, d, bounds, points, &mut |builder, other| {
        ends(nest, builder, tile, other)
    })
}

/// The first and the last index of a tile in a dimension, of all threads of a block.
fn ends<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    d: usize,
) -> [Val<'c>; 2] {
    let asm = &nest.of.resolved.asm;
    let is_thread = |layer: usize| asm.has_kernels() && asm.layers[layer].name() != BLOCK;
    let mut cores = tile.cores.iter();
    let cut = cores.find(|core| core.dim == d && is_thread(core.layer));
    let dim = cut.map_or(&tile.parts.dims[d], |core| &core.whole.0);
    let (first, upper) = (value(builder, dim.lower), value(builder, dim.upper));
    let unit = builder.index(1);
    [first, builder.binary(ops::arith::SUBI, upper, unit)]
}

/// The computation of a leaf's tile, cut along a loop that it has.
pub fn leaf<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: Tile<'c>,
) -> Result<(), Errors> {
    let cut = cut_along(nest, position, &tile);
    let cut = cut.and_then(|of| {
        let grid = Grid::new(builder, &tile.parts.dims[of.level.dimension]);
        Some((of, grid, grid.stride(builder)?))
    });
    let Some((of, grid, stride)) = cut else {
        nest.leaf_tile(builder, position, tile);
        return Ok(());
    };
    let d = of.level.dimension;
    let whole = (grid.lower, grid.upper, stride);
    let [first, end] = some(nest, builder, &tile, d, whole);
    if is_masked_after(nest, &tile) {
        let mut tile = tile;
        let dim = &mut tile.parts.dims[d];
        (dim.lower, dim.upper) = (bound(first), bound(end));
        tile.meets_conditions = true;
        nest.leaf_tile(builder, position, tile.clone());
        mask(nest, builder, &tile);
        return Ok(());
    }
    let [from, to] = within(nest, builder, &tile, d, [first, end], Points::All);
    // In the order in which they lie: some, all, some.
    let from = on_grid(builder, (from, first, end), stride);
    let to = match to == end {
        true => end,
        false => on_grid(builder, (to, from, end), stride),
    };
    let pieces = [(first, from, false), (from, to, true), (to, end, false)];
    let pieces: Vec<_> = pieces.into_iter().filter(|(a, b, _)| a != b).collect();
    summed(nest, builder, of, tile, |nest, builder, tile, receive| {
        for (n, (start, stop, meets_conditions)) in pieces.iter().enumerate() {
            let mut is_there = builder.compare("slt", *start, *stop);
            if n + 1 == pieces.len() {
                // One of them leaves a result in any case.
                let is_first = builder.compare("eq", *start, first);
                is_there = builder.binary(ops::arith::ORI, is_there, is_first);
            }
            builder.if_then(is_there, |builder| {
                let mut inner = tile.clone();
                let dim = &mut inner.parts.dims[d];
                (dim.lower, dim.upper) = (bound(*start), bound(*stop));
                inner.meets_conditions = *meets_conditions;
                let number = builder.binary(ops::arith::SUBI, *start, first);
                receive(builder, number, &mut inner);
                nest.leaf_tile(builder, position, inner);
            });
        }
        Ok(())
    })
}

/// Returns whether conditions exclude whole results, which can be set to the neutral element once they are there:
/// no combined dimension decides, and nothing comes in from outside. What a branch computes has to stay under its
/// condition: it may divide by zero elsewhere.
fn is_masked_after(nest: &ScheduledNest, tile: &Tile) -> bool {
    let decides = |wanted: bool| {
        let mut dims = 0..tile.combine.len();
        dims.any(|d| tile.combine[d].is_pw() == wanted && nest.conditions.depend_on(d))
    };
    let code = region::operations_of(ir::region(nest.of.op, 0));
    let has_branches = code.iter().any(|op| ir::name_of(*op) == ops::scf::IF);
    let is_plain = nest.of.parts.carries.is_empty() && !has_branches;
    let leaves = |carry: &CarryPart| !carry.outgoing.is_empty();
    is_plain
        && decides(false)
        && !decides(true)
        && !tile.parts.carries.iter().any(leaves)
        && holds_all(nest, tile)
}

/// Sets the results of a tile at which conditions do not hold to the neutral element.
fn mask<'c>(nest: &ScheduledNest<'c, '_>, builder: &mut Builder<'c>, tile: &Tile<'c>) {
    let computation = &nest.of.computation;
    let neutral = (computation.operator()).and_then(|own| own.neutral(&computation.components));
    let Some(neutral) = neutral else {
        panic!("there are no conditions without a neutral element");
    };
    let kept_dims = kept(tile, None);
    let projection = Projection::new(&kept_dims, tile.combine.len());
    let outputs = &tile.parts.outputs;
    let components = computation.components.iter().enumerate();
    let results = components.filter_map(|(n, ty)| {
        let (output, access) = stored(outputs, n, *ty)?;
        let result = so_far(&outputs[output], access, format!("masked_{n}"));
        Some(projection.buffer(&result))
    });
    let results: Vec<BufferPart> = results.collect();
    let types = component_types(builder, &computation.components);
    let conditions = &nest.conditions;
    let scalar = builder.region(&types, ops::mdh::YIELD, |builder, values| {
        let holds = conditions.hold(builder, &mut |builder, d| {
            let place = kept_dims
                .iter()
                .position(|own| *own == d)
                .unwrap_or_default();
            [point_index(builder, place); 2]
        });
        let pairs = values.iter().zip(&neutral);
        pairs
            .map(|(value, neutral)| {
                let neutral = builder.scalar(*neutral);
                builder.select(holds, *value, neutral)
            })
            .collect()
    });
    let mut parts = Parts {
        dims: projection.dims(&tile.parts.dims),
        combine: kept_dims.iter().map(|_| cc(builder)).collect(),
        inputs: results.clone(),
        outputs: numbered(results),
        ..Parts::default()
    };
    parts.in_place = parts.reads_what_it_writes();
    let holds = conditions.hold(builder, &mut |builder, d| ends(nest, builder, tile, d));
    let yes = builder.boolean(true);
    let is_needed = builder.binary(ops::arith::XORI, holds, yes);
    builder.if_then(is_needed, |builder| {
        code::stored(builder, nest.of.op, &parts, scalar);
    });
}

/// Returns whether the outputs of a tile hold every component in its own type.
fn holds_all(nest: &ScheduledNest, tile: &Tile) -> bool {
    let mut components = nest.of.computation.components.iter().enumerate();
    components.all(|(n, ty)| stored(&tile.parts.outputs, n, *ty).is_some())
}

/// The first index of a grid from `first` on that is not before another one, and not behind the end.
fn on_grid<'c>(
    builder: &mut Builder<'c>,
    (index, first, end): (Val<'c>, Val<'c>, Val<'c>),
    stride: Val<'c>,
) -> Val<'c> {
    if index == first {
        return first;
    }
    // Of what is empty the end may be before the first index.
    let index = builder.binary(ops::arith::MINSI, index, end);
    let index = builder.binary(ops::arith::MAXSI, index, first);
    if known(stride) == Some(1) {
        return index;
    }
    let distance = builder.binary(ops::arith::SUBI, index, first);
    let points = builder.binary(ops::arith::CEILDIVSI, distance, stride);
    let distance = builder.binary(ops::arith::MULI, points, stride);
    builder.binary(ops::arith::ADDI, first, distance)
}

/// The loop of a leaf along which its tile is cut: one over a sum whose parts can add to the results.
fn cut_along(nest: &ScheduledNest, position: usize, tile: &Tile) -> Option<Loop> {
    let conditions = &nest.conditions;
    let asm = &nest.of.resolved.asm;
    if conditions.is_empty() || asm.has_kernels() || position != nest.leaf {
        return None;
    }
    let receives = is_summed(tile) || tile.parts.carries.is_empty() && holds_all(nest, tile);
    let has_scan = tile.combine.iter().any(|combine| combine.is_ps());
    // Parts would write what others still read.
    let is_in_place = tile.parts.in_place || tile.parts.reads_what_it_writes();
    if !receives || has_scan || is_in_place || tile.deferred.is_some() {
        return None;
    }
    let (_, form) = nest.of.leaf(nest.loops);
    let is_sum = |of: &Loop| tile.combine[of.level.dimension].is_pw();
    let sums: Vec<Loop> = form.loops.into_iter().filter(is_sum).collect();
    let decides = |of: &&Loop| conditions.depend_on(of.level.dimension);
    sums.iter().rev().find(decides).or(sums.last()).copied()
}
