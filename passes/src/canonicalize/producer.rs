//! A producer moves into its consumer where nothing is computed twice.
//!
//! ```mlir
//! func.func @f(%a: tensor<8x5xf32>, %b: tensor<8x5xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   %e = tensor.empty() : tensor<8x5xf32>
//!   %y = mdh.compute (i = 8, k = 5)
//!     out_view(y = %e[i, k] : tensor<8x5xf32>)
//!     md_hom(mulf, (cc, cc))
//!     inp_view(a = %a[i, k] : tensor<8x5xf32>, b = %b[i, k] : tensor<8x5xf32>)
//!   %w = mdh.compute (i = 8, k = 5)
//!     out_view(w = %init[i] : tensor<8xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(y = %y[i, k] : tensor<8x5xf32>)
//!   return %w : tensor<8xf32>
//! }
//! // becomes
//! func.func @f(%a: tensor<8x5xf32>, %b: tensor<8x5xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   %w = mdh.compute (i = 8, k = 5)
//!     out_view(w = %init[i] : tensor<8xf32>)
//!     md_hom(mulf, (cc, pw(addf)))
//!     inp_view(a = %a[i, k] : tensor<8x5xf32>, b = %b[i, k] : tensor<8x5xf32>)
//!   return %w : tensor<8xf32>
//! }
//! ```
//!
//! `mdh-fuse` does the same and says of every producer that stays why it does.

use mdh_dialect::ir::Op;
use mlir_sys::MlirRewriterBase;

use crate::draft::{self, Rewriter};
use crate::fusion;

/// The pattern.
pub fn fuse(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(parts) = draft::parts(op) else {
        return false;
    };
    let plan = (0..parts.inputs.len()).find_map(|input| {
        let producer = fusion::producer(&parts.inputs[input])?;
        fusion::plan(op, &parts, input, producer).ok()
    });
    plan.is_some_and(|plan| plan.apply(op, parts, Rewriter::Pattern(rewriter)))
}
