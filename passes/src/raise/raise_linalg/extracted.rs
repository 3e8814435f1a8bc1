//! Elements that a body takes from tensors by itself, as inputs.
//!
//! `tensor.extract %t[%i + 1]`, where `%i` is an index of the loops, is an access of a view like that of an
//! operand with the map `i + 1`. In a branch of an `scf.if` it reads with padding, and in every iteration:
//! where the condition does not hold, nobody asks what. An index that is data, or one in a loop of the body,
//! is none.

use mdh_algebra::scalar::Scalar;
use mdh_dialect::code::arguments;
use mdh_dialect::structured::Operand;
use mdh_dialect::{ir, loop_index, types};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use super::loops::Loops;
use crate::support::region;

/// Makes arguments of a body of what it extracts, as operands that are read.
pub fn take<'c>(block: BlockRef<'c, 'c>, loops: &Loops) -> Vec<Operand<'c>> {
    let mut operands: Vec<Operand> = Vec::new();
    for extraction in loop_index::extractions(block, &loops.extents) {
        let (op, value, map) = (extraction.op, extraction.tensor, extraction.map);
        let Some(result) = ir::result(op, 0) else {
            continue;
        };
        let outside = types::scalar_type(result.r#type()).map(Scalar::zero);
        let outside = outside.filter(|_| extraction.is_conditional);
        let is_same = |o: &&Operand| o.value == value && o.map == map && o.outside == outside;
        let same = operands.iter().find(is_same);
        let number = same.and_then(|o| o.argument).unwrap_or_else(|| {
            let number = arguments(block).len();
            region::add_argument(block, result.r#type(), op.location());
            operands.push(Operand {
                value,
                map,
                argument: Some(number),
                outside,
            });
            number
        });
        region::replace_all_uses(result, arguments(block)[number]);
        region::erase(op);
    }
    operands
}
