//! Over an empty `cc` or `ps` dimension nothing is written: the destinations stay what they are.
//!
//! ```mlir
//! func.func @compute(%M: tensor<8x5xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   %w = mdh.compute (i = 0, k = 5)
//!     out_view(w = %init[i] : tensor<8xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(M = %M[i, k] : tensor<8x5xf32>)
//!   return %w : tensor<8xf32>
//! }
//! func.func @triple(%v: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   %mda = mdh.inp_view (i = 3 to 3) (v = %v[i] : tensor<8xf32>) : !mdh.mda<0, f32>
//!   %w = mdh.out_view (i) %mda -> (w = %init[i] : tensor<8xf32>) : !mdh.mda<0, f32>
//!   return %w : tensor<8xf32>
//! }
//! // becomes
//! func.func @compute(%M: tensor<8x5xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   return %init : tensor<8xf32>
//! }
//! func.func @triple(%v: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   return %init : tensor<8xf32>
//! }
//! ```
//!
//! An empty `pw` dimension is not one of these: its result is the carry or the neutral element.
//! Nor is an empty `ps` dimension whose carry is carried out.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::{CarryPart, Parts};
use mdh_dialect::read;
use mdh_dialect::types::BufferKind;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;
use mlir_sys::MlirRewriterBase;

use crate::support::draft::{self, Rewriter};

/// An `mdh.compute`.
pub fn compute(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(parts) = draft::parts(op) else {
        return false;
    };
    let is_pw = |d: usize| ir::is_pw(parts.combine[d]);
    let empty: Vec<usize> = (0..parts.dims.len())
        .filter(|d| !is_pw(*d) && draft::count(&parts.dims[*d]) == Some(0))
        .collect();
    if empty.is_empty() || parts.carries.iter().any(|c| carries_out(c, &empty)) {
        return false;
    }
    Rewriter::Pattern(rewriter).replace(op, &destinations(&parts));
    true
}

/// Returns whether a carry hands anything on, though these dimensions have no points.
fn carries_out(carry: &CarryPart, empty: &[usize]) -> bool {
    !carry.outgoing.is_empty() && empty.iter().all(|d| *d == carry.dim)
}

/// An `mdh.out_view`, whose MDA's type shows the number of points.
pub fn out_view(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Ok((_, parts)) = read::out_view(op) else {
        return false;
    };
    let mda = op
        .operand(0)
        .ok()
        .and_then(|v| ir::mda(ir::value(v).r#type()));
    let Some((shape, _)) = mda else {
        return false;
    };
    let empty: Vec<usize> = (0..shape.len()).filter(|d| shape[*d] == 0).collect();
    if empty.is_empty() || parts.carries.iter().any(|c| carries_out(c, &empty)) {
        return false;
    }
    Rewriter::Pattern(rewriter).replace(op, &destinations(&parts));
    true
}

fn destinations<'c>(parts: &Parts<'c>) -> Vec<Val<'c>> {
    let tensors = parts
        .destinations()
        .filter(|b| draft::is_kind(b, BufferKind::Tensor));
    tensors.map(|b| b.value).collect()
}
