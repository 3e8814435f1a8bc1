//! Independence of results from the number of cores.
//!
//! Integers never do. Floats are combined in an order that the schedule says, but what the model
//! chooses depends on the machine; under an operation with the unit attribute `mdh.deterministic`
//! it gives no two cores parts of one combination.

use mdh_dialect::ir::{self, Op};
use mdh_dialect::marks::DETERMINISTIC;

/// Returns whether an operation, or one around it, asks for it.
pub fn is_wanted(op: Op) -> bool {
    ir::ancestors(op).any(|op| DETERMINISTIC.is_on(op))
}

/// Asks for it.
pub fn want(op: Op) {
    DETERMINISTIC.set(op);
}
