//! `exp` and the functions made of it.
//!
//! `x = n ln 2 + r` with an integer `n` and `|r| <= ln 2 / 2`, hence `e^x = 2^n (1 + p)` with
//! `p = e^r - 1 = r + r^2 q(r)` for a polynomial `q`. `n ln 2` is subtracted in two parts, so that
//! `r` is right to its last bits.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::code::{Code, Either};
use super::pair::Pair;

/// `(e^r - 1 - r) / r^2` for `|r| <= ln 2 / 2`: minimax for the error of `e^r - 1` relative to it,
/// 2^-26 and 2^-61.
const REST: Either<&[f64]> = Either(
    &[
        0.0013946256367489696,
        0.008366639725863934,
        0.04166628420352936,
        0.16666541993618011,
        0.5,
    ],
    &[
        2.0924563681140176e-09,
        2.5109147519186348e-08,
        2.7557242356578564e-07,
        2.755724391131049e-06,
        2.480158736105145e-05,
        0.0001984126988640145,
        0.0013888888888866568,
        0.008333333333321532,
        0.0416666666666667,
        0.16666666666666677,
        0.5,
    ],
);
/// `ln 2` in two parts; the first one times an exponent is exact.
pub const LN_2: Either<[f64; 2]> = Either(
    [0.693145751953125, 1.428606765330187e-06],
    [0.6931471805598903, 5.497923018708371e-14],
);
/// Ends of the range outside of which `e^x` is 0 or infinite.
const RANGE: Either<[f64; 2]> = Either([-104.0, 89.0], [-746.0, 710.0]);

/// `e^x = 2^n (1 + p)`.
struct Parts<'c> {
    n: Val<'c>,
    p: Val<'c>,
}

/// `e^r - 1` for a small `r`.
fn small<'c>(code: &mut Code<'c, '_>, r: Val<'c>) -> Val<'c> {
    let rest = code.pick(REST);
    let q = code.polynomial(r, rest);
    let square = code.mul(r, r);
    code.fma(square, q, r)
}

fn parts<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Parts<'c> {
    let (float, n) = code.rounded(x, std::f64::consts::LOG2_E);
    let [high, low] = code.pick(LN_2);
    let r = code.fma_by(float, -high, x);
    let r = code.fma_by(float, -low, r);
    let p = small(code, r);
    Parts { n, p }
}

/// `e^(high + low) - 1` for what is in the range of `exp`, as `n` and `p`.
fn parts_of_pair<'c>(code: &mut Code<'c, '_>, x: Pair<'c>) -> Parts<'c> {
    let (float, n) = code.rounded(x.high, std::f64::consts::LOG2_E);
    let [high, low] = code.pick(LN_2);
    let before = code.fma_by(float, -high, x.high);
    let r = code.fma_by(float, -low, before);
    let lost = code.sub(before, r);
    let lost = code.fma_by(float, -low, lost);
    let rest = code.add(x.low, lost);
    let p = small(code, r);
    let more = one_more(code, p);
    let p = code.fma(rest, more, p);
    Parts { n, p }
}

/// `y e^(high + low)`, for exponents in the range of `exp` or the pair of an infinity and 0.
pub fn times_exp<'c>(code: &mut Code<'c, '_>, y: Val<'c>, x: Pair<'c>) -> Val<'c> {
    let [low, high] = code.pick(RANGE);
    let high = code.clamp(x.high, low, high);
    let Parts { n, p } = parts_of_pair(code, Pair { high, low: x.low });
    let y = code.fma(y, p, y);
    code.scaled(y, n)
}

fn one_more<'c>(code: &mut Code<'c, '_>, p: Val<'c>) -> Val<'c> {
    let unit = code.number(1.0);
    code.add(unit, p)
}

/// `e^x`.
pub fn exp<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let [low, high] = code.pick(RANGE);
    let x = code.clamp(x, low, high);
    let Parts { n, p } = parts(code, x);
    let y = one_more(code, p);
    code.scaled(y, n)
}

/// `e^x` for an `x` in the range of `exp` whose result is a normal number.
pub fn exp_inside<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let Parts { n, p } = parts(code, x);
    let y = one_more(code, p);
    let power = code.power_of_two(n);
    code.mul(y, power)
}

/// `2^x`: `2^n e^(r ln 2)` with `x = n + r`.
pub fn exp2<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let [low, high] = code.pick(Either([-152.0, 129.0], [-1077.0, 1025.0]));
    let x = code.clamp(x, low, high);
    let (float, n) = code.rounded(x, 1.0);
    let r = code.sub(x, float);
    let ln_2 = code.number(std::f64::consts::LN_2);
    let r = code.mul(r, ln_2);
    let p = small(code, r);
    let y = one_more(code, p);
    code.scaled(y, n)
}

/// `e^x - 1 = 2 (2^(n-1) p + (2^(n-1) - 1/2))`.
pub fn expm1<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let [_, high] = code.pick(RANGE);
    let low = code.pick(Either(-18.0, -38.0));
    let inside = code.clamp(x, low, high);
    let parts = parts(code, inside);
    let y = less_one(code, &parts);
    keep_tiny(code, x, y)
}

fn less_one<'c>(code: &mut Code<'c, '_>, parts: &Parts<'c>) -> Val<'c> {
    let unit = code.integer(1);
    let n = code.op(ops::arith::SUBI, &[parts.n, unit]);
    let power = code.power_of_two(n);
    let half = code.number(0.5);
    let rest = code.sub(power, half);
    let y = code.fma(power, parts.p, rest);
    code.add(y, y)
}

/// Of a function like `x` near 0: `x` itself where that is the nearest float, with its sign and
/// all of its bits.
pub fn keep_tiny<'c>(code: &mut Code<'c, '_>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let bound = 2f64.powi(-code.fraction() as i32 - 3);
    let is_tiny = code.less(size, bound);
    code.select(is_tiny, x, y)
}

/// `tanh x = t / (t + 2)` with `t = e^(2x) - 1`, for `|x|`.
pub fn tanh<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let size = code.at_most(size, 20.0);
    let twice = code.add(size, size);
    let parts = parts(code, twice);
    let t = less_one(code, &parts);
    let t = keep_tiny(code, twice, t);
    let two = code.number(2.0);
    let below = code.add(t, two);
    let y = code.div(t, below);
    code.copysign(y, x)
}

/// `e^x / 2`, which overflows where `sinh` and `cosh` do.
fn half_exp<'c>(code: &mut Code<'c, '_>, parts: &Parts<'c>) -> Val<'c> {
    let y = one_more(code, parts.p);
    let unit = code.integer(1);
    let n = code.op(ops::arith::SUBI, &[parts.n, unit]);
    code.scaled(y, n)
}

fn hyperbolic<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> (Val<'c>, Parts<'c>) {
    let size = code.abs(x);
    let high = code.pick(Either(90.0, 711.0));
    let inside = code.at_most(size, high);
    (size, parts(code, inside))
}

/// `sinh x = h - 1 / (4 h)` with `h = e^x / 2`; below 1 `(t + t / (t + 1)) / 2` with
/// `t = e^x - 1`. For `|x|`.
pub fn sinh<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let (size, parts) = hyperbolic(code, x);
    let h = half_exp(code, &parts);
    let quarter = code.number(0.25);
    let inverse = code.div(quarter, h);
    let large = code.sub(h, inverse);
    let t = less_one(code, &parts);
    let t = keep_tiny(code, size, t);
    let below = one_more(code, t);
    let quotient = code.div(t, below);
    let sum = code.add(t, quotient);
    let half = code.number(0.5);
    let little = code.mul(sum, half);
    let is_little = code.less(size, 1.0);
    let y = code.select(is_little, little, large);
    code.copysign(y, x)
}

/// `cosh x = h + 1 / (4 h)` with `h = e^|x| / 2`.
pub fn cosh<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let (_, parts) = hyperbolic(code, x);
    let h = half_exp(code, &parts);
    let quarter = code.number(0.25);
    let inverse = code.div(quarter, h);
    code.add(h, inverse)
}
