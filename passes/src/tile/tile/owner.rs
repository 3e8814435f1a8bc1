//! Memory of a machine's cores: who has it, and who fills it.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<1024x64xf32>, %y: memref<1024xf32>) {
//!   mdh.compute (i = 1024, k = 64)
//!     out_view(y = %y[i] : memref<1024xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(x = %x[i, k] : memref<1024x64xf32>)
//!     schedule(#mdh.schedule<asm = cuda,
//!       layers = [device {k: *}, block {i: *}, shared {k: 16}, thread {i: 16}],
//!       decompose = {order: [block.i, thread.i, device.k, shared.k]},
//!       inputs = {x: {stage: {shared.k: shared}}}, outputs = {y: {combine: {device.k: register}}}>)
//!   return
//! }
//! // becomes
//! scf.forall (%b) in (64) {
//!   ..
//!   %tile = memref.alloca() {alignment = 16 : i64} : memref<16x16xf32, #mdh.memory<"shared", block>>
//!   scf.forall (%t) in (16) {
//!     ..
//!     %sum = memref.alloca() {alignment = 16 : i64} : memref<1xf32, #mdh.memory<"register", thread>>
//!     scf.for %k = %c0 to %c64 step %c16 {
//!       .. // By all threads of the block, for all of them: not only what thread %t reads of it.
//!       out_view(to = %tile[c0, c1] : ..) .. threads(cooperative)
//!       ..
//!     } {mdh.level = "device.k"}
//!     ..
//!   } {mapping = [#gpu.thread<x>], mdh.level = "thread.i"}
//! } {mapping = [#gpu.block<x>], mdh.level = "block.i"}
//! ```
//!
//! Memory is its owner's: it is taken where the owner's code starts, and has no axis for the owner
//! or for those around it. Without a region, it is the innermost core's that has room for it.
//! What nobody has room for, or has sizes that are known at run time only, is taken before all
//! loops, with an axis for each of the cores.
//!
//! A machine of one kind of core, as a CPU is, has no owners: all memory is allocated before all loops.

use mdh_algebra::mapping::axis_name;
use std::collections::BTreeMap;
use std::ops::Range;

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::parts::{Dim, Parts};
use mdh_dialect::space::Space;
use mdh_dialect::{schedule, types, write};
use mdh_schedule::asm::Asm;
use mdh_schedule::{Layer, LevelName, Parts as Count, Phase, Schedule};
use melior::ir::{Type, ValueLike};

use super::merge::Scales;
use super::nest::{Core, Memory, Owner, ScheduledNest, Tile};
use super::residual;
use crate::gpu::copy_asynchronously;
use crate::support::buffers;
use crate::support::builder::{Builder, known};
use crate::support::kernels;
use crate::support::kernels::BLOCK;
use crate::support::kernels::THREAD;
use crate::support::kernels::WARP;
use crate::support::parallel;
use crate::support::region;
use crate::support::scheduled::Loop;

impl Owner<'_> {
    /// Returns whether it is a block of threads.
    pub fn is_block(&self, nest: &ScheduledNest) -> bool {
        nest.of.resolved.asm.layers[self.layer].name() == BLOCK
    }
}

/// Fraction of a memory (its reciprocal) for data that the schedule names no region for.
const SHARE: u64 = 4;
/// Elements of a tile that one thread copies without a loop.
const UNROLLED: i64 = 256;
/// Bytes that one access of a thread moves.
const ACCESS: usize = 16;

/// A part of a core starts: it has memory of its own once it is inside of all loops of its layer, and
/// of those that have no memory of their own, as warps have none: a thread is one of a warp,
/// whichever of their loops is further in. Returns what marks the place, to be erased.
pub fn enter<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    inner: &mut Tile<'c>,
) -> Option<Op<'c>> {
    if !nest.of.resolved.asm.has_kernels() {
        return None;
    }
    let cooperating = cooperating_layers(&nest.of.resolved.asm, nest.core_layer(of));
    let is_own = |l: &&Loop| l.is_parallel && cooperating.contains(&nest.core_layer(**l));
    let loops = nest.loops.iter().filter(is_own).count();
    let is_open = |core: &&Core| cooperating.contains(&core.layer);
    if inner.cores.iter().filter(is_open).count() < loops {
        return None;
    }
    let layer = cooperating.end - 1;
    let mark = builder.marker();
    inner.owners.push(Owner {
        layer,
        start: Builder::before(mark),
        cores: inner.cores.len(),
        is_even: true,
    });
    Some(mark)
}

/// The core that does a nest of loops: none if these stand outside of all cores. What is cooperative, the
/// block does.
pub fn around<'c>(nest: &ScheduledNest<'c, '_>, start: Builder<'c>) -> Option<Owner<'c>> {
    let (asm, op) = (&nest.of.resolved.asm, nest.of.op);
    let core = ir::ancestors(op).find_map(parallel::Core::read)?;
    let is_block = core.layer == BLOCK || kernels::is_cooperative(op);
    let layer = asm.position(if is_block { BLOCK } else { THREAD })?;
    Some(Owner {
        layer,
        start,
        cores: 0,
        is_even: true,
    })
}

/// Returns whether a nest gives parts to threads, but its schedule has one block of these: a level of one part
/// has no loop.
pub fn needs_block(nest: &ScheduledNest) -> bool {
    let is_parallel = |of: &Loop| of.is_parallel;
    let is_block = |of: &Loop| of.is_parallel && nest.of.layer(of.level) == BLOCK;
    nest.of.resolved.asm.has_kernels()
        && !kernels::is_in_core(nest.of.op)
        && nest.loops.iter().any(is_parallel)
        && !nest.loops.iter().any(is_block)
}

/// All of a nest, as what one block does.
pub fn in_one_block<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    mut tile: Tile<'c>,
) -> Result<(), Errors> {
    let layer = nest.of.resolved.asm.position(BLOCK).unwrap_or(0);
    let mut result = Ok(());
    let bounds = [0, 1, 1].map(|n| builder.index(n));
    builder.forall(
        bounds,
        &parallel::Core::new(BLOCK, 0),
        BLOCK,
        |builder, _| {
            let mark = builder.marker();
            tile.owners.push(Owner {
                layer,
                start: Builder::before(mark),
                cores: 0,
                is_even: true,
            });
            result = nest.descend(builder, 0, tile);
            region::erase(mark);
        },
    );
    result
}

/// The layers of cores, next to each other, that have the same memory around them.
fn cooperating_layers(asm: &Asm, layer: usize) -> Range<usize> {
    let is_core = |n: &usize| asm.layers[*n].core().is_some();
    let first = (0..=layer).rev().take_while(is_core).last();
    let last = (layer..asm.layers.len()).take_while(is_core).last();
    first.unwrap_or(layer)..last.unwrap_or(layer) + 1
}

/// A loop over a dimension starts: those who share that dimension have other iterations.
pub fn step(inner: &mut Tile, d: usize) {
    for owner in &mut inner.owners {
        if inner.cores[owner.cores..].iter().any(|core| core.dim == d) {
            owner.is_even = false;
        }
    }
}

/// The owner of memory in a region.
fn of_region<'t, 'c>(
    nest: &ScheduledNest,
    tile: &'t Tile<'c>,
    region: usize,
) -> Option<&'t Owner<'c>> {
    let asm = &nest.of.resolved.asm;
    let owners = asm.owners(asm.layers[region].name());
    let is_one = |owner: &&Owner| owners.contains(&asm.layers[owner.layer].name());
    tile.owners.iter().rev().find(is_one)
}

/// The region that a core has alone.
fn own_region<'a>(asm: &'a Asm, owner: &Owner) -> Option<&'a str> {
    let name = asm.layers[owner.layer].name();
    let is_own = |memory: &&str| asm.owners(memory).last() == Some(&name);
    asm.memory_names().into_iter().find(is_own)
}

/// Memory of these extents, taken by its owner if there is one.
pub fn allocate<'c>(
    nest: &ScheduledNest<'c, '_>,
    tile: &Tile<'c>,
    extents: &[Val<'c>],
    element: Type<'c>,
    region: Option<usize>,
) -> Option<Memory<'c>> {
    let asm = &nest.of.resolved.asm;
    let counts = |owner: &Owner| -> Option<Vec<i64>> {
        let cores = tile.cores[owner.cores..].iter().map(|core| core.count);
        let extents_of_layers = cores.chain(extents.iter().copied());
        extents_of_layers.map(known).collect()
    };
    let width = types::scalar_type(element).map_or(1, ScalarType::byte_width) as u64;
    let has_room = |owner: &&Owner| {
        let memory = own_region(asm, owner);
        let capacity = memory.and_then(|memory| asm.memory(memory)?.capacity);
        let bytes = counts(owner).map(|all| {
            let elements = all.into_iter().map(i64::unsigned_abs);
            elements.fold(width, u64::saturating_mul)
        });
        bytes
            .zip(capacity)
            .is_some_and(|(bytes, all)| bytes <= all / SHARE)
    };
    let owner = match region {
        Some(region) => of_region(nest, tile, region)?,
        None => tile.owners.iter().rev().find(has_room)?,
    };
    let extents = counts(owner)?;
    let region = match region {
        Some(region) => asm.layers[region].name(),
        None => own_region(asm, owner)?,
    };
    let space = Space {
        region,
        owner: Some(asm.layers[owner.layer].name()),
    };
    let mut memory = take(owner, space, &extents, element);
    memory.cores = tile.cores[owner.cores..].to_vec();
    memory.private = tile.cores.len();
    Some(memory)
}

/// Memory that each thread of a block has for itself, although it is taken where the block's code
/// starts: without an axis for threads. `None` if the extents are not known, or there is no block.
pub fn in_registers<'c>(
    nest: &ScheduledNest<'c, '_>,
    tile: &Tile<'c>,
    extents: &[Val<'c>],
    element: Type<'c>,
) -> Option<Memory<'c>> {
    let block = tile.owners.iter().find(|owner| owner.is_block(nest))?;
    let extents: Vec<i64> = (extents.iter().map(|e| known(*e))).collect::<Option<_>>()?;
    let space = Space {
        region: "register",
        owner: Some(THREAD),
    };
    Some(take(block, space, &extents, element))
}

/// Allocates memory where an owner's code starts.
fn take<'c>(at: &Owner<'c>, space: Space, extents: &[i64], element: Type<'c>) -> Memory<'c> {
    let mut place = at.start;
    let value = buffers::local(&mut place, extents, element, space);
    Memory {
        value,
        cores: Vec::new(),
        private: at.cores,
        place,
    }
}

/// The tile that those have together who share a region: without what each of them has alone.
/// `None` if a core has the region alone.
pub fn shared<'c>(
    nest: &ScheduledNest<'c, '_>,
    tile: &Tile<'c>,
    region: usize,
) -> Option<Tile<'c>> {
    let owner = of_region(nest, tile, region)?;
    if !nest.of.resolved.asm.copies_cooperatively(region) {
        return None;
    }
    let inside: &[Core] = &tile.cores[owner.cores..];
    if inside.is_empty() || !owner.is_even {
        return None;
    }
    let mut whole_tile = tile.clone();
    for core in inside.iter().rev() {
        let d = core.dim;
        (
            whole_tile.parts.dims[d],
            whole_tile.most[d],
            whole_tile.spans[d],
        ) = core.whole.clone();
    }
    whole_tile.cores.truncate(owner.cores);
    whole_tile.owners.retain(|other| other.cores <= owner.cores);
    Some(whole_tile)
}

/// Gives a copy, whose dimensions have been merged, a schedule: among those who make it.
pub fn schedule_copy<'c>(
    nest: &ScheduledNest<'c, '_>,
    tile: &Tile<'c>,
    copy: Op<'c>,
    parts: &Parts<'c>,
    scales: &Scales,
    element: ScalarType,
) {
    let tiled = nest.of;
    if !tiled.resolved.asm.has_kernels() {
        return residual::schedule_copy(tiled, copy, parts, element);
    }
    let mut lanes = (ACCESS / element.byte_width().max(1)).max(1) as i64;
    if copy_asynchronously::is_marked(copy) {
        lanes = in_rows(parts, lanes);
    }
    share(nest, tile, copy, parts, scales, lanes);
}

/// Returns the number of elements, of so many, that lie together at multiples of their number in
/// all rows: others cannot be copied asynchronously at once.
fn in_rows(parts: &Parts, most: i64) -> i64 {
    let buffers = parts.inputs.iter().chain(&parts.outputs);
    let rows = buffers.filter_map(|buffer| {
        let shape = types::buffer_type(buffer.value.r#type())?.shape;
        (shape.len() > 1).then(|| shape.last().copied().flatten().unwrap_or(1))
    });
    let rows: Vec<i64> = rows.collect();
    let halves = std::iter::successors(Some(most), |lanes| (*lanes > 1).then_some(lanes / 2));
    let mut fits = halves.filter(|lanes| rows.iter().all(|row| row % lanes == 0));
    fits.next().unwrap_or(1)
}

/// Gives a computation, which nobody has given a schedule, one on a machine that runs kernels:
/// its points are shared out to blocks and threads, to the threads of a block, or are one
/// thread's. Each access takes so many elements.
pub fn share_out<'c>(
    nest: &ScheduledNest<'c, '_>,
    tile: &Tile<'c>,
    op: Op<'c>,
    parts: &Parts<'c>,
    lanes: i64,
) {
    if nest.of.resolved.asm.has_kernels() {
        share(nest, tile, op, parts, &Scales::new(), lanes);
    }
}

fn share<'c>(
    nest: &ScheduledNest<'c, '_>,
    tile: &Tile<'c>,
    op: Op<'c>,
    parts: &Parts<'c>,
    scales: &Scales,
    lanes: i64,
) {
    let asm = &nest.of.resolved.asm;
    let owner = tile.owners.last().filter(|o| o.cores == tile.cores.len());
    let points = Points::new(tile, parts, scales);
    let layers = match owner.map(|owner| asm.layers[owner.layer].name()) {
        Some(THREAD) => unrolled(&points),
        // Loops over tiles have been made there.
        Some(BLOCK) if kernels::is_in_core(nest.of.op) => None,
        Some(BLOCK) => {
            write::share(op, |threads| threads.cooperative = true);
            of_threads(nest, &points, lanes, threads(nest))
        }
        None if tile.cores.is_empty() => of_blocks(nest, &points),
        // Of a kernel whose blocks are those around it, and whose threads do all that stands there.
        None if is_between_blocks(nest, tile) => {
            write::share(op, |threads| threads.cooperative = true);
            of_threads(nest, &points, lanes, Some(BETWEEN_BLOCKS))
        }
        _ => None,
    };
    let Some(layers) = layers else {
        return;
    };
    let names = layers.iter().flat_map(|layer| {
        let has_dim = |dim: &&Dim| layer.parts.contains_key(&dim.name);
        let dims = parts.dims.iter().filter(has_dim);
        dims.map(|dim| LevelName::new(&layer.name, &dim.name))
    });
    let order = Some(names.collect());
    // Neighbours in memory are neighbours, and the most parts are where a machine has room.
    let free = points.free.iter().rev().map(|free| free.name);
    let dims: Vec<&str> = free.chain(points.combined.iter().copied()).collect();
    let cores = layers
        .iter()
        .filter(|layer| [BLOCK, THREAD].contains(&layer.name.as_str()));
    let assign = cores.flat_map(|layer| {
        let numbered = dims.iter().enumerate();
        numbered.map(|(axis, name)| {
            let to = LevelName::new(&layer.name, &axis_name(axis));
            (LevelName::new(&layer.name, name), to)
        })
    });
    let assign: BTreeMap<_, _> = assign.collect();
    let schedule = Schedule {
        asm: Some(asm.name.clone()),
        decompose: Phase { order, assign },
        layers,
        ..Schedule::default()
    };
    schedule::set(op, Some(&schedule));
}

fn layer(name: &str, parts: BTreeMap<String, Count>) -> Layer {
    let name = name.into();
    Layer { name, parts }
}

/// The dimensions of a computation, outermost first.
struct Points<'p> {
    /// Those whose points do not combine.
    free: Vec<Free<'p>>,
    /// The others.
    combined: Vec<&'p str>,
}

/// A dimension whose points do not combine.
struct Free<'p> {
    name: &'p str,
    /// The most points, as far as that is known.
    count: Option<i64>,
    /// The points that come without a gap between them: 1 where all are at equal distances.
    width: Option<i64>,
}

impl<'p> Free<'p> {
    fn new(dim: &'p Dim, count: Option<i64>) -> Free<'p> {
        let (step, width) = (dim.step.known(), dim.width.known());
        let is_even = step.is_some() && step == width;
        Free {
            name: &dim.name,
            count,
            width: if is_even { Some(1) } else { width },
        }
    }

    /// At most so many points, whose tiles are whole groups of points without gaps, or parts of one.
    fn tile(&self, points: i64) -> i64 {
        match self.width.filter(|width| *width > 0) {
            Some(width) if points >= width => points - points % width,
            Some(width) => (1..=points).rev().find(|n| width % n == 0).unwrap_or(1),
            None => 1,
        }
    }
}

impl<'p> Points<'p> {
    fn new(tile: &Tile, parts: &'p Parts, scales: &Scales) -> Points<'p> {
        let most = |dim: &Dim| {
            let ends = dim.upper.known().zip(dim.lower.known());
            let of_tile = || tile.parts.dims.iter().position(|own| own.name == dim.name);
            let count = ends.map(|(upper, lower)| upper - lower);
            let scale = scales.get(&dim.name).copied().unwrap_or(1);
            count.or_else(|| known(tile.most[of_tile()?])?.checked_mul(scale))
        };
        let (mut free, mut combined) = (Vec::new(), Vec::new());
        for (dim, combine) in parts.dims.iter().zip(&parts.combine) {
            match ir::is_cc(*combine) {
                true => free.push(Free::new(dim, most(dim))),
                false => combined.push(dim.name.as_str()),
            }
        }
        Points { free, combined }
    }

    /// The layer in which a thread goes through what combines, and through so many points of the
    /// last dimension.
    fn inside(&self, lanes: i64) -> Option<Layer> {
        let combined = self.combined.iter();
        let mut counts: BTreeMap<String, Count> = combined
            .map(|name| (name.to_string(), Count::Derived))
            .collect();
        if let Some(last) = self.free.last().filter(|_| lanes > 1) {
            counts.insert(last.name.to_string(), Count::Fixed(lanes));
        }
        (!counts.is_empty()).then(|| layer("register", counts))
    }
}

/// Few points of known number: all of them without a loop.
fn unrolled(points: &Points) -> Option<Vec<Layer>> {
    let whole = |free: &Free| {
        let width = free.width.filter(|width| *width > 0)?;
        let count = free.count.filter(|n| *n > 0)?;
        Some((count + width - 1) / width * width)
    };
    let counts: Vec<i64> = points.free.iter().map(whole).collect::<Option<_>>()?;
    if counts.iter().product::<i64>() > UNROLLED || !points.combined.is_empty() {
        return None;
    }
    let pairs = points.free.iter().zip(counts);
    let pairs = pairs.map(|(free, count)| (free.name.to_string(), Count::Fixed(count)));
    Some(vec![layer("register", pairs.collect())])
}

/// Neighbouring threads have neighbouring accesses of the last dimension; those who are left over
/// have the dimensions before it.
fn of_threads(
    nest: &ScheduledNest,
    points: &Points,
    lanes: i64,
    threads: Option<i64>,
) -> Option<Vec<Layer>> {
    let last = points.free.last()?;
    let lanes = last.tile(last.count.map_or(lanes, |count| lanes.min(count.max(1))));
    let mut left = threads?;
    let mut room = rooms(nest);
    let mut shares = BTreeMap::new();
    for (n, free) in points.free.iter().rev().enumerate() {
        let extent = if n == 0 { lanes } else { 1 };
        let accesses = free
            .count
            .map_or(left, |count| (count + extent - 1) / extent);
        // Those behind the machine's last dimension are in that one, together.
        let axis = n.min(room.len().saturating_sub(1));
        let most = room.get(axis).map_or(left, |room| left.min(*room));
        let share = accesses.clamp(1, most.max(1));
        let tile = free.tile(share * extent);
        let share = if tile % extent == 0 { tile / extent } else { 1 };
        left /= share;
        room.iter_mut()
            .skip(axis)
            .take(1)
            .for_each(|room| *room /= share);
        shares.insert(free.name.to_string(), Count::Fixed(share));
    }
    let counts_of_free = points.free.iter();
    let counts_of_free = counts_of_free.map(|free| (free.name.to_string(), Count::Derived));
    let outside = [
        layer("device", counts_of_free.collect()),
        layer(THREAD, shares),
    ];
    Some(outside.into_iter().chain(points.inside(lanes)).collect())
}

/// The most threads that a block has in each of the machine's dimensions; none where there are no limits.
fn rooms(nest: &ScheduledNest) -> Vec<i64> {
    let core = nest
        .of
        .resolved
        .asm
        .layer(THREAD)
        .and_then(|layer| layer.core());
    let extents = core.map_or(&[][..], |core| &core.extents);
    let number = |extent: &u64| i64::try_from(*extent).unwrap_or(i64::MAX);
    extents.iter().map(number).collect()
}

/// Returns the number of threads of a nest's block.
fn threads(nest: &ScheduledNest) -> Option<i64> {
    let asm = &nest.of.resolved.asm;
    let is_own = |l: &&Loop| {
        l.is_parallel && [WARP, THREAD].contains(&asm.layers[nest.core_layer(**l)].name())
    };
    let loops = nest.loops.iter().filter(is_own);
    loops.map(|of| of.count.known()).product()
}

/// Threads of a block for what stands between loops over blocks: partial results that are combined.
const BETWEEN_BLOCKS: i64 = 256;

/// Returns whether a tile stands between loops over blocks: some are around it, and nothing else is.
fn is_between_blocks(nest: &ScheduledNest, tile: &Tile) -> bool {
    let is_block = |core: &Core| nest.of.resolved.asm.layers[core.layer].name() == BLOCK;
    tile.cores.iter().all(is_block)
}

/// As many threads of a block as a program that has fewer of its own gets.
const THREADS: i64 = 128;

/// Blocks of threads along the last dimension, and blocks along the others.
fn of_blocks(nest: &ScheduledNest, points: &Points) -> Option<Vec<Layer>> {
    let last = points.free.last()?;
    let share = last.tile(threads(nest).unwrap_or(1).max(THREADS));
    let counts_of_free = points.free.iter();
    let counts_of_free = counts_of_free.map(|free| (free.name.to_string(), Count::Derived));
    let shares = BTreeMap::from([(last.name.to_string(), Count::Fixed(share))]);
    let outside = [
        layer(BLOCK, counts_of_free.collect()),
        layer(THREAD, shares),
    ];
    Some(outside.into_iter().chain(points.inside(1)).collect())
}
