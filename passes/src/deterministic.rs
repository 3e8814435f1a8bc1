//! Says whether results may depend on how many cores there are.
//!
//! Integers never do. Floats are combined in an order that the schedule says, but what the model
//! chooses depends on the machine; under an operation with the unit attribute `mdh.deterministic`
//! it gives no two cores parts of one combination.

use mdh_dialect::ir::{self, Op};
use melior::Context;
use melior::ir::Attribute;

const NAME: &str = "mdh.deterministic";

/// Returns whether an operation, or one around it, asks for it.
pub fn is_wanted(op: Op) -> bool {
    ir::ancestors(op).any(|op| ir::attribute(op, NAME).is_some())
}

/// Asks for it.
pub fn want(context: &Context, op: Op) {
    ir::set_attribute(op, NAME, Attribute::unit(context));
}
