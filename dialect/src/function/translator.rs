//! Values of a function by the numbers that they have in its program, and an operation that has no
//! place there.

use std::collections::HashMap;

use mdh_algebra::program::{Program, SliceOperands, Statement, ValueId};
use melior::ir::{Type, ValueLike};

use super::upstream::Copy;
use crate::ir::{self, Op, Val};
use crate::translate::Depth;
use crate::types;

/// An operation that the oracle does not know, and why.
pub struct Unknown<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Found and expected.
    pub message: String,
}

/// A function while it is translated.
pub(super) struct Translator<'c> {
    pub(super) depth: Depth,
    pub(super) ids: HashMap<usize, ValueId>,
    pub(super) next: ValueId,
    pub(super) program: Program,
    pub(super) origins: Vec<Op<'c>>,
    /// Holds the operation that is read in the form that upstream gave it.
    pub(super) instead: Option<Op<'c>>,
    /// Holds these forms, as long as values of theirs have names here.
    pub(super) copies: Vec<Copy<'c>>,
    /// Holds the memref that another name of one, or of a part of one, stands for.
    pub(super) roots: HashMap<ValueId, ValueId>,
    /// For names of memrefs, what each is a part of; the whole of it without a slice.
    pub(super) within: HashMap<ValueId, (ValueId, Option<SliceOperands>)>,
    /// Holds the indices of the loops of the generic that is read as loops.
    pub(super) nest: Vec<ValueId>,
    /// Holds the names of the functions that are read, each called by the one before it.
    pub(super) calls: Vec<&'c str>,
    /// Holds the memory behind the names of global variables.
    pub(super) globals: HashMap<String, ValueId>,
    /// Holds what comes before all others: what global variables hold.
    pub(super) start: Vec<(Op<'c>, Statement)>,
    /// Holds the arguments that are memrefs of which elements do not lie one after the other.
    pub(super) strided: Vec<ValueId>,
}

impl<'c> Translator<'c> {
    /// A number for a value that no operation has.
    pub(super) fn fresh(&mut self) -> ValueId {
        self.next += 1;
        self.next - 1
    }

    /// Gives a value the number of another one.
    pub(super) fn name(&mut self, value: Val<'c>, id: ValueId) {
        self.ids.insert(value.to_raw().ptr as usize, id);
    }

    /// Adds a statement that comes from an operation.
    pub(super) fn put(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
        statement: Statement,
    ) {
        self.origins.push(self.instead.unwrap_or(op));
        statements.push(statement);
    }

    pub(super) fn define(&mut self, value: Val<'c>) -> ValueId {
        self.ids.insert(value.to_raw().ptr as usize, self.next);
        self.next += 1;
        self.next - 1
    }

    pub(super) fn id(&self, value: Val<'c>) -> Result<ValueId, String> {
        self.ids
            .get(&(value.to_raw().ptr as usize))
            .copied()
            .ok_or_else(|| format!("uses {value}, which the oracle does not know"))
    }

    pub(super) fn ids(&self, values: &[Val<'c>]) -> Result<Vec<ValueId>, String> {
        values.iter().map(|v| self.id(*v)).collect()
    }

    /// The only result of an operation.
    pub(super) fn result(&mut self, op: Op<'c>) -> Result<ValueId, String> {
        let result = op.result(0).map_err(|_| "has no result".to_owned())?;
        Ok(self.define(ir::value(result)))
    }
}

/// Returns the message about an operation that has no statement, to follow its name.
pub(super) fn unknown() -> String {
    "is not known to the oracle: expected mdh.compute, operations of linalg, constants, scalar \
     arithmetic, loops and branches of scf or affine, cf.br, cf.cond_br and cf.switch, calls of functions, tensors \
     that are made, cast, cut, padded, joined or seen under another shape, their elements, or \
     allocations, global variables, casts, copies, parts, loads and stores of memrefs, or \
     bufferization.to_tensor, to_buffer and materialize_in_destination; lower what it is to these, or check without it"
        .to_owned()
}

/// The type of the only result of an operation.
pub(super) fn result_type(op: Op) -> Result<types::BufferType, String> {
    let ty: Option<Type> = op.result(0).ok().map(|r| ir::value(r).r#type());
    ty.and_then(types::buffer_type)
        .ok_or_else(|| "has a result of an unknown type".to_owned())
}
