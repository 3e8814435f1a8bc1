//! Origins of sizes of a program.

use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::carried;

/// Origin of a value of type index.
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
            mdh_passes::builder::known(value).map_or(Origin::Other, Origin::Constant)
        }
        "tensor.dim" | "memref.dim" => {
            let axis = match operand(1) {
                Some(Origin::Constant(axis)) => usize::try_from(axis).ok(),
                _ => None,
            };
            let of = ir::operand(op, 0).zip(axis);
            of.map_or(Origin::Other, |(buffer, axis)| extent(buffer, axis))
        }
        _ => Origin::Other,
    }
}

/// Returns the origin of the extent of an axis.
fn extent(buffer: Val, axis: usize) -> Origin {
    let buffer = carried::first(buffer);
    if let Some(argument) = carried::argument(buffer) {
        return Origin::Extent { argument, axis };
    }
    let shape = types::buffer_type(buffer.r#type()).map_or(Vec::new(), |ty| ty.shape);
    let is_made =
        |name: &str| [ops::tensor::EMPTY, ops::memref::ALLOC, ops::memref::ALLOCA].contains(&name);
    match (shape.get(axis), ir::defining_op(buffer)) {
        (Some(Some(size)), _) => Origin::Constant(*size),
        // Only sizes that are not known are operands.
        (Some(None), Some(op)) if is_made(ir::name_of(op)) => {
            let number = shape[..axis].iter().filter(|size| size.is_none()).count();
            ir::operand(op, number).map_or(Origin::Other, origin)
        }
        _ => Origin::Other,
    }
}
