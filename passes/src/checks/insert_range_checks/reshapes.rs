//! Extents that a reshape gives the axes it splits one into: where they are known at run time only, as many elements as
//! there are.
//!
//! Upstream leaves that undefined, and takes one of them from the source's own extent if it knows the others. Where the
//! type of the result has an extent, it takes the operand for that of another axis: what is given twice, or as what
//! the type does not say, is refused before anything else is done.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::parts::Bound;
use mdh_dialect::{ops, types};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::condition::{Condition, compare};
use super::require;
use crate::support::buffers::{self, EXPANDED, listed, open};
use crate::support::builder::Builder;
use crate::support::extents::{self, Extent};
use crate::support::ranges;

/// The reshapes that split axes.
const SPLITS: [&str; 2] = [ops::tensor::EXPAND_SHAPE, ops::memref::EXPAND_SHAPE];

/// The reshapes to a shape that is a tensor.
const SHAPED: [&str; 1] = [ops::tensor::RESHAPE];

/// Asserts it of all reshapes.
pub fn insert(module: Op) {
    for op in ir::find_all(module, &SPLITS) {
        split(op);
    }
}

/// Refuses reshapes to extents that contradict the type of what they make, each at its place.
pub fn refuse(module: Op) -> Result<(), Errors> {
    let wrong = ir::find_all(module, &SPLITS).into_iter();
    let wrong = wrong.filter_map(|op| Some((op, contradiction(op)?)));
    let shaped = ir::find_all(module, &SHAPED).into_iter();
    let shaped = shaped.filter_map(|op| Some((op, other_shape(op)?)));
    let mistakes: Vec<(Op, String)> = wrong.chain(shaped).collect();
    mistakes
        .iter()
        .for_each(|(op, message)| ir::error_at(*op, message));
    mistakes.is_empty().then_some(()).ok_or_else(Vec::new)
}

/// An axis whose extent is an operand and a number of the type, or axes with other elements than there are.
fn contradiction(op: Op) -> Option<String> {
    let (source, result) = (ir::operand(op, 0)?, ir::result(op, 0)?.r#type());
    let [shape] = listed(op, 1, EXPANDED)?;
    let known = types::buffer_type(result)?.shape;
    let twice = shape.iter().zip(&known).enumerate();
    let twice = twice.filter_map(|(axis, (own, known))| match (own, known) {
        (Bound::Dynamic(_), Some(known)) => Some((axis, known)),
        _ => None,
    });
    if let Some((axis, number)) = twice.into_iter().next() {
        return Some(format!(
            "has an operand for the extent of axis {axis}, which its type {result} has as {number}: expected {number} \
             in its place in 'output_shape', and operands for each '?' of the type only"
        ));
    }
    for (axis, group) in ir::axis_groups(op).into_iter().enumerate() {
        let number = |extent| match extent {
            Extent::Number(number) => Some(number),
            _ => None,
        };
        let parts = group
            .iter()
            .map(|own| number(extents::of_bound(*shape.get(*own)?)));
        let product = parts.collect::<Option<Vec<i64>>>().and_then(|parts| {
            parts
                .iter()
                .try_fold(1, |all: i64, part| all.checked_mul(*part))
        });
        let whole = number(extents::of_axis(source, axis));
        if let Some((whole, product)) = whole.zip(product).filter(|(a, b)| a != b) {
            return Some(format!(
                "splits axis {axis}, of {whole} elements, into extents whose product is {product}: expected as many \
                 elements as there are"
            ));
        }
    }
    None
}

/// A shape of numbers that is not that of the type.
fn other_shape(op: Op) -> Option<String> {
    let (shape, result) = (ir::operand(op, 1)?, ir::result(op, 0)?.r#type());
    let made =
        ir::defining_op(shape).filter(|op| ir::name_of(*op) == ops::tensor::FROM_ELEMENTS)?;
    let known = types::buffer_type(result)?.shape;
    let given = made.operands().map(|own| extents::of_value(ir::value(own)));
    let mut both = given.zip(known).enumerate();
    both.find_map(|(axis, both)| match both {
        (Extent::Number(given), Some(known)) if given != known => Some(format!(
            "takes {given} for the extent of axis {axis}, which its type {result} has as {known}: expected {known}"
        )),
        _ => None,
    })
}

fn split(op: Op) -> Option<()> {
    let source = ir::operand(op, 0)?;
    let [shape] = listed(op, 1, EXPANDED)?;
    for (axis, group) in ir::axis_groups(op).into_iter().enumerate() {
        let extents = group.into_iter().map(|own| shape.get(own).copied());
        let extents: Vec<Bound> = extents.collect::<Option<_>>()?;
        if open(&extents).next().is_some() && !is_own(&extents, source, axis) {
            check(op, (source, axis), &extents);
        }
    }
    Some(())
}

/// Returns whether one extent is that of the axis, and the others are 1.
fn is_own(extents: &[Bound], source: Val, axis: usize) -> bool {
    let mut open = extents.iter().filter(|extent| **extent != Bound::Static(1));
    let is_it = |extent: &Bound| extents::of_bound(*extent) == extents::of_axis(source, axis);
    open.next().is_some_and(is_it) && open.next().is_none()
}

/// Asserts that none of the extents is negative, and that their product is the extent of an axis.
fn check(op: Op, (source, axis): (Val, usize), extents: &[Bound]) {
    let builder = &mut Builder::before(op);
    let name = ir::name_of(op);
    let zero = builder.index(0);
    let mut are_natural = Condition::Known(true);
    for extent in open(extents).filter(|extent| !ranges::is_natural(Bound::Dynamic(*extent))) {
        let is_natural = compare(builder, "sge", extent, zero);
        are_natural = are_natural.and(builder, is_natural);
    }
    let message = format!(
        "'{name}' op splits axis {axis} into a negative number of parts: expected extents of at least 0"
    );
    require(builder, are_natural, &message);
    let whole = extents::bound(builder, source, axis);
    let whole = buffers::value(builder, whole);
    // Numbers first: divisions by them are none that wait for anything.
    let (numbers, values): (Vec<Bound>, Vec<Bound>) =
        extents.iter().partition(|extent| extent.known().is_some());
    let extents = numbers.into_iter().chain(values);
    let extents: Vec<Val> = extents.map(|e| buffers::value(builder, e)).collect();
    let fits = is_product(builder, whole, &extents);
    let message = format!(
        "'{name}' op splits axis {axis} into extents whose product is not that of the axis: expected as many elements \
         as there are"
    );
    require(builder, fits, &message);
}

/// Returns whether a number is the product of others, none of which is negative: by dividing, as a product might not fit 64
/// bits.
fn is_product<'c>(builder: &mut Builder<'c>, whole: Val<'c>, factors: &[Val<'c>]) -> Condition<'c> {
    let unit = builder.index(1);
    let (first, others) = match factors {
        [] => return compare(builder, "eq", whole, unit),
        [last] => return compare(builder, "eq", whole, *last),
        [first, others @ ..] => (*first, others),
    };
    let zero = builder.index(0);
    let [is_zero, is_nothing] = [first, whole].map(|number| compare(builder, "eq", number, zero));
    let is_empty = is_zero.and(builder, is_nothing);
    let divisor = builder.binary(ops::arith::MAXSI, first, unit);
    let rest = builder.binary(ops::arith::REMSI, whole, divisor);
    let is_multiple = compare(builder, "eq", rest, zero);
    let quotient = builder.binary(ops::arith::DIVSI, whole, divisor);
    let fits = is_product(builder, quotient, others);
    let is_some = compare(builder, "sgt", first, zero);
    let fits = is_multiple.and(builder, fits);
    let fits = is_some.and(builder, fits);
    is_empty.or(builder, fits)
}
