//! Tensors that change places: an `scf.for` carries their memory.

use mdh_dialect::in_place::Buffers;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, TypeLike, ValueLike};
use mlir_sys::mlirValueSetType;

use super::code::{again, is_tensor, memref_of, to_buffer, to_tensor};
use super::{Misplaced, distinct};
use crate::support::builder::Builder;
use crate::support::extents;
use crate::support::region;

/// Carries the memory of tensors that an `scf.for` only permutes.
pub fn carry_memory<'c>(found: &Misplaced<'c>, buffers: &Buffers) -> bool {
    if ir::name_of(found.op) != ops::scf::FOR {
        return false;
    }
    // The place of each: that of an argument which is misplaced too, and of no other's.
    let mut taken: Vec<Val> = Vec::new();
    for (argument, operand) in &found.pairs {
        let Some(value) = found.value(*operand) else {
            return false;
        };
        let mut places = found.pairs.iter().map(|(place, _)| *place);
        let place = places
            .find(|place| buffers.are_same(value, *place) && place.r#type() == argument.r#type());
        match place.filter(|place| !taken.contains(place)) {
            Some(place) => taken.push(place),
            None => return false,
        }
    }
    let memory: Option<Vec<Type>> = found.pairs.iter().map(|(a, _)| memref_of(*a)).collect();
    let Some(memory) = memory else {
        return false;
    };
    rebuild(found, &memory);
    true
}

/// Builds an `scf.for` again with memory in the place of the tensors.
fn rebuild<'c>(found: &Misplaced<'c>, memory: &[Type<'c>]) {
    let mut before = Builder::before(found.op);
    let mut operands: Vec<Val> = found.op.operands().map(ir::value).collect();
    let mut types: Vec<Type> = found
        .op
        .results()
        .map(|r| ir::value::<'c>(r).r#type())
        .collect();
    for ((argument, operand), ty) in found.pairs.iter().zip(memory) {
        operands[operand + 3] = to_buffer(&mut before, operands[operand + 3], *ty);
        types[*operand] = *ty;
        let tensor = argument.r#type();
        // SAFETY: the block's operation is replaced by one whose operands have this type.
        unsafe { mlirValueSetType(argument.to_raw(), ty.to_raw()) };
        let first = ir::ops_of(found.block)[0];
        let inside = to_tensor(&mut Builder::before(first), *argument, tensor);
        region::replace_all_uses(*argument, inside);
        if let Some(own) = ir::defining_op(inside) {
            region::set_operand(own, 0, *argument);
        }
        if let Some(value) = found.value(*operand) {
            let handed = to_buffer(&mut Builder::before(found.terminator), value, *ty);
            region::set_operand(found.terminator, *operand, handed);
        }
    }
    let results: Vec<Val> = found.op.results().map(ir::value::<'c>).collect();
    let body = region::take(found.op, 0);
    let attributes = region::attributes(found.op);
    let rebuilt = before.build(ops::scf::FOR, &operands, &types, &attributes, vec![body]);
    for (number, old) in results.iter().enumerate() {
        let Some(new) = ir::result(rebuilt, number) else {
            continue;
        };
        let new = match new.r#type() == old.r#type() {
            true => new,
            false => to_tensor(&mut before, new, old.r#type()),
        };
        region::replace_all_uses(*old, new);
    }
    region::erase(found.op);
}

/// Keeps the memory of which a loop carries tensors from being written later; `false` if there is no such.
///
/// What the loop leaves is in that memory, which the analysis does not see. So whatever is written there
/// later is given other memory where it starts from an undefined tensor, and else the loop starts from a copy.
pub fn keep_apart(module: Op, buffers: &Buffers) -> bool {
    let ops = ir::all(module);
    let written = ops.iter().enumerate().find_map(|(number, start)| {
        let tensor = start_of_loop(*start, buffers)?;
        let later = ops[number + 1..].iter();
        let writes: Vec<Write> = later.flat_map(|op| writes(*op, tensor, buffers)).collect();
        (!writes.is_empty()).then_some((*start, tensor, writes))
    });
    let Some((start, tensor, writes)) = written else {
        return false;
    };
    // Memory that only these write is no other memory.
    let is_shared = |write: &Write| {
        let users = ir::users(write.destination);
        users
            .iter()
            .any(|user| !writes.iter().any(|write| write.op == *user))
    };
    if !writes
        .iter()
        .all(|write| extents::is_undefined(write.destination) && is_shared(write))
    {
        region::set_operand(start, 0, distinct::another(start, tensor));
        return true;
    }
    let mut copied: Vec<(Val, Val)> = Vec::new();
    for write in writes {
        let known = copied
            .iter()
            .find(|(memory, _)| *memory == write.destination);
        let other = known.map(|(_, other)| *other);
        if let Some(other) = other.or_else(|| again(write.destination)) {
            copied.push((write.destination, other));
            region::set_operand(write.op, write.operand, other);
        }
    }
    true
}

/// Returns the tensor whose memory an operation gives to a loop that carries it.
fn start_of_loop<'c>(op: Op<'c>, buffers: &Buffers) -> Option<Val<'c>> {
    let memory = ir::result(op, 0).filter(|_| ir::name_of(op) == ops::bufferization::TO_BUFFER)?;
    let mut users = ir::users(memory).into_iter();
    let is_carried = users.any(|user| ir::name_of(user) == ops::scf::FOR);
    (is_carried && buffers.is_in_place(op, 0)).then(|| ir::operand(op, 0))?
}

/// An operand by which an operation may write memory.
struct Write<'c> {
    op: Op<'c>,
    operand: usize,
    destination: Val<'c>,
}

/// The operands by which an operation may write the memory of a tensor.
fn writes<'c>(op: Op<'c>, tensor: Val<'c>, buffers: &Buffers) -> Vec<Write<'c>> {
    let operands = op.operands().map(ir::value).enumerate();
    let written = operands.filter(|(operand, destination)| {
        is_tensor(*destination)
            && buffers.may_overlap(*destination, tensor)
            && buffers.is_written(op, *operand)
            && buffers.is_in_place(op, *operand)
    });
    let write = |(operand, destination)| Write {
        op,
        operand,
        destination,
    };
    written.map(write).collect()
}
