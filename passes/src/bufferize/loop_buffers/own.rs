//! Memory of its own for a tensor that a loop or branch carries out.
//!
//! ```mlir
//! // mdh-opt --mdh-loop-buffers
//! func.func @f(%c: i1, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
//!   %i = scf.if %c -> (tensor<8xf32>) {
//!     %z = tensor.empty() : tensor<8xf32>
//!     %t = mdh.compute (i = 8)
//!       out_view(t = %z[i] : tensor<8xf32>) md_hom(id, (cc)) inp_view(x = %x[i] : tensor<8xf32>)
//!     scf.yield %t : tensor<8xf32>
//!   } else {
//!     scf.yield %y : tensor<8xf32>
//!   }
//!   return %i : tensor<8xf32>
//! }
//! // becomes
//! %m = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
//! scf.if %c {
//!   ..
//!   bufferization.materialize_in_destination %t in restrict writable %m : ..
//! } else {
//!   bufferization.materialize_in_destination %y in restrict writable %m : ..
//! }
//! %i = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
//! ```
//!
//! An iteration of a loop takes the tensors out of the memory when it starts and puts the next ones
//! in when it ends. That is right whatever else the program does with the tensors, for the price of
//! a copy or two.

use mdh_dialect::code::arguments;
use mdh_dialect::in_place::Buffers;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Type, ValueLike};
use mlir_sys::{mlirOperationClone, mlirOperationDestroy};

use super::code::{COPY, FRESH, assert_size, differs, into_memory, is_tensor, saved, to_tensor};
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::extents::{self, Extent};
use crate::support::region;

/// So many loops and branches are tried one by one.
const TRIES: usize = 32;

/// Gives one carried tensor of a loop or branch memory of its own: one where upstream's analysis
/// then has an answer, if there is such a one. `false` if there is none left.
pub fn give_to_one(module: Op) -> bool {
    let places = candidates(module);
    let helps = |number: &usize| {
        // SAFETY: the clone is ours, and nothing refers to it once it is destroyed.
        unsafe {
            let clone = ir::op_from_raw(mlirOperationClone(module.to_raw()));
            let is_given = candidates(clone).get(*number).is_some_and(|op| give(*op));
            let helps = is_given && Buffers::analyze(clone).is_some();
            mlirOperationDestroy(clone.to_raw());
            helps
        }
    };
    match (0..places.len().min(TRIES)).find(helps) {
        Some(number) => give(places[number]),
        None => places.into_iter().any(give),
    }
}

/// Gives one branch that carries out memory which it has allocated memory of its own: nobody would
/// free that.
pub fn give_to_taker(module: Op, buffers: &Buffers) -> bool {
    let branches = ir::find_all(module, &[ops::scf::IF]).into_iter();
    let mut takers = branches.filter(|op| takes(*op, buffers));
    takers.any(give)
}

/// Returns whether a branch carries out a tensor that is in no memory from outside.
fn takes(op: Op, buffers: &Buffers) -> bool {
    (0..op.region_count()).any(|number| {
        let body = ir::region(op, number);
        let Some(block) = ir::only_block(body) else {
            return false;
        };
        let used = region::operations_of(body);
        let used = || used.iter().flat_map(|op| op.operands().map(ir::value));
        let outside = |value: &Val| is_tensor(*value) && !region::is_defined_in(*value, op);
        let mut handed = region::yields(block).into_iter().filter(|v| is_tensor(*v));
        handed.any(|value| !used().filter(outside).any(|o| buffers.are_same(value, o)))
    })
}

/// Branches, inner ones first, and then loops, outer ones first: what costs less comes first.
fn candidates(module: Op) -> Vec<Op> {
    let branches = ir::find_all(module, &[ops::scf::IF]).into_iter().rev();
    let structured = branches.chain(ir::find_all(module, &super::LOOPS));
    structured.filter(|op| !places(*op).is_empty()).collect()
}

/// A tensor that an operation carries out at one place.
struct CarriedTensor<'c> {
    number: usize,
    ty: Type<'c>,
    memory: Val<'c>,
}

/// Gives memory of their own to all tensors that a loop or branch carries out; `false` and nothing
/// where a size is not known before.
fn give(op: Op) -> bool {
    let numbers = places(op);
    let extents: Option<Vec<Vec<Bound>>> = numbers.iter().map(|n| extents(op, *n)).collect();
    let (false, Some(extents)) = (numbers.is_empty(), extents) else {
        return false;
    };
    let mut before = Builder::before(op);
    let mut places = Vec::new();
    for (number, extents) in numbers.into_iter().zip(extents) {
        let Some(tensor) = example(op, number) else {
            return false;
        };
        let Some(ty) = types::buffer_type(tensor.r#type()) else {
            return false;
        };
        let element = types::mlir_type(before.context, ty.element);
        let memory = buffers::aligned(&mut before, &extents, element);
        let initial = initial(op, number).filter(|value| !extents::is_undefined(*value));
        if let Some(initial) = initial {
            into_memory(&mut before, initial, memory);
        }
        places.push(CarriedTensor {
            number,
            ty: tensor.r#type(),
            memory,
        });
    }
    for hands in hands(op) {
        if let Some(block) = ir::only_block(ir::region(op, hands.region)) {
            settle(block, hands, &places);
        }
    }
    rebuild(op, &places);
    true
}

/// Positions at which a region takes and carries out its carried values: the first argument that is
/// one, and the first operand of its terminator.
pub struct Hands {
    /// The region's number.
    pub region: usize,
    /// The first argument; none where a region takes nothing.
    pub argument: Option<usize>,
    /// The first operand.
    pub operand: usize,
}

/// Returns these positions for the regions of a loop or branch.
pub fn hands(op: Op) -> &'static [Hands] {
    const fn row(region: usize, argument: Option<usize>, operand: usize) -> Hands {
        Hands {
            region,
            argument,
            operand,
        }
    }
    const FOR: &[Hands] = &[row(0, Some(1), 0)];
    const WHILE: &[Hands] = &[row(0, Some(0), 1), row(1, Some(0), 0)];
    const IF: &[Hands] = &[row(0, None, 0), row(1, None, 0)];
    match ir::name_of(op) {
        ops::scf::FOR => FOR,
        ops::scf::WHILE => WHILE,
        _ => IF,
    }
}

/// The number of the operand with which the first place starts; none for branches.
fn first_operand(op: Op) -> Option<usize> {
    match ir::name_of(op) {
        ops::scf::FOR => Some(3),
        ops::scf::WHILE => Some(0),
        _ => None,
    }
}

/// Returns the initial value of a place.
fn initial<'c>(op: Op<'c>, place: usize) -> Option<Val<'c>> {
    let operand = op.operand(first_operand(op)? + place).ok();
    operand.map(ir::value)
}

/// A value that is at a place.
fn example<'c>(op: Op<'c>, place: usize) -> Option<Val<'c>> {
    let result = || ir::result(op, place);
    initial(op, place).or_else(result)
}

/// The places that hold tensors.
fn places(op: Op) -> Vec<usize> {
    let count = match first_operand(op) {
        Some(first) => op.operand_count().saturating_sub(first),
        None => op.result_count(),
    };
    let has_tensor = |place: &usize| example(op, *place).is_some_and(is_tensor);
    (0..count).filter(has_tensor).collect()
}

/// The size of a place's value, if it is known before the loop and does not change.
fn extents<'c>(op: Op<'c>, place: usize) -> Option<Vec<Bound<'c>>> {
    let tensor = example(op, place)?;
    let shape = types::buffer_type(tensor.r#type())?.shape;
    if shape.iter().all(Option::is_some) {
        return Some(shape.into_iter().flatten().map(Bound::Static).collect());
    }
    let starts = initial(op, place).is_some();
    let is_other = |axis| {
        let mut carried = carried_out(op, place);
        carried.any(|(value, argument)| differs(value, argument, axis))
    };
    if starts && (0..shape.len()).any(is_other) {
        return None;
    }
    let mut before = Builder::before(op);
    let extent = |axis: usize| match shape[axis] {
        Some(size) => Some(Bound::Static(size)),
        None if starts => Some(Bound::Dynamic(before.dim(tensor, axis))),
        None => match extents::of_axis(tensor, axis) {
            Extent::Axis(of, _) if of == tensor => None,
            extent => Some(Bound::Dynamic(extent.value(&mut before))),
        },
    };
    (0..shape.len()).map(extent).collect()
}

/// Returns the values that the regions of a loop carry out at a place, and the argument that stands
/// for each.
fn carried_out<'c>(op: Op<'c>, place: usize) -> impl Iterator<Item = (Val<'c>, Val<'c>)> {
    hands(op).iter().filter_map(move |hands| {
        let block = ir::only_block(ir::region(op, hands.region))?;
        let argument =
            *arguments(ir::only_block(ir::region(op, 0))?).get(hands.argument? + place)?;
        let value = *region::yields(block).get(hands.operand + place)?;
        Some((value, argument))
    })
}

/// Lets a region take what is at the places out of their memory, and put it there.
fn settle<'c>(block: BlockRef<'c, 'c>, hands: &Hands, places: &[CarriedTensor<'c>]) {
    let taken = arguments(block);
    let mut fresh: Vec<Option<Val>> = Vec::new();
    for place in places {
        let argument = hands
            .argument
            .and_then(|first| taken.get(first + place.number));
        let argument = argument.filter(|value| is_tensor(**value));
        fresh.push(argument.map(|argument| {
            let mut start = Builder::before(ir::ops_of(block)[0]);
            let tensor = to_tensor(&mut start, place.memory, place.ty);
            region::replace_all_uses(*argument, tensor);
            tensor
        }));
    }
    let handed = region::yields(block);
    let operand = |place: &CarriedTensor| hands.operand + place.number;
    let is_left = |n: &usize| !(places.iter().any(|p| operand(p) == *n) && is_tensor(handed[*n]));
    let left: Vec<Val> = (0..handed.len())
        .filter(is_left)
        .map(|n| handed[n])
        .collect();
    region::set_yields(block, &left);
    let mut end = Builder::before(region::terminator(block));
    let mut copies = Vec::new();
    for (place, fresh) in places.iter().zip(&fresh) {
        let value = handed.get(operand(place)).copied();
        let Some(value) = value.filter(|value| is_tensor(*value)) else {
            continue;
        };
        let value = without_copy(value, *fresh);
        // What is at another place may be overwritten before it is read.
        let is_apart = places.len() == 1 || Some(value) == *fresh || is_fresh(value);
        let value = match is_apart {
            true => value,
            false => saved(&mut end, value),
        };
        copies.push((value, place.memory));
    }
    for (value, memory) in copies {
        assert_size(&mut end, value, memory);
        into_memory(&mut end, value, memory);
    }
    let is_place = |n: usize| {
        let is_one = |p: &CarriedTensor| hands.argument.is_some_and(|first| first + p.number == n);
        places.iter().any(is_one) && is_tensor(taken[n])
    };
    let remaining: Vec<usize> = (0..taken.len()).filter(|n| !is_place(*n)).collect();
    region::keep_arguments(block, &remaining);
}

/// Returns the value before a copy to the place that it is carried out for, made before that had
/// memory of its own.
fn without_copy<'c>(value: Val<'c>, place: Option<Val<'c>>) -> Val<'c> {
    let copy = ir::defining_op(value).filter(|op| ir::name_of(*op) == COPY);
    let operand = |op: Op<'c>, number| ir::operand(op, number);
    let Some(copy) = copy.filter(|op| place.is_some() && operand(*op, 1) == place) else {
        return value;
    };
    let Some(source) = operand(copy, 0).filter(|_| !ir::has_uses(value)) else {
        return value;
    };
    region::erase(copy);
    source
}

fn is_fresh(value: Val) -> bool {
    ir::defining_op(value).is_some_and(|op| ir::name_of(op) == FRESH)
}

/// Builds an operation again without the places, and takes what it leaves out of their memory.
fn rebuild<'c>(op: Op<'c>, places: &[CarriedTensor<'c>]) {
    let at = |number: usize| places.iter().find(|place| place.number == number);
    let is_place = |number: &usize| {
        first_operand(op).is_some_and(|f| {
            number
                .checked_sub(f)
                .is_some_and(|number| at(number).is_some())
        })
    };
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let remaining = (0..operands.len()).filter(|n| !is_place(n));
    let remaining: Vec<Val> = remaining.map(|n| operands[n]).collect();
    let results: Vec<Val> = op.results().map(ir::value::<'c>).collect();
    let is_left = |n: &usize| at(*n).is_none() || !is_tensor(results[*n]);
    let left: Vec<usize> = (0..results.len()).filter(is_left).collect();
    let types: Vec<Type> = left.iter().map(|n| results[*n].r#type()).collect();
    let bodies = (0..op.region_count())
        .map(|n| region::take(op, n))
        .collect();
    let mut before = Builder::before(op);
    let attributes = region::attributes(op);
    let rebuilt = before.build(ir::name_of(op), &remaining, &types, &attributes, bodies);
    for (new, old) in rebuilt.results().map(ir::value).zip(&left) {
        region::replace_all_uses(results[*old], new);
    }
    for place in places {
        let result = results
            .get(place.number)
            .filter(|result| is_tensor(**result));
        if let Some(result) = result {
            let tensor = to_tensor(&mut before, place.memory, place.ty);
            region::replace_all_uses(*result, tensor);
        }
    }
    region::erase(op);
}
