//! Places of what the condition of an `scf.while` carries out.
//!
//! ```mlir
//! // mdh-opt --mdh-loop-buffers
//! func.func @f(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
//!   %c0 = arith.constant 0 : index
//!   %l = scf.while (%t = %c0, %a = %x) : (index, tensor<8xf32>) -> tensor<8xf32> {
//!     %more = arith.cmpi slt, %t, %n : index
//!     scf.condition(%more) %a : tensor<8xf32>
//!   } do {
//!   ^bb0(%a: tensor<8xf32>):
//!     scf.yield %n, %a : index, tensor<8xf32>
//!   }
//!   return %l : tensor<8xf32>
//! }
//! // becomes
//! %e = tensor.empty() : tensor<8xf32>
//! ..
//! %l:3 = scf.while (%b = %e, %t = %c0, %a = %x) : (tensor<8xf32>, index, tensor<8xf32>) -> (tensor<8xf32>, index, tensor<8xf32>) {
//!   ..
//!   scf.condition(%more) %d, %t, %a : tensor<8xf32>, index, tensor<8xf32>
//! ```
//!
//! Upstream bufferizes such a loop where each tensor that the condition carries out is in the memory of the
//! argument at its place, and each that an iteration carries out likewise. So a condition that carries out the
//! first arguments only, while an iteration carries out more tensors, carries out the others, too.

use mdh_algebra::scalar::Scalar;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::parts::Bound;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Type, ValueLike};

use super::code::is_tensor;
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::extents;
use crate::support::region;

/// Gives an `scf.while` an argument for each value that its condition carries out, before the others, where one
/// of these tensors is at another place than the loop has it, and lets the condition carry out all arguments
/// where an iteration does. Fails where the size of a tensor is not known before.
pub fn align<'c>(op: Op<'c>) -> Result<(), Errors> {
    let regions = [0, 1].map(|number| ir::only_block(ir::region(op, number)));
    let [Some(before), Some(after)] = regions else {
        return Ok(());
    };
    let before_arguments = arguments(before);
    let handed: Vec<Val> = region::yields(before).into_iter().skip(1).collect();
    let moved = handed.iter().enumerate().find(|(place, value)| {
        let argument = before_arguments.get(*place);
        is_tensor(**value) && argument.is_none_or(|a| a.r#type() != value.r#type())
    });
    let next = region::yields(after);
    let has_more = next
        .iter()
        .skip(handed.len())
        .any(|value| is_tensor(*value));
    let mut builder = Builder::before(op);
    // Arguments before those that the loop has, and the first of these that the condition is to carry out.
    let (first, missing) = match moved {
        Some((place, moved)) => {
            let first: Option<Vec<Val>> = handed
                .iter()
                .map(|value| undefined(&mut builder, op, *value))
                .collect();
            let Some(first) = first else {
                return Err(refused(op, place, *moved, before_arguments.get(place)));
            };
            (first, 0)
        }
        None if has_more => (Vec::new(), handed.len()),
        None => return Ok(()),
    };
    let (count, all) = (before_arguments.len(), before_arguments.len() + first.len());
    for value in &first {
        region::add_argument(before, value.r#type(), builder.location);
    }
    let order: Vec<usize> = (count..all).chain(0..count).collect();
    region::keep_arguments(before, &order);
    let added = arguments(before).split_off(first.len() + missing);
    let condition = region::yields(before);
    region::set_yields(before, &[&condition[..], &added[..]].concat());
    for value in &added {
        region::add_argument(after, value.r#type(), builder.location);
    }
    let taken = arguments(after);
    region::set_yields(after, &[&taken[..first.len()], &next[..]].concat());
    rebuild(&mut builder, op, before, first);
    Ok(())
}

/// Builds an `scf.while` again, with its bodies as they are now and operands before those that it has.
fn rebuild<'c>(
    builder: &mut Builder<'c>,
    op: Op<'c>,
    before: BlockRef<'c, 'c>,
    first: Vec<Val<'c>>,
) {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let arguments = arguments(before);
    let types: Vec<Type> = arguments.iter().map(|value| value.r#type()).collect();
    let bodies = vec![region::take(op, 0), region::take(op, 1)];
    let attributes = region::attributes(op);
    let operands = [first, operands].concat();
    let rebuilt = builder.build(ir::name_of(op), &operands, &types, &attributes, bodies);
    let old: Vec<Val> = op.results().map(ir::value::<'c>).collect();
    for (old, new) in old.into_iter().zip(rebuilt.results().map(ir::value::<'c>)) {
        region::replace_all_uses(old, new);
    }
    region::erase(op);
}

/// A value of another one's type and size that holds nothing, before a loop.
fn undefined<'c>(builder: &mut Builder<'c>, of: Op<'c>, like: Val<'c>) -> Option<Val<'c>> {
    if let Some(ty) = types::scalar_type(like.r#type()) {
        return Some(builder.scalar(Scalar::from_i64(ty, 0)));
    }
    let ty = types::buffer_type(like.r#type()).filter(|ty| ty.kind == BufferKind::Tensor)?;
    let extent = |axis: usize| {
        let extent = extents::of_axis(like, axis);
        (!extents::is_inside(extent, of)).then_some(extent)
    };
    let extents: Option<Vec<_>> = (0..ty.shape.len()).map(extent).collect();
    let extents: Vec<Bound> = extents?
        .into_iter()
        .zip(&ty.shape)
        .map(|(extent, size)| match size {
            Some(size) => Bound::Static(*size),
            None => Bound::Dynamic(extent.value(builder)),
        })
        .collect();
    let element = types::mlir_type(builder.context, ty.element);
    let empty = buffers::empty(builder, BufferKind::Tensor, &extents, element);
    (empty.r#type() == like.r#type()).then_some(empty)
}

fn refused<'c>(op: Op<'c>, place: usize, tensor: Val<'c>, argument: Option<&Val<'c>>) -> Errors {
    let has = argument.map_or("nothing".into(), |a| {
        format!("a value of type {}", a.r#type())
    });
    let condition = ir::only_block(ir::region(op, 0)).map_or(op, region::terminator);
    let message = format!(
        "carries out a tensor of type {} as #{place}, where the loop has {has}, and its size is not known before \
         the loop: expected the arguments of the loop in their order; carry out all of them, in use or not",
        tensor.r#type()
    );
    ir::error_at(condition, &message);
    Vec::new()
}
