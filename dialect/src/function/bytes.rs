//! Bytes that are seen as numbers: `memref.view`.
//!
//! The oracle knows the numbers in memory and not their bytes. Memory of bytes that nothing but views of
//! one type of number ever show is memory of these numbers.

use mdh_algebra::code::{CmpiPredicate, Op as ScalarOp};
use mdh_algebra::program::{Index, Statement, ValueId};
use mdh_algebra::scalar::ScalarType;
use melior::ir::ValueLike;

use super::translator::{Translator, result_type};
use crate::ir::{self, Op};
use crate::ops;
use crate::types::{self, BufferType};

/// The type that all views of allocated bytes have, if nothing else uses these.
pub(super) fn seen_as(allocation: Op) -> Option<ScalarType> {
    let bytes = ir::result(allocation, 0)?;
    let BufferType { element, shape, .. } = types::buffer_type(bytes.r#type())?;
    let users = ir::users(bytes);
    if element != ScalarType::I8 || shape.len() != 1 || super::memory::is_strided(bytes) {
        return None;
    }
    let mut seen = None;
    for user in users {
        let ty = match ir::name_of(user) {
            ops::memref::DEALLOC => continue,
            ops::memref::VIEW => types::buffer_type(ir::result(user, 0)?.r#type())?.element,
            _ => return None,
        };
        if seen.is_some_and(|seen| seen != ty) {
            return None;
        }
        seen = Some(ty);
    }
    seen.filter(|ty| *ty != ScalarType::I1)
}

impl<'c> Translator<'c> {
    /// Memory of as many numbers as fit in bytes that are allocated.
    pub(super) fn arena(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let element = seen_as(op).ok_or_else(unfollowed)?;
        let width = element.byte_width() as i64;
        let size = result_type(op)?.shape.first().copied().flatten();
        let sizes = match size {
            Some(_) => Vec::new(),
            None => {
                let bytes = self.id(ir::operand(op, 0).ok_or("has no size")?)?;
                let width = self.index(op, width, statements);
                vec![self.operate(op, ScalarOp::Divsi, [bytes, width], statements)]
            }
        };
        let statement = Statement::Empty {
            result: self.result(op)?,
            element,
            shape: vec![size.map(|bytes| bytes / width)],
            sizes,
        };
        self.put(op, statements, statement);
        Ok(())
    }

    /// `memref.view`
    pub(super) fn view(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let bytes = ir::operand(op, 0).ok_or("has no operand")?;
        let is_allocated =
            |made: &Op| [ops::memref::ALLOC, ops::memref::ALLOCA].contains(&ir::name_of(*made));
        let allocation = ir::defining_op(bytes).filter(is_allocated);
        let element = allocation.and_then(seen_as).ok_or_else(unfollowed)?;
        let shift = self.id(ir::operand(op, 1).ok_or("has no offset")?)?;
        let offset = self.exact_quotient(op, (shift, element.byte_width() as i64), statements);
        let mut next = 2;
        let mut sizes = Vec::new();
        for size in result_type(op)?.shape {
            sizes.push(match size {
                Some(size) => Index::Known(size),
                None => {
                    let size = ir::operand(op, next).ok_or("has too few sizes")?;
                    next += 1;
                    Index::Value(self.id(size)?)
                }
            });
        }
        let strides = self.dense(op, &sizes, statements);
        let memref = self.id(bytes)?;
        let result = self.result(op)?;
        self.shares(result, memref);
        let view = Statement::Reinterpret {
            result,
            memref,
            offset: Index::Value(offset),
            sizes,
            strides,
        };
        self.put(op, statements, view);
        Ok(())
    }

    /// Bytes as numbers of so many each: none, which is outside of all memory, where a part is left.
    fn exact_quotient(
        &mut self,
        op: Op<'c>,
        (bytes, width): (ValueId, i64),
        statements: &mut Vec<Statement>,
    ) -> ValueId {
        let width = self.index(op, width, statements);
        let numbers = self.operate(op, ScalarOp::Divsi, [bytes, width], statements);
        let back = self.operate(op, ScalarOp::Muli, [numbers, width], statements);
        let is_whole = self.fresh();
        let compare = Statement::Apply {
            result: is_whole,
            op: ScalarOp::Cmpi(CmpiPredicate::Eq),
            operands: vec![back, bytes],
            ty: ScalarType::I1,
        };
        self.put(op, statements, compare);
        let outside = self.index(op, -1, statements);
        let result = self.fresh();
        let select = Statement::Apply {
            result,
            op: ScalarOp::Select,
            operands: vec![is_whole, numbers, outside],
            ty: ScalarType::Index,
        };
        self.put(op, statements, select);
        result
    }
}

/// Returns the message about bytes that are more than numbers of one type, to follow the name of what
/// shows them.
fn unfollowed() -> String {
    "sees bytes as numbers, which the oracle follows only where they are allocated in the function and \
     nothing but views of the same type of number (not i1) uses them, since it knows the numbers in \
     memory and not their bytes: expected such bytes, or memory of the type of its elements; allocate \
     that, or take parts of it by memref.subview or memref.reinterpret_cast"
        .to_owned()
}
