//! `erf`: a polynomial up to 1, beyond that `1 - e^-g` with a polynomial `g`.

use mdh_dialect::ir::Val;

use super::code::{Code, Either};
use super::exponential::exp_inside;

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

/// The error function.
pub fn erf<'c>(code: &mut Code<'c, '_>, x: Val<'c>) -> Val<'c> {
    let a = code.abs(x);
    let z = code.mul(a, a);
    let near = code.polynomial(z, code.of(NEAR));
    let near = code.mul(a, near);
    // Beyond, no float is nearer to the result than 1.
    let most = code.of(Either(4.0, 6.0));
    let inside = code.at_most(a, most);
    let g = code.polynomial(inside, code.of(FAR));
    let opposite = code.op("arith.negf", &[g]);
    let rest = exp_inside(code, opposite);
    let one = code.number(1.0);
    let far = code.sub(one, rest);
    let is_near = code.less(a, 1.0);
    let y = code.select(is_near, near, far);
    code.copysign(y, x)
}
