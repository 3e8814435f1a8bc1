//! The numbers that an index can be, as far as constants, extents and the loops around say.

use mdh_algebra::integer::Interval;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim};
use mdh_dialect::types;
use melior::ir::ValueLike;

use crate::support::builder::known;
use crate::support::parallel;

/// Depth to which values are followed.
const DEPTH: usize = 8;

/// All numbers that an index can be.
const ANY: Interval = Interval {
    min: i64::MIN as i128,
    max: i64::MAX as i128,
};

/// Returns the numbers that a value of type `index` can be.
pub fn interval(value: Val) -> Interval {
    follow(value, DEPTH)
}

/// Returns whether a number is known not to be negative.
pub fn is_natural(bound: Bound) -> bool {
    of_bound(bound, DEPTH).min >= 0
}

/// Returns whether it is known that all accesses stay inside of an axis.
pub fn stays_inside(input: &BufferPart, axis: usize, dims: &[Dim]) -> bool {
    let reach = || {
        let extent = (*types::buffer_type(input.value.r#type())?.shape.get(axis)?)?;
        let origin = of_bound(input.origin[axis], DEPTH);
        let dims: Vec<Interval> = dims.iter().map(indices).collect();
        let mut accesses = input.accesses.iter();
        let fits = accesses.all(|access| {
            let Some(form) = access[axis].linear(dims.len()) else {
                return false;
            };
            let index = form
                .values(|d| Some(dims[d]))
                .map(|index| index.minus(origin));
            index.is_some_and(|index| index.min >= 0 && index.max < extent.into())
        });
        Some(fits)
    };
    reach().unwrap_or(false)
}

fn indices(dim: &Dim) -> Interval {
    let (lower, upper) = (of_bound(dim.lower, DEPTH), of_bound(dim.upper, DEPTH));
    Interval {
        min: lower.min,
        max: upper.max - 1,
    }
}

fn of_bound(bound: Bound, depth: usize) -> Interval {
    match bound {
        Bound::Static(number) => Interval::exactly(number),
        Bound::Dynamic(value) => follow(value, depth),
    }
}

fn follow(value: Val, depth: usize) -> Interval {
    if let Some(number) = known(value) {
        return Interval::exactly(number);
    }
    let Some(depth) = depth.checked_sub(1) else {
        return ANY;
    };
    if let Some(argument) = ir::block_argument(value) {
        return loop_index(argument.of, argument.number, depth).unwrap_or(ANY);
    }
    let Some(op) = ir::defining_op(value) else {
        return ANY;
    };
    if [ops::memref::DIM, ops::tensor::DIM].contains(&ir::name_of(op)) {
        return Interval::new(0, i64::MAX.into());
    }
    let (Some(a), Some(b)) = (ir::operand(op, 0), ir::operand(op, 1)) else {
        return ANY;
    };
    let both = || (follow(a, depth), follow(b, depth));
    let interval = match ir::name_of(op) {
        ops::arith::ADDI => Some(both()).map(|(a, b)| a.plus(b)),
        ops::arith::SUBI => Some(both()).map(|(a, b)| a.minus(b)),
        ops::arith::MULI => Some(both()).map(|(a, b)| a.times(b)),
        ops::arith::MINSI => Some(both()).map(|(a, b)| least(a, b)),
        ops::arith::MAXSI => Some(both()).map(|(a, b)| greatest(a, b)),
        ops::arith::FLOORDIVSI => quotients(both()),
        // As for the floor, one more at most.
        ops::arith::CEILDIVSI => quotients(both()).map(|floor| floor.plus(Interval::new(0, 1))),
        _ => None,
    };
    // What goes beyond 64 bits is some other number.
    let fits = |range: &Interval| range.min >= ANY.min && range.max <= ANY.max;
    interval.filter(fits).unwrap_or(ANY)
}

/// The lesser of two numbers.
fn least(a: Interval, b: Interval) -> Interval {
    Interval::new(a.min.min(b.min), a.max.min(b.max))
}

/// The greater of two numbers.
fn greatest(a: Interval, b: Interval) -> Interval {
    Interval::new(a.min.max(b.min), a.max.max(b.max))
}

/// The quotients of numbers of which the second is positive, rounded down.
fn quotients(numbers: (Interval, Interval)) -> Option<Interval> {
    let (dividend, divisor) = numbers;
    (divisor.min > 0).then(|| dividend.divided(divisor))
}

/// The index of a loop: from its first one to the last that a step leads to.
fn loop_index(of: Op, number: usize, depth: usize) -> Option<Interval> {
    let operand = |n| Some(Bound::Dynamic(ir::operand(of, n)?));
    let bounds = match ir::name_of(of) {
        ops::scf::FOR if number == 0 => [operand(0)?, operand(1)?, operand(2)?],
        ops::scf::FORALL => parallel::bounds(of)?,
        _ => return None,
    };
    let [lower, upper, step] = bounds.map(|bound| of_bound(bound, depth));
    let last = upper.max - 1;
    let on_step = match (lower.constant(), step.constant()) {
        (Some(first), Some(step)) if step > 0 => {
            let (first, step) = (i128::from(first), i128::from(step));
            first + (last - first).div_euclid(step) * step
        }
        _ => last,
    };
    Some(Interval::new(lower.min, on_step))
}
