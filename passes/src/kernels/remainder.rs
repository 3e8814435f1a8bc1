//! `mdh-expand-kernel-remainders`: remainders of floats, in kernels, become arithmetic: a device has
//! no code for them, and LLVM's for it rounds quotients that are large.
//!
//! ```mlir
//! %z = arith.remf %x, %y : f32
//! // becomes, with %a and %b the magnitudes of %x and %y as f64, seven times
//! %q = math.trunc (%r / %b) : f64
//! %r' = math.fma (-%q), %b, %r : f64         ; from %r = %a on
//! // and of the last %r, which may be below zero by rounding of %q,
//! %z = %a < %b ? %x : copysign (%r < 0 ? %r + %b : %r), %x
//! ```
//!
//! No step rounds `%r`: it is a multiple of the last places of `%q` and `%b` together, of which it has
//! fewer than `%b` has places. Each takes 52 bits of the quotient, which has 277 of `f32` at most.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::builder::Builder;
use crate::captured::attribute;
use crate::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-expand-kernel-remainders",
    description: "remainders of floats in kernels to arithmetic",
    operation: "builtin.module",
    options: &[],
    run,
};

/// Steps for the quotients of `f32`, and one for what their rounding leaves.
const STEPS: usize = 7;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for launch in ir::find_all(module, &["gpu.launch"]) {
        for op in ir::find_all(launch, &["arith.remf"]) {
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
    let wide = builder.convert("arith.extf", x, ScalarType::F64);
    let divisor = builder.convert("arith.extf", y, ScalarType::F64);
    let [a, b] = [wide, divisor].map(|value| builder.convert("math.absf", value, ScalarType::F64));
    let of_type = a.r#type();
    let mut rest = a;
    for _ in 0..STEPS {
        let quotient = builder.binary("arith.divf", rest, b);
        let quotient = builder.convert("math.trunc", quotient, ScalarType::F64);
        let less = builder.convert("arith.negf", quotient, ScalarType::F64);
        rest = builder.op("math.fma", &[less, b, rest], &[of_type], &[])[0];
    }
    let f64_type = types::mlir_type(builder.context, ScalarType::F64);
    let zero = match of_type == f64_type {
        true => "0.0 : f64".to_string(),
        false => format!("dense<0.0> : {of_type}"),
    };
    let zero = attribute(builder.context, &zero);
    let zero = builder.constant(zero, of_type);
    let is_below = builder.compare_floats(CmpfPredicate::Olt, rest, zero);
    let more = builder.binary("arith.addf", rest, b);
    let rest = builder.select(is_below, more, rest);
    let signed = builder.binary("math.copysign", rest, wide);
    let is_less = builder.compare_floats(CmpfPredicate::Olt, a, b);
    let value = builder.select(is_less, wide, signed);
    let value = builder.convert("arith.truncf", value, ty);
    region::replace_all_uses(result, value);
    region::erase(op);
    Ok(())
}
