//! Tensors that change places: an `scf.for` carries their memory.

use mdh_dialect::in_place::Buffers;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, TypeLike, ValueLike};
use mlir_sys::mlirValueSetType;

use super::Misplaced;
use super::code::{is_tensor, memref_of, saved, set_operand, to_buffer, to_tensor};
use crate::builder::Builder;
use crate::region;

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
            set_operand(own, 0, *argument);
        }
        if let Some(value) = found.value(*operand) {
            let handed = to_buffer(&mut Builder::before(found.terminator), value, *ty);
            set_operand(found.terminator, *operand, handed);
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

/// Copies the initial tensors of loops that carry memory, where anything writes that memory later:
/// the analysis takes the tensors that such a loop leaves for memory of their own, and sees no harm
/// in it.
pub fn keep_apart(module: Op) {
    if !ir::all(module).into_iter().any(is_start) {
        return;
    }
    while let Some(buffers) = Buffers::analyze(module) {
        let all = ir::all(module);
        let shared = all.iter().enumerate().find(|(number, op)| {
            let tensor = ir::operand(**op, 0).filter(|_| is_start(**op));
            let later = || all[number + 1..].iter();
            tensor.is_some_and(|tensor| later().any(|op| overwrites(*op, tensor, &buffers)))
        });
        let Some((_, op)) = shared else {
            break;
        };
        let Some(tensor) = ir::operand(*op, 0) else {
            break;
        };
        let copy = saved(&mut Builder::before(*op), tensor);
        set_operand(*op, 0, copy);
    }
}

/// Returns whether an operation gives memory to a loop that carries it.
fn is_start(op: Op) -> bool {
    let users = || op.result(0).map_or(Vec::new(), |r| ir::users(ir::value(r)));
    ir::name_of(op) == ops::bufferization::TO_BUFFER
        && users()
            .iter()
            .any(|user| ir::name_of(*user) == ops::scf::FOR)
}

/// Returns whether an operation may write the memory of a tensor without reading it: the analysis sees no
/// conflict in that.
fn overwrites(op: Op, tensor: Val, buffers: &Buffers) -> bool {
    // These read what they write, or write nothing.
    let reads = |name: &str| {
        let dialects = ["mdh.", "scf.", "func.", "cf.", "arith."];
        dialects.iter().any(|dialect| name.starts_with(dialect))
            || matches!(
                name,
                ops::tensor::CAST
                    | ops::tensor::DIM
                    | ops::tensor::EXTRACT
                    | ops::tensor::EXTRACT_SLICE
                    | ops::tensor::INSERT
                    | ops::bufferization::TO_BUFFER
                    | ops::bufferization::ALLOC_TENSOR
            )
    };
    let mut operands = op.operands().map(ir::value);
    !reads(ir::name_of(op))
        && operands.any(|operand| is_tensor(operand) && buffers.may_overlap(operand, tensor))
}
