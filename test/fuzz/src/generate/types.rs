//! Element types and values.

use mdh_algebra::random::Random;
use mdh_algebra::scalar::{Scalar, ScalarType};

use crate::choices::Choices;

use ScalarType::*;

/// All types, the simplest first, and how often they are chosen.
const TYPES: [ScalarType; 10] = [I64, F32, I32, F64, F16, I8, BF16, I16, Index, I1];
const WEIGHTS: [u64; 10] = [14, 20, 14, 14, 9, 8, 7, 6, 6, 5];

/// Any type.
pub fn any(c: &mut Choices, name: &str) -> ScalarType {
    TYPES[c.weighted(name, &WEIGHTS)]
}

/// A type that a value of this one may be stored as.
pub fn stored(c: &mut Choices, ty: ScalarType) -> ScalarType {
    if !c.chance("convert", 35) {
        return ty;
    }
    let alike: Vec<_> = TYPES
        .into_iter()
        .filter(|t| t.is_float() == ty.is_float())
        .collect();
    c.pick("stored", &alike)
}

/// An integer type that has signed numbers of some size.
pub fn integer(c: &mut Choices, name: &str) -> ScalarType {
    c.pick(name, &[I64, I32, I8, I16, Index])
}

/// A float type.
pub fn float(c: &mut Choices, name: &str) -> ScalarType {
    c.pick(name, &[F32, F64, F16, BF16])
}

/// A small number of any type.
pub fn constant(c: &mut Choices, ty: ScalarType) -> Scalar {
    let number = c.below("value", 15) as i64;
    let number = if number > 7 { 7 - number } else { number };
    match ty.is_float() {
        true => Scalar::from_f64(ty, number as f64 / 2.0),
        false => Scalar::from_i64(ty, number),
    }
}

/// Contents of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Numbers near 0, as `--random` makes them.
    Plain,
    /// Also the ends of the types' ranges, denormals, infinities and NaN.
    Special,
}

/// `count` elements.
pub fn elements(ty: ScalarType, count: i64, seed: u64, contents: Contents) -> Vec<Scalar> {
    let mut random = Random::new(seed);
    (0..count)
        .map(
            |_| match contents == Contents::Special && random.below(4) == 0 {
                true => special(&mut random, ty),
                false => plain(&mut random, ty),
            },
        )
        .collect()
}

fn plain(random: &mut Random, ty: ScalarType) -> Scalar {
    match ty.is_float() {
        true => Scalar::from_f64(ty, random.signed_unit()),
        false => Scalar::from_i64(ty, random.below(16) as i64 - 8),
    }
}

fn special(random: &mut Random, ty: ScalarType) -> Scalar {
    if !ty.is_float() {
        let largest = ty.mask() >> 1;
        let bits = [0, 1, largest, largest + 1, u64::MAX, random.bits()];
        return Scalar::from_bits(ty, bits[random.below(6) as usize]);
    }
    let values = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        ty.max_finite(),
        -ty.max_finite(),
        ty.min_denormal(),
        -3.0 * ty.min_denormal(),
        1.0 + ty.epsilon(),
    ];
    Scalar::from_f64(ty, values[random.below(values.len() as u64) as usize])
}
