//! Promotion of staged tiles to the type that the scalar function extends inputs to: each
//! element is then promoted once, where it is copied, and not wherever it is read. In bf16 that is
//! what a machine without dot-product instructions gains most by.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Parts;
use mdh_dialect::types;
use mdh_schedule::asm::MemoryKind;
use melior::ir::ValueLike;
use melior::ir::{Region, Type, TypeLike};
use mlir_sys::mlirValueSetType;

use super::nest::ScheduledNest;
use super::stage;
use crate::support::builder::Builder;
use crate::support::region;

/// An operation that gives the same number in a wider type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Promotion {
    /// Its name.
    name: &'static str,
    /// The wider type.
    pub to: ScalarType,
}

const NAMES: [&str; 3] = [ops::arith::EXTF, ops::arith::EXTSI, ops::arith::EXTUI];

/// [`on_read`], of an input that is staged in a region.
///
/// What the program decides on (an explicit region) has the size that was checked, and what
/// dot-product instructions combine stays narrow for them.
pub fn promotion_of(
    nest: &ScheduledNest,
    tile: &Parts,
    input: usize,
    memory: usize,
) -> Option<Promotion> {
    let kind = nest.of.resolved.asm.layers[memory].memory()?.kind;
    let (_, form) = nest.of.leaf(nest.loops);
    if kind != MemoryKind::Cache || form.group.is_some() {
        return None;
    }
    on_read(nest.of.op, tile, input)
}

/// Returns the scalar function's promotion of an input, if that is its only use.
pub fn on_read(op: Op, tile: &Parts, input: usize) -> Option<Promotion> {
    let element = stage::element(&tile.inputs[input]);
    let block = ir::only_block(ir::region(op, 0))?;
    let arguments = arguments_of(&arguments(block), tile, input);
    // Already wide.
    if arguments
        .iter()
        .any(|a| types::scalar_type(a.r#type()) != Some(element))
    {
        return None;
    }
    let mut users = arguments.iter().flat_map(|argument| ir::users(*argument));
    let first = promotion(users.next()?)?;
    users
        .all(|user| promotion(user) == Some(first))
        .then_some(first)
}

fn promotion(op: Op) -> Option<Promotion> {
    let name = NAMES.into_iter().find(|name| *name == ir::name_of(op))?;
    let to = types::scalar_type(ir::result(op, 0)?.r#type())?;
    Some(Promotion { name, to })
}

/// The arguments that an input's accesses are.
fn arguments_of<'c>(all: &[Val<'c>], parts: &Parts, input: usize) -> Vec<Val<'c>> {
    let before = parts.inputs[..input].iter().map(|b| b.accesses.len()).sum();
    let accesses = parts.inputs[input].accesses.len();
    all.iter().skip(before).take(accesses).copied().collect()
}

/// The scalar function that widens its argument.
pub fn copy<'c>(builder: &Builder<'c>, from: ScalarType, how: Promotion) -> Region<'c> {
    let from = types::mlir_type(builder.context, from);
    let to = types::mlir_type(builder.context, how.to);
    builder.region(&[from], ops::mdh::YIELD, |builder, arguments| {
        builder.op(how.name, arguments, &[to], &[])
    })
}

/// An operation's scalar function on the inputs that a tile has: without the promotions done where
/// they were staged.
pub fn scalar<'c>(op: Op<'c>, tile: &Parts<'c>) -> Region<'c> {
    let scalar = region::copy(op, 0);
    let block_arguments = arguments(region::block(&scalar));
    for (n, input) in tile.inputs.iter().enumerate() {
        let element: Option<Type> = types::buffer_type(input.value.r#type())
            .map(|ty| types::mlir_type(ir::context_of(op), ty.element));
        for argument in arguments_of(&block_arguments, tile, n) {
            if let Some(element) = element.filter(|element| *element != argument.r#type()) {
                promoted(argument, element);
            }
        }
    }
    scalar
}

fn promoted<'c>(argument: Val<'c>, element: Type<'c>) {
    // SAFETY: the operations that use it are replaced by the argument itself.
    unsafe { mlirValueSetType(argument.to_raw(), element.to_raw()) };
    for user in ir::users(argument) {
        if let Some(result) = ir::result(user, 0) {
            region::replace_all_uses(result, argument);
        }
        region::erase(user);
    }
}
