//! A function as data: scalar arithmetic, tensors and computations, statement after statement.
//!
//! [`Program::instantiate`] runs the scalars and shapes only, which is cheap: it binds every
//! computation's sizes, checks all rules, and counts. A [`Reference`] then evaluates elements of
//! results on demand, so that a chosen element of a long chain costs only what it needs.

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
mod tensors;

use std::fmt;
use std::sync::Arc;

pub use control::{Body, For, Forall, If, Insertion, While};
pub use graph::{Graph, GraphBlock};
pub use instance::{Argument, Instance};
pub use nests::NestOperands;
pub use placement::{Asked, Placement};
pub use reference::{Reference, Target};
pub use slices::{Index, Memory, Shaping, SliceOperands};

use crate::computation::{Computation, Extent};
use crate::op::Op;
use crate::scalar::{Scalar, ScalarType};

/// A value of a program: a scalar, a tensor, or the contents of a memref.
pub type ValueId = usize;

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

/// A statement. Results may be any numbers that are not in use; assigning one again (what a
/// memref holds) is allowed and changes it from there on.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "the fields are the parts their variant's line names"
)]
pub enum Statement {
    /// `result = value`: a scalar.
    Constant { result: ValueId, value: Scalar },
    /// `result = op(operands) : ty`, of scalars.
    Apply {
        result: ValueId,
        op: Op,
        operands: Vec<ValueId>,
        ty: ScalarType,
    },
    /// `result = extent of the tensor in an axis` (`tensor.dim`, `memref.dim`), an index.
    Dim {
        result: ValueId,
        tensor: ValueId,
        axis: ValueId,
    },
    /// A tensor or memref that holds nothing yet (`tensor.empty`, `memref.alloc`); `sizes` are
    /// the unknown extents in order.
    Empty {
        result: ValueId,
        element: ScalarType,
        shape: Vec<Extent>,
        sizes: Vec<ValueId>,
    },
    /// A tensor of constants in row-major order; one constant stands for all.
    Literal {
        result: ValueId,
        element: ScalarType,
        shape: Vec<i64>,
        values: Arc<[Scalar]>,
    },
    /// `tensor`'s shape filled with a scalar (`linalg.fill`); `result` may be `tensor` itself.
    Fill {
        result: ValueId,
        value: ValueId,
        tensor: ValueId,
    },
    /// The same tensor under another, more or less static type (`tensor.cast`).
    Cast {
        result: ValueId,
        tensor: ValueId,
        shape: Vec<Extent>,
    },
    /// A part of a tensor (`tensor.extract_slice`).
    Slice {
        result: ValueId,
        tensor: ValueId,
        slice: SliceOperands,
    },
    /// A tensor with another one, or a scalar, in a part of it (`tensor.insert_slice`).
    Insert {
        result: ValueId,
        part: ValueId,
        tensor: ValueId,
        slice: SliceOperands,
    },
    /// The same elements, in row-major order, under another shape (`tensor.expand_shape`,
    /// `tensor.collapse_shape`, `memref.expand_shape`, `memref.collapse_shape`).
    Reshape {
        result: ValueId,
        tensor: ValueId,
        shaping: Shaping,
        memory: Memory,
    },
    /// A tensor with so many times a scalar before and after it in each axis (`tensor.pad`).
    Pad {
        result: ValueId,
        tensor: ValueId,
        value: ValueId,
        low: Vec<Index>,
        high: Vec<Index>,
    },
    /// Tensors one after the other along an axis (`tensor.concat`).
    Concat {
        result: ValueId,
        axis: usize,
        parts: Vec<ValueId>,
    },
    /// A tensor of scalars in row-major order (`tensor.from_elements`).
    FromElements {
        result: ValueId,
        element: ScalarType,
        shape: Vec<i64>,
        values: Vec<ValueId>,
    },
    /// Another name of a memref or of a part of it (`memref.subview`, `memref.cast`): what is
    /// written to the one is written to the other.
    Alias {
        result: ValueId,
        memref: ValueId,
        slice: Option<SliceOperands>,
    },
    /// The memory under a memref under other offsets and strides, which count its elements from its
    /// first one on (`memref.reinterpret_cast`).
    Reinterpret {
        result: ValueId,
        memref: ValueId,
        offset: Index,
        sizes: Vec<Index>,
        strides: Vec<Index>,
    },
    /// `result = tensor[indices]`: a scalar (`tensor.extract`, `memref.load`).
    Load {
        result: ValueId,
        tensor: ValueId,
        indices: Vec<ValueId>,
    },
    /// A tensor with another element at one place; `result` may be `tensor` itself
    /// (`tensor.insert`, `memref.store`).
    Store {
        result: ValueId,
        value: ValueId,
        tensor: ValueId,
        indices: Vec<ValueId>,
    },
    /// A layout applied to an index or an offset (`mdh.layout.apply`, `mdh.layout.inv`).
    Layout(Box<Placement>),
    /// A loop over numbers.
    For(Box<For>),
    /// A loop as long as a condition holds.
    While(Box<While>),
    /// Loops whose iterations are independent.
    Forall(Box<Forall>),
    /// A branch.
    If(Box<If>),
    /// Blocks that lead to each other.
    Graph(Box<Graph>),
    /// `mdh.compute`.
    Compute(Box<Compute>),
    /// Loops around scalar code on elements (`linalg.generic`).
    Nest(Box<NestOperands>),
}

/// A computation with its operands. A scalar may stand for a buffer without axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Compute {
    /// The computation.
    pub computation: Computation,
    /// One value for each input.
    pub inputs: Vec<ValueId>,
    /// One destination for each output.
    pub outputs: Vec<ValueId>,
    /// One for each carry.
    pub carries: Vec<CarryOperands>,
    /// Unknown bounds, as in [`crate::bind::Binding::bounds`].
    pub bounds: Vec<ValueId>,
    /// Unknown origins, as in [`crate::bind::Binding::origins`].
    pub origins: Vec<ValueId>,
    /// The values after it: one for each output, then for each outgoing buffer. For memrefs
    /// these are the destinations themselves.
    pub results: Vec<ValueId>,
}

/// The operands of a carry.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CarryOperands {
    /// One value for each component.
    pub incoming: Vec<ValueId>,
    /// The valid bit, of a carry that has one.
    pub valid: Option<ValueId>,
    /// One destination for each component, or none.
    pub outgoing: Vec<ValueId>,
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
