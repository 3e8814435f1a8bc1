//! Extents that have to fit: all axes that one loop indexes have the same number of indices.
//!
//! A computation has the extents of one of them. That the others fit is asserted, unless it is seen in
//! the program, as it is where operations are chained.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::accumulators::constant;
use super::structured::{self, Structured};
use crate::builder::Builder;

/// The number of indices of an axis.
#[derive(Clone, Copy, PartialEq)]
enum Extent<'c> {
    Known(i64),
    /// A number that the program computes.
    Number(Val<'c>),
    /// That of an axis of which nothing else is known.
    Axis(Val<'c>, usize),
}

/// Follows an axis to where its extent comes from.
fn extent(value: Val, axis: usize) -> Extent {
    let shape = types::buffer_type(value.r#type()).map(|ty| ty.shape);
    if let Some(size) = shape.as_ref().and_then(|shape| *shape.get(axis)?) {
        return Extent::Known(size);
    }
    let own = Extent::Axis(value, axis);
    let Some(op) = ir::defining_op(value) else {
        return own;
    };
    match ir::name_of(op) {
        ops::tensor::EMPTY | ops::memref::ALLOC | ops::memref::ALLOCA => {
            let open = shape.unwrap_or_default();
            let before = open[..axis].iter().filter(|size| size.is_none()).count();
            ir::operand(op, before).map_or(own, number)
        }
        ops::tensor::CAST | ops::memref::CAST => {
            ir::operand(op, 0).map_or(own, |source| extent(source, axis))
        }
        _ if structured::is_structured(op) => {
            let first = op.operand_count().checked_sub(op.result_count());
            let dest = ir::result_number(value).zip(first);
            let dest = dest.and_then(|(n, first)| ir::operand(op, first + n));
            dest.map_or(own, |dest| extent(dest, axis))
        }
        _ => own,
    }
}

/// Follows a number that is an extent.
fn number(value: Val) -> Extent {
    let own = Extent::Number(value);
    let Some(op) = ir::defining_op(value) else {
        return own;
    };
    let constant = |value: Val| constant(value).map(Scalar::as_i64);
    match ir::name_of(op) {
        ops::tensor::DIM | ops::memref::DIM => {
            let axis = ir::operand(op, 1).and_then(constant);
            let axis = axis.and_then(|axis| usize::try_from(axis).ok());
            ir::operand(op, 0)
                .zip(axis)
                .map_or(own, |(of, axis)| extent(of, axis))
        }
        ops::arith::CONSTANT => constant(value).map_or(own, Extent::Known),
        _ => own,
    }
}

/// Asserts before an operation what is not seen to fit.
pub fn assert_fit(of: &Structured) {
    let mut builder = Builder::before(of.op);
    for d in 0..of.rank {
        let mut axes = Vec::new();
        for (n, operand) in of.operands().enumerate() {
            let own = operand
                .map
                .iter()
                .enumerate()
                .filter(|(_, e)| **e == Expr::Dim(d));
            axes.extend(own.map(|(axis, _)| (n, operand.value, axis)));
        }
        let Some(&(first, whole, at)) = axes.first() else {
            continue;
        };
        for &(n, value, axis) in &axes[1..] {
            if extent(value, axis) == extent(whole, at) {
                continue;
            }
            let (own, other) = (builder.dim(whole, at), builder.dim(value, axis));
            let fits = builder.compare("eq", own, other);
            builder.assert(
                fits,
                &format!(
                    "'{}' op has operands of extents that do not fit: loop {d} runs over axis {at} of \
                     operand {first} and axis {axis} of operand {n}: expected the same number of indices",
                    ir::name_of(of.op)
                ),
            );
        }
    }
}
