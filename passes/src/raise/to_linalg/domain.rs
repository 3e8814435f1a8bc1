//! The domain of a computation as linalg's loops have it: from 0 on, without steps.
//!
//! A point of dimension `d` is `lower + step * i` for the index `i` of a loop. A kept dimension of one point that no
//! output is indexed by is no loop: linalg has no parallel loop that is no index of a destination.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::{marks, ops};
use melior::ir::Attribute;

use crate::support::builder::Builder;
use crate::support::extents::Sum;

/// The loops of a computation.
pub struct Domain<'c> {
    loops: Vec<Loop<'c>>,
    /// The number of its loops.
    pub rank: usize,
    /// Its buffers are known to fit, as those of an operation of linalg do.
    pub fits: bool,
}

/// One dimension.
pub struct Loop<'c> {
    /// Its number of points.
    pub extent: Bound<'c>,
    /// The first point.
    pub lower: Bound<'c>,
    /// The distance of two points.
    pub step: i64,
    /// `#mdh.cc` or `#mdh.pw`.
    pub combine: Attribute<'c>,
    /// Its number among the loops; none if it has one point that no output has an index of.
    pub place: Option<usize>,
}

/// An index function over loops.
pub enum Index<'c> {
    /// `sum of coefficients[n] * loop n + base`.
    Linear(Vec<i64>, Sum<'c>),
    /// With divisions.
    Other(Expr),
}

impl<'c> Domain<'c> {
    /// Reads it; the rule that it does not follow, if linalg has no loops for it.
    pub fn new(builder: &mut Builder<'c>, op: Op<'c>, parts: &Parts<'c>) -> Result<Self, String> {
        let mut rank = 0;
        let mut loops = Vec::new();
        for (d, (dim, combine)) in parts.dims.iter().zip(&parts.combine).enumerate() {
            let step = step(dim)?;
            let extent = extent(builder, dim, step)?;
            let is_kept = ir::is_cc(*combine);
            let writers = parts
                .outputs
                .iter()
                .filter(|output| uses(output, d))
                .count();
            let is_loop = !is_kept || writers > 0 || extent != Bound::Static(1);
            if is_kept && is_loop && writers < parts.outputs.len() {
                return Err(format!(
                    "dimension '{}' is kept, and is no index of each output: expected one that all outputs are \
                     indexed by",
                    dim.name
                ));
            }
            loops.push(Loop {
                extent,
                lower: dim.lower,
                step,
                combine: *combine,
                place: is_loop.then_some(rank),
            });
            rank += usize::from(is_loop);
        }
        let fits = marks::FITS.is_on(op);
        Ok(Domain { loops, rank, fits })
    }

    /// The loops in order.
    pub fn loops(&self) -> impl Iterator<Item = &Loop<'c>> {
        self.loops.iter().filter(|own| own.place.is_some())
    }

    /// The dimensions in order, those without a loop too.
    pub fn dims(&self) -> &[Loop<'c>] {
        &self.loops
    }

    /// An index function less an origin, over loops.
    pub fn index(&self, expr: &Expr, origin: Bound<'c>) -> Result<Index<'c>, String> {
        self.check_empty(expr)?;
        let too_large = || "an index of it leaves the 64-bit range".to_owned();
        if let Some(form) = expr.linear(self.loops.len()) {
            let mut coefficients = vec![0; self.rank];
            let origin = Sum::of_bound(origin);
            let mut base = Sum::number(form.constant).plus(&origin, -1);
            for (d, factor) in form.terms() {
                let dim_loop = &self.loops[d];
                let lower = Sum::of_bound(dim_loop.lower);
                base = base.and_then(|base| base.plus(&lower, factor));
                if let Some(place) = dim_loop.place {
                    let by_step = factor.checked_mul(dim_loop.step);
                    coefficients[place] = by_step.ok_or_else(too_large)?;
                }
            }
            return Ok(Index::Linear(coefficients, base.ok_or_else(too_large)?));
        }
        let point = |own: &Loop| {
            let lower = own.lower.known()?;
            Some(own.place.map_or(Expr::Const(lower), |place| {
                Expr::Dim(place) * own.step + lower
            }))
        };
        let points: Option<Vec<Expr>> = self.loops.iter().map(point).collect();
        let known = points.zip(origin.known());
        let (points, origin) = known.ok_or(
            "an index of it with a division has an origin or a bound that is known at run time only: \
             expected numbers",
        )?;
        Ok(Index::Other(expr.substitute(&points) + -origin))
    }
}

impl Domain<'_> {
    /// Fails for more than the index itself of a dimension without points: linalg's verifier takes a loop of
    /// none to end at -1, and asks for the element there.
    fn check_empty(&self, expr: &Expr) -> Result<(), String> {
        let is_empty = |d: usize| self.loops[d].extent == Bound::Static(0);
        let is_plain = match expr.linear(self.loops.len()) {
            Some(form) => {
                let mut factors = form.terms().map(|(_, factor)| factor);
                factors.next().is_some_and(|factor| factor > 0) && factors.next().is_none()
            }
            None => false,
        };
        match !is_plain && expr.dims().into_iter().any(is_empty) {
            false => Ok(()),
            true => Err(
                "an index of it is computed from that of a dimension without points, where linalg asks for \
                 the element at -1: expected the dimension's index alone"
                    .into(),
            ),
        }
    }
}

/// Returns whether an index of a buffer depends on dimension `d`.
fn uses(buffer: &BufferPart, d: usize) -> bool {
    buffer.accesses.iter().flatten().any(|expr| expr.uses(d))
}

fn step(dim: &Dim) -> Result<i64, String> {
    let name = &dim.name;
    if dim.width.known() != Some(1) {
        return Err(format!(
            "dimension '{name}' has several points in each step, which linalg has no loop for: expected \
             a width of 1"
        ));
    }
    dim.step.known().filter(|step| *step > 0).ok_or_else(|| {
        format!("dimension '{name}' has a step that is known at run time only: expected a number")
    })
}

/// The number of points.
fn extent<'c>(builder: &mut Builder<'c>, dim: &Dim<'c>, step: i64) -> Result<Bound<'c>, String> {
    if dim.lower == Bound::Static(0) && step == 1 {
        return Ok(match dim.upper {
            Bound::Static(upper) => Bound::Static(upper.max(0)),
            open @ Bound::Dynamic(_) => open,
        });
    }
    let lower = Sum::of_bound(dim.lower);
    let length = Sum::of_bound(dim.upper).plus(&lower, -1);
    let length = length.ok_or("its bounds leave the 64-bit range")?;
    if let Some(length) = length.known() {
        let length = length.max(0);
        return Ok(Bound::Static(length / step + i64::from(length % step != 0)));
    }
    Ok(match length.bound(builder) {
        known @ Bound::Static(_) => known,
        Bound::Dynamic(length) => {
            let (zero, step) = (builder.index(0), builder.index(step));
            let length = builder.binary(ops::arith::MAXSI, length, zero);
            Bound::Dynamic(builder.binary(ops::arith::CEILDIVSI, length, step))
        }
    })
}
