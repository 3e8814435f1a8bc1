//! `mdh-expand-vector-math`: functions of `math` on vectors become arithmetic that all lanes do at
//! once, or scalar calls, lane by lane.
//!
//! ```mlir
//! func.func @power(%x: vector<2xf32>, %n: vector<2xi32>) -> vector<2xf32> {
//!   %a = math.fpowi %x, %n : vector<2xf32>, vector<2xi32>
//!   return %a : vector<2xf32>
//! }
//! // becomes
//! func.func @power(%x: vector<2xf32>, %n: vector<2xi32>) -> vector<2xf32> {
//!   %x0 = vector.extract %x[0] : f32 from vector<2xf32>
//!   %n0 = vector.extract %n[0] : i32 from vector<2xi32>
//!   %a0 = math.fpowi %x0, %n0 : f32, i32
//!   %x1 = vector.extract %x[1] : f32 from vector<2xf32>
//!   %n1 = vector.extract %n[1] : i32 from vector<2xi32>
//!   %a1 = math.fpowi %x1, %n1 : f32, i32
//!   %a = vector.from_elements %a0, %a1 : vector<2xf32>
//!   return %a : vector<2xf32>
//! }
//! ```
//!
//! Upstream leaves these functions to LLVM, which calls the C library for each lane. Those that
//! are expanded are right to the units in the last place that `FUNCTIONS` says, in the type they
//! are computed in: `f16` and `bf16` are extended to `f32`, and `f32` to `f64` for powers. Results
//! for NaN, infinities, zeros and their signs, denormal numbers, and where results overflow or
//! vanish, are the C library's. They hold for all operands, angles and powers of any size.
//!
//! Every function reduces its operand to a short interval, in which a polynomial is near it; the
//! coefficients are minimax ones, found by Remez' exchange algorithm and rounded to the type.

mod code;
pub mod each;
mod error_function;
mod exponential;
mod logarithm;
mod pair;
mod power;
mod reduction;
mod root;
mod trigonometric;

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, TypeLike, ValueLike};
use mlir_sys::{mlirTypeIsAVector, mlirVectorTypeIsScalable};

use crate::support::builder::Builder;
use crate::support::region;
use code::{Code, Precision};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-expand-vector-math",
    description: "functions of math on vectors to arithmetic or to scalar calls",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// A function of one operand.
type Unary = for<'c> fn(&mut Code<'c, '_>, Val<'c>) -> Val<'c>;
/// A function of two operands.
type Binary = for<'c> fn(&mut Code<'c, '_>, Val<'c>, Val<'c>) -> Val<'c>;

/// Expansion of a function.
#[derive(Clone, Copy)]
enum Function {
    /// A function of one operand.
    Of(Unary),
    /// A function of two operands.
    OfTwo(Binary),
    /// A power: in `f64`, for narrower floats otherwise than for `f64`.
    Power,
}

/// Functions that are expanded, and how many units in the last place their results may be off, in
/// `f32` and `f64`.
const FUNCTIONS: [(&str, Function, [f64; 2]); 25] = [
    (
        ops::math::ACOS,
        Function::Of(trigonometric::acos),
        [3.1, 3.0],
    ),
    (ops::math::ACOSH, Function::Of(logarithm::acosh), [2.5, 2.5]),
    (
        ops::math::ASIN,
        Function::Of(trigonometric::asin),
        [3.1, 3.0],
    ),
    (ops::math::ASINH, Function::Of(logarithm::asinh), [2.0, 2.0]),
    (
        ops::math::ATAN,
        Function::Of(trigonometric::atan),
        [2.5, 2.5],
    ),
    (
        ops::math::ATAN2,
        Function::OfTwo(trigonometric::atan2),
        [2.5, 2.5],
    ),
    (ops::math::ATANH, Function::Of(logarithm::atanh), [2.5, 2.5]),
    (ops::math::CBRT, Function::Of(root::cbrt), [0.6, 0.6]),
    (ops::math::COS, Function::Of(trigonometric::cos), [1.0, 1.0]),
    (ops::math::COSH, Function::Of(exponential::cosh), [1.6, 1.6]),
    (
        ops::math::ERF,
        Function::Of(error_function::erf),
        [2.5, 2.0],
    ),
    (
        ops::math::ERFC,
        Function::Of(error_function::erfc),
        [3.3, 3.0],
    ),
    (ops::math::EXP, Function::Of(exponential::exp), [1.1, 1.1]),
    (ops::math::EXP2, Function::Of(exponential::exp2), [1.1, 1.1]),
    (
        ops::math::EXPM1,
        Function::Of(exponential::expm1),
        [2.0, 2.0],
    ),
    (ops::math::LOG, Function::Of(logarithm::log), [1.0, 1.0]),
    (ops::math::LOG10, Function::Of(logarithm::log10), [2.0, 2.0]),
    (ops::math::LOG1P, Function::Of(logarithm::log1p), [1.5, 1.5]),
    (ops::math::LOG2, Function::Of(logarithm::log2), [1.7, 1.5]),
    (ops::math::POWF, Function::Power, [0.6, 1.1]),
    (ops::math::RSQRT, Function::Of(root::rsqrt), [1.6, 1.6]),
    (ops::math::SIN, Function::Of(trigonometric::sin), [1.0, 1.0]),
    (ops::math::SINH, Function::Of(exponential::sinh), [2.5, 2.5]),
    (ops::math::TAN, Function::Of(trigonometric::tan), [2.2, 2.2]),
    (ops::math::TANH, Function::Of(exponential::tanh), [2.5, 2.5]),
];

/// Functions that the machine computes for all lanes at once, or with a few operations.
const NATIVE: [&str; 16] = [
    ops::math::ABSF,
    ops::math::ABSI,
    ops::math::CEIL,
    ops::math::CLAMPF,
    ops::math::COPYSIGN,
    ops::math::CTPOP,
    ops::math::FLOOR,
    ops::math::FMA,
    ops::math::ISFINITE,
    ops::math::ISINF,
    ops::math::ISNAN,
    ops::math::ISNORMAL,
    ops::math::ROUND,
    ops::math::ROUNDEVEN,
    ops::math::SQRT,
    ops::math::TRUNC,
];

/// The functions that are expanded, and how many units in the last place their results may be
/// off, in `f32` and `f64`.
pub fn bounds() -> impl Iterator<Item = (&'static str, [f64; 2])> {
    FUNCTIONS.iter().map(|row| (row.0, row.2))
}

/// The functions that are expanded: to arithmetic alone, so that they need no C library.
pub fn without_calls() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|row| row.0)
}

/// Returns whether the machine computes a function itself.
pub fn is_native(name: &str) -> bool {
    NATIVE.contains(&name)
}

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    separate_sines(module);
    for op in region::operations_of(ir::region(module, 0)) {
        if !ir::name_of(op).starts_with("math.") || NATIVE.contains(&ir::name_of(op)) {
            continue;
        }
        let Some(result) = ir::result(op, 0) else {
            continue;
        };
        if !is_fixed(result.r#type()) {
            let ty = result.r#type();
            // SAFETY: the type is valid.
            if unsafe { mlirTypeIsAVector(ty.to_raw()) } {
                let text = format!("stays: found {ty}, expected a number of lanes that is known");
                ir::remark_at(op, &text);
            }
            continue;
        }
        let mut builder = Builder::before(op);
        let value = expanded(&mut builder, op).or_else(|| each::unrolled(&mut builder, op));
        if let Some(value) = value {
            region::replace_all_uses(result, value);
            region::erase(op);
        }
    }
    Ok(())
}

/// Returns whether a type is a vector of a known number of lanes.
fn is_fixed(ty: Type) -> bool {
    // SAFETY: the type is valid, and its kind is checked before it is asked.
    unsafe { mlirTypeIsAVector(ty.to_raw()) && !mlirVectorTypeIsScalable(ty.to_raw()) }
}

/// Returns whether a function of scalar code on vectors is computed for all lanes at once.
pub fn is_in_lanes(op: Op) -> bool {
    let name = ir::name_of(op);
    NATIVE.contains(&name) || name == ops::math::SINCOS || function(op).is_some()
}

/// `math.sincos` becomes its two functions, which have one result each.
pub fn separate_sines(top: Op) {
    for op in ir::find_all(top, &[ops::math::SINCOS]) {
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let mut builder = Builder::before(op);
        for (result, name) in op.results().zip([ops::math::SIN, ops::math::COS]) {
            let result = ir::value(result);
            let value = builder.op(name, &operands, &[result.r#type()], &[])[0];
            region::replace_all_uses(result, value);
        }
        region::erase(op);
    }
}

/// Returns a function's expansion for its type, and the type it is computed in.
fn function(op: Op) -> Option<(Function, ScalarType)> {
    let row = FUNCTIONS.iter().find(|row| row.0 == ir::name_of(op))?;
    let result = ir::result(op, 0)?.r#type();
    let ty = types::scalar_type(types::element(result))?;
    let wide = match (row.1, ty) {
        (Function::Power, _) | (_, ScalarType::F64) => ScalarType::F64,
        _ => ScalarType::F32,
    };
    ty.is_float().then_some((row.1, wide))
}

fn expanded<'c>(builder: &mut Builder<'c>, op: Op<'c>) -> Option<Val<'c>> {
    let (function, wide) = function(op)?;
    let precision = match wide {
        ScalarType::F64 => Precision::Double,
        _ => Precision::Single,
    };
    let result = ir::result(op, 0)?.r#type();
    let ty = types::scalar_type(types::element(result))?;
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let widened = |builder: &mut Builder<'c>, value: &Val<'c>| match ty == wide {
        true => *value,
        false => builder.convert(ops::arith::EXTF, *value, wide),
    };
    let operands: Vec<Val> = operands.iter().map(|v| widened(builder, v)).collect();
    let narrowed = |builder: &mut Builder<'c>, value: Val<'c>| match ty == wide {
        true => value,
        false => builder.convert(ops::arith::TRUNCF, value, ty),
    };
    let mut code = Code::new(builder, precision, result);
    let value = match (function, operands.as_slice()) {
        (Function::Of(f), [x]) => f(&mut code, *x),
        (Function::OfTwo(f), [x, y]) => f(&mut code, *x, *y),
        (Function::Power, [x, y]) if ty == wide => power::wide(&mut code, *x, *y),
        (Function::Power, [x, y]) => power::narrow(&mut code, *x, *y),
        _ => return None,
    };
    Some(narrowed(builder, value))
}
