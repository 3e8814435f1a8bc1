//! Buffers through loops and branches: which of a function's arguments a value may be.
//!
//! A computation's result has the shape of its destination, and what a loop carries that of one
//! of the values it was given or is handed on: so sizes and shapes are known where the values
//! themselves are not.

use melior::ir::operation::OperationLike;
use melior::ir::{RegionLike, Value};

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, BlockArgument, Op, Val};
use mdh_dialect::read;

/// The number of an argument of a function; no other block's arguments count.
pub fn argument(value: Val) -> Option<usize> {
    let BlockArgument { number, of, region } = ir::block_argument(value)?;
    let is_entry = region == 0 && ir::name_of(of) == "func.func";
    let entry = ir::region(of, 0).first_block()?;
    (is_entry && arguments(entry).get(number) == Some(&value)).then_some(number)
}

/// What a value is before the loops around it have run, and before the computations it comes
/// from: it has the same shape.
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

/// The value that a loop or a computation starts a value from.
fn given(value: Val) -> Option<Val> {
    if let Some(BlockArgument { number, of, region }) = ir::block_argument(value) {
        return initial(of, region, number);
    }
    let op = ir::defining_op(value)?;
    match ir::name_of(op) {
        "mdh.compute" => destination(op, value),
        "tensor.cast" | "memref.cast" => operand(op, 0),
        _ => None,
    }
}

/// All values that a value may be, or have the shape of.
fn sources(value: Val) -> Option<Vec<Val>> {
    if let Some(BlockArgument { number, of, region }) = ir::block_argument(value) {
        let before = initial(of, region, number)?;
        return Some(match ir::name_of(of) {
            "scf.for" => vec![before, yielded(of, 0, number - 1)?],
            // What the second region yields is what the first one gets.
            _ if region == 0 => vec![before, yielded(of, 1, number)?],
            _ => vec![before],
        });
    }
    let op = ir::defining_op(value)?;
    let number = || ir::result_number(value);
    match ir::name_of(op) {
        "scf.for" => Some(vec![
            operand(op, 3 + number()?)?,
            yielded(op, 0, number()?)?,
        ]),
        "scf.while" => Some(vec![yielded(op, 0, number()? + 1)?]),
        "scf.if" => Some(vec![yielded(op, 0, number()?)?, yielded(op, 1, number()?)?]),
        _ => Some(vec![given(value)?]),
    }
}

/// What an argument of a loop's region is at first.
fn initial(of: Op, region: usize, number: usize) -> Option<Val> {
    match (ir::name_of(of), region) {
        ("scf.for", _) => operand(of, 3 + number.checked_sub(1)?),
        ("scf.while", 0) => operand(of, number),
        ("scf.while", _) => yielded(of, 0, number + 1),
        _ => None,
    }
}

fn yielded(op: Op, region: usize, number: usize) -> Option<Val> {
    let block = ir::only_block(ir::region(op, region))?;
    operand(*ir::ops_of(block).last()?, number)
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
