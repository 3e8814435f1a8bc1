//! Tiles that are copied to a place on the way through the loops (D3, D4, R3, R4, S3 to S6).

use super::axes::{Counts, MemoryAxis, bricks, elements, is_blocked, own_axes};
use super::places::TileMemory;
use super::refusal::{Reason, Refusal};
use super::tile::{Access, Core, Stored, Tile};
use super::walk::Walk;
use crate::asm::MATRIX;
use crate::staged_layout::StagedLayout;
use mdh_algebra::affine::{Expr, Linear};
use mdh_algebra::computation::Extent;

type Checked = Result<(), Refusal>;

/// Reason for which tiles cannot be copied: whatever the sizes, or with what is known of them.
enum Why {
    Refuted(Reason, String),
    Open(Reason, String),
}

impl Why {
    fn says(self, what: &str) -> Refusal {
        match self {
            Why::Refuted(reason, why) => Refusal::new(reason, format!("{what}: {why}")),
            Why::Open(reason, why) => Refusal::new(reason, format!("{what}: {why}")).open(),
        }
    }
}

/// Advice for accesses whose tiles are no boxes.
pub const NOT_IN_STEP: &str = "expected accesses that differ by constants only, linear in dimensions whose \
                           step is known and whose points do not come in groups with gaps";

/// Advice for memory between levels whose tiles have an order of their own.
pub const BETWEEN_TILES: &str = "expected that outside of the levels of 'tile_order', whose tiles do not follow each \
                             other there, or inside of all of them";

impl Walk<'_, '_> {
    /// Returns the name of the tile of the loop at a position, or of the points inside of all
    /// loops.
    fn level_name(&self, position: usize) -> String {
        match self.loops.get(position) {
            Some(of) => format!("'{}'", self.of.resolved.name(of.level)),
            None => "its points".into(),
        }
    }
}

/// The place to which an input's tiles are copied before the loop at a position, if they are.
fn moves_to<'w>(walk: &'w Walk, input: usize, position: usize) -> Option<TileMemory<'w>> {
    let resolved = walk.of.resolved;
    let home = |position: usize| resolved.input_at(&resolved.inputs[input], walk.loops[position]);
    let here = home(position);
    let is_new = match position.checked_sub(1) {
        Some(before) => here != home(before),
        None => here != (0, &StagedLayout::row_major()),
    };
    // What is in registers is loaded by the code of the leaf.
    (is_new && Some(here.0) != resolved.asm.position("register")).then_some(here)
}

/// Returns whether inputs are copied before one of the loops from a position on.
pub(super) fn copies_from(walk: &Walk, position: usize) -> bool {
    let inputs = 0..walk.of.resolved.inputs.len();
    let mut pairs = inputs.flat_map(|n| (position..walk.loops.len()).map(move |at| (n, at)));
    pairs.any(|(n, at)| moves_to(walk, n, at).is_some())
}

/// Copies of inputs that change their place before the loop at a position.
pub(super) fn inputs(walk: &Walk, position: usize, tile: &mut Tile) -> Checked {
    for n in 0..tile.inputs.len() {
        if let Some(here) = moves_to(walk, n, position) {
            copy(walk, position, tile, n, here)?;
        }
    }
    Ok(())
}

/// Copies to where the scalar function reads and writes.
pub(super) fn scalar(walk: &Walk, position: usize, tile: &mut Tile) -> Checked {
    let resolved = walk.of.resolved;
    for (n, plan) in resolved.inputs.iter().enumerate() {
        if let Some(here) = resolved.scalar_input(plan) {
            copy(walk, position, tile, n, here)?;
        }
    }
    give_places(walk, position, tile, |name| {
        let plans = &resolved.outputs;
        let plan = plans
            .iter()
            .find(|plan| plan.name == name)
            .or(plans.first())?;
        resolved.scalar_output(plan)
    })
}

fn copy(
    walk: &Walk,
    position: usize,
    tile: &mut Tile,
    n: usize,
    (region, layout): TileMemory,
) -> Checked {
    let shared = shared(walk, tile, region);
    let together = shared.as_ref().map(|shared| shared.cores.len());
    let mut scope = shared.unwrap_or_else(|| tile.clone());
    // Of what lies in blocks, all who copy it read within one.
    choose_block(walk, position, &mut scope, n)?;
    let input = scope.inputs[n].clone();
    tile.inputs[n] = input.clone();
    let what = format!(
        "that stages '{}' at {}",
        input.name,
        walk.level_name(position)
    );
    let refuse = |why: Why| why.says(&what);
    one_copy(walk, position).map_err(refuse)?;
    if together.is_some_and(|together| input.private > together) {
        let name = walk.of.resolved.asm.layers[region].name();
        return Err(refuse(Why::Refuted(
            Reason::Region,
            format!(
                "its tiles are in memory that cores have each of their own, but they copy to '{name}' \
                 cooperatively: expected tiles that are there for all of them"
            ),
        )));
    }
    cooperative_in_warps(walk, &scope, region).map_err(refuse)?;
    if scope.cores.len() == tile.cores.len() {
        equally(walk, position, tile).map_err(refuse)?;
    }
    let extent = in_step(&scope, &input).map_err(refuse)?;
    let rank = walk.of.computation.inputs[n].shape.len();
    let axes = own_axes(layout, input.rank, rank);
    let axes = axes.map_err(|why| refuse(Why::Refuted(Reason::Layout, why)))?;
    let blocked = is_blocked(&axes);
    if blocked {
        let [access] = &input.maps[..] else {
            let why = "expected one access to a buffer that is stored in blocks";
            return Err(refuse(Why::Refuted(Reason::Blocks, why.into())));
        };
        group_starts(walk, position, &axes, access).map_err(refuse)?;
    }
    fits(layout, &axes, &extent).map_err(refuse)?;
    let staged = &mut tile.inputs[n];
    staged.private = scope.cores.len();
    if blocked {
        staged.stored = Some(Stored {
            axes,
            dims: scope.dims,
        });
    } else {
        place(staged, &axes);
    }
    Ok(())
}

/// Refuses a copy between tiles in a parallel loop: all tiles inside would write the same memory at once.
fn one_copy(walk: &Walk, position: usize) -> Result<(), Why> {
    let is_between = walk.of.is_between_tiles(walk.loops, position);
    match is_between && walk.loops[position].is_parallel {
        true => Err(Why::Refuted(Reason::TileOrder, BETWEEN_TILES.into())),
        false => Ok(()),
    }
}

/// Refuses copies that threads have each of their own where an instruction of a warp reads those of all:
/// threads without points, which give their parts of rows and columns, too, have copied nothing.
fn cooperative_in_warps(walk: &Walk, copy: &Tile, region: usize) -> Result<(), Why> {
    let layers = &walk.of.resolved.asm.layers;
    let is_thread = |core: &Core| layers[core.layer].name() == "thread";
    let mut matrix = walk
        .loops
        .iter()
        .filter(|l| walk.of.layer(l.level) == MATRIX);
    if matrix.next().is_none() || !copy.cores.iter().any(is_thread) {
        return Ok(());
    }
    Err(Why::Refuted(
        Reason::Region,
        format!(
            "each thread has a copy of its own in '{}', and those without points have none, but one \
             instruction of '{MATRIX}' reads the copies of all threads of a warp: expected it in memory \
             that threads copy to cooperatively, or outside of the loops over threads",
            layers[region].name()
        ),
    ))
}

/// Refuses memory that is no thread's own in a loop that not all threads go through equally, where others
/// have parts inside of it: they would wait for each other.
fn equally(walk: &Walk, position: usize, tile: &Tile) -> Result<(), Why> {
    let unequal = walk.unequal(position, tile);
    let Some(at) = unequal.and_then(|of| walk.loops.iter().position(|l| *l == of)) else {
        return Ok(());
    };
    let mut inner = walk.loops[at..].iter();
    match inner.any(|l| walk.is_of_threads(l)) {
        true => Err(Why::Refuted(
            Reason::Threads,
            format!("it {}", walk.waits_in(walk.loops[at])),
        )),
        false => Ok(()),
    }
}

/// Accesses to memory with these axes.
fn place(buffer: &mut Access, axes: &[MemoryAxis]) {
    for map in &mut buffer.maps {
        *map = axes.iter().map(|axis| map[axis.of].clone()).collect();
    }
    buffer.rank = axes.len();
}

fn in_step(tile: &Tile, buffer: &Access) -> Result<Vec<Extent>, Why> {
    tile.extent(buffer).ok_or_else(|| {
        let mut dims = tile.dims.iter();
        let is_open = dims.any(|d| d.step.is_none() || d.width.is_none());
        match is_open {
            true => Why::Open(Reason::Accesses, NOT_IN_STEP.into()),
            false => Why::Refuted(Reason::Accesses, NOT_IN_STEP.into()),
        }
    })
}

/// Memory in a layout of the algebra has room for a tile of known extents.
fn fits(layout: &StagedLayout, axes: &[MemoryAxis], tile: &[Extent]) -> Result<(), Why> {
    if layout.algebra().is_none() {
        return Ok(());
    }
    let shape: Vec<Extent> = axes.iter().map(|axis| axis.extent(tile)).collect();
    let is_known = shape.iter().all(Option::is_some);
    elements(layout, &shape)
        .map(drop)
        .map_err(|why| match is_known {
            true => Why::Refuted(Reason::Layout, why),
            false => Why::Open(Reason::Layout, why),
        })
}

/// The tile that those have together who share a region; `None` if a core has the region alone.
fn shared(walk: &Walk, tile: &Tile, region: usize) -> Option<Tile> {
    let asm = &walk.of.resolved.asm;
    let names = asm.owners(asm.layers[region].name());
    let mut owners = tile.owners.iter().rev();
    let owner = *owners.find(|owner| names.contains(&asm.layers[owner.layer].name()))?;
    if !asm.copies_cooperatively(region) || !owner.is_even || tile.cores.len() == owner.cores {
        return None;
    }
    let mut whole = tile.clone();
    for core in tile.cores[owner.cores..].iter().rev() {
        whole.dims[core.dim] = core.whole;
    }
    whole.cores.truncate(owner.cores);
    whole.owners.retain(|other| other.cores <= owner.cores);
    Some(whole)
}

/// Tiles start where groups do.
fn group_starts(
    walk: &Walk,
    position: usize,
    axes: &[MemoryAxis],
    access: &[Expr],
) -> Result<(), Why> {
    for axis in axes {
        let (Counts::Groups { size, .. } | Counts::Within(size)) = axis.counts else {
            continue;
        };
        group_start(walk, position, &access[axis.of], size)?;
    }
    Ok(())
}

fn group_start(walk: &Walk, position: usize, access: &Expr, size: i64) -> Result<(), Why> {
    let refuted = |why: &str| Why::Refuted(Reason::Blocks, why.into());
    let dimensions = &walk.of.computation.dimensions;
    let form = access.linear(dimensions.len());
    let form =
        form.ok_or_else(|| refuted("expected a linear access to what is stored in groups"))?;
    let moved: Vec<(usize, i64)> = form.terms().collect();
    let d = match moved[..] {
        [] => return Ok(()),
        [(d, 1)] => d,
        _ => {
            return Err(refuted(
                "expected groups along one dimension, from index to index",
            ));
        }
    };
    let dim = &dimensions[d];
    if dim.lower.is_none() || dim.width != dim.step {
        let why = "expected groups from a known index on, without gaps".into();
        return Err(match (dim.lower, dim.width, dim.step) {
            (Some(_), Some(_), Some(_)) => Why::Refuted(Reason::Blocks, why),
            _ => Why::Open(Reason::Blocks, why),
        });
    }
    let mut around = walk.loops[..position].iter();
    let around = around.by_ref().filter(|outer| outer.level.dimension == d);
    for outer in around {
        let points = walk.of.known_points_of(outer.level);
        if points.is_none_or(|points| points % size != 0) {
            let number = points.map_or("a dynamic number of".into(), |n| n.to_string());
            let why = format!(
                "its tiles have {number} points, expected a multiple of the {size} of a group"
            );
            return Err(match points {
                Some(_) => Why::Refuted(Reason::Blocks, why),
                None => Why::Open(Reason::Blocks, why),
            });
        }
    }
    Ok(())
}

/// The block of each blocked input that a tile lies within.
pub(super) fn choose_blocks(walk: &Walk, position: usize, tile: &mut Tile) -> Checked {
    (0..tile.inputs.len()).try_for_each(|n| choose_block(walk, position, tile, n))
}

/// The block of an input that a tile lies within, if it is blocked.
fn choose_block(walk: &Walk, position: usize, tile: &mut Tile, n: usize) -> Checked {
    let Some(stored) = tile.inputs[n].stored.take() else {
        return Ok(());
    };
    let access = tile.inputs[n].maps[0].clone();
    let mut map = Vec::new();
    for axis in &stored.axes {
        let expr = &access[axis.of];
        let size = match axis.counts {
            Counts::All => {
                map.push(expr.clone());
                continue;
            }
            Counts::Within(size) => {
                map.push(expr.clone().modulo(size));
                continue;
            }
            Counts::Blocks(size) | Counts::Inside(size) => size,
            Counts::Groups { block, .. } => block,
        };
        within_block(walk, (position, tile), &stored, (n, expr), size)?;
        map.push(match axis.counts {
            Counts::Blocks(_) => Expr::Const(0),
            Counts::Groups { size, .. } => expr.clone().floor_div(size),
            _ => expr.clone(),
        });
    }
    let input = &mut tile.inputs[n];
    input.rank = map.len();
    input.maps = vec![map];
    Ok(())
}

/// A tile does not leave its block.
fn within_block(
    walk: &Walk,
    (position, tile): (usize, &Tile),
    stored: &Stored,
    (input, expr): (usize, &Expr),
    size: i64,
) -> Checked {
    let refuse = |found: String| {
        let level = match position < walk.loops.len() {
            true => format!("the tiles of {}", walk.level_name(position)),
            false => walk.level_name(position),
        };
        let name = &tile.inputs[input].name;
        let message = format!(
            "that stores '{name}' in blocks of {size}, but {level} read {found} of them: expected a \
             tile size that divides the block's"
        );
        Refusal::new(Reason::Blocks, message)
    };
    let form = expr.linear(tile.dims.len());
    let moved: Vec<(usize, i64)> = form.iter().flat_map(Linear::terms).collect();
    let (Some(form), [] | [(_, 1)]) = (form, &moved[..]) else {
        return Err(refuse(format!("several ({} dimensions)", moved.len())));
    };
    let Some((d, _)) = moved.first().copied() else {
        return Ok(());
    };
    let points = tile.span_of(walk.of.computation, d);
    let Some(points) = points else {
        return Err(refuse("a dynamic number".into()).open());
    };
    // A tile that is all of what is staged starts where its only block does.
    let (from, here) = (&stored.dims[d], &tile.dims[d]);
    let starts = from.opened == here.opened && (form.constant == 0 || here.lower.is_some());
    let divides = points > 0 && size % points == 0;
    match divides || points <= size && starts {
        true => Ok(()),
        false => Err(refuse(points.to_string())),
    }
}

/// The place of the output with a name, from the loop at a position on; partial results in memory of
/// their own are where the first output is.
fn home<'w>(walk: &'w Walk, name: &str, position: usize) -> Option<TileMemory<'w>> {
    let resolved = walk.of.resolved;
    let plans = &resolved.outputs;
    let plan = plans.iter().find(|p| p.name == name).or(plans.first())?;
    Some(resolved.output_at(plan, walk.loops[position]))
}

/// Returns whether it is partial results of cores that a block's memory is to hold before the loop at a
/// position: these are there anyway.
fn is_of_parts(walk: &Walk, position: usize, (region, layout): TileMemory) -> bool {
    let (of, asm) = (walk.loops[position], &walk.of.resolved.asm);
    let is_combined = asm.has_kernels() && of.is_parallel && of.combine.is_pw();
    is_combined && asm.copies_cooperatively(region) && *layout == StagedLayout::row_major()
}

/// The place of an output once those who share the loops from a position on have their own
/// registers: results in these are, outside of the loops over threads, where they were before.
fn settled<'w>(walk: &'w Walk, name: &str, position: usize) -> Option<TileMemory<'w>> {
    let asm = &walk.of.resolved.asm;
    let registers = asm.position("register");
    let is_open = |n: &usize| {
        let inner = &walk.loops[*n..];
        let is_register = home(walk, name, *n).map(|place| place.0) == registers;
        asm.has_kernels() && is_register && inner.iter().any(|l| l.is_parallel)
    };
    let place = (0..=position).rev().find(|n| !is_open(n));
    place.and_then(|place| home(walk, name, place))
}

/// Memory for outputs that change their place before the loop at a position.
pub(super) fn outputs(walk: &Walk, position: usize, tile: &mut Tile) -> Checked {
    let registers = walk.of.resolved.asm.position("register");
    let row_major = StagedLayout::row_major();
    give_places(walk, position, tile, |name| {
        let here = settled(walk, name, position)?;
        let before = position.checked_sub(1);
        let before = before.and_then(|before| settled(walk, name, before));
        // Results of a leaf stay in registers; those of loops around it need memory for that.
        let is_leaf = Some(here.0) == registers && position >= walk.leaf;
        let is_other = here != before.unwrap_or((0, &row_major));
        (is_other && !is_leaf && !is_of_parts(walk, position, here)).then_some(here)
    })
}

fn give_places<'p>(
    walk: &Walk,
    position: usize,
    tile: &mut Tile,
    named: impl Fn(&str) -> Option<TileMemory<'p>>,
) -> Checked {
    for n in 0..tile.outputs.len() {
        let Some(here) = named(&tile.outputs[n].name) else {
            continue;
        };
        let axes = output_axes(walk, position, tile, n, here).map_err(|why| {
            let name = walk.level_name(position);
            why.says(&format!(
                "that combines '{}' in memory of its own from {name} on",
                tile.outputs[n].name
            ))
        })?;
        place(&mut tile.outputs[n], &axes);
    }
    Ok(())
}

/// The axes of the memory of an output's tile.
fn output_axes(
    walk: &Walk,
    position: usize,
    tile: &Tile,
    n: usize,
    (_, layout): TileMemory,
) -> Result<Vec<MemoryAxis>, Why> {
    let refuted = |reason, why: &str| Err(Why::Refuted(reason, why.into()));
    if tile.is_deferred {
        return refuted(
            Reason::Deferred,
            "expected that inside of the level whose parts are deferred",
        );
    }
    if walk.of.is_between_tiles(walk.loops, position) {
        return refuted(Reason::TileOrder, BETWEEN_TILES);
    }
    equally(walk, position, tile)?;
    let output = &tile.outputs[n];
    let extent = in_step(tile, output)?;
    let rank = own_rank(walk, output);
    if rank.is_none() && *layout != StagedLayout::row_major() {
        return refuted(
            Reason::Layout,
            "expected row_major, since they are partial results of parts that are computed at the \
             same time",
        );
    }
    let rank = rank.unwrap_or(output.rank);
    let is_known = extent.iter().all(Option::is_some);
    let layout_of = |why: String| match is_known {
        true => Why::Refuted(Reason::Layout, why),
        false => Why::Open(Reason::Layout, why),
    };
    let mut axes = own_axes(layout, output.rank, rank).map_err(layout_of)?;
    let mut layout = layout.clone();
    if is_blocked(&axes) {
        layout = bricks(&axes, &extent).map_err(layout_of)?;
        axes = own_axes(&layout, output.rank, rank).map_err(layout_of)?;
    }
    fits(&layout, &axes, &extent)?;
    Ok(axes)
}

/// The number of axes of the output that a buffer stands for: those are its last ones. Partial
/// results of parts have one for each dimension that they hold, the first output's axes or not.
fn own_rank(walk: &Walk, buffer: &Access) -> Option<usize> {
    let outputs = &walk.of.computation.outputs;
    if let Some(output) = outputs.iter().find(|output| output.name == buffer.name) {
        return Some(output.shape.len());
    }
    let first = outputs.first()?;
    let written = &first.accesses.first()?.map;
    let mut maps = buffer.maps.iter();
    maps.all(|map| map.ends_with(written))
        .then_some(first.shape.len())
}
