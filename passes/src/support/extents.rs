//! The sizes of buffers, traced to where they come from, so that equal ones are seen to be equal.

use mdh_dialect::carried;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, Parts};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::buffers::{PAD, SLICE, listed};
use crate::support::builder::{Builder, known};
use crate::support::draft;

/// A size; two that compare equal are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent<'c> {
    /// Known now.
    Number(i64),
    /// A value of the program.
    Value(Val<'c>),
    /// The size of a buffer along an axis.
    Axis(Val<'c>, usize),
}

impl<'c> Extent<'c> {
    /// Its value of type index.
    pub fn value(self, builder: &mut Builder<'c>) -> Val<'c> {
        match self {
            Extent::Number(number) => builder.index(number),
            Extent::Value(value) => value,
            Extent::Axis(buffer, axis) => builder.dim(buffer, axis),
        }
    }
}

/// `sum of factor * size + constant`.
///
/// No form of `mdh_algebra::integer`, whose variables are numbers in one order: values of a program
/// have none but that in which a sum meets them, which is also the one in which it is computed.
#[derive(Clone, Debug)]
pub struct Sum<'c> {
    terms: Vec<(Extent<'c>, i64)>,
    constant: i64,
}

impl<'c> Sum<'c> {
    /// A number.
    pub fn number(constant: i64) -> Self {
        Sum {
            terms: Vec::new(),
            constant,
        }
    }

    /// A sum of values, whatever they are made of.
    pub fn of_terms(terms: &[(Val<'c>, i64)]) -> Self {
        let terms = terms.iter();
        Sum {
            terms: terms
                .map(|(v, factor)| (Extent::Value(*v), *factor))
                .collect(),
            constant: 0,
        }
    }

    /// Follows a bound through additions and multiplications by numbers.
    pub fn of_bound(bound: Bound<'c>) -> Self {
        match bound {
            Bound::Static(number) => Sum::number(number),
            Bound::Dynamic(value) => Sum::of_value(value),
        }
    }

    /// Follows a value of type index.
    pub fn of_value(value: Val<'c>) -> Self {
        let sides = ir::defining_op(value).and_then(|op| {
            let [a, b] = [operand(op, 0)?, operand(op, 1)?].map(Sum::of_value);
            match ir::name_of(op) {
                ops::arith::ADDI => a.plus(&b, 1),
                ops::arith::SUBI => a.plus(&b, -1),
                ops::arith::MULI => match (a.known(), b.known()) {
                    (_, Some(factor)) => Sum::number(0).plus(&a, factor),
                    (Some(factor), _) => Sum::number(0).plus(&b, factor),
                    _ => None,
                },
                _ => None,
            }
        });
        sides.unwrap_or_else(|| match of_value(value) {
            Extent::Value(own) if own == value => Sum {
                terms: vec![(Extent::Value(own), 1)],
                constant: 0,
            },
            extent => Sum::of_extent(extent),
        })
    }

    fn of_extent(extent: Extent<'c>) -> Self {
        let padded = match extent {
            Extent::Number(number) => return Sum::number(number),
            Extent::Value(value) => return Sum::of_value(value),
            Extent::Axis(buffer, axis) => Sum::of_padded(buffer, axis),
        };
        padded.unwrap_or(Sum {
            terms: vec![(extent, 1)],
            constant: 0,
        })
    }

    /// `self + factor * other`; `None` if a number leaves the 64-bit range.
    pub fn plus(&self, other: &Sum<'c>, factor: i64) -> Option<Sum<'c>> {
        let mut sum = self.clone();
        let constant = other.constant.checked_mul(factor)?;
        sum.constant = sum.constant.checked_add(constant)?;
        for (extent, count) in &other.terms {
            let count = count.checked_mul(factor)?;
            match sum.terms.iter_mut().find(|(own, _)| own == extent) {
                Some((_, own)) => *own = own.checked_add(count)?,
                None => sum.terms.push((*extent, count)),
            }
        }
        sum.terms.retain(|(_, count)| *count != 0);
        Some(sum)
    }

    /// The size of a buffer along an axis.
    pub fn of_axis(buffer: Val<'c>, axis: usize) -> Self {
        Sum::of_extent(of_axis(buffer, axis))
    }

    /// The size of a padded tensor.
    fn of_padded(buffer: Val<'c>, axis: usize) -> Option<Self> {
        let op = ir::defining_op(buffer).filter(|op| ir::name_of(*op) == ops::tensor::PAD)?;
        let size = Sum::of_axis(operand(op, 0)?, axis);
        let mut around = listed(op, 1, PAD)?.into_iter();
        around.try_fold(size, |size, list| {
            size.plus(&Sum::of_bound(*list.get(axis)?), 1)
        })
    }

    /// Computes it.
    pub fn bound(&self, builder: &mut Builder<'c>) -> Bound<'c> {
        let mut sum: Option<Val> = None;
        for (extent, factor) in &self.terms {
            let mut term = extent.value(builder);
            if factor.unsigned_abs() != 1 {
                let size = builder.index(factor.saturating_abs());
                term = builder.binary(ops::arith::MULI, term, size);
            }
            sum = Some(match (sum, *factor > 0) {
                (None, true) => term,
                (Some(sum), true) => builder.binary(ops::arith::ADDI, sum, term),
                (sum, false) => {
                    let start = sum.unwrap_or_else(|| builder.index(0));
                    builder.binary(ops::arith::SUBI, start, term)
                }
            });
        }
        match (sum, self.constant) {
            (None, constant) => Bound::Static(constant),
            (Some(sum), 0) => Bound::Dynamic(sum),
            (Some(sum), constant) => {
                let constant = builder.index(constant);
                Bound::Dynamic(builder.binary(ops::arith::ADDI, sum, constant))
            }
        }
    }

    /// The value that it is, if it is one of the program's as it stands there.
    pub fn value(&self) -> Option<Val<'c>> {
        match (&self.terms[..], self.constant) {
            ([(Extent::Value(value), 1)], 0) => Some(*value),
            _ => None,
        }
    }

    /// The number that it is, if it is known now.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// Returns whether a value is a tensor whose elements are undefined.
pub fn is_undefined(value: Val) -> bool {
    ir::defining_op(value).is_some_and(|op| ir::name_of(op) == ops::tensor::EMPTY)
}

/// Returns the extent that a bound is.
pub fn of_bound(bound: Bound) -> Extent {
    match bound {
        Bound::Static(number) => Extent::Number(number),
        Bound::Dynamic(value) => of_value(value),
    }
}

/// Returns the extent that a value of type index is.
pub fn of_value(value: Val) -> Extent {
    of_value_in(value, &mut Vec::new())
}

fn of_value_in<'c>(value: Val<'c>, assumed: &mut Assumed<'c>) -> Extent<'c> {
    if let Some(number) = known(value) {
        return Extent::Number(number);
    }
    let dim = ir::defining_op(value)
        .filter(|op| matches!(ir::name_of(*op), ops::tensor::DIM | ops::memref::DIM));
    let axis = dim.and_then(|op| {
        let axis = usize::try_from(known(operand(op, 1)?)?).ok()?;
        Some(of_axis_in(operand(op, 0)?, axis, assumed))
    });
    axis.unwrap_or(Extent::Value(value))
}

/// The size of a buffer along an axis.
pub fn of_axis(buffer: Val, axis: usize) -> Extent {
    of_axis_in(buffer, axis, &mut Vec::new())
}

/// The size of a buffer along an axis, by what it is made of where that is seen: an operation that asks a slice for its
/// size keeps that slice alive.
pub fn bound<'c>(builder: &mut Builder<'c>, buffer: Val<'c>, axis: usize) -> Bound<'c> {
    match of_axis(buffer, axis) {
        Extent::Number(number) => Bound::Static(number),
        extent => Bound::Dynamic(extent.value(builder)),
    }
}

/// Loop-carried values, and the axis of each that is taken to keep its size until that is refuted:
/// it does if each iteration carries out a value of that size, provided that it is given one.
type Assumed<'c> = Vec<(Val<'c>, usize)>;

fn of_axis_in<'c>(buffer: Val<'c>, axis: usize, assumed: &mut Assumed<'c>) -> Extent<'c> {
    let shape = types::buffer_type(buffer.r#type()).map_or(Vec::new(), |t| t.shape);
    if let Some(size) = shape.get(axis).copied().flatten() {
        return Extent::Number(size);
    }
    let Some(op) = ir::defining_op(buffer) else {
        return of_argument(buffer, axis, assumed);
    };
    let extent_of =
        |value: Option<Val<'c>>, assumed: &mut Assumed<'c>| Some(of_axis_in(value?, axis, assumed));
    let source = match ir::name_of(op) {
        ops::tensor::EMPTY | ops::memref::ALLOC | ops::memref::ALLOCA => {
            let dynamic = shape.iter().take(axis).filter(|s| s.is_none()).count();
            operand(op, dynamic).map(|size| of_value_in(size, assumed))
        }
        // A result has the size of its destination.
        ops::mdh::COMPUTE => extent_of(destination(op, buffer), assumed),
        ops::tensor::INSERT | ops::tensor::INSERT_SLICE => extent_of(operand(op, 1), assumed),
        ops::tensor::EXTRACT_SLICE | ops::memref::SUBVIEW => {
            sliced(op, axis, shape.len()).map(|size| match size {
                Bound::Static(number) => Extent::Number(number),
                Bound::Dynamic(value) => of_value_in(value, assumed),
            })
        }
        // The tiles that these name stand behind their destination.
        ops::linalg::PACK | ops::linalg::UNPACK => extent_of(operand(op, 1), assumed),
        name if name.starts_with("linalg.") => {
            let first = op.operand_count().checked_sub(op.result_count());
            let number = ir::result_number(buffer).zip(first);
            extent_of(
                number.and_then(|(n, first)| operand(op, first + n)),
                assumed,
            )
        }
        ops::tensor::CAST
        | ops::memref::CAST
        | ops::bufferization::TO_TENSOR
        | ops::bufferization::TO_BUFFER => {
            extent_of(operand(op, 0).filter(|v| has_axis(*v, axis)), assumed)
        }
        // Its only operand is what it copies, else its sizes.
        ops::bufferization::ALLOC_TENSOR => {
            let is_copy = ir::integers(op, "operandSegmentSizes").get(1) == Some(&1);
            extent_of(
                operand(op, 0).filter(|_| is_copy && op.operand_count() == 1),
                assumed,
            )
        }
        ops::scf::FOR => of_loop(op, buffer, axis, assumed),
        ops::scf::FORALL
        | ops::scf::WHILE
        | ops::scf::IF
        | ops::scf::INDEX_SWITCH
        | ops::scf::EXECUTE_REGION => of_all(op, buffer, axis, assumed),
        _ => None,
    };
    source.unwrap_or(Extent::Axis(buffer, axis))
}

/// The size of what a loop carries: the one that it starts with, if it keeps that.
fn of_argument<'c>(buffer: Val<'c>, axis: usize, assumed: &mut Assumed<'c>) -> Extent<'c> {
    let Some(given) = carried::argument(buffer) else {
        return Extent::Axis(buffer, axis);
    };
    let first = of_axis_in(given.first, axis, assumed);
    // What the first region of an `scf.while` has of its own is not seen in the second one.
    if ir::block_argument(buffer).is_some_and(|argument| is_inside(first, argument.of)) {
        return Extent::Axis(buffer, axis);
    }
    let Some(next) = given.next.filter(|_| !assumed.contains(&(buffer, axis))) else {
        return first;
    };
    assumed.push((buffer, axis));
    let next = of_axis_in(next, axis, assumed);
    assumed.pop();
    match first == next {
        true => first,
        false => Extent::Axis(buffer, axis),
    }
}

/// The size of what an `scf.for` leaves, if it keeps the one that it starts with.
fn of_loop<'c>(
    op: Op<'c>,
    result: Val<'c>,
    axis: usize,
    assumed: &mut Assumed<'c>,
) -> Option<Extent<'c>> {
    let block = ir::only_block(ir::region(op, 0))?;
    let argument = *arguments(block).get(ir::result_number(result)? + 1)?;
    let size = of_argument(argument, axis, assumed);
    (size != Extent::Axis(argument, axis)).then_some(size)
}

/// The size of a result that has the same one whatever happens, by what is known outside.
fn of_all<'c>(
    op: Op<'c>,
    result: Val<'c>,
    axis: usize,
    assumed: &mut Assumed<'c>,
) -> Option<Extent<'c>> {
    let values = carried::result(result)?.into_iter();
    let mut sizes = values.map(|value| of_axis_in(value, axis, assumed));
    let first = sizes.next()?;
    (sizes.all(|size| size == first) && !is_inside(first, op)).then_some(first)
}

/// Returns whether a size is that of something in an operation.
pub fn is_inside(size: Extent, op: Op) -> bool {
    let value = match size {
        Extent::Number(_) => return false,
        Extent::Value(value) | Extent::Axis(value, _) => value,
    };
    let owner = ir::block_argument(value).map(|argument| argument.of);
    let start = ir::defining_op(value).or(owner);
    std::iter::successors(start, |at| ir::parent(*at)).any(|at| at == op)
}

/// The size of a slice along one of its axes, where it is seen which axes of one index it does without.
fn sliced<'c>(op: Op<'c>, axis: usize, rank: usize) -> Option<Bound<'c>> {
    let [_, mut sizes, _] = listed(op, 1, SLICE)?;
    if sizes.len() != rank {
        sizes.retain(|size| *size != Bound::Static(1));
    }
    sizes.get(axis).filter(|_| sizes.len() == rank).copied()
}

/// Returns whether a value has an axis of this number: one of unknown rank has none that can be asked for.
fn has_axis(value: Val, axis: usize) -> bool {
    types::buffer_type(value.r#type()).is_some_and(|ty| axis < ty.shape.len())
}

fn operand(op: Op, number: usize) -> Option<Val> {
    ir::operand(op, number)
}

fn destination<'c>(op: Op<'c>, result: Val<'c>) -> Option<Val<'c>> {
    let number = draft::results(op).iter().position(|r| *r == result)?;
    let parts = draft::parts(op)?;
    let destinations: Vec<Val> = Parts::destinations(&parts).map(|b| b.value).collect();
    destinations.get(number).copied()
}
