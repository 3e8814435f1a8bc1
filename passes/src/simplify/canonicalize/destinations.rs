//! Computing only to copy the result elsewhere is computing it there.
//!
//! ```mlir
//! func.func @f(%M: tensor<4x5xf32>, %rows: tensor<9xf32>) -> tensor<9xf32> {
//!   %e = tensor.empty() : tensor<4xf32>
//!   %w = mdh.compute (i = 4, k = 5)
//!     out_view(w = %e[i] : tensor<4xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(M = %M[i, k] : tensor<4x5xf32>)
//!   %all = mdh.compute (i = 4)
//!     out_view(all = %rows[i * 2 + 1] : tensor<9xf32>)
//!     md_hom(id, (cc))
//!     inp_view(w = %w[i] : tensor<4xf32>)
//!   return %all : tensor<9xf32>
//! }
//! // becomes
//! func.func @f(%M: tensor<4x5xf32>, %rows: tensor<9xf32>) -> tensor<9xf32> {
//!   %all = mdh.compute (i = 4, k = 5)
//!     out_view(all = %rows[i * 2 + 1] : tensor<9xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(M = %M[i, k] : tensor<4x5xf32>)
//!   return %all : tensor<9xf32>
//! }
//! ```
//!
//! The law: where `y[f(p)]` is all of `y`, and `z[g(x)] = y[x]` for all its indices, `z[g(f(p))]` is what was
//! `y[f(p)]`. The computation moves to where the copy was, behind what makes the destination; it must not
//! read that, since it could not be in place then.

use mdh_algebra::affine::Expr;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Parts};
use mdh_dialect::schedule::has_schedule;
use mdh_dialect::types::BufferKind;
use melior::ir::operation::OperationLike;
use mlir_sys::MlirRewriterBase;

use super::identity::covers;
use crate::support::draft::{self, Draft, Rewriter};
use crate::support::region;

/// The pattern, whose root is the copy.
pub fn write_through(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(copy) = draft::parts(op).filter(|parts| is_copy(op, parts)) else {
        return false;
    };
    let (input, output) = (&copy.inputs[0], &copy.outputs[0]);
    let producer = ir::defining_op(input.value).filter(|producer| {
        let is_alone = ir::only_user(input.value) == Some(op) && producer.result_count() == 1;
        let is_near =
            ir::name_of(*producer) == ops::mdh::COMPUTE && ir::parent(*producer) == ir::parent(op);
        is_near && is_alone && producer.block() == op.block() && !has_schedule(*producer)
    });
    let Some(producer) = producer else {
        return false;
    };
    let Some(mut parts) = draft::parts(producer).filter(|parts| is_whole(parts, output)) else {
        return false;
    };
    // The producer's index function for each dimension of the copy.
    let access = &parts.outputs[0].accesses[0];
    let mut points = vec![Expr::Const(0); copy.dims.len()];
    for (expr, point) in input.accesses[0].iter().zip(access) {
        if let Expr::Dim(d) = expr {
            points[*d] = point.clone();
        }
    }
    let through = output.accesses[0].iter();
    let through = through.map(|expr| draft::substituted(expr, &points));
    parts.outputs = vec![BufferPart {
        accesses: vec![through.collect()],
        components: parts.outputs[0].components.clone(),
        ..output.clone()
    }];
    let draft = Draft {
        op,
        parts,
        scalar: region::copy(producer, 0),
        combiner: region::copy(producer, 1),
    };
    draft.commit_same(Rewriter::Pattern(rewriter))
}

fn is_tensor(buffer: &BufferPart) -> bool {
    draft::is_kind(buffer, BufferKind::Tensor)
}

fn is_at_zero(buffer: &BufferPart) -> bool {
    buffer
        .origin
        .iter()
        .all(|origin| *origin == Bound::Static(0))
}

fn keeps_all(parts: &Parts) -> bool {
    let mut combine = parts.combine.iter();
    combine.all(|c| ir::is_cc(*c))
}

/// Returns whether a computation copies each element of a tensor to one place.
fn is_copy(op: Op, parts: &Parts) -> bool {
    let ([input], [output]) = (&parts.inputs[..], &parts.outputs[..]) else {
        return false;
    };
    let Some(block) = ir::only_block(ir::region(op, 0)) else {
        return false;
    };
    let is_plain = ir::ops_of(block).len() == 1 && region::yields(block) == arguments(block);
    is_plain
        && !has_schedule(op)
        && keeps_all(parts)
        && parts.carries.is_empty()
        && is_tensor(input)
        && is_tensor(output)
        && input.value != output.value
        && input.pad.is_none()
        && input.accesses.len() == 1
        && output.accesses.len() == 1
        && draft::element(input.value) == draft::element(output.value)
        && input.origin.len() == parts.dims.len()
        && is_at_zero(input)
        && covers(parts, input)
}

/// Returns whether a computation writes all of a tensor, and may write to another destination.
fn is_whole(parts: &Parts, destination: &BufferPart) -> bool {
    let [output] = &parts.outputs[..] else {
        return false;
    };
    let is_memory = |buffer: &BufferPart| draft::is_kind(buffer, BufferKind::MemRef);
    let mut inputs = parts.inputs.iter();
    parts.carries.is_empty()
        && is_tensor(output)
        && output.accesses.len() == 1
        && is_at_zero(output)
        && covers(parts, output)
        && inputs.all(|input| !is_memory(input) && input.value != destination.value)
}
