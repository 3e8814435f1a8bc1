//! Indices that the body of a linalg operation computes from those of its loops.

mod expression;
mod refusal;
mod table;

use mdh_algebra::affine::{Expr, Linear};
use mdh_algebra::integer::Interval;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use crate::ir::{self, Op, Val};
use crate::ops;
use crate::types::{self, BufferKind};

pub use expression::{index, linear};
pub use refusal::refusal;

/// The values of an index, of loops of these extents.
pub fn range(index: &Linear, extents: &[Option<i64>]) -> Option<Interval> {
    index.values(|d| {
        let last = extents[d]?.max(1) - 1;
        Some(Interval::new(0, last.into()))
    })
}

/// The tensor or memref and the map of an extraction that is the access of a view, where every iteration does
/// it: its index is computed from those of the loops.
pub fn extraction<'c>(op: Op<'c>, extents: &[Option<i64>]) -> Option<(Val<'c>, Vec<Expr>)> {
    let expected = match ir::name_of(op) {
        ops::tensor::EXTRACT => BufferKind::Tensor,
        ops::memref::LOAD => BufferKind::MemRef,
        _ => return None,
    };
    let from = ir::operand(op, 0)?;
    let kind = types::buffer_type(from.r#type())?.kind;
    let indices = op.operands().skip(1).map(ir::value);
    let map: Option<Vec<Expr>> = indices.map(|i| index(i, extents)).collect();
    Some((from, map?)).filter(|_| kind == expected)
}

/// An extraction in a body that is an access of a view.
pub struct Extraction<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// The tensor or memref of which it takes an element.
    pub tensor: Val<'c>,
    /// The place in it.
    pub map: Vec<Expr>,
    /// True if it stands in a branch: where that is not taken, the index may be outside.
    pub is_conditional: bool,
}

/// The extractions in a body that are accesses of views.
pub fn extractions<'c>(block: BlockRef<'c, 'c>, extents: &[Option<i64>]) -> Vec<Extraction<'c>> {
    let body = ir::ops_of(block);
    let nested = body.iter().flat_map(|op| ir::all(*op));
    let parent = body.first().and_then(|op| ir::parent(*op));
    let extractions = nested.filter_map(|op| {
        let (tensor, map) = extraction(op, extents).filter(|_| is_in_branches(op, parent))?;
        Some(Extraction {
            op,
            tensor,
            map,
            is_conditional: !body.contains(&op),
        })
    });
    extractions.collect()
}

/// Returns whether an operation in the body of another one, which a copy of a body has none of, stands in
/// no loops there, and in nothing else but branches.
pub fn is_in_branches(op: Op, of: Option<Op>) -> bool {
    let mut around = ir::ancestors(op).skip(1).take_while(|op| Some(*op) != of);
    around.all(|op| ir::name_of(op) == ops::scf::IF)
}
