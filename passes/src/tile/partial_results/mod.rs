//! Partial results of parts of a dimension that combines: `transform.structured.tile_reduction_using_for`
//! and `tile_reduction_using_forall`.
//!
//! ```mlir
//! // mdh-opt partial.mlir --transform-interpreter --canonicalize --cse
//! // The sum of 64 elements, by four threads:
//! %parts = scf.forall (%t) in (4) shared_outs(%all = %any) -> (tensor<4xf32>) {
//!   %k = affine.apply #map(%t)
//!   %end = arith.addi %k, %c16 : index
//!   %one = tensor.extract_slice %all[%t] [1] [1] : tensor<4xf32> to tensor<1xf32>
//!   %part = mdh.compute (k = %k to %end)
//!     out_view(s_parts = %one[0] : tensor<1xf32>)
//!     md_hom(id, (pw(addf)))
//!     inp_view(x = %x[k] : tensor<64xf32>)
//!   scf.forall.in_parallel {
//!     tensor.parallel_insert_slice %part into %all[%t] [1] [1] : tensor<1xf32> into tensor<4xf32>
//!   }
//! }
//! %s = mdh.compute (k = 4)
//!   out_view(s = %init[] : tensor<f32>)
//!   md_hom(id, (pw(addf)))
//!   inp_view(s_parts = %parts[k] : tensor<4xf32>)
//! ```
//!
//! There is a tensor of partial results for each component, in the component's own type: over the
//! dimensions that are `cc`, then over those that are cut. Parts that follow each other
//! (`scf.forall`) have a partial result each, in which elements stand in their order. Parts of
//! `scf.for` have an element for each partial result, and receive as a carry what is there; they
//! take elements in turn, for which the operator has to commute. Nothing is taken for a neutral
//! element: what no part has computed is not merged. Where there may be no points, and no neutral element, a
//! part has a further dimension, which has a point if there are some.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::partial::{Partial, Split};
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Dim, Parts};
use mdh_dialect::tiling::{At, IndexBox, Refusal, Tiled, slice};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{ops, verify, write};
use melior::ir::Region;
use melior::ir::operation::OperationLike;

use crate::support::buffers::{self, as_bound, value};
use crate::support::builder::Builder;
use crate::support::draft::{self, is_kind};
use crate::support::extents::Sum;
use crate::support::names;
use crate::support::region;
use crate::support::tiles;
use crate::tile::tile::code::cc;
use crate::tile::tiling_interface::boxes::{self, Spans, too_large};
use crate::tile::tiling_interface::{Tile, UntiledOp};

mod merge;

/// Partial results of computations.
pub static PARTIAL: Partial = Partial {
    start,
    tile,
    position,
    merge: merge::merge,
};

/// Reads a computation of which partial results are wanted, or says why there are none.
fn read<'c>(op: Op<'c>, cut: &[usize]) -> Result<UntiledOp<'c>, Refusal> {
    let untiled = UntiledOp::new(op)?;
    let refuse = |why: &str| Err(format!("cannot be cut into partial results: {why}"));
    let name = |d: &usize| untiled.dim_name(*d);
    let combine = |d: usize| &untiled.computation.dimensions[d].combine;
    // Upstream takes the number of one dimension's part for another one's where one has no points, and no slices of
    // what has no elements.
    let is_empty = |d: &usize| draft::count(&untiled.parts.dims[*d]) == Some(0);
    if let Some(d) = (0..untiled.parts.dims.len()).find(is_empty) {
        return refuse(&format!(
            "dimension '{}' has no points; expected it as it is",
            name(&d)
        ));
    }
    if cut.is_empty() {
        return refuse("no dimension is cut; expected a size other than 0 for one that combines");
    }
    if let Some(d) = cut.iter().find(|d| untiled.is_cc(**d)) {
        return refuse(&format!(
            "dimension '{}' is concatenated; expected one that is combined by pw",
            name(d)
        ));
    }
    if let Some(d) = (0..untiled.parts.dims.len()).find(|d| combine(*d).is_ps()) {
        return refuse(&format!(
            "dimension '{}' is scanned, so that all its points are results; expected pw, or \
             transform.structured.tile_using_for, whose tiles receive what those before come to",
            name(&d)
        ));
    }
    if !(untiled.parts.destinations()).all(|b| is_kind(b, BufferKind::Tensor)) {
        return refuse("it writes to memrefs; expected tensors, as before bufferization");
    }
    let carries = &untiled.parts.carries;
    if carries.len() > 1 || carries.iter().any(|carry| !carry.outgoing.is_empty()) {
        return refuse(
            "it has several carries, or carries out what it has combined; expected at most one \
             carry, which it receives",
        );
    }
    Ok(untiled)
}

/// The dimensions of the partial results: those that are `cc`, in their order.
fn kept<'u>(untiled: &'u UntiledOp) -> impl Iterator<Item = usize> + 'u {
    (0..untiled.parts.dims.len()).filter(|d| untiled.is_cc(*d))
}

/// The number of indices of a dimension, from the first one to the last, gaps included.
fn extent<'c>(builder: &mut Builder<'c>, dim: &Dim<'c>) -> Result<Bound<'c>, Refusal> {
    let sum = Sum::of_bound(dim.upper).plus(&Sum::of_bound(dim.lower), -1);
    let extent = match sum.ok_or_else(too_large)?.bound(builder) {
        Bound::Static(number) => return Ok(Bound::Static(number.max(0))),
        Bound::Dynamic(extent) => extent,
    };
    if dim.lower.known() == Some(0) {
        return Ok(Bound::Dynamic(extent));
    }
    let zero = builder.index(0);
    Ok(Bound::Dynamic(builder.binary(
        ops::arith::MAXSI,
        extent,
        zero,
    )))
}

fn start<'c>(op: Op<'c>, at: At<'c>, split: &Split<'c>) -> Result<Vec<Op<'c>>, Refusal> {
    let untiled = read(op, &split.dims)?;
    let mut builder = Builder::at(at, op);
    let mut extents = Vec::new();
    for d in kept(&untiled) {
        extents.push(extent(&mut builder, &untiled.parts.dims[d])?);
    }
    extents.extend(split.dims.iter().map(|d| split.part.sizes[*d]));
    let components = untiled.computation.components.iter();
    let tensors = components.map(|ty| {
        let element = types::mlir_type(builder.context, *ty);
        let tensor = buffers::empty(&mut builder, BufferKind::Tensor, &extents, element);
        ir::defining_op(tensor).ok_or_else(|| "bug: has a tensor that nothing makes".into())
    });
    tensors.collect()
}

/// The part of the partial results that a part of the domain computes.
fn part<'c>(
    builder: &mut Builder<'c>,
    untiled: &UntiledOp<'c>,
    spans: &Spans<'c>,
    split: &Split<'c>,
) -> Result<IndexBox<'c>, Refusal> {
    let mut part = IndexBox::default();
    for d in kept(untiled) {
        let dim = &untiled.parts.dims[d];
        let (offset, size) = match spans.is_cut(d) {
            false => (Bound::Static(0), extent(builder, dim)?),
            true => {
                let offset = spans.first(d).plus(&Sum::of_bound(dim.lower), -1);
                let (offset, size) = (offset.ok_or_else(too_large)?, spans.length(d)?);
                (offset.bound(builder), size.bound(builder))
            }
        };
        part.offsets.push(offset);
        part.sizes.push(size);
    }
    for (number, d) in split.numbers.iter().zip(&split.dims) {
        let (offset, size) = match split.has_result_for_each_part {
            true => (*number, Bound::Static(1)),
            false => (Bound::Static(0), split.part.sizes[*d]),
        };
        part.offsets.push(offset);
        part.sizes.push(size);
    }
    Ok(part)
}

fn position<'c>(
    op: Op<'c>,
    at: At<'c>,
    _: usize,
    split: &Split<'c>,
) -> Result<IndexBox<'c>, Refusal> {
    let untiled = UntiledOp::new(op)?;
    let spans = Spans::new(&untiled.parts, &split.part)?;
    part(&mut Builder::at(at, op), &untiled, &spans, split)
}

/// A name for the partial results of a component: of the output that stores it.
fn name(untiled: &UntiledOp, component: usize) -> String {
    let stores = |b: &&BufferPart| b.components.contains(&component);
    let output = untiled.parts.outputs.iter().find(stores);
    format!("{}_parts", output.map_or("other", |b| b.name.as_str()))
}

/// The access to partial results at the point of a computation, which has its dimensions.
fn access(untiled: &UntiledOp, cut: impl Iterator<Item = Expr>) -> Vec<Vec<Expr>> {
    vec![kept(untiled).map(Expr::Dim).chain(cut).collect()]
}

fn tile<'c>(op: Op<'c>, at: At<'c>, split: &Split<'c>) -> Result<Tiled<'c>, Refusal> {
    let untiled = read(op, &split.dims)?;
    are_in_turn(&untiled, split)?;
    are_numbered(&untiled, split)?;
    let mut builder = Builder::at(at, op);
    let there = there(&mut builder, &untiled, split);
    let split = &filled(&mut builder, &untiled, split);
    let mut tile = Tile {
        spans: Spans::new(&untiled.parts, &split.part)?,
        builder,
        untiled: &untiled,
        at,
        slices: Vec::new(),
    };
    let mut parts = tile.inside(split, there)?;
    if !split.has_result_for_each_part {
        tile.receive(&mut parts, split);
    }
    names::make_unique(&mut parts);
    let op = insert(&mut tile.builder, &untiled, &parts, region::copy(op, 0))?;
    Ok(Tiled {
        op,
        slices: tile.slices,
    })
}

/// Refuses parts that take elements in turn, where that changes the result or is not expressible.
fn are_in_turn(untiled: &UntiledOp, split: &Split) -> Result<(), Refusal> {
    if split.has_result_for_each_part {
        return Ok(());
    }
    for d in &split.dims {
        let dimension = &untiled.computation.dimensions[*d];
        let number = dimension.combine.operator().unwrap_or_default();
        let operator = &untiled.computation.operators[number];
        let refuse = |why: &str| {
            Err(format!(
                "cannot be cut into partial results that take the elements of dimension '{}' in \
                 turn: {why} transform.structured.tile_reduction_using_forall, whose parts follow \
                 each other",
                dimension.name
            ))
        };
        if !operator.is_commutative() {
            return refuse(&format!(
                "'{operator}' is not declared commutative; expected an operator that is, or"
            ));
        }
        if boxes::step(&untiled.parts.dims[*d]) != Some(1) {
            return refuse("it has gaps; expected all indices, or");
        }
    }
    Ok(())
}

/// Refuses parts that share partial results: cut in another dimension that combines; or whose numbers upstream says in
/// the order of dimensions, and of the dimensions' names in the order that these are given in.
fn are_numbered(untiled: &UntiledOp, split: &Split) -> Result<(), Refusal> {
    let spans = Spans::new(&untiled.parts, &split.part)?;
    let is_other = |d: &usize| !split.dims.contains(d) && spans.is_cut(*d) && !untiled.is_cc(*d);
    if let Some(d) = (0..untiled.parts.dims.len()).find(is_other) {
        return Err(format!(
            "cannot be cut into partial results: dimension '{}' has a size, and is none of \
             reduction_dims; expected it among these, or the size 0",
            untiled.dim_name(d)
        ));
    }
    if split.has_result_for_each_part && !split.dims.is_sorted() {
        let mut sorted = split.dims.clone();
        sorted.sort_unstable();
        return Err(format!(
            "cannot be cut into partial results: found reduction_dims = {:?}, of which upstream \
             mixes up the parts; expected {sorted:?}",
            split.dims
        ));
    }
    Ok(())
}

/// One where dimensions that combine have points, or less, if that is open, and a part without points would have
/// no result.
fn there<'c>(
    builder: &mut Builder<'c>,
    untiled: &UntiledOp<'c>,
    split: &Split<'c>,
) -> Option<Val<'c>> {
    if untiled.computation.neutrals().is_some() || !split.has_result_for_each_part {
        return None;
    }
    least(
        builder,
        untiled,
        (0..untiled.parts.dims.len()).filter(|d| !untiled.is_cc(*d)),
    )
}

/// The least of one and the numbers of periods of dimensions, if one of these is not known.
fn least<'c>(
    builder: &mut Builder<'c>,
    untiled: &UntiledOp<'c>,
    dims: impl Iterator<Item = usize>,
) -> Option<Val<'c>> {
    let mut refusal = None;
    for d in dims {
        if let Bound::Dynamic(count) = boxes::periods(builder, &untiled.parts.dims[d]) {
            let so_far = refusal.unwrap_or_else(|| builder.index(1));
            refusal = Some(builder.binary(ops::arith::MINSI, so_far, count));
        }
    }
    refusal
}

/// Gives one point to parts that have none, for threads beyond the last part, where there is no
/// neutral element that could be their result. What they compute is not merged.
fn filled<'c>(builder: &mut Builder<'c>, untiled: &UntiledOp<'c>, split: &Split<'c>) -> Split<'c> {
    let mut filled = split.clone();
    if untiled.computation.neutrals().is_some() {
        return filled;
    }
    for d in &split.dims {
        let (offset, size) = (&mut filled.part.offsets[*d], &mut filled.part.sizes[*d]);
        if !boxes::is_maximum(*size) {
            continue;
        }
        let [zero, one] = [0, 1].map(|n| builder.index(n));
        let count = boxes::periods(builder, &untiled.parts.dims[*d]);
        let [count, first, points] = [count, *offset, *size].map(|b| value(builder, b));
        let last = builder.binary(ops::arith::SUBI, count, one);
        let first = builder.binary(ops::arith::MINSI, first, last);
        *offset = as_bound(builder.binary(ops::arith::MAXSI, first, zero));
        *size = as_bound(builder.binary(ops::arith::MAXSI, points, one));
    }
    filled
}

/// Inserts a computation with the operator of another one, if it keeps all rules.
fn insert<'c>(
    builder: &mut Builder<'c>,
    untiled: &UntiledOp<'c>,
    parts: &Parts<'c>,
    scalar: Region<'c>,
) -> Result<Op<'c>, Refusal> {
    let op = untiled.op;
    let combiner = region::copy(op, 1);
    let new = write::compute(ir::context_of(op), op.location(), parts, scalar, combiner);
    region::copy_attributes(op, ir::op(&new));
    if let Some(finding) = verify::errors(ir::op(&new)).first() {
        return Err(format!(
            "cannot be cut into partial results like this: its part {}",
            finding.message
        ));
    }
    Ok(builder.insert(new))
}

impl<'c> Tile<'c, '_> {
    /// The computation of a part, without carries, and with a further dimension for whether it is there.
    fn inside(&mut self, split: &Split<'c>, there: Option<Val<'c>>) -> Result<Parts<'c>, Refusal> {
        let mut parts = self.untiled.parts.clone();
        parts.dims = self.spans.dims(&mut self.builder, &parts.dims)?;
        for input in &mut parts.inputs {
            *input = self.sliced(input)?;
        }
        parts.carries.clear();
        let part = part(&mut self.builder, self.untiled, &self.spans, split)?;
        // Elements of slices are seen at the indices of the whole computation.
        let mut origin: Vec<Bound> = kept(self.untiled).map(|d| parts.dims[d].lower).collect();
        for d in &split.dims {
            origin.push(match split.has_result_for_each_part {
                true => Bound::Static(0),
                false => parts.dims[*d].lower,
            });
        }
        let further = there.map(|there| add_further(&mut parts, there, &self.builder));
        let cut = split.dims.iter().enumerate();
        let cut = cut.map(|(n, d)| match (split.has_result_for_each_part, further) {
            (true, Some(further)) if n == 0 => Expr::Dim(further),
            (true, _) => Expr::Const(0),
            (false, _) => Expr::Dim(*d),
        });
        let accesses = access(self.untiled, cut);
        parts.outputs.clear();
        for (component, partials) in split.partials.iter().enumerate() {
            let slice = slice(self.at, self.untiled.op, *partials, &part);
            parts.outputs.push(BufferPart {
                value: draft::results(slice)[0],
                name: name(self.untiled, component),
                accesses: accesses.clone(),
                components: vec![component],
                origin: origin.clone(),
                pad: None,
                inside: Vec::new(),
            });
            self.slices.push(slice);
        }
        Ok(parts)
    }

    /// Combines each element with what is there, in a dimension of one point.
    fn receive(&mut self, parts: &mut Parts<'c>, split: &Split<'c>) {
        let combine = split.dims.first().map(|d| parts.combine[*d]);
        for d in &split.dims {
            parts.combine[*d] = cc(&self.builder);
        }
        let unit = add_dim(parts, "so_far", Bound::Static(1));
        parts.combine.extend(combine);
        let Some(is_later) = self.is_later(&split.dims) else {
            return;
        };
        let outputs = parts.outputs.iter();
        let incoming =
            outputs.map(|output| tiles::so_far(output, 0, format!("{}_before", output.name)));
        parts.carries.push(CarryPart {
            dim: unit,
            incoming: incoming.collect(),
            valid: is_later.value(),
            outgoing: vec![],
        });
    }
}

/// Adds a dimension, and returns its number; how it combines is left to the caller.
fn add_dim<'c>(parts: &mut Parts<'c>, name: &str, upper: Bound<'c>) -> usize {
    let is_taken = |name: &str| parts.dims.iter().any(|dim| dim.name == name);
    let name = names::fresh(name, is_taken);
    parts.dims.push(Dim::dense(name, upper));
    parts.dims.len() - 1
}

/// Adds a dimension for a part that has a result only where there is one.
fn add_further<'c>(parts: &mut Parts<'c>, there: Val<'c>, builder: &Builder<'c>) -> usize {
    parts.combine.push(cc(builder));
    add_dim(parts, "there", Bound::Dynamic(there))
}

/// The tensors of partial results, as buffers of a computation over them.
fn inputs<'c>(untiled: &UntiledOp<'c>, split: &Split<'c>) -> Vec<BufferPart<'c>> {
    let dims = &untiled.parts.dims;
    let lower = kept(untiled).map(|d| dims[d].lower);
    let origin: Vec<Bound> = lower
        .chain(split.dims.iter().map(|_| Bound::Static(0)))
        .collect();
    let accesses = access(untiled, split.dims.iter().map(|d| Expr::Dim(*d)));
    let partials = split.partials.iter().enumerate();
    let buffer = |(component, partials): (usize, &Val<'c>)| BufferPart {
        accesses: accesses.clone(),
        ..BufferPart::accessed(
            name(untiled, component),
            *partials,
            Vec::new(),
            origin.clone(),
        )
    };
    partials.map(buffer).collect()
}
