//! `pw` dimensions, split into parts: carries from tile to tile, and partial results.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Parts};

use super::carry::{
    Destination, bare, copy, has_scan_carry, in_and_out, later, numbered, receive, receive_again,
    refuse,
};
use super::code::{combination, component_types};
use super::nest::Slices;
use super::nest::{ScheduledNest, Tile, bound};
use super::slices::kept;
use super::{lanes, owner};
use crate::support::builder::Builder;
use crate::support::scheduled::{Deferred, Loop};
use crate::support::tiles::{so_far, stored};

/// Tiles of a `pw` dimension one after the other: each adds to the destination.
pub fn sum<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: Tile<'c>,
) -> Result<(), Errors> {
    let tile_loop = nest.loops[position];
    if has_scan_carry(&tile) {
        return bare(nest, builder, tile_loop, &tile, |nest, builder, tile| {
            sum(nest, builder, position, tile)
        });
    }
    summed(
        nest,
        builder,
        tile_loop,
        tile,
        |nest, builder, tile, receive| {
            nest.each(
                builder,
                position,
                tile,
                |nest, builder, number, mut inner| {
                    receive(builder, number, &mut inner);
                    nest.descend(builder, position + 1, inner)
                },
            )
        },
    )
}

/// Gives a part with a number what it receives: nothing, if it is the first one of all.
pub type Receive<'c, 'r> = dyn Fn(&mut Builder<'c>, Val<'c>, &mut Tile<'c>) + 'r;

/// Parts of a tile, one after the other, in the dimension of a `pw` level: each adds to the destination.
pub fn summed<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    mut tile: Tile<'c>,
    parts: impl FnOnce(
        &ScheduledNest<'c, '_>,
        &mut Builder<'c>,
        &Tile<'c>,
        &Receive<'c, '_>,
    ) -> Result<(), Errors>,
) -> Result<(), Errors> {
    let d = of.level.dimension;
    if is_summed(&tile) {
        return parts(nest, builder, &tile, &|builder, number, inner| {
            receive_again(builder, number, inner, |inner, d| inner.combine[d].is_pw());
        });
    }
    let received = one_at_most(nest, of, &tile)?.cloned();
    // All tiles of all `pw` dimensions add to the same memory, each once.
    let carry = accumulators(nest, builder, &tile, d);
    let before = received.as_ref().map(|received| {
        if is_same(&received.incoming, &carry.incoming) {
            return received.valid;
        }
        let to = Destination {
            dims: &kept(&tile, None),
            buffers: carry.incoming.clone(),
        };
        receive(nest, builder, &tile, received, to)
    });
    let sums = carry.incoming.clone();
    tile.parts.carries = vec![carry];
    tile.carried.push(d);
    parts(nest, builder, &tile, &|builder, number, inner| {
        inner.parts.carries[0].valid = later(builder, number, before);
    })?;
    if let Some(carry) = received.filter(|carry| !carry.outgoing.is_empty()) {
        let to = Destination {
            dims: &kept(&tile, None),
            buffers: numbered(carry.outgoing),
        };
        copy(nest, builder, &tile, sums, to);
    }
    Ok(())
}

/// Returns whether the parts of a tile add to what those before it have left.
pub fn is_summed(tile: &Tile) -> bool {
    tile.carried.iter().any(|d| tile.combine[*d].is_pw())
}

/// Returns whether these are accesses of the same elements.
fn is_same(some: &[BufferPart], others: &[BufferPart]) -> bool {
    let same = |a: &BufferPart, b: &BufferPart| {
        a.value == b.value && a.accesses == b.accesses && a.origin == b.origin
    };
    some.len() == others.len() && some.iter().zip(others).all(|(a, b)| same(a, b))
}

/// Returns the memory of partial results: the outputs if they hold every component in its own type.
fn accumulators<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    d: usize,
) -> CarryPart<'c> {
    let components = &nest.of.computation.components;
    if let Some(slices) = &tile.deferred {
        // Each part has its own; which one is known further in.
        return CarryPart {
            dim: d,
            incoming: part_of(slices, Bound::Static(0)),
            valid: None,
            outgoing: vec![],
        };
    }
    let outputs = &tile.parts.outputs;
    let incoming = components.iter().enumerate().map(|(n, component)| {
        let (output, access) = stored(outputs, n, *component)?;
        let name = format!("partial_{n}");
        Some(so_far(&outputs[output], access, name))
    });
    if let Some(incoming) = incoming.collect() {
        return CarryPart {
            dim: d,
            incoming,
            valid: None,
            outgoing: vec![],
        };
    }
    let slices = Slices::new(nest, builder, tile, kept(tile, None), None);
    let (incoming, outgoing) = in_and_out(&slices);
    CarryPart {
        dim: d,
        incoming,
        valid: None,
        outgoing,
    }
}

/// Parts of a `pw` dimension at the same time: each leaves a partial result, then these are
/// combined over the parts.
pub fn partial_sums<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: Tile<'c>,
) -> Result<(), Errors> {
    let tile_loop = nest.loops[position];
    if tile.deferred.is_some() {
        return Err(refuse(nest, tile_loop, BETWEEN));
    }
    if has_scan_carry(&tile) {
        return bare(nest, builder, tile_loop, &tile, |nest, builder, tile| {
            partial_sums(nest, builder, position, tile)
        });
    }
    one_at_most(nest, tile_loop, &tile)?;
    let slices = of_parts(nest, builder, position, tile_loop, &tile)?;
    nest.each(
        builder,
        position,
        &tile,
        |nest, builder, number, mut inner| {
            inner.parts.outputs = partial_outputs(builder, &slices, number);
            inner.parts.carries.clear();
            inner.carried.clear();
            nest.descend(builder, position + 1, inner)
        },
    )?;
    combine_parts(nest, builder, tile_loop, &tile, &slices);
    Ok(())
}

/// Memory for what each part of a level gives, which is needed before the loop at a position.
fn of_parts<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    of: Loop,
    tile: &Tile<'c>,
) -> Result<Slices<'c>, Errors> {
    let dims = kept(tile, None);
    if let Some(own) = lanes::slices(nest, builder, position, of, tile, &dims)? {
        return Ok(own);
    }
    let count = nest.count(of, tile);
    Ok(Slices::new(nest, builder, tile, dims, Some(count)))
}

/// The carry of a tile whose parts are combined by a computation of their own, which has one.
fn one_at_most<'t, 'c>(
    nest: &ScheduledNest,
    of: Loop,
    tile: &'t Tile<'c>,
) -> Result<Option<&'t CarryPart<'c>>, Errors> {
    match &tile.parts.carries[..] {
        [] => Ok(None),
        [carry] => Ok(Some(carry)),
        _ => Err(refuse(
            nest,
            of,
            "combines parts of a computation that has several carries: expected one at most",
        )),
    }
}

/// Refusal of levels between a deferred one and the loops outside of which it is combined.
pub const BETWEEN: &str = "has parts that are computed at the same time, or is a prefix-sum, between \
                       another level and the one outside of which that is combined (R1): expected \
                       it elsewhere";

/// Parts of a level further in, combined after the loop at `position`: each has partial results
/// of its own for all that this loop keeps.
pub fn combine_deferred<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    deferred: Deferred,
    tile: Tile<'c>,
) -> Result<(), Errors> {
    let tile_loop = nest.loops[deferred.inside];
    if has_scan_carry(&tile) {
        return bare(nest, builder, tile_loop, &tile, |nest, builder, tile| {
            combine_deferred(nest, builder, position, deferred, tile)
        });
    }
    one_at_most(nest, tile_loop, &tile)?;
    let slices = of_parts(nest, builder, position, tile_loop, &tile)?;
    let mut inner = tile.clone();
    inner.parts.carries.clear();
    inner.carried.clear();
    inner.deferred = Some(slices.clone());
    nest.split(builder, position, inner)?;
    combine_parts(nest, builder, tile_loop, &tile, &slices);
    Ok(())
}

/// The parts of a deferred level: each adds to its own partial results.
pub fn deferred_parts<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    mut tile: Tile<'c>,
) -> Result<(), Errors> {
    let tile_loop = nest.loops[position];
    if has_scan_carry(&tile) {
        return Err(refuse(nest, tile_loop, BETWEEN));
    }
    let Some(slices) = tile.deferred.take() else {
        panic!("what is deferred has slices");
    };
    nest.each(
        builder,
        position,
        &tile,
        |nest, builder, number, mut inner| {
            inner.parts.outputs = partial_outputs(builder, &slices, number);
            let mut before = inner.parts.outputs.clone();
            before
                .iter_mut()
                .for_each(|buffer| buffer.components.clear());
            for carry in &mut inner.parts.carries {
                carry.incoming = before.clone();
            }
            nest.descend(builder, position + 1, inner)
        },
    )
}

/// The slices of the part whose number an origin is the opposite of.
pub fn part_of<'c>(slices: &Slices<'c>, from: Bound<'c>) -> Vec<BufferPart<'c>> {
    slices.buffers(Some((Expr::Const(0), from)), Expr::Dim)
}

/// Outputs that are a part's slices.
pub fn partial_outputs<'c>(
    builder: &mut Builder<'c>,
    slices: &Slices<'c>,
    number: Val<'c>,
) -> Vec<BufferPart<'c>> {
    // The part's number is where its slices start: index 0, with the origin moved.
    let zero = builder.index(0);
    let from = bound(builder.binary(ops::arith::SUBI, zero, number));
    let mut outputs = part_of(slices, from);
    for (n, output) in outputs.iter_mut().enumerate() {
        output.components = vec![n];
    }
    outputs
}

/// `out_view . md_hom(id, (cc, .., c)) . inp_view` over the parts.
fn combine_parts<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    tile: &Tile<'c>,
    slices: &Slices<'c>,
) {
    let whole = &tile.parts;
    let projection = slices.projection(whole);
    let last = slices.dims.len();
    let moved = |b: &BufferPart<'c>| projection.buffer(b);
    let first = Some((Expr::Dim(last), Bound::Static(0)));
    let (dims, combine) = slices.over_parts(nest, builder, of, whole);
    let carries = whole.carries.iter().map(|carry| CarryPart {
        dim: last,
        incoming: carry.incoming.iter().map(moved).collect(),
        valid: carry.valid,
        outgoing: carry.outgoing.iter().map(moved).collect(),
    });
    let mut merged = Parts {
        dims,
        combine,
        inputs: slices.buffers(first, |d| projection.place(d)),
        outputs: whole.outputs.iter().map(moved).collect(),
        carries: carries.collect(),
        laws: whole.laws.clone(),
        ..Parts::default()
    };
    for (n, input) in merged.inputs.iter_mut().enumerate() {
        input.name = format!("parts_{n}");
    }
    let types = component_types(builder, &nest.of.computation.components);
    let op = combination(builder, nest.of.op, &merged, &types);
    match slices.is_own {
        true => lanes::mark(nest, of, op, &merged.dims[last].name),
        false => owner::share_out(nest, tile, op, &merged, 1),
    }
}
