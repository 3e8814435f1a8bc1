//! `mdh-expand-math`: functions of math, and roundings to `bf16`, that upstream does not lower, or
//! lowers wrongly.
//!
//! ```mlir
//! func.func @kinds(%x: f32) -> (i1, i1) {
//!   %a = math.isinf %x : f32
//!   %b = math.isnormal %x : f32
//!   return %a, %b : i1, i1
//! }
//! func.func @range(%x: f32, %low: f32, %high: f32) -> f32 {
//!   %y = math.clampf %x to [%low, %high] : f32
//!   return %y : f32
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
//! func.func @range(%x: f32, %low: f32, %high: f32) -> f32 {
//!   %least = arith.maximumf %x, %low : f32
//!   %y = arith.minimumf %least, %high : f32
//!   return %y : f32
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
//! `math.clampf` has no lowering at all, and what upstream expands it to is the lower bound for
//! whatever lies between the two.
//!
//! `math.fma` of `bf16`, and the conversions of long integers to it, go by way of `f32` in LLVM
//! and are rounded twice. Here the wider number is first rounded to odd: towards zero, with the
//! last bit set if that was not exact. Rounding it to the narrow type is then the same as rounding
//! once (Boldo and Melquiond, "When double rounding is odd").

use mdh_dialect::ops;
use std::ffi::CString;

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ffi::string_ref;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::StringRef;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{Operation, OperationLike};
use melior::ir::{BlockLike, ValueLike};
use mlir_sys::mlirOperationCreateParse;

use crate::support::builder::Builder;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-expand-math",
    description: "functions of math, and roundings, that upstream does not lower, or not well",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

const EXPANDED: [&str; 7] = [
    ops::math::ISINF,
    ops::math::ISNORMAL,
    ops::math::EXPM1,
    ops::math::CLAMPF,
    ops::math::FMA,
    ops::arith::SITOFP,
    ops::arith::UITOFP,
];

/// The reason for which a function of vectors stays.
const OF_LANES: &str = "calls no function of the C library: found vectors, expected one number; run \
                        mdh-expand-vector-math before";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &EXPANDED) {
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let (Some(result), Some(operand)) = (ir::result(op, 0), operands.first()) else {
            continue;
        };
        let element = |value: Val| types::scalar_type(types::element(value.r#type()));
        let (Some(from), Some(to)) = (element(*operand), element(result)) else {
            continue;
        };
        let is_vector = types::element(operand.r#type()) != operand.r#type();
        let mut builder = Builder::before(op);
        let value = match (ir::name_of(op), &operands[..]) {
            (ops::math::ISINF, [x]) => is_infinite(&mut builder, *x, from),
            (ops::math::ISNORMAL, [x]) => is_normal(&mut builder, *x, from),
            (ops::math::EXPM1, [x]) if !is_vector => exp_minus_one(module, &mut builder, *x, from),
            (ops::math::CLAMPF, [x, low, high]) => {
                let least = builder.binary(ops::arith::MAXIMUMF, *x, *low);
                builder.binary(ops::arith::MINIMUMF, least, *high)
            }
            (ops::math::FMA, [x, y, z]) if to == ScalarType::BF16 => {
                fused(&mut builder, [*x, *y, *z], to)
            }
            (name, [x]) if to == ScalarType::BF16 && from.bit_width() >= 32 => {
                from_integer(&mut builder, name, *x, (from, to))
            }
            (ops::math::EXPM1, _) => {
                ir::remark_at(op, OF_LANES);
                continue;
            }
            _ => continue,
        };
        region::replace_all_uses(result, value);
        region::erase(op);
    }
    Ok(())
}

/// `x y + z` in `f64`, where the product is exact and the error of the sum is known (Knuth's
/// TwoSum): rounded to odd, then to the type.
fn fused<'c>(builder: &mut Builder<'c>, operands: [Val<'c>; 3], ty: ScalarType) -> Val<'c> {
    let [x, y, z] = operands.map(|v| builder.convert(ops::arith::EXTF, v, ScalarType::F64));
    let product = builder.binary(ops::arith::MULF, x, y);
    let sum = builder.binary(ops::arith::ADDF, product, z);
    let of_z = builder.binary(ops::arith::SUBF, sum, product);
    let of_product = builder.binary(ops::arith::SUBF, sum, of_z);
    let lost = builder.binary(ops::arith::SUBF, product, of_product);
    let lost_of_z = builder.binary(ops::arith::SUBF, z, of_z);
    let rest = builder.binary(ops::arith::ADDF, lost, lost_of_z);
    let zero = number(builder, Scalar::zero(ScalarType::F64), sum);
    // Not of infinities and NaN, of which the rest is NaN.
    let is_inexact = builder.compare_floats(CmpfPredicate::One, rest, zero);
    let is_below = builder.compare_floats(CmpfPredicate::Olt, rest, zero);
    let is_negative = builder.compare_floats(CmpfPredicate::Olt, sum, zero);
    let is_beyond = builder.binary(ops::arith::XORI, is_below, is_negative);
    let bits = builder.convert(ops::arith::BITCAST, sum, ScalarType::I64);
    let back = builder.convert(ops::arith::EXTUI, is_beyond, ScalarType::I64);
    let unit = number(builder, Scalar::from_i64(ScalarType::I64, 1), bits);
    let towards_zero = builder.binary(ops::arith::SUBI, bits, back);
    let odd = builder.binary(ops::arith::ORI, towards_zero, unit);
    let bits = builder.select(is_inexact, odd, bits);
    let sum = builder.convert(ops::arith::BITCAST, bits, ScalarType::F64);
    builder.convert(ops::arith::TRUNCF, sum, ty)
}

/// The low bits of an integer cut off, and the lowest of those that stay set if any was.
fn cut<'c>(builder: &mut Builder<'c>, x: Val<'c>, bits: u32) -> Val<'c> {
    let mut integer = |value| number(builder, Scalar::from_i64(ScalarType::I64, value), x);
    let (zero, unit) = (integer(0), integer(1 << bits));
    let (low, high) = (integer((1 << bits) - 1), integer(-1 << bits));
    let low = builder.binary(ops::arith::ANDI, x, low);
    let high = builder.binary(ops::arith::ANDI, x, high);
    let is_inexact = builder.compare("ne", low, zero);
    let odd = builder.select(is_inexact, unit, zero);
    builder.binary(ops::arith::ORI, high, odd)
}

/// An integer rounded to odd, to 53 and then to 24 bits, which `f32` has, and then to the type.
/// That the bits are cut keeps LLVM from taking all of it for one conversion, which it would do
/// by way of `f32` again.
fn from_integer<'c>(
    builder: &mut Builder<'c>,
    conversion: &str,
    x: Val<'c>,
    (from, to): (ScalarType, ScalarType),
) -> Val<'c> {
    let x = match from {
        ScalarType::I64 => {
            // Whether it has 53 bits anyway, its sign apart.
            let mut integer = |value| number(builder, Scalar::from_i64(from, value), x);
            let (offset, end) = match conversion {
                ops::arith::SITOFP => (integer(1 << 53), integer(1 << 54)),
                _ => (integer(0), integer(1 << 53)),
            };
            let moved = builder.binary(ops::arith::ADDI, x, offset);
            let is_short = builder.compare("ult", moved, end);
            let odd = cut(builder, x, 11);
            builder.select(is_short, x, odd)
        }
        _ => x,
    };
    let double = builder.convert(conversion, x, ScalarType::F64);
    let bits = builder.convert(ops::arith::BITCAST, double, ScalarType::I64);
    let bits = cut(builder, bits, 29);
    let double = builder.convert(ops::arith::BITCAST, bits, ScalarType::F64);
    let single = builder.convert(ops::arith::TRUNCF, double, ScalarType::F32);
    builder.convert(ops::arith::TRUNCF, single, to)
}

/// A number, in every lane of a vector like another value.
fn number<'c>(builder: &mut Builder<'c>, value: Scalar, like: Val<'c>) -> Val<'c> {
    let number = builder.scalar(value);
    let ty = types::with_lanes_of(like.r#type(), number.r#type());
    match ty == number.r#type() {
        true => number,
        false => builder.op(ops::vector::BROADCAST, &[number], &[ty], &[])[0],
    }
}

fn is_infinite<'c>(builder: &mut Builder<'c>, x: Val<'c>, ty: ScalarType) -> Val<'c> {
    let size = builder.convert(ops::math::ABSF, x, ty);
    let infinity = number(builder, Scalar::from_f64(ty, f64::INFINITY), x);
    builder.compare_floats(CmpfPredicate::Oeq, size, infinity)
}

fn is_normal<'c>(builder: &mut Builder<'c>, x: Val<'c>, ty: ScalarType) -> Val<'c> {
    let size = builder.convert(ops::math::ABSF, x, ty);
    let infinity = number(builder, Scalar::from_f64(ty, f64::INFINITY), x);
    let least = number(
        builder,
        Scalar::from_f64(ty, ty.min_denormal() / ty.epsilon()),
        x,
    );
    let not_less = builder.compare_floats(CmpfPredicate::Oge, size, least);
    let finite = builder.compare_floats(CmpfPredicate::Olt, size, infinity);
    builder.binary(ops::arith::ANDI, not_less, finite)
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
        false => builder.convert(ops::arith::EXTF, x, wide),
    };
    let callee = FlatSymbolRefAttribute::new(builder.context, name).into();
    let result = types::mlir_type(builder.context, wide);
    let value = builder.op(
        ops::func::CALL,
        &[operand],
        &[result],
        &[("callee", callee)],
    )[0];
    match ty == wide {
        true => value,
        false => builder.convert(ops::arith::TRUNCF, value, ty),
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
    // MLIR's lexer looks at the byte behind the text of an operation, which ends it.
    let terminated = CString::new(text.as_str()).unwrap_or_else(|_| panic!("{text} has no null"));
    let source = StringRef::from_c_str(&terminated).to_raw();
    let context = ir::context_of(module).to_raw();
    // SAFETY: the texts outlive the call; what it gives is ours, and goes to the module.
    unsafe {
        let parsed = mlirOperationCreateParse(context, source, string_ref(name));
        let declaration = Operation::from_option_raw(parsed);
        let declaration = declaration.unwrap_or_else(|| panic!("{text} is a function"));
        body.insert_operation(0, declaration);
    }
}
