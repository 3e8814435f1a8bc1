//! Tiles of inputs copied into a memory region, in a layout (D3, D4).

use mdh_algebra::affine::{Expr, Linear};
use mdh_algebra::scalar::ScalarType;
use mdh_algebra::schedule::Layout;
use mdh_dialect::ir::Errors;
use mdh_dialect::ir::Val;
use mdh_dialect::parts::{Bound, BufferPart, Parts};
use mdh_dialect::types;
use melior::ir::ValueLike;

use super::code::{buffer, cc, component_types, dense, identity, stored};
use super::interleaved;
use super::layout::{Axis, Counts, Stored, elements, own_axes, view};
use super::nest::{Memory, Nest, Tile, bound, lower};
use super::owner;
use super::scalar::Place;
use super::widen::{self, Widening};
use crate::buffers::value;
use crate::builder::{Builder, known};
use crate::lower::grid::Grid;

/// Where an input's tiles are in the loop at a position.
fn home<'a>(nest: &'a Nest, input: usize, position: usize) -> Place<'a> {
    let plan = &nest.of.total.inputs[input];
    let level = nest.loops[position].level;
    (
        plan.region[level.layer][level.dimension],
        &plan.layout[level.layer][level.dimension],
    )
}

/// Copies what changes its place before the loop at a position.
pub fn inputs<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
) -> Result<(), Errors> {
    for n in 0..tile.parts.inputs.len() {
        if let Some(here) = moves_to(nest, n, position) {
            copy(nest, builder, position, tile, n, here)?;
        }
    }
    Ok(())
}

/// Where an input's tiles are copied before the loop at a position, if they are.
fn moves_to<'a>(nest: &'a Nest, input: usize, position: usize) -> Option<Place<'a>> {
    let here = home(nest, input, position);
    let is_new = match position.checked_sub(1) {
        Some(before) => here != home(nest, input, before),
        None => here != (0, &Layout::row_major()),
    };
    // What is in registers is loaded by the code of the leaf.
    let registers = nest.of.total.asm.position("register");
    (is_new && Some(here.0) != registers).then_some(here)
}

/// Whether inputs are copied before one of the loops from a position on.
pub fn copies_from(nest: &Nest, position: usize) -> bool {
    let inputs = 0..nest.of.total.inputs.len();
    let mut all = inputs.flat_map(|n| (position..nest.loops.len()).map(move |at| (n, at)));
    all.any(|(n, at)| moves_to(nest, n, at).is_some())
}

/// What a buffer's accesses reach in a tile, by axis.
pub struct Extent<'c> {
    /// The first index.
    pub first: Vec<Val<'c>>,
    /// The extent at most: from before all loops.
    pub most: Vec<Val<'c>>,
    /// Whether the tile has that extent always: no tile is cut off at the end of a dimension.
    is_full: Vec<bool>,
}

/// What the accesses to a buffer reach in a tile; `None` where they do not move in step.
pub fn extent<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    input: &BufferPart<'c>,
) -> Option<Extent<'c>> {
    let rank = input.origin.len();
    let (mut first, mut most, mut is_full) = (Vec::new(), Vec::new(), vec![true; rank]);
    for axis in 0..rank {
        let mut forms: Vec<Linear> = Vec::new();
        for access in &input.accesses {
            forms.push(access[axis].linear(tile.parts.dims.len())?);
        }
        let same = forms
            .iter()
            .all(|form| form.coefficients == forms[0].coefficients);
        if !same {
            return None;
        }
        let low = forms.iter().map(|form| form.constant).min()?;
        let high = forms.iter().map(|form| form.constant).max()?;
        let mut outside = nest.outside;
        let mut start = builder.index(low);
        let mut length = outside.index(high - low + 1);
        for (d, coefficient) in forms[0].coefficients.iter().enumerate() {
            if *coefficient == 0 {
                continue;
            }
            // From the first to the last index of the tile.
            let dim = &tile.parts.dims[d];
            let (Some(step), Some(width)) = (dim.step.known(), dim.width.known()) else {
                return None;
            };
            let span = tile.spans[d];
            if width != step && width != 1 && span.is_none() {
                return None;
            }
            is_full[axis] &= is_full_in(nest, tile, d);
            let stride = if width == step || span.is_some() {
                1
            } else {
                step
            };
            let one = outside.index(1);
            let more = outside.binary("arith.subi", span.unwrap_or(tile.most[d]), one);
            let scale = outside.index(stride * coefficient.abs());
            let more = outside.binary("arith.muli", more, scale);
            length = outside.binary("arith.addi", length, more);
            let lowest = if *coefficient > 0 {
                lower(builder, tile, d)
            } else {
                last(builder, tile, d)
            };
            let factor = builder.index(*coefficient);
            let term = builder.binary("arith.muli", lowest, factor);
            start = builder.binary("arith.addi", start, term);
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

/// Whether tiles of this size are known to fill a dimension.
fn is_full_in(nest: &Nest, tile: &Tile, d: usize) -> bool {
    let pair = nest
        .points(d)
        .zip(known(tile.most[d]).filter(|most| *most > 0));
    pair.is_some_and(|(points, most)| points % most == 0) && !interleaved::is_in(nest.loops, d)
}

/// The last index of a tile in a dimension.
fn last<'c>(builder: &mut Builder<'c>, tile: &Tile<'c>, d: usize) -> Val<'c> {
    let grid = Grid::new(builder, &tile.parts.dims[d]);
    let one = builder.index(1);
    let number = builder.binary("arith.subi", grid.count, one);
    if let Some(stride) = grid.stride(builder) {
        let distance = builder.binary("arith.muli", number, stride);
        return builder.binary("arith.addi", grid.lower, distance);
    }
    grid.point(builder, number)
}

/// Copies the tile of an input to a place.
pub fn copy<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
    n: usize,
    (region, layout): Place,
) -> Result<(), Errors> {
    // What lies in blocks is read within one of them from here on.
    choose_block(nest, builder, position, tile, n)?;
    let input = tile.parts.inputs[n].clone();
    let refuse = |why: &str| {
        let name = nest.level_name(position);
        vec![format!(
            "has a schedule that stages '{}' at {name}: {why}",
            input.name
        )]
    };
    // What cores have together is copied by all of them, for all of them.
    let shared = owner::shared(nest, tile, region);
    let together = shared.as_ref().map(|shared| shared.cores.len());
    if together.is_some_and(|together| tile.private[n] > together) {
        return Err(refuse(&format!(
            "its tiles are in memory that cores have each of their own, but they copy to '{}' together: expected \
             tiles that are there for all of them",
            nest.of.total.asm.layers[region].name()
        )));
    }
    let Some(extent) = extent(nest, builder, shared.as_ref().unwrap_or(tile), &input) else {
        return Err(refuse(
            "expected accesses that differ by constants only, linear in dimensions whose step is \
             known",
        ));
    };
    let own = nest.of.parts.inputs[n].origin.len();
    let axes = own_axes(layout, input.origin.len(), own).map_err(|why| refuse(&why))?;
    let widening = widen::of(nest, &tile.parts, n, region);
    let stored = widening.map_or(element(&input), |widening| widening.to);
    let of = shared.as_ref().unwrap_or(tile);
    let memory = memory(nest, of, stored, (layout, &axes), &extent, region);
    let memory = memory.map_err(|why| refuse(&why))?;
    let cores = memory.origins(builder);
    let to = Staged {
        memory: memory.value,
        cores: &cores,
        axes: &axes,
        widening,
    };
    fill(nest, builder, of, &input, &extent, &to);
    let staged = BufferPart {
        value: memory.value,
        pad: None,
        ..input.clone()
    };
    let is_blocked = axes.iter().any(|a| a.counts != Counts::All);
    tile.private[n] = memory.private;
    tile.parts.inputs[n] = staged;
    if is_blocked {
        let [access] = &input.accesses[..] else {
            return Err(refuse(
                "expected one access to a buffer that is stored in blocks",
            ));
        };
        let from = group_starts(nest, position, &axes, access).map_err(|why| refuse(&why))?;
        tile.parts.inputs[n].origin = cores;
        tile.stored[n] = Some(Stored {
            axes,
            from,
            first: extent.first,
            access: access.clone(),
        });
        return Ok(());
    }
    place(
        &mut tile.parts.inputs[n],
        &input,
        &cores,
        &axes,
        &extent.first,
    );
    Ok(())
}

/// The index from which the groups of each axis are counted: tiles must start where groups do.
fn group_starts(
    nest: &Nest,
    position: usize,
    axes: &[Axis],
    access: &[Expr],
) -> Result<Vec<i64>, String> {
    let start = |axis: &Axis| {
        let (Counts::Groups { size, .. } | Counts::Within(size)) = axis.counts else {
            return Ok(0);
        };
        let form = access[axis.of].linear(nest.of.parts.dims.len());
        let form = form.ok_or("expected a linear access to what is stored in groups")?;
        let moved: Vec<usize> = (0..form.coefficients.len())
            .filter(|d| form.coefficients[*d] != 0)
            .collect();
        let d = match moved[..] {
            [] => return Ok(form.constant),
            [d] if form.coefficients[d] == 1 => d,
            _ => return Err("expected groups along one dimension, from index to index".into()),
        };
        let dim = &nest.of.parts.dims[d];
        let lower = dim
            .lower
            .known()
            .filter(|_| dim.width.known() == dim.step.known());
        let lower = lower.ok_or("expected groups from a known index on, without gaps")?;
        for of in nest.loops[..position]
            .iter()
            .filter(|of| of.level.dimension == d)
        {
            let points = nest.of.known_points_of(of.level);
            if points.is_none_or(|points| points % size != 0) {
                let found = points.map_or("a dynamic number of".into(), |n| n.to_string());
                return Err(format!(
                    "its tiles have {found} points, expected a multiple of the {size} of a group"
                ));
            }
        }
        Ok(lower + form.constant)
    };
    axes.iter().map(start).collect()
}

/// Memory for what is reached of a buffer in a tile, for each core around it.
pub fn memory<'c>(
    nest: &Nest<'c, '_>,
    tile: &Tile<'c>,
    element: ScalarType,
    (layout, axes): (&Layout, &[Axis]),
    extent: &Extent<'c>,
    region: usize,
) -> Result<Memory<'c>, String> {
    let mut outside = nest.outside;
    let shape: Vec<Val> = axes
        .iter()
        .map(|axis| axis.extent(&mut outside, &extent.most))
        .collect();
    let element = types::mlir_type(outside.context, element);
    let Some(algebra) = layout.algebra() else {
        return Ok(nest.allocate(tile, &shape, element, Some(region)));
    };
    let extents: Vec<Option<i64>> = shape.iter().map(|n| known(*n)).collect();
    let size = outside.index(elements(layout, &extents)?);
    let memory = nest.allocate(tile, &[size], element, Some(region));
    let cores = memory.cores.iter().map(|core| known(core.count));
    let cores: Vec<Option<i64>> = cores.collect();
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
    axes: &[Axis],
    first: &[Val<'c>],
) {
    staged.accesses = (input.accesses.iter())
        .map(|access| {
            let own = cores.iter().map(|_| Expr::Const(0));
            own.chain(axes.iter().map(|a| access[a.of].clone()))
                .collect()
        })
        .collect();
    let origins = axes.iter().map(|a| bound(first[a.of]));
    staged.origin = cores.iter().copied().chain(origins).collect();
}

/// Where a tile is copied to.
struct Staged<'c, 'a> {
    memory: Val<'c>,
    /// The origins of the axes that the cores around have.
    cores: &'a [Bound<'c>],
    axes: &'a [Axis],
    widening: Option<Widening>,
}

/// `memory[layout(c)] = input[first + c]` for all `c` of the tile.
fn fill<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    input: &BufferPart<'c>,
    extent: &Extent<'c>,
    staged: &Staged<'c, '_>,
) {
    let (axes, cores) = (staged.axes, staged.cores);
    // One dimension for each axis of memory; what lies beyond the buffer is filled up.
    let mut dims = Vec::new();
    let mut coordinates: Vec<Expr> = input.origin.iter().map(|_| Expr::Const(0)).collect();
    for (n, axis) in axes.iter().enumerate() {
        let whole = Axis {
            unused: 0,
            ..axis.clone()
        };
        let mut outside = nest.outside;
        let count = whole.extent(&mut outside, &extent.most);
        dims.push(dense(&format!("c{n}"), bound(count)));
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
        dims.push(dense("all", Bound::Static(1)));
    }
    let origins: Vec<Bound> = (input.origin.iter().zip(&extent.first))
        .map(|(origin, first)| {
            let origin = value(builder, *origin);
            bound(builder.binary("arith.subi", origin, *first))
        })
        .collect();
    let ty = element(input);
    let mut from = buffer("from", input.value, coordinates, origins);
    from.pad = input.pad.or_else(|| {
        let zero = mdh_algebra::scalar::Scalar::zero(ty);
        let is_inside = lies_inside(input, extent, axes);
        (!is_inside).then(|| types::attribute(builder.context, zero))
    });
    let own = cores.iter().map(|_| Expr::Const(0));
    let access = own.chain((0..axes.len()).map(Expr::Dim)).collect();
    let zeros = axes.iter().map(|_| Bound::Static(0));
    let mut to = buffer(
        "to",
        staged.memory,
        access,
        cores.iter().copied().chain(zeros).collect(),
    );
    to.components = vec![0];
    let mut parts = Parts {
        combine: dims.iter().map(|_| cc(builder)).collect(),
        dims,
        inputs: vec![from],
        outputs: vec![to],
        carries: vec![],
        laws: Default::default(),
    };
    let scales = super::merge::neighbours(builder, &mut parts);
    let (scalar, ty) = match staged.widening {
        Some(widening) => (widen::copy(builder, ty, widening), widening.to),
        None => (identity(builder, &component_types(builder, &[ty])), ty),
    };
    let copy = stored(builder, nest.of.op, &parts, scalar);
    owner::schedule_copy(nest, tile, copy, &parts, &scales, ty);
}

/// Chooses the block of each blocked input that a tile lies within.
pub fn choose_blocks<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
) -> Result<(), Errors> {
    (0..tile.parts.inputs.len()).try_for_each(|n| choose_block(nest, builder, position, tile, n))
}

/// Chooses the block of an input that a tile lies within, if it is blocked.
fn choose_block<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
    n: usize,
) -> Result<(), Errors> {
    let Some(stored) = tile.stored[n].take() else {
        return Ok(());
    };
    let mut input = tile.parts.inputs[n].clone();
    let cores = input.origin.clone();
    let mut access: Vec<Expr> = cores.iter().map(|_| Expr::Const(0)).collect();
    let mut origin = cores;
    for (axis, from) in stored.axes.iter().zip(&stored.from) {
        let expr = &stored.access[axis.of];
        let first = stored.first[axis.of];
        let size = match axis.counts {
            Counts::All => {
                access.push(expr.clone());
                origin.push(bound(first));
                continue;
            }
            Counts::Within(size) => {
                access.push((expr.clone() + -from).modulo(size));
                origin.push(Bound::Static(0));
                continue;
            }
            Counts::Blocks(size) | Counts::Inside(size) => size,
            Counts::Groups { block, .. } => block,
        };
        let block = Block {
            name: &input.name,
            first,
            size,
        };
        let offset = within_block(nest, builder, position, tile, &block, expr)?;
        let size = builder.index(size);
        let number = builder.binary("arith.divui", offset, size);
        if matches!(axis.counts, Counts::Blocks(_)) {
            let zero = builder.index(0);
            access.push(Expr::Const(0));
            origin.push(bound(builder.binary("arith.subi", zero, number)));
            continue;
        }
        let skipped = builder.binary("arith.muli", number, size);
        let mut start = builder.binary("arith.addi", first, skipped);
        let Counts::Groups { size, .. } = axis.counts else {
            access.push(expr.clone());
            origin.push(bound(start));
            continue;
        };
        access.push((expr.clone() + -from).floor_div(size));
        let (from, size) = (builder.index(*from), builder.index(size));
        start = builder.binary("arith.subi", start, from);
        origin.push(bound(builder.binary("arith.floordivsi", start, size)));
    }
    input.accesses = vec![access];
    input.origin = origin;
    tile.parts.inputs[n] = input;
    Ok(())
}

/// Blocks along an axis of a staged tile.
struct Block<'c, 'a> {
    /// The input's name.
    name: &'a str,
    /// Where the staged tile starts.
    first: Val<'c>,
    /// The indices of a block.
    size: i64,
}

/// How far from the start of what is staged a tile starts: it must not leave its block.
fn within_block<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &Tile<'c>,
    block: &Block<'c, '_>,
    expr: &Expr,
) -> Result<Val<'c>, Errors> {
    let form = expr.linear(tile.parts.dims.len());
    let moved = form.as_ref().map_or(Vec::new(), |form| {
        let dims = form.coefficients.iter().enumerate();
        dims.filter(|(_, c)| **c != 0)
            .map(|(d, c)| (d, *c))
            .collect()
    });
    let (name, size) = (block.name, block.size);
    let refuse = |found: String| {
        let level = match position < nest.loops.len() {
            true => format!("the tiles of {}", nest.level_name(position)),
            false => nest.level_name(position),
        };
        vec![format!(
            "has a schedule that stores '{name}' in blocks of {size}, but {level} read {found} of \
             them: expected a tile size that divides the block's"
        )]
    };
    let (Some(form), [] | [(_, 1)]) = (form, &moved[..]) else {
        return Err(refuse(format!("several ({} dimensions)", moved.len())));
    };
    let mut start = builder.index(form.constant);
    let mut points = Some(1);
    if let Some((d, _)) = moved.first() {
        let first = lower(builder, tile, *d);
        start = builder.binary("arith.addi", first, start);
        // In indices: the points of a strided domain lie apart.
        points = known(nest.span_of(tile, *d));
    }
    let offset = builder.binary("arith.subi", start, block.first);
    // A tile that is all of what is staged starts where its only block does.
    let divides = |points: i64| points > 0 && size % points == 0;
    let is_whole = |points: i64| points <= size && known(offset) == Some(0);
    if points.is_none_or(|points| !divides(points) && !is_whole(points)) {
        let found = points.map_or("a dynamic number".into(), |n| n.to_string());
        return Err(refuse(found));
    }
    Ok(offset)
}

/// Whether a tile, its blocks filled up, is known to lie in its buffer.
fn lies_inside(input: &BufferPart, extent: &Extent, axes: &[Axis]) -> bool {
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
