//! The values that an index function takes, at run time.
//!
//! The same cases as in the algebra's `Expr::range`: linear expressions and divisions of them
//! take both ends of the interval, what uses `mod` need not.

use mdh_algebra::affine::{Ends, Expr};
use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::condition::{Condition, compare};
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::builder::{Builder, known};

/// All values lie in `min..=max`, if the domain has points and `fits` holds.
pub struct Interval<'c> {
    /// No value is below.
    pub min: Val<'c>,
    /// No value is above.
    pub max: Val<'c>,
    /// Tightness: whether both are values.
    pub ends: Ends,
    /// No term of it leaves 62 bits, so that nothing wraps around: no buffer is as large.
    pub fits: Condition<'c>,
}

/// The values of an expression over non-empty grids; `None` if it divides by anything but a
/// constant.
pub fn interval<'c>(
    builder: &mut Builder<'c>,
    expr: &Expr,
    grids: &[Grid<'c>],
) -> Option<Interval<'c>> {
    if let Some(form) = expr.linear(grids.len()) {
        return Some(linear(builder, &form, grids));
    }
    match expr {
        Expr::Dim(_) | Expr::Const(_) => None,
        Expr::Add(a, b) => {
            let apart = a.dims().is_disjoint(&b.dims());
            let (a, b) = (interval(builder, a, grids)?, interval(builder, b, grids)?);
            let exact = apart && a.ends == Ends::Attained && b.ends == Ends::Attained;
            Some(Interval {
                min: builder.binary(ops::arith::ADDI, a.min, b.min),
                max: builder.binary(ops::arith::ADDI, a.max, b.max),
                ends: if exact { Ends::Attained } else { Ends::Sound },
                fits: a.fits.and(builder, b.fits),
            })
        }
        Expr::Mul(a, b) => {
            let (a, factor) = match (&**a, &**b) {
                (a, Expr::Const(factor)) | (Expr::Const(factor), a) => (a, *factor),
                _ => return None,
            };
            let a = interval(builder, a, grids)?;
            let factor_value = builder.index(factor);
            let low = if factor < 0 { a.max } else { a.min };
            let high = if factor < 0 { a.min } else { a.max };
            Some(Interval {
                min: builder.binary(ops::arith::MULI, low, factor_value),
                max: builder.binary(ops::arith::MULI, high, factor_value),
                ..a
            })
        }
        Expr::FloorDiv(a, b) => divided(builder, ops::arith::FLOORDIVSI, a, b, grids),
        Expr::CeilDiv(a, b) => divided(builder, ops::arith::CEILDIVSI, a, b, grids),
        Expr::Mod(_, b) => {
            let Expr::Const(divisor) = **b else {
                return None;
            };
            Some(Interval {
                min: builder.index(0),
                max: builder.index(divisor - 1),
                ends: Ends::Sound,
                fits: Condition::Known(true),
            })
        }
    }
}

fn divided<'c>(
    builder: &mut Builder<'c>,
    operation: &str,
    a: &Expr,
    b: &Expr,
    grids: &[Grid<'c>],
) -> Option<Interval<'c>> {
    let Expr::Const(divisor) = *b else {
        return None;
    };
    let a = interval(builder, a, grids)?;
    let divisor = builder.index(divisor);
    Some(Interval {
        min: builder.binary(operation, a.min, divisor),
        max: builder.binary(operation, a.max, divisor),
        ..a
    })
}

fn linear<'c>(
    builder: &mut Builder<'c>,
    form: &mdh_algebra::affine::Linear,
    grids: &[Grid<'c>],
) -> Interval<'c> {
    let terms: Vec<(i64, &Grid)> = form
        .coefficients
        .iter()
        .zip(grids)
        .filter(|(c, _)| **c != 0)
        .map(|(c, grid)| (*c, grid))
        .collect();
    let constant = builder.index(form.constant);
    let mut interval = Interval {
        min: constant,
        max: constant,
        ends: Ends::Attained,
        fits: Condition::Known(true),
    };
    for (coefficient, grid) in &terms {
        let last = last(builder, grid);
        // An index by itself is what it is.
        let is_alone = terms.len() == 1 && *coefficient == 1 && form.constant == 0;
        let limit = (1i64 << 62) / terms.len() as i64 / coefficient.saturating_abs();
        let ends = [(grid.lower, "sge", -limit), (last, "sle", limit)];
        for (end, predicate, limit) in ends.into_iter().filter(|_| !is_alone) {
            let limit = builder.index(limit);
            let fits = compare(builder, predicate, end, limit);
            interval.fits = interval.fits.and(builder, fits);
        }
        let (low, high) = if *coefficient < 0 {
            (last, grid.lower)
        } else {
            (grid.lower, last)
        };
        let coefficient = builder.index(*coefficient);
        let low = builder.binary(ops::arith::MULI, low, coefficient);
        let high = builder.binary(ops::arith::MULI, high, coefficient);
        interval.min = builder.binary(ops::arith::ADDI, interval.min, low);
        interval.max = builder.binary(ops::arith::ADDI, interval.max, high);
    }
    interval
}

/// The last point of a grid that is not empty.
pub fn last<'c>(builder: &mut Builder<'c>, grid: &Grid<'c>) -> Val<'c> {
    let unit = builder.index(1);
    let is_dense = known(grid.step).is_some() && known(grid.step) == known(grid.width);
    if is_dense {
        return builder.binary(ops::arith::SUBI, grid.upper, unit);
    }
    let number = builder.binary(ops::arith::SUBI, grid.count, unit);
    grid.point(builder, number)
}
