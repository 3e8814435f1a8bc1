//! `mdh-save-overwritten`: a tensor that is needed after its memory was overwritten is copied before.
//!
//! ```mlir
//! func.func @doubled(%m: memref<8xf32>) -> tensor<8xf32> {
//!   %before = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
//!   %after = mdh.compute (i = 8)
//!     out_view(after = %before[i] : tensor<8xf32>)
//!     md_hom(addf, (cc))
//!     inp_view(before = %before[i][i] : tensor<8xf32>)
//!   bufferization.materialize_in_destination %after in restrict writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
//!   return %before : tensor<8xf32>
//! }
//! // becomes
//! func.func @doubled(%m: memref<8xf32>) -> tensor<8xf32> {
//!   %before = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
//!   %saved = bufferization.alloc_tensor() copy(%before) : tensor<8xf32>
//!   %after = mdh.compute (i = 8)
//!     out_view(after = %before[i] : tensor<8xf32>)
//!     md_hom(addf, (cc))
//!     inp_view(before = %before[i][i] : tensor<8xf32>)
//!   bufferization.materialize_in_destination %after in restrict writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
//!   return %saved : tensor<8xf32>
//! }
//! ```
//!
//! Bufferization takes a tensor in its own memory (`restrict`) for one that nothing else writes, and does not see that
//! what puts elements into that memory does. What computations make of such a tensor may be in the same
//! memory, and is saved too.
//!
//! It also takes an operation of linalg whose body does not read a destination for one that writes all of
//! it. What one leaves as it was, since its indices do not reach it or since there is no iteration, is copied
//! into memory of the operation's own.
//!
//! A memref that a function returns to another one becomes an argument, into which it is copied: where that
//! is no memory of the function's own, what is written to the one would not be seen by the other, which is
//! refused.

use mdh_algebra::affine::Expr;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::structured::{Operand, Structured, is_structured};
use mdh_dialect::types::BufferKind;
use mdh_dialect::{memory, ops, read, types};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::bufferize::loop_buffers::code::{COPY, FRESH, is_tensor, saved};
use crate::support::builder::Builder;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-save-overwritten",
    description: "copy tensors that are needed after their memory was overwritten",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let mut called = ir::find_all(module, &[ops::func::CALL]).into_iter();
    called.try_for_each(check_returned)?;
    for op in ir::all(module) {
        if op.result_count() > 0 && is_structured(op) {
            keep_unwritten(op);
        }
    }
    for write in ir::find_all(module, &[COPY]) {
        let Some(memory) = write.operands().nth(1).map(ir::value) else {
            continue;
        };
        let later = after(write);
        for tensor in ir::users(memory) {
            if ir::name_of(tensor) == ops::bufferization::TO_TENSOR && !later.contains(&tensor) {
                save(tensor, &later);
            }
        }
    }
    Ok(())
}

/// Fails for a call of a function that returns memory which others may have by another name.
fn check_returned(call: Op) -> Result<(), Errors> {
    let callee = ir::attribute(call, "callee").and_then(ir::symbol);
    let function = callee.and_then(|name| ir::lookup_symbol(call, name));
    let ends = function.map_or(Vec::new(), |f| ir::find_all(f, &[ops::func::RETURN]));
    for end in ends {
        for (n, value) in end.operands().map(ir::value).enumerate() {
            let is_memref =
                types::buffer_type(value.r#type()).is_some_and(|ty| ty.kind == BufferKind::MemRef);
            if is_memref && !is_own(value) {
                let message = format!(
                    "returns memory to another function that may have it by another name: found result \
                     #{n}, {}, expected memory that is allocated here; return nothing, and let that \
                     function use the memory that it gave",
                    value.r#type()
                );
                ir::error_at(end, &message);
                return Err(Vec::new());
            }
        }
    }
    Ok(())
}

/// Returns whether a memref is, or shows a part of, memory that nothing outside its function has.
fn is_own(value: Val) -> bool {
    const OWN: [&str; 3] = [
        ops::memref::ALLOC,
        ops::bufferization::TO_BUFFER,
        // Checked where it is called.
        ops::func::CALL,
    ];
    ir::defining_op(memory::root(value)).is_some_and(|made| OWN.contains(&ir::name_of(made)))
}

/// Copies destinations of an operation of linalg of which it might leave something that it does not read.
fn keep_unwritten(op: Op) {
    let Ok(structured) = Structured::read(op) else {
        return;
    };
    let Some(block) = ir::only_block(ir::region(op, 0)) else {
        return;
    };
    let first = structured.inputs.len();
    let given = arguments(block).into_iter().skip(first);
    for (n, (output, given)) in structured.outputs.iter().zip(given).enumerate() {
        let is_fresh = ir::defining_op(output.value)
            .is_some_and(|made| [ops::tensor::EMPTY, FRESH].contains(&ir::name_of(made)));
        let is_read = !ir::users(given).is_empty();
        if !is_fresh && !is_read && is_tensor(output.value) && !writes_all(&structured, output) {
            let copy = saved(&mut Builder::before(op), output.value);
            region::set_operand(op, first + n, copy);
        }
    }
}

/// Returns whether each element of a destination is surely written: each axis has a loop of its own, and
/// the others have iterations.
fn writes_all(of: &Structured, output: &Operand) -> bool {
    let mut is_open = vec![true; of.rank];
    for expr in &output.map {
        match expr {
            Expr::Dim(d) if is_open[*d] => is_open[*d] = false,
            _ => return false,
        }
    }
    for operand in of.operands() {
        let shape = types::buffer_type(operand.value.r#type()).map(|ty| ty.shape);
        for (expr, size) in operand.map.iter().zip(shape.unwrap_or_default()) {
            if let (Expr::Dim(d), Some(1..)) = (expr, size) {
                is_open[*d] = false;
            }
        }
    }
    !is_open.contains(&true)
}

/// The operations behind one, and what is in them.
fn after(op: Op) -> Vec<Op> {
    let mut overwritten = Vec::new();
    let mut next = op.next_in_block().map(|op| ir::op(&op));
    while let Some(op) = next {
        overwritten.extend(ir::all(op));
        next = op.next_in_block().map(|op| ir::op(&op));
    }
    overwritten
}

/// Has later operations read copies of a tensor, and of what may be in its memory.
fn save<'c>(tensor: Op<'c>, later: &[Op<'c>]) {
    let mut open = vec![tensor];
    let mut seen = Vec::new();
    while let Some(op) = open.pop() {
        if seen.contains(&op) || later.contains(&op) {
            continue;
        }
        seen.push(op);
        for result in op.results().map(ir::value).filter(|own| is_tensor(*own)) {
            open.extend(
                ir::users(result)
                    .into_iter()
                    .filter(|user| may_share(*user, result)),
            );
            let readers: Vec<Op> = ir::users(result)
                .into_iter()
                .filter(|user| later.contains(user))
                .collect();
            if readers.is_empty() {
                continue;
            }
            let mut builder = match op.next_in_block() {
                Some(next) => Builder::before(ir::op(&next)),
                None => continue,
            };
            let copy = saved(&mut builder, result);
            for reader in readers {
                let operands: Vec<Val> = reader.operands().map(ir::value).collect();
                let positions = operands.iter().enumerate();
                for (number, _) in positions.filter(|(_, operand)| **operand == result) {
                    region::set_operand(reader, number, copy);
                }
            }
        }
    }
}

/// Returns whether a result of an operation may be in the memory of a tensor that it takes: a computation writes
/// into its destinations, a copy has memory of its own, and of others nothing is known.
fn may_share(user: Op, tensor: Val) -> bool {
    match read::compute(user) {
        Ok(parts) => parts.outputs.iter().any(|buffer| buffer.value == tensor),
        Err(_) => ir::name_of(user) != ops::bufferization::ALLOC_TENSOR,
    }
}
