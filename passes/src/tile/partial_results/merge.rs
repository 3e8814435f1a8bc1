//! The result, from partial results.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::partial::Split;
use mdh_dialect::parts::{Bound, Dim};
use mdh_dialect::tiling::{At, Refusal};
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, Type};

use super::{inputs, insert, kept, least, read};
use crate::support::buffers::{as_bound, value};
use crate::support::builder::Builder;
use crate::support::names;
use crate::support::region;
use crate::tile::tiling_interface::boxes;

/// Combines all partial results that parts have computed.
pub fn merge<'c>(op: Op<'c>, at: At<'c>, split: &Split<'c>) -> Result<Op<'c>, Refusal> {
    let untiled = read(op, &split.dims)?;
    let mut builder = Builder::at(at, op);
    let mut parts = untiled.parts.clone();
    parts.inputs = inputs(&untiled, split);
    let first = kept(&untiled).count();
    for d in 0..parts.dims.len() {
        let upper = match split.dims.iter().position(|cut| *cut == d) {
            Some(number) => {
                let partial = split.partials.first().ok_or("has no partial results")?;
                computed(
                    &mut builder,
                    &untiled.parts.dims[d],
                    *partial,
                    first + number,
                )?
            }
            None if untiled.is_cc(d) => continue,
            // Each partial result has all points of these, if there are some.
            None if untiled.computation.neutrals().is_some() => Bound::Static(1),
            None => least(&mut builder, &untiled, std::iter::once(d))
                .map_or(Bound::Static(1), Bound::Dynamic),
        };
        parts.dims[d] = Dim::dense(parts.dims[d].name.clone(), upper);
    }
    names::make_unique(&mut parts);
    let components = untiled.computation.components.iter();
    let components: Vec<Type> = components
        .map(|ty| types::mlir_type(builder.context, *ty))
        .collect();
    let scalar = region::with_arguments(&components, op.location());
    let block = region::block(&scalar);
    let arguments: Vec<Val> = (0..block.argument_count())
        .filter_map(|n| block.argument(n).ok())
        .map(ir::value)
        .collect();
    region::yield_from(block, op.location(), &arguments);
    insert(&mut builder, &untiled, &parts, scalar)
}

/// The number of partial results along an axis that are those of points.
fn computed<'c>(
    builder: &mut Builder<'c>,
    cut: &Dim<'c>,
    partials: Val<'c>,
    axis: usize,
) -> Result<Bound<'c>, Refusal> {
    let are_in_turn = starts_at_zero(partials, axis).ok_or(
        "cannot be computed from partial results: they come from no loop that stores a slice of \
         them; expected the results of scf.for or scf.forall",
    )?;
    let extent = as_bound(builder.dim(partials, axis));
    let points = boxes::periods(builder, cut);
    if let (Some(extent), Some(points)) = (extent.known(), points.known()) {
        let points = points.max(0);
        if are_in_turn || extent < 1 {
            return Ok(Bound::Static(extent.min(points)));
        }
        let length = (points + (extent - 1)) / extent;
        return Ok(Bound::Static(match length {
            0 => 0,
            length => (points + (length - 1)) / length,
        }));
    }
    let [extent, points] = [extent, points].map(|bound| value(builder, bound));
    if are_in_turn {
        return Ok(as_bound(builder.binary(ops::arith::MINSI, extent, points)));
    }
    // Where there are no points, a loop over tiles has no partial results.
    let unit = builder.index(1);
    let tiles = builder.binary(ops::arith::MAXSI, extent, unit);
    let length = builder.binary(ops::arith::CEILDIVSI, points, tiles);
    let length = builder.binary(ops::arith::MAXSI, length, unit);
    Ok(as_bound(builder.binary(
        ops::arith::CEILDIVSI,
        points,
        length,
    )))
}

/// Returns whether all parts store at the start of an axis of a loop's result; else each of them does
/// so at a place of its own. `None` if no slice is stored.
fn starts_at_zero(partials: Val, axis: usize) -> Option<bool> {
    let definition = ir::defining_op(partials)?;
    let number = ir::result_number(partials)?;
    let last = ir::last_of(ir::only_block(ir::region(definition, 0))?)?;
    let stored = match ir::name_of(definition) {
        ops::scf::FOR => ir::defining_op(ir::operand(last, number)?)?,
        ops::scf::FORALL => {
            let rank = ir::integers(definition, "staticLowerBound").len();
            let stores = ir::ops_of(ir::only_block(ir::region(last, 0))?);
            stores.into_iter().find(|store| {
                let argument = ir::operand(*store, 1).and_then(ir::block_argument);
                argument.is_some_and(|a| a.of == definition && a.number == rank + number)
            })?
        }
        _ => return None,
    };
    match ir::name_of(stored) {
        ops::scf::FOR | ops::scf::FORALL => starts_at_zero(ir::operand(last, number)?, axis),
        ops::tensor::INSERT_SLICE | ops::tensor::PARALLEL_INSERT_SLICE => {
            let offsets = ir::integers(stored, "static_offsets");
            Some(*offsets.get(axis)? == 0)
        }
        _ => None,
    }
}
