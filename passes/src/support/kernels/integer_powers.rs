//! Powers with integer exponents in kernels: `math.ipowi` as a loop that squares, `math.fpowi` as the
//! power of the size, whose sign is that of the base for odd exponents.
//!
//! An exponent of 64 bits may be rounded to a float: of sizes other than 1 a power that large is 0 or
//! infinite, but for some next to 1, of which that changes the exponent by a relative 2^-53.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::region;

/// The operations.
pub const NAMES: [&str; 2] = [ops::math::IPOWI, ops::math::FPOWI];

/// Replaces one of them, if it is one of numbers.
pub fn expand(op: Op) {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let (Ok(result), &[base, exponent]) = (op.result(0).map(ir::value), operands.as_slice()) else {
        return;
    };
    let scalar = |value: Val| types::scalar_type(value.r#type());
    let (Some(ty), Some(of_exponent)) = (scalar(base), scalar(exponent)) else {
        return;
    };
    let mut builder = Builder::before(op);
    let value = match ty.is_float() {
        true => of_float(&mut builder, (base, ty), (exponent, of_exponent)),
        false => of_integer(&mut builder, (base, exponent), ty),
    };
    region::replace_all_uses(result, value);
    region::erase(op);
}

fn is_odd<'c>(builder: &mut Builder<'c>, n: Val<'c>, ty: ScalarType) -> Val<'c> {
    let [zero, one] = [0, 1].map(|number| builder.scalar(Scalar::from_i64(ty, number)));
    let last = builder.binary(ops::arith::ANDI, n, one);
    builder.compare("ne", last, zero)
}

/// In `f64`, where an exponent of 32 bits is exact.
fn of_float<'c>(
    builder: &mut Builder<'c>,
    (base, ty): (Val<'c>, ScalarType),
    (exponent, of_exponent): (Val<'c>, ScalarType),
) -> Val<'c> {
    let wide = match ty {
        ScalarType::F64 => base,
        _ => builder.convert(ops::arith::EXTF, base, ScalarType::F64),
    };
    let size = builder.convert(ops::math::ABSF, wide, ScalarType::F64);
    let n = builder.convert(ops::arith::SITOFP, exponent, ScalarType::F64);
    let power = builder.binary(ops::math::POWF, size, n);
    let signed = builder.binary(ops::math::COPYSIGN, power, wide);
    let is_odd = is_odd(builder, exponent, of_exponent);
    let power = builder.select(is_odd, signed, power);
    match ty {
        ScalarType::F64 => power,
        _ => builder.convert(ops::arith::TRUNCF, power, ty),
    }
}

/// One step for each bit of the exponent. Of a negative one the result is that of integer division:
/// 1 and -1 have powers, and all else 0.
fn of_integer<'c>(
    builder: &mut Builder<'c>,
    (base, exponent): (Val<'c>, Val<'c>),
    ty: ScalarType,
) -> Val<'c> {
    let [zero, one, minus_one] = [0, 1, -1].map(|n| builder.scalar(Scalar::from_i64(ty, n)));
    let bounds = [0, i64::from(ty.bit_width()) - 1, 1].map(|n| builder.index(n));
    let values = builder.for_loop(bounds, &[one, base, exponent], |builder, _, values| {
        let [power, square, rest] = values[..] else {
            panic!("a loop has the values that it is built with");
        };
        let is_odd = is_odd(builder, rest, ty);
        let more = builder.binary(ops::arith::MULI, power, square);
        let power = builder.select(is_odd, more, power);
        let square = builder.binary(ops::arith::MULI, square, square);
        let rest = builder.binary(ops::arith::SHRUI, rest, one);
        vec![power, square, rest]
    });
    let is_odd = is_odd(builder, exponent, ty);
    let is_one = builder.compare("eq", base, one);
    let is_minus_one = builder.compare("eq", base, minus_one);
    let of_minus_one = builder.select(is_odd, minus_one, one);
    let otherwise = builder.select(is_minus_one, of_minus_one, zero);
    let inverse = builder.select(is_one, one, otherwise);
    let is_negative = builder.compare("slt", exponent, zero);
    builder.select(is_negative, inverse, values[0])
}
