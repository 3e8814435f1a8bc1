//! Floating-point numbers: their bits, and their rounding.
//!
//! Everything is computed in 64 bits. What these cannot hold is rounded *to odd* there (cut off, and
//! the last bit set), and then rounded once more to a type that has at least two bits less: that
//! gives what one rounding would have given (Boldo and Melquiond, 2008).

use half::{bf16, f16};

use crate::instruction::{Rounding, Type};

/// The number that bits stand for.
pub fn number(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F16 => f16::from_bits(bits as u16).to_f64(),
        Type::BF16 => bf16::from_bits(bits as u16).to_f64(),
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The bits of a number, rounded to the nearest.
pub fn nearest(ty: Type, value: f64) -> u64 {
    match ty {
        _ if value.is_nan() => nan(ty),
        Type::F16 => u64::from(f16::from_f32(odd_f32(value)).to_bits()),
        Type::BF16 => u64::from(bf16::from_f32(odd_f32(value)).to_bits()),
        Type::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// The NaN that instructions give.
fn nan(ty: Type) -> u64 {
    match ty {
        Type::F16 | Type::BF16 => 0x7fff,
        Type::F32 => 0x7fff_ffff,
        _ => f64::NAN.to_bits(),
    }
}

/// The bits of a number.
pub fn rounded(ty: Type, value: f64, rounding: Rounding) -> u64 {
    let bits = nearest(ty, value);
    let result = number(ty, bits);
    let is_wrong = match rounding {
        Rounding::Nearest => false,
        Rounding::Zero => result.abs() > value.abs(),
        Rounding::Down => result > value,
        Rounding::Up => result < value,
    };
    if !is_wrong {
        return bits;
    }
    // The neighbour: bits behind the sign count upwards.
    let is_smaller = match rounding {
        Rounding::Down => result.is_sign_positive(),
        Rounding::Up => result.is_sign_negative(),
        _ => true,
    };
    if is_smaller { bits - 1 } else { bits + 1 }
}

/// A whole number, rounded to odd.
pub fn of_integer(value: i128) -> f64 {
    let float = value as f64;
    to_odd(float, (value - float as i128) as f64)
}

/// `a * b + c` of numbers of 16 bits, rounded to odd.
pub fn fma(a: f64, b: f64, c: f64) -> f64 {
    // Neither the product nor the error of the sum is rounded.
    let product = a * b;
    let sum = product + c;
    let part = sum - product;
    to_odd(sum, (product - (sum - part)) + (c - part))
}

/// The nearest number and how much is missing, rounded to odd.
fn to_odd(nearest: f64, missing: f64) -> f64 {
    let bits = nearest.to_bits();
    if missing == 0.0 || !missing.is_finite() || !nearest.is_finite() || bits % 2 == 1 {
        return nearest;
    }
    match (missing > 0.0) == (nearest > 0.0) {
        true => f64::from_bits(bits + 1),
        false => f64::from_bits(bits - 1),
    }
}

fn odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value {
        return nearest;
    }
    let bits = nearest.to_bits();
    let cut = if f64::from(nearest).abs() > value.abs() {
        bits - 1
    } else {
        bits
    };
    f32::from_bits(cut | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds by definition: of all numbers of the type the one that is nearest, of two the even.
    fn by_definition(ty: Type, value: f64) -> u64 {
        let finite = (0..0x7fffu64).filter(|bits| number(ty, *bits).is_finite());
        let distance = |bits: u64| (number(ty, bits) - value.abs()).abs();
        let best = finite.min_by(|a, b| {
            let order = distance(*a).partial_cmp(&distance(*b)).unwrap();
            order.then((a % 2).cmp(&(b % 2)))
        });
        best.unwrap() | u64::from(value < 0.0) << 15
    }

    #[test]
    fn one_rounding_is_right() {
        let half = 1.0 + 2f64.powi(-11);
        let little = 2f64.powi(-40);
        for ty in [Type::F16, Type::BF16] {
            for value in [half, half + little, half - little, -half, 3e-8, 1.0 / 3.0] {
                assert_eq!(
                    nearest(ty, value),
                    by_definition(ty, value),
                    "{ty:?} {value}"
                );
            }
        }
        assert_eq!(nearest(Type::F16, 65520.0), 0x7c00);
        assert_eq!(nearest(Type::F16, 65519.9999999), 0x7bff);
    }

    #[test]
    fn products_and_sums_are_rounded_once() {
        // 1 + 2^-11 + 2^-60, of which 64 bits keep only a middle.
        let sum = fma(2f64.powi(-30), 2f64.powi(-30), 1.0 + 2f64.powi(-11));
        assert_eq!(nearest(Type::F16, sum), 0x3c01);
        assert!(fma(f64::INFINITY, 0.0, 1.0).is_nan());
        assert_eq!(fma(f64::INFINITY, 1.0, 1.0), f64::INFINITY);
    }

    #[test]
    fn directions() {
        let f16 = |value, rounding| rounded(Type::F16, value, rounding);
        let third = 1.0 / 3.0;
        assert_eq!(f16(third, Rounding::Up), f16(third, Rounding::Down) + 1);
        assert_eq!(f16(-third, Rounding::Zero), f16(-third, Rounding::Up));
        assert_eq!(f16(1e9, Rounding::Zero), 0x7bff);
        assert_eq!(f16(1e-30, Rounding::Up), 1);
        assert_eq!(f16(-1e-30, Rounding::Down), 0x8001);
        assert_eq!(f16(-1e-30, Rounding::Up), 0x8000);
        let large = of_integer(i128::from(u64::MAX));
        assert_eq!(rounded(Type::F32, large, Rounding::Zero), 0x5f7f_ffff);
        assert_eq!(rounded(Type::F32, large, Rounding::Nearest), 0x5f80_0000);
    }
}
