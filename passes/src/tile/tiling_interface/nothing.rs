//! Results of dimensions that combine and may have no points: their loop has no iterations then, and what its
//! destination holds before is the result.
//!
//! So what is to be there stands before the outermost loop that cuts, as its initial value, also where a computation
//! makes the destination: that one is not fused, as tiles of a dimension that combines find in the destination what
//! others have left (`Tile::is_fusible`). What is fused has loops around it already, which stay where they are: a tile of
//! it whose dimensions are not cut writes what they are without points itself, and one that is cut again gets its
//! initial value inside of these loops, for its part of the destination. A tile of a tile needs none: its loop has
//! points in each iteration of the one around it.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::index_function;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::{Bound, Dim};
use mdh_dialect::tiling::Refusal;
use mdh_dialect::{ops, verify, write};
use melior::ir::operation::OperationLike;

use super::carries::{given, is_unfinished};
use super::{Tile, UntiledOp, boxes};
use crate::support::buffers::value;
use crate::support::builder::Builder;
use crate::support::draft;
use crate::support::extents::Sum;
use crate::support::names;
use crate::support::region;

impl<'c> Tile<'c, '_> {
    /// Puts the neutral element, or the carry where there is one, into the destinations before the loops that
    /// upstream is building, where dimensions that these cut may have no points; where there is no neutral
    /// element, asserts that they have some.
    pub fn store_nothing(&mut self, sums: &[usize]) -> Result<(), Refusal> {
        let untiled = self.untiled;
        let is_open = |d: &&usize| {
            let dim = &untiled.parts.dims[**d];
            draft::count(dim).is_none() && !is_of_loop(dim)
        };
        let open: Vec<usize> = sums.iter().filter(is_open).copied().collect();
        let Some(nest) = outermost(self.builder.around()) else {
            return Ok(());
        };
        let carries = &untiled.parts.carries;
        // A carry that is always there is what the destination holds.
        if open.is_empty() || carries.iter().any(|carry| carry.valid.is_none()) {
            return Ok(());
        }
        let mut builder = Builder::before(nest);
        match neutral(untiled) {
            Some(neutral) => store(&mut builder, untiled, &neutral, nest),
            None => {
                for d in open {
                    assert_some(&mut builder, untiled, d);
                }
                Ok(())
            }
        }
    }
}

/// Returns whether a dimension is that of a tile of upstream's, in a loop that has no iteration without points: from the
/// index to the loop's end, and no longer than its step. A loop of the program's own may have other ones.
fn is_of_loop(dim: &Dim) -> bool {
    let length = boxes::span(dim).and_then(|span| span.value());
    let Some(op) = length.and_then(ir::defining_op) else {
        return false;
    };
    let operands = op.operands().map(ir::value);
    let indices = operands.filter_map(|index| Some((index, for_of(index)?)));
    let indices: Vec<(Val, Op)> = indices.collect();
    let is_positive = |size: &Sum| {
        size.known().is_some_and(|number| number > 0)
            || indices
                .iter()
                .any(|(index, of)| is_inside(size, *index, *of))
    };
    least(op).is_some_and(|sizes| sizes.iter().all(is_positive))
}

/// The sequential loop of an index.
fn for_of(index: Val) -> Option<Op> {
    let argument = ir::block_argument(index)?;
    (ir::name_of(argument.of) == ops::scf::FOR && argument.number == 0).then_some(argument.of)
}

/// Returns whether a size is a loop's step, or what is left from its index on.
fn is_inside<'c>(size: &Sum<'c>, index: Val<'c>, of: Op<'c>) -> bool {
    let (Some(upper), Some(step)) = (ir::operand(of, 1), ir::operand(of, 2)) else {
        return false;
    };
    let upper = Sum::of_value(upper);
    let shorter = upper.value().and_then(ir::defining_op).and_then(least);
    let mut ends = shorter.unwrap_or_default();
    ends.push(upper);
    let is_same = |a: &Sum<'c>, b: &Sum<'c>| {
        let rest = a.plus(b, -1).and_then(|rest| rest.known());
        rest == Some(0)
    };
    let end = size.plus(&Sum::of_value(index), 1);
    is_same(size, &Sum::of_value(step))
        || end.is_some_and(|end| ends.iter().any(|other| is_same(&end, other)))
}

/// The sizes of which an `affine.min` is the least one.
fn least(op: Op) -> Option<Vec<Sum>> {
    if ir::name_of(op) != ops::affine::MIN {
        return None;
    }
    let sizes = index_function::of_operands(ir::attribute(op, "map")?)?;
    let operands: Vec<Sum> = op.operands().map(ir::value).map(Sum::of_value).collect();
    let sum = |size: &Expr| {
        let form = size.linear(operands.len())?;
        let mut terms = form.terms();
        terms.try_fold(Sum::number(form.constant), |sum, (n, factor)| {
            sum.plus(&operands[n], factor)
        })
    };
    sizes.iter().map(sum).collect()
}

/// The outermost loop around an operation that carries out nothing yet.
fn outermost(around: Option<Op>) -> Option<Op> {
    let loops = ir::ancestors(around?).take_while(|op| {
        [ops::scf::FOR, ops::scf::FORALL].contains(&ir::name_of(*op)) && is_unfinished(*op)
    });
    loops.last()
}

/// The neutral element of all operators.
fn neutral(untiled: &UntiledOp) -> Option<Vec<Scalar>> {
    let mut neutrals = untiled.computation.neutrals()?.into_iter();
    let first = neutrals.next()?;
    neutrals.all(|other| other == first).then_some(first)
}

/// Stores it, combined with a carry: one point of each dimension that is combined point-wise.
fn store<'c>(
    builder: &mut Builder<'c>,
    untiled: &UntiledOp<'c>,
    neutral: &[Scalar],
    nest: Op<'c>,
) -> Result<(), Refusal> {
    let mut parts = untiled.parts.clone();
    parts.inputs.clear();
    for (d, dim) in parts.dims.iter_mut().enumerate() {
        if untiled.computation.dimensions[d].combine.is_pw() {
            *dim = Dim::dense(dim.name.clone(), Bound::Static(1));
        }
    }
    let mut places = Vec::new();
    for output in &mut parts.outputs {
        output.name = format!("{}_start", output.name);
        if let Some(operand) = operand(output.value, nest) {
            places.push(operand);
            output.value = ir::operand(nest, operand).ok_or("bug: a loop without its operand")?;
        }
    }
    names::make_unique(&mut parts);
    let scalar = builder.region(&[], ops::mdh::YIELD, |builder, _| {
        neutral.iter().map(|n| builder.scalar(*n)).collect()
    });
    let (op, combiner) = (untiled.op, region::copy(untiled.op, 1));
    let new = write::compute(ir::context_of(op), op.location(), &parts, scalar, combiner);
    if let Some(finding) = verify::errors(ir::op(&new)).first() {
        return Err(format!(
            "cannot be tiled like this: what it is without points {}",
            finding.message
        ));
    }
    let new = builder.insert(new);
    for (operand, result) in places.into_iter().zip(draft::results(new)) {
        region::set_operand(nest, operand, result);
    }
    Ok(())
}

/// The number of the loop's operand that a value is in its first iteration.
fn operand(value: Val, nest: Op) -> Option<usize> {
    let argument = ir::block_argument(value)?;
    let number = given(value)?;
    match argument.of == nest {
        true => Some(number),
        false => operand(ir::operand(argument.of, number)?, nest),
    }
}

/// Asserts that a dimension has points, or that there is a carry, where anything is a result.
fn assert_some<'c>(builder: &mut Builder<'c>, untiled: &UntiledOp<'c>, d: usize) {
    let (dims, zero) = (&untiled.parts.dims, builder.index(0));
    let count = boxes::periods(builder, &dims[d]);
    let count = value(builder, count);
    let mut holds = builder.compare("sgt", count, zero);
    for valid in untiled.parts.carries.iter().filter_map(|carry| carry.valid) {
        holds = builder.binary(ops::arith::ORI, holds, valid);
    }
    let is_kept = |k: &usize| !untiled.computation.dimensions[*k].combine.is_pw();
    for kept in (0..dims.len()).filter(is_kept) {
        let count = boxes::periods(builder, &dims[kept]);
        if count.known().is_none_or(|count| count <= 0) {
            let count = value(builder, count);
            let is_empty = builder.compare("sle", count, zero);
            holds = builder.binary(ops::arith::ORI, holds, is_empty);
        }
    }
    builder.assert(
        holds,
        &format!(
            "'{}' op combines no points in dimension '{}', in tiles and by an operator that has no \
             neutral element: expected at least one point, or 'neutral(...)' on the operator",
            ir::name_of(untiled.op),
            untiled.dim_name(d)
        ),
    );
}
