//! A function as data: scalar arithmetic, tensors and computations, statement after statement.
//!
//! [`Program::instantiate`] runs the scalars and shapes only, which is cheap: it binds every
//! computation's sizes, checks all rules, and counts. A [`Reference`] then evaluates elements of
//! results on demand, so that a chosen element of a long chain costs only what it needs.

mod body;
mod control;
mod counts;
mod graph;
mod instance;
mod instantiate;
mod memory;
mod nests;
mod placement;
mod plain;
mod reference;
mod slices;
mod statement;
mod tensors;

use std::fmt;

pub use body::{Body, For, Forall, Graph, GraphBlock, If, Insertion, While};
pub use instance::{Argument, Instance};
pub use reference::{Reference, Target};
pub use slices::{Index, Memory, Shaping, SliceOperands};
pub use statement::{Asked, CarryOperands, Compute, NestOperands, Placement, Statement, ValueId};

use crate::computation::Extent;
use crate::scalar::ScalarType;

/// A function. Its arguments are the values `0..arguments.len()`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// Types of the arguments.
    pub arguments: Vec<ArgumentType>,
    /// The body.
    pub statements: Vec<Statement>,
    /// The returned values.
    pub returns: Vec<ValueId>,
}

impl Program {
    /// All statements, nested ones after the statement that holds them.
    pub fn all_statements(&self) -> Vec<&Statement> {
        let mut statements = Vec::new();
        let mut open: Vec<&Statement> = self.statements.iter().rev().collect();
        while let Some(statement) = open.pop() {
            statements.push(statement);
            let held = statement.bodies().into_iter().flat_map(|b| &b.statements);
            let held: Vec<&Statement> = held.collect();
            open.extend(held.into_iter().rev());
        }
        statements
    }
}

/// The type of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentType {
    /// A scalar.
    Scalar(ScalarType),
    /// A tensor or memref.
    Tensor {
        /// Its element type.
        element: ScalarType,
        /// Its shape.
        shape: Vec<Extent>,
    },
}

/// Reason for which a program cannot be instantiated.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramError {
    /// The number of the statement, those that a statement holds counted after it; `None` for
    /// arguments and returns.
    pub statement: Option<usize>,
    /// Found and expected.
    pub message: String,
    /// True if nothing is known to be wrong but that loops go on for longer than is followed.
    pub is_too_long: bool,
    /// True if it is but that the definition leaves open which way a condition goes.
    pub is_open: bool,
    /// True if a tensor has more bytes than can be addressed.
    pub is_too_large: bool,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProgramError {}

#[cfg(test)]
#[path = "program/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "program/control_tests.rs"]
mod control_tests;
