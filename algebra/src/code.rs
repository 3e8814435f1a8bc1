//! Scalar code: what the regions of scalar functions and combine operators hold, as data that
//! can be interpreted. Structured SSA over registers, after MLIR's arith, math, scf and calls.

use std::sync::Arc;
use crate::scalar::{Scalar, ScalarType};

/// A register: a number that is assigned once.
pub type Register = usize;

/// A function on scalars. Registers `0..inputs.len()` hold its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// Types of the arguments.
    pub inputs: Vec<ScalarType>,
    /// Types of the results.
    pub results: Vec<ScalarType>,
    /// How many registers the body uses, arguments included.
    pub registers: usize,
    /// The body; its block yields the results.
    pub body: Block,
}

/// Instructions in order, then the values they yield.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The yielded registers.
    pub yields: Vec<Register>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// `result = value`.
    Constant { result: Register, value: Scalar },
    /// `result = index of a dimension of the point` (`mdh.index`).
    Index { result: Register, dimension: usize },
    /// `result = op(operands) : ty`.
    Apply { result: Register, op: Op, operands: Vec<Register>, ty: ScalarType },
    /// `scf.if`.
    If { condition: Register, then: Block, otherwise: Block, results: Vec<Register> },
    /// `scf.for` (signed bounds, positive step); `arguments` are the body's iteration arguments.
    For {
        lower: Register,
        upper: Register,
        step: Register,
        induction: Register,
        initial: Vec<Register>,
        arguments: Vec<Register>,
        body: Block,
        results: Vec<Register>,
    },
    /// `scf.while`: `before` yields the condition first, then the forwarded values, which are
    /// both `after`'s arguments and, when the condition is false, the results.
    While {
        initial: Vec<Register>,
        before_arguments: Vec<Register>,
        before: Block,
        after_arguments: Vec<Register>,
        after: Block,
        results: Vec<Register>,
    },
    /// `func.call`.
    Call { callee: Arc<Code>, operands: Vec<Register>, results: Vec<Register> },
}

/// An operation of arith or math on scalars, by its MLIR name (`arith.addf`). Comparisons carry
/// their predicate's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    // filled in by the implementation
}
