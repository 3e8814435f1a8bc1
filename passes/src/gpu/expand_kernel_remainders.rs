//! `mdh-expand-kernel-remainders`: remainders of floats, in kernels, become arithmetic: a device has
//! no code for them, and LLVM's for it rounds quotients that are large.
//!
//! ```mlir
//! func.func @f(%m: memref<3xf32>) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %c2 = arith.constant 2 : index
//!   gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
//!       threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
//!     %x = memref.load %m[%c0] : memref<3xf32>
//!     %y = memref.load %m[%c1] : memref<3xf32>
//!     %z = arith.remf %x, %y : f32
//!     memref.store %z, %m[%c2] : memref<3xf32>
//!     gpu.terminator
//!   }
//!   return
//! }
//! // becomes
//! %wide = arith.extf %x : f32 to f64
//! %divisor = arith.extf %y : f32 to f64
//! %a = math.absf %wide : f64
//! %b = math.absf %divisor : f64
//! %q0 = arith.divf %a, %b : f64
//! %n0 = math.trunc %q0 : f64
//! %m0 = arith.negf %n0 : f64
//! %r0 = math.fma %m0, %b, %a : f64
//! .. // six times more, and of the last %r, which may be below zero by rounding of the quotient,
//! %is_below = arith.cmpf olt, %r, %zero : f64
//! %more = arith.addf %r, %b : f64
//! %rest = arith.select %is_below, %more, %r : f64
//! %signed = math.copysign %rest, %wide : f64
//! %is_less = arith.cmpf olt, %a, %b : f64
//! %value = arith.select %is_less, %wide, %signed : f64
//! %z = arith.truncf %value : f64 to f32
//! ```
//!
//! No step rounds `%r`: it is a multiple of the last places of `%q` and `%b` together, of which it has
//! fewer than `%b` has places. Each takes 52 bits of the quotient, which has 277 of `f32` at most.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::captured::attribute;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-expand-kernel-remainders",
    description: "remainders of floats in kernels to arithmetic",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Steps for the quotients of `f32`, and one for what their rounding leaves.
const STEPS: usize = 7;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for launch in ir::find_all(module, &[ops::gpu::LAUNCH]) {
        for op in ir::find_all(launch, &[ops::arith::REMF]) {
            expand(op).or_else(|errors| emit_all(op, errors))?;
        }
    }
    Ok(())
}

fn expand(op: Op) -> Result<(), Errors> {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let (&[x, y], Ok(result)) = (&operands[..], op.result(0).map(ir::value)) else {
        return Ok(());
    };
    let ty = types::scalar_type(result.r#type());
    let Some(ty) = ty.filter(|ty| *ty != ScalarType::F64) else {
        return Err(vec![
            "has no code on a device for f64: expected f16, bf16 or f32".to_string(),
        ]);
    };
    let mut builder = Builder::before(op);
    let wide = builder.convert(ops::arith::EXTF, x, ScalarType::F64);
    let divisor = builder.convert(ops::arith::EXTF, y, ScalarType::F64);
    let [a, b] =
        [wide, divisor].map(|value| builder.convert(ops::math::ABSF, value, ScalarType::F64));
    let of_type = a.r#type();
    let mut rest = a;
    for _ in 0..STEPS {
        let quotient = builder.binary(ops::arith::DIVF, rest, b);
        let quotient = builder.convert(ops::math::TRUNC, quotient, ScalarType::F64);
        let less = builder.convert(ops::arith::NEGF, quotient, ScalarType::F64);
        rest = builder.op(ops::math::FMA, &[less, b, rest], &[of_type], &[])[0];
    }
    let f64_type = types::mlir_type(builder.context, ScalarType::F64);
    let zero = match of_type == f64_type {
        true => "0.0 : f64".to_string(),
        false => format!("dense<0.0> : {of_type}"),
    };
    let zero = attribute(builder.context, &zero);
    let zero = builder.constant(zero, of_type);
    let is_below = builder.compare_floats(CmpfPredicate::Olt, rest, zero);
    let more = builder.binary(ops::arith::ADDF, rest, b);
    let rest = builder.select(is_below, more, rest);
    let signed = builder.binary(ops::math::COPYSIGN, rest, wide);
    let is_less = builder.compare_floats(CmpfPredicate::Olt, a, b);
    let value = builder.select(is_less, wide, signed);
    let value = builder.convert(ops::arith::TRUNCF, value, ty);
    region::replace_all_uses(result, value);
    region::erase(op);
    Ok(())
}
