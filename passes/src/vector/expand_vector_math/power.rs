//! `pow`: `x^y = e^(y log |x|)`, with the sign and the exceptions of C's.
//!
//! For results in `f64` the logarithm has about 70 digits, as its product with `y`, of which the
//! exponential keeps those that matter: one as large as a result can have loses 10 of them.

use mdh_algebra::op::CmpfPredicate;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::code::Code;
use super::exponential::{exp2, times_exp};
use super::logarithm::{log_pair, log2};
use super::pair::Pair;

/// A power in `f64`, for results that are narrower.
pub fn narrow<'c>(code: &mut Code<'c, '_>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let logarithm = log2(code, size);
    let product = code.mul(y, logarithm);
    let result = exp2(code, product);
    with_exceptions(code, x, y, result)
}

/// A power in `f64`.
pub fn wide<'c>(code: &mut Code<'c, '_>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let logarithm = log_pair(code, size);
    let high = code.mul(y, logarithm.high);
    let opposite = code.op(ops::arith::NEGF, &[high]);
    let low = code.fma(y, logarithm.high, opposite);
    let low = code.fma(y, logarithm.low, low);
    // What overflows has no second part, nor have the logarithms of 0 and infinity.
    let distance = code.abs(high);
    let is_inside = code.less(distance, 1000.0);
    let zero = code.number(0.0);
    let low = code.select(is_inside, low, zero);
    let unit = code.number(1.0);
    let result = times_exp(code, unit, Pair { high, low });
    with_exceptions(code, x, y, result)
}

/// Returns `|x|^y` where a factor of `y log |x|` is 0 and the other one infinite, its sign, and the
/// cases that are no number.
fn with_exceptions<'c>(
    code: &mut Code<'c, '_>,
    x: Val<'c>,
    y: Val<'c>,
    result: Val<'c>,
) -> Val<'c> {
    let (one, size) = (code.number(1.0), code.abs(x));
    // 0 times infinity: x^0, and (-1) to an infinite power.
    let is_one = code.equals(size, 1.0);
    let y_size = code.abs(y);
    let is_endless = code.equals(y_size, f64::INFINITY);
    let both = code.op(ops::arith::ANDI, &[is_one, is_endless]);
    let is_still = code.equals(y, 0.0);
    let exceptional = code.op(ops::arith::ORI, &[both, is_still]);
    let result = code.select(exceptional, one, result);
    // The sign is that of x for odd powers; other than integers there are none of what is less
    // than 0, but of infinity.
    let whole = code.op(ops::math::TRUNC, &[y]);
    let is_whole = code.compare(CmpfPredicate::Oeq, whole, y);
    let half = code.number(0.5);
    let halved = code.mul(y, half);
    let whole_half = code.op(ops::math::TRUNC, &[halved]);
    let is_uneven = code.compare(CmpfPredicate::One, whole_half, halved);
    let is_odd = code.op(ops::arith::ANDI, &[is_whole, is_uneven]);
    let sign = code.select(is_odd, x, one);
    let result = code.copysign(result, sign);
    let is_negative = code.less(x, 0.0);
    let is_finite = code.greater(x, f64::NEG_INFINITY);
    let broken = code.compare(CmpfPredicate::One, whole, y);
    let outside = code.op(ops::arith::ANDI, &[is_negative, is_finite]);
    let outside = code.op(ops::arith::ANDI, &[outside, broken]);
    let nan = code.number(f64::NAN);
    let result = code.select(outside, nan, result);
    // 1 to any power is 1, to NaN too.
    let is_one = code.equals(x, 1.0);
    code.select(is_one, one, result)
}
