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
//!
//! Of a chain, the last computation takes all of the others at once: if each took the one before it,
//! the code of the first would be copied as often as there are others.

use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::Parts;
use mlir_sys::MlirRewriterBase;

use super::inputs;
use crate::support::draft::{self, Draft, Rewriter};
use crate::support::fusion::{self, Fusion};

/// The pattern.
pub fn fuse(op: Op, rewriter: MlirRewriterBase) -> bool {
    let rewriter = Rewriter::Pattern(rewriter);
    let Some(parts) = draft::parts(op) else {
        return false;
    };
    let Some(first) = plan(op, &parts).filter(|_| !is_taken(op)) else {
        return false;
    };
    let mut draft = Draft::new(op, parts.clone());
    let mut next = Some(first);
    let mut count = 0;
    while let Some(plan) = next {
        plan.merge(&mut draft);
        inputs::merge_equal(&mut draft);
        next = self::plan(op, &draft.parts);
        count += 1;
    }
    if draft.commit_same(rewriter) {
        return true;
    }
    // All of them may break a rule that one does not.
    let first = plan(op, &parts).filter(|_| count > 1);
    first.is_some_and(|plan| plan.apply(op, parts, rewriter))
}

/// Plans the move of a producer into its consumer, which has these parts meanwhile.
fn plan<'c>(op: Op<'c>, parts: &Parts<'c>) -> Option<Fusion<'c>> {
    (0..parts.inputs.len()).find_map(|input| {
        let producer = fusion::producer(&parts.inputs[input])?;
        fusion::plan(op, parts, input, producer).ok()
    })
}

/// Returns whether a computation is itself a producer that moves into the only one that reads it.
fn is_taken(op: Op) -> bool {
    let results = draft::results(op);
    let [result] = results[..] else {
        return false;
    };
    let reader = ir::only_user(result).filter(|user| ir::name_of(*user) == ops::mdh::COMPUTE);
    let taken = reader.and_then(|reader| {
        let parts = draft::parts(reader)?;
        let input = parts.inputs.iter().position(|b| b.value == result)?;
        fusion::plan(reader, &parts, input, op).ok()
    });
    taken.is_some()
}
