//! Carries of tiles in a dimension that combines: received from those before, and carried out.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Dim, Parts};
use melior::ir::Attribute;

use super::code::{cc, combination, component_types};
use super::nest::Slices;
use super::nest::{ScheduledNest, Tile};
use super::owner;
use super::slices::kept;
use super::split::BETWEEN;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::builder::{Builder, known};
use crate::support::names::fresh;
use crate::support::projection::Projection;
use crate::support::scheduled::Loop;
use crate::support::tiles::after_first;

/// Returns the refusal of a dimension that cannot be split yet, by name.
pub fn refuse(nest: &ScheduledNest, of: Loop, why: &str) -> Errors {
    vec![format!(
        "has a schedule whose level '{}' {why}",
        nest.of.resolved.name(of.level)
    )]
}

/// Returns whether a tile of a prefix-sum receives something, which its parts must not receive again.
pub fn has_scan_carry(tile: &Tile) -> bool {
    let mut carries = tile.parts.carries.iter();
    carries.any(|carry| tile.combine[carry.dim].is_ps())
}

/// Returns whether a part receives something, where the first one does if there was something `before`.
pub fn later<'c>(
    builder: &mut Builder<'c>,
    number: Val<'c>,
    before: Option<Option<Val<'c>>>,
) -> Option<Val<'c>> {
    match before {
        Some(None) => None,
        before => Some(after_first(builder, number, before.flatten())),
    }
}

/// Tiles of tiles: all but the very first of them receive something from the one before.
pub fn receive_again<'c>(
    builder: &mut Builder<'c>,
    number: Val<'c>,
    inner: &mut Tile<'c>,
    carries: impl Fn(&Tile<'c>, usize) -> bool,
) {
    for n in 0..inner.parts.carries.len() {
        let carry = &inner.parts.carries[n];
        if let (Some(valid), true) = (carry.valid, carries(inner, carry.dim)) {
            inner.parts.carries[n].valid = Some(after_first(builder, number, Some(valid)));
        }
    }
}

/// Slices as the carries that a tile receives and, under other names, as those that it carries out.
pub fn in_and_out<'c>(slices: &Slices<'c>) -> (Vec<BufferPart<'c>>, Vec<BufferPart<'c>>) {
    let incoming = slices.buffers(None, Expr::Dim);
    let mut outgoing = incoming.clone();
    for (n, buffer) in outgoing.iter_mut().enumerate() {
        buffer.name = format!("next_{n}");
    }
    (incoming, outgoing)
}

/// Destination of tuples of a tile's points in some dimensions.
pub struct Destination<'d, 'c> {
    /// The dimensions that are kept.
    pub dims: &'d [usize],
    /// The buffers that are written.
    pub buffers: Vec<BufferPart<'c>>,
}

impl<'d, 'c> Destination<'d, 'c> {
    /// All of some slices.
    pub fn slices(slices: &'d Slices<'c>) -> Self {
        Destination {
            dims: &slices.dims,
            buffers: slices.buffers(None, Expr::Dim),
        }
    }
}

/// Copies a carry to where parts receive theirs, in buffers that are not outputs yet; returns its valid bit.
pub fn receive<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    carry: &CarryPart<'c>,
    to: Destination<'_, 'c>,
) -> Option<Val<'c>> {
    let outputs = Destination {
        buffers: numbered(to.buffers),
        ..to
    };
    let copy = |builder: &mut Builder<'c>| {
        copy(nest, builder, tile, carry.incoming.clone(), outputs);
    };
    match carry.valid {
        None => copy(builder),
        Some(valid) => builder.if_then(valid, copy),
    }
    carry.valid
}

/// Buffers as outputs, one access for each component: where several are the same buffer, it is one
/// output with their accesses.
pub fn numbered<'c>(buffers: Vec<BufferPart<'c>>) -> Vec<BufferPart<'c>> {
    let mut outputs: Vec<BufferPart> = Vec::new();
    for (n, buffer) in buffers.into_iter().enumerate() {
        let is_same =
            |other: &&mut BufferPart| other.value == buffer.value && other.origin == buffer.origin;
        match outputs.iter_mut().find(is_same) {
            Some(same) => {
                same.accesses.extend(buffer.accesses);
                same.components.push(n);
            }
            None => outputs.push(BufferPart {
                components: vec![n],
                name: format!("copy_{n}"),
                ..buffer
            }),
        }
    }
    outputs
}

/// Copies the tuples of a tile's points from buffers to outputs.
pub fn copy<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    from: Vec<BufferPart<'c>>,
    to: Destination<'_, 'c>,
) {
    let mut parts = over(builder, tile, from, to);
    if parts.dims.is_empty() {
        parts.dims.push(Dim::dense("all", Bound::Static(1)));
        parts.combine.push(cc(builder));
    }
    let types = component_types(builder, &nest.of.computation.components);
    let op = combination(builder, nest.of.op, &parts, &types);
    owner::share_out(nest, tile, op, &parts, 1);
}

/// A computation for the points of a tile in the dimensions of a destination.
fn over<'c>(
    builder: &Builder<'c>,
    tile: &Tile<'c>,
    from: Vec<BufferPart<'c>>,
    to: Destination<'_, 'c>,
) -> Parts<'c> {
    let projection = Projection::new(to.dims, tile.parts.dims.len());
    let moved = |all: Vec<BufferPart<'c>>| all.iter().map(|b| projection.buffer(b)).collect();
    let mut parts = Parts {
        dims: projection.dims(&tile.parts.dims),
        combine: to.dims.iter().map(|_| cc(builder)).collect(),
        inputs: moved(from),
        outputs: moved(to.buffers),
        ..Parts::default()
    };
    for input in &mut parts.inputs {
        input.components.clear();
    }
    parts
}

/// A tile without the carries that it receives, in memory of its own: its results are combined with
/// them when it is finished. Its parts can then receive and carry out other values.
pub fn bare<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    tile: &Tile<'c>,
    body: impl FnOnce(&ScheduledNest<'c, '_>, &mut Builder<'c>, Tile<'c>) -> Result<(), Errors>,
) -> Result<(), Errors> {
    if tile.deferred.is_some() {
        return Err(refuse(nest, of, BETWEEN));
    }
    let carries = &tile.parts.carries;
    let dims = kept(tile, None);
    let slices = |builder: &mut Builder<'c>| Slices::new(nest, builder, tile, dims.clone(), None);
    let mut places = slices(builder);
    let mut inner = tile.clone();
    inner.parts.outputs = numbered(places.buffers(None, Expr::Dim));
    inner.parts.carries.clear();
    inner.carried.clear();
    body(nest, builder, inner)?;
    for carry in carries.iter().rev() {
        let next = slices(builder);
        let to = Destination {
            dims: &dims,
            buffers: numbered(next.buffers(None, Expr::Dim)),
        };
        add(
            nest,
            builder,
            tile,
            carry,
            places.buffers(None, Expr::Dim),
            to,
        );
        places = next;
        if !carry.outgoing.is_empty() {
            carry_out(nest, builder, tile, carry, &places);
        }
    }
    let to = Destination {
        dims: &dims,
        buffers: tile.parts.outputs.clone(),
    };
    copy(nest, builder, tile, places.buffers(None, Expr::Dim), to);
    Ok(())
}

/// Carries out what slices hold for the last point of a carry's dimension; of an empty one, what
/// comes in.
fn carry_out<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    carry: &CarryPart<'c>,
    slices: &Slices<'c>,
) {
    let d = carry.dim;
    let remaining: Vec<usize> = slices.dims.iter().copied().filter(|o| *o != d).collect();
    let carry_out = |builder: &mut Builder<'c>| {
        let last = slices.last(builder, tile, d);
        let to = Destination {
            dims: &remaining,
            buffers: numbered(carry.outgoing.clone()),
        };
        copy(nest, builder, tile, last, to);
        Vec::new()
    };
    let incoming = |builder: &mut Builder<'c>| {
        let to = Destination {
            dims: &remaining,
            buffers: carry.outgoing.clone(),
        };
        receive(nest, builder, tile, carry, to);
        Vec::new()
    };
    // Parts of a split dimension have points, and sums have results without any.
    if tile.carried.contains(&d) || tile.combine[d].is_pw() {
        carry_out(builder);
        return;
    }
    let count = Grid::new(builder, &tile.parts.dims[d]).count;
    match known(count) {
        // There is no last point: code that reads one is refused, even where it never runs.
        Some(0) => incoming(builder),
        Some(_) => carry_out(builder),
        None => {
            let zero = builder.index(0);
            let is_there = builder.compare("ne", count, zero);
            builder.if_else(is_there, &[], carry_out, incoming)
        }
    };
}

/// `f(carry, t)` for each point of a tile: a combination of one part, which receives the carry.
fn add<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    tile: &Tile<'c>,
    carry: &CarryPart<'c>,
    from: Vec<BufferPart<'c>>,
    to: Destination<'_, 'c>,
) {
    let dims = to.dims;
    let projection = Projection::new(dims, tile.parts.dims.len());
    let mut parts = over(builder, tile, from, to);
    let name = fresh("part", |name| parts.dims.iter().any(|d| d.name == name));
    parts.dims.push(Dim::dense(&name, Bound::Static(1)));
    parts
        .combine
        .push(pointwise(builder, tile.parts.combine[carry.dim]));
    let incoming = carry.incoming.iter();
    parts.carries.push(CarryPart {
        dim: dims.len(),
        incoming: incoming.map(|b| projection.buffer(b)).collect(),
        valid: carry.valid,
        outgoing: vec![],
    });
    parts.laws = tile.parts.laws.clone();
    let types = component_types(builder, &nest.of.computation.components);
    let op = combination(builder, nest.of.op, &parts, &types);
    owner::share_out(nest, tile, op, &parts, 1);
}

/// `pw(f)` for `ps(f)`.
pub fn pointwise<'c>(builder: &Builder<'c>, combine: Attribute<'c>) -> Attribute<'c> {
    let text = combine.to_string().replacen("#mdh.ps", "#mdh.pw", 1);
    Attribute::parse(builder.context, &text).unwrap_or_else(|| panic!("{text} is an attribute"))
}
