//! Findings: the rule that is broken, its subject and a message, or a condition that is left to be checked
//! at run time.

use std::fmt;

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
pub(super) struct Report {
    pub(super) findings: Vec<Finding>,
    pub(super) obligations: Vec<Obligation>,
}

impl Report {
    pub(super) fn find(&mut self, rule: Rule, subject: Subject, message: String) {
        self.findings.push(Finding {
            rule,
            subject,
            message,
        });
    }

    pub(super) fn owe(&mut self, obligation: Obligation) {
        self.obligations.push(obligation);
    }
}

/// `1 buffer`, `2 buffers`.
pub(super) fn count(n: usize, what: &str) -> String {
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
pub(super) fn buffer_text(computation: &Computation, place: Place) -> String {
    let name = computation.buffer(place).map_or("", |b| b.name.as_str());
    place_text(place, name)
}

pub(super) fn place_text(place: Place, name: &str) -> String {
    let kind = match place {
        Place::Input(_) => "input",
        Place::Output(_) => "output",
        Place::Incoming { .. } => "carry",
        Place::Outgoing { .. } => "carried-out",
    };
    format!("{kind} '{name}'")
}
