//! `erf`: a polynomial up to 1, beyond that `1 - e^-g` with a polynomial `g`. `erfc`: from `erf` up to
//! 1/2, beyond that `e^(-x^2) q / (1 + 2 x)` with a polynomial `q`.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::code::{Code, Either};
use super::exponential::{exp_inside, times_exp};

/// `erf x / x` by `x^2`, for `|x| <= 1`: minimax for the relative error, 2^-29 and 2^-56.
const NEAR: Either<&[f64]> = Either(
    &[
        7.853849820094183e-05,
        -0.0008010202436707914,
        0.005188330542296171,
        -0.026853814721107483,
        0.1128358542919159,
        -0.3761262595653534,
        1.1283791065216064,
    ],
    &[
        -7.779462968000086e-10,
        1.371098870202078e-08,
        -1.620631875242487e-07,
        1.6447132699708752e-06,
        -1.4924712439527816e-05,
        0.0001205529358693654,
        -0.0008548325929766228,
        0.005223977606130842,
        -0.026866170643113415,
        0.112837916709442,
        -0.3761263890318352,
        std::f64::consts::FRAC_2_SQRT_PI,
    ],
);
/// `-log(1 - erf x)` from 1 to 4, or 6: minimax for the error of `erf`, 2^-35 and 2^-59.
const FAR: Either<&[f64]> = Either(
    &[
        2.169730760215316e-05,
        -0.00044146901927888393,
        0.0042052664794027805,
        -0.025210291147232056,
        0.10842201858758926,
        0.6332164406776428,
        1.1295802593231201,
        -0.0001884597004391253,
    ],
    &[
        -1.0525983527218189e-12,
        4.8085623290036024e-11,
        -1.0281543024142473e-09,
        1.3656437648604197e-08,
        -1.2595480404617536e-07,
        8.521203045537434e-07,
        -4.334344409113158e-06,
        1.654085825663931e-05,
        -4.511588173074106e-05,
        7.054906880876959e-05,
        4.4483897250548376e-05,
        -0.0006406720666973753,
        0.001768415070147749,
        -0.00027995403141791933,
        -0.019078528275507475,
        0.10274744371897143,
        0.6366284206994031,
        1.1283773443049863,
        1.7807436953698104e-07,
    ],
);
/// `(1 + 2 x) e^(x^2) erfc x` by `(x - k) / (x + k)` with `k` of [`CENTRE`], from 1/2 to where the
/// result is 0: minimax for the relative error, 2^-28 and 2^-60.
const COMPLEMENT: Either<&[f64]> = Either(
    &[
        -0.00021434402151498944,
        -0.001266779494471848,
        0.00113716721534729,
        0.008659770712256432,
        -0.008003083989024162,
        -0.0542113296687603,
        0.1640484780073166,
        -0.16603082418441772,
        -0.0927637591958046,
        1.2769783735275269,
    ],
    &[
        1.907413990592281e-09,
        -9.678594747393242e-09,
        -1.8206100735486867e-08,
        1.0333397166470599e-07,
        7.513470266093922e-08,
        -8.19605519217406e-07,
        2.9333721022150864e-07,
        5.706562809600392e-06,
        -1.1221765909117895e-05,
        -2.4398086614535533e-05,
        0.00015062158530426123,
        -0.00019925695759375416,
        -0.000757773269219479,
        0.005031970017213637,
        -0.016197734060365523,
        0.037167515533932674,
        -0.06633036581201694,
        0.0937328349985266,
        -0.10103906603631253,
        0.06809705425468865,
        0.015379652102619875,
        -0.1396211168405625,
        1.2329951186255526,
    ],
);
/// See [`COMPLEMENT`].
const CENTRE: Either<f64> = Either(2.0, 4.0);
/// From here on `erfc x` is 0.
const LAST: Either<f64> = Either(10.5, 28.0);

/// `erf |x|` for `|x| <= 1`.
fn near_zero<'c>(code: &mut Code<'c, '_>, size: Val<'c>) -> Val<'c> {
    let z = code.mul(size, size);
    let near = code.polynomial(z, code.pick(NEAR));
    code.mul(size, near)
}

/// The error function.
pub fn erf<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let a = code.abs(x);
    let near = near_zero(code, a);
    // Beyond, no float is nearer to the result than 1.
    let most = code.pick(Either(4.0, 6.0));
    let inside = code.at_most(a, most);
    let g = code.polynomial(inside, code.pick(FAR));
    let opposite = code.op(ops::arith::NEGF, &[g]);
    let rest = exp_inside(code, opposite);
    let unit = code.number(1.0);
    let far = code.sub(unit, rest);
    let is_near = code.less(a, 1.0);
    let y = code.select(is_near, near, far);
    code.copysign(y, x)
}

/// The complement of the error function.
pub fn erfc<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let size = code.abs(x);
    let near = near_zero(code, size);
    let near = code.copysign(near, x);
    let unit = code.number(1.0);
    let near = code.sub(unit, near);
    let inside = code.at_most(size, code.pick(LAST));
    let centre = code.number(code.pick(CENTRE));
    let (less, more) = (code.sub(inside, centre), code.add(inside, centre));
    let place = code.div(less, more);
    let q = code.polynomial(place, code.pick(COMPLEMENT));
    let below = code.fma_by(inside, 2.0, unit);
    let q = code.div(q, below);
    let opposite = code.op(ops::arith::NEGF, &[inside]);
    let square = code.two_product(opposite, inside);
    let far = times_exp(code, q, square);
    let two = code.number(2.0);
    let reflected = code.sub(two, far);
    let is_negative = code.less(x, 0.0);
    let far = code.select(is_negative, reflected, far);
    let is_near = code.less(size, 0.5);
    code.select(is_near, near, far)
}
