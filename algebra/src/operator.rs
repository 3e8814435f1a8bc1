//! Combine operators' functions `f`: built-in ones, and regions on the whole tuple.

use crate::code::Code;
use crate::scalar::Scalar;

/// The built-in operators, under arith's names and with arith's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are arith's")]
pub enum Builtin {
    Addf, Mulf, Minimumf, Maximumf, Addi, Muli, Minsi, Maxsi, Minui, Maxui, Andi, Ori, Xori,
}

/// The function of a combine operator.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// One built-in operator for each component of the tuple.
    Builtin(Vec<Builtin>),
    /// A region on the whole tuple.
    User(UserOperator),
}

/// An operator given by a region.
#[derive(Clone, Debug, PartialEq)]
pub struct UserOperator {
    /// Its name, for messages.
    pub name: String,
    /// `2n` inputs (left tuple, then right), `n` results.
    pub code: Code,
    /// One value for each component, if it was given.
    pub neutral: Option<Vec<Scalar>>,
    /// Declared commutative.
    pub commutative: bool,
    /// Declared associative.
    pub associative: bool,
}
