//! Memory of its own for each result of a computation, and for each undefined tensor that a loop starts from.
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
//!
//! An undefined tensor is no definition for that analysis, so that nothing is in the way of a loop which
//! starts from it while a loop inside of that one writes it, too: what the outer loop carries from one
//! iteration to the next would be overwritten by the inner one.

use mdh_dialect::in_place::Buffers;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::read;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::code::saved;
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::extents;
use crate::support::region;

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

/// Gives it to the undefined tensors that a loop starts from and that it uses once more, inside of it or
/// for another of its carried tensors.
pub fn keep_starts_apart(module: Op) {
    for empty in ir::find_all(module, &[ops::tensor::EMPTY]) {
        let mut aliases: Vec<Val> = ir::result(empty, 0).into_iter().collect();
        let mut next = 0;
        while let Some(alias) = aliases.get(next).copied() {
            next += 1;
            let views = ir::users(alias).into_iter();
            let views = views.filter(|user| VIEWS.contains(&ir::name_of(*user)));
            aliases.extend(views.filter_map(|view| ir::result(view, 0)));
        }
        let uses: Vec<(Op, Val)> = aliases
            .iter()
            .flat_map(|alias| ir::users(*alias).into_iter().map(|user| (user, *alias)))
            .filter(|(user, _)| ir::name_of(*user) != ops::tensor::DIM)
            .collect();
        for (start, _) in &uses {
            if !STARTS.contains(&ir::name_of(*start)) {
                continue;
            }
            let inside = uses.iter().any(|(user, _)| {
                *user != *start && ir::ancestors(*user).any(|around| around == *start)
            });
            let operands = (0..start.operand_count())
                .filter(|n| ir::operand(*start, *n).is_some_and(|v| aliases.contains(&v)));
            // The first may keep its memory where nothing inside wants it.
            for operand in operands.skip(usize::from(!inside)) {
                if let Some(tensor) = ir::operand(*start, operand) {
                    region::set_operand(*start, operand, another(*start, tensor));
                }
            }
        }
    }
}

/// Loops that carry tensors.
const STARTS: [&str; 3] = [ops::scf::FOR, ops::scf::WHILE, ops::scf::FORALL];

/// Operations whose result is in the memory of their first operand.
const VIEWS: [&str; 4] = [
    ops::tensor::CAST,
    ops::tensor::COLLAPSE_SHAPE,
    ops::tensor::EXPAND_SHAPE,
    ops::tensor::EXTRACT_SLICE,
];

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
