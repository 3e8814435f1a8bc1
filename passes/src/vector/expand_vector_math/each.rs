//! Vectors lane by lane.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Type, TypeLike, ValueLike};
use mlir_sys::mlirVectorTypeGet;

use crate::support::builder::Builder;

/// The lanes of a vector in a row.
fn flat<'c>(builder: &mut Builder<'c>, value: Val<'c>) -> Val<'c> {
    let row = row(value.r#type());
    if value.r#type() == row {
        return value;
    }
    builder.op(ops::vector::SHAPE_CAST, &[value], &[row], &[])[0]
}

/// The type of a vector with the lanes of another one in a row.
fn row(ty: Type) -> Type {
    let lanes = lanes(ty);
    // SAFETY: the element type is a scalar's, and the number positive.
    unsafe {
        let element = types::element(ty).to_raw();
        Type::from_raw(mlirVectorTypeGet(1, &lanes, element))
    }
}

fn lanes(ty: Type) -> i64 {
    types::sizes(ty).into_iter().product()
}

/// An operation on vectors, computed for one lane after the other.
pub fn unrolled<'c>(builder: &mut Builder<'c>, op: Op<'c>) -> Option<Val<'c>> {
    let result = ir::result(op, 0)?.r#type();
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let operands: Vec<Val> = operands.into_iter().map(|v| flat(builder, v)).collect();
    let attributes = crate::support::region::attributes(op);
    let mut results_of_lanes = Vec::new();
    for lane in 0..lanes(result) {
        let position = DenseI64ArrayAttribute::new(builder.context, &[lane]).into();
        let mut take = |value: &Val<'c>| {
            let ty = types::element(value.r#type());
            let at: [(&str, Attribute); 1] = [("static_position", position)];
            builder.op(ops::vector::EXTRACT, &[*value], &[ty], &at)[0]
        };
        let lane: Vec<Val> = operands.iter().map(&mut take).collect();
        let ty = types::element(result);
        results_of_lanes.push(builder.op(ir::name_of(op), &lane, &[ty], &attributes)[0]);
    }
    let vector = builder.op(
        ops::vector::FROM_ELEMENTS,
        &results_of_lanes,
        &[result],
        &[],
    )[0];
    Some(vector)
}

/// Returns whether a mask has any lane.
pub fn any<'c>(builder: &mut Builder<'c>, mask: Val<'c>) -> Val<'c> {
    let i1 = types::mlir_type(builder.context, ScalarType::I1);
    let mask = flat(builder, mask);
    let kind = Attribute::parse(builder.context, "#vector.kind<or>");
    let kind = kind.unwrap_or_else(|| panic!("a kind is an attribute"));
    builder.op(ops::vector::REDUCTION, &[mask], &[i1], &[("kind", kind)])[0]
}
