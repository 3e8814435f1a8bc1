//! Rules of well-defined computations (MDH paper, section 2 and appendix B), one by one.
//!
//! [`check`] returns every violation that the known sizes show, [`obligations`] what is left to
//! be checked when the unknown ones are known; after [`Computation::bind`] only the valid bits
//! of carries are. A message is a phrase that follows the computation's name.
//!
//! ```
//! # use mdh_algebra::affine::Expr;
//! # use mdh_algebra::code::Code;
//! # use mdh_algebra::computation::{Buffer, Combine, Computation, Dimension};
//! # use mdh_algebra::{rules, scalar::ScalarType::F32};
//! // y[i] = x[i - 1]: the first element is read outside of x.
//! let i = Expr::dim(0);
//! let shift = Computation {
//!     dimensions: vec![Dimension::dense("i", Some(8), Combine::Cc)],
//!     inputs: vec![Buffer::new("x", F32, &[Some(8)]).access(0, &[i.clone() + -1])],
//!     scalar: Code::identity(&[F32]),
//!     components: vec![F32],
//!     operators: vec![],
//!     carries: vec![],
//!     outputs: vec![Buffer::new("y", F32, &[Some(8)]).access(0, &[i])],
//! };
//! assert_eq!(
//!     rules::check(&shift)[0].message,
//!     "reads input 'x' at -1..7 in axis 0 ('i - 1'), but that has the indices 0..8: enlarge \
//!      the buffer, shrink the domain, or give the value outside by 'pad(...)'"
//! );
//! ```
//!
//! | rules                                         | where                    |
//! |-----------------------------------------------|--------------------------|
//! | grids, bounds, numbers of points, empty `pw`  | `rules/domain.rs`        |
//! | operators: one for all, laws, types           | `rules/operators.rs`     |
//! | scalar function, components, stores           | `rules/tuples.rs`        |
//! | index functions: ranks, dimensions they use   | `rules/accesses.rs`      |
//! | ranges read and written                       | `rules/ranges.rs`        |
//! | injectivity of what is written                | `rules/injectivity.rs`   |
//! | carries                                       | `rules/carries.rs`       |
//! | memory that is read or written twice          | `rules/memory.rs`        |
//! | what scalar code is made of                   | `rules/scalar_code.rs`   |
//! | what they find                                | `rules/finding.rs`       |

mod accesses;
mod carries;
mod domain;
mod finding;
mod injectivity;
mod memory;
mod operators;
mod ranges;
pub mod scalar_code;
mod tuples;

pub use domain::steps;
pub use finding::{Finding, Obligation, Rule, Subject};
pub use injectivity::{Verdict, injective};
pub use memory::{Domain, Stored, memory};

use crate::computation::Computation;
use finding::Report;

fn analyse(computation: &Computation) -> Report {
    let mut report = Report::default();
    domain::grids(computation, &mut report);
    operators::operators(computation, &mut report);
    tuples::tuples(computation, &mut report);
    accesses::accesses(computation, &mut report);
    carries::carries(computation, &mut report);
    // The rest looks at index functions and operators, which must exist.
    if !report.findings.iter().any(|f| is_structural(f.rule)) {
        ranges::ranges(computation, &mut report);
        injectivity::outputs(computation, &mut report);
        domain::empty_pw(computation, &mut report);
    }
    report
}

fn is_structural(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::AccessRank
            | Rule::AccessDimension
            | Rule::OriginRank
            | Rule::PwInOutput
            | Rule::CarryDimension
            | Rule::CarryMap
    )
}

/// Every violation of a rule, in the order of the computation's parts; none if, as far as sizes
/// are known, the computation is well defined.
pub fn check(computation: &Computation) -> Vec<Finding> {
    analyse(computation).findings
}

/// Returns the conditions that must be checked once all sizes are known.
pub fn obligations(computation: &Computation) -> Vec<Obligation> {
    analyse(computation).obligations
}

#[cfg(test)]
#[path = "rules/tests.rs"]
mod tests;
