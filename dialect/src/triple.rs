//! The triple: the chain of operations behind an `mdh.out_view`.

use crate::ops;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, ValueLike};

use crate::ir::{self, Errors, Op, Val};

/// `out_view . hom . ... . inp_view`.
#[derive(Clone, Debug)]
pub struct Triple<'c> {
    /// The view that reads the MDA.
    pub inp_view: Op<'c>,
    /// The homs, first applied first.
    pub homs: Vec<Op<'c>>,
    /// The view that writes the result.
    pub out_view: Op<'c>,
}

/// The operation that an MDA comes from: an `mdh.inp_view` or `mdh.hom` of the same block.
pub fn producer<'c>(op: Op<'c>, mda: Val<'c>) -> Result<Op<'c>, Errors> {
    let same_block = |found: &Op<'c>| match (found.block(), op.block()) {
        (Some(a), Some(b)) => a.to_raw().ptr == b.to_raw().ptr,
        _ => false,
    };
    ir::defining_op(mda)
        .filter(|found| matches!(ir::name_of(*found), ops::mdh::INP_VIEW | ops::mdh::HOM))
        .filter(same_block)
        .ok_or_else(|| {
            vec![format!(
                "takes an MDA ({}) that does not come from an mdh.inp_view or mdh.hom of the same \
                 block: an MDA is an alias of buffers and crosses no block, call or branch; pass \
                 the buffers instead",
                mda.r#type()
            )]
        })
}

/// The `mdh.inp_view` that an operation's MDA comes from, and the homs between, first applied
/// first.
pub fn chain<'c>(op: Op<'c>) -> Result<(Op<'c>, Vec<Op<'c>>), Errors> {
    let mut homs: Vec<Op> = Vec::new();
    let mut at = op;
    loop {
        let source = at
            .operand(0)
            .map_err(|_| vec!["has no MDA as its operand".to_owned()])?;
        at = producer(at, ir::value(source))?;
        if ir::name_of(at) == ops::mdh::INP_VIEW {
            homs.reverse();
            return Ok((at, homs));
        }
        // That values are defined before they are used is verified later.
        if homs.iter().any(|hom| hom.to_raw().ptr == at.to_raw().ptr) {
            return Err(vec![format!(
                "takes an MDA ({}) that is made from itself: expected an mdh.inp_view behind all \
                 homs",
                source.r#type()
            )]);
        }
        homs.push(at);
    }
}

/// Follows the chain from an `mdh.out_view` to its `mdh.inp_view`.
pub fn triple(out_view: Op) -> Result<Triple, Errors> {
    let (inp_view, homs) = chain(out_view)?;
    Ok(Triple {
        inp_view,
        homs,
        out_view,
    })
}
