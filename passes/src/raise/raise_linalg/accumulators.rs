//! Contents of destinations before something is accumulated in them.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::structured::{Operand, Structured, is_structured};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;

use super::memory::may_overlap;
use crate::support::region;

/// The number that is everywhere in a tensor, if one is.
pub fn uniform(value: Val) -> Option<Scalar> {
    let op = ir::defining_op(value)?;
    match ir::name_of(op) {
        ops::linalg::FILL | ops::tensor::SPLAT => constant(ir::operand(op, 0)?),
        ops::arith::CONSTANT => types::scalar(types::splat(ir::attribute(op, "value")?)?),
        ops::tensor::CAST => uniform(ir::operand(op, 0)?),
        _ if is_structured(op) => {
            let block = ir::only_block(ir::region(op, 0))?;
            let number = ir::result_number(value)?;
            let structured = Structured::read(op).ok()?;
            let output = structured.outputs.get(number)?;
            if structured.kept(output).contains(&false) || !is_whole(output) {
                return None;
            }
            constant(*region::yields(block).get(number)?)
        }
        _ => None,
    }
}

/// The number that a constant is.
pub fn constant(value: Val) -> Option<Scalar> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT)?;
    types::scalar(ir::attribute(op, "value")?)
}

/// Returns whether a destination has every element written: each axis is a loop's, or has one index.
pub fn is_whole(output: &Operand) -> bool {
    let shape = types::buffer_type(output.value.r#type()).map(|ty| ty.shape);
    let shape = shape.unwrap_or_default();
    let mut axes = output.map.iter().enumerate();
    axes.all(|(n, e)| match e {
        Expr::Dim(_) => !output.map[..n].contains(e),
        _ => *e == Expr::Const(0) && shape.get(n) == Some(&Some(1)),
    })
}

/// The operation that fills memory with one number right before another one, with the number: nothing
/// between them touches memory.
pub fn filled_before<'c>(op: Op<'c>, memory: Val<'c>) -> Option<(Op<'c>, Scalar)> {
    for other in std::iter::successors(ir::previous(op), |op| ir::previous(*op)) {
        match ir::name_of(other) {
            ops::linalg::FILL if ir::operand(other, 1) == Some(memory) => {
                return Some((other, constant(ir::operand(other, 0)?)?));
            }
            ops::linalg::FILL if !may_overlap(ir::operand(other, 1)?, memory) => {}
            ops::memref::ALLOC | ops::memref::ALLOCA | ops::memref::DIM => {}
            name if name.starts_with("arith.") => {}
            _ => return None,
        }
    }
    None
}

/// Returns whether a filled tensor has no other purpose than to be read by computations, which see
/// the number itself.
pub fn is_view(fill: Op) -> bool {
    let Some(result) = ir::result(fill, 0) else {
        return false;
    };
    let kind = types::buffer_type(result.r#type()).map(|ty| ty.kind);
    kind == Some(BufferKind::Tensor)
        && ir::users(result)
            .iter()
            .all(|user| ir::name_of(*user) == ops::mdh::COMPUTE)
}
