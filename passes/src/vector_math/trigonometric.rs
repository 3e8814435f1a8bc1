//! `sin`, `cos`, `tan` and `atan`.
//!
//! `|x| = n pi/2 + r` with `|r| <= pi/4`, and polynomials for the sine and the cosine of `r`. The
//! reduction is exact enough up to [`LARGEST`]; where a lane has more, the C library takes all.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use melior::ir::ValueLike;

use super::code::{Code, Either, Precision};

/// Up to here the reduction has all digits: at least 30 more than `r` can lose.
pub const LARGEST: Either<f64> = Either(134_217_728.0, 1_048_576.0);
/// `pi/2` in parts; all but the last one times `n` are exact.
const HALF_PI: [f64; 4] = [
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487111665e-21,
    8.4784276603689e-32,
];
/// `pi/2` in the fewest parts.
const HALF_PI_SHORT: Either<[f64; 2]> = Either(
    [1.5707963705062866, -4.371138828673793e-08],
    [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17],
);
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

/// `|x| = n pi/2 + r`.
struct Quadrant<'c> {
    n: Val<'c>,
    r: Val<'c>,
}

/// Single precision is reduced in double precision, in which two parts of `pi/2` do.
fn reduced<'c>(code: &mut Code<'c, '_>, size: Val<'c>) -> Quadrant<'c> {
    let per_quadrant = std::f64::consts::FRAC_2_PI;
    if code.precision == Precision::Double {
        let (float, n) = code.rounded(size, per_quadrant);
        let parts = HALF_PI.iter();
        let r = parts.fold(size, |r, part| code.fma_by(float, -part, r));
        return Quadrant { n, r };
    }
    let like = size.r#type();
    let [high, low] = HALF_PI_SHORT.1;
    let wide = code.builder.convert("arith.extf", size, ScalarType::F64);
    let mut double = Code::new(code.builder, Precision::Double, like);
    let (float, n) = double.rounded(wide, per_quadrant);
    let r = double.fma_by(float, -high, wide);
    let r = double.fma_by(float, -low, r);
    Quadrant {
        n: code.builder.convert("arith.trunci", n, ScalarType::I32),
        r: code.builder.convert("arith.truncf", r, ScalarType::F32),
    }
}

/// The sine and the cosine of `|r| <= pi/4`.
fn near_zero<'c>(code: &mut Code<'c, '_>, r: Val<'c>) -> (Val<'c>, Val<'c>) {
    let z = code.mul(r, r);
    let s = code.polynomial(z, code.of(SINE));
    let cube = code.mul(r, z);
    let sine = code.fma(cube, s, r);
    let c = code.polynomial(z, code.of(COSINE));
    let one = code.number(1.0);
    let first = code.fma_by(z, -0.5, one);
    let square = code.mul(z, z);
    (sine, code.fma(square, c, first))
}

/// Whether a bit of an integer is set.
fn has_bit<'c>(code: &mut Code<'c, '_>, n: Val<'c>, bit: i64) -> Val<'c> {
    let (mask, zero) = (code.integer(bit), code.integer(0));
    let bits = code.op("arith.andi", &[n, mask]);
    code.builder.compare("ne", bits, zero)
}

/// `-y` where the second bit of the quadrant is set.
fn turned<'c>(code: &mut Code<'c, '_>, n: Val<'c>, y: Val<'c>) -> Val<'c> {
    let is_turned = has_bit(code, n, 2);
    let opposite = code.op("arith.negf", &[y]);
    code.select(is_turned, opposite, y)
}

/// Gives an odd function of `|x|` the sign for `x`.
fn odd<'c>(code: &mut Code<'c, '_>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let (bits, of) = (code.bits_of(y), code.bits_of(x));
    let sign = code.integer(code.of(Either(i64::from(i32::MIN), i64::MIN)));
    let sign = code.op("arith.andi", &[of, sign]);
    let bits = code.op("arith.xori", &[bits, sign]);
    code.float_of_bits(bits)
}

/// The sine.
pub fn sin<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let Quadrant { n, r } = reduced(code, size);
    let (sine, cosine) = near_zero(code, r);
    let is_other = has_bit(code, n, 1);
    let y = code.select(is_other, cosine, sine);
    let y = turned(code, n, y);
    odd(code, x, y)
}

/// The cosine.
pub fn cos<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let Quadrant { n, r } = reduced(code, size);
    let one = code.integer(1);
    let n = code.op("arith.addi", &[n, one]);
    let (sine, cosine) = near_zero(code, r);
    let is_other = has_bit(code, n, 1);
    let y = code.select(is_other, cosine, sine);
    turned(code, n, y)
}

/// The tangent: the sine by the cosine, or in every other quadrant the opposite of the inverse.
pub fn tan<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let Quadrant { n, r } = reduced(code, size);
    let (sine, cosine) = near_zero(code, r);
    let opposite = code.op("arith.negf", &[cosine]);
    let is_other = has_bit(code, n, 1);
    let above = code.select(is_other, opposite, sine);
    let below = code.select(is_other, sine, cosine);
    let y = code.div(above, below);
    odd(code, x, y)
}

/// Whether any lane is beyond what is reduced here.
pub fn is_any_large<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let largest = code.number(code.of(LARGEST));
    let mask = code.compare(CmpfPredicate::Ogt, size, largest);
    super::each::any(code.builder, mask)
}

/// The arc: of `a = |x|`, or of `(a - 1) / (a + 1)`, which is `pi/4` less, or of `-1 / a`, `pi/2`
/// less, whichever is below `tan pi/8`.
pub fn atan<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let a = code.abs(x);
    let (one, zero) = (code.number(1.0), code.number(0.0));
    let is_mid = code.greater(a, 0.41421356237309503);
    let is_big = code.greater(a, 2.414213562373095);
    let (less, more) = (code.sub(a, one), code.add(a, one));
    let above = code.select(is_mid, less, a);
    let below = code.select(is_mid, more, one);
    let minus = code.number(-1.0);
    let above = code.select(is_big, minus, above);
    let below = code.select(is_big, a, below);
    let t = code.div(above, below);
    let [high, low] = code.of(HALF_PI_SHORT);
    let base = |code: &mut Code<'c, '_>, part: f64| {
        let (quarter, half) = (code.number(part / 2.0), code.number(part));
        let mid = code.select(is_mid, quarter, zero);
        code.select(is_big, half, mid)
    };
    let (high, low) = (base(code, high), base(code, low));
    let z = code.mul(t, t);
    let p = code.polynomial(z, code.of(ARC));
    let cube = code.mul(t, z);
    let arc = code.fma(cube, p, t);
    let sum = code.add(arc, low);
    let y = code.add(high, sum);
    code.copysign(y, x)
}
