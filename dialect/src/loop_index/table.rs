//! Values of a body that depend on the index of one loop alone, for each of its iterations.
//!
//! TOSA rounds to the nearest index by floats: `i floordiv 2 + ((i mod 2) / 2.0 >= 0.5 ? 1 : 0)`. Whatever a
//! value is computed by, it is an index function if a table of it is a stair.

use std::collections::{BTreeSet, HashMap};

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_algebra::stairs;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::code::scalar_operation;
use crate::ir::{self, Op, Val};
use crate::scalar_code::rounding_mode;
use crate::{ops, types};

/// Longer loops are not tabulated.
const LONGEST: i64 = 1 << 14;
/// The first iterations: most that is no stair is none there.
const FIRST: i64 = 64;
/// The most operations that a tabulated value is made by.
const OPERATIONS: usize = 64;

/// The stair that a value is, if it depends on one loop of known extent.
pub(super) fn stair(value: Val, extents: &[Option<i64>]) -> Option<Expr> {
    let ty = types::scalar_type(value.r#type())?;
    let made = made_by(value)?;
    let loops: BTreeSet<i64> = made
        .iter()
        .filter(|op| ir::name_of(**op) == ops::linalg::INDEX)
        .filter_map(|op| ir::integer(*op, "dim"))
        .collect();
    let mut loops = loops.into_iter();
    let dimension = usize::try_from(loops.next()?).ok()?;
    let extent = extents.get(dimension).copied().flatten()?.max(1);
    // Truths are no indices.
    if loops.next().is_some() || extent > LONGEST || ty == ScalarType::I1 {
        return None;
    }
    let at = |index: i64| Some(at(&made, index)?.get(&key(value))?.as_i64());
    let table = |count: i64| (0..count).map(at).collect::<Option<Vec<i64>>>();
    let first = stairs::stair(&table(extent.min(FIRST))?, dimension)?;
    match extent <= FIRST {
        true => Some(first),
        false => stairs::stair(&table(extent)?, dimension),
    }
}

fn key(value: Val) -> usize {
    value.to_raw().ptr as usize
}

/// The operations that make a value, in an order in which they may run: of arith and math, without regions.
fn made_by(value: Val) -> Option<Vec<Op>> {
    let (mut made, mut open) = (Vec::new(), vec![(ir::defining_op(value)?, false)]);
    while let Some((op, is_ready)) = open.pop() {
        if made.contains(&op) {
            continue;
        }
        if is_ready {
            made.push(op);
            continue;
        }
        if made.len() == OPERATIONS {
            return None;
        }
        let name = ir::name_of(op);
        let is_start = [ops::arith::CONSTANT, ops::linalg::INDEX].contains(&name);
        let is_exact = scalar_operation(op).is_some_and(|op| !op.is_approximate());
        if !is_start && (!is_exact || rounding_mode(op).is_some() || op.result_count() != 1) {
            return None;
        }
        open.push((op, true));
        for operand in op.operands().map(ir::value) {
            open.push((ir::defining_op(operand)?, false));
        }
    }
    Some(made)
}

/// The values that operations make in one iteration of the only loop that they ask for.
fn at(made: &[Op], index: i64) -> Option<HashMap<usize, Scalar>> {
    let mut values = HashMap::new();
    for op in made {
        let result = ir::result(*op, 0)?;
        let ty = types::scalar_type(result.r#type())?;
        let value = match ir::name_of(*op) {
            ops::linalg::INDEX => Scalar::from_i64(ScalarType::Index, index),
            ops::arith::CONSTANT => types::scalar(ir::attribute(*op, "value")?)?,
            _ => {
                let operands = op
                    .operands()
                    .map(|v| values.get(&key(ir::value(v))).copied());
                let operands: Option<Vec<Scalar>> = operands.collect();
                scalar_operation(*op)?.apply(&operands?, ty).ok()?
            }
        };
        values.insert(key(result), value);
    }
    Some(values)
}
