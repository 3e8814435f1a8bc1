//! Elements that a body takes from tensors by itself, as inputs.
//!
//! `tensor.extract %t[%i + 1]`, where `%i` is an index of the loops, is an access of a view like that of an
//! operand with the map `i + 1`. Every iteration does it, so that it has no condition; an index that is data,
//! or an extraction under a condition, is none.

use mdh_dialect::code::arguments;
use mdh_dialect::ir;
use mdh_dialect::loop_index;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use super::structured::{Loops, Operand};
use crate::region;

/// Makes arguments of a body of what it extracts, as operands that are read.
pub fn take<'c>(block: BlockRef<'c, 'c>, loops: &Loops) -> Vec<Operand<'c>> {
    let mut found: Vec<Operand> = Vec::new();
    for (op, value, map) in loop_index::extractions(block, &loops.extents) {
        let Some(result) = ir::result(op, 0) else {
            continue;
        };
        let same = found.iter().find(|o| o.value == value && o.map == map);
        let number = same.and_then(|o| o.argument).unwrap_or_else(|| {
            let number = arguments(block).len();
            region::add_argument(block, result.r#type(), op.location());
            found.push(Operand {
                value,
                map,
                argument: Some(number),
            });
            number
        });
        region::replace_all_uses(result, arguments(block)[number]);
        region::erase(op);
    }
    found
}
