//! `|x| = n pi/2 + r` with `|r| <= pi/4`, for every finite `x`, and `r` in two parts.
//!
//! Up to [`LARGEST`] multiples of the parts of `pi/2` are subtracted, all but the last one exactly
//! (Cody and Waite). Beyond that, `x = m 2^q` with an integer `m`, and of `2/pi 2^q` only those digits
//! count that are below 4 and make a difference to the last ones of `r`: 192 bits, since no float of 64
//! bits is nearer to a multiple of `pi/2` than 2^-62 quadrants. The product of these with `m` is one of
//! integers, and has the quadrant in its first two bits (Payne and Hanek). That is computed only if
//! a lane asks for it.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use melior::ir::ValueLike;

use super::code::{Code, Either, Precision};
use super::each;
use super::pair::Pair;

/// Up to here the parts of `pi/2` do: they have at least 30 digits more than `r` can lose.
const LARGEST: Either<f64> = Either(134_217_728.0, 1_048_576.0);
/// `pi/2` in parts; all but the last one times `n` are exact.
const HALF_PI_PARTS: [f64; 4] = [
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487111665e-21,
    8.4784276603689e-32,
];
/// `pi/2` in the fewest parts.
pub const HALF_PI: Either<[f64; 2]> = Either(
    [1.5707963705062866, -4.371138828673793e-08],
    [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17],
);
/// 64 zeros, then the bits of `2/pi` behind the point: as many as an exponent and 192 more take.
const TWO_BY_PI: [u64; 20] = [
    0x0000_0000_0000_0000,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];
/// Steps that find the first of four words of these, for the exponents of `f32` and `f64`.
const STEPS: Either<&[usize]> = Either(&[2, 1], &[16, 8, 4, 2, 1]);

/// `n`, of which the last two bits count, and the two parts of `r`; NaN if the number is not
/// finite.
#[derive(Clone, Copy)]
pub struct Quadrant<'c> {
    /// The multiple of `pi/2`.
    pub n: Val<'c>,
    /// The rest.
    pub r: Pair<'c>,
}

/// Reduces `|x|`. Single precision is reduced in double precision.
pub fn reduced<'c>(code: &mut Code<'c, '_>, size: Val<'c>) -> Quadrant<'c> {
    let largest = code.pick(LARGEST);
    let limit = code.number(largest);
    let is_large = code.compare(CmpfPredicate::Ogt, size, limit);
    let is_any_large = each::any(code.builder, is_large);
    let (precision, like) = (code.precision, size.r#type());
    let integers = code.integer(0).r#type();
    let parts = |quadrant: Quadrant<'c>| vec![quadrant.n, quadrant.r.high, quadrant.r.low];
    let values = code.builder.if_else(
        is_any_large,
        &[integers, like, like],
        |builder| {
            let mut code = Code::new(builder, precision, like);
            let near = in_double(&mut code, size, by_parts);
            let words = code.pick(STEPS);
            let far = in_double(&mut code, size, |code, wide| by_digits(code, wide, words));
            let near = parts(near).into_iter().zip(parts(far));
            near.map(|(near, far)| code.select(is_large, far, near))
                .collect()
        },
        |builder| {
            let mut code = Code::new(builder, precision, like);
            parts(in_double(&mut code, size, by_parts))
        },
    );
    let [n, high, low] = values[..] else {
        panic!("an operation has the results that it is built with");
    };
    let r = Pair { high, low };
    Quadrant { n, r }
}

/// Reduces in double precision.
fn in_double<'c>(
    code: &mut Code<'c, '_>,
    size: Val<'c>,
    reduce: impl FnOnce(&mut Code<'c, '_>, Val<'c>) -> Quadrant<'c>,
) -> Quadrant<'c> {
    if code.precision == Precision::Double {
        return reduce(code, size);
    }
    let like = size.r#type();
    let wide = code
        .builder
        .convert(ops::arith::EXTF, size, ScalarType::F64);
    let Quadrant { n, r } = reduce(&mut Code::new(code.builder, Precision::Double, like), wide);
    let narrow =
        |code: &mut Code<'c, '_>, x| code.builder.convert(ops::arith::TRUNCF, x, ScalarType::F32);
    let high = narrow(code, r.high);
    let again = code
        .builder
        .convert(ops::arith::EXTF, high, ScalarType::F64);
    let rest = code.sub(r.high, again);
    let low = narrow(code, rest);
    let n = code.builder.convert(ops::arith::TRUNCI, n, ScalarType::I32);
    let r = Pair { high, low };
    Quadrant { n, r }
}

/// The reduction of small arguments.
fn by_parts<'c>(code: &mut Code<'c, '_>, size: Val<'c>) -> Quadrant<'c> {
    let (float, n) = code.rounded(size, std::f64::consts::FRAC_2_PI);
    let [first, second, third, last] = HALF_PI_PARTS;
    let r = code.fma_by(float, -first, size);
    let [second, third] = [second, third].map(|part| {
        let part = code.number(-part);
        code.mul(float, part)
    });
    let before = code.two_sum(r, second);
    let r = code.two_sum(before.high, third);
    let lost = code.add(before.low, r.low);
    let low = code.fma_by(float, -last, lost);
    let high = r.high;
    Quadrant {
        n,
        r: Pair { high, low },
    }
}

/// The reduction of large arguments.
fn by_digits<'c>(code: &mut Code<'c, '_>, size: Val<'c>, steps: &[usize]) -> Quadrant<'c> {
    let bits = code.bits_of(size);
    // `x = m 2^(p - 62)`, and the digit of `2/pi` that is worth 2 stands at `p`.
    let exponent = code.shifted(ops::arith::SHRUI, bits, 52);
    let bias = code.integer(1075 - 62);
    let p = code.op(ops::arith::SUBI, &[exponent, bias]);
    let fraction = code.integer((1 << 52) - 1);
    let fraction = code.op(ops::arith::ANDI, &[bits, fraction]);
    let leading = code.integer(1 << 52);
    let m = code.op(ops::arith::ORI, &[fraction, leading]);
    let digits = digits(code, p, steps);
    let (first, second) = product(code, m, digits);
    // The nearest quadrant, and the rest with a sign.
    let quarter = code.shifted(ops::arith::SHRUI, first, 62);
    let is_upper = has_bit(code, first, 1 << 61);
    let unit = code.integer(1);
    let next = code.op(ops::arith::ADDI, &[quarter, unit]);
    let n = code.select(is_upper, next, quarter);
    let (high, carried) = (
        code.shifted(ops::arith::SHLI, first, 2),
        code.shifted(ops::arith::SHRUI, second, 62),
    );
    let high = code.op(ops::arith::ORI, &[high, carried]);
    let low = code.shifted(ops::arith::SHLI, second, 2);
    let r = angle(code, high, low);
    // Of infinity and NaN this is none.
    let nothing = code.sub(size, size);
    let high = code.add(r.high, nothing);
    Quadrant {
        n,
        r: Pair { high, low: r.low },
    }
}

/// 192 bits from a place on.
fn digits<'c>(code: &mut Code<'c, '_>, place: Val<'c>, steps: &[usize]) -> [Val<'c>; 3] {
    let number = code.shifted(ops::arith::SHRUI, place, 6);
    let needed = |last: usize| 4 + last;
    let most: usize = steps.iter().sum();
    let words = TWO_BY_PI.iter().take(needed(most));
    let mut words: Vec<Val> = words.map(|word| code.integer(*word as i64)).collect();
    let mut left = most;
    for step in steps {
        left -= step;
        let is_far = has_bit(code, number, *step as i64);
        let near = words.iter().take(needed(left)).copied().enumerate();
        let chosen = near.map(|(n, word)| match words.get(n + step) {
            Some(far) => code.select(is_far, *far, word),
            None => word,
        });
        words = chosen.collect();
    }
    let mask = code.integer(63);
    let shift = code.op(ops::arith::ANDI, &[place, mask]);
    let opposite = code.op(ops::arith::SUBI, &[mask, shift]);
    [0, 1, 2].map(|n| {
        let high = code.op(ops::arith::SHLI, &[words[n], shift]);
        // By 64 less the shift, which may be all.
        let low = code.shifted(ops::arith::SHRUI, words[n + 1], 1);
        let low = code.op(ops::arith::SHRUI, &[low, opposite]);
        code.op(ops::arith::ORI, &[high, low])
    })
}

/// The first 128 of the last 192 bits of a product, but for what less digits would carry.
fn product<'c>(code: &mut Code<'c, '_>, m: Val<'c>, [a, b, c]: [Val<'c>; 3]) -> (Val<'c>, Val<'c>) {
    let of_c = code.extended_product(m, c).1;
    let (low, high) = code.extended_product(m, b);
    let second = code.op(ops::arith::ADDI, &[low, of_c]);
    let is_carried = code.builder.compare("ult", second, low);
    let first = code.op(ops::arith::MULI, &[m, a]);
    let first = code.op(ops::arith::ADDI, &[first, high]);
    let unit = code.integer(1);
    let next = code.op(ops::arith::ADDI, &[first, unit]);
    (code.select(is_carried, next, first), second)
}

/// `pi/2` times a fraction of 128 bits with a sign.
fn angle<'c>(code: &mut Code<'c, '_>, high: Val<'c>, low: Val<'c>) -> Pair<'c> {
    // The complement of a negative number is its negation less one in the last digit.
    let signs = code.shifted(ops::arith::SHRSI, high, 63);
    let sizes = [high, low].map(|word| code.op(ops::arith::XORI, &[word, signs]));
    let mask = code.integer(0xffff_ffff);
    let mut part = |word: Val<'c>, is_upper: bool, exponent: i32| {
        let half = match is_upper {
            true => code.shifted(ops::arith::SHRUI, word, 32),
            false => code.op(ops::arith::ANDI, &[word, mask]),
        };
        let float = code.float_of(half);
        let unit = code.number(2f64.powi(exponent));
        code.mul(float, unit)
    };
    let (a, b) = (part(sizes[0], true, -32), part(sizes[0], false, -64));
    let (c, d) = (part(sizes[1], true, -96), part(sizes[1], false, -128));
    // Of what is nearest to a multiple of pi/2, the first 62 bits are 0.
    let fraction = code.ordered_sum(a, b);
    let rest = code.add(fraction.low, c);
    let fraction = code.ordered_sum(fraction.high, rest);
    let rest = code.add(fraction.low, d);
    let fraction = code.ordered_sum(fraction.high, rest);
    let half_pi = code.pair(HALF_PI.1);
    let r = code.two_product(fraction.high, half_pi.high);
    let low = code.fma(fraction.high, half_pi.low, r.low);
    let low = code.fma(fraction.low, half_pi.high, low);
    Pair {
        high: with_sign(code, signs, r.high),
        low: with_sign(code, signs, low),
    }
}

/// The opposite where an integer's first bit is set.
pub fn with_sign<'c>(code: &mut Code<'c, '_>, signs: Val<'c>, y: Val<'c>) -> Val<'c> {
    let bits = code.bits_of(y);
    let sign = code.integer(code.pick(Either(i64::from(i32::MIN), i64::MIN)));
    let sign = code.op(ops::arith::ANDI, &[signs, sign]);
    let bits = code.op(ops::arith::XORI, &[bits, sign]);
    code.float_of_bits(bits)
}

/// Returns whether a bit of an integer is set.
pub fn has_bit<'c>(code: &mut Code<'c, '_>, n: Val<'c>, bit: i64) -> Val<'c> {
    let (mask, zero) = (code.integer(bit), code.integer(0));
    let bits = code.op(ops::arith::ANDI, &[n, mask]);
    code.builder.compare("ne", bits, zero)
}
