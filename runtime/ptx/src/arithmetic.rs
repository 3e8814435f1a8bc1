//! Arithmetic of instructions on bits. Operands may have more bits than count.

use std::cmp::Ordering;

use crate::float::{fma, nearest, number};
use crate::instruction::{
    Bytes, Class, Compare, Extreme, Four, Logic, Mixed, One, ProductPart, Three, Two, Type,
};

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

/// Does the same with both halves of packed numbers.
fn halves<const N: usize>(
    half: Type,
    values: [u64; N],
    each: impl Fn([u64; N]) -> Option<u64>,
) -> Option<u64> {
    let n = half.bits();
    let shifted = |shift| each(values.map(|value| low(value >> shift, n)));
    Some(low(shifted(0)?, n) | low(shifted(n)?, n) << n)
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
            nearest(ty, f64::from(narrow(values)))
        }
        _ => nearest(ty, wide(values.map(|value| number(ty, value)))),
    }
}

/// One operand; `None` if the type has no such operation.
pub fn one(op: One, ty: Type, a: u64) -> Option<u64> {
    if let Some(half) = ty.half() {
        return halves(half, [a], |[a]| one(op, half, a));
    }
    let n = ty.bits();
    let a = low(a, n);
    let is_float = ty.is_float();
    let apply = |narrow: fn(f32) -> f32, wide: fn(f64) -> f64| {
        is_float.then(|| floats(ty, [a], |[a]| narrow(a), |[a]| wide(a)))
    };
    match op {
        One::Neg if is_float => Some(a ^ (1 << (n - 1))),
        One::Neg => Some(low(a.wrapping_neg(), n)),
        One::Abs if is_float => Some(low(a, n - 1)),
        One::Abs => Some(low(signed(a, n).unsigned_abs(), n)),
        One::Not => Some(low(!a, n)),
        One::Clz => Some(u64::from(a.leading_zeros() - (64 - n))),
        One::Popc => Some(u64::from(a.count_ones())),
        One::Brev => Some(a.reverse_bits() >> (64 - n)),
        One::Bfind { is_shift } => Some(highest(ty, a, is_shift)),
        One::Rcp => apply(|a| 1.0 / a, |a| 1.0 / a),
        One::Sqrt => apply(f32::sqrt, f64::sqrt),
        One::Rsqrt => apply(|a| 1.0 / a.sqrt(), |a| 1.0 / a.sqrt()),
        One::Ex2 => apply(f32::exp2, f64::exp2),
        One::Lg2 => apply(f32::log2, f64::log2),
        One::Sin => apply(f32::sin, f64::sin),
        One::Cos => apply(f32::cos, f64::cos),
        One::Tanh => apply(f32::tanh, f64::tanh),
        One::Testp(class) => is_float.then(|| u64::from(is_of(class, ty, a))),
    }
}

/// The place of the highest bit that is no copy of the sign, or how far that is from the top; all
/// ones if there is none.
fn highest(ty: Type, a: u64, is_shift: bool) -> u64 {
    let n = ty.bits();
    let bits = match ty {
        Type::S(_) if signed(a, n) < 0 => low(!a, n),
        _ => a,
    };
    match bits.checked_ilog2() {
        None => low(u64::MAX, 32),
        Some(place) if is_shift => u64::from(n - 1 - place),
        Some(place) => u64::from(place),
    }
}

fn is_of(class: Class, ty: Type, a: u64) -> bool {
    let value = number(ty, a);
    let smallest = match ty {
        Type::F32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    };
    match class {
        Class::Finite => value.is_finite(),
        Class::Infinite => value.is_infinite(),
        Class::Number => !value.is_nan(),
        Class::Nan => value.is_nan(),
        Class::Normal => value.is_finite() && value.abs() >= smallest,
        Class::Subnormal => value != 0.0 && value.abs() < smallest,
    }
}

/// The smaller or larger number.
fn extreme(ty: Type, how: Extreme, wanted: Ordering, a: u64, b: u64) -> u64 {
    let n = ty.bits();
    if !ty.is_float() {
        let [x, y] = [a, b].map(|value| integer_of(ty, value));
        let chosen = if x.cmp(&y) == wanted { x } else { y };
        return match how {
            Extreme::Relu => low(chosen.max(0) as u64, n),
            _ => low(chosen as u64, n),
        };
    }
    let [x, y] = [a, b].map(|value| number(ty, value));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => nearest(ty, f64::NAN),
        (true, _) | (_, true) if how == Extreme::Nan => nearest(ty, f64::NAN),
        (true, _) => b,
        (_, true) => a,
        // Of two zeros, the negative one is smaller.
        _ => match x.partial_cmp(&y) {
            Some(Ordering::Equal) => {
                let negative = |value: u64| value >> (n - 1) == 1;
                let is_first = negative(a) == (wanted == Ordering::Less);
                if is_first { a } else { b }
            }
            order if order == Some(wanted) => a,
            _ => b,
        },
    }
}

/// An integer, with its sign if it has one.
fn integer_of(ty: Type, value: u64) -> i128 {
    let n = ty.bits();
    match ty {
        Type::S(_) => i128::from(signed(value, n)),
        _ => i128::from(low(value, n)),
    }
}

/// Two operands; the second one of a shift has 32 bits.
pub fn two(op: Two, ty: Type, a: u64, b: u64) -> Option<u64> {
    if let Some(half) = ty.half() {
        return halves(half, [a, b], |[a, b]| two(op, half, a, b));
    }
    let n = ty.bits();
    if ty.is_float() {
        return of_floats(op, ty, low(a, n), low(b, n));
    }
    let by = low(b, 32);
    let (a, b) = (low(a, n), low(b, n));
    let [x, y] = [a, b].map(|value| integer_of(ty, value));
    Some(match op {
        Two::Add => low(a.wrapping_add(b), n),
        Two::Sub => low(a.wrapping_sub(b), n),
        Two::Mul(ProductPart::Low) => low(a.wrapping_mul(b), n),
        Two::Mul(ProductPart::High) => low((x.wrapping_mul(y) >> n) as u64, n),
        Two::Mul(ProductPart::Wide) => low((x * y) as u64, 2 * n),
        // As NVIDIA's chips do it: division by zero gives all ones.
        Two::Div if y == 0 => low(u64::MAX, n),
        Two::Div => low((x / y) as u64, n),
        Two::Rem if y == 0 => a,
        Two::Rem => low((x % y) as u64, n),
        Two::Min(how) => extreme(ty, how, Ordering::Less, a, b),
        Two::Max(how) => extreme(ty, how, Ordering::Greater, a, b),
        Two::And => a & b,
        Two::Or => a | b,
        Two::Xor => a ^ b,
        Two::Shl if by < u64::from(n) => low(a << by, n),
        Two::Shl => 0,
        Two::Shr => low((x >> by.min(u64::from(n))) as u64, n),
        Two::Copysign => return None,
    })
}

fn of_floats(op: Two, ty: Type, a: u64, b: u64) -> Option<u64> {
    let n = ty.bits();
    let apply = |narrow: fn(f32, f32) -> f32, wide: fn(f64, f64) -> f64| {
        Some(floats(
            ty,
            [a, b],
            |[a, b]| narrow(a, b),
            |[a, b]| wide(a, b),
        ))
    };
    let is_short = n == 16;
    match op {
        Two::Add if is_short => apply(|a, b| a + b, |a, b| fma(a, 1.0, b)),
        Two::Add => apply(|a, b| a + b, |a, b| a + b),
        Two::Sub if is_short => apply(|a, b| a - b, |a, b| fma(-1.0, b, a)),
        Two::Sub => apply(|a, b| a - b, |a, b| a - b),
        Two::Mul(ProductPart::Low) => apply(|a, b| a * b, |a, b| a * b),
        Two::Div => apply(|a, b| a / b, |a, b| a / b),
        Two::Min(how) => Some(extreme(ty, how, Ordering::Less, a, b)),
        Two::Max(how) => Some(extreme(ty, how, Ordering::Greater, a, b)),
        // The second operand, with the first one's sign.
        Two::Copysign => Some(low(b, n - 1) | (a & (1 << (n - 1)))),
        _ => None,
    }
}

/// Three operands: products and sums, fields of bits, bytes.
pub fn three(op: Three, ty: Type, a: u64, b: u64, c: u64) -> Option<u64> {
    if let Some(half) = ty.half() {
        return halves(half, [a, b, c], |[a, b, c]| three(op, half, a, b, c));
    }
    let n = ty.bits();
    Some(match op {
        Three::Fma { is_positive } => {
            let wide: fn([f64; 3]) -> f64 = match ty {
                Type::F16 | Type::BF16 => |[a, b, c]| fma(a, b, c),
                Type::F32 | Type::F64 => |[a, b, c]| a.mul_add(b, c),
                _ => return None,
            };
            let sum = floats(ty, [a, b, c], |[a, b, c]| a.mul_add(b, c), wide);
            match number(ty, sum) < 0.0 || sum == 1 << (n - 1) {
                true if is_positive => 0,
                _ => sum,
            }
        }
        Three::Mad(ProductPart::Wide) => {
            let product = two(Two::Mul(ProductPart::Wide), ty, a, b)?;
            low(product.wrapping_add(c), 2 * n)
        }
        Three::Mad(part) => {
            let product = two(Two::Mul(part), ty, a, b)?;
            low(product.wrapping_add(c), n)
        }
        Three::Min(how) => two(Two::Min(how), ty, two(Two::Min(how), ty, a, b)?, c)?,
        Three::Max(how) => two(Two::Max(how), ty, two(Two::Max(how), ty, a, b)?, c)?,
        Three::Bfe => field(ty, low(a, n), low(b, 8), low(c, 8)),
        Three::Prmt(how) => permuted(how, low(a, 32) | b << 32, c),
        Three::Shf { is_left, wraps } => {
            let joined = low(a, 32) | b << 32;
            let by = match wraps {
                true => low(c, 5),
                false => low(c, 32).min(32),
            };
            match is_left {
                true => low(((u128::from(joined) << by) >> 32) as u64, 32),
                false => low(joined >> by, 32),
            }
        }
    })
}

/// Bits from a place on; above the number there are copies of its sign.
fn field(ty: Type, a: u64, start: u64, length: u64) -> u64 {
    let n = ty.bits();
    let field = integer_of(ty, a) >> start.min(64);
    let length = length.min(64) as u32;
    let bits = low(field as u64, length);
    match ty {
        Type::S(_) if length > 0 => {
            // The sign is that of the field's last bit, or of the number's where the field ends
            // beyond it.
            let last = (start + u64::from(length) - 1).min(u64::from(n) - 1);
            let sign = a >> last & 1;
            let count = length.min((u64::from(n)).saturating_sub(start) as u32);
            match sign {
                1 => low(low(bits, count) | !low(u64::MAX, count), n),
                _ => low(bits, count),
            }
        }
        _ => low(bits, n),
    }
}

/// Four bytes of eight.
fn permuted(how: Bytes, all: u64, select: u64) -> u64 {
    let byte = |n: u64| all >> (8 * (n % 8)) & 0xff;
    let first = select % 4;
    let place = |n: u64| match how {
        Bytes::Any => select >> (4 * n) & 7,
        Bytes::Forward => first + n,
        Bytes::Backward => first.wrapping_sub(n) % 8,
        Bytes::Replicated => first,
        Bytes::Left => first.max(n),
        Bytes::Right => first.min(n),
        Bytes::Half => select % 2 * 2 + n % 2,
    };
    (0..4).fold(0, |found, n| {
        let chosen = byte(place(n));
        let is_sign = how == Bytes::Any && select >> (4 * n + 3) & 1 == 1;
        let chosen = match is_sign {
            true => (chosen >> 7) * 0xff,
            false => chosen,
        };
        found | chosen << (8 * n)
    })
}

/// Operands of which the first, and of a product the second one too, are of a narrower type.
pub fn mixed(op: Mixed, [ty, from]: [Type; 2], value: impl Fn(usize) -> u64) -> Option<u64> {
    let wide = |n: usize| nearest(ty, number(from, low(value(n), from.bits())));
    match op {
        Mixed::Add => two(Two::Add, ty, wide(1), value(2)),
        Mixed::Sub => two(Two::Sub, ty, wide(1), value(2)),
        Mixed::Fma => {
            let op = Three::Fma { is_positive: false };
            three(op, ty, wide(1), wide(2), value(3))
        }
    }
}

/// Four operands.
pub fn four(op: Four, ty: Type, [a, b, c, d]: [u64; 4]) -> Option<u64> {
    let n = ty.bits();
    Some(match op {
        // The lowest bits of `a` in the place of some of `b`.
        Four::Bfi => {
            let (start, length) = (low(c, 8), low(d, 8).min(64) as u32);
            let mask = u128::from(low(u64::MAX, length)) << start.min(64);
            let field = u128::from(low(a, length)) << start.min(64);
            low((u128::from(b) & !mask | field) as u64, n)
        }
        // One bit of `d` for what three bits of the others may be.
        Four::Lop3 => (0..n).fold(0, |found, place| {
            let bit = |value: u64| value >> place & 1;
            let row = bit(a) << 2 | bit(b) << 1 | bit(c);
            found | (d >> row & 1) << place
        }),
    })
}

/// Returns whether a comparison holds: for packed numbers, that of the lower ones and that of the upper.
pub fn compare(how: Compare, ty: Type, a: u64, b: u64) -> [bool; 2] {
    if let Some(half) = ty.half() {
        return [0, half.bits()].map(|shift| compare(how, half, a >> shift, b >> shift)[0]);
    }
    let n = ty.bits();
    let order = match ty.is_float() {
        true => number(ty, low(a, n)).partial_cmp(&number(ty, low(b, n))),
        false => Some(integer_of(ty, a).cmp(&integer_of(ty, b))),
    };
    let holds = match how {
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
    };
    [holds; 2]
}

/// Two truth values as one.
pub fn combined(how: Option<Logic>, a: bool, b: bool) -> bool {
    match how {
        None => a,
        Some(Logic::And) => a && b,
        Some(Logic::Or) => a || b,
        Some(Logic::Xor) => a != b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        let shr = |ty, a, b| two(Two::Shr, ty, a, b);
        assert_eq!(shr(Type::S(32), 0x8000_0000, 4), Some(0xf800_0000));
        assert_eq!(shr(Type::S(32), 0x8000_0000, 40), Some(0xffff_ffff));
        assert_eq!(shr(Type::U(64), 8, 64), Some(0));
        assert_eq!(two(Two::Shl, Type::B(32), 1, 32), Some(0));
        let mul = |part, ty, a, b| two(Two::Mul(part), ty, a, b);
        let wide = mul(ProductPart::Wide, Type::S(32), 0xffff_ffff, 3);
        assert_eq!(wide, Some(3u64.wrapping_neg()));
        assert_eq!(mul(ProductPart::High, Type::U(32), 1 << 31, 4), Some(2));
        let seven = low(7u64.wrapping_neg(), 32);
        assert_eq!(two(Two::Div, Type::S(32), seven, 2), Some(0xffff_fffd));
        assert_eq!(one(One::Clz, Type::B(32), 1), Some(31));
        assert_eq!(one(One::Brev, Type::B(32), 2), Some(1 << 30));
        let find = |ty, a, is_shift| one(One::Bfind { is_shift }, ty, a);
        assert_eq!(find(Type::S(32), 0xffff_fff0, false), Some(3));
        assert_eq!(find(Type::U(32), 0x10, true), Some(27));
        assert_eq!(find(Type::U(64), 0, false), Some(0xffff_ffff));
    }

    #[test]
    fn fields_of_bits() {
        let bfe = |ty, a, b, c| three(Three::Bfe, ty, a, b, c);
        assert_eq!(bfe(Type::U(32), 0xabcd, 4, 8), Some(0xbc));
        assert_eq!(bfe(Type::S(32), 0xabcd, 4, 8), Some(0xffff_ffbc));
        assert_eq!(bfe(Type::S(32), 0x8000_0000, 28, 8), Some(0xffff_fff8));
        assert_eq!(bfe(Type::S(32), 0x7000_0000, 28, 8), Some(7));
        assert_eq!(bfe(Type::U(32), 0xabcd, 40, 8), Some(0));
        let bfi = |a, b, c, d| four(Four::Bfi, Type::B(32), [a, b, c, d]);
        assert_eq!(bfi(0xff, 0, 8, 4), Some(0xf00));
        assert_eq!(bfi(0, 0xffff_ffff, 28, 8), Some(0x0fff_ffff));
        let majority = four(Four::Lop3, Type::B(32), [0b1100, 0b1010, 0b0110, 0xe8]);
        assert_eq!(majority, Some(0b1110));
        let shf = |is_left, wraps, by| {
            let op = Three::Shf { is_left, wraps };
            three(op, Type::B(32), 0x1234_5678, 0x9abc_def0, by)
        };
        assert_eq!(shf(true, true, 8), Some(0xbcde_f012));
        assert_eq!(shf(false, true, 40), Some(0xf012_3456));
        assert_eq!(shf(false, false, 40), Some(0x9abc_def0));
        assert_eq!(shf(true, false, 32), Some(0x1234_5678));
    }

    #[test]
    fn bytes() {
        let prmt = |how, select| {
            three(
                Three::Prmt(how),
                Type::B(32),
                0x8322_1100,
                0x7766_5544,
                select,
            )
        };
        assert_eq!(prmt(Bytes::Any, 0x7531), Some(0x7755_8311));
        // A byte's sign, eight times.
        assert_eq!(prmt(Bytes::Any, 0xb8b3), Some(0xff00_ff83));
        assert_eq!(prmt(Bytes::Forward, 3), Some(0x6655_4483));
        assert_eq!(prmt(Bytes::Backward, 1), Some(0x6677_0011));
        assert_eq!(prmt(Bytes::Replicated, 2), Some(0x2222_2222));
        assert_eq!(prmt(Bytes::Left, 2), Some(0x8322_2222));
        assert_eq!(prmt(Bytes::Right, 1), Some(0x1111_1100));
        assert_eq!(prmt(Bytes::Half, 1), Some(0x8322_8322));
    }

    #[test]
    fn packed_numbers() {
        // 1, -2 and 3, 0.5, of half precision.
        let (a, b) = (0xc000_3c00, 0x3800_4200);
        assert_eq!(two(Two::Add, Type::F16x2, a, b), Some(0xbe00_4400));
        let (mul, least) = (Two::Mul(ProductPart::Low), Two::Min(Extreme::Plain));
        assert_eq!(two(mul, Type::F16x2, a, b), Some(0xbc00_4200));
        assert_eq!(two(least, Type::F16x2, a, b), Some(0xc000_3c00));
        let fma = |is_positive| Three::Fma { is_positive };
        assert_eq!(three(fma(false), Type::F16x2, a, b, 0), Some(0xbc00_4200));
        assert_eq!(three(fma(true), Type::F16x2, a, b, 0), Some(0x4200));
        assert_eq!(one(One::Neg, Type::BF16x2, 0x3f80_bf80), Some(0xbf80_3f80));
        assert_eq!(
            two(Two::Add, Type::BF16x2, 0x3f80_3f80, 0x3f80_4000),
            Some(0x4000_4040)
        );
        let pair = |a: f32, b: f32| u64::from(a.to_bits()) | u64::from(b.to_bits()) << 32;
        let sum = two(Two::Add, Type::F32x2, pair(1.0, 2.0), pair(0.5, -1.0));
        assert_eq!(sum, Some(pair(1.5, 1.0)));
        let half = |op| {
            mixed(op, [Type::F32, Type::F16], |n| {
                [0, 0x3c00, 0x3f80_0000][n.min(2)]
            })
        };
        assert_eq!(half(Mixed::Add), Some(0x4000_0000));
        assert_eq!(half(Mixed::Sub), Some(0));
        // No carry goes from one to the other.
        assert_eq!(
            two(Two::Add, Type::U16x2, 0x0001_ffff, 1),
            Some(0x0001_0000)
        );
        assert_eq!(two(least, Type::S16x2, 0x0001_ffff, 0), Some(0x0000_ffff));
        assert_eq!(two(least, Type::U16x2, 0x0001_ffff, 0), Some(0));
        let relu = Two::Max(Extreme::Relu);
        assert_eq!(two(relu, Type::S16x2, 0xfffe_0001, 0xffff_0000), Some(1));
        let less = Compare::parse("lt").unwrap();
        assert_eq!(compare(less, Type::F16x2, a, b), [true, true]);
        assert_eq!(compare(less, Type::F16x2, b, a), [false, false]);
        assert_eq!(
            compare(less, Type::F16x2, 0x3c00_0000, 0x0000_3c00),
            [true, false]
        );
    }

    #[test]
    fn nan_and_zeros() {
        let [nan, one, zero, negative] = [f32::NAN, 1.0, 0.0, -0.0].map(|v| u64::from(v.to_bits()));
        let max = |how, a, b| two(Two::Max(how), Type::F32, a, b);
        assert_eq!(max(Extreme::Plain, nan, one), Some(one));
        assert_eq!(max(Extreme::Nan, nan, one), Some(0x7fff_ffff));
        assert_eq!(max(Extreme::Plain, negative, zero), Some(zero));
        let least = two(Two::Min(Extreme::Plain), Type::F32, zero, negative);
        assert_eq!(least, Some(negative));
        let holds = |name, a, b| compare(Compare::parse(name).unwrap(), Type::F32, a, b)[0];
        assert!(holds("neu", nan, one) && !holds("ne", nan, one) && holds("nan", nan, one));
        assert!(holds("eq", zero, negative) && !holds("equ", zero, one));
        let is = |class, a| super::one(One::Testp(class), Type::F32, a) == Some(1);
        assert!(is(Class::Nan, nan) && is(Class::Normal, one) && !is(Class::Normal, zero));
        assert!(is(Class::Subnormal, 1) && !is(Class::Subnormal, zero) && is(Class::Finite, 1));
    }
}
