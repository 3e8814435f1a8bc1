//! A dimension of one point goes; its index is a number.
//!
//! ```mlir
//! func.func @f(%a: memref<8x1xf32>, %b: memref<1x4xf32>, %w: memref<8x4xf32>) {
//!   mdh.compute (i = 8, j = 3 to 4, k = 1)
//!     out_view(w = %w[i, j] : memref<8x4xf32>)
//!     md_hom(mulf, (cc, cc, pw(addf)))
//!     inp_view(a = %a[i, k] : memref<8x1xf32>, b = %b[k, j] : memref<1x4xf32>)
//!   return
//! }
//! // becomes
//! func.func @f(%a: memref<8x1xf32>, %b: memref<1x4xf32>, %w: memref<8x4xf32>) {
//!   mdh.compute (i = 8)
//!     out_view(w = %w[i, 3] : memref<8x4xf32>)
//!     md_hom(mulf, (cc))
//!     inp_view(a = %a[i, 0] : memref<8x1xf32>, b = %b[0, 3] : memref<1x4xf32>)
//!   return
//! }
//! ```
//!
//! One point is combined with nothing, by `pw` as by `ps`. With a carry in that dimension it is,
//! so that the dimension stays. A computation keeps one dimension; `cc` then, since nothing is
//! combined in it.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::Parts;
use mdh_dialect::schedule;
use mdh_schedule::asm::MATRIX;
use melior::ir::Attribute;
use mlir_sys::MlirRewriterBase;

use crate::support::draft::{self, Draft, Rewriter};

/// The pattern.
pub fn drop(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(parts) = draft::parts(op) else {
        return false;
    };
    let needed = needed(op, &parts);
    let mut unit: Vec<usize> = (0..parts.dims.len())
        .filter(|d| is_unit(&parts, *d) && !needed.contains(&parts.dims[*d].name))
        .collect();
    if unit.len() == parts.dims.len() {
        let last = unit.pop();
        let is_cc = last.is_none_or(|d| ir::is_cc(parts.combine[d]));
        if unit.is_empty() && is_cc {
            return false;
        }
    } else if unit.is_empty() {
        return false;
    }
    let mut draft = Draft::new(op, parts);
    draft.substitute(&replacements(&draft.parts, &unit));
    remove(&mut draft.parts, &unit);
    if draft.parts.dims.len() == 1 && is_unit(&draft.parts, 0) {
        let cc = Attribute::parse(ir::context_of(op), "#mdh.cc");
        draft.parts.combine = cc.into_iter().collect();
    }
    draft.commit_same(Rewriter::Pattern(rewriter))
}

/// The dimensions of which an instruction computes a fragment, or that threads have the points of:
/// they are needed also where they have one point.
fn needed(op: Op, parts: &Parts) -> Vec<String> {
    let plan = schedule::read(op).ok().flatten();
    let layers = plan.into_iter().flat_map(|plan| plan.layers);
    let instructions = layers.filter(|layer| layer.name == MATRIX);
    let fragment = instructions.flat_map(|layer| layer.parts.into_keys());
    let shared = parts.threads.dimensions().into_iter().map(str::to_owned);
    fragment.chain(shared).collect()
}

/// Returns whether a dimension has one point, which is combined with nothing.
pub(crate) fn is_unit(parts: &Parts, d: usize) -> bool {
    draft::count(&parts.dims[d]) == Some(1) && parts.carries.iter().all(|c| c.dim != d)
}

/// The new index, or the number, that stands for each dimension's index where `unit` go.
pub(crate) fn replacements(parts: &Parts, unit: &[usize]) -> Vec<Expr> {
    let mut next = 0;
    let mut replacements = Vec::new();
    for (d, dim) in parts.dims.iter().enumerate() {
        if unit.contains(&d) {
            replacements.push(Expr::Const(dim.lower.known().unwrap_or_default()));
        } else {
            replacements.push(Expr::Dim(next));
            next += 1;
        }
    }
    replacements
}

/// Removes dimensions that nothing depends on.
pub(crate) fn remove(parts: &mut Parts, unit: &[usize]) {
    let remaining: Vec<usize> = (0..parts.dims.len())
        .filter(|d| !unit.contains(d))
        .collect();
    parts.dims = remaining.iter().map(|d| parts.dims[*d].clone()).collect();
    parts.combine = remaining.iter().map(|d| parts.combine[*d]).collect();
    for carry in &mut parts.carries {
        carry.dim = remaining
            .iter()
            .position(|d| *d == carry.dim)
            .unwrap_or(carry.dim);
    }
}
