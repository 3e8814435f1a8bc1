//! Rewrites of upstream's that no pass of it has.

use crate::ffi;
use crate::ir::Op;
use crate::ops;

/// Names of the operations that upstream decomposes.
pub const DECOMPOSED: [&str; 6] = [
    ops::linalg::PACK,
    ops::linalg::SOFTMAX,
    ops::linalg::UNPACK,
    ops::linalg::WINOGRAD_FILTER_TRANSFORM,
    ops::linalg::WINOGRAD_INPUT_TRANSFORM,
    ops::linalg::WINOGRAD_OUTPUT_TRANSFORM,
];

/// Replaces an operation by what upstream says that it is made of; returns whether it has, after which
/// the operation is gone.
pub fn decompose(op: Op) -> bool {
    // SAFETY: the operation is valid, and nobody uses it afterwards.
    unsafe { ffi::mdhDecompose(op.to_raw()) }
}
