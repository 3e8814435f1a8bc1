//! The points of one dimension as loops.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, Dim};

use crate::support::builder::{Builder, known};

/// The bounds of one dimension as values.
#[derive(Clone, Copy)]
pub struct Grid<'c> {
    /// First index.
    pub lower: Val<'c>,
    /// One past the last candidate index.
    pub upper: Val<'c>,
    /// Period.
    pub step: Val<'c>,
    /// Points in each period.
    pub width: Val<'c>,
    /// Number of points.
    pub count: Val<'c>,
}

impl<'c> Grid<'c> {
    /// The bounds of a dimension.
    pub fn new(builder: &mut Builder<'c>, dim: &Dim<'c>) -> Self {
        let [lower, upper, step, width] =
            [dim.lower, dim.upper, dim.step, dim.width].map(|b| bound(builder, b));
        let count = count(builder, [lower, upper, step, width]);
        Grid {
            lower,
            upper,
            step,
            width,
            count,
        }
    }

    /// A loop over the points of a dimension.
    pub fn each(
        &self,
        builder: &mut Builder<'c>,
        carried: &[Val<'c>],
        body: impl FnOnce(&mut Builder<'c>, Val<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let unit = builder.index(1);
        if self.is_dense() {
            return builder.for_loop([self.lower, self.upper, unit], carried, body);
        }
        if known(self.width) == Some(1) {
            return builder.for_loop([self.lower, self.upper, self.step], carried, body);
        }
        let zero = builder.index(0);
        builder.for_loop(
            [zero, self.count, unit],
            carried,
            |builder, number, carried| {
                let index = self.point(builder, number);
                body(builder, index, carried)
            },
        )
    }

    /// From one point's index to the next one's; `None` where that is not always the same.
    pub fn stride(&self, builder: &mut Builder<'c>) -> Option<Val<'c>> {
        match (self.is_dense(), known(self.width)) {
            (true, _) => Some(builder.index(1)),
            (false, Some(1)) => Some(self.step),
            _ => None,
        }
    }

    /// The index of the last point, if there is any.
    pub fn last(&self, builder: &mut Builder<'c>) -> Val<'c> {
        let unit = builder.index(1);
        if self.is_dense() {
            return builder.binary(ops::arith::SUBI, self.upper, unit);
        }
        let number = builder.binary(ops::arith::SUBI, self.count, unit);
        self.point(builder, number)
    }

    fn is_dense(&self) -> bool {
        known(self.step).is_some() && known(self.step) == known(self.width)
    }

    /// The index of the point with a number: `lower + (n / width) * step + n mod width`.
    pub fn point(&self, builder: &mut Builder<'c>, number: Val<'c>) -> Val<'c> {
        let period = builder.binary(ops::arith::DIVSI, number, self.width);
        let start = builder.binary(ops::arith::MULI, period, self.step);
        let within = builder.binary(ops::arith::REMSI, number, self.width);
        let offset = builder.binary(ops::arith::ADDI, start, within);
        builder.binary(ops::arith::ADDI, self.lower, offset)
    }

    /// The number of the point with an index.
    pub fn number(&self, builder: &mut Builder<'c>, index: Val<'c>) -> Val<'c> {
        let offset = builder.binary(ops::arith::SUBI, index, self.lower);
        if self.is_dense() {
            return offset;
        }
        let period = builder.binary(ops::arith::DIVSI, offset, self.step);
        let start = builder.binary(ops::arith::MULI, period, self.width);
        let within = builder.binary(ops::arith::REMSI, offset, self.step);
        builder.binary(ops::arith::ADDI, start, within)
    }
}

/// A bound as a value.
pub fn bound<'c>(builder: &mut Builder<'c>, bound: Bound<'c>) -> Val<'c> {
    match bound {
        Bound::Static(number) => builder.index(number),
        Bound::Dynamic(value) => value,
    }
}

/// `(n / step) * width + min(n mod step, width)` with `n = max(upper - lower, 0)`.
fn count<'c>(builder: &mut Builder<'c>, [lower, upper, step, width]: [Val<'c>; 4]) -> Val<'c> {
    let zero = builder.index(0);
    let distance = builder.binary(ops::arith::SUBI, upper, lower);
    let distance = builder.binary(ops::arith::MAXSI, distance, zero);
    if known(step).is_some() && known(step) == known(width) {
        return distance;
    }
    // One index is one point, whatever the steps are.
    if known(distance) == Some(1) {
        return distance;
    }
    let periods = builder.binary(ops::arith::DIVSI, distance, step);
    let whole = builder.binary(ops::arith::MULI, periods, width);
    let rest = builder.binary(ops::arith::REMSI, distance, step);
    let rest = builder.binary(ops::arith::MINSI, rest, width);
    builder.binary(ops::arith::ADDI, whole, rest)
}
