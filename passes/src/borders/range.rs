//! The indices that an input is read at, as far as the loops around say which these can be.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim};
use mdh_dialect::types;
use melior::ir::ValueLike;

use crate::builder::known;
use crate::parallel;

/// Depth to which values are followed.
const DEPTH: usize = 8;

/// The least and the greatest number that a value can be, where these are known.
#[derive(Clone, Copy)]
struct Range {
    min: Option<i64>,
    max: Option<i64>,
}

/// Returns whether it is known that all accesses stay inside of an axis.
pub fn stays_inside(input: &BufferPart, axis: usize, dims: &[Dim]) -> bool {
    let reach = || {
        let extent = (*types::buffer_type(input.value.r#type())?.shape.get(axis)?)?;
        let origin = of_bound(input.origin[axis], DEPTH);
        let dims: Vec<Range> = dims.iter().map(indices).collect();
        let mut accesses = input.accesses.iter();
        let fits = accesses.all(|access| {
            let Some(form) = access[axis].linear(dims.len()) else {
                return false;
            };
            let mut sum = Range::exactly(form.constant).minus(origin);
            for (dim, factor) in dims.iter().zip(&form.coefficients) {
                if *factor != 0 {
                    sum = sum.plus(dim.times(*factor));
                }
            }
            sum.min.is_some_and(|min| min >= 0) && sum.max.is_some_and(|max| max < extent)
        });
        Some(fits)
    };
    reach().unwrap_or(false)
}

fn indices(dim: &Dim) -> Range {
    let (lower, upper) = (of_bound(dim.lower, DEPTH), of_bound(dim.upper, DEPTH));
    Range {
        min: lower.min,
        max: upper.max.and_then(|max| max.checked_sub(1)),
    }
}

fn of_bound(bound: Bound, depth: usize) -> Range {
    match bound {
        Bound::Static(number) => Range::exactly(number),
        Bound::Dynamic(value) => of(value, depth),
    }
}

fn of(value: Val, depth: usize) -> Range {
    if let Some(number) = known(value) {
        return Range::exactly(number);
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Range::ANY;
    };
    if let Some(argument) = ir::block_argument(value) {
        return loop_index(argument.of, argument.number, depth).unwrap_or(Range::ANY);
    }
    let operands = ir::defining_op(value)
        .and_then(|op| Some((ir::name_of(op), ir::operand(op, 0)?, ir::operand(op, 1)?)));
    let Some((name, a, b)) = operands else {
        return Range::ANY;
    };
    match name {
        ops::arith::ADDI => of(a, depth).plus(of(b, depth)),
        ops::arith::SUBI => of(a, depth).minus(of(b, depth)),
        ops::arith::MULI => match (known(a), known(b)) {
            (_, Some(factor)) => of(a, depth).times(factor),
            (Some(factor), _) => of(b, depth).times(factor),
            _ => Range::ANY,
        },
        ops::arith::MINSI => of(a, depth).least(of(b, depth)),
        ops::arith::MAXSI => of(a, depth)
            .negated()
            .least(of(b, depth).negated())
            .negated(),
        _ => Range::ANY,
    }
}

/// The index of a loop: from its first one to the last that a step leads to.
fn loop_index(of: Op, number: usize, depth: usize) -> Option<Range> {
    let operand = |n| Some(Bound::Dynamic(ir::operand(of, n)?));
    let bounds = match ir::name_of(of) {
        ops::scf::FOR if number == 0 => [operand(0)?, operand(1)?, operand(2)?],
        ops::scf::FORALL => parallel::bounds(of)?,
        _ => return None,
    };
    let [lower, upper, step] = bounds.map(|bound| of_bound(bound, depth));
    let last = upper.max?.checked_sub(1)?;
    let steps =
        |first: i64, step: i64| Some(first + last.checked_sub(first)?.div_euclid(step) * step);
    let on_step = match (lower.exact(), step.exact()) {
        (Some(first), Some(step)) if step > 0 => steps(first, step)?,
        _ => last,
    };
    Some(Range {
        min: lower.min,
        max: Some(on_step),
    })
}

impl Range {
    const ANY: Range = Range {
        min: None,
        max: None,
    };

    fn exactly(number: i64) -> Range {
        Range {
            min: Some(number),
            max: Some(number),
        }
    }

    fn exact(self) -> Option<i64> {
        self.min.filter(|min| self.max == Some(*min))
    }

    fn plus(self, other: Range) -> Range {
        let sum = |a: Option<i64>, b: Option<i64>| a?.checked_add(b?);
        Range {
            min: sum(self.min, other.min),
            max: sum(self.max, other.max),
        }
    }

    fn negated(self) -> Range {
        self.times(-1)
    }

    fn minus(self, other: Range) -> Range {
        self.plus(other.negated())
    }

    fn times(self, factor: i64) -> Range {
        let end = |end: Option<i64>| end?.checked_mul(factor);
        let (mut min, mut max) = (end(self.min), end(self.max));
        if factor < 0 {
            (min, max) = (max, min);
        }
        Range { min, max }
    }

    /// The lesser of two numbers: not more than either.
    fn least(self, other: Range) -> Range {
        let both = self.min.zip(other.min);
        let known = [self.max, other.max].into_iter().flatten();
        Range {
            min: both.map(|(a, b)| a.min(b)),
            max: known.min(),
        }
    }
}
