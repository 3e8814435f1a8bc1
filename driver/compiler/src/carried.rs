//! Buffers through loops and branches: the function's arguments that a value may be.
//!
//! A computation's result has the shape of its destination, and what a loop carries that of one
//! of the values it was given or is carried out: so sizes and shapes are known where the values
//! themselves are not.

use melior::ir::operation::OperationLike;
use melior::ir::{RegionLike, Value};

use mdh_dialect::carried;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, BlockArgument, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::read;

/// The number of an argument of a function; no other block's arguments count.
pub fn argument(value: Val) -> Option<usize> {
    let BlockArgument { number, of, region } = ir::block_argument(value)?;
    let is_entry = region == 0 && ir::name_of(of) == "func.func";
    let entry = ir::region(of, 0).first_block()?;
    (is_entry && arguments(entry).get(number) == Some(&value)).then_some(number)
}

/// Follows a value to before the loops around it, and before the computations and operations with a
/// destination that it comes from: it has the same shape.
pub fn first(value: Val) -> Val {
    let mut value = value;
    // Definitions stand before their uses, so that this ends.
    while let Some(before) = given(value) {
        value = before;
    }
    value
}

/// The arguments of a function that have, together, every shape that a value may have; `None` if
/// it comes from elsewhere too.
pub fn shaped_like(value: Val) -> Option<Vec<usize>> {
    let (mut found, mut seen, mut open) = (Vec::new(), Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        match argument(value) {
            Some(number) => found.push(number),
            None => open.extend(sources(value)?),
        }
    }
    Some(found)
}

/// The value that a loop, a computation or an operation of linalg starts a value from.
fn given(value: Val) -> Option<Val> {
    if let Some(given) = carried::argument(value) {
        return Some(given.first);
    }
    let op = ir::defining_op(value)?;
    match ir::name_of(op) {
        "mdh.compute" => destination(op, value),
        ops::scf::FORALL => carried::result(value)?.first().copied(),
        "tensor.cast" | "memref.cast" => operand(op, 0),
        // The tiles that these name stand behind their destination.
        ops::linalg::PACK | ops::linalg::UNPACK => operand(op, 1),
        ops::tensor::INSERT | ops::tensor::INSERT_SLICE => operand(op, 1),
        // Destinations are the last operands.
        name if name.starts_with("linalg.") => {
            let first = op.operand_count().checked_sub(op.result_count())?;
            operand(op, first + ir::result_number(value)?)
        }
        _ => None,
    }
}

/// All values that a value may be, or have the shape of.
fn sources(value: Val) -> Option<Vec<Val>> {
    if let Some(given) = carried::argument(value) {
        return Some(std::iter::once(given.first).chain(given.next).collect());
    }
    carried::result(value).or_else(|| Some(vec![given(value)?]))
}

fn operand(op: Op, number: usize) -> Option<Val> {
    op.operand(number).ok().map(|v: Value| ir::value(v))
}

fn destination<'c>(op: Op<'c>, result: Val<'c>) -> Option<Val<'c>> {
    let parts = read::compute(op).ok()?;
    let mut destinations = parts.destinations();
    let buffer = destinations.nth(ir::result_number(result)?);
    buffer.map(|buffer| buffer.value)
}
