//! The body of an operation of linalg: the scalar function, and behind it the operator.

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};

use mdh_dialect::parts::{Bound, Parts};
use mdh_dialect::types;
use mdh_dialect::{marks, ops};
use melior::ir::attribute::{DenseI32ArrayAttribute, IntegerAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Region, Type, TypeLike, ValueLike};

use super::Function;
use super::domain::Domain;
use crate::raise::raise_linalg::operators::{self, as_operator};
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::region;

/// The scalar function, and behind it the operator on what a destination holds, with the elements that are
/// combined, in the order of the outputs. An operand without elements that are read has an argument, too.
pub fn of_compute<'c>(
    op: Op<'c>,
    parts: &Parts<'c>,
    function: &Function,
    domain: &Domain<'c>,
    has_window: bool,
) -> (Region<'c>, Vec<Val<'c>>) {
    let code = region::copy(op, 0);
    let block = region::block(&code);
    let indices = region::operations(&code).into_iter();
    let indices = indices.filter(|op| ir::name_of(*op) == ops::mdh::INDEX);
    indices.for_each(|index| replace_index(index, domain));
    let terminator = region::terminator(block);
    let elements = region::yields(block);
    let location = op.location();
    if has_window {
        let first = parts.inputs.first().or(parts.outputs.first());
        let first = first.and_then(|buffer| types::buffer_type(buffer.value.r#type()));
        let first = first.unwrap_or_else(|| panic!("a computation has a buffer"));
        let ty = types::mlir_type(ir::context_of(op), first.element);
        region::add_argument(block, ty, location);
    }
    let so_far: Vec<Val> = parts
        .outputs
        .iter()
        .map(|o| region::add_argument(block, elements[o.components[0]].r#type(), location))
        .collect();
    let mut by_component = elements.clone();
    for (output, value) in parts.outputs.iter().zip(&so_far) {
        by_component[output.components[0]] = *value;
    }
    let mut builder = Builder::before(terminator);
    let results = match function {
        Function::None => elements.clone(),
        Function::Builtin(operators) => operators
            .iter()
            .enumerate()
            .map(|(n, operator)| {
                let name = format!("arith.{operator}");
                let sides = (by_component[n], elements[n]);
                let is_sum = name == ops::arith::ADDF;
                let fused = is_sum.then(|| fused(&mut builder, op, sides)).flatten();
                fused.unwrap_or_else(|| builder.binary(&name, sides.0, sides.1))
            })
            .collect(),
        Function::Own => combined(op, terminator, &by_component, &elements),
    };
    let of_outputs = |values: &[Val<'c>]| -> Vec<Val<'c>> {
        let outputs = parts.outputs.iter();
        outputs.map(|o| values[o.components[0]]).collect()
    };
    builder.op(ops::linalg::YIELD, &of_outputs(&results), &[], &[]);
    region::erase(terminator);
    if marks::FMA.is_on(op) {
        region::erase_dead(block);
    }
    let elements = of_outputs(&elements);
    (code, elements)
}

/// The operator alone, on accumulators, then elements, both in the order of the outputs, as raising would find it.
pub fn operator<'c>(op: Op<'c>, parts: &Parts<'c>) -> Option<Region<'c>> {
    let components = region::yields(region::block_of(ir::region(op, 0)));
    let outputs = parts.outputs.iter().map(|o| o.components[0]);
    let outputs: Vec<usize> = outputs.collect();
    let values: Vec<Val> = outputs.iter().map(|n| components[*n]).collect();
    let (code, tuples) = operators::tuples(&values);
    let block = region::block(&code);
    let (so_far, elements) = tuples.split_at(outputs.len());
    let (mut from, mut with) = (components.clone(), components);
    for (n, component) in outputs.iter().enumerate() {
        (from[*component], with[*component]) = (so_far[n], elements[n]);
    }
    region::yield_from(block, op.location(), &[]);
    let end = region::terminator(block);
    let results = combined(op, end, &from, &with);
    region::erase(end);
    let results: Vec<Val> = outputs.iter().map(|n| results[*n]).collect();
    let merging = ir::ops_of(block).into_iter();
    let merging: Vec<Op> = merging
        .filter(|op| ir::name_of(*op) != ops::arith::CONSTANT)
        .collect();
    as_operator(&merging, so_far, elements, &results)
}

/// Adds a product to what there is as it was added before it was raised: by one operation, which rounds once.
fn fused<'c>(
    builder: &mut Builder<'c>,
    op: Op<'c>,
    (so_far, element): (Val<'c>, Val<'c>),
) -> Option<Val<'c>> {
    let product = ir::defining_op(element).filter(|op| ir::name_of(*op) == ops::arith::MULF);
    let product = product.filter(|_| marks::FMA.is_on(op))?;
    let sides = [ir::operand(product, 0)?, ir::operand(product, 1)?, so_far];
    Some(builder.op(ops::math::FMA, &sides, &[so_far.r#type()], &[])[0])
}

/// A dimension's index in the computation, by that of its loop.
fn replace_index<'c>(index: Op<'c>, domain: &Domain<'c>) {
    let builder = &mut Builder::before(index);
    let dim = ir::integer(index, "dim").and_then(|dim| usize::try_from(dim).ok());
    let dim_of_index = dim.and_then(|dim| domain.dims().get(dim));
    let dim_of_index = dim_of_index.unwrap_or_else(|| panic!("an index is that of a dimension"));
    let mut value = None;
    if let Some(place) = dim_of_index.place {
        let number = Type::parse(builder.context, "i64").unwrap_or_else(|| panic!("i64 is a type"));
        let dim = IntegerAttribute::new(number, place as i64).into();
        let ty = builder.index_type();
        let here = builder.op(ops::linalg::INDEX, &[], &[ty], &[("dim", dim)])[0];
        value = Some(match dim_of_index.step {
            1 => here,
            step => {
                let step = builder.index(step);
                builder.binary(ops::arith::MULI, here, step)
            }
        });
    }
    if value.is_none() || dim_of_index.lower != Bound::Static(0) {
        let lower = buffers::value(builder, dim_of_index.lower);
        value = Some(value.map_or(lower, |v| builder.binary(ops::arith::ADDI, v, lower)));
    }
    for (result, value) in index.results().zip(value) {
        region::replace_all_uses(ir::value(result), value);
    }
    region::erase(index);
}

/// A body that yields its first element.
pub fn copy<'c>(builder: &Builder<'c>, from: Val<'c>) -> Region<'c> {
    let ty = types::buffer_type(from.r#type()).map(|ty| ty.element);
    let ty = ty.unwrap_or_else(|| panic!("what is copied is a buffer"));
    let ty = types::mlir_type(builder.context, ty);
    builder.region(&[ty, ty], ops::linalg::YIELD, |_, elements| {
        vec![elements[0]]
    })
}

/// A destination filled with one element.
pub fn fill<'c>(builder: &mut Builder<'c>, value: Val<'c>, start: Attribute<'c>) -> Val<'c> {
    let ty = types::buffer_type(value.r#type());
    let ty = ty.unwrap_or_else(|| panic!("an output is a buffer"));
    let element = types::mlir_type(builder.context, ty.element);
    let scalar = builder.constant(start, element);
    let segments = DenseI32ArrayAttribute::new(builder.context, &[1, 1]);
    let is_tensor = value.r#type().is_ranked_tensor();
    let results: Vec<Type> = is_tensor.then(|| value.r#type()).into_iter().collect();
    let code = copy(builder, value);
    let filled = builder.build(
        ops::linalg::FILL,
        &[scalar, value],
        &results,
        &[("operandSegmentSizes", segments.into())],
        vec![code],
    );
    ir::result(filled, 0).unwrap_or(value)
}

/// The operator's own code before an operation, on what there is and elements.
fn combined<'c>(
    op: Op<'c>,
    before: Op<'c>,
    so_far: &[Val<'c>],
    elements: &[Val<'c>],
) -> Vec<Val<'c>> {
    let code = region::copy(op, 1);
    let block = region::block(&code);
    let given = so_far.iter().chain(elements);
    for (argument, value) in arguments(block).into_iter().zip(given) {
        region::replace_all_uses(argument, *value);
    }
    let mut copies: Vec<(Val, Val)> = Vec::new();
    let yields = region::yields(block);
    let find = |copies: &[(Val<'c>, Val<'c>)], value: Val<'c>| {
        let copy = copies.iter().find(|(old, _)| *old == value);
        copy.map_or(value, |(_, new)| *new)
    };
    let ops = ir::ops_of(block);
    for inner in &ops[..ops.len() - 1] {
        let copy = region::copy_before(*inner, before);
        for (old, new) in &copies {
            region::replace_in_op(copy, *old, *new);
        }
        let results = inner.results().zip(copy.results());
        copies.extend(results.map(|(old, new)| (ir::value(old), ir::value(new))));
    }
    yields
        .into_iter()
        .map(|value| find(&copies, value))
        .collect()
}
