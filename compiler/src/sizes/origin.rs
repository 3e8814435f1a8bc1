//! Origins of sizes of a program.

use mdh_dialect::ir::{self, Val};
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
        "tensor.dim" | "memref.dim" => match (operand(0), operand(1)) {
            (Some(Origin::Argument(argument)), Some(Origin::Constant(axis))) => {
                usize::try_from(axis)
                    .map_or(Origin::Other, |axis| Origin::Extent { argument, axis })
            }
            _ => Origin::Other,
        },
        _ => Origin::Other,
    }
}
