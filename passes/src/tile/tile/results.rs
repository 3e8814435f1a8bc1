//! Tiles of results in a memory region of their own, in a layout (R3, R4).
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%A: memref<64x256xf32>, %C: memref<64xf32>) {
//!   mdh.compute (i = 64, k = 256)
//!     out_view(C = %C[i] : memref<64xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(A = %A[i, k] : memref<64x256xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L2 {i: *}, L1 {k: *}, register {i: 8, k: 8}],
//!       decompose = {order: [L2.i, L1.k, register.i, register.k]},
//!       outputs = {C: {combine: {L1.k: L2}}}>)
//!   return
//! }
//! // becomes: from L1.k on, C is combined in L2, and copied out when the tile is finished
//! %tile = memref.alloc() {alignment = 64 : i64} : memref<8xf32, #mdh.memory<"L2">>
//! scf.for %i = %c0 to %c64 step %c8 {
//!   ..
//!   scf.for %k = %c0 to %c256 step %c8 {
//!     ..
//!     out_view(C = %tile[i] origin(%i) : memref<8xf32, #mdh.memory<"L2">>)
//!     ..
//!   } {mdh.level = "L1.k"}
//!   mdh.compute (i = %i to %last)
//!     out_view(to = %C[i] : memref<64xf32>)
//!     md_hom(id, (cc))
//!     inp_view(from = %tile[i] origin(%i) : memref<8xf32, #mdh.memory<"L2">>)
//! ```
//!
//! Where the tile adds to what is there already, that is copied in before.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::Errors;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::types;
use mdh_schedule::StagedLayout;
use mdh_schedule::legality::{BETWEEN_TILES, NOT_IN_STEP};

use super::code::{cc, combination};
use super::extent::Extent;
use super::layout::{MemoryAxis, bricks, is_blocked, own_axes};
use super::nest::{ScheduledNest, Tile};
use super::owner;
use super::scalar::TileMemory;
use super::slices::kept;
use super::stage::{self, TileBuffer};
use crate::support::builder::{Builder, known};

/// An output as it is outside of a tile, and in the tile's own memory.
pub struct Staged<'c> {
    outside: BufferPart<'c>,
    inside: BufferPart<'c>,
}

/// Returns the memory in which the output with a name is combined, from the loop at a position on;
/// partial results that are in memory of their own are where the first output is.
fn home<'a>(nest: &'a ScheduledNest, name: &str, position: usize) -> Option<TileMemory<'a>> {
    let outputs = &nest.of.resolved.outputs;
    let plan = outputs
        .iter()
        .find(|p| p.name == name)
        .or(outputs.first())?;
    let level = nest.loops[position].level;
    Some((
        plan.region[level.layer][level.dimension],
        &plan.layout[level.layer][level.dimension],
    ))
}

/// Returns whether it is partial results of cores that a block's memory is to hold before the loop at a
/// position: these are there anyway, and what they are combined to need not be.
fn is_of_parts(nest: &ScheduledNest, position: usize, (region, layout): TileMemory) -> bool {
    let (of, asm) = (nest.loops[position], &nest.of.resolved.asm);
    let is_combined = asm.has_kernels() && of.is_parallel && of.combine.is_pw();
    is_combined && asm.copies_cooperatively(region) && *layout == StagedLayout::row_major()
}

/// Returns the memory of the output once those who share the loops from a position on have their
/// own registers: what is in these is, outside of the loops over threads, where it was before.
fn settled<'a>(nest: &'a ScheduledNest, name: &str, position: usize) -> Option<TileMemory<'a>> {
    let registers = nest.of.resolved.asm.position("register");
    let is_open = |n: &usize| {
        let inner = &nest.loops[*n..];
        let is_register = home(nest, name, *n).map(|place| place.0) == registers;
        let has_kernels = nest.of.resolved.asm.has_kernels();
        has_kernels && is_register && inner.iter().any(|l| l.is_parallel)
    };
    let place = (0..=position).rev().find(|n| !is_open(n));
    place.and_then(|place| home(nest, name, place))
}

/// Gives outputs that change their place before the loop at a position memory of their own.
pub fn stage<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
) -> Result<Vec<Staged<'c>>, Errors> {
    let registers = nest.of.resolved.asm.position("register");
    let row_major = StagedLayout::row_major();
    give_places(nest, builder, position, tile, |name| {
        let here = settled(nest, name, position)?;
        let before = position.checked_sub(1);
        let before = before.and_then(|before| settled(nest, name, before));
        // Results of a leaf stay in registers; those of loops around it need memory for that.
        let is_leaf = Some(here.0) == registers && position >= nest.leaf;
        let is_other = here != before.unwrap_or((0, &row_major));
        (is_other && !is_leaf && !is_of_parts(nest, position, here)).then_some(here)
    })
}

/// Gives outputs memory in the places that are named for them.
pub fn give_places<'c, 'a>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
    named: impl Fn(&str) -> Option<TileMemory<'a>>,
) -> Result<Vec<Staged<'c>>, Errors> {
    let mut places = Vec::new();
    for n in 0..tile.parts.outputs.len() {
        let outside = tile.parts.outputs[n].clone();
        let Some(here) = named(&outside.name) else {
            continue;
        };
        let inside = place(nest, builder, position, tile, &outside, here)?;
        copy_in(nest, builder, tile, &outside, &inside);
        tile.parts.outputs[n] = inside.clone();
        places.push(Staged { outside, inside });
    }
    Ok(places)
}

/// Memory for a tile of an output.
fn place<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &Tile<'c>,
    output: &BufferPart<'c>,
    (region, layout): TileMemory,
) -> Result<BufferPart<'c>, Errors> {
    let refuse = |why: &str| {
        let name = nest.level_name(position);
        vec![format!(
            "has a schedule that combines '{}' in memory of its own from {name} on: {why}",
            output.name
        )]
    };
    if tile.deferred.is_some() {
        return Err(refuse(
            "expected that inside of the level whose parts are deferred",
        ));
    }
    // One tile of that level is finished at a time, wherever it lies in this memory.
    if nest.of.subject().is_between_tiles(nest.loops, position) {
        return Err(refuse(BETWEEN_TILES));
    }
    let extent = Extent::new(nest, builder, tile, output);
    let extent = extent.ok_or_else(|| refuse(NOT_IN_STEP))?;
    let rank = own_rank(nest, output);
    if rank.is_none() && *layout != StagedLayout::row_major() {
        return Err(refuse(
            "expected row_major, since they are partial results of parts that are computed at the \
             same time",
        ));
    }
    let rank = rank.unwrap_or(output.origin.len());
    let laid_out = laid_out(layout, output.origin.len(), rank, &extent);
    let (layout, axes) = laid_out.map_err(|why| refuse(&why))?;
    let tiles = TileBuffer {
        element: stage::element(output),
        extent: &extent,
        layout: &layout,
        axes: &axes,
        region,
        stages: None,
    };
    let memory = tiles.allocate(nest, tile).map_err(|why| refuse(&why))?;
    let cores = memory.origins(builder);
    let mut inside = BufferPart {
        value: memory.value,
        ..output.clone()
    };
    stage::place(&mut inside, output, &cores, &axes, &extent.first);
    Ok(inside)
}

/// Returns the layout of a tile's memory, and its axes. Code sees the axes of the tile, also of one in blocks, and
/// where they are in memory is the view's affair.
fn laid_out(
    layout: &StagedLayout,
    axes_of_tile: usize,
    rank: usize,
    extent: &Extent,
) -> Result<(StagedLayout, Vec<MemoryAxis>), String> {
    let axes = own_axes(layout, axes_of_tile, rank)?;
    if !is_blocked(&axes) {
        return Ok((layout.clone(), axes));
    }
    let tile: Vec<Option<i64>> = extent.most.iter().map(|n| known(*n)).collect();
    let bricks = bricks(&axes, &tile)?;
    let axes = own_axes(&bricks, axes_of_tile, rank)?;
    Ok((bricks, axes))
}

/// Returns the rank of the output that a buffer stands for: its axes are the buffer's last ones.
/// Partial results of parts have one for each dimension that they hold, which are the first
/// output's axes or not.
fn own_rank<'c>(nest: &ScheduledNest<'c, '_>, buffer: &BufferPart<'c>) -> Option<usize> {
    let outputs = &nest.of.parts.outputs;
    if let Some(own) = outputs.iter().find(|own| own.name == buffer.name) {
        return Some(own.origin.len());
    }
    let first = outputs.first()?;
    let is_own = |access: &Vec<Expr>| access.ends_with(&first.accesses[0]);
    (buffer.accesses.iter().all(is_own)).then_some(first.origin.len())
}

/// Rule: what a tile adds to is where it is from here on.
fn copy_in<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &mut Tile<'c>,
    outside: &BufferPart<'c>,
    inside: &BufferPart<'c>,
) {
    let mut carries = std::mem::take(&mut tile.parts.carries);
    for carry in &mut carries {
        let is_outside = |b: &&mut BufferPart<'c>| b.value == outside.value;
        let moved: Vec<_> = carry.incoming.iter_mut().filter(is_outside).collect();
        if moved.is_empty() {
            continue;
        }
        for buffer in moved {
            let access = outside
                .accesses
                .iter()
                .position(|a| *a == buffer.accesses[0]);
            buffer.value = inside.value;
            buffer.origin = inside.origin.clone();
            buffer.accesses = vec![inside.accesses[access.unwrap_or(0)].clone()];
        }
        match carry.valid {
            None => copy(nest, builder, tile, outside, inside),
            Some(valid) => {
                builder.if_then(valid, |builder| copy(nest, builder, tile, outside, inside));
            }
        }
    }
    tile.parts.carries = carries;
}

/// Copies finished tiles to their destinations: first those that were placed last.
pub fn join<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    staged: Vec<Staged<'c>>,
) {
    for Staged { outside, inside } in staged.iter().rev() {
        copy(nest, builder, tile, inside, outside);
    }
}

/// Copies the points of a tile from one place of an output to another one.
fn copy<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    from: &BufferPart<'c>,
    to: &BufferPart<'c>,
) {
    let kept_dims = kept(tile, None);
    let mut dims: Vec<_> = kept_dims
        .iter()
        .map(|d| tile.parts.dims[*d].clone())
        .collect();
    if dims.is_empty() {
        dims.push(Dim::dense("all", Bound::Static(1)));
    }
    let at = |d: usize| {
        let at = kept_dims.iter().position(|kept| *kept == d);
        at.map_or(Expr::Const(0), Expr::Dim)
    };
    let replacements: Vec<_> = (0..tile.parts.dims.len()).map(at).collect();
    let moved = |buffer: &BufferPart<'c>, name: &str| {
        let mut buffer = buffer.clone();
        crate::support::draft::substitute_accesses(&mut buffer, &replacements);
        buffer.name = name.into();
        buffer
    };
    let (mut from, mut to) = (moved(from, "from"), moved(to, "to"));
    from.components = vec![];
    to.components = (0..to.accesses.len()).collect();
    let element = stage::element(&to);
    let types = vec![types::mlir_type(builder.context, element); to.accesses.len()];
    let mut parts = Parts {
        combine: dims.iter().map(|_| cc(builder)).collect(),
        dims,
        inputs: vec![from],
        outputs: vec![to],
        ..Parts::default()
    };
    let scales = super::merge::neighbours(builder, &mut parts);
    let op = combination(builder, nest.of.op, &parts, &types);
    owner::schedule_copy(nest, tile, op, &parts, &scales, element);
}
