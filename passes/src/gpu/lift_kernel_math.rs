//! `mdh-lift-kernel-math`: functions of numbers, in kernels, become functions of vectors of one
//! lane, for which there is arithmetic (`mdh-expand-vector-math`): a device has no C library.
//!
//! ```mlir
//! func.func @f(%x: memref<32xf32>, %n: index) {
//!   %c1 = arith.constant 1 : index
//!   gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
//!       threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
//!     %x_t = memref.load %x[%tx] : memref<32xf32>
//!     %y = math.exp %x_t : f32
//!     memref.store %y, %x[%tx] : memref<32xf32>
//!     gpu.terminator
//!   }
//!   return
//! }
//! // becomes
//! %v = vector.broadcast %x_t : f32 to vector<1xf32>
//! %w = math.exp %v : vector<1xf32>
//! %y = vector.extract %w[0] : f32 from vector<1xf32>
//! ```

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::captured::{attribute, parse};
use crate::support::kernels::integer_powers;
use crate::support::region;
use crate::vector::expand_vector_math;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-lift-kernel-math",
    description: "functions of math in kernels to functions of vectors of one lane",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for launch in ir::find_all(module, &[ops::gpu::LAUNCH]) {
        expand_vector_math::separate_sines(launch);
        for op in ir::find_all(launch, &integer_powers::NAMES) {
            integer_powers::expand(op);
        }
        let functions = ir::all(launch).into_iter();
        for op in functions.filter(|op| ir::name_of(*op).starts_with("math.")) {
            check(op).or_else(|errors| emit_all(op, errors))?;
            lift(op);
        }
    }
    Ok(())
}

/// Fails for what a device has no code for.
fn check(op: Op) -> Result<(), Errors> {
    let name = ir::name_of(op);
    let result = ir::result(op, 0);
    let scalar = result.and_then(|value| types::scalar_type(types::element(value.r#type())));
    let is_known =
        expand_vector_math::is_native(name) || COUNTS.contains(&name) || is_expanded(name);
    if is_known && scalar.is_some() {
        return Ok(());
    }
    let known: Vec<&str> = expand_vector_math::without_calls().collect();
    Err(vec![format!(
        "has no code on a device: expected one of {}, of f16, bf16, f32 or f64, or what is made of such",
        known.join(", ")
    )])
}

/// Functions of integers that a device has, too.
const COUNTS: [&str; 2] = [ops::math::CTLZ, ops::math::CTTZ];

fn is_expanded(name: &str) -> bool {
    expand_vector_math::without_calls().any(|known| known == name)
}

fn lift<'c>(op: Op<'c>) {
    let Some(result) = op
        .result(0)
        .map(ir::value)
        .ok()
        .filter(|_| is_expanded(ir::name_of(op)))
    else {
        return;
    };
    let scalar = result.r#type();
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let is_scalar = types::scalar_type(scalar).is_some_and(|ty| ty.is_float());
    if !is_scalar || operands.iter().any(|operand| operand.r#type() != scalar) {
        return;
    }
    let mut builder = Builder::before(op);
    let vector = parse(builder.context, &format!("vector<1x{scalar}>"));
    let lifted: Vec<Val> = (operands.into_iter())
        .map(|operand| builder.op(ops::vector::BROADCAST, &[operand], &[vector], &[])[0])
        .collect();
    let fast = ir::attribute(op, "fastmath").map(|fast| ("fastmath", fast));
    let fast: Vec<_> = fast.into_iter().collect();
    let value = builder.op(ir::name_of(op), &lifted, &[vector], &fast)[0];
    let place = [(
        "static_position",
        attribute(builder.context, "array<i64: 0>"),
    )];
    let value = builder.op(ops::vector::EXTRACT, &[value], &[scalar], &place)[0];
    region::replace_all_uses(result, value);
    region::erase(op);
}
