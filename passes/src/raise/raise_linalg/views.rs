//! Loops of linalg that stays as it is, as views of what they access.
//!
//! Who calls a function has to say how large its arguments are. A computation says which index
//! runs over which axes, and so do the maps of linalg; loops have the names that they have when they
//! are raised.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::Parts;
use mdh_dialect::structured::{Structured, is_structured};

use super::loops::{self, buffer};
use crate::support::builder::Builder;

/// The views of each operation in a function that is there to be looked at: it gets operations that
/// say how large the loops are.
pub fn of_loops<'c>(function: Op<'c>) -> Vec<(Op<'c>, Parts<'c>)> {
    let ops = ir::all(function).into_iter();
    ops.filter_map(|op| Some((op, views(op)?))).collect()
}

/// An operation with linalg's interface whose operands are all tensors, or all memrefs, of types that are known.
fn of_one_kind<'c>(op: Op<'c>) -> Option<Structured<'c>> {
    let op = Some(op).filter(|op| is_structured(*op))?;
    let structured = Structured::read(op).ok()?;
    structured.kind().is_ok().then_some(structured)
}

fn views(op: Op) -> Option<Parts> {
    let structured = of_one_kind(op)?;
    let kept_dims: Vec<Vec<bool>> = structured
        .outputs
        .iter()
        .map(|output| structured.kept(output))
        .collect();
    let is_kept: Vec<bool> = (0..structured.rank)
        .map(|d| kept_dims.iter().any(|dims| dims[d]))
        .collect();
    let dims = loops::domain(&structured, &mut Builder::before(op), &is_kept).ok()?;
    Some(Parts {
        dims,
        inputs: structured
            .inputs
            .iter()
            .map(|input| buffer(input, "in"))
            .collect(),
        outputs: structured
            .outputs
            .iter()
            .map(|out| buffer(out, "out"))
            .collect(),
        ..Parts::default()
    })
}

/// The destinations of an operation with linalg's interface, if it is one: it writes nothing else, but
/// for what its body does.
pub fn linalg_destinations<'c>(op: Op<'c>) -> Option<Vec<Val<'c>>> {
    let outputs = of_one_kind(op)?.outputs;
    Some(outputs.into_iter().map(|output| output.value).collect())
}
