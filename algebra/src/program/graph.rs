//! Blocks that lead to each other: the body of a function with branches, `cf.br` and `cf.cond_br`.

use super::ValueId;
use super::control::{Body, Handed};
use super::instance::Instance;

/// Blocks, of which the first one comes first.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Graph {
    /// The blocks.
    pub blocks: Vec<GraphBlock>,
    /// The values that the block yields which leads nowhere.
    pub results: Vec<ValueId>,
}

/// A block with what comes after it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct GraphBlock {
    /// Holds what the block calls the values that it is handed.
    pub arguments: Vec<ValueId>,
    /// Its statements. It yields what it hands to each of the next blocks, one after the other, behind
    /// the condition where there are two.
    pub body: Body,
    /// The number of the next block, or those for true and for false; none at the end.
    pub next: Vec<usize>,
}

impl Graph {
    /// The number of statements before a block.
    fn before(&self, block: usize) -> usize {
        self.blocks[..block].iter().map(|b| b.body.size()).sum()
    }
}

impl Instance<'_> {
    pub(super) fn run_graph(&mut self, of: &Graph, number: usize) -> Result<(), (usize, String)> {
        let here = |message: String| (number, message);
        let mut current = 0;
        loop {
            self.count_iteration().map_err(here)?;
            let Some(block) = of.blocks.get(current) else {
                return Err(here("bug: a block that is not there".into()));
            };
            self.run_all(&block.body.statements, number + 1 + of.before(current))?;
            let yields = &block.body.yields;
            let (next, handed) = match (&block.next[..], yields.split_first()) {
                ([], _) => {
                    let values = self.all(yields).map_err(here)?;
                    return self.assign_all(&of.results, &values).map_err(here);
                }
                ([next], _) => (*next, &yields[..]),
                ([yes, no], Some((condition, handed))) => {
                    let count = of.blocks.get(*yes).map_or(0, |b| b.arguments.len());
                    let (first, second) = handed.split_at(count.min(handed.len()));
                    match self.known_scalar(*condition).map_err(here)?.is_true() {
                        true => (*yes, first),
                        false => (*no, second),
                    }
                }
                _ => {
                    return Err(here(
                        "bug: a block with other than one or two after it".into(),
                    ));
                }
            };
            let values: Vec<Handed> = self.all(handed).map_err(here)?;
            let arguments = of.blocks.get(next).map_or(&[][..], |b| &b.arguments);
            self.assign_all(arguments, &values).map_err(here)?;
            current = next;
        }
    }
}
