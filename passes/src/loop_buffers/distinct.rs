//! Memory of its own for each result of a computation.
//!
//! ```mlir
//! // mdh-opt --mdh-loop-buffers
//! func.func @f(%x: tensor<8xf32>) -> tensor<f32> {
//!   %none = tensor.empty() : tensor<f32>
//!   %sum, %max, %min = mdh.compute (k = 8)
//!     out_view(sum = %none[] : tensor<f32>, max = %none[] : tensor<f32>, min = %none[] : tensor<f32>)
//!     md_hom((%e: f32) {
//!       mdh.yield %e, %e, %e : f32, f32, f32
//!     }, (pw(addf, maximumf, minimumf)))
//!     inp_view(x = %x[k] : tensor<8xf32>)
//!   return %min : tensor<f32>
//! }
//! // becomes
//! %none = tensor.empty() : tensor<f32>
//! ..
//! out_view(sum = %one[] : tensor<f32>, max = %other[] : tensor<f32>, min = %none[] : tensor<f32>)
//! ```
//!
//! Two tensors that start as one, as two undefined ones of a type do after `cse`, are two memories
//! for upstream's analysis where one of them is read. Where none is, it sees no conflict; but a
//! computation writes both, and its points are in no order.

use mdh_dialect::in_place::Buffers;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::read;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::code::saved;
use crate::builder::Builder;
use crate::{buffers, extents, region};

/// Gives it to the results that would share the memory of an earlier one of their computation;
/// `false` if there are none.
pub fn keep_results_apart(module: Op, buffers: &Buffers) -> bool {
    let computations = ir::find_all(module, &[ops::mdh::COMPUTE]).into_iter();
    // What is asked for all of them is what holds before the first change.
    let shared: Vec<(Op, usize)> = computations
        .flat_map(|op| shared(op, buffers).into_iter().map(move |n| (op, n)))
        .collect();
    for (op, operand) in &shared {
        if let Some(destination) = ir::operand(*op, *operand) {
            region::set_operand(*op, *operand, another(*op, destination));
        }
    }
    !shared.is_empty()
}

/// The operands of a computation on tensors that will be in the memory of an earlier destination.
fn shared(op: Op, buffers: &Buffers) -> Vec<usize> {
    let results: Vec<Val> = op.results().map(ir::value).collect();
    let is_shared = |n: &usize| {
        let mut earlier = results[..*n].iter();
        earlier.any(|one| buffers.are_same(*one, results[*n]))
    };
    let shared = (1..results.len()).filter(is_shared);
    let inputs = read::compute(op).map_or(0, |parts| parts.inputs.len());
    shared.map(|n| inputs + n).collect()
}

/// A tensor in memory of its own with the elements of another one, if that has any.
pub fn another<'c>(before: Op<'c>, tensor: Val<'c>) -> Val<'c> {
    let mut builder = Builder::before(before);
    let ty = types::buffer_type(tensor.r#type()).filter(|_| extents::is_undefined(tensor));
    let Some(ty) = ty else {
        return saved(&mut builder, tensor);
    };
    let extents: Vec<Bound> = (0..ty.shape.len())
        .map(|axis| match ty.shape[axis] {
            Some(extent) => Bound::Static(extent),
            None => Bound::Dynamic(builder.dim(tensor, axis)),
        })
        .collect();
    let element = types::mlir_type(builder.context, ty.element);
    buffers::empty(&mut builder, BufferKind::Tensor, &extents, element)
}
