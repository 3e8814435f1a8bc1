//! Canonicalisation of the dialect: one file for each group of rewrites, one row for each pattern.
//!
//! Every rewrite reads [`Parts`](mdh_dialect::parts::Parts), changes them and builds the
//! operation anew, which is put into the IR only if it keeps all rules: a size that turns out to
//! be wrong is reported of the program as it was written. Carries and names are kept true or the
//! pattern does not fire.
//!
//! A computation that has a schedule keeps its dimensions and its buffers' names, which the schedule
//! goes by: [`Draft::commit`](crate::support::draft::Draft::commit) sees to it, and what replaces a computation
//! by something else does. Only numbers become known in it, and its buffers become views of others.
//!
//! Range checks look at what is there: `mdh-insert-range-checks` belongs before `canonicalize`,
//! which may drop an access, or read the buffer behind a slice, without a check of its own.

pub(crate) mod constants;
mod destinations;
mod empty_domain;
mod identity;
mod inputs;
mod layouts;
mod outputs;
pub(crate) mod pads;
mod producer;
pub(crate) mod unit_dims;
mod views;

use mdh_dialect::hooks::Pattern;
use mdh_dialect::ops;

/// The patterns.
pub static PATTERNS: &[Pattern] = &[
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: constants::bounds,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: constants::scalars,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: empty_domain::compute,
    },
    Pattern {
        root: ops::mdh::OUT_VIEW,
        rewrite: empty_domain::out_view,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: unit_dims::drop,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: inputs::simplify,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: outputs::drop_unused,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: outputs::drop_components,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: pads::drop,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: views::compute,
    },
    Pattern {
        root: ops::mdh::INP_VIEW,
        rewrite: views::inp_view,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: identity::fold,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: producer::fuse,
    },
    Pattern {
        root: ops::mdh::COMPUTE,
        rewrite: destinations::write_through,
    },
    Pattern {
        root: ops::mdh::LAYOUT_APPLY,
        rewrite: layouts::fold,
    },
    Pattern {
        root: ops::mdh::LAYOUT_INV,
        rewrite: layouts::fold,
    },
];
