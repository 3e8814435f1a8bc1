//! Tiles of inputs copied into a memory region, in a layout (D3, D4).

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Errors;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::types;
use mdh_schedule::StagedLayout;
use mdh_schedule::legality::{BETWEEN_TILES, NOT_IN_STEP};
use melior::ir::ValueLike;

use super::blocks::{choose_block, group_starts};
use super::code::{cc, component_types, identity, stored};
use super::extent::Extent;
use super::layout::{Counts, MemoryAxis, elements, extent as layout_extent, own_axes, view};
use super::nest::{Arrived, Memory, ScheduledNest, Stored, Tile, bound};
use super::owner;
use super::promote::{self, Promotion};
use super::scalar::TileMemory;
use crate::gpu::copy_asynchronously;
use crate::support::buffers::value;
use crate::support::builder::{Builder, known};

/// Returns the memory of an input's tiles in the loop at a position.
fn home<'a>(nest: &'a ScheduledNest, input: usize, position: usize) -> TileMemory<'a> {
    let plan = &nest.of.resolved.inputs[input];
    let level = nest.loops[position].level;
    (
        plan.region[level.layer][level.dimension],
        &plan.layout[level.layer][level.dimension],
    )
}

/// Copies the inputs that change their memory before the loop at a position.
pub fn inputs<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
) -> Result<(), Errors> {
    let mut is_asked = false;
    for n in 0..tile.parts.inputs.len() {
        let Some(here) = moves_to(nest, n, position) else {
            continue;
        };
        if let Some(arrived) = tile.arrived.iter().position(|own| own.input == n) {
            let arrived = tile.arrived.swap_remove(arrived);
            Staging::new(nest, builder, position, tile, n, here)?.arrived(tile, arrived);
            continue;
        }
        let is_asynchronous = nest.of.resolved.stages(n, position).is_some();
        is_asked |= is_asynchronous;
        let staging = Staging::new(nest, builder, position, tile, n, here)?;
        staging.copy(nest, builder, tile, is_asynchronous)?;
    }
    if is_asked {
        copy_asynchronously::commit(builder);
        copy_asynchronously::wait(builder, 0);
    }
    Ok(())
}

/// Returns the memory to which an input's tiles are copied before the loop at a position, if they
/// are.
pub fn moves_to<'a>(
    nest: &'a ScheduledNest,
    input: usize,
    position: usize,
) -> Option<TileMemory<'a>> {
    let here = home(nest, input, position);
    let is_new = match position.checked_sub(1) {
        Some(before) => here != home(nest, input, before),
        None => here != (0, &StagedLayout::row_major()),
    };
    // What is in registers is loaded by the code of the leaf.
    let registers = nest.of.resolved.asm.position("register");
    (is_new && Some(here.0) != registers).then_some(here)
}

/// Returns whether inputs are copied before one of the loops from a position on.
pub fn copies_from(nest: &ScheduledNest, position: usize) -> bool {
    let inputs = 0..nest.of.resolved.inputs.len();
    let mut pairs = inputs.flat_map(|n| (position..nest.loops.len()).map(move |at| (n, at)));
    pairs.any(|(n, at)| moves_to(nest, n, at).is_some())
}

/// Copies the tile of an input to a place.
pub fn copy<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
    n: usize,
    here: TileMemory,
) -> Result<(), Errors> {
    Staging::new(nest, builder, position, tile, n, here)?.copy(nest, builder, tile, false)
}

/// The tile of an input, and the place to which it is copied.
struct Staging<'c, 'a> {
    n: usize,
    input: BufferPart<'c>,
    here: TileMemory<'a>,
    axes: Vec<MemoryAxis>,
    /// The index from which the groups of each axis are counted, if there are blocks.
    from: Option<Vec<i64>>,
    extent: Extent<'c>,
    widening: Option<Promotion>,
    /// The tile of all who copy it, cooperatively.
    of: Tile<'c>,
    /// The stager and its loop, for refusals.
    what: String,
}

impl<'c, 'a> Staging<'c, 'a> {
    fn new(
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        position: usize,
        tile: &mut Tile<'c>,
        n: usize,
        here: TileMemory<'a>,
    ) -> Result<Self, Errors> {
        let (region, layout) = here;
        // What cores have together is copied by all of them, for all of them.
        let shared = owner::shared(nest, tile, region);
        let together = shared.as_ref().map(|shared| shared.cores.len());
        let mut scope = shared.unwrap_or_else(|| tile.clone());
        // What lies in blocks is read within one of them from here on, by all who copy it.
        choose_block(nest, builder, position, &mut scope, n)?;
        let input = scope.parts.inputs[n].clone();
        (tile.parts.inputs[n], tile.stored[n]) = (input.clone(), None);
        let level = nest.level_name(position);
        let what = format!("has a schedule that stages '{}' at {level}", input.name);
        let refuse = |why: &str| vec![format!("{what}: {why}")];
        // All tiles inside would write the same memory at once.
        let is_between = nest.of.subject().is_between_tiles(nest.loops, position);
        if is_between && nest.loops[position].is_parallel {
            return Err(refuse(BETWEEN_TILES));
        }
        if together.is_some_and(|together| tile.private[n] > together) {
            return Err(refuse(&format!(
                "its tiles are in memory that cores have each of their own, but they copy to '{}' \
                 cooperatively: expected tiles that are there for all of them",
                nest.of.resolved.asm.layers[region].name()
            )));
        }
        let extent = Extent::new(nest, builder, &scope, &input);
        let extent = extent.ok_or_else(|| refuse(NOT_IN_STEP))?;
        let rank = nest.of.parts.inputs[n].origin.len();
        let axes = own_axes(layout, input.origin.len(), rank).map_err(|why| refuse(&why))?;
        let from = group_starts_of(nest, position, &axes, &input).map_err(|why| refuse(&why))?;
        Ok(Staging {
            n,
            here,
            axes,
            from,
            extent,
            widening: promote::promotion_of(nest, &tile.parts, n, region),
            of: scope,
            what,
            input,
        })
    }

    /// Memory for so many tiles, of each core around them.
    fn memory(
        &self,
        nest: &ScheduledNest<'c, '_>,
        stages: Option<i64>,
    ) -> Result<Memory<'c>, Errors> {
        let (region, layout) = self.here;
        let tiles = TileBuffer {
            element: self.widening.map_or(element(&self.input), |w| w.to),
            extent: &self.extent,
            layout,
            axes: &self.axes,
            region,
            stages,
        };
        let memory = tiles.allocate(nest, &self.of);
        memory.map_err(|why| vec![format!("{}: {why}", self.what)])
    }

    /// Copies the tile, and has the computation read the copy.
    fn copy(
        self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        tile: &mut Tile<'c>,
        is_asynchronous: bool,
    ) -> Result<(), Errors> {
        let memory = self.memory(nest, None)?;
        let outer = memory.origins(builder);
        self.fill(nest, builder, memory.value, &outer, is_asynchronous);
        tile.private[self.n] = memory.private;
        self.read(tile, memory.value, outer);
        Ok(())
    }

    /// Has the computation read what was prefetched.
    fn arrived(self, tile: &mut Tile<'c>, arrived: Arrived<'c>) {
        tile.private[self.n] = arrived.private;
        self.read(tile, arrived.memory, arrived.outer);
    }

    fn fill(
        &self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        memory: Val<'c>,
        outer: &[Bound<'c>],
        is_asynchronous: bool,
    ) {
        let to = Staged {
            memory,
            outer,
            axes: &self.axes,
            widening: self.widening,
            is_asynchronous,
        };
        fill(nest, builder, &self.of, &self.input, &self.extent, &to);
    }

    /// The computation reads a copy, whose outer axes have these origins.
    fn read(self, tile: &mut Tile<'c>, memory: Val<'c>, outer: Vec<Bound<'c>>) {
        let staged = &mut tile.parts.inputs[self.n];
        *staged = BufferPart {
            value: memory,
            pad: None,
            ..self.input.clone()
        };
        let Some(from) = self.from else {
            place(staged, &self.input, &outer, &self.axes, &self.extent.first);
            return;
        };
        staged.origin = outer;
        tile.stored[self.n] = Some(Stored {
            axes: self.axes,
            from,
            first: self.extent.first,
            access: self.input.accesses[0].clone(),
        });
    }
}

/// Returns the index from which the groups of each axis are counted; `None` if there are no blocks.
fn group_starts_of(
    nest: &ScheduledNest,
    position: usize,
    axes: &[MemoryAxis],
    input: &BufferPart,
) -> Result<Option<Vec<i64>>, String> {
    if axes.iter().all(|axis| axis.counts == Counts::All) {
        return Ok(None);
    }
    match &input.accesses[..] {
        [access] => group_starts(nest, position, axes, access).map(Some),
        _ => Err("expected one access to a buffer that is stored in blocks".into()),
    }
}

/// Memory for the tiles of an input that are in flight, or computed on.
pub struct Slots<'c> {
    input: usize,
    memory: Memory<'c>,
}

impl<'c> Slots<'c> {
    /// The tile in one of them.
    pub fn tile(&self, builder: &mut Builder<'c>, slot: Val<'c>) -> Arrived<'c> {
        let mut outer = self.memory.origins(builder);
        let zero = builder.index(0);
        outer.push(bound(builder.binary(ops::arith::SUBI, zero, slot)));
        Arrived {
            input: self.input,
            memory: self.memory.value,
            outer,
            private: self.memory.private,
        }
    }
}

/// The tile of an input that is asked for.
pub struct Request<'t, 'c> {
    /// The input.
    pub input: usize,
    /// Position of the loop before which it is staged.
    pub position: usize,
    /// The tile of the computation.
    pub tile: &'t Tile<'c>,
    /// Number of slots.
    pub stages: i64,
    /// The slot of the tile.
    pub slot: Val<'c>,
}

/// Asks for the tile of an input, in one of its slots: those of an earlier tile, if there are any.
pub fn ask<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    request: &Request<'_, 'c>,
    slots: &mut Vec<Slots<'c>>,
) -> Result<(), Errors> {
    let (input, position) = (request.input, request.position);
    let here = home(nest, input, position);
    let mut tile = request.tile.clone();
    let staging = Staging::new(nest, builder, position, &mut tile, input, here)?;
    if !slots.iter().any(|own| own.input == input) {
        let memory = staging.memory(nest, Some(request.stages))?;
        slots.push(Slots { input, memory });
    }
    for own in slots.iter().filter(|own| own.input == input) {
        let to = own.tile(builder, request.slot);
        staging.fill(nest, builder, to.memory, &to.outer, true);
    }
    Ok(())
}

/// Buffer for tiles of another one.
pub struct TileBuffer<'a, 'c> {
    /// The type of the elements.
    pub element: ScalarType,
    /// The extent of a tile.
    pub extent: &'a Extent<'c>,
    /// The layout of a tile.
    pub layout: &'a StagedLayout,
    /// The axes of memory by that layout.
    pub axes: &'a [MemoryAxis],
    /// The memory region, as the position of its layer.
    pub region: usize,
    /// Number of tiles, where these are several.
    pub stages: Option<i64>,
}

impl<'c> TileBuffer<'_, 'c> {
    /// Allocates the buffer, for each core around a tile.
    pub fn allocate(
        &self,
        nest: &ScheduledNest<'c, '_>,
        tile: &Tile<'c>,
    ) -> Result<Memory<'c>, String> {
        let mut outside = nest.outside;
        let shape: Vec<Val> = (self.axes.iter())
            .map(|axis| layout_extent(axis, &mut outside, &self.extent.most))
            .collect();
        let stages: Vec<Val> = self.stages.iter().map(|n| outside.index(*n)).collect();
        let element = types::mlir_type(outside.context, self.element);
        let Some(algebra) = self.layout.algebra() else {
            let shape = [&stages[..], &shape].concat();
            return Ok(nest.allocate(tile, &shape, element, Some(self.region)));
        };
        let extents: Vec<Option<i64>> = shape.iter().map(|n| known(*n)).collect();
        let size = outside.index(elements(self.layout, &extents)?);
        let shape = [&stages[..], &[size]].concat();
        let memory = nest.allocate(tile, &shape, element, Some(self.region));
        let cores = memory.cores.iter().map(|core| core.count).chain(stages);
        let cores: Vec<Option<i64>> = cores.map(known).collect();
        let mut place = memory.place;
        let value = view(&mut place, memory.value, &cores, algebra, element);
        Ok(Memory { value, ..memory })
    }
}

/// The type of a buffer's elements.
pub fn element(buffer: &BufferPart) -> ScalarType {
    let ty = types::buffer_type(buffer.value.r#type());
    ty.map_or(ScalarType::F32, |ty| ty.element)
}

/// Accesses to memory with an axis for each of the tile's.
pub fn place<'c>(
    staged: &mut BufferPart<'c>,
    input: &BufferPart<'c>,
    cores: &[Bound<'c>],
    axes: &[MemoryAxis],
    first: &[Val<'c>],
) {
    staged.accesses = (input.accesses.iter())
        .map(|access| {
            let zeros = cores.iter().map(|_| Expr::Const(0));
            zeros
                .chain(axes.iter().map(|a| access[a.of].clone()))
                .collect()
        })
        .collect();
    let origins = axes.iter().map(|a| bound(first[a.of]));
    staged.origin = cores.iter().copied().chain(origins).collect();
}

/// A tile's copy.
struct Staged<'c, 'a> {
    memory: Val<'c>,
    /// The origins of the axes that the cores around have, and the slots of tiles.
    outer: &'a [Bound<'c>],
    axes: &'a [MemoryAxis],
    widening: Option<Promotion>,
    is_asynchronous: bool,
}

impl<'c> Staged<'c, '_> {
    /// The memory that a copy writes.
    fn destination(&self) -> BufferPart<'c> {
        let outer = self.outer.iter().map(|_| Expr::Const(0));
        let access = outer.chain((0..self.axes.len()).map(Expr::Dim)).collect();
        let zeros = self.axes.iter().map(|_| Bound::Static(0));
        let origins = self.outer.iter().copied().chain(zeros).collect();
        let mut to = BufferPart::accessed("to", self.memory, access, origins);
        to.components = vec![0];
        to
    }
}

/// `memory[layout(c)] = input[first + c]` for all `c` of the tile.
fn fill<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    input: &BufferPart<'c>,
    extent: &Extent<'c>,
    staged: &Staged<'c, '_>,
) {
    let dims = copied_dims(nest, extent, staged.axes);
    let from = source(builder, input, extent, staged.axes);
    let ty = element(input);
    let mut parts = Parts {
        combine: dims.iter().map(|_| cc(builder)).collect(),
        dims,
        inputs: vec![from],
        outputs: vec![staged.destination()],
        ..Parts::default()
    };
    let scales = super::merge::neighbours(builder, &mut parts);
    let (scalar, ty) = match staged.widening {
        Some(widening) => (promote::copy(builder, ty, widening), widening.to),
        None => (identity(builder, &component_types(builder, &[ty])), ty),
    };
    let copy = stored(builder, nest.of.op, &parts, scalar);
    // Without a block, a copy is a kernel of its own, at whose end all is there.
    if staged.is_asynchronous && tile.owners.iter().any(|owner| owner.is_block(nest)) {
        copy_asynchronously::mark(copy);
    }
    owner::schedule_copy(nest, tile, copy, &parts, &scales, ty);
}

/// Dimensions of a copy: one for each axis of memory; what lies beyond the buffer is filled up.
fn copied_dims<'c>(
    nest: &ScheduledNest<'c, '_>,
    extent: &Extent<'c>,
    axes: &[MemoryAxis],
) -> Vec<Dim<'c>> {
    let mut outside = nest.outside;
    let mut dims = Vec::new();
    for (n, axis) in axes.iter().enumerate() {
        let whole = MemoryAxis {
            unused: 0,
            ..axis.clone()
        };
        let count = layout_extent(&whole, &mut outside, &extent.most);
        dims.push(Dim::dense(format!("c{n}"), bound(count)));
    }
    if dims.is_empty() {
        dims.push(Dim::dense("all", Bound::Static(1)));
    }
    dims
}

/// The elements of an input that a copy reads, with zeros beyond its buffer.
fn source<'c>(
    builder: &mut Builder<'c>,
    input: &BufferPart<'c>,
    extent: &Extent<'c>,
    axes: &[MemoryAxis],
) -> BufferPart<'c> {
    let mut coordinates: Vec<Expr> = input.origin.iter().map(|_| Expr::Const(0)).collect();
    for (n, axis) in axes.iter().enumerate() {
        let term = match axis.counts {
            Counts::All | Counts::Inside(_) | Counts::Within(_) => Expr::Dim(n),
            Counts::Blocks(size) | Counts::Groups { size, .. } => Expr::Dim(n) * size,
        };
        let sum = std::mem::replace(&mut coordinates[axis.of], Expr::Const(0));
        coordinates[axis.of] = if sum == Expr::Const(0) {
            term
        } else {
            sum + term
        };
    }
    let origins: Vec<Bound> = (input.origin.iter().zip(&extent.first))
        .map(|(origin, first)| {
            let origin = value(builder, *origin);
            bound(builder.binary(ops::arith::SUBI, origin, *first))
        })
        .collect();
    let mut from = BufferPart::accessed("from", input.value, coordinates, origins);
    from.pad = input.pad.or_else(|| {
        let zero = mdh_algebra::scalar::Scalar::zero(element(input));
        let is_inside = extent.lies_inside(input, axes);
        (!is_inside).then(|| types::attribute(builder.context, zero))
    });
    from
}
