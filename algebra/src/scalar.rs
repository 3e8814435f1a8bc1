//! Scalar types and values.
//!
//! A [`Scalar`] is a bit pattern with its type, so that NaN payloads and signed zeros survive.
//! Conversions round to nearest even and wrap integers, as arith's do.

use std::cmp::Ordering;
use std::fmt;

use half::{bf16, f16};

/// The element types of inputs, tuples and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// One bit.
    I1,
    /// 8-bit integer, signless.
    I8,
    /// 16-bit integer, signless.
    I16,
    /// 32-bit integer, signless.
    I32,
    /// 64-bit integer, signless.
    I64,
    /// An index: 64 bits here.
    Index,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl ScalarType {
    /// All of them.
    pub const ALL: [ScalarType; 10] = [
        ScalarType::I1,
        ScalarType::I8,
        ScalarType::I16,
        ScalarType::I32,
        ScalarType::I64,
        ScalarType::Index,
        ScalarType::F16,
        ScalarType::BF16,
        ScalarType::F32,
        ScalarType::F64,
    ];

    /// The type of that MLIR name (`f32`, `index`, ...).
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// Its MLIR name.
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::I1 => "i1",
            ScalarType::I8 => "i8",
            ScalarType::I16 => "i16",
            ScalarType::I32 => "i32",
            ScalarType::I64 => "i64",
            ScalarType::Index => "index",
            ScalarType::F16 => "f16",
            ScalarType::BF16 => "bf16",
            ScalarType::F32 => "f32",
            ScalarType::F64 => "f64",
        }
    }

    /// The names of all, in one line of text.
    pub fn names() -> String {
        Self::ALL.map(ScalarType::name).join(", ")
    }

    /// Returns whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            ScalarType::F16 | ScalarType::BF16 | ScalarType::F32 | ScalarType::F64
        )
    }

    /// Returns whether it is an integer type, `i1` and `index` included.
    pub fn is_integer(self) -> bool {
        !self.is_float()
    }

    /// Its size in bits (`index`: 64).
    pub fn bit_width(self) -> u32 {
        match self {
            ScalarType::I1 => 1,
            ScalarType::I8 => 8,
            ScalarType::I16 | ScalarType::F16 | ScalarType::BF16 => 16,
            ScalarType::I32 | ScalarType::F32 => 32,
            ScalarType::I64 | ScalarType::Index | ScalarType::F64 => 64,
        }
    }

    /// Its size in memory, in bytes (`i1`: 1).
    pub fn byte_width(self) -> usize {
        self.bit_width().div_ceil(8) as usize
    }

    /// The bits that a value of this type may set.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bit_width())
    }

    /// Bits of precision of a float, the hidden one included; `None` for integers.
    pub fn precision(self) -> Option<i32> {
        match self {
            ScalarType::F16 => Some(11),
            ScalarType::BF16 => Some(8),
            ScalarType::F32 => Some(24),
            ScalarType::F64 => Some(53),
            _ => None,
        }
    }

    /// Distance from 1 to the next float above (2^(1-precision)); 0 for integers.
    pub fn epsilon(self) -> f64 {
        self.precision().map_or(0.0, |p| 2f64.powi(1 - p))
    }

    /// The largest finite float; infinity for integers.
    pub fn max_finite(self) -> f64 {
        match self {
            ScalarType::F16 => f16::MAX.to_f64(),
            ScalarType::BF16 => bf16::MAX.to_f64(),
            ScalarType::F32 => f64::from(f32::MAX),
            ScalarType::F64 => f64::MAX,
            _ => f64::INFINITY,
        }
    }

    /// The smallest positive float, a denormal; 0 for integers.
    pub fn min_denormal(self) -> f64 {
        match self {
            ScalarType::F16 => 2f64.powi(-24),
            ScalarType::BF16 => 2f64.powi(-133),
            ScalarType::F32 => 2f64.powi(-149),
            ScalarType::F64 => f64::from_bits(1),
            _ => 0.0,
        }
    }

    /// Distance between floats of this type around `value`; 0 for integers, infinities and NaN.
    pub fn ulp(self, value: f64) -> f64 {
        if self.is_integer() || !value.is_finite() {
            return 0.0;
        }
        // The exponent of `value`: its bits are read, since `log2` rounds up just below powers.
        let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(-1022);
        let ulp = 2f64.powi(exponent) * self.epsilon();
        ulp.max(self.min_denormal())
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value of a scalar type, as its bit pattern (upper bits zero).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// Its type.
    pub ty: ScalarType,
    /// Its bits.
    pub bits: u64,
}

impl Scalar {
    /// The value with these bits; those the type has not are dropped.
    pub fn from_bits(ty: ScalarType, bits: u64) -> Self {
        Scalar {
            ty,
            bits: bits & ty.mask(),
        }
    }

    /// Zero (`+0.0`).
    pub fn zero(ty: ScalarType) -> Self {
        Scalar { ty, bits: 0 }
    }

    /// A truth value.
    pub fn from_bool(value: bool) -> Self {
        Scalar {
            ty: ScalarType::I1,
            bits: u64::from(value),
        }
    }

    /// Rounded to nearest even; for an integer type, towards zero, out of range values clamped
    /// and NaN as zero.
    #[inline]
    pub fn from_f64(ty: ScalarType, value: f64) -> Self {
        let bits = match ty {
            ScalarType::F64 => value.to_bits(),
            ScalarType::F32 => u64::from((value as f32).to_bits()),
            ScalarType::F16 => u64::from(f16::from_f32(f32_to_odd(value)).to_bits()),
            ScalarType::BF16 => u64::from(bf16::from_f32(f32_to_odd(value)).to_bits()),
            ScalarType::I1 => u64::from(value != 0.0),
            ScalarType::I8 => value as i8 as u64,
            ScalarType::I16 => value as i16 as u64,
            ScalarType::I32 => value as i32 as u64,
            ScalarType::I64 | ScalarType::Index => value as i64 as u64,
        };
        Scalar::from_bits(ty, bits)
    }

    /// From `f32`, rounded to nearest even for the 16-bit floats.
    #[inline]
    pub(crate) fn from_f32(ty: ScalarType, value: f32) -> Self {
        let bits = match ty {
            ScalarType::F32 => u64::from(value.to_bits()),
            ScalarType::F16 => u64::from(f16::from_f32(value).to_bits()),
            ScalarType::BF16 => u64::from(bf16::from_f32(value).to_bits()),
            _ => return Scalar::from_f64(ty, f64::from(value)),
        };
        Scalar { ty, bits }
    }

    /// Integers wrap; floats are rounded once, to nearest even.
    #[inline]
    pub fn from_i64(ty: ScalarType, value: i64) -> Self {
        match ty {
            ScalarType::F64 => Scalar::from_f64(ty, value as f64),
            ScalarType::F32 => Scalar::from_f32(ty, value as f32),
            ScalarType::F16 | ScalarType::BF16 => {
                Scalar::from_f64(ty, integer_to_odd(i128::from(value)))
            }
            _ => Scalar::from_bits(ty, value as u64),
        }
    }

    /// As [`Scalar::from_i64`], of an unsigned value.
    #[inline]
    pub fn from_u64(ty: ScalarType, value: u64) -> Self {
        match ty {
            ScalarType::F64 => Scalar::from_f64(ty, value as f64),
            ScalarType::F32 => Scalar::from_f32(ty, value as f32),
            ScalarType::F16 | ScalarType::BF16 => {
                Scalar::from_f64(ty, integer_to_odd(i128::from(value)))
            }
            _ => Scalar::from_bits(ty, value),
        }
    }

    /// The value as `f64`: exact for floats; integers are signed (`i1`: 0 or 1) and rounded.
    #[inline]
    pub fn as_f64(self) -> f64 {
        match self.ty {
            ScalarType::F64 => f64::from_bits(self.bits),
            ScalarType::F32 => f64::from(f32::from_bits(self.bits as u32)),
            ScalarType::F16 => f16::from_bits(self.bits as u16).to_f64(),
            ScalarType::BF16 => bf16::from_bits(self.bits as u16).to_f64(),
            ScalarType::I1 => self.bits as f64,
            _ => self.as_i64() as f64,
        }
    }

    /// As `f32`, exact but for `f64`, which is rounded.
    #[inline]
    pub(crate) fn as_f32(self) -> f32 {
        match self.ty {
            ScalarType::F32 => f32::from_bits(self.bits as u32),
            ScalarType::F16 => f16::from_bits(self.bits as u16).to_f32(),
            ScalarType::BF16 => bf16::from_bits(self.bits as u16).to_f32(),
            _ => self.as_f64() as f32,
        }
    }

    /// An integer's value, sign extended (`i1` true is -1); a float's, truncated and clamped.
    #[inline]
    pub fn as_i64(self) -> i64 {
        match self.ty {
            ScalarType::I64 | ScalarType::Index => self.bits as i64,
            ScalarType::I32 => i64::from(self.bits as i32),
            ScalarType::I16 => i64::from(self.bits as i16),
            ScalarType::I8 => i64::from(self.bits as i8),
            ScalarType::I1 => -(self.bits as i64),
            _ => self.as_f64() as i64,
        }
    }

    /// An integer's value, zero extended; a float's, truncated and clamped.
    #[inline]
    pub fn as_u64(self) -> u64 {
        if self.ty.is_integer() {
            self.bits
        } else {
            self.as_f64() as u64
        }
    }

    /// Returns whether any bit is set: the truth of an `i1`.
    #[inline]
    pub fn is_true(self) -> bool {
        self.bits != 0
    }

    /// Returns whether a float is a number of a narrower type.
    pub fn is_one_of(self, ty: ScalarType) -> bool {
        self.is_nan() || Scalar::from_f64(ty, self.as_f64()).as_f64() == self.as_f64()
    }

    /// Returns whether it is a float that is not a number.
    pub fn is_nan(self) -> bool {
        self.ty.is_float() && self.as_f64().is_nan()
    }

    /// Order by value, integers as signed; `None` if either is NaN or the types differ.
    pub fn compare(self, other: Scalar) -> Option<Ordering> {
        if self.ty != other.ty {
            None
        } else if self.ty.is_float() {
            self.as_f64().partial_cmp(&other.as_f64())
        } else {
            Some(self.as_i64().cmp(&other.as_i64()))
        }
    }

    /// Equal as results are compared: same type and value, NaN equals NaN, `-0.0` equals `0.0`.
    pub fn same_value(self, other: Scalar) -> bool {
        self == other
            || (self.ty == other.ty && self.is_nan() && other.is_nan())
            || self.compare(other) == Some(Ordering::Equal)
    }

    /// Reads a value from its little-endian bytes in memory; `None` if there are too few.
    pub fn from_bytes(ty: ScalarType, bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..ty.byte_width())?;
        let mut wide = [0u8; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        Some(Scalar::from_bits(ty, u64::from_le_bytes(wide)))
    }

    /// Its little-endian bytes in memory: the first [`ScalarType::byte_width`] of these.
    pub fn to_bytes(self) -> [u8; 8] {
        self.bits.to_le_bytes()
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            ScalarType::I1 => write!(f, "{}", self.is_true()),
            ScalarType::F64 => write!(f, "{:?}", self.as_f64()),
            // Printed in its own type, the shortest text that reads back is short.
            ScalarType::F32 | ScalarType::F16 | ScalarType::BF16 => {
                write!(f, "{:?}", self.as_f32())
            }
            _ => write!(f, "{}", self.as_i64()),
        }
    }
}

/// `nearest + rest` in `f64`, rounded to odd, where `nearest` is what it rounds to and `rest` has
/// the sign of the difference.
pub(crate) fn f64_to_odd(nearest: f64, rest: f64) -> f64 {
    let is_exact = rest == 0.0 || rest.is_nan() || !nearest.is_finite();
    let bits = nearest.to_bits();
    if is_exact || bits & 1 == 1 {
        return nearest;
    }
    // Away from zero if what is left points there.
    match (rest > 0.0) == (nearest > 0.0) {
        true => f64::from_bits(bits + 1),
        false => f64::from_bits(bits - 1),
    }
}

/// An integer of up to 64 bits in `f64`, rounded to odd.
fn integer_to_odd(value: i128) -> f64 {
    let nearest = value as f64;
    f64_to_odd(nearest, (value - nearest as i128) as f64)
}

/// `value` in `f32`, rounded to odd: a second rounding to 16 bits then gives what rounding once
/// would (Boldo and Melquiond, "When double rounding is odd").
fn f32_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || !value.is_finite() || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    if nearest.is_infinite() {
        return nearest;
    }
    // The nearest one is even and inexact: its neighbour on the other side of `value` is odd.
    let towards_zero = back.abs() > value.abs();
    let bits = nearest.to_bits();
    if towards_zero {
        f32::from_bits(bits - 1)
    } else {
        f32::from_bits(bits + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for ty in ScalarType::ALL {
            assert_eq!(ScalarType::parse(ty.name()), Some(ty));
        }
        assert_eq!(ScalarType::parse("i7"), None);
    }

    #[test]
    fn integers_wrap_and_extend() {
        let x = Scalar::from_i64(ScalarType::I8, 300);
        assert_eq!((x.as_i64(), x.bits), (44, 44));
        let y = Scalar::from_i64(ScalarType::I8, -1);
        assert_eq!((y.as_i64(), y.as_u64()), (-1, 255));
        assert_eq!(Scalar::from_bool(true).as_i64(), -1);
        assert_eq!(
            Scalar::from_u64(ScalarType::F64, u64::MAX).as_f64(),
            2f64.powi(64)
        );
    }

    #[test]
    fn sixteen_bit_floats_are_rounded_once() {
        // Just above the midpoint of 1 and its successor: f32 would round to the midpoint, which
        // then goes to even, that is to 1.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        let x = Scalar::from_f64(ScalarType::F16, above);
        assert_eq!(x.as_f64(), 1.0 + 2f64.powi(-10));
        let tie = Scalar::from_f64(ScalarType::F16, 1.0 + 2f64.powi(-11));
        assert_eq!(tie.as_f64(), 1.0);
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        let x = Scalar::from_f64(ScalarType::BF16, above);
        assert_eq!(x.as_f64(), 1.0 + 2f64.powi(-7));
    }

    /// Against the definition: of the two neighbours the nearer one, of two as near the even one.
    #[test]
    fn integers_are_rounded_once() {
        for exponent in [9, 20, 24, 31, 40, 53, 60, 62] {
            for mantissa in 128..256u64 {
                let (low, ulp) = (mantissa << (exponent - 7), 1u64 << (exponent - 7));
                for off in [-1i64, 0, 1] {
                    let value = low + ulp / 2;
                    let value = value.wrapping_add_signed(off);
                    let up = off > 0 || (off == 0 && mantissa % 2 == 1);
                    let expected = (low + if up { ulp } else { 0 }) as f64;
                    if ulp < 4 {
                        continue;
                    }
                    let unsigned = Scalar::from_u64(ScalarType::BF16, value);
                    let positive = Scalar::from_i64(ScalarType::BF16, value as i64);
                    let negative = Scalar::from_i64(ScalarType::BF16, -(value as i64));
                    assert_eq!(unsigned.as_f64(), expected, "{value}");
                    assert_eq!(positive.as_f64(), expected, "{value}");
                    assert_eq!(negative.as_f64(), -expected, "{value}");
                }
            }
        }
        let half = |value| Scalar::from_i64(ScalarType::F16, value).as_f64();
        assert_eq!(
            (half(2049), half(2051), half(65520)),
            (2048.0, 2052.0, f64::INFINITY)
        );
    }

    #[test]
    fn every_half_survives() {
        for bits in 0..=u64::from(u16::MAX) {
            for ty in [ScalarType::F16, ScalarType::BF16] {
                let x = Scalar::from_bits(ty, bits);
                let back = Scalar::from_f64(ty, x.as_f64());
                assert!(back == x || (x.is_nan() && back.is_nan()), "{ty} {bits:#x}");
            }
        }
    }

    #[test]
    fn ulps() {
        assert_eq!(ScalarType::F32.ulp(1.0), 2f64.powi(-23));
        assert_eq!(ScalarType::F32.ulp(0.0), 2f64.powi(-149));
        assert_eq!(ScalarType::F64.ulp(3.0), 2f64.powi(-51));
        assert_eq!(ScalarType::F16.ulp(1e-9), 2f64.powi(-24));
        assert_eq!(ScalarType::F64.ulp(0.0), f64::from_bits(1));
    }

    #[test]
    fn comparison_knows_nan_and_zero() {
        let nan = Scalar::from_f64(ScalarType::F32, f64::NAN);
        let zero = Scalar::zero(ScalarType::F32);
        let minus = Scalar::from_f64(ScalarType::F32, -0.0);
        assert!(nan.same_value(nan) && zero.same_value(minus) && !nan.same_value(zero));
        assert_eq!(nan.compare(zero), None);
        assert_eq!(zero.compare(minus), Some(Ordering::Equal));
    }

    #[test]
    fn bytes_round_trip() {
        let x = Scalar::from_f64(ScalarType::F32, -1.5);
        assert_eq!(Scalar::from_bytes(ScalarType::F32, &x.to_bytes()), Some(x));
        assert_eq!(Scalar::from_bytes(ScalarType::F64, &[0; 7]), None);
    }

    #[test]
    fn display() {
        assert_eq!(
            Scalar::from_f64(ScalarType::F32, 0.1f32.into()).to_string(),
            "0.1"
        );
        assert_eq!(Scalar::from_i64(ScalarType::I8, -3).to_string(), "-3");
        assert_eq!(Scalar::from_bool(true).to_string(), "true");
    }
}
