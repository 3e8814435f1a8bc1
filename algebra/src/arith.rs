//! Semantics of the operations of arith and math, exactly as MLIR and LLVM define it.
//!
//! Integers wrap. Floats are computed in their own type without contraction, rounded once after
//! every operation, to nearest even; 16-bit ones in wider types of which that is true. Math
//! functions are
//! computed in `f64` and rounded, so they are at least as accurate as any library's. Where MLIR
//! leaves the result undefined (or poison), the answer is [`Undefined`], never some value.

use std::fmt;

use crate::op::{CmpfPredicate, CmpiPredicate, Op};
use crate::scalar::{Scalar, ScalarType, f64_to_odd};

/// An operation whose result MLIR does not define for these operands, or that does not take
/// operands of these types.
#[derive(Clone, Debug, PartialEq)]
pub struct Undefined {
    /// The operation.
    pub op: Op,
    /// Its operands.
    pub operands: Vec<Scalar>,
    /// Reason for the missing result.
    pub reason: &'static str,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.op)?;
        for (n, x) in self.operands.iter().enumerate() {
            let comma = if n > 0 { ", " } else { "" };
            write!(f, "{comma}{x} : {}", x.ty)?;
        }
        write!(f, ") has no defined result: {}", self.reason)
    }
}

impl std::error::Error for Undefined {}

type Reason = &'static str;

const TYPES: Reason = "it does not take operands of these types";
const ZERO: Reason = "division by zero";
const OVERFLOW: Reason = "the quotient does not fit its type";
const SHIFT: Reason = "the shift is not smaller than the type's width";
const RANGE: Reason = "the value does not fit the integer type";

impl Op {
    /// Applies it; `ty` is the type of the result (comparisons give `i1` whatever it says).
    pub fn apply(self, operands: &[Scalar], ty: ScalarType) -> Result<Scalar, Undefined> {
        let result = match operands {
            [x] => unary(self, *x, ty),
            [x, y] => binary(self, *x, *y),
            [x, y, z] => ternary(self, *x, *y, *z),
            _ => Err("it has no such number of operands"),
        };
        result.map_err(|reason| Undefined {
            op: self,
            operands: operands.to_vec(),
            reason,
        })
    }
}

#[inline]
fn binary(op: Op, x: Scalar, y: Scalar) -> Result<Scalar, Reason> {
    if op == Op::Fpowi {
        return fpowi(x, y);
    }
    if x.ty != y.ty {
        return Err(TYPES);
    }
    match (x.ty.is_float(), op) {
        (true, Op::Cmpf(p)) => Ok(Scalar::from_bool(cmpf(p, x, y))),
        (true, op) => float_binary(op, x, y),
        (false, Op::Cmpi(p)) => Ok(Scalar::from_bool(cmpi(p, x, y))),
        (false, op) => integer_binary(op, x, y),
    }
}

#[inline]
fn float_binary(op: Op, x: Scalar, y: Scalar) -> Result<Scalar, Reason> {
    let ty = x.ty;
    // f16 and bf16 go by way of f32, rounded once: for + - * / and sqrt that is exact rounding.
    if ty == ScalarType::F64 {
        let (a, b) = (f64::from_bits(x.bits), f64::from_bits(y.bits));
        let r = match op {
            Op::Addf => a + b,
            Op::Subf => a - b,
            Op::Mulf => a * b,
            Op::Divf => a / b,
            Op::Remf => a % b,
            _ => return float_binary_rest(op, x, y),
        };
        return Ok(Scalar {
            ty,
            bits: r.to_bits(),
        });
    }
    let (a, b) = (x.as_f32(), y.as_f32());
    let r = match op {
        Op::Addf => a + b,
        Op::Subf => a - b,
        Op::Mulf => a * b,
        Op::Divf => a / b,
        Op::Remf => a % b,
        _ => return float_binary_rest(op, x, y),
    };
    Ok(Scalar::from_f32(ty, r))
}

fn float_binary_rest(op: Op, x: Scalar, y: Scalar) -> Result<Scalar, Reason> {
    let (a, b) = (x.as_f64(), y.as_f64());
    match op {
        Op::Maximumf => Ok(extremum(x, y, a > b || (a == b && a.is_sign_positive()))),
        Op::Minimumf => Ok(extremum(x, y, a < b || (a == b && a.is_sign_negative()))),
        Op::Maxnumf | Op::Minnumf if a.is_nan() => Ok(y),
        Op::Maxnumf | Op::Minnumf if b.is_nan() => Ok(x),
        Op::Maxnumf => Ok(if a >= b { x } else { y }),
        Op::Minnumf => Ok(if a <= b { x } else { y }),
        Op::Atan2 => Ok(Scalar::from_f64(x.ty, a.atan2(b))),
        Op::Powf => Ok(Scalar::from_f64(x.ty, a.powf(b))),
        Op::Copysign => {
            let sign = 1 << (x.ty.bit_width() - 1);
            let bits = (x.bits & !sign) | (y.bits & sign);
            Ok(Scalar { ty: x.ty, bits })
        }
        _ => Err(TYPES),
    }
}

/// NaN if either is; else `x` if that is the one asked for, which orders -0 below +0.
fn extremum(x: Scalar, y: Scalar, take_x: bool) -> Scalar {
    if x.is_nan() {
        x
    } else if y.is_nan() || !take_x {
        y
    } else {
        x
    }
}

fn cmpf(predicate: CmpfPredicate, x: Scalar, y: Scalar) -> bool {
    use CmpfPredicate::*;
    let (a, b) = (x.as_f64(), y.as_f64());
    let unordered = a.is_nan() || b.is_nan();
    match predicate {
        AlwaysFalse => false,
        Oeq => a == b,
        Ogt => a > b,
        Oge => a >= b,
        Olt => a < b,
        Ole => a <= b,
        One => !unordered && a != b,
        Ord => !unordered,
        Ueq => unordered || a == b,
        Ugt => unordered || a > b,
        Uge => unordered || a >= b,
        Ult => unordered || a < b,
        Ule => unordered || a <= b,
        Une => a != b,
        Uno => unordered,
        AlwaysTrue => true,
    }
}

fn cmpi(predicate: CmpiPredicate, x: Scalar, y: Scalar) -> bool {
    use CmpiPredicate::*;
    let ((a, b), (u, v)) = ((x.as_i64(), y.as_i64()), (x.bits, y.bits));
    match predicate {
        Eq => u == v,
        Ne => u != v,
        Slt => a < b,
        Sle => a <= b,
        Sgt => a > b,
        Sge => a >= b,
        Ult => u < v,
        Ule => u <= v,
        Ugt => u > v,
        Uge => u >= v,
    }
}

#[inline]
fn integer_binary(op: Op, x: Scalar, y: Scalar) -> Result<Scalar, Reason> {
    let (u, v) = (x.bits, y.bits);
    let (a, b) = (x.as_i64(), y.as_i64());
    let bits = match op {
        Op::Addi => u.wrapping_add(v),
        Op::Subi => u.wrapping_sub(v),
        Op::Muli => u.wrapping_mul(v),
        Op::Andi => u & v,
        Op::Ori => u | v,
        Op::Xori => u ^ v,
        Op::Maxsi => a.max(b) as u64,
        Op::Minsi => a.min(b) as u64,
        Op::Maxui => u.max(v),
        Op::Minui => u.min(v),
        Op::Shli | Op::Shrsi | Op::Shrui if v >= u64::from(x.ty.bit_width()) => return Err(SHIFT),
        Op::Shli => u << v,
        Op::Shrsi => (a >> v) as u64,
        Op::Shrui => u >> v,
        Op::Ipowi => return ipowi(x, y),
        Op::Mulsihi => ((i128::from(a) * i128::from(b)) >> x.ty.bit_width()) as u64,
        Op::Muluihi => ((u128::from(u) * u128::from(v)) >> x.ty.bit_width()) as u64,
        op => return division(op, x, y),
    };
    Ok(Scalar::from_bits(x.ty, bits))
}

fn division(op: Op, x: Scalar, y: Scalar) -> Result<Scalar, Reason> {
    use Op::*;
    let ((a, b), (u, v)) = ((x.as_i64(), y.as_i64()), (x.bits, y.bits));
    let signed = matches!(op, Divsi | Ceildivsi | Floordivsi | Remsi);
    if !signed && !matches!(op, Divui | Ceildivui | Remui) {
        return Err(TYPES);
    }
    if v == 0 {
        return Err(ZERO);
    }
    // As the smallest value has no opposite, dividing it by -1 (remainder included) overflows.
    if signed && b == -1 && u == 1 << (x.ty.bit_width() - 1) {
        return Err(OVERFLOW);
    }
    let bits = match op {
        Divui => u / v,
        Ceildivui => u.div_ceil(v),
        Remui => u % v,
        Divsi => (a / b) as u64,
        Remsi => (a % b) as u64,
        Floordivsi => (a / b - i64::from(a % b != 0 && (a < 0) != (b < 0))) as u64,
        _ => (a / b + i64::from(a % b != 0 && (a < 0) == (b < 0))) as u64,
    };
    Ok(Scalar::from_bits(x.ty, bits))
}

fn ipowi(x: Scalar, y: Scalar) -> Result<Scalar, Reason> {
    let (base, mut exponent) = (x.as_i64(), y.as_i64());
    if exponent < 0 {
        let value = match base {
            0 => return Err(ZERO),
            1 => 1,
            -1 if exponent % 2 != 0 => -1,
            -1 => 1,
            _ => 0,
        };
        return Ok(Scalar::from_i64(x.ty, value));
    }
    let (mut result, mut square) = (1i64, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    Ok(Scalar::from_i64(x.ty, result))
}

fn fpowi(x: Scalar, y: Scalar) -> Result<Scalar, Reason> {
    if x.ty.is_integer() || y.ty.is_float() {
        return Err(TYPES);
    }
    let power = x.as_f64().powf(y.as_i64() as f64);
    Ok(Scalar::from_f64(x.ty, power))
}

fn ternary(op: Op, x: Scalar, y: Scalar, z: Scalar) -> Result<Scalar, Reason> {
    match op {
        Op::Select if x.ty == ScalarType::I1 && y.ty == z.ty => Ok(if x.is_true() { y } else { z }),
        Op::Fma if x.ty.is_float() && x.ty == y.ty && y.ty == z.ty => Ok(fma(x, y, z)),
        // A value below the range is `y`, one above `z`; NaN stays, and so does one of a bound.
        Op::Clampf if x.ty.is_float() && x.ty == y.ty && y.ty == z.ty => {
            float_binary_rest(Op::Minimumf, float_binary_rest(Op::Maximumf, x, y)?, z)
        }
        _ => Err(TYPES),
    }
}

/// `x y + z`, rounded once.
fn fma(x: Scalar, y: Scalar, z: Scalar) -> Scalar {
    match x.ty {
        ScalarType::F64 => {
            let r = x.as_f64().mul_add(y.as_f64(), z.as_f64());
            Scalar::from_f64(x.ty, r)
        }
        ScalarType::F32 => Scalar::from_f32(x.ty, x.as_f32().mul_add(y.as_f32(), z.as_f32())),
        // The product is exact in `f64`. The sum is rounded to odd, for which its error is known
        // (Knuth's TwoSum), and then to the type.
        ty => {
            let (product, z) = (x.as_f64() * y.as_f64(), z.as_f64());
            let sum = product + z;
            let of_z = sum - product;
            let rest = (product - (sum - of_z)) + (z - of_z);
            Scalar::from_f64(ty, f64_to_odd(sum, rest))
        }
    }
}

#[inline]
fn unary(op: Op, x: Scalar, ty: ScalarType) -> Result<Scalar, Reason> {
    if op.is_conversion() {
        return convert(op, x, ty);
    }
    if x.ty.is_integer() {
        return integer_unary(op, x);
    }
    let sign = 1 << (x.ty.bit_width() - 1);
    let value = x.as_f64();
    match op {
        // On the bits: a NaN's payload stays.
        Op::Negf => Ok(Scalar {
            ty: x.ty,
            bits: x.bits ^ sign,
        }),
        Op::Absf => Ok(Scalar {
            ty: x.ty,
            bits: x.bits & !sign,
        }),
        Op::Isnan => Ok(Scalar::from_bool(value.is_nan())),
        Op::Isinf => Ok(Scalar::from_bool(value.is_infinite())),
        Op::Isfinite => Ok(Scalar::from_bool(value.is_finite())),
        Op::Isnormal => {
            let smallest = x.ty.min_denormal() / x.ty.epsilon();
            let normal = value.is_finite() && value.abs() >= smallest;
            Ok(Scalar::from_bool(normal))
        }
        op => {
            let function = math_function(op).ok_or(TYPES)?;
            Ok(Scalar::from_f64(x.ty, function(value)))
        }
    }
}

/// Functions of one float that is then rounded to its type. Rounding twice does no harm:
/// `sqrt`'s result is the same, those that round to integers are exact.
fn math_function(op: Op) -> Option<fn(f64) -> f64> {
    Some(match op {
        Op::Exp => f64::exp,
        Op::Exp2 => f64::exp2,
        Op::Expm1 => f64::exp_m1,
        Op::Log => f64::ln,
        Op::Log2 => f64::log2,
        Op::Log10 => f64::log10,
        Op::Log1p => f64::ln_1p,
        Op::Sqrt => f64::sqrt,
        Op::Rsqrt => |x| 1.0 / x.sqrt(),
        Op::Cbrt => f64::cbrt,
        Op::Sin => f64::sin,
        Op::Cos => f64::cos,
        Op::Tan => f64::tan,
        Op::Asin => f64::asin,
        Op::Acos => f64::acos,
        Op::Atan => f64::atan,
        Op::Sinh => f64::sinh,
        Op::Cosh => f64::cosh,
        Op::Tanh => f64::tanh,
        Op::Asinh => libm::asinh,
        Op::Acosh => acosh,
        Op::Atanh => libm::atanh,
        Op::Erf => libm::erf,
        Op::Erfc => libm::erfc,
        Op::Floor => f64::floor,
        Op::Ceil => f64::ceil,
        Op::Round => f64::round,
        Op::Roundeven => f64::round_ties_even,
        Op::Trunc => f64::trunc,
        _ => return None,
    })
}

/// Below 1 there is none. The library's cancels far below, and has a number there.
fn acosh(x: f64) -> f64 {
    match x < 1.0 {
        true => f64::NAN,
        false => libm::acosh(x),
    }
}

fn integer_unary(op: Op, x: Scalar) -> Result<Scalar, Reason> {
    let width = x.ty.bit_width();
    let bits = match op {
        Op::Absi => x.as_i64().wrapping_abs() as u64,
        Op::Ctpop => u64::from(x.bits.count_ones()),
        Op::Ctlz => u64::from(x.bits.leading_zeros() - (64 - width)),
        Op::Cttz => u64::from(x.bits.trailing_zeros().min(width)),
        _ => return Err(TYPES),
    };
    Ok(Scalar::from_bits(x.ty, bits))
}

fn convert(op: Op, x: Scalar, ty: ScalarType) -> Result<Scalar, Reason> {
    let (wider, narrower) = (
        ty.bit_width() > x.ty.bit_width(),
        ty.bit_width() < x.ty.bit_width(),
    );
    let (from_float, to_float) = (x.ty.is_float(), ty.is_float());
    let index = x.ty == ScalarType::Index || ty == ScalarType::Index;
    match op {
        Op::Extf if from_float && to_float && wider => Ok(Scalar::from_f64(ty, x.as_f64())),
        Op::Truncf if from_float && to_float && narrower => Ok(Scalar::from_f64(ty, x.as_f64())),
        Op::Extsi if !from_float && !to_float && wider => Ok(Scalar::from_i64(ty, x.as_i64())),
        Op::Extui if !from_float && !to_float && wider => Ok(Scalar::from_bits(ty, x.bits)),
        Op::Trunci if !from_float && !to_float && narrower => Ok(Scalar::from_bits(ty, x.bits)),
        Op::IndexCast if !from_float && !to_float && index => Ok(Scalar::from_i64(ty, x.as_i64())),
        Op::IndexCastui if !from_float && !to_float && index => Ok(Scalar::from_bits(ty, x.bits)),
        Op::Sitofp if !from_float && to_float => Ok(Scalar::from_i64(ty, x.as_i64())),
        Op::Uitofp if !from_float && to_float => Ok(Scalar::from_u64(ty, x.bits)),
        Op::Bitcast if !wider && !narrower => Ok(Scalar { ty, bits: x.bits }),
        Op::Fptosi | Op::Fptoui if from_float && !to_float => to_integer(op, x, ty),
        _ => Err(TYPES),
    }
}

fn to_integer(op: Op, x: Scalar, ty: ScalarType) -> Result<Scalar, Reason> {
    let value = x.as_f64().trunc();
    let width = ty.bit_width() as i32;
    let signed = op == Op::Fptosi;
    let (low, high) = if signed {
        (-2f64.powi(width - 1), 2f64.powi(width - 1))
    } else {
        (0.0, 2f64.powi(width))
    };
    if !(low <= value && value < high) {
        return Err(RANGE);
    }
    let bits = if signed {
        value as i64 as u64
    } else {
        value as u64
    };
    Ok(Scalar::from_bits(ty, bits))
}

/// The conversion of a value at a store: float to float, or signed integer to integer.
/// `None` between floats and integers.
pub fn convert_stored(x: Scalar, ty: ScalarType) -> Option<Scalar> {
    if x.ty == ty {
        Some(x)
    } else if x.ty.is_float() && ty.is_float() {
        Some(Scalar::from_f64(ty, x.as_f64()))
    } else if x.ty == ScalarType::I1 && ty.is_integer() {
        // A truth value is 0 or 1, not -1.
        Some(Scalar::from_u64(ty, x.as_u64()))
    } else if x.ty.is_integer() && ty.is_integer() {
        Some(Scalar::from_i64(ty, x.as_i64()))
    } else {
        None
    }
}

#[cfg(test)]
#[path = "arith_tests.rs"]
mod tests;
