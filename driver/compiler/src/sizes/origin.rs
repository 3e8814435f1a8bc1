//! Origins of sizes of a program.

use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::carried;

/// Origin of a value of type index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Argument(usize),
    Extent { argument: usize, axis: usize },
    Constant(i64),
    Other,
}

/// Returns the origin of a buffer, or of a value of type index.
pub fn origin(value: Val) -> Origin {
    // What a loop carries is, at first, what it was given.
    let value = carried::first(value);
    if ir::block_argument(value).is_some() {
        return carried::argument(value).map_or(Origin::Other, Origin::Argument);
    }
    let Some(op) = ir::defining_op(value) else {
        return Origin::Other;
    };
    let operand = |i: usize| op.operand(i).ok().map(|v| origin(ir::value(v)));
    match ir::name_of(op) {
        "arith.constant" => {
            mdh_passes::support::builder::known(value).map_or(Origin::Other, Origin::Constant)
        }
        "tensor.dim" | "memref.dim" => {
            let axis = match operand(1) {
                Some(Origin::Constant(axis)) => usize::try_from(axis).ok(),
                _ => None,
            };
            let shaped = ir::operand(op, 0).zip(axis);
            shaped.map_or(Origin::Other, |(buffer, axis)| extent(buffer, axis))
        }
        _ => Origin::Other,
    }
}

/// Returns the origin of the extent of an axis.
pub fn extent(buffer: Val, axis: usize) -> Origin {
    let buffer = carried::first(buffer);
    if let Some(argument) = carried::argument(buffer) {
        return Origin::Extent { argument, axis };
    }
    let shape = types::buffer_type(buffer.r#type()).map_or(Vec::new(), |ty| ty.shape);
    match shape.get(axis) {
        Some(Some(size)) => Origin::Constant(*size),
        _ => size_operand(buffer, axis).map_or(Origin::Other, origin),
    }
}

/// The operand that gives an axis of what an operation makes its size.
pub fn size_operand(buffer: Val, axis: usize) -> Option<Val> {
    let op = ir::defining_op(buffer)?;
    let first = match ir::name_of(op) {
        ops::tensor::EMPTY | ops::memref::ALLOC | ops::memref::ALLOCA => 0,
        ops::tensor::EXPAND_SHAPE | ops::memref::EXPAND_SHAPE => 1,
        _ => return None,
    };
    let shape = types::buffer_type(buffer.r#type())?.shape;
    // Only sizes that are not known are operands.
    let before = shape.get(..axis)?.iter().filter(|size| size.is_none());
    match shape.get(axis)? {
        Some(_) => None,
        None => ir::operand(op, first + before.count()),
    }
}
