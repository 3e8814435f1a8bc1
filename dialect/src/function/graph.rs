//! Regions of one block, or of several ones that lead to each other.

use mdh_algebra::code::{CmpiPredicate, Op as ScalarOp};
use mdh_algebra::program::{Graph, GraphBlock, Statement, ValueId};
use mdh_algebra::scalar::{Scalar, ScalarType};
use melior::ir::{BlockLike, BlockRef, RegionLike, RegionRef, ValueLike};
use mlir_sys::{mlirBlockGetNumSuccessors, mlirBlockGetSuccessor};

use super::constants::elements;
use super::translator::{Translator, Unknown};
use crate::code::arguments;
use crate::ir::{self, Op};
use crate::ops;
use crate::types;

impl<'c> Translator<'c> {
    /// Puts the statements of a region, whose first block has its arguments already; what it yields.
    pub(super) fn blocks(
        &mut self,
        op: Op<'c>,
        region: RegionRef<'c, 'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<Vec<ValueId>, Unknown<'c>> {
        let here = |message: &str| Unknown {
            op,
            message: message.into(),
        };
        if let Some(block) = ir::only_block(region) {
            let body = self.block(block)?;
            statements.extend(body.statements);
            return Ok(body.yields);
        }
        let reachable = reached(region);
        let mut carried = vec![Vec::new(); reachable.len()];
        for (block, ids) in reachable.iter().zip(&mut carried).skip(1) {
            let values = arguments(*block).into_iter();
            *ids = values.map(|value| self.carried(value)).collect();
        }
        self.origins.push(self.instead.unwrap_or(op));
        // Each case of a switch behind the first one has a block of its own behind the switch's.
        let mut places = Vec::new();
        let mut count = 0;
        for block in &reachable {
            places.push(count);
            count += switch(*block).map_or(1, |op| cases(op).len().max(1));
        }
        let mut blocks = Vec::new();
        for (block, arguments) in reachable.iter().zip(carried) {
            let next = successors(*block).into_iter().map(|next| {
                let is_it = |other: &BlockRef| other.to_raw().ptr == next.to_raw().ptr;
                reachable.iter().position(is_it).map(|n| places[n])
            });
            let next: Option<Vec<usize>> = next.collect();
            let block_of = GraphBlock {
                arguments,
                body: self.block(*block)?,
                next: next.ok_or_else(|| here("leads to a block that is not there"))?,
            };
            match switch(*block) {
                None => blocks.push(block_of),
                Some(op) => self.switched(op, block_of, &mut blocks)?,
            }
        }
        let mut ends = blocks.iter().filter(|block| block.next.is_empty());
        let yields = ends
            .next()
            .map_or(Vec::new(), |end| end.body.yields.clone());
        let results = yields.into_iter().map(|value| self.leaving(value));
        let results: Vec<ValueId> = results.collect();
        statements.push(Statement::Graph(Box::new(Graph {
            blocks,
            results: results.clone(),
        })));
        Ok(results)
    }

    /// Puts the blocks of one that ends in a switch: one comparison each, one after the other.
    fn switched(
        &mut self,
        op: Op<'c>,
        block: GraphBlock,
        blocks: &mut Vec<GraphBlock>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: &str| Unknown {
            op,
            message: message.into(),
        };
        let GraphBlock {
            arguments,
            mut body,
            next,
        } = block;
        let cases = cases(op);
        let counts = ir::integers(op, "case_operand_segments");
        let (default, targets) = next.split_first().ok_or_else(|| here("leads nowhere"))?;
        let mut handed = body.yields.drain(..);
        let flag = handed.next().ok_or_else(|| here("has no flag"))?;
        let mut handed: Vec<ValueId> = handed.collect();
        let of_cases: usize = counts.iter().map(|count| *count as usize).sum();
        let mut of_cases = handed.split_off(handed.len().saturating_sub(of_cases));
        if cases.len() != targets.len() || counts.len() != targets.len() {
            return Err(here("has other than one number for each case"));
        }
        let last = cases.len().saturating_sub(1);
        let mut first = Some((arguments, body));
        for (n, (case, to)) in cases.into_iter().zip(targets).enumerate() {
            let (arguments, mut body) = first.take().unwrap_or_default();
            let rest = of_cases.split_off((counts[n] as usize).min(of_cases.len()));
            let case_operands = std::mem::replace(&mut of_cases, rest);
            let condition = self.is_case(op, (flag, case), &mut body.statements);
            body.yields = [vec![condition], case_operands].concat();
            let otherwise = match n == last {
                true => {
                    body.yields.extend(&handed);
                    *default
                }
                false => blocks.len() + 1,
            };
            blocks.push(GraphBlock {
                arguments,
                body,
                next: vec![*to, otherwise],
            });
        }
        if let Some((arguments, mut body)) = first {
            body.yields = handed;
            let next = vec![*default];
            blocks.push(GraphBlock {
                arguments,
                body,
                next,
            });
        }
        Ok(())
    }

    /// Returns whether a value is that of a case.
    pub(super) fn is_case(
        &mut self,
        op: Op<'c>,
        (flag, value): (ValueId, Scalar),
        statements: &mut Vec<Statement>,
    ) -> ValueId {
        let (number, result) = (self.fresh(), self.fresh());
        let constant = Statement::Constant {
            result: number,
            value,
        };
        self.put(op, statements, constant);
        let compare = Statement::Apply {
            result,
            op: ScalarOp::Cmpi(CmpiPredicate::Eq),
            operands: vec![flag, number],
            ty: ScalarType::I1,
        };
        self.put(op, statements, compare);
        result
    }
}

/// The `cf.switch` at the end of a block.
fn switch<'c>(block: BlockRef<'c, 'c>) -> Option<Op<'c>> {
    let last = ir::ops_of(block).pop();
    last.filter(|op| ir::name_of(*op) == ops::cf::SWITCH)
}

/// The numbers of its cases, in their order.
fn cases(switch: Op) -> Vec<Scalar> {
    let flag = ir::operand(switch, 0).and_then(|flag| types::scalar_type(flag.r#type()));
    let values = ir::attribute(switch, "case_values");
    let numbers = values
        .zip(flag)
        .and_then(|(values, ty)| elements(values, ty));
    let count = ir::integers(switch, "case_operand_segments").len();
    let mut numbers = numbers.unwrap_or_default();
    // Numbers that are all the same are written once.
    if let &[only] = &numbers[..] {
        numbers = vec![only; count];
    }
    numbers
}

/// The blocks that the first one leads to, each behind those that all ways to it go through.
fn reached<'c>(region: RegionRef<'c, 'c>) -> Vec<BlockRef<'c, 'c>> {
    let mut blocks: Vec<BlockRef<'c, 'c>> = Vec::new();
    let mut open: Vec<BlockRef<'c, 'c>> = region.first_block().into_iter().collect();
    while let Some(block) = open.pop() {
        let is_it = |other: &BlockRef| other.to_raw().ptr == block.to_raw().ptr;
        if !blocks.iter().any(is_it) {
            blocks.push(block);
            open.extend(successors(block).into_iter().rev());
        }
    }
    blocks
}

fn successors<'c>(block: BlockRef<'c, 'c>) -> Vec<BlockRef<'c, 'c>> {
    // SAFETY: the block is there, and as long as it is, so are those that it leads to.
    unsafe {
        let count = mlirBlockGetNumSuccessors(block.to_raw());
        (0..count)
            .map(|n| BlockRef::from_raw(mlirBlockGetSuccessor(block.to_raw(), n)))
            .collect()
    }
}
