//! `ps` dimensions, split into parts: one after the other, or at the same time.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<1024xi32>, %y: memref<1024xi32>) {
//!   mdh.compute (i = 1024)
//!     out_view(y = %y[i] : memref<1024xi32>)
//!     md_hom(id, (ps(addi)))
//!     inp_view(x = %x[i] : memref<1024xi32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [core {i: 4}, register {i: 256}]>)
//!   return
//! }
//! // becomes
//! scf.forall (%p) = (0) to (1024) step (256) {
//!   ..
//!     out_view(partial_0 = %totals[0] origin(%before) : memref<4xi32>)
//!     md_hom(id, (pw(addi)))
//!   ..
//! } {mapping = [#mdh.core<"core", 0>], mdh.level = "core.i"}
//! mdh.compute (part = 4)
//!   out_view(prefix_0 = %prefixes[part] origin(-1) : memref<5xi32>)
//!   md_hom(id, (ps(addi)))
//!   inp_view(partial_0 = %totals[part] : memref<4xi32>)
//! scf.forall (%q) = (0) to (1024) step (256) {
//!   ..
//!     md_hom(id, (ps(addi)))
//!     inp_view(x = %x[i] : memref<1024xi32>)
//!     carry i (partial_0 = %prefixes[0] origin(%before_q) : memref<5xi32>) valid %is_later
//!   ..
//! } {mapping = [#mdh.core<"core", 0>], mdh.level = "core.i"}
//! ```

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Combine;
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Parts};

use super::carry::{
    Destination, bare, copy, in_and_out, later, numbered, pointwise, receive, receive_again, refuse,
};
use super::code::{combination, component_types};
use super::nest::Slices;
use super::nest::{ScheduledNest, Tile, bound};
use super::slices::kept;
use super::split::{BETWEEN, part_of, partial_outputs};
use super::{lanes, owner};
use crate::support::builder::Builder;
use crate::support::scheduled::Loop;

/// Returns whether the carries of a tile can be those of its parts in a `ps` dimension, too. Carries apply
/// from the last to the first; parts carry out what they have before those outside of their own.
fn follows(nest: &ScheduledNest, of: Loop, tile: &Tile) -> bool {
    let d = of.level.dimension;
    let carries = &tile.parts.carries;
    let Some(own) = carries.iter().position(|c| c.dim == d) else {
        return true;
    };
    let inner = &carries[own + 1..];
    if tile.carried.contains(&d) {
        return !inner.iter().any(|c| tile.combine[c.dim].is_ps());
    }
    // What comes in for the first part is then before the inner ones, and in what they carry out.
    let operator = nest.of.computation.operator();
    let may_swap = operator.is_none_or(|operator| operator.is_commutative());
    let carries_out = |c: &CarryPart| !c.outgoing.is_empty();
    inner.is_empty() || may_swap && !carries[own..].iter().any(carries_out)
}

/// Tiles of a `ps` dimension one after the other: each hands its last slice on.
pub fn scan<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    mut tile: Tile<'c>,
) -> Result<(), Errors> {
    let tile_loop = nest.loops[position];
    let d = tile_loop.level.dimension;
    if !follows(nest, tile_loop, &tile) {
        return bare(nest, builder, tile_loop, &tile, |nest, builder, tile| {
            scan(nest, builder, position, tile)
        });
    }
    if tile.carried.contains(&d) {
        return nest.each(
            builder,
            position,
            &tile,
            |nest, builder, number, mut inner| {
                receive_again(builder, number, &mut inner, |_, dim| dim == d);
                nest.descend(builder, position + 1, inner)
            },
        );
    }
    let at = tile.parts.carries.iter().position(|c| c.dim == d);
    let slices = Slices::new(nest, builder, &tile, kept(&tile, Some(d)), None);
    let (incoming, outgoing) = in_and_out(&slices);
    // What comes in goes where the tiles hand theirs on.
    let received = at.map(|at| tile.parts.carries.remove(at));
    let first = Destination::slices(&slices);
    let before = received.as_ref();
    let before = before.map(|carry| receive(nest, builder, &tile, carry, first));
    tile.parts.carries.push(CarryPart {
        dim: d,
        incoming,
        valid: None,
        outgoing,
    });
    tile.carried.push(d);
    let c = tile.parts.carries.len() - 1;
    nest.each(
        builder,
        position,
        &tile,
        |nest, builder, number, mut inner| {
            inner.parts.carries[c].valid = later(builder, number, before);
            nest.descend(builder, position + 1, inner)
        },
    )?;
    if let Some(carry) = received.filter(|carry| !carry.outgoing.is_empty()) {
        let last = slices.buffers(None, Expr::Dim);
        let to = Destination {
            dims: &slices.dims,
            buffers: numbered(carry.outgoing),
        };
        copy(nest, builder, &tile, last, to);
    }
    Ok(())
}

/// Parts of a `ps` dimension at the same time: the combination of each part, a prefix-sum of
/// these, and then each part with what those before it combine to. The loops of the schedule are
/// for the prefix-sums; where nothing is staged in them, the model chooses those of the
/// combinations.
///
/// A carry that the tile receives in this dimension is what the first part starts with; what the
/// last part has in the end is carried out.
pub fn partial_scans<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: Tile<'c>,
) -> Result<(), Errors> {
    let tile_loop = nest.loops[position];
    let d = tile_loop.level.dimension;
    lanes::refuse_scan(nest, tile_loop)?;
    if tile.deferred.is_some() {
        return Err(refuse(nest, tile_loop, BETWEEN));
    }
    if !follows(nest, tile_loop, &tile) {
        return bare(nest, builder, tile_loop, &tile, |nest, builder, tile| {
            partial_scans(nest, builder, position, tile)
        });
    }
    let c = tile.parts.carries.iter().position(|c| c.dim == d);
    let received = c.map(|c| &tile.parts.carries[c]);
    let dims = kept(&tile, Some(d));
    let count = nest.count(tile_loop, &tile);
    let totals = Slices::new(nest, builder, &tile, dims.clone(), Some(count));
    combine_parts(nest, builder, position, &tile, &totals)?;
    // What each part receives; behind the last one's, what there is in the end.
    let mut outside = nest.outside;
    let unit = outside.index(1);
    let places = outside.binary(ops::arith::ADDI, count, unit);
    let prefixes = Slices::new(nest, builder, &tile, dims, Some(places));
    let first = Destination {
        dims: &prefixes.dims,
        buffers: part_of(&prefixes, Bound::Static(0)),
    };
    let before = received.map(|carry| receive(nest, builder, &tile, carry, first));
    scan_parts(
        nest,
        builder,
        tile_loop,
        &tile,
        received,
        [&totals, &prefixes],
    );
    nest.each(
        builder,
        position,
        &tile,
        |nest, builder, number, mut inner| {
            let carry = carry_of_part(builder, &prefixes, d, number, before);
            match c {
                Some(c) => inner.parts.carries[c] = carry,
                None => inner.parts.carries.push(carry),
            }
            inner.carried.retain(|carried| *carried != d);
            nest.descend(builder, position + 1, inner)
        },
    )
}

/// The carry that the part of a number receives in a dimension.
fn carry_of_part<'c>(
    builder: &mut Builder<'c>,
    prefixes: &Slices<'c>,
    d: usize,
    number: Val<'c>,
    before: Option<Option<Val<'c>>>,
) -> CarryPart<'c> {
    let zero = builder.index(0);
    let from = bound(builder.binary(ops::arith::SUBI, zero, number));
    CarryPart {
        dim: d,
        incoming: part_of(prefixes, from),
        valid: later(builder, number, before),
        outgoing: vec![],
    }
}

/// The combination of each part of a `ps` dimension.
fn combine_parts<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &Tile<'c>,
    totals: &Slices<'c>,
) -> Result<(), Errors> {
    let d = nest.loops[position].level.dimension;
    nest.each(
        builder,
        position,
        tile,
        |nest, builder, number, mut inner| {
            inner.parts.outputs = partial_outputs(builder, totals, number);
            inner.parts.combine[d] = pointwise(builder, inner.parts.combine[d]);
            inner.combine[d] = Combine::Pw(0);
            inner.parts.carries.clear();
            inner.carried.clear();
            match nest.compute_freely(builder, position + 1, &inner) {
                true => Ok(()),
                false => nest.descend(builder, position + 1, inner),
            }
        },
    )
}

/// The prefix-sum of the parts' combinations, after what the first one receives: for each part
/// what all up to it combine to, one place further on.
fn scan_parts<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    tile: &Tile<'c>,
    received: Option<&CarryPart<'c>>,
    [totals, prefixes]: [&Slices<'c>; 2],
) {
    let whole = &tile.parts;
    let projection = totals.projection(whole);
    let place = |d: usize| projection.place(d);
    let last = totals.dims.len();
    let (dims, combine) = totals.over_parts(nest, builder, of, whole);
    let from = |origin: i64| Some((Expr::Dim(last), Bound::Static(origin)));
    let mut outputs = prefixes.buffers(from(-1), place);
    for (n, output) in outputs.iter_mut().enumerate() {
        output.components = vec![n];
        output.name = format!("prefix_{n}");
    }
    let moved = |all: &[BufferPart<'c>]| all.iter().map(|b| projection.buffer(b)).collect();
    let carry = received.map(|carry| CarryPart {
        dim: last,
        incoming: moved(&carry.incoming),
        valid: carry.valid,
        outgoing: moved(&carry.outgoing),
    });
    let merged = Parts {
        dims,
        combine,
        inputs: totals.buffers(from(0), place),
        outputs,
        carries: carry.into_iter().collect(),
        laws: whole.laws.clone(),
        ..Parts::default()
    };
    let types = component_types(builder, &nest.of.computation.components);
    let op = combination(builder, nest.of.op, &merged, &types);
    owner::share_out(nest, tile, op, &merged, 1);
}
