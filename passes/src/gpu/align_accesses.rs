//! `mdh-align-accesses`: accesses of kernels say which power of two divides their address.
//!
//! ```mlir
//! func.func @f(%n: index) {
//!   %c1 = arith.constant 1 : index
//!   %c4 = arith.constant 4 : index
//!   %x = gpu.alloc () : memref<64x64xf32>
//!   gpu.launch blocks(%row, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
//!       threads(%thread, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
//!     %at = arith.muli %thread, %c4 : index
//!     %v = memref.load %x[%row, %at] : memref<64x64xf32>
//!     memref.store %v, %x[%at, %row] : memref<64x64xf32>
//!     gpu.terminator
//!   }
//!   return
//! }
//! // becomes
//! %at = arith.muli %thread, %c4 : index
//! %v = memref.load %x[%row, %at] {alignment = 16 : i64} : memref<64x64xf32>
//! memref.store %v, %x[%at, %row] : memref<64x64xf32>
//! ```
//!
//! Together with the three elements that follow, each of which is accessed as well, this is one
//! access of 16 bytes: LLVM makes it of them where it knows that the first is at a multiple of 16.

use std::collections::BTreeSet;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::known;
use crate::support::captured::attribute;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-align-accesses",
    description: "accesses of kernels say which power of two divides their address",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Bytes of the widest access of a thread.
pub const WIDEST: i64 = 16;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    // The accesses of an unrolled tile come from one place, of which one remark says all.
    let mut named = BTreeSet::new();
    for launch in ir::find_all(module, &[ops::gpu::LAUNCH]) {
        for op in ir::find_all(launch, &[ops::memref::LOAD, ops::memref::STORE]) {
            if let Some(bytes) = alignment(op) {
                let context = ir::context_of(op);
                let bytes = attribute(context, &format!("{bytes} : i64"));
                ir::set_attribute(op, "alignment", bytes);
            } else if memory(op).is_some_and(|(memory, _)| is_aligned(memory)) {
                let text = "is an access of one element: no power of two is known to divide its \
                            place; index it by multiples, in rows of even lengths";
                if named.insert(op.location().to_string()) {
                    ir::remark_at(op, text);
                }
            }
        }
    }
    Ok(())
}

/// The memory that an access is to, and its indices.
fn memory<'c>(op: Op<'c>) -> Option<(Val<'c>, Vec<Val<'c>>)> {
    let at = usize::from(ir::name_of(op) == ops::memref::STORE);
    let mut operands = op.operands().map(ir::value).skip(at);
    Some((operands.next()?, operands.collect()))
}

/// The bytes of which an address is known to be a multiple, if they are more than an element's.
fn alignment(op: Op) -> Option<i64> {
    let (memory, indices) = memory(op)?;
    if !is_aligned(memory) {
        return None;
    }
    let ty = types::buffer_type(memory.r#type())?;
    let factors: Vec<i64> = indices.iter().map(|index| factor(*index)).collect();
    let element = types::mlir_type(ir::context_of(op), ty.element).to_string();
    // Rows one after the other: no other layout.
    if memory.r#type().to_string().contains("strided") || element == "index" {
        return None;
    }
    let width = ty.element.byte_width() as i64;
    let bytes = multiple(&factors, &ty.shape)?.saturating_mul(width);
    (bytes > width).then_some(bytes.min(WIDEST))
}

/// The power of two that divides the number of an element, by those that divide its indices.
fn multiple(factors: &[i64], shape: &[Option<i64>]) -> Option<i64> {
    let (mut stride, mut multiple) = (Some(1), WIDEST);
    for (factor, extent) in factors.iter().zip(shape).rev() {
        multiple = multiple.min(factor.saturating_mul(power_in(stride?)));
        stride = stride
            .zip(*extent)
            .and_then(|(stride, extent)| stride.checked_mul(extent));
    }
    Some(multiple)
}

/// The power of two that divides the number of each element whose last index is a multiple of this,
/// in memory that starts at a multiple of the widest access.
pub fn of_rows(memory: Val, last: i64) -> i64 {
    let ty = types::buffer_type(memory.r#type());
    let is_plain = !memory.r#type().to_string().contains("strided");
    let shape = ty
        .map(|ty| ty.shape)
        .filter(|_| is_plain && is_aligned(memory));
    let factors_of_axes = shape.and_then(|shape| {
        let mut factors = vec![1; shape.len()];
        *factors.last_mut()? = last;
        multiple(&factors, &shape)
    });
    factors_of_axes.unwrap_or(1)
}

/// Returns whether memory starts at a multiple of the widest access: the device's does, a block's too
/// (`mdh-align-shared-memory`), and what a thread has is aligned.
fn is_aligned(memory: Val) -> bool {
    let Some(op) = ir::defining_op(memory) else {
        let argument = ir::block_argument(memory);
        return argument.is_some_and(|argument| ir::name_of(argument.of) == ops::gpu::LAUNCH);
    };
    match ir::name_of(op) {
        ops::gpu::ALLOC => true,
        ops::memref::ALLOCA => {
            let alignment = ir::attribute(op, "alignment").and_then(types::scalar);
            alignment.is_some_and(|bytes| bytes.as_i64() % WIDEST == 0)
        }
        name if SAME_START.contains(&name) => ir::operand(op, 0).is_some_and(is_aligned),
        _ => false,
    }
}

/// Operations whose result starts where their memory does.
const SAME_START: [&str; 4] = [
    ops::memref::CAST,
    ops::memref::COLLAPSE_SHAPE,
    ops::memref::EXPAND_SHAPE,
    ops::memref::MEMORY_SPACE_CAST,
];

/// The largest power of two, up to the widest access, that is known to divide an index.
pub fn factor(value: Val) -> i64 {
    if let Some(number) = known(value) {
        return power_in(number);
    }
    let Some(op) = ir::defining_op(value) else {
        return of_loop(value).unwrap_or(1);
    };
    let operand = |n: usize| ir::operand(op, n);
    let (Some(a), b) = (operand(0), operand(1)) else {
        return 1;
    };
    match (ir::name_of(op), b) {
        (ops::arith::MULI, Some(b)) => factor(a).saturating_mul(factor(b)).min(WIDEST),
        // What divides a number and a divisor divides the remainder.
        (name, Some(b)) if AS_BOTH.contains(&name) => factor(a).min(factor(b)),
        (ops::arith::INDEX_CAST | ops::arith::INDEX_CASTUI, None) => factor(a),
        _ => 1,
    }
}

/// Operations whose results are divided by what divides both operands.
const AS_BOTH: [&str; 8] = [
    ops::arith::ADDI,
    ops::arith::SUBI,
    ops::arith::REMUI,
    ops::arith::REMSI,
    ops::arith::MINSI,
    ops::arith::MAXSI,
    ops::arith::MINUI,
    ops::arith::MAXUI,
];

/// An index that starts at a multiple and goes on by multiples.
fn of_loop(value: Val) -> Option<i64> {
    let argument = ir::block_argument(value)?;
    if ir::name_of(argument.of) != ops::scf::FOR || argument.number != 0 {
        return None;
    }
    let operand = |n: usize| ir::operand(argument.of, n);
    Some(factor(operand(0)?).min(factor(operand(2)?)))
}

fn power_in(number: i64) -> i64 {
    match number {
        0 => WIDEST,
        number => (1 << number.trailing_zeros().min(62)).min(WIDEST),
    }
}
