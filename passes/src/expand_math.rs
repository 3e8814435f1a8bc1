//! `mdh-expand-math`: functions of math that upstream does not lower, or not to what they say.
//!
//! ```mlir
//! func.func @kinds(%x: f32) -> (i1, i1) {
//!   %a = math.isinf %x : f32
//!   %b = math.isnormal %x : f32
//!   return %a, %b : i1, i1
//! }
//! func.func @near_zero(%x: f64) -> f64 {
//!   %y = math.expm1 %x : f64
//!   return %y : f64
//! }
//! // becomes
//! func.func private @expm1(f64) -> f64
//! func.func @kinds(%x: f32) -> (i1, i1) {
//!   %size = math.absf %x : f32
//!   %infinity = arith.constant 0x7F800000 : f32
//!   %a = arith.cmpf oeq, %size, %infinity : f32
//!   %size_1 = math.absf %x : f32
//!   %infinity_1 = arith.constant 0x7F800000 : f32
//!   %least = arith.constant 1.17549435E-38 : f32
//!   %not_less = arith.cmpf oge, %size_1, %least : f32
//!   %finite = arith.cmpf olt, %size_1, %infinity_1 : f32
//!   %b = arith.andi %not_less, %finite : i1
//!   return %a, %b : i1, i1
//! }
//! func.func @near_zero(%x: f64) -> f64 {
//!   %y = call @expm1(%x) : (f64) -> f64
//!   return %y : f64
//! }
//! ```
//!
//! Upstream has no lowering of `math.isinf` and `math.isnormal` to the llvm dialect, and takes
//! `exp(x) - 1` for `math.expm1`, which is what one writes `expm1` to avoid: near 0 hardly a digit
//! of it is right. Here it calls the C library, in single precision for narrower floats.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ffi::string_ref;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{Operation, OperationLike};
use melior::ir::{BlockLike, ValueLike};
use mlir_sys::mlirOperationCreateParse;

use crate::builder::Builder;
use crate::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-expand-math",
    description: "functions of math that upstream does not lower, or not well",
    operation: "builtin.module",
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &["math.isinf", "math.isnormal", "math.expm1"]) {
        let Ok(operand) = op.operand(0).map(ir::value) else {
            continue;
        };
        let element = types::scalar_type(types::element(operand.r#type()));
        let Some(ty) = element.filter(|ty| ty.is_float()) else {
            continue;
        };
        let is_vector = types::element(operand.r#type()) != operand.r#type();
        let mut builder = Builder::before(op);
        let value = match ir::name_of(op) {
            "math.isinf" => is_infinite(&mut builder, operand, ty),
            "math.isnormal" => is_normal(&mut builder, operand, ty),
            // On vectors it has been expanded before.
            _ if is_vector => continue,
            _ => exp_minus_one(module, &mut builder, operand, ty),
        };
        if let Ok(result) = op.result(0) {
            region::replace_all_uses(ir::value(result), value);
        }
        region::erase(op);
    }
    Ok(())
}

/// A number, in every lane of a vector like another value.
fn number<'c>(builder: &mut Builder<'c>, value: Scalar, like: Val<'c>) -> Val<'c> {
    let number = builder.scalar(value);
    let ty = types::with_lanes_of(like.r#type(), number.r#type());
    match ty == number.r#type() {
        true => number,
        false => builder.op("vector.broadcast", &[number], &[ty], &[])[0],
    }
}

fn is_infinite<'c>(builder: &mut Builder<'c>, x: Val<'c>, ty: ScalarType) -> Val<'c> {
    let size = builder.convert("math.absf", x, ty);
    let infinity = number(builder, Scalar::from_f64(ty, f64::INFINITY), x);
    builder.compare_floats(CmpfPredicate::Oeq, size, infinity)
}

fn is_normal<'c>(builder: &mut Builder<'c>, x: Val<'c>, ty: ScalarType) -> Val<'c> {
    let size = builder.convert("math.absf", x, ty);
    let infinity = number(builder, Scalar::from_f64(ty, f64::INFINITY), x);
    let least = number(
        builder,
        Scalar::from_f64(ty, ty.min_denormal() / ty.epsilon()),
        x,
    );
    let not_less = builder.compare_floats(CmpfPredicate::Oge, size, least);
    let finite = builder.compare_floats(CmpfPredicate::Olt, size, infinity);
    builder.binary("arith.andi", not_less, finite)
}

fn exp_minus_one<'c>(
    module: Op<'c>,
    builder: &mut Builder<'c>,
    x: Val<'c>,
    ty: ScalarType,
) -> Val<'c> {
    let (name, wide) = match ty {
        ScalarType::F64 => ("expm1", ScalarType::F64),
        _ => ("expm1f", ScalarType::F32),
    };
    declare(module, name, wide);
    let operand = match ty == wide {
        true => x,
        false => builder.convert("arith.extf", x, wide),
    };
    let callee = FlatSymbolRefAttribute::new(builder.context, name).into();
    let result = types::mlir_type(builder.context, wide);
    let value = builder.op("func.call", &[operand], &[result], &[("callee", callee)])[0];
    match ty == wide {
        true => value,
        false => builder.convert("arith.truncf", value, ty),
    }
}

/// Declares a function of the C library, unless there is one of that name.
fn declare(module: Op, name: &str, ty: ScalarType) {
    let Some(body) = ir::only_block(ir::region(module, 0)) else {
        return;
    };
    let is_same = |op: &Op| ir::attribute(*op, "sym_name").and_then(ir::text) == Some(name);
    if ir::ops_of(body).iter().any(is_same) {
        return;
    }
    let text = format!("func.func private @{name}({ty}) -> {ty}");
    let context = ir::context_of(module).to_raw();
    // SAFETY: the texts outlive the call; what it gives is ours, and goes to the module.
    unsafe {
        let parsed = mlirOperationCreateParse(context, string_ref(&text), string_ref(name));
        let declaration = Operation::from_option_raw(parsed);
        let declaration = declaration.unwrap_or_else(|| panic!("{text} is a function"));
        body.insert_operation(0, declaration);
    }
}
