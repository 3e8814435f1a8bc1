//! `mdh-loop-buffers`: tensors that a loop carries stay in the loop's memory.
//!
//! ```mlir
//! func.func @steps(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %z:2 = scf.for %t = %c0 to %n step %c1 iter_args(%old = %x, %new = %y)
//!       -> (tensor<8xf32>, tensor<8xf32>) {
//!     %next = mdh.compute (i = 1 to 7)
//!       out_view(new = %new[i] : tensor<8xf32>)
//!       md_hom(addf, (cc))
//!       inp_view(old = %old[i - 1][i + 1] : tensor<8xf32>)
//!     scf.yield %next, %old : tensor<8xf32>, tensor<8xf32>
//!   }
//!   return %z#0 : tensor<8xf32>
//! }
//! // becomes
//! func.func @steps(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %mx = bufferization.to_buffer %x : tensor<8xf32> to memref<8xf32>
//!   %my = bufferization.to_buffer %y : tensor<8xf32> to memref<8xf32>
//!   %mz:2 = scf.for %t = %c0 to %n step %c1 iter_args(%mold = %mx, %mnew = %my)
//!       -> (memref<8xf32>, memref<8xf32>) {
//!     %new = bufferization.to_tensor %mnew restrict writable : memref<8xf32> to tensor<8xf32>
//!     %old = bufferization.to_tensor %mold restrict writable : memref<8xf32> to tensor<8xf32>
//!     %next = mdh.compute (i = 1 to 7)
//!       out_view(new = %new[i] : tensor<8xf32>)
//!       md_hom(addf, (cc))
//!       inp_view(old = %old[i - 1][i + 1] : tensor<8xf32>)
//!     %mnext = bufferization.to_buffer %next : tensor<8xf32> to memref<8xf32>
//!     %mback = bufferization.to_buffer %old : tensor<8xf32> to memref<8xf32>
//!     scf.yield %mnext, %mback : memref<8xf32>, memref<8xf32>
//!   }
//!   %z = bufferization.to_tensor %mz#0 restrict writable : memref<8xf32> to tensor<8xf32>
//!   return %z : tensor<8xf32>
//! }
//! ```
//!
//! Upstream's bufferization wants each tensor that a loop carries out in the memory of the argument
//! that it becomes, and otherwise gives up, or allocates in every iteration. Its own analysis is
//! asked which tensors are not there. Then,
//!
//! - where a computation reads the tensor that it writes, it reads a copy, in memory from outside
//!   of the loop;
//! - where a loop's tensors change places, as above, the loop carries their memory, and nothing
//!   is copied, unless something is written there later;
//! - everything else is copied to where it belongs, at the end of the iteration.
//!
//! Where the analysis has no answer, because a tensor would be overwritten before it is read, a
//! loop or a branch gets memory of its own for what it carries out, one after the other until there
//! is an answer. So does a branch that carries out what it has allocated memory for, and a result of a
//! computation that would share the memory of another one.
//!
//! What needs nothing of it (a computation that reads only the element it writes) stays as it is.

mod carry;
pub(crate) mod code;
mod distinct;
mod own;
mod places;

use mdh_dialect::code::arguments;
use mdh_dialect::in_place::Buffers;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::read;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use self::code::{COPY, assert_size, differs, into, is_tensor, saved};
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::extents::{self, Extent};
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-loop-buffers",
    description: "keep what loops carry out in the memory of the loop",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

const LOOPS: [&str; 2] = [ops::scf::FOR, ops::scf::WHILE];

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::scf::WHILE]) {
        places::align(op)?;
    }
    distinct::keep_starts_apart(module);
    while step(module)? {}
    Ok(())
}

/// Mends one loop, or a computation in it, or one branch, which changes what the analysis says;
/// `false` if nothing is left to do.
fn step(module: Op) -> Result<bool, Errors> {
    let Some(buffers) = Buffers::analyze(module) else {
        return Ok(own::give_to_one(module));
    };
    if own::give_to_taker(module, &buffers) || distinct::keep_results_apart(module, &buffers) {
        return Ok(true);
    }
    // Inner loops come first.
    let mut loops = ir::find_all(module, &LOOPS).into_iter().rev();
    let Some(found) = loops.find_map(|op| misplaced(op, &buffers)) else {
        return Ok(carry::keep_apart(module, &buffers));
    };
    let is_mended = copy_inputs(&found, &buffers)
        || carry::carry_memory(&found, &buffers)
        || copy_back(&found, &buffers)?;
    match is_mended {
        true => Ok(true),
        false => Err(refused(&found)),
    }
}

/// Tensors that a loop carries out in other memory than that of the arguments they become.
struct Misplaced<'c> {
    op: Op<'c>,
    /// The block that takes them.
    block: BlockRef<'c, 'c>,
    /// The operation that carries them out.
    terminator: Op<'c>,
    /// The arguments of the block, and the operands of the terminator.
    pairs: Vec<(Val<'c>, usize)>,
}

impl<'c> Misplaced<'c> {
    fn value(&self, operand: usize) -> Option<Val<'c>> {
        ir::operand(self.terminator, operand)
    }
}

/// Finds the tensors that a loop carries out in other memory than where they belong.
fn misplaced<'c>(op: Op<'c>, buffers: &Buffers) -> Option<Misplaced<'c>> {
    own::hands(op).iter().find_map(|hands| {
        let block = ir::only_block(ir::region(op, hands.region))?;
        let first_operand = hands.operand;
        let terminator = region::terminator(block);
        let arguments = arguments(block).into_iter().skip(hands.argument?);
        let pairs: Vec<(Val, usize)> = arguments
            .enumerate()
            .map(|(i, argument)| (argument, first_operand + i))
            .filter(|(argument, operand)| {
                let value = ir::operand(terminator, *operand);
                value.is_some_and(|value| {
                    is_tensor(value) && is_tensor(*argument) && !buffers.are_same(value, *argument)
                })
            })
            .collect();
        (!pairs.is_empty()).then_some(Misplaced {
            op,
            block,
            terminator,
            pairs,
        })
    })
}

/// Lets computations that read an argument which they also write, and therefore are given memory
/// of their own, read a copy of it.
fn copy_inputs<'c>(found: &Misplaced<'c>, buffers: &Buffers) -> bool {
    let mut is_changed = false;
    for op in ir::ops_of(found.block) {
        if ir::name_of(op) != ops::mdh::COMPUTE {
            continue;
        }
        let Ok(parts) = read::compute(op) else {
            continue;
        };
        let results = op.results().map(ir::value::<'c>);
        for (destination, result) in parts.destinations().zip(results) {
            let is_carried = |pair: &&(Val<'c>, usize)| buffers.are_same(destination.value, pair.0);
            let carried = found.pairs.iter().find(is_carried);
            let Some((argument, operand)) =
                carried.filter(|_| !buffers.are_same(result, destination.value))
            else {
                continue;
            };
            for number in 0..parts.inputs.len() {
                let input = parts.inputs[number].value;
                if is_tensor(input) && buffers.are_same(input, *argument) {
                    let scratch = scratch(found, *argument, *operand, input);
                    let Some(scratch) = scratch else { continue };
                    let copy = into(&mut Builder::before(op), input, scratch);
                    region::set_operand(op, number, copy);
                    is_changed = true;
                }
            }
        }
    }
    is_changed
}

/// Memory outside of a loop for a copy of what it carries.
fn scratch<'c>(
    found: &Misplaced<'c>,
    argument: Val<'c>,
    operand: usize,
    like: Val<'c>,
) -> Option<Val<'c>> {
    let ty = types::buffer_type(like.r#type())?;
    let value = found.value(operand)?;
    let initial = initial(found, argument)?;
    let mut builder = Builder::before(found.op);
    let extents = (0..ty.shape.len()).map(|axis| match ty.shape[axis] {
        Some(extent) => Some(Bound::Static(extent)),
        None => (extents::of_axis(value, axis) == extents::of_axis(argument, axis))
            .then(|| Bound::Dynamic(builder.dim(initial, axis))),
    });
    let extents: Vec<Bound> = extents.collect::<Option<_>>()?;
    let element = types::mlir_type(builder.context, ty.element);
    Some(buffers::empty(
        &mut builder,
        BufferKind::Tensor,
        &extents,
        element,
    ))
}

/// Returns the initial value of a loop's argument.
fn initial<'c>(found: &Misplaced<'c>, argument: Val<'c>) -> Option<Val<'c>> {
    let number = arguments(found.block).iter().position(|a| *a == argument)?;
    let operand = match ir::name_of(found.op) {
        ops::scf::FOR => number + 2,
        _ => number,
    };
    let is_first = ir::block_argument(argument).is_some_and(|a| a.region == 0);
    let initial = found.op.operand(operand).ok().filter(|_| is_first);
    initial.map(ir::value)
}

/// Copies what is carried out to where it belongs. What would be overwritten by another of these
/// copies is saved before. Fails where the sizes differ.
fn copy_back<'c>(found: &Misplaced<'c>, buffers: &Buffers) -> Result<bool, Errors> {
    let mut builder = Builder::before(found.terminator);
    let mut values = Vec::new();
    for (argument, operand) in &found.pairs {
        let Some(value) = found.value(*operand) else {
            return Ok(false);
        };
        let rank = types::buffer_type(value.r#type()).map_or(0, |ty| ty.shape.len());
        let is_other = |axis| differs(value, *argument, axis);
        let is_copied = ir::defining_op(value).is_some_and(|op| ir::name_of(op) == COPY);
        if is_copied || value.r#type() != argument.r#type() || (0..rank).any(is_other) {
            return Ok(false);
        }
        values.push(value);
    }
    for (i, value) in values.iter_mut().enumerate() {
        let mut rest = found.pairs.iter().enumerate().filter(|(j, _)| *j != i);
        if rest.any(|(_, (other, _))| buffers.may_overlap(*value, *other)) {
            *value = saved(&mut builder, *value);
        }
    }
    for ((argument, operand), value) in found.pairs.iter().zip(values) {
        assert_size(&mut builder, value, *argument);
        let copy = into(&mut builder, value, *argument);
        region::set_operand(found.terminator, *operand, copy);
    }
    Ok(true)
}

fn refused(found: &Misplaced) -> Errors {
    let differences = found.pairs.iter().filter_map(|(argument, operand)| {
        let value = found.value(*operand)?;
        let rank = types::buffer_type(value.r#type())?.shape.len();
        let axes = (0..rank).filter(|axis| differs(value, *argument, *axis));
        let axes = axes.map(|axis| {
            let [size, place] = [value, *argument].map(|of| extents::of_axis(of, axis));
            let (size, place) = (shown(size, *argument), shown(place, *argument));
            format!("in axis {axis}, operand #{operand} has {size}, and its place {place}")
        });
        Some(axes.collect::<Vec<_>>())
    });
    let differences: Vec<String> = differences.flatten().collect();
    let which = match differences.is_empty() {
        true => "the types differ".to_owned(),
        false => differences.join("; "),
    };
    ir::error_at(
        found.terminator,
        &format!(
            "carries out a tensor whose size differs from that of the tensor whose place it takes \
             in the next iteration: {which}; expected the same size; give both a static type, or \
             write the result into a tensor that the loop carries"
        ),
    );
    Vec::new()
}

/// A size in words.
fn shown<'c>(size: Extent<'c>, carried: Val<'c>) -> String {
    let text_of = |value: Val| match (ir::defining_op(value), ir::block_argument(value)) {
        (Some(op), _) => format!("what '{}' gives", ir::name_of(op)),
        (None, Some(argument)) if ir::name_of(argument.of) == ops::func::FUNC => {
            format!("argument #{} of the function", argument.number)
        }
        _ => "what a loop carries".to_owned(),
    };
    match size {
        Extent::Number(number) => format!("the size {number}"),
        Extent::Value(value) => format!("the size that is {}", text_of(value)),
        Extent::Axis(value, _) if value == carried => "the one that the loop carries".to_owned(),
        Extent::Axis(value, axis) => format!("that of axis {axis} of {}", text_of(value)),
    }
}
