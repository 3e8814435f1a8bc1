//! Operations whose result is their operand's memory.

use crate::ir::{self, Val};
use crate::ops;

/// Their names.
const VIEWS: [&str; 11] = [
    ops::mdh::LAYOUT_VIEW,
    ops::memref::ASSUME_ALIGNMENT,
    ops::memref::CAST,
    ops::memref::COLLAPSE_SHAPE,
    ops::memref::EXPAND_SHAPE,
    ops::memref::MEMORY_SPACE_CAST,
    ops::memref::REINTERPRET_CAST,
    ops::memref::RESHAPE,
    ops::memref::SUBVIEW,
    ops::memref::TRANSPOSE,
    ops::memref::VIEW,
];

/// Returns whether an operation of a name gives another view of its first operand's memory.
pub fn is_view(name: &str) -> bool {
    VIEWS.contains(&name)
}

/// The memory of which a value is a view, if it is one.
pub fn viewed<'c>(value: Val<'c>) -> Option<Val<'c>> {
    let op = ir::defining_op(value).filter(|op| is_view(ir::name_of(*op)))?;
    ir::operand(op, 0)
}

/// The memory that a value is, or shows a part of.
pub fn root<'c>(value: Val<'c>) -> Val<'c> {
    viewed(value).map_or(value, root)
}
