//! `mdh-expand-vector-math`: functions of `math` on vectors become arithmetic that all lanes do at
//! once, or scalar calls, lane by lane.
//!
//! ```mlir
//! func.func @angle(%y: vector<2xf32>, %x: vector<2xf32>) -> vector<2xf32> {
//!   %a = math.atan2 %y, %x : vector<2xf32>
//!   return %a : vector<2xf32>
//! }
//! // becomes
//! func.func @angle(%y: vector<2xf32>, %x: vector<2xf32>) -> vector<2xf32> {
//!   %y0 = vector.extract %y[0] : f32 from vector<2xf32>
//!   %x0 = vector.extract %x[0] : f32 from vector<2xf32>
//!   %a0 = math.atan2 %y0, %x0 : f32
//!   %y1 = vector.extract %y[1] : f32 from vector<2xf32>
//!   %x1 = vector.extract %x[1] : f32 from vector<2xf32>
//!   %a1 = math.atan2 %y1, %x1 : f32
//!   %a = vector.from_elements %a0, %a1 : vector<2xf32>
//!   return %a : vector<2xf32>
//! }
//! ```
//!
//! Upstream leaves these functions to LLVM, which calls the C library for each lane. Those that
//! are expanded are right to the units in the last place that [`FUNCTIONS`] says, in the type they
//! are computed in: `f16` and `bf16` are extended to `f32`, and `f32` to `f64` for powers. Results
//! for NaN, infinities, zeros and their signs, denormal numbers, and where results overflow or
//! vanish, are the C library's.
//!
//! Every function reduces its operand to a short interval, in which a polynomial is near it; the
//! coefficients are minimax ones, found by Remez' exchange algorithm and rounded to the type.

mod code;
pub mod each;
mod error_function;
mod exponential;
mod logarithm;
mod trigonometric;

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, TypeLike, ValueLike};
use mlir_sys::{mlirTypeIsAVector, mlirVectorTypeIsScalable};

use crate::builder::Builder;
use crate::region;
use code::{Code, Precision};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-expand-vector-math",
    description: "functions of math on vectors to arithmetic or to scalar calls",
    operation: "builtin.module",
    options: &[],
    run,
};

/// How a function is computed.
#[derive(Clone, Copy)]
enum Function {
    /// Of one operand.
    Of(for<'c> fn(&mut Code<'c, '_>, Val<'c>) -> Val<'c>),
    /// Of one operand that must not be too large.
    Angle(for<'c> fn(&mut Code<'c, '_>, Val<'c>) -> Val<'c>),
    /// A power, for floats that are narrower than those it is computed with.
    Power,
}

/// Functions that are expanded, and how many units in the last place their results may be off, in
/// `f32` and `f64`.
const FUNCTIONS: [(&str, Function, [f64; 2]); 16] = [
    ("math.atan", Function::Of(trigonometric::atan), [2.5, 2.5]),
    ("math.cos", Function::Angle(trigonometric::cos), [2.0, 2.0]),
    ("math.cosh", Function::Of(exponential::cosh), [1.6, 1.6]),
    ("math.erf", Function::Of(error_function::erf), [2.5, 2.0]),
    ("math.exp", Function::Of(exponential::exp), [1.1, 1.1]),
    ("math.exp2", Function::Of(exponential::exp2), [1.1, 1.1]),
    ("math.expm1", Function::Of(exponential::expm1), [2.0, 2.0]),
    ("math.log", Function::Of(logarithm::log), [1.0, 1.0]),
    ("math.log10", Function::Of(logarithm::log10), [2.0, 2.0]),
    ("math.log1p", Function::Of(logarithm::log1p), [1.5, 1.5]),
    ("math.log2", Function::Of(logarithm::log2), [1.7, 1.5]),
    ("math.powf", Function::Power, [0.6, 0.6]),
    ("math.sin", Function::Angle(trigonometric::sin), [2.0, 2.0]),
    ("math.sinh", Function::Of(exponential::sinh), [2.5, 2.5]),
    ("math.tan", Function::Angle(trigonometric::tan), [3.8, 3.5]),
    ("math.tanh", Function::Of(exponential::tanh), [2.5, 2.5]),
];

/// What the machine computes for all lanes at once, or a few operations of it.
const NATIVE: [&str; 17] = [
    "math.absf",
    "math.absi",
    "math.ceil",
    "math.clampf",
    "math.copysign",
    "math.ctpop",
    "math.floor",
    "math.fma",
    "math.isfinite",
    "math.isinf",
    "math.isnan",
    "math.isnormal",
    "math.round",
    "math.roundeven",
    "math.rsqrt",
    "math.sqrt",
    "math.trunc",
];

/// The functions that are expanded, and how many units in the last place their results may be
/// off, in `f32` and `f64`.
pub fn bounds() -> impl Iterator<Item = (&'static str, [f64; 2])> {
    FUNCTIONS.iter().map(|row| (row.0, row.2))
}

/// The functions that are expanded to arithmetic alone, whatever their operand: where there is no C
/// library to call, too. Powers are, but those of `f64`.
pub fn without_calls() -> impl Iterator<Item = &'static str> {
    let rows = FUNCTIONS.iter();
    let alone = rows.filter(|(_, function, _)| !matches!(function, Function::Angle(_)));
    alone.map(|row| row.0)
}

/// Whether the machine computes a function itself.
pub fn is_native(name: &str) -> bool {
    NATIVE.contains(&name)
}

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    separate_sines(module);
    for op in region::operations_of(ir::region(module, 0)) {
        if !ir::name_of(op).starts_with("math.") || NATIVE.contains(&ir::name_of(op)) {
            continue;
        }
        let Ok(result) = op.result(0).map(ir::value) else {
            continue;
        };
        if !is_fixed(result.r#type()) {
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

/// Whether a type is a vector of a known number of lanes.
fn is_fixed(ty: Type) -> bool {
    // SAFETY: the type is valid, and its kind is checked before it is asked.
    unsafe { mlirTypeIsAVector(ty.to_raw()) && !mlirVectorTypeIsScalable(ty.to_raw()) }
}

/// Whether a function of scalar code is computed for all lanes at once when it is on vectors.
pub fn is_in_lanes(op: Op) -> bool {
    let name = ir::name_of(op);
    NATIVE.contains(&name) || name == "math.sincos" || function(op).is_some()
}

/// `math.sincos` becomes its two functions, which have one result each.
fn separate_sines(module: Op) {
    for op in ir::find_all(module, &["math.sincos"]) {
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let mut builder = Builder::before(op);
        for (result, name) in op.results().zip(["math.sin", "math.cos"]) {
            let result = ir::value(result);
            let value = builder.op(name, &operands, &[result.r#type()], &[])[0];
            region::replace_all_uses(result, value);
        }
        region::erase(op);
    }
}

/// How a function is expanded for its type, and what it is computed in.
fn function(op: Op) -> Option<(Function, ScalarType)> {
    let row = FUNCTIONS.iter().find(|row| row.0 == ir::name_of(op))?;
    let result = ir::value(op.result(0).ok()?).r#type();
    let ty = types::scalar_type(types::element(result))?;
    let wide = match (row.1, ty) {
        (Function::Power, ScalarType::F64) => return None,
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
    let result = ir::value(op.result(0).ok()?).r#type();
    let ty = types::scalar_type(types::element(result))?;
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let widened = |builder: &mut Builder<'c>, value: &Val<'c>| match ty == wide {
        true => *value,
        false => builder.convert("arith.extf", *value, wide),
    };
    let operands: Vec<Val> = operands.iter().map(|v| widened(builder, v)).collect();
    let narrowed = |builder: &mut Builder<'c>, value: Val<'c>| match ty == wide {
        true => value,
        false => builder.convert("arith.truncf", value, ty),
    };
    let mut code = Code::new(builder, precision, result);
    let value = match (function, operands.as_slice()) {
        (Function::Of(f), [x]) => f(&mut code, *x),
        (Function::Power, [x, y]) => exponential::power(&mut code, *x, *y),
        (Function::Angle(f), [x]) => {
            let is_large = trigonometric::is_any_large(&mut code, *x);
            let values = builder.if_else(
                is_large,
                &[result],
                |builder| each::unrolled(builder, op).into_iter().collect(),
                |builder| {
                    let y = f(&mut Code::new(builder, precision, result), *x);
                    vec![narrowed(builder, y)]
                },
            );
            return values.first().copied();
        }
        _ => return None,
    };
    Some(narrowed(builder, value))
}
