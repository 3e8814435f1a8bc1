//! Failures: reasons for which the oracle has no result.

use std::fmt;

use crate::laws::Violation;
use crate::machine::EvalError;

/// Reasons for which there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The scalar function or an operator has none.
    Code {
        /// The operator's name or the point.
        place: String,
        /// The error.
        error: EvalError,
    },
    /// An operator does not have a law that the program says it has, on what it combines here.
    Law(Box<Violation>),
    /// An empty `pw` dimension without neutral element and carry.
    EmptyPw {
        /// The dimension's name.
        dimension: String,
    },
    /// An access outside its buffer.
    Outside {
        /// The buffer's name.
        buffer: String,
        /// The index, from 0; `None` if it does not fit 64 bits.
        index: Option<Vec<i64>>,
        /// The buffer's shape.
        shape: Vec<i64>,
    },
    /// Sizes are not known, or the computation is not well defined.
    NotReady(String),
    /// The environment cannot read.
    Environment(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Code { place, error } => write!(f, "{place}: {error}"),
            Failure::Law(violation) => write!(f, "{violation}"),
            Failure::EmptyPw { dimension } => write!(
                f,
                "dimension '{dimension}' is empty, its operator has no neutral element and there \
                 is no carry: expected at least one point, or 'neutral(...)' on the operator"
            ),
            Failure::Outside {
                buffer,
                index,
                shape,
            } => {
                write!(f, "'{buffer}' of shape {shape:?} is accessed at ")?;
                match index {
                    Some(index) => write!(f, "{index:?}"),
                    None => f.write_str("an index that does not fit 64 bits"),
                }
            }
            Failure::NotReady(what) | Failure::Environment(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

/// `(i = 3, k = 4)`.
pub(super) fn point_text(names: &[&str], point: &[i64]) -> String {
    if names.len() < point.len() {
        return format!("the point {point:?}");
    }
    let parts: Vec<_> = (names.iter().zip(point))
        .map(|(name, index)| format!("{name} = {index}"))
        .collect();
    format!("({})", parts.join(", "))
}
