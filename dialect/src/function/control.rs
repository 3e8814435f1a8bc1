//! Loops and branches of a function into the algebra's.

use mdh_algebra::program::{Body, For, If, Statement, ValueId, While};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::{Translator, Unknown};
use crate::code::arguments;
use crate::ir::{self, Op, Val};
use crate::types::{self, BufferKind};

impl<'c> Translator<'c> {
    /// `scf.for`
    pub(super) fn for_loop(&mut self, op: Op<'c>) -> Result<Statement, Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let block = ir::only_block(ir::region(op, 0));
        let (Some(block), [lower, upper, step, initial @ ..]) = (block, &operands[..]) else {
            return Err(here("has no body".into()));
        };
        if ir::attribute(op, "unsignedCmp").is_some() {
            return Err(here(
                "counts in unsigned numbers: expected signed ones".into(),
            ));
        }
        carries_tensors(initial).map_err(here)?;
        let [lower, upper, step] = [lower, upper, step].map(|bound| self.id(*bound).map_err(here));
        let (lower, upper, step) = (lower?, upper?, step?);
        let initial = self.ids(initial).map_err(here)?;
        let mut own = arguments(block).into_iter();
        let index = own.next().map(|index| self.define(index));
        let index = index.ok_or_else(|| here("has no index".into()))?;
        let carried = own.map(|value| self.define(value)).collect();
        let body = self.body(op, 0)?;
        Ok(Statement::For(Box::new(For {
            lower,
            upper,
            step,
            index,
            initial,
            carried,
            body,
            results: self.results(op),
        })))
    }

    /// `scf.while`
    pub(super) fn while_loop(&mut self, op: Op<'c>) -> Result<Statement, Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let results: Vec<Val<'c>> = op.results().map(ir::value).collect();
        carries_tensors(&operands).map_err(here)?;
        carries_tensors(&results).map_err(here)?;
        let initial = self.ids(&operands).map_err(here)?;
        let before_carried = self.block_arguments(op, 0);
        let before = self.body(op, 0)?;
        let after_carried = self.block_arguments(op, 1);
        let after = self.body(op, 1)?;
        Ok(Statement::While(Box::new(While {
            initial,
            before_carried,
            before,
            after_carried,
            after,
            results: self.results(op),
        })))
    }

    fn block_arguments(&mut self, op: Op<'c>, region: usize) -> Vec<ValueId> {
        let block = ir::only_block(ir::region(op, region));
        let values = block.map_or(Vec::new(), arguments).into_iter();
        values.map(|value| self.define(value)).collect()
    }

    /// `scf.if`
    pub(super) fn branch(&mut self, op: Op<'c>) -> Result<Statement, Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let results: Vec<Val<'c>> = op.results().map(ir::value).collect();
        carries_tensors(&results).map_err(here)?;
        let condition = op.operand(0).map_err(|_| here("has no condition".into()))?;
        let condition = self.id(ir::value(condition)).map_err(here)?;
        let branches = [self.body(op, 0)?, self.body(op, 1)?];
        Ok(Statement::If(Box::new(If {
            condition,
            branches,
            results: self.results(op),
        })))
    }

    /// A region of one block, or none.
    fn body(&mut self, op: Op<'c>, region: usize) -> Result<Body, Unknown<'c>> {
        match ir::only_block(ir::region(op, region)) {
            Some(block) => self.block(block),
            None => Ok(Body::default()),
        }
    }

    fn results(&mut self, op: Op<'c>) -> Vec<ValueId> {
        let results: Vec<Val<'c>> = op.results().map(ir::value).collect();
        results
            .into_iter()
            .map(|value| self.define(value))
            .collect()
    }
}

/// A memref that is carried would be another name of one that is written.
fn carries_tensors(values: &[Val]) -> Result<(), String> {
    let is_memref = |value: &&Val| {
        types::buffer_type(value.r#type()).is_some_and(|t| t.kind == BufferKind::MemRef)
    };
    match values.iter().find(is_memref) {
        Some(value) => Err(format!(
            "carries out a value of type {}, which the oracle does not follow: expected tensors and \
             scalars",
            value.r#type()
        )),
        None => Ok(()),
    }
}
