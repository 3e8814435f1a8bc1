//! `cbrt` and `rsqrt`.

use mdh_algebra::op::CmpfPredicate;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::code::{Code, Precision};
use super::logarithm::{Float, apart_from_any};

/// The root of `m` between the roots of 1/2 and 2: minimax for the relative error, 2^-16.
const ROOT: &[f64] = &[
    -0.03778359563773766,
    0.21691920835435044,
    -0.5356036039527469,
    0.9048012283603396,
    0.4516710141805958,
];
/// The cube root of 2, and that of 1/2.
const OF_TWO: [f64; 2] = [1.2599210498948732, 0.7937005259840998];

/// The cube root: `|x| = 8^k v` with `v` between 1/4 and 4, a polynomial, and Newton's steps, the last one
/// with the exact difference of `v` and the cube.
pub fn cbrt<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let Float { e, m, .. } = apart_from_any(code, size);
    let (k, exponent) = code.rounded(e, 1.0 / 3.0);
    let j = code.fma_by(k, -3.0, e);
    let (is_more, is_less) = (code.greater(j, 0.5), code.less(j, -0.5));
    let of_exponent = |code: &mut Code<'c, '_>, more: f64, less: f64| {
        let [one, more, less] = [1.0, more, less].map(|factor| code.number(factor));
        let factor = code.select(is_less, less, one);
        code.select(is_more, more, factor)
    };
    let power = of_exponent(code, 2.0, 0.5);
    let v = code.mul(m, power);
    let factor = of_exponent(code, OF_TWO[0], OF_TWO[1]);
    let y = code.polynomial(m, ROOT);
    let mut y = code.mul(y, factor);
    let steps = match code.precision {
        Precision::Single => 1,
        Precision::Double => 2,
    };
    for _ in 0..steps {
        y = nearer(code, y, v);
    }
    let power = code.power_of_two(exponent);
    let y = code.mul(y, power);
    let y = code.copysign(y, x);
    // Zeros, infinities and NaN are their own roots.
    let (zero, infinity) = (code.number(0.0), code.number(f64::INFINITY));
    let is_more = code.compare(CmpfPredicate::Ogt, size, zero);
    let is_finite = code.compare(CmpfPredicate::Olt, size, infinity);
    let is_number = code.op(ops::arith::ANDI, &[is_more, is_finite]);
    code.select(is_number, y, x)
}

/// `y + (v - y^3) / (3 y^2)`.
fn nearer<'c>(code: &mut Code<'c, '_>, y: Val<'c>, v: Val<'c>) -> Val<'c> {
    let square = code.two_product(y, y);
    let cube = code.two_product(square.high, y);
    let lost = code.fma(square.low, y, cube.low);
    let less = code.sub(v, cube.high);
    let less = code.sub(less, lost);
    let three = code.number(3.0);
    let below = code.mul(three, square.high);
    let change = code.div(less, below);
    code.add(y, change)
}

/// `1 / sqrt x`.
pub fn rsqrt<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let unit = code.number(1.0);
    let root = code.op(ops::math::SQRT, &[x]);
    code.div(unit, root)
}
