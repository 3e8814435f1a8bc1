//! Values in another type (PTX ISA, `cvt`).

use crate::arithmetic::{low, signed};
use crate::float::{nearest, number, of_integer, rounded};
use crate::instruction::{Conversion, Rounding, Type};

/// A value in another type; `None` if one of the types is none of a number.
pub fn convert(to: Type, how: Conversion, a: u64) -> Option<u64> {
    let from = how.from;
    let a = low(a, from.bits());
    if from.is_float() {
        return of_float(to, how, number(from, a));
    }
    let value = match from {
        Type::S(n) => i128::from(signed(a, n.into())),
        Type::U(_) | Type::B(_) => i128::from(a),
        _ => return None,
    };
    if to.is_float() {
        return Some(match (to, how.rounding) {
            (Type::F64, Rounding::Nearest) => (value as f64).to_bits(),
            // What is rounded to odd is on the right side, and a neighbour of the exact one.
            (Type::F64, rounding) => exactly(value, rounding),
            (_, rounding) => rounded(to, of_integer(value), rounding),
        });
    }
    let value = match how.saturates {
        true => value.clamp(least(to)?, most(to)?),
        false => value,
    };
    Some(kept(to, value))
}

/// A whole number as one of 64 bits with a fraction.
fn exactly(value: i128, rounding: Rounding) -> u64 {
    let float = value as f64;
    let back = float as i128;
    let is_wrong = match rounding {
        Rounding::Nearest => false,
        Rounding::Zero => back.abs() > value.abs(),
        Rounding::Down => back > value,
        Rounding::Up => back < value,
    };
    let bits = float.to_bits();
    let is_smaller = match rounding {
        Rounding::Down => value > 0,
        Rounding::Up => value < 0,
        _ => true,
    };
    match (is_wrong, is_smaller) {
        (false, _) => bits,
        (true, true) => bits - 1,
        (true, false) => bits + 1,
    }
}

fn of_float(to: Type, how: Conversion, value: f64) -> Option<u64> {
    let value = match how.rounding {
        _ if !how.is_whole => value,
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    };
    if !to.is_float() {
        // Integers end where their range does. NaN is 0, but of 64 bits the middle.
        let is_long = how.from == Type::F64 || to.bits() == 64;
        return Some(match value.is_nan() {
            true if is_long => 1 << (to.bits() - 1),
            true => 0,
            false => kept(to, (value as i128).clamp(least(to)?, most(to)?)),
        });
    }
    let value = match how.saturates {
        true if value.is_nan() => 0.0,
        true => value.clamp(0.0, 1.0),
        false => value,
    };
    let value = match how.is_positive && value <= 0.0 {
        true => 0.0,
        false => value,
    };
    Some(match how.is_whole {
        true => nearest(to, value),
        false => rounded(to, value, how.rounding),
    })
}

fn least(ty: Type) -> Option<i128> {
    match ty {
        Type::S(n) => Some(-(1 << (n - 1))),
        Type::U(_) => Some(0),
        _ => None,
    }
}

fn most(ty: Type) -> Option<i128> {
    match ty {
        Type::S(n) => Some((1 << (n - 1)) - 1),
        Type::U(n) => Some((1 << n) - 1),
        _ => None,
    }
}

/// An integer in a register, which has more than the 8 bits of the shortest types: these have
/// copies of their sign above them.
fn kept(to: Type, value: i128) -> u64 {
    match to {
        Type::S(8) => signed(value as u64, 8) as u64,
        _ => low(value as u64, to.bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(from: Type, rounding: Rounding) -> Conversion {
        Conversion {
            from,
            rounding,
            is_whole: false,
            saturates: false,
            is_positive: false,
        }
    }

    fn integral(from: Type, rounding: Rounding) -> Conversion {
        let is_whole = true;
        Conversion {
            is_whole,
            ..plain(from, rounding)
        }
    }

    fn f32_of(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    #[test]
    fn floats_to_integers() {
        let to = |to, value| convert(to, integral(Type::F32, Rounding::Zero), f32_of(value));
        assert_eq!(to(Type::S(32), -1.5), Some(0xffff_ffff));
        assert_eq!(to(Type::U(8), 300.0), Some(255));
        assert_eq!(to(Type::S(16), -1e9), Some(0x8000));
        assert_eq!(to(Type::U(32), -1.0), Some(0));
        assert_eq!(to(Type::U(64), 1e30), Some(u64::MAX));
        assert_eq!(to(Type::S(32), f32::NAN), Some(0));
        assert_eq!(to(Type::S(64), f32::NAN), Some(1 << 63));
        let nearest = |value| {
            let how = integral(Type::F32, Rounding::Nearest);
            convert(Type::S(32), how, f32_of(value))
        };
        assert_eq!((nearest(2.5), nearest(3.5)), (Some(2), Some(4)));
    }

    #[test]
    fn integers_to_integers() {
        let to = |to, from, a| convert(to, plain(from, Rounding::Nearest), a);
        assert_eq!(to(Type::S(64), Type::S(32), 0xffff_ffff), Some(u64::MAX));
        assert_eq!(to(Type::U(64), Type::S(16), 0xffff), Some(u64::MAX));
        // The register of a short number has its sign above it.
        let short = to(Type::S(8), Type::S(32), 0x1ff).map(|found| low(found, 16));
        assert_eq!(short, Some(0xffff));
        assert_eq!(to(Type::U(8), Type::U(32), 0x1ff), Some(0xff));
        let saturated = |to, from, a| {
            let how = plain(from, Rounding::Nearest);
            let saturates = true;
            convert(to, Conversion { saturates, ..how }, a)
        };
        assert_eq!(saturated(Type::S(16), Type::S(32), 70000), Some(0x7fff));
        assert_eq!(saturated(Type::U(16), Type::S(32), 0xffff_ffff), Some(0));
        assert_eq!(saturated(Type::U(8), Type::U(64), u64::MAX), Some(255));
    }

    #[test]
    fn integers_to_floats() {
        let to = |to, rounding, a| convert(to, plain(Type::U(64), rounding), a);
        assert_eq!(to(Type::F32, Rounding::Nearest, 3), Some(f32_of(3.0)));
        // 2049 and a half, of half precision: between 2048 and 2050.
        assert_eq!(to(Type::F16, Rounding::Nearest, 2049), Some(0x6800));
        let large = u64::MAX;
        assert_eq!(
            to(Type::F64, Rounding::Zero, large),
            Some(0x43ef_ffff_ffff_ffff)
        );
        assert_eq!(
            to(Type::F64, Rounding::Up, large),
            Some(0x43f0_0000_0000_0000)
        );
        assert_eq!(to(Type::F16, Rounding::Nearest, large), Some(0x7c00));
    }

    #[test]
    fn floats_to_floats() {
        let to = |to, rounding, a| convert(to, plain(Type::F32, rounding), f32_of(a));
        assert_eq!(to(Type::F16, Rounding::Nearest, 1.5), Some(0x3e00));
        assert_eq!(to(Type::BF16, Rounding::Zero, 1.999), Some(0x3fff));
        assert_eq!(
            to(Type::F64, Rounding::Nearest, 1.5),
            Some(1.5f64.to_bits())
        );
        let floor = convert(Type::F32, integral(Type::F32, Rounding::Down), f32_of(-0.5));
        assert_eq!(floor, Some(f32_of(-1.0)));
        let positive = Conversion {
            is_positive: true,
            ..plain(Type::F32, Rounding::Nearest)
        };
        assert_eq!(convert(Type::F16, positive, f32_of(-1.5)), Some(0));
    }
}
