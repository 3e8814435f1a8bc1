//! Dimensions that combine, split into parts: carries from tile to tile, and partial results.

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Combine;
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Parts};
use mdh_dialect::types;
use melior::ir::{Attribute, ValueLike};

use super::code::{cc, combination, component_types, dense};
use super::nest::{Nest, Tile, bound};
use super::slices::{Slices, kept};
use crate::builder::Builder;
use crate::scheduled::{Late, Loop};

/// Whether something is carried, in iterations after the first one, or in all if it was before.
fn after_first<'c>(builder: &mut Builder<'c>, number: Val<'c>, before: Option<Val<'c>>) -> Val<'c> {
    let zero = builder.index(0);
    let is_later = builder.compare("ne", number, zero);
    match before {
        None => is_later,
        Some(before) => builder.binary("arith.ori", before, is_later),
    }
}

/// What cannot be split yet, by name.
fn refuse(nest: &Nest, of: Loop, why: &str) -> Errors {
    vec![format!(
        "has a schedule whose level '{}' {why}",
        nest.of.total.name(of.level)
    )]
}

fn has_scan_carry(tile: &Tile) -> bool {
    tile.carried.iter().any(|d| tile.combine[*d].is_ps())
}

/// Tiles of a `pw` dimension one after the other: each adds to what is there.
pub fn sum<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    mut tile: Tile<'c>,
) -> Result<(), Errors> {
    let of = nest.loops[position];
    let d = of.level.dimension;
    let combine = tile.combine.clone();
    let is_pw = |d: usize| combine[d].is_pw();
    if has_scan_carry(&tile) {
        return Err(refuse(
            nest,
            of,
            "splits a combined dimension inside of a prefix-sum that is split: expected it \
             outside, or in registers",
        ));
    }
    if !tile.carried.iter().any(|d| is_pw(*d)) {
        if !tile.parts.carries.is_empty() {
            return Err(refuse(
                nest,
                of,
                "splits a combined dimension of a computation that has a carry: expected one \
                 without",
            ));
        }
        // All tiles of all `pw` dimensions add to the same memory, each once.
        let carry = accumulators(nest, builder, &tile, d);
        tile.parts.carries.push(carry);
        tile.carried.push(d);
        let c = tile.parts.carries.len() - 1;
        return nest.each(
            builder,
            position,
            &tile,
            |nest, builder, number, mut inner| {
                inner.parts.carries[c].valid = Some(after_first(builder, number, None));
                nest.descend(builder, position + 1, inner)
            },
        );
    }
    again(nest, builder, position, &tile, is_pw)
}

/// Tiles of tiles: all but the very first of them receive something from the one before.
fn again<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &Tile<'c>,
    carries: impl Fn(usize) -> bool,
) -> Result<(), Errors> {
    nest.each(
        builder,
        position,
        tile,
        |nest, builder, number, mut inner| {
            for carry in inner.parts.carries.iter_mut().filter(|c| carries(c.dim)) {
                if let Some(valid) = carry.valid {
                    carry.valid = Some(after_first(builder, number, Some(valid)));
                }
            }
            nest.descend(builder, position + 1, inner)
        },
    )
}

/// Where partial results are: in the outputs if they hold every component in its own type.
fn accumulators<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    d: usize,
) -> CarryPart<'c> {
    let components = &nest.of.computation.components;
    if let Some(slices) = &tile.late {
        // Each part has its own; which one is known further in.
        return CarryPart {
            dim: d,
            incoming: part_of(slices, Bound::Static(0)),
            valid: None,
            outgoing: vec![],
        };
    }
    let mut incoming = Vec::new();
    for (n, component) in components.iter().enumerate() {
        let found = tile.parts.outputs.iter().find_map(|output| {
            let element = types::buffer_type(output.value.r#type()).map(|t| t.element);
            let access = output.components.iter().position(|c| *c == n)?;
            (element == Some(*component)).then(|| BufferPart {
                name: format!("partial_{n}"),
                accesses: vec![output.accesses[access].clone()],
                components: vec![],
                ..output.clone()
            })
        });
        incoming.extend(found);
    }
    if incoming.len() == components.len() {
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

/// Slices as what a tile receives and, under other names, as what it hands on.
fn in_and_out<'c>(slices: &Slices<'c>) -> (Vec<BufferPart<'c>>, Vec<BufferPart<'c>>) {
    let incoming = slices.buffers(None, Expr::Dim);
    let mut outgoing = incoming.clone();
    for (n, buffer) in outgoing.iter_mut().enumerate() {
        buffer.name = format!("next_{n}");
    }
    (incoming, outgoing)
}

/// Whether the carries around a prefix-sum can be those of its tiles, too.
fn follows(nest: &Nest, of: Loop, tile: &Tile) -> Result<(), Errors> {
    let d = of.level.dimension;
    if tile.carried.contains(&d) {
        let mut inner = tile.carried.iter().skip_while(|c| **c != d).skip(1);
        return match inner.any(|c| tile.combine[*c].is_ps()) {
            true => Err(refuse(
                nest,
                of,
                "splits a prefix-sum again inside of another one: expected its levels next to \
                 each other",
            )),
            false => Ok(()),
        };
    }
    let carries = &tile.parts.carries;
    let Some(own) = carries.iter().position(|c| c.dim == d) else {
        return Ok(());
    };
    if !carries[own].outgoing.is_empty() {
        return Err(refuse(
            nest,
            of,
            "splits a prefix-sum that hands its carry on: expected one that does not",
        ));
    }
    // The parts' carries apply before those of the computation: what comes in for the first part
    // is then before them, too, and in what they hand on.
    let inner = &carries[own + 1..];
    let operator = nest.of.computation.operator();
    let may_swap = operator.is_none_or(|operator| operator.is_commutative());
    if !may_swap && !inner.is_empty() || inner.iter().any(|c| !c.outgoing.is_empty()) {
        return Err(refuse(
            nest,
            of,
            "splits a prefix-sum with a carry that applies after others: expected it to be the \
             innermost one",
        ));
    }
    Ok(())
}

/// Tiles of a `ps` dimension one after the other: each hands its last slice on.
pub fn scan<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    mut tile: Tile<'c>,
) -> Result<(), Errors> {
    let of = nest.loops[position];
    let d = of.level.dimension;
    follows(nest, of, &tile)?;
    if tile.carried.contains(&d) {
        return again(nest, builder, position, &tile, |dim| dim == d);
    }
    let own = tile.parts.carries.iter().position(|c| c.dim == d);
    let slices = Slices::new(nest, builder, &tile, kept(&tile, Some(d)), None);
    let (incoming, outgoing) = in_and_out(&slices);
    let mut before = None;
    if let Some(own) = own {
        // What comes in goes where the tiles hand theirs on.
        let carry = tile.parts.carries.remove(own);
        before = Some(start(nest, builder, &tile, &carry, &slices));
    }
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
            inner.parts.carries[c].valid = match before {
                Some(None) => None,
                Some(Some(before)) => Some(after_first(builder, number, Some(before))),
                None => Some(after_first(builder, number, None)),
            };
            nest.descend(builder, position + 1, inner)
        },
    )
}

/// Copies a carry to slices; returns its valid bit.
fn start<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    carry: &CarryPart<'c>,
    slices: &Slices<'c>,
) -> Option<Val<'c>> {
    let whole = &tile.parts;
    let projection = slices.projection(whole);
    let incoming = carry.incoming.iter();
    let inputs = incoming.map(|input| projection.buffer(input)).collect();
    let mut outputs = slices.buffers(None, |d| projection.place(d));
    for (n, output) in outputs.iter_mut().enumerate() {
        output.components = vec![n];
        output.name = format!("first_{n}");
    }
    let mut dims = projection.dims(&whole.dims);
    if dims.is_empty() {
        dims.push(dense("all", Bound::Static(1)));
    }
    let parts = Parts {
        combine: dims.iter().map(|_| cc(builder)).collect(),
        dims,
        inputs,
        outputs,
        carries: vec![],
        laws: Default::default(),
    };
    let types = component_types(builder, &nest.of.computation.components);
    let copy = |builder: &mut Builder<'c>| {
        combination(builder, nest.of.op, &parts, &types);
    };
    match carry.valid {
        None => copy(builder),
        Some(valid) => builder.if_then(valid, copy),
    }
    carry.valid
}

/// Parts of a `pw` dimension at the same time: each leaves a partial result, then these are
/// combined over the parts.
pub fn partial_sums<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: Tile<'c>,
) -> Result<(), Errors> {
    let of = nest.loops[position];
    combinable(nest, of, &tile)?;
    if tile.late.is_some() {
        return Err(refuse(nest, of, BETWEEN));
    }
    let dims = kept(&tile, None);
    let count = nest.count(of, &tile);
    let slices = Slices::new(nest, builder, &tile, dims, Some(count));
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
    combine_parts(nest, builder, of, &tile, &slices);
    Ok(())
}

/// Whether the parts of a tile can be combined by a computation of their own.
fn combinable(nest: &Nest, of: Loop, tile: &Tile) -> Result<(), Errors> {
    if has_scan_carry(tile) {
        return Err(refuse(
            nest,
            of,
            "combines parts inside of a prefix-sum that is split: expected it outside",
        ));
    }
    if tile.parts.carries.len() > 1 {
        return Err(refuse(
            nest,
            of,
            "combines parts of a computation that has several carries: expected one at most",
        ));
    }
    Ok(())
}

const BETWEEN: &str = "has parts that are computed at the same time, or is a prefix-sum, between \
                       another level and the one outside of which that is combined (R1): expected \
                       it elsewhere";

/// Parts of a level further in, combined after the loop at `position`: each has partial results
/// of its own for all that this loop keeps.
pub fn combine_late<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    late: Late,
    tile: Tile<'c>,
) -> Result<(), Errors> {
    let of = nest.loops[late.inside];
    combinable(nest, of, &tile)?;
    let count = nest.count(of, &tile);
    let slices = Slices::new(nest, builder, &tile, kept(&tile, None), Some(count));
    let mut inner = tile.clone();
    inner.parts.carries.clear();
    inner.carried.clear();
    inner.late = Some(slices.clone());
    nest.split(builder, position, inner)?;
    combine_parts(nest, builder, of, &tile, &slices);
    Ok(())
}

/// The parts of a level that are combined later: each adds to its own partial results.
pub fn late_parts<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    mut tile: Tile<'c>,
) -> Result<(), Errors> {
    let of = nest.loops[position];
    if has_scan_carry(&tile) {
        return Err(refuse(nest, of, BETWEEN));
    }
    let Some(slices) = tile.late.take() else {
        panic!("what is combined late has slices");
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
fn part_of<'c>(slices: &Slices<'c>, from: Bound<'c>) -> Vec<BufferPart<'c>> {
    slices.buffers(Some((Expr::Const(0), from)), Expr::Dim)
}

/// Outputs that are a part's slices.
fn partial_outputs<'c>(
    builder: &mut Builder<'c>,
    slices: &Slices<'c>,
    number: Val<'c>,
) -> Vec<BufferPart<'c>> {
    // The part's number is where its slices start: index 0, with the origin moved.
    let zero = builder.index(0);
    let from = bound(builder.binary("arith.subi", zero, number));
    let mut outputs = part_of(slices, from);
    for (n, output) in outputs.iter_mut().enumerate() {
        output.components = vec![n];
    }
    outputs
}

/// `out_view . md_hom(id, (cc, .., c)) . inp_view` over the parts.
fn combine_parts<'c>(
    nest: &Nest<'c, '_>,
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
    let mut all = Parts {
        dims,
        combine,
        inputs: slices.buffers(first, |d| projection.place(d)),
        outputs: whole.outputs.iter().map(moved).collect(),
        carries: carries.collect(),
        laws: whole.laws.clone(),
    };
    for (n, input) in all.inputs.iter_mut().enumerate() {
        input.name = format!("parts_{n}");
    }
    let types = component_types(builder, &nest.of.computation.components);
    combination(builder, nest.of.op, &all, &types);
}

/// Parts of a `ps` dimension at the same time: the combination of each part, a prefix-sum of
/// these, and then each part with what the parts before it combine to.
pub fn partial_scans<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: Tile<'c>,
) -> Result<(), Errors> {
    let of = nest.loops[position];
    let d = of.level.dimension;
    if tile.late.is_some() {
        return Err(refuse(nest, of, BETWEEN));
    }
    if !tile.parts.carries.is_empty() {
        return Err(refuse(
            nest,
            of,
            "computes parts of a prefix-sum at the same time inside of a dimension that is split: \
             expected it outside",
        ));
    }
    let dims = kept(&tile, Some(d));
    let count = nest.count(of, &tile);
    let totals = Slices::new(nest, builder, &tile, dims.clone(), Some(count));
    let prefixes = Slices::new(nest, builder, &tile, dims, Some(count));
    nest.each(
        builder,
        position,
        &tile,
        |nest, builder, number, mut inner| {
            inner.parts.outputs = partial_outputs(builder, &totals, number);
            inner.parts.combine[d] = pointwise(builder, inner.parts.combine[d]);
            inner.combine[d] = Combine::Pw(0);
            nest.descend(builder, position + 1, inner)
        },
    )?;
    scan_parts(nest, builder, of, &tile, &totals, &prefixes);
    nest.each(
        builder,
        position,
        &tile,
        |nest, builder, number, mut inner| {
            let one = builder.index(1);
            let before = builder.binary("arith.subi", number, one);
            let zero = builder.index(0);
            let before = builder.binary("arith.maxsi", before, zero);
            let from = bound(builder.binary("arith.subi", zero, before));
            let incoming = prefixes.buffers(Some((Expr::Const(0), from)), Expr::Dim);
            let valid = Some(after_first(builder, number, None));
            inner.parts.carries.push(CarryPart {
                dim: d,
                incoming,
                valid,
                outgoing: vec![],
            });
            nest.descend(builder, position + 1, inner)
        },
    )
}

/// `pw(f)` for `ps(f)`.
fn pointwise<'c>(builder: &Builder<'c>, combine: Attribute<'c>) -> Attribute<'c> {
    let text = combine.to_string().replacen("#mdh.ps", "#mdh.pw", 1);
    Attribute::parse(builder.context, &text).unwrap_or_else(|| panic!("{text} is an attribute"))
}

/// The prefix-sum of the parts' combinations.
fn scan_parts<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    tile: &Tile<'c>,
    totals: &Slices<'c>,
    prefixes: &Slices<'c>,
) {
    let whole = &tile.parts;
    let projection = totals.projection(whole);
    let place = |d: usize| projection.place(d);
    let last = totals.dims.len();
    let (dims, combine) = totals.over_parts(nest, builder, of, whole);
    let first = || Some((Expr::Dim(last), Bound::Static(0)));
    let mut outputs = prefixes.buffers(first(), place);
    for (n, output) in outputs.iter_mut().enumerate() {
        output.components = vec![n];
        output.name = format!("prefix_{n}");
    }
    let all = Parts {
        dims,
        combine,
        inputs: totals.buffers(first(), place),
        outputs,
        carries: vec![],
        laws: whole.laws.clone(),
    };
    let types = component_types(builder, &nest.of.computation.components);
    combination(builder, nest.of.op, &all, &types);
}
