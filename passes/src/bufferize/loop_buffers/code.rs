//! The operations that stand between tensors and their memory.

use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::{Attribute, Type, ValueLike};

use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::extents::{self, Sum};
use crate::support::region;

/// Puts the elements of its first operand where its second one has its elements.
pub const COPY: &str = ops::bufferization::MATERIALIZE_IN_DESTINATION;
/// A tensor in memory of its own.
pub const FRESH: &str = ops::bufferization::ALLOC_TENSOR;

/// Returns whether a value is a tensor of a type that computations have.
pub fn is_tensor(value: Val) -> bool {
    types::buffer_type(value.r#type()).is_some_and(|ty| ty.kind == BufferKind::Tensor)
}

/// The type of a tensor's memory in row-major order.
pub fn memref_of<'c>(tensor: Val<'c>) -> Option<Type<'c>> {
    let ty = types::buffer_type(tensor.r#type())?;
    let context = ir::context_of_value(tensor);
    let shape: Vec<i64> = ty
        .shape
        .iter()
        .map(|e| e.unwrap_or(types::DYNAMIC))
        .collect();
    let element = types::mlir_type(context, ty.element);
    Some(buffers::shaped(BufferKind::MemRef, &shape, element))
}

/// A tensor's elements in the memory of another one.
pub fn into<'c>(builder: &mut Builder<'c>, value: Val<'c>, place: Val<'c>) -> Val<'c> {
    builder.op(COPY, &[value, place], &[place.r#type()], &[])[0]
}

/// Copies a tensor's elements to memory that nothing else is given.
pub fn into_memory<'c>(builder: &mut Builder<'c>, value: Val<'c>, memory: Val<'c>) {
    let attributes = own(builder);
    builder.op(COPY, &[value, memory], &[], &attributes);
}

/// A copy in memory of its own.
pub fn saved<'c>(builder: &mut Builder<'c>, value: Val<'c>) -> Val<'c> {
    let text = "array<i32: 0, 1, 0>";
    let segments = Attribute::parse(builder.context, text);
    let segments = segments.unwrap_or_else(|| panic!("{text} is an attribute"));
    let attributes = [("operandSegmentSizes", segments)];
    builder.op(FRESH, &[value], &[value.r#type()], &attributes)[0]
}

/// A tensor's memory.
pub fn to_buffer<'c>(builder: &mut Builder<'c>, tensor: Val<'c>, ty: Type<'c>) -> Val<'c> {
    builder.op(ops::bufferization::TO_BUFFER, &[tensor], &[ty], &[])[0]
}

/// The tensor in memory that nothing else is given: it may be written.
pub fn to_tensor<'c>(builder: &mut Builder<'c>, memory: Val<'c>, ty: Type<'c>) -> Val<'c> {
    let attributes = own(builder);
    builder.op(ops::bufferization::TO_TENSOR, &[memory], &[ty], &attributes)[0]
}

/// Attributes of memory that belongs to one tensor alone.
fn own<'c>(builder: &Builder<'c>) -> [(&'static str, Attribute<'c>); 2] {
    let unit = Attribute::unit(builder.context);
    [("restrict", unit), ("writable", unit)]
}

/// Another undefined tensor, beside one.
pub fn again(empty: Val) -> Option<Val> {
    let made = ir::defining_op(empty)?;
    ir::result(region::copy_before(made, made), 0)
}

/// Returns whether a tensor surely has another size along an axis than another one.
pub fn differs(tensor: Val, other: Val, axis: usize) -> bool {
    let difference = Sum::of_axis(tensor, axis).plus(&Sum::of_axis(other, axis), -1);
    let known = difference.and_then(|difference| difference.known());
    known.is_some_and(|known| known != 0)
}

/// Asserts that a tensor which a loop carries out is as large as what holds it in the next iteration, where
/// that is not known.
pub fn assert_size<'c>(builder: &mut Builder<'c>, tensor: Val<'c>, place: Val<'c>) {
    let rank = types::buffer_type(tensor.r#type()).map_or(0, |ty| ty.shape.len());
    for axis in 0..rank {
        if extents::of_axis(tensor, axis) == extents::of_axis(place, axis) {
            continue;
        }
        let [size, expected] = [tensor, place].map(|of| builder.dim(of, axis));
        let is_same = builder.compare("eq", size, expected);
        let message = format!(
            "a loop carries out a tensor that has another size in axis {axis} than the one whose place it takes \
             in the next iteration: expected the same size"
        );
        builder.assert(is_same, &message);
    }
}
