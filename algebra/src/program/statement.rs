//! Statements, with the values that they are made of.

use std::sync::Arc;

use super::body::{Body, For, Forall, Graph, If, While};
use super::slices::{Index, Memory, Shaping, SliceOperands};
use crate::computation::{Computation, Extent};
use crate::index::Name;
use crate::layout::Layout;
use crate::nest::Nest;
use crate::op::Op;
use crate::scalar::{Scalar, ScalarType};

/// A value of a program: a scalar, a tensor, or the contents of a memref.
pub type ValueId = usize;

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

/// A nest with its operands. A scalar may stand for an operand without axes.
#[derive(Clone, Debug, PartialEq)]
pub struct NestOperands {
    /// Holds what is done.
    pub nest: Nest,
    /// One value for each input.
    pub inputs: Vec<ValueId>,
    /// One for each output: it gives the shape, and what elements hold that are read or not written.
    pub outputs: Vec<ValueId>,
    /// The values after it. For memrefs these are the outputs themselves.
    pub results: Vec<ValueId>,
}

/// A layout applied to an index or an offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// The layout.
    pub layout: Arc<Layout>,
    /// The question.
    pub asked: Asked,
    /// The components of the index, or the offset.
    pub operands: Vec<ValueId>,
    /// The layout's symbols.
    pub sizes: Vec<(Name, ValueId)>,
    /// The offset, or the components of the index.
    pub results: Vec<ValueId>,
}

/// A question to a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The offset of an index.
    Apply,
    /// The index of an offset.
    Inv,
}

impl Asked {
    /// Returns the answer of a layout of numbers.
    ///
    /// # Errors
    /// If the index or the offset does not lie in it.
    pub fn answer(self, layout: &Layout, operands: &[i64]) -> Result<Vec<i64>, String> {
        match (self, operands) {
            (Asked::Inv, [offset]) => layout.inv_at(*offset),
            _ => Ok(vec![layout.apply_at(operands)?]),
        }
    }
}

impl Statement {
    /// Returns the number of statements, nested ones included.
    pub fn size(&self) -> usize {
        1 + self.bodies().iter().map(|body| body.size()).sum::<usize>()
    }

    /// The statements that it holds.
    pub fn bodies(&self) -> Vec<&Body> {
        match self {
            Statement::For(of) => vec![&of.body],
            Statement::Forall(of) => vec![&of.body],
            Statement::While(of) => vec![&of.before, &of.after],
            Statement::If(of) => of.branches.iter().collect(),
            Statement::Graph(of) => of.blocks.iter().map(|block| &block.body).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns whether it is followed for a check only: its effect depends on elements of tensors,
    /// is repeated any number of times, or is checked by the compiled program itself.
    pub fn needs_values(&self) -> bool {
        matches!(
            self,
            Statement::For(_)
                | Statement::Forall(_)
                | Statement::While(_)
                | Statement::If(_)
                | Statement::Graph(_)
                | Statement::Load { .. }
                | Statement::Store { .. }
                | Statement::Slice { .. }
                | Statement::Insert { .. }
                | Statement::Alias { slice: Some(_), .. }
                | Statement::Reinterpret { .. }
        )
    }
}
