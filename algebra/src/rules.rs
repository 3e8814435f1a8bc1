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

mod accesses;
mod carries;
mod domain;
mod injectivity;
mod memory;
mod operators;
mod ranges;
pub mod scalar_code;
mod tuples;

use std::fmt;

pub use domain::steps;
pub use injectivity::{Verdict, injective};
pub use memory::{Domain, Stored, memory};

use crate::computation::{Computation, Place};

/// The rules, one for each kind of [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// `step >= 1` and `1 <= width <= step`.
    Grid,
    /// The distance of a dimension's bounds fits 64 bits.
    Distance,
    /// The number of points fits 64 bits.
    Points,
    /// An empty `pw` dimension needs a carry or a neutral element.
    EmptyPw,
    /// All combined dimensions share one operator.
    OneOperator,
    /// Several combined dimensions need a commutative operator.
    Commutative,
    /// An operator is associative.
    Associative,
    /// An operator has a function for each component, or maps two tuples to one.
    OperatorArity,
    /// An operator works on the components' types.
    OperatorType,
    /// A neutral element has the components' types.
    Neutral,
    /// The scalar function takes what the input accesses read.
    ScalarInputs,
    /// The scalar function returns the components.
    ScalarResults,
    /// The scalar function uses indices of dimensions that exist.
    ScalarIndex,
    /// Input accesses are numbered like the scalar function's arguments.
    InputComponents,
    /// An access has an index for each axis of its buffer.
    AccessRank,
    /// An index function uses dimensions that exist.
    AccessDimension,
    /// A buffer has an origin for each axis.
    OriginRank,
    /// Reads lie in the buffer.
    ReadRange,
    /// Writes lie in the buffer.
    WriteRange,
    /// The value outside a buffer has its element type.
    PadType,
    /// Only inputs have a value outside.
    PadOnOutput,
    /// Outputs do not use `pw` dimensions.
    PwInOutput,
    /// No element is written twice.
    Injective,
    /// Outputs store components that exist.
    OutputComponent,
    /// Memory that is written is not read.
    WrittenAndRead,
    /// No two outputs are in the same memory.
    SharedOutput,
    /// A component is stored once.
    StoredTwice,
    /// A component converts to the element type it is stored as.
    StoreType,
    /// A carry splits a `pw` or `ps` dimension.
    CarryDimension,
    /// A dimension has one carry.
    CarryTwice,
    /// A carry has a buffer for each component, and each has one access.
    CarryArity,
    /// A carry's buffers have the components' types.
    CarryType,
    /// A carry's index functions use neither its own dimension nor `pw` ones.
    CarryMap,
}

impl Rule {
    /// Its name, for tools: `ReadRange` is `read-range`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(c.to_lowercase());
        }
        name
    }
}

/// Subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The computation as a whole.
    Computation,
    /// A dimension, by its number.
    Dimension(usize),
    /// An operator, by its number.
    Operator(usize),
    /// The scalar function.
    Scalar,
    /// A buffer.
    Buffer(Place),
    /// A carry, by its number.
    Carry(usize),
}

/// A violated rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The broken rule.
    pub rule: Rule,
    /// Its subject.
    pub subject: Subject,
    /// Found, expected, and what to do: a phrase to follow the name of the computation.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A rule whose truth depends on values that are known at run time only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Obligation {
    /// The dimension's step and width are well formed.
    Grid {
        /// The dimension.
        dimension: usize,
    },
    /// The number of points fits 64 bits.
    Points,
    /// An access stays in its buffer.
    Range {
        /// The buffer.
        place: Place,
        /// The number of its access.
        access: usize,
        /// The buffer's axis.
        axis: usize,
    },
    /// No element of the buffer is written twice.
    Injective {
        /// The buffer.
        place: Place,
    },
    /// The `pw` dimension is not empty, or a carry is there.
    EmptyPw {
        /// The dimension.
        dimension: usize,
    },
}

/// Findings of the analyses.
#[derive(Default)]
struct Report {
    findings: Vec<Finding>,
    obligations: Vec<Obligation>,
}

impl Report {
    fn find(&mut self, rule: Rule, subject: Subject, message: String) {
        self.findings.push(Finding {
            rule,
            subject,
            message,
        });
    }

    fn owe(&mut self, obligation: Obligation) {
        self.obligations.push(obligation);
    }
}

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

/// `1 buffer`, `2 buffers`.
fn count(n: usize, what: &str) -> String {
    let plural = match what {
        "index" => "indices".into(),
        "axis" => "axes".into(),
        what => format!("{what}s"),
    };
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {plural}"),
    }
}

/// Returns a buffer's name in messages.
fn buffer_text(computation: &Computation, place: Place) -> String {
    let name = computation.buffer(place).map_or("", |b| b.name.as_str());
    place_text(place, name)
}

fn place_text(place: Place, name: &str) -> String {
    let kind = match place {
        Place::Input(_) => "input",
        Place::Output(_) => "output",
        Place::Incoming { .. } => "carry",
        Place::Outgoing { .. } => "carried-out",
    };
    format!("{kind} '{name}'")
}

#[cfg(test)]
#[path = "rules/tests.rs"]
mod tests;
