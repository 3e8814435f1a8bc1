//! `log` and the functions made of it.
//!
//! `x = 2^e (1 + f)` with `1 + f` between the roots of 1/2 and 2, and
//! `log (1 + f) = f - (f^2 / 2 - s (f^2 / 2 + R))` with `s = f / (2 + f)` and `R = s^2 P(s^2)`:
//! the series of `2 artanh s`, without its first term, which `f` is near.

use mdh_algebra::op::CmpfPredicate;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::code::{Code, Either};
use super::exponential::{LN_2, keep_tiny};
use super::pair::Pair;

/// `(2 artanh s - 2 s) / s^3` by `s^2 <= 0.0295`: minimax for the error of the logarithm relative
/// to it, 2^-30 and 2^-59.
const REST: Either<&[f64]> = Either(
    &[0.2987305819988251, 0.399774968624115, 0.6666677594184875],
    &[
        0.14797382059008884,
        0.15313919071554621,
        0.18183568989761217,
        0.22222198492822207,
        0.28571428743079585,
        0.39999999999411967,
        0.6666666666666735,
    ],
);
/// `log2 e` in two parts.
const LOG2_E: Either<[f64; 2]> = Either(
    [1.4426950216293335, 1.925963033500011e-08],
    [std::f64::consts::LOG2_E, 2.0355273740931033e-17],
);
/// `log10 e` in two parts.
const LOG10_E: Either<[f64; 2]> = Either(
    [0.4342944920063019, -1.0103049952192578e-08],
    [std::f64::consts::LOG10_E, 1.098319650216765e-17],
);
/// `log10 2` in two parts; the first one times an exponent is exact.
const LOG10_2: Either<[f64; 2]> = Either(
    [0.301025390625, 4.605039066518657e-06],
    [0.30102999566395283, 2.8363394551044964e-14],
);

/// `(2 artanh s - 2 s - 2/3 s^3) / s^5` by `s^2 <= 0.0295`: minimax for the error of the logarithm
/// relative to it, 2^-73. For pairs of `f64`.
const REST_OF_PAIR: &[f64] = &[
    0.11990419822849963,
    0.11674650010217397,
    0.1333632569745649,
    0.15384556656486179,
    0.18181818873447153,
    0.2222222221751106,
    0.2857142857144522,
    0.3999999999999998,
];
/// `ln 2` in two parts, as near as a pair can be.
const LN_2_PAIR: [f64; 2] = [std::f64::consts::LN_2, 2.3190468138462996e-17];
/// `2/3` in two parts.
const TWO_THIRDS: [f64; 2] = [0.6666666666666666, 3.700743415417188e-17];

/// `2^e m` with `m` between the roots of 1/2 and 2; `e` as an integer too.
pub struct Float<'c> {
    /// The exponent as a float.
    pub e: Val<'c>,
    /// The exponent as an integer.
    exponent: Val<'c>,
    /// The factor.
    pub m: Val<'c>,
}

/// Takes a positive normal number apart.
fn split_float<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Float<'c> {
    let bits = code.bits_of(x);
    let root = code.integer(code.pick(Either(0x3f35_04f3, 0x3fe6_a09e_667f_3bcd)));
    let width = code.integer(code.fraction());
    let above = code.op(ops::arith::SUBI, &[bits, root]);
    let exponent = code.op(ops::arith::SHRSI, &[above, width]);
    let moved = code.op(ops::arith::SHLI, &[exponent, width]);
    let rest = code.op(ops::arith::SUBI, &[bits, moved]);
    let (e, m) = (code.float_of(exponent), code.float_of_bits(rest));
    Float { e, exponent, m }
}

/// Takes a positive number apart; denormal numbers are made normal first.
pub fn apart_from_any<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Float<'c> {
    let least = code.pick(Either(2f64.powi(-126), 2f64.powi(-1022)));
    let digits = code.fraction() as i32 + 1;
    let is_small = code.less(x, least);
    let factor = code.number(2f64.powi(digits));
    let larger = code.mul(x, factor);
    let normal = code.select(is_small, larger, x);
    let Float { e, exponent, m } = split_float(code, normal);
    let digits = code.number(f64::from(digits));
    let less = code.sub(e, digits);
    let e = code.select(is_small, less, e);
    Float { e, exponent, m }
}

/// `e` and `m - 1`.
fn reduced<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> (Val<'c>, Val<'c>) {
    let Float { e, m, .. } = apart_from_any(code, x);
    let unit = code.number(1.0);
    (e, code.sub(m, unit))
}

/// `f^2 / 2` and `s (f^2 / 2 + R)`.
fn terms<'c>(code: &mut Code<'c, '_>, f: Val<'c>) -> (Val<'c>, Val<'c>) {
    let two = code.number(2.0);
    let below = code.add(two, f);
    let s = code.div(f, below);
    let z = code.mul(s, s);
    let p = code.polynomial(z, code.pick(REST));
    let half = code.number(0.5);
    let half_f = code.mul(half, f);
    let square = code.mul(half_f, f);
    let sum = code.fma(z, p, square);
    (square, code.mul(s, sum))
}

/// `log (1 + f)`.
fn near_one<'c>(code: &mut Code<'c, '_>, f: Val<'c>) -> Val<'c> {
    let (square, rest) = terms(code, f);
    let less = code.sub(square, rest);
    code.sub(f, less)
}

/// `e ln 2 + log (1 + f)`.
fn natural<'c>(code: &mut Code<'c, '_>, e: Val<'c>, f: Val<'c>) -> Val<'c> {
    let (square, rest) = terms(code, f);
    let [high, low] = code.pick(LN_2);
    let rest = code.fma_by(e, low, rest);
    let less = code.sub(square, rest);
    let sum = code.sub(f, less);
    code.fma_by(e, high, sum)
}

/// The results for what is not a positive number, and infinity.
fn exceptions<'c>(code: &mut Code<'c, '_>, x: Val<'c>, y: Val<'c>, zero: f64) -> Val<'c> {
    let is_number = code.less(x, f64::INFINITY);
    let y = code.select(is_number, y, x);
    let is_zero = code.equals(x, zero);
    let least = code.number(f64::NEG_INFINITY);
    let y = code.select(is_zero, least, y);
    let is_less = code.less(x, zero);
    let nan = code.number(f64::NAN);
    code.select(is_less, nan, y)
}

/// The natural logarithm.
pub fn log<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let (e, f) = reduced(code, x);
    let y = natural(code, e, f);
    exceptions(code, x, y, 0.0)
}

/// The logarithm to base 2.
pub fn log2<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let (e, f) = reduced(code, x);
    let l = near_one(code, f);
    let [high, low] = code.pick(LOG2_E);
    let rest = code.fma_by(l, low, e);
    let y = code.fma_by(l, high, rest);
    exceptions(code, x, y, 0.0)
}

/// The logarithm to base 10.
pub fn log10<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let (e, f) = reduced(code, x);
    let l = near_one(code, f);
    let ([high, low], [two_high, two_low]) = (code.pick(LOG10_E), code.pick(LOG10_2));
    let low = code.number(low);
    let rest = code.mul(l, low);
    let rest = code.fma_by(e, two_low, rest);
    let rest = code.fma_by(l, high, rest);
    let y = code.fma_by(e, two_high, rest);
    exceptions(code, x, y, 0.0)
}

/// `log (1 + x)`: with the exponent of the rounded `1 + x`, but `f` from `x` itself.
pub fn log1p<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let unit = code.number(1.0);
    let u = code.add(unit, x);
    let Float { e, exponent, m } = split_float(code, u);
    let zero = code.integer(0);
    let opposite = code.op(ops::arith::SUBI, &[zero, exponent]);
    let power = code.power_of_two(opposite);
    let rest = code.sub(power, unit);
    let f = code.fma(x, power, rest);
    // Of what is large, 1 is lost anyway.
    let large = code.number(2f64.powi(code.fraction() as i32 + 2));
    let is_large = code.compare(CmpfPredicate::Ogt, x, large);
    let without = code.sub(m, unit);
    let f = code.select(is_large, without, f);
    let y = natural(code, e, f);
    let y = keep_tiny(code, x, y);
    exceptions(code, x, y, -1.0)
}

/// The natural logarithm of a number that is not negative, in `f64`:
/// `e ln 2 + 2 s + 2/3 s^3 + s^5 P(s^2)` with `s = (m - 1) / (m + 1)`. That of 0 and of infinity is
/// infinite, with any second part.
pub fn log_pair<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Pair<'c> {
    let Float { e, m, .. } = apart_from_any(code, x);
    let unit = code.number(1.0);
    let f = code.sub(m, unit);
    let below = code.two_sum(m, unit);
    let high = code.div(f, below.high);
    let opposite = code.op(ops::arith::NEGF, &[high]);
    let rest = code.fma(opposite, below.high, f);
    let rest = code.fma(opposite, below.low, rest);
    let low = code.div(rest, below.high);
    let s = Pair { high, low };
    let z = code.pair_product(s, s);
    let cube = code.pair_product(z, s);
    let two_thirds = code.pair(TWO_THIRDS);
    let second = code.pair_product(cube, two_thirds);
    let fifth = code.mul(cube.high, z.high);
    let p = code.polynomial(z.high, REST_OF_PAIR);
    let zero = code.number(0.0);
    let of_exponent = Pair { high: e, low: zero };
    let ln_2 = code.pair(LN_2_PAIR);
    let of_exponent = code.pair_product(of_exponent, ln_2);
    let twice = Pair {
        high: code.add(high, high),
        low: code.add(low, low),
    };
    let sum = code.pair_sum(of_exponent, twice);
    let sum = code.pair_sum(sum, second);
    let low = code.fma(fifth, p, sum.low);
    let sum = code.ordered_sum(sum.high, low);
    let high = exceptions(code, x, sum.high, 0.0);
    Pair { high, low: sum.low }
}

/// `log (1 + z)`, or where `z` is so large that its square may overflow `log (2 z)`.
fn log1p_or_twice<'c>(code: &mut Code<'c, '_>, is_large: Val<'c>, z: Val<'c>) -> Val<'c> {
    let y = log1p(code, z);
    let ln_2 = code.number(std::f64::consts::LN_2);
    let twice = code.add(y, ln_2);
    code.select(is_large, twice, y)
}

/// Above this, `1 + x^2` is `x^2`, which does not overflow up to here.
const LARGE: Either<f64> = Either((1u64 << 30) as f64, (1u64 << 60) as f64);

/// `asinh x = log (1 + (x + x^2 / (1 + sqrt (1 + x^2))))`, for `|x|`.
pub fn asinh<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let is_large = code.greater(size, code.pick(LARGE));
    let unit = code.number(1.0);
    let square = code.mul(size, size);
    let more = code.add(unit, square);
    let root = code.op(ops::math::SQRT, &[more]);
    let below = code.add(unit, root);
    let quotient = code.div(square, below);
    let z = code.add(size, quotient);
    let z = code.select(is_large, size, z);
    let y = log1p_or_twice(code, is_large, z);
    code.copysign(y, x)
}

/// `acosh x = log (1 + (t + sqrt (2 t + t^2)))` with `t = x - 1`; NaN below 1.
pub fn acosh<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let is_large = code.greater(x, code.pick(LARGE));
    let unit = code.number(1.0);
    let t = code.sub(x, unit);
    let twice = code.add(t, t);
    let square = code.fma(t, t, twice);
    let root = code.op(ops::math::SQRT, &[square]);
    let z = code.add(t, root);
    let z = code.select(is_large, x, z);
    let y = log1p_or_twice(code, is_large, z);
    let is_less = code.less(x, 1.0);
    let nan = code.number(f64::NAN);
    code.select(is_less, nan, y)
}

/// `atanh x = log (1 + 2 x / (1 - x)) / 2`, for `|x|`; below 1/2 the quotient is
/// `2 x + 2 x x / (1 - x)`, which is nearer to it.
pub fn atanh<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let unit = code.number(1.0);
    let (twice, less) = (code.add(size, size), code.sub(unit, size));
    let is_little = code.less(size, 0.5);
    let above = code.select(is_little, size, twice);
    let quotient = code.div(above, less);
    let little = code.fma(twice, quotient, twice);
    let z = code.select(is_little, little, quotient);
    let y = log1p(code, z);
    let half = code.number(0.5);
    let y = code.mul(y, half);
    let y = keep_tiny(code, size, y);
    code.copysign(y, x)
}
