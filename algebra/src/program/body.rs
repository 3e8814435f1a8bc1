//! Loops, branches and blocks: what statements that hold statements are.

use super::slices::{Index, SliceOperands};
use super::statement::{Statement, ValueId};

/// Statements, and the values they yield.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Body {
    /// In order.
    pub statements: Vec<Statement>,
    /// The values that it yields.
    pub yields: Vec<ValueId>,
}

/// `scf.for`: `index` goes from `lower` to `upper`; values are carried from one iteration to the
/// next.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The first index.
    pub lower: ValueId,
    /// One past the last candidate.
    pub upper: ValueId,
    /// Positive.
    pub step: ValueId,
    /// The index, in the body.
    pub index: ValueId,
    /// Values carried into the first iteration.
    pub initial: Vec<ValueId>,
    /// The carried values, in the body.
    pub carried: Vec<ValueId>,
    /// One iteration; it yields the values that are carried into the next.
    pub body: Body,
    /// Results: the yields of the last iteration.
    pub results: Vec<ValueId>,
}

/// `scf.while`: as long as a condition holds, values are handed from `before` to `after` and back.
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// Initial values of the loop.
    pub initial: Vec<ValueId>,
    /// The arguments of `before`.
    pub before_carried: Vec<ValueId>,
    /// Decides: it yields an `i1`, then what is carried out, or left in the end.
    pub before: Body,
    /// The arguments of `after`.
    pub after_carried: Vec<ValueId>,
    /// One iteration; it yields the next arguments of `before`.
    pub after: Body,
    /// Results: the values that `before` carried out last.
    pub results: Vec<ValueId>,
}

/// `scf.forall`: `indices` go through a box of points. The iterations see the shared tensors as
/// they were before all of them; what each inserts is seen after the loops only. Memrefs are
/// written where they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Forall {
    /// The first index of each loop.
    pub lower: Vec<Index>,
    /// One past the last candidate.
    pub upper: Vec<Index>,
    /// Positive.
    pub steps: Vec<Index>,
    /// Holds what the body calls the indices.
    pub indices: Vec<ValueId>,
    /// Holds the tensors that are inserted into.
    pub shared: Vec<ValueId>,
    /// Holds what the body calls them.
    pub arguments: Vec<ValueId>,
    /// Holds what an iteration does; it yields nothing.
    pub body: Body,
    /// Holds what it inserts after that.
    pub insertions: Vec<Insertion>,
    /// Holds the tensors with all that was inserted.
    pub results: Vec<ValueId>,
}

/// `tensor.parallel_insert_slice`
#[derive(Clone, Debug, PartialEq)]
pub struct Insertion {
    /// Holds what is inserted.
    pub part: ValueId,
    /// The number of the shared tensor.
    pub into: usize,
    /// Says where.
    pub slice: SliceOperands,
}

/// `scf.if`.
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// An `i1`.
    pub condition: ValueId,
    /// The branches for true and for false.
    pub branches: [Body; 2],
    /// The yields of the branch.
    pub results: Vec<ValueId>,
}

/// Blocks that lead to each other, of which the first one comes first: the body of a function with branches,
/// `cf.br` and `cf.cond_br`.
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
    pub(super) fn before(&self, block: usize) -> usize {
        self.blocks[..block].iter().map(|b| b.body.size()).sum()
    }
}

impl Body {
    pub(super) fn size(&self) -> usize {
        self.statements.iter().map(Statement::size).sum()
    }
}
