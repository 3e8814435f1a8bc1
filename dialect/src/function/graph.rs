//! Regions of one block, or of several ones that lead to each other.

use mdh_algebra::program::{Graph, GraphBlock, Statement, ValueId};
use melior::ir::{BlockLike, BlockRef, RegionLike, RegionRef};
use mlir_sys::{mlirBlockGetNumSuccessors, mlirBlockGetSuccessor};

use super::{Translator, Unknown};
use crate::code::arguments;
use crate::ir::{self, Op};

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
        let all = reached(region);
        let mut own = vec![Vec::new(); all.len()];
        for (block, own) in all.iter().zip(&mut own).skip(1) {
            let values = arguments(*block).into_iter();
            *own = values.map(|value| self.carried(value)).collect();
        }
        self.origins.push(self.instead.unwrap_or(op));
        let mut blocks = Vec::new();
        for (block, arguments) in all.iter().zip(own) {
            let next = successors(*block).into_iter().map(|next| {
                let is_it = |other: &BlockRef| other.to_raw().ptr == next.to_raw().ptr;
                all.iter().position(is_it)
            });
            let next: Option<Vec<usize>> = next.collect();
            blocks.push(GraphBlock {
                arguments,
                body: self.block(*block)?,
                next: next.ok_or_else(|| here("leads to a block that is not there"))?,
            });
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
}

/// The blocks that the first one leads to, each behind those that all ways to it go through.
fn reached<'c>(region: RegionRef<'c, 'c>) -> Vec<BlockRef<'c, 'c>> {
    let mut found: Vec<BlockRef<'c, 'c>> = Vec::new();
    let mut open: Vec<BlockRef<'c, 'c>> = region.first_block().into_iter().collect();
    while let Some(block) = open.pop() {
        let is_it = |other: &BlockRef| other.to_raw().ptr == block.to_raw().ptr;
        if !found.iter().any(is_it) {
            found.push(block);
            open.extend(successors(block).into_iter().rev());
        }
    }
    found
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
