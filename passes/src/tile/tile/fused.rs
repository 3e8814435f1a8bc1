//! Code of producers for a tile of their consumer (`compute_at`).
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<1024x64xf32>, %y: memref<1024x64xf32>) {
//!   %m = memref.alloc() : memref<1024xf32>
//!   mdh.compute (i = 1024, j = 64)
//!     out_view(m = %m[i] : memref<1024xf32>)
//!     md_hom(id, (cc, pw(maximumf)))
//!     inp_view(x = %x[i, j] : memref<1024x64xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}, register {i: 8, j: 8}],
//!       compute_at = {consumer: y, level: L2.i}>)
//!   mdh.compute (i = 1024, j = 64)
//!     out_view(y = %y[i, j] : memref<1024x64xf32>)
//!     md_hom(subf, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<1024x64xf32>, m = %m[i] : memref<1024xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}, register {i: 8, j: 64}]>)
//!   memref.dealloc %m : memref<1024xf32>
//!   return
//! }
//! // becomes, since nobody else reads %m
//! %tile = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
//! scf.for %i = %c0 to %c1024 step %c8 {
//!   %last = arith.addi %i, %c8 : index
//!   scf.for %j = %c0 to %c64 step %c8 {
//!     ..
//!     mdh.compute (i = %i to %last, j = %j to %j_last)
//!       out_view(m = %tile[i] origin(%i) : memref<16xf32>)
//!       ..
//!   } {mdh.level = "L1.j"}
//!   mdh.compute (i = %i to %last, j = 64)
//!     out_view(y = %y[i, j] : memref<1024x64xf32>)
//!     md_hom(subf, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<1024x64xf32>, m = %tile[i] origin(%i) : memref<16xf32>)
//!     ..
//! } {mdh.level = "L2.i"}
//! ```

use mdh_dialect::ops;
use std::cell::Cell;

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::parts::{Bound, BufferPart, Dim};
use mdh_dialect::types;
use mdh_schedule::asm::facts::LINE;
use mdh_schedule::reach::{Need, Reach};

use super::extent::Extent;
use super::nest::{
    Clip, Home, LinePadding, Producer, ScheduledNest, Temporary, Tile, bound, lower,
};
use super::stage;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers::value;
use crate::support::builder::{Builder, known};
use crate::support::conditions::Conditions;

/// Computes the tile's needs of the producers that are computed in a loop's body.
pub fn produce<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
) -> Result<(), Errors> {
    // Where loops are left to the tiles, before these.
    let here = |p: &&Producer<'c>| (p.at + 1).min(nest.stop) == position;
    for producer in nest.producers.iter().filter(here) {
        emit(nest, builder, producer, tile)?;
    }
    for input in &mut tile.parts.inputs {
        read_from(input, &tile.fused);
    }
    Ok(())
}

fn emit<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    producer: &Producer<'c>,
    tile: &mut Tile<'c>,
) -> Result<(), Errors> {
    let mut tiled = producer.of.clone();
    let mut inner = Tile {
        cores: tile.cores.clone(),
        owners: tile.owners.clone(),
        fused: tile.fused.clone(),
        ..Tile::whole(&tiled)
    };
    for d in 0..tiled.parts.dims.len() {
        let most = match &producer.needs[d] {
            Need::Whole => Grid::new(&mut nest.outside.clone(), &tiled.parts.dims[d]).count,
            Need::Part(reach) => {
                let clip = producer.clips[d];
                let (dim, most) = part(nest, builder, tile, &tiled.parts.dims[d], reach, clip);
                inner.parts.dims[d] = dim;
                // Its loops are made for tiles of that size.
                tiled.parts.dims[d] = Dim::dense(&tiled.parts.dims[d].name, bound(most));
                most
            }
        };
        inner.most.push(most);
    }
    for input in &mut inner.parts.inputs {
        read_from(input, &tile.fused);
    }
    let temporaries = temporaries(nest, builder, producer, &inner);
    for output in &mut inner.parts.outputs {
        read_from(output, &temporaries);
    }
    // What stands for an outer tile's memory must not be looked for again.
    let whole_tile = nest.stop < nest.leaf;
    let nest_of_producer = ScheduledNest {
        of: &tiled,
        loops: &producer.loops,
        leaf: producer.leaf,
        stop: if whole_tile { 0 } else { producer.leaf },
        deferred: producer.deferred,
        outside: nest.outside,
        buffers: Cell::new(nest.buffers.take()),
        producers: &producer.producers,
        conditions: Conditions::new(tiled.op),
    };
    let result = nest_of_producer.emit_tile(builder, inner);
    nest.buffers.set(nest_of_producer.buffers.take());
    tile.fused.extend(temporaries);
    result
}

/// The points that a tile needs of a dimension, and how many at most: from before all loops.
fn part<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    whole: &Dim<'c>,
    reach: &Reach,
    clip: Clip,
) -> (Dim<'c>, Val<'c>) {
    let (mut first, mut last) = (builder.index(reach.low), builder.index(reach.high));
    // Known where the tile's own size is.
    let mut length = builder.index(reach.high - reach.low + 1);
    for (d, c) in reach.terms() {
        let grid = Grid::new(builder, &tile.parts.dims[d]);
        let stride = grid.stride(builder).unwrap_or(grid.step);
        let unit = builder.index(1);
        let steps = builder.binary(ops::arith::SUBI, grid.count, unit);
        let distance = builder.binary(ops::arith::MULI, steps, stride);
        let start = lower(builder, tile, d);
        let end = builder.binary(ops::arith::ADDI, start, distance);
        let (low, high) = if c > 0 { (start, end) } else { (end, start) };
        let (factor, size) = (builder.index(c), builder.index(c.abs()));
        let low = builder.binary(ops::arith::MULI, low, factor);
        let high = builder.binary(ops::arith::MULI, high, factor);
        first = builder.binary(ops::arith::ADDI, low, first);
        last = builder.binary(ops::arith::ADDI, high, last);
        let more = builder.binary(ops::arith::MULI, distance, size);
        length = builder.binary(ops::arith::ADDI, more, length);
    }
    let mut end = match (known(length), reach.follows()) {
        (Some(_), _) => builder.binary(ops::arith::ADDI, first, length),
        // As the tile itself ends.
        (None, Some(d)) if reach.coefficients[d] == 1 && is_dense(&tile.parts.dims[d]) => {
            let upper = value(builder, tile.parts.dims[d].upper);
            let high = builder.index(reach.high);
            builder.binary(ops::arith::ADDI, upper, high)
        }
        _ => {
            let unit = builder.index(1);
            builder.binary(ops::arith::ADDI, last, unit)
        }
    };
    if clip == Clip::AtEnds {
        let (from, to) = (value(builder, whole.lower), value(builder, whole.upper));
        first = builder.binary(ops::arith::MAXSI, first, from);
        end = builder.binary(ops::arith::MINSI, end, to);
    }
    let dim = Dim {
        lower: bound(first),
        upper: bound(end),
        step: Bound::Static(1),
        width: Bound::Static(1),
        name: whole.name.clone(),
    };
    (dim, most(nest, tile, whole, reach))
}

/// The most points that a tile needs of a dimension: from before all loops.
fn most<'c>(
    nest: &ScheduledNest<'c, '_>,
    tile: &Tile<'c>,
    own: &Dim<'c>,
    reach: &Reach,
) -> Val<'c> {
    let mut outside = nest.outside;
    let mut most = outside.index(reach.high - reach.low + 1);
    for (d, c) in reach.terms() {
        let unit = outside.index(1);
        let steps = outside.binary(ops::arith::SUBI, tile.most[d], unit);
        let scale = outside.index(c.abs());
        let steps = outside.binary(ops::arith::MULI, steps, scale);
        let grid = Grid::new(&mut outside, &nest.of.parts.dims[d]);
        let stride = grid.stride(&mut outside).unwrap_or(grid.step);
        let more = outside.binary(ops::arith::MULI, steps, stride);
        most = outside.binary(ops::arith::ADDI, more, most);
    }
    let count = Grid::new(&mut outside, own).count;
    outside.binary(ops::arith::MINSI, most, count)
}

fn is_dense(dim: &Dim) -> bool {
    dim.step.known().is_some() && dim.step == dim.width
}

/// Memory for a tile of each of a producer's results that nobody else needs.
fn temporaries<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    producer: &Producer<'c>,
    inner: &Tile<'c>,
) -> Vec<Temporary<'c>> {
    let mut temporaries: Vec<Temporary> = Vec::new();
    for (output, home) in inner.parts.outputs.iter().zip(&producer.homes) {
        if *home == Home::Whole || temporaries.iter().any(|t| t.of == output.value) {
            continue;
        }
        let extent = Extent::new(nest, builder, inner, output);
        let extent = extent.unwrap_or_else(|| panic!("tiles of '{}' are boxes", output.name));
        let mut outside = nest.outside;
        let element = stage::element(output);
        let line = (LINE / element.byte_width().max(1) as i64).max(1);
        let mut extents = extent.most;
        let padding = match extents.last_mut() {
            Some(last) => {
                let (size, more) = (outside.index(line), outside.index(line - 1));
                let padded = outside.binary(ops::arith::ADDI, *last, more);
                let lines = outside.binary(ops::arith::DIVSI, padded, size);
                *last = outside.binary(ops::arith::MULI, lines, size);
                LinePadding::LastAxis
            }
            None => {
                extents.push(outside.index(line));
                LinePadding::OwnAxis
            }
        };
        let element = types::mlir_type(outside.context, element);
        let memory = nest.allocate(inner, &extents, element, None);
        temporaries.push(Temporary {
            of: output.value,
            cores: memory.origins(builder),
            memory: memory.value,
            first: extent.first.into_iter().map(bound).collect(),
            padding,
        });
    }
    temporaries
}

/// Puts a tile's memory in the place of a buffer that it stands for.
fn read_from<'c>(buffer: &mut BufferPart<'c>, temporaries: &[Temporary<'c>]) {
    let Some(found) = temporaries.iter().find(|t| t.of == buffer.value) else {
        return;
    };
    buffer.value = found.memory;
    let more = usize::from(found.padding == LinePadding::OwnAxis);
    for access in &mut buffer.accesses {
        let cores = found.cores.iter().map(|_| Expr::Const(0));
        access.splice(0..0, cores);
        access.extend((0..more).map(|_| Expr::Const(0)));
    }
    let sizes = found.cores.iter().chain(&found.first).copied();
    let more = (0..more).map(|_| Bound::Static(0));
    buffer.origin = sizes.chain(more).collect();
}
