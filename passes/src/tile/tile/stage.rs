//! Tiles of inputs copied into a memory region, in a layout (D3, D4).

use mdh_algebra::affine::Expr;
use mdh_algebra::domain::stride;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Errors;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::types;
use mdh_schedule::StagedLayout;
use mdh_schedule::legality::{BETWEEN_TILES, NOT_IN_STEP};
use mdh_schedule::reach::Reach;
use melior::ir::ValueLike;

use super::blocks::{choose_block, group_starts};
use super::code::{cc, component_types, identity, stored};
use super::cyclic;
use super::layout::{Counts, MemoryAxis, elements, extent as layout_extent, own_axes, view};
use super::nest::{Arrived, Memory, ScheduledNest, Stored, Tile, bound, lower};
use super::owner;
use super::promote::{self, Promotion};
use super::scalar::TileMemory;
use crate::gpu::copy_asynchronously;
use crate::llvm::lower_to_loops::grid::Grid;
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

/// Extent of a buffer's accesses in a tile, by axis.
pub struct Extent<'c> {
    /// The first index.
    pub first: Vec<Val<'c>>,
    /// The extent at most: from before all loops.
    pub most: Vec<Val<'c>>,
    /// True if the tile has that extent always: no tile is cut off at the end of a dimension.
    is_full: Vec<bool>,
}

/// Returns the extent of the accesses to a buffer in a tile; `None` where they do not move in step.
pub fn extent<'c>(
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
        let extent = extent(nest, builder, &scope, &input);
        let extent = extent.ok_or_else(|| refuse(NOT_IN_STEP))?;
        let rank = nest.of.parts.inputs[n].origin.len();
        let axes = own_axes(layout, input.origin.len(), rank).map_err(|why| refuse(&why))?;
        let is_blocked = axes.iter().any(|a| a.counts != Counts::All);
        let from = match &input.accesses[..] {
            _ if !is_blocked => None,
            [access] => {
                let from = group_starts(nest, position, &axes, access);
                Some(from.map_err(|why| refuse(&why))?)
            }
            _ => {
                return Err(refuse(
                    "expected one access to a buffer that is stored in blocks",
                ));
            }
        };
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
        let stored = self.widening.map_or(element(&self.input), |w| w.to);
        let (region, layout) = self.here;
        let layout = (layout, &self.axes[..]);
        let memory = memory(
            nest,
            &self.of,
            stored,
            layout,
            &self.extent,
            (region, stages),
        );
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

/// Asks for the tile of an input that stands before the loop at a position, in one of so many
/// slots: those of an earlier tile, if there are any.
pub fn ask<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    (position, tile): (usize, &Tile<'c>),
    (n, stages): (usize, i64),
    (slots, slot): (&mut Vec<Slots<'c>>, Val<'c>),
) -> Result<(), Errors> {
    let here = home(nest, n, position);
    let staging = Staging::new(nest, builder, position, &mut tile.clone(), n, here)?;
    if !slots.iter().any(|own| own.input == n) {
        let memory = staging.memory(nest, Some(stages))?;
        slots.push(Slots { input: n, memory });
    }
    for own in slots.iter().filter(|own| own.input == n) {
        let to = own.tile(builder, slot);
        staging.fill(nest, builder, to.memory, &to.outer, true);
    }
    Ok(())
}

/// Memory for the extent of a buffer in a tile, for each core around it, and for so many tiles of
/// each.
pub fn memory<'c>(
    nest: &ScheduledNest<'c, '_>,
    tile: &Tile<'c>,
    element: ScalarType,
    (layout, axes): (&StagedLayout, &[MemoryAxis]),
    extent: &Extent<'c>,
    (region, stages): (usize, Option<i64>),
) -> Result<Memory<'c>, String> {
    let mut outside = nest.outside;
    let shape: Vec<Val> = axes
        .iter()
        .map(|axis| layout_extent(axis, &mut outside, &extent.most))
        .collect();
    let stages: Vec<Val> = stages.iter().map(|n| outside.index(*n)).collect();
    let element = types::mlir_type(outside.context, element);
    let Some(algebra) = layout.algebra() else {
        let shape = [&stages[..], &shape].concat();
        return Ok(nest.allocate(tile, &shape, element, Some(region)));
    };
    let extents: Vec<Option<i64>> = shape.iter().map(|n| known(*n)).collect();
    let size = outside.index(elements(layout, &extents)?);
    let memory = nest.allocate(
        tile,
        &[&stages[..], &[size]].concat(),
        element,
        Some(region),
    );
    let cores = memory.cores.iter().map(|core| core.count).chain(stages);
    let cores: Vec<Option<i64>> = cores.map(known).collect();
    let mut place = memory.place;
    let value = view(&mut place, memory.value, &cores, algebra, element);
    Ok(Memory { value, ..memory })
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

/// `memory[layout(c)] = input[first + c]` for all `c` of the tile.
fn fill<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    input: &BufferPart<'c>,
    extent: &Extent<'c>,
    staged: &Staged<'c, '_>,
) {
    let (axes, outer) = (staged.axes, staged.outer);
    // One dimension for each axis of memory; what lies beyond the buffer is filled up.
    let mut dims = Vec::new();
    let mut coordinates: Vec<Expr> = input.origin.iter().map(|_| Expr::Const(0)).collect();
    for (n, axis) in axes.iter().enumerate() {
        let whole = MemoryAxis {
            unused: 0,
            ..axis.clone()
        };
        let mut outside = nest.outside;
        let count = layout_extent(&whole, &mut outside, &extent.most);
        dims.push(Dim::dense(format!("c{n}"), bound(count)));
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
    if dims.is_empty() {
        dims.push(Dim::dense("all", Bound::Static(1)));
    }
    let origins: Vec<Bound> = (input.origin.iter().zip(&extent.first))
        .map(|(origin, first)| {
            let origin = value(builder, *origin);
            bound(builder.binary(ops::arith::SUBI, origin, *first))
        })
        .collect();
    let ty = element(input);
    let mut from = BufferPart::accessed("from", input.value, coordinates, origins);
    from.pad = input.pad.or_else(|| {
        let zero = mdh_algebra::scalar::Scalar::zero(ty);
        let is_inside = lies_inside(input, extent, axes);
        (!is_inside).then(|| types::attribute(builder.context, zero))
    });
    let own = outer.iter().map(|_| Expr::Const(0));
    let access = own.chain((0..axes.len()).map(Expr::Dim)).collect();
    let zeros = axes.iter().map(|_| Bound::Static(0));
    let mut to = BufferPart::accessed(
        "to",
        staged.memory,
        access,
        outer.iter().copied().chain(zeros).collect(),
    );
    to.components = vec![0];
    let mut parts = Parts {
        combine: dims.iter().map(|_| cc(builder)).collect(),
        dims,
        inputs: vec![from],
        outputs: vec![to],
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

/// Returns whether a tile, its blocks filled up, is known to lie in its buffer.
fn lies_inside(input: &BufferPart, extent: &Extent, axes: &[MemoryAxis]) -> bool {
    let Some(buffer) = types::buffer_type(input.value.r#type()) else {
        return false;
    };
    (0..input.origin.len()).all(|axis| {
        let Some(most) = known(extent.most[axis]) else {
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
        if extent.is_full[axis] && filled == most {
            return true;
        }
        let numbers = (
            known(extent.first[axis]),
            input.origin[axis].known(),
            buffer.shape.get(axis).copied().flatten(),
        );
        let (Some(first), Some(origin), Some(size)) = numbers else {
            return false;
        };
        first >= origin && first - origin + filled <= size
    })
}
