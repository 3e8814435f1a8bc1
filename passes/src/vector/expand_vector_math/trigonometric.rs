//! `sin`, `cos` and `tan`; `atan2`, and `atan`, `asin` and `acos`.
//!
//! `|x| = n pi/2 + r` with `|r| <= pi/4` ([`super::reduction`]), and polynomials for the sine and the
//! cosine of `r`.

use mdh_algebra::op::CmpfPredicate;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::code::{Code, Either};
use super::pair::Pair;
use super::reduction::{HALF_PI, Quadrant, has_bit, reduced, with_sign};

/// `(sin r - r) / r^3` by `r^2`: minimax for the error relative to the sine, 2^-28 and 2^-58.
const SINE: Either<&[f64]> = Either(
    &[
        -0.00019516651809681207,
        0.008332173340022564,
        -0.16666655242443085,
    ],
    &[
        1.5896520451892857e-10,
        -2.505075361334895e-08,
        2.755731366487224e-06,
        -0.00019841269829735069,
        0.00833333333332233,
        -0.16666666666666632,
    ],
);
/// `(cos r - 1 + r^2 / 2) / r^4` by `r^2`: minimax for the error, 2^-33 and 2^-64.
const COSINE: Either<&[f64]> = Either(
    &[
        2.4437718820990995e-05,
        -0.001388736185617745,
        0.04166664555668831,
    ],
    &[
        -1.1359455879086862e-11,
        2.0875719714278952e-09,
        -2.755731432733175e-07,
        2.4801587289400175e-05,
        -0.0013888888888874001,
        0.0416666666666666,
    ],
);
/// `(atan t - t) / t^3` by `t^2`, for `t` up to `tan pi/8`: minimax for the error relative to the
/// arc, 2^-30 and 2^-59.
const ARC: Either<&[f64]> = Either(
    &[
        -0.060812804847955704,
        0.10595231503248215,
        -0.14243759214878082,
        0.1999848634004593,
        -0.33333316445350647,
    ],
    &[
        -0.017907339485039225,
        0.03806494970389946,
        -0.05039330557508313,
        0.058478973123184744,
        -0.06663105441042826,
        0.0769206036005106,
        -0.09090897766945569,
        0.11111110783807954,
        -0.14285714280203834,
        0.1999999999995366,
        -0.333333333333332,
    ],
);

/// The sine and the cosine of `|r| <= pi/4`. What the low part of `r` adds is its first power, and
/// what `1 - r^2 / 2` loses is added again.
fn near_zero<'c>(code: &mut Code<'c, '_>, r: Pair<'c>) -> (Val<'c>, Val<'c>) {
    let Pair { high: r, low } = r;
    let z = code.mul(r, r);
    let unit = code.number(1.0);
    let first = code.fma_by(z, -0.5, unit);
    let s = code.polynomial(z, code.pick(SINE));
    let cube = code.mul(r, z);
    let added = code.mul(low, first);
    let rest = code.fma(cube, s, added);
    let sine = code.add(r, rest);
    let c = code.polynomial(z, code.pick(COSINE));
    let less = code.sub(unit, first);
    let lost = code.fma_by(z, -0.5, less);
    let opposite = code.op(ops::arith::NEGF, &[r]);
    let rest = code.fma(opposite, low, lost);
    let square = code.mul(z, z);
    let rest = code.fma(square, c, rest);
    (sine, code.add(first, rest))
}

/// `-y` where the second bit of the quadrant is set.
fn opposite<'c>(code: &mut Code<'c, '_>, n: Val<'c>, y: Val<'c>) -> Val<'c> {
    let is_set = has_bit(code, n, 2);
    let negative = code.op(ops::arith::NEGF, &[y]);
    code.select(is_set, negative, y)
}

/// Gives an odd function of `|x|` the sign for `x`.
fn odd<'c>(code: &mut Code<'c, '_>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let signs = code.bits_of(x);
    with_sign(code, signs, y)
}

/// The sine.
pub fn sin<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let Quadrant { n, r } = reduced(code, size);
    let (sine, cosine) = near_zero(code, r);
    let is_other = has_bit(code, n, 1);
    let y = code.select(is_other, cosine, sine);
    let y = opposite(code, n, y);
    odd(code, x, y)
}

/// The cosine.
pub fn cos<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let Quadrant { n, r } = reduced(code, size);
    let unit = code.integer(1);
    let n = code.op(ops::arith::ADDI, &[n, unit]);
    let (sine, cosine) = near_zero(code, r);
    let is_other = has_bit(code, n, 1);
    let y = code.select(is_other, cosine, sine);
    opposite(code, n, y)
}

/// The tangent: the sine by the cosine, or in every other quadrant the opposite of the inverse.
pub fn tan<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let Quadrant { n, r } = reduced(code, size);
    let (sine, cosine) = near_zero(code, r);
    let opposite = code.op(ops::arith::NEGF, &[cosine]);
    let is_other = has_bit(code, n, 1);
    let above = code.select(is_other, opposite, sine);
    let below = code.select(is_other, sine, cosine);
    let y = code.div(above, below);
    odd(code, x, y)
}

/// `atan (y / x)` for a `y` that is not negative, plus `pi` if `x` is less than 0 (-0 too): the angle of
/// a point, from 0 to `pi`.
///
/// With `a <= b` of `|x|` and `y`: the arc of `a / b`, or `pi/4` and that of `(a - b) / (a + b)`, whichever
/// is below `tan pi/8`; reflected where `y` is the larger one, and where `x` is negative.
fn angle<'c>(code: &mut Code<'c, '_>, y: Val<'c>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let is_steep = code.compare(CmpfPredicate::Ogt, y, size);
    let a = code.select(is_steep, size, y);
    let b = code.select(is_steep, y, size);
    let (a, b) = finite(code, a, b);
    let (one, zero) = (code.number(1.0), code.number(0.0));
    let bound = code.number(0.41421356237309503);
    let bound = code.mul(b, bound);
    let is_mid = code.compare(CmpfPredicate::Ogt, a, bound);
    let (less, more) = (code.sub(a, b), code.add(a, b));
    let above = code.select(is_mid, less, a);
    let below = code.select(is_mid, more, b);
    let t = code.div(above, below);
    let z = code.mul(t, t);
    let p = code.polynomial(z, code.pick(ARC));
    let cube = code.mul(t, z);
    let arc = code.fma(cube, p, t);
    let quarters = code.select(is_mid, one, zero);
    let (quarters, arc) = reflected(code, is_steep, 2.0, (quarters, arc));
    let (bits, none) = (code.bits_of(x), code.integer(0));
    let is_behind = code.builder.compare("slt", bits, none);
    let (quarters, arc) = reflected(code, is_behind, 4.0, (quarters, arc));
    let [high, low] = code.pick(HALF_PI);
    let arc = code.fma_by(quarters, low / 2.0, arc);
    code.fma_by(quarters, high / 2.0, arc)
}

/// Two sizes with the same quotient, so small that their sum is finite; those of infinities are 1, and
/// that of zeros is 0.
fn finite<'c>(code: &mut Code<'c, '_>, a: Val<'c>, b: Val<'c>) -> (Val<'c>, Val<'c>) {
    let (one, zero) = (code.number(1.0), code.number(0.0));
    let half_range = code.pick(Either(2f64.powi(126), 2f64.powi(1022)));
    let is_large = code.greater(b, half_range);
    let half = code.number(0.5);
    let factor = code.select(is_large, half, one);
    let is_both = code.compare(CmpfPredicate::Oeq, a, b);
    let of_infinity = code.select(is_both, one, zero);
    let is_endless = code.equals(b, f64::INFINITY);
    let is_none = code.equals(b, 0.0);
    let (small, large) = (code.mul(a, factor), code.mul(b, factor));
    let small = code.select(is_endless, of_infinity, small);
    let is_exceptional = code.op(ops::arith::ORI, &[is_endless, is_none]);
    (small, code.select(is_exceptional, one, large))
}

/// An angle of quarters of `pi` and an arc, taken from so many of them where a condition holds.
fn reflected<'c>(
    code: &mut Code<'c, '_>,
    condition: Val<'c>,
    from: f64,
    (quarters, arc): (Val<'c>, Val<'c>),
) -> (Val<'c>, Val<'c>) {
    let from = code.number(from);
    let rest = code.sub(from, quarters);
    let opposite = code.op(ops::arith::NEGF, &[arc]);
    let quarters = code.select(condition, rest, quarters);
    (quarters, code.select(condition, opposite, arc))
}

/// The angle of the point `(x, y)`.
pub fn atan2<'c>(code: &mut Code<'c, '_>, y: Val<'c>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(y);
    let result = angle(code, size, x);
    let result = code.copysign(result, y);
    let is_unordered = code.compare(CmpfPredicate::Uno, x, y);
    let sum = code.add(x, y);
    code.select(is_unordered, sum, result)
}

/// The inverse of the tangent: the angle of `(1, x)`.
pub fn atan<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let unit = code.number(1.0);
    atan2(code, x, unit)
}

/// `sqrt (1 - x^2)` for `|x|`; NaN beyond 1.
fn other_side<'c>(code: &mut Code<'c, '_>, size: Val<'c>) -> Val<'c> {
    let unit = code.number(1.0);
    let (less, more) = (code.sub(unit, size), code.add(unit, size));
    let square = code.mul(less, more);
    code.op(ops::math::SQRT, &[square])
}

/// The inverse of the sine.
pub fn asin<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let side = other_side(code, size);
    atan2(code, x, side)
}

/// The inverse of the cosine.
pub fn acos<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let side = other_side(code, size);
    atan2(code, side, x)
}
