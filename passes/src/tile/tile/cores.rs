//! Loops over the parts of cores.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @cpu(%x: memref<1021xf32>, %y: memref<1021xf32>) {
//!   mdh.compute (i = 1021)
//!     out_view(y = %y[i] : memref<1021xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<1021xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, L1 {i: *}]>)
//!   return
//! }
//! func.func @gpu(%x: memref<1000xf32>, %y: memref<1000xf32>) {
//!   mdh.compute (i = 1000)
//!     out_view(y = %y[i] : memref<1000xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : memref<1000xf32>)
//!     schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 128}]>)
//!   return
//! }
//! // becomes
//! scf.forall (%i) = (0) to (1021) step (511) {
//!   ..
//! } {mapping = [#mdh.core<"core", 0>], mdh.level = "core.i"}
//! .. // and of a machine that runs kernels
//! scf.forall (%block) in (8) {
//!   %from = arith.muli %block, %c128 : index // where the block's part starts
//!   ..
//!   scf.forall (%thread) in (128) {
//!     %at = arith.addi %from, %thread : index
//!     %is_there = arith.cmpi slt, %at, %end : index
//!     scf.if %is_there {
//!       ..
//!     }
//!   } {mapping = [#gpu.thread<x>], mdh.level = "thread.i"}
//! } {mapping = [#gpu.block<x>], mdh.level = "block.i"}
//! ```

use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::nest::{ScheduledNest, Tile, ceil_div};
use super::steps::{Part, Steps};
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::builder::{Builder, known};
use crate::support::kernels;
use crate::support::kernels::BLOCK;
use crate::support::scheduled::Loop;

/// A loop over the parts of a level, which starts where these steps say.
pub fn each<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    tile: &Tile<'c>,
    (grid, steps, size): (&Grid<'c>, &Steps<'c>, Val<'c>),
    body: impl FnOnce(&mut Builder<'c>, Part<'c>),
) {
    let (core, name) = (kernels::core(nest.of, of), nest.name(of));
    let bounds = steps.bounds(builder, grid, size);
    if !nest.of.resolved.asm.has_kernels() {
        builder.forall(bounds, &core, &name, |builder, at| {
            let part = steps.at(builder, grid, size, at);
            body(builder, part);
        });
        return;
    }
    let extent = extent(nest, builder, of, tile, bounds);
    let bounds = [builder.index(0), extent.parts, builder.index(1)];
    let op = builder.forall(bounds, &core, &name, |builder, number| {
        let (part, is_there) = steps.part(builder, grid, size, number);
        match extent.is_exact {
            true => body(builder, part),
            false => builder.if_then(is_there, |builder| body(builder, part)),
        }
    });
    kernels::keep_cooperative(nest.of.op, op);
}

/// Number of blocks, warps or threads that a loop is for.
struct Extent<'c> {
    /// The number.
    parts: Val<'c>,
    /// True if each of them has a part.
    is_exact: bool,
}

/// Returns the number of blocks with a part, from before all loops, where it depends on other
/// blocks: blocks start together. There are as many threads as the schedule says, whatever the tile
/// has room for.
fn extent<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    tile: &Tile<'c>,
    [lower, upper, step]: [Val<'c>; 3],
) -> Extent<'c> {
    let d = of.level.dimension;
    let is_block = nest.of.layer(of.level) == BLOCK;
    let exact = |parts| Extent {
        parts,
        is_exact: true,
    };
    let (whole, own) = (&nest.of.parts.dims[d], &tile.parts.dims[d]);
    if is_block && (whole.lower, whole.upper) == (own.lower, own.upper) {
        return exact(nest.count(of, tile));
    }
    let distance = builder.binary(ops::arith::SUBI, upper, lower);
    if is_block && tile.cores.is_empty() {
        let zero = builder.index(0);
        let distance = builder.binary(ops::arith::MAXSI, distance, zero);
        return exact(ceil_div(builder, distance, step));
    }
    let parts = match is_block {
        true => nest.count(of, tile),
        false => nest.parts(of),
    };
    let numbers = [parts, step, distance].map(known);
    let is_exact = matches!(numbers, [Some(parts), Some(step), Some(distance)]
        if (parts - 1) * step < distance);
    Extent { parts, is_exact }
}
