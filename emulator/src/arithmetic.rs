//! What instructions make of bits.

use std::cmp::Ordering;

use half::{bf16, f16};

use crate::instruction::{Compare, Op, Part, Rounding, Type};

/// The lowest bits.
pub fn low(value: u64, bits: u32) -> u64 {
    match bits {
        64.. => value,
        _ => value & ((1 << bits) - 1),
    }
}

/// An integer of so many bits, with its sign.
pub fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.min(64);
    ((value << shift) as i64) >> shift
}

/// The number that bits stand for. Types of 16 bits are narrow enough that computing with them in
/// 32 and rounding once is exact for one operation.
fn float(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F16 => f16::from_bits(bits as u16).to_f64(),
        Type::BF16 => bf16::from_bits(bits as u16).to_f64(),
        Type::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The bits of a number, rounded to the nearest.
fn bits(ty: Type, value: f64) -> u64 {
    match ty {
        Type::F16 => u64::from(f16::from_f64(value).to_bits()),
        Type::BF16 => u64::from(bf16::from_f64(value).to_bits()),
        Type::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// Applies a function of floats in the type's own precision.
fn floats<const N: usize>(
    ty: Type,
    values: [u64; N],
    narrow: impl Fn([f32; N]) -> f32,
    wide: impl Fn([f64; N]) -> f64,
) -> u64 {
    match ty {
        Type::F32 => {
            let values = values.map(|value| f32::from_bits(value as u32));
            u64::from(narrow(values).to_bits())
        }
        _ => bits(ty, wide(values.map(|value| float(ty, value)))),
    }
}

/// One operand.
pub fn one(op: Op, ty: Type, a: u64) -> Option<u64> {
    let n = ty.bits();
    let apply = |narrow: fn(f32) -> f32, wide: fn(f64) -> f64| {
        floats(ty, [a], |[a]| narrow(a), |[a]| wide(a))
    };
    Some(match op {
        Op::Neg if ty.is_float() => a ^ (1 << (n - 1)),
        Op::Neg => low(a.wrapping_neg(), n),
        Op::Abs if ty.is_float() => low(a, n - 1),
        Op::Abs => low(signed(a, n).unsigned_abs(), n),
        Op::Not => low(!a, n),
        Op::Clz => u64::from(a.leading_zeros() - (64 - n)),
        Op::Popc => u64::from(a.count_ones()),
        Op::Rcp => apply(|a| 1.0 / a, |a| 1.0 / a),
        Op::Sqrt => apply(f32::sqrt, f64::sqrt),
        Op::Rsqrt => apply(|a| 1.0 / a.sqrt(), |a| 1.0 / a.sqrt()),
        Op::Ex2 => apply(f32::exp2, f64::exp2),
        Op::Lg2 => apply(f32::log2, f64::log2),
        Op::Testp => u64::from(float(ty, a).is_nan()),
        _ => return None,
    })
}

/// The smaller or larger number; of a number and NaN the number, unless NaN counts.
fn extreme(ty: Type, a: u64, b: u64, nan: bool, wanted: Ordering) -> u64 {
    if !ty.is_float() {
        let order = match ty {
            Type::S(n) => signed(a, n.into()).cmp(&signed(b, n.into())),
            _ => a.cmp(&b),
        };
        return if order == wanted { a } else { b };
    }
    let [x, y] = [a, b].map(|value| float(ty, value));
    match (x.is_nan(), y.is_nan()) {
        (true, _) | (_, true) if nan => bits(ty, f64::NAN),
        (true, _) => b,
        (_, true) => a,
        // Of two zeros, the negative one is smaller.
        _ => match x.partial_cmp(&y) {
            Some(Ordering::Equal) => {
                let negative = |value: u64| value >> (ty.bits() - 1) == 1;
                let is_first = negative(a) == (wanted == Ordering::Less);
                if is_first { a } else { b }
            }
            order if order == Some(wanted) => a,
            _ => b,
        },
    }
}

/// Two operands; the second one of a shift has 32 bits.
pub fn two(op: Op, ty: Type, a: u64, b: u64) -> Option<u64> {
    let n = ty.bits();
    let is_signed = matches!(ty, Type::S(_));
    if ty.is_float() {
        let apply = |narrow: fn(f32, f32) -> f32, wide: fn(f64, f64) -> f64| {
            floats(ty, [a, b], |[a, b]| narrow(a, b), |[a, b]| wide(a, b))
        };
        return Some(match op {
            Op::Add => apply(|a, b| a + b, |a, b| a + b),
            Op::Sub => apply(|a, b| a - b, |a, b| a - b),
            Op::Mul(_) => apply(|a, b| a * b, |a, b| a * b),
            Op::Div => apply(|a, b| a / b, |a, b| a / b),
            Op::Min { nan } => extreme(ty, a, b, nan, Ordering::Less),
            Op::Max { nan } => extreme(ty, a, b, nan, Ordering::Greater),
            // The second operand, with the first one's sign.
            Op::Copysign => low(b, n - 1) | (a & (1 << (n - 1))),
            _ => return None,
        });
    }
    let [x, y] = [a, b].map(|value| match is_signed {
        true => i128::from(signed(value, n)),
        false => i128::from(value),
    });
    Some(match op {
        Op::Add => low(a.wrapping_add(b), n),
        Op::Sub => low(a.wrapping_sub(b), n),
        Op::Mul(Part::Low) => low(a.wrapping_mul(b), n),
        Op::Mul(Part::High) => low((x.wrapping_mul(y) >> n) as u64, n),
        Op::Mul(Part::Wide) => low((x * y) as u64, 2 * n),
        // As NVIDIA's chips do it: division by zero gives all ones.
        Op::Div if y == 0 => low(u64::MAX, n),
        Op::Div => low((x / y) as u64, n),
        Op::Rem if y == 0 => a,
        Op::Rem => low((x % y) as u64, n),
        Op::Min { .. } => extreme(ty, a, b, false, Ordering::Less),
        Op::Max { .. } => extreme(ty, a, b, false, Ordering::Greater),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl => match low(b, 32) {
            shift if shift < u64::from(n) => low(a << shift, n),
            _ => 0,
        },
        Op::Shr => {
            let shift = low(b, 32).min(u64::from(n));
            match is_signed {
                true => low((signed(a, n) >> shift.min(63)) as u64, n),
                false => (u128::from(a) >> shift) as u64,
            }
        }
        _ => return None,
    })
}

/// Three operands: products and sums, fields of bits.
pub fn three(op: Op, ty: Type, a: u64, b: u64, c: u64) -> Option<u64> {
    let n = ty.bits();
    Some(match op {
        Op::Fma if ty.is_float() => floats(
            ty,
            [a, b, c],
            |[a, b, c]| a.mul_add(b, c),
            |[a, b, c]| a.mul_add(b, c),
        ),
        Op::Mad(Part::Wide) => {
            let product = two(Op::Mul(Part::Wide), ty, a, b)?;
            low(product.wrapping_add(c), 2 * n)
        }
        Op::Mad(part) => {
            let product = two(Op::Mul(part), ty, a, b)?;
            low(product.wrapping_add(c), n)
        }
        Op::Bfe => {
            let (start, length) = (low(b, 8).min(u64::from(n)), low(c, 8).min(u64::from(n)));
            let field = low((u128::from(a) >> start) as u64, length as u32);
            match ty {
                Type::S(_) if length > 0 => low(signed(field, length as u32) as u64, n),
                _ => field,
            }
        }
        _ => return None,
    })
}

/// Whether a comparison holds.
pub fn compare(how: Compare, ty: Type, a: u64, b: u64) -> bool {
    let order = match ty {
        Type::S(n) => Some(signed(a, n.into()).cmp(&signed(b, n.into()))),
        _ if ty.is_float() => float(ty, a).partial_cmp(&float(ty, b)),
        _ => Some(a.cmp(&b)),
    };
    match how {
        Compare::Numbers => order.is_some(),
        Compare::Nan => order.is_none(),
        Compare::Order {
            less,
            equal,
            greater,
            or_nan,
        } => match order {
            Some(Ordering::Less) => less,
            Some(Ordering::Equal) => equal,
            Some(Ordering::Greater) => greater,
            None => or_nan,
        },
    }
}

/// A value in another type.
pub fn convert(
    to: Type,
    from: Type,
    rounding: Option<Rounding>,
    saturates: bool,
    a: u64,
) -> Option<u64> {
    if from.is_float() {
        let value = float(from, a);
        let whole = match rounding {
            Some(Rounding::Nearest) => value.round_ties_even(),
            Some(Rounding::Zero) => value.trunc(),
            Some(Rounding::Down) => value.floor(),
            Some(Rounding::Up) => value.ceil(),
            None => value,
        };
        return Some(match to {
            _ if to.is_float() && saturates => bits(
                to,
                if whole.is_nan() {
                    0.0
                } else {
                    whole.clamp(0.0, 1.0)
                },
            ),
            _ if to.is_float() => bits(to, whole),
            // Integers end where their range does; NaN is 0.
            Type::S(n) => {
                let top = i64::MAX >> (64 - n);
                low((whole as i64).clamp(-top - 1, top) as u64, n.into())
            }
            Type::U(n) => (whole as u64).min(low(u64::MAX, n.into())),
            _ => return None,
        });
    }
    let value = match from {
        Type::S(n) => i128::from(signed(a, n.into())),
        _ => i128::from(a),
    };
    Some(match to {
        Type::F32 => u64::from((value as f32).to_bits()),
        _ if to.is_float() => bits(to, value as f64),
        Type::S(n) if saturates => {
            let top = i128::from(i64::MAX >> (64 - n));
            low(value.clamp(-top - 1, top) as u64, n.into())
        }
        Type::U(n) if saturates => value.clamp(0, i128::from(low(u64::MAX, n.into()))) as u64,
        _ => low(value as u64, to.bits()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        assert_eq!(two(Op::Shr, Type::S(32), 0x8000_0000, 4), Some(0xf800_0000));
        assert_eq!(two(Op::Shr, Type::U(64), 8, 64), Some(0));
        assert_eq!(two(Op::Shl, Type::B(32), 1, 32), Some(0));
        assert_eq!(
            two(Op::Mul(Part::Wide), Type::S(32), 0xffff_ffff, 3),
            Some(3u64.wrapping_neg())
        );
        assert_eq!(two(Op::Mul(Part::High), Type::U(32), 1 << 31, 4), Some(2));
        assert_eq!(
            two(Op::Div, Type::S(32), low(7u64.wrapping_neg(), 32), 2),
            Some(0xffff_fffd)
        );
        assert_eq!(three(Op::Bfe, Type::U(32), 0xabcd, 4, 8), Some(0xbc));
        assert_eq!(one(Op::Clz, Type::B(32), 1), Some(31));
    }

    #[test]
    fn nan_and_zeros() {
        let [nan, one, zero, negative] = [f32::NAN, 1.0, 0.0, -0.0].map(|v| u64::from(v.to_bits()));
        let max = |nan| Op::Max { nan };
        assert_eq!(two(max(false), Type::F32, nan, one), Some(one));
        assert!(f32::from_bits(two(max(true), Type::F32, nan, one).unwrap() as u32).is_nan());
        assert_eq!(two(max(false), Type::F32, negative, zero), Some(zero));
        assert_eq!(
            two(Op::Min { nan: false }, Type::F32, zero, negative),
            Some(negative)
        );
        let holds = |name, a, b| compare(Compare::parse(name).unwrap(), Type::F32, a, b);
        assert!(holds("neu", nan, one) && !holds("ne", nan, one) && holds("nan", nan, one));
        assert!(holds("eq", zero, negative) && !holds("equ", zero, one));
    }

    #[test]
    fn conversions() {
        let to = |to, from, rounding, a| convert(to, from, rounding, false, a);
        let f32_of = |v: f32| u64::from(v.to_bits());
        let zero = Some(Rounding::Zero);
        assert_eq!(
            to(Type::S(32), Type::F32, zero, f32_of(-1.5)),
            Some(0xffff_ffff)
        );
        assert_eq!(to(Type::U(8), Type::F32, zero, f32_of(300.0)), Some(255));
        assert_eq!(
            to(Type::S(64), Type::S(32), None, 0xffff_ffff),
            Some(u64::MAX)
        );
        assert_eq!(to(Type::F32, Type::U(64), None, 3), Some(f32_of(3.0)));
        assert_eq!(to(Type::F16, Type::F32, None, f32_of(1.5)), Some(0x3e00));
    }
}
