//! The producer's point that writes what a consumer reads: the inverse of the write's index
//! function.
//!
//! The law: where axis `a` is written at `s * p_d + c`, the element that is read at `e` was
//! written at `p_d = (e - c) / s`. It is known to be there if that is whole, lies between the
//! dimension's bounds and on its grid, at all points of the consumer.

use mdh_algebra::affine::{Expr, Linear};
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};

use crate::simplify::canonicalize::pads::grids;
use crate::support::draft;
use crate::support::extents::{Sum, of_bound};

/// The producer's point that writes the element which the consumer reads at `at`, at the consumer's
/// point.
pub fn point<'c>(
    made: &Parts<'c>,
    output: &BufferPart<'c>,
    access: &[Expr],
    parts: &Parts<'c>,
    read: &BufferPart<'c>,
    at: &[Expr],
) -> Result<Vec<Expr>, String> {
    let mut point: Vec<Option<Expr>> = vec![None; made.dims.len()];
    for (axis, write) in access.iter().enumerate() {
        let shown = || format!("'{}'", write.display(&made.dim_names()));
        let form = write.linear(made.dims.len());
        let form = form.ok_or_else(|| not_inverted(axis, &shown()))?;
        let origins = Sum::of_bound(output.origin[axis])
            .plus(&Sum::of_bound(read.origin[axis]), -1)
            .and_then(|difference| difference.known())
            .ok_or("its origins are not known to be equal")?;
        let shift = origins.checked_sub(form.constant);
        let shift = shift.ok_or("its origins are too far apart")?;
        let distance = at[axis].clone() + shift;
        let used: Vec<usize> = (0..made.dims.len())
            .filter(|d| form.coefficients[*d] != 0)
            .collect();
        match used[..] {
            [] if is_zero(&distance, parts) => {}
            [] => {
                return Err(format!(
                    "its producer writes it at {} only in axis {axis}, and it is not known to be \
                     read only there",
                    shown()
                ));
            }
            [d] if point[d].is_none() => {
                let index = quotient(&distance, form.coefficients[d], parts.dims.len());
                point[d] = Some(index.ok_or_else(|| {
                    format!(
                        "its producer writes it at {} in axis {axis}, and it is not known to be \
                         read only there",
                        shown()
                    )
                })?);
            }
            _ => return Err(not_inverted(axis, &shown())),
        }
    }
    let indices = made.dims.iter().zip(point).map(|(dim, index)| {
        let index = match index {
            Some(index) => index,
            None => return only_index(dim),
        };
        if is_point(&index, dim, &parts.dims) {
            return Ok(index);
        }
        Err(format!(
            "it is not known to be read only where its producer writes it (in dimension '{}')",
            dim.name
        ))
    });
    indices.collect()
}

fn not_inverted(axis: usize, shown: &str) -> String {
    format!(
        "its producer writes it at {shown} in axis {axis}: expected a number, or a dimension of \
         its own, scaled and shifted"
    )
}

/// The index of a dimension of one point.
fn only_index(dim: &Dim) -> Result<Expr, String> {
    let lower = dim.lower.known().filter(|_| draft::count(dim) == Some(1));
    let several = || format!("its producer does not write it by dimension '{}'", dim.name);
    lower.map(Expr::Const).ok_or_else(several)
}

fn is_zero(expr: &Expr, parts: &Parts) -> bool {
    let range = expr.range(&grids(&parts.dims));
    range.is_some_and(|r| r.min == 0 && r.max == 0)
}

/// `distance / scale`, if that is known to be whole everywhere.
fn quotient(distance: &Expr, scale: i64, rank: usize) -> Option<Expr> {
    let Some(form) = distance.linear(rank) else {
        return (matches!(scale, 1 | -1)).then(|| distance.clone() * scale);
    };
    let (whole, rest) = form.times(scale.signum())?.divided(scale.checked_abs()?)?;
    (rest == 0).then(|| whole.to_expr())
}

/// Returns whether an index over the consumer's dimensions is a point of the producer's everywhere.
fn is_point(index: &Expr, dim: &Dim, dims: &[Dim]) -> bool {
    let linear = index.linear(dims.len());
    let ends = match &linear {
        Some(form) => ends(form, dims),
        None => {
            let range = index.range(&grids(dims));
            range.map(|r| [Sum::number(r.min), Sum::number(r.max)])
        }
    };
    let Some([min, max]) = ends else {
        return false;
    };
    let at_least = |a: &Sum, b: &Sum| {
        let distance = a.plus(b, -1).and_then(|d| d.known());
        distance.is_some_and(|d| d >= 0)
    };
    let (lower, upper) = (Sum::of_bound(dim.lower), Sum::of_bound(dim.upper));
    let unit = Sum::number(1);
    let is_within =
        at_least(&min, &lower) && max.plus(&unit, 1).is_some_and(|end| at_least(&upper, &end));
    is_within && (is_dense(dim) || linear.is_some_and(|form| is_on_grid(&form, dim, dims)))
}

/// The smallest and the largest value, if the domain is not empty.
fn ends<'c>(form: &Linear, dims: &[Dim<'c>]) -> Option<[Sum<'c>; 2]> {
    let mut ends = [Sum::number(form.constant), Sum::number(form.constant)];
    for ((factor, dim), grid) in form.coefficients.iter().zip(dims).zip(grids(dims)) {
        let first = Sum::of_bound(dim.lower);
        let last = match grid.and_then(|g| g.last()) {
            Some(last) => Sum::number(last),
            None => Sum::of_bound(dim.upper).plus(&Sum::number(1), -1)?,
        };
        let [min, max] = if *factor < 0 {
            [last, first]
        } else {
            [first, last]
        };
        ends = [ends[0].plus(&min, *factor)?, ends[1].plus(&max, *factor)?];
    }
    Some(ends)
}

fn is_dense(dim: &Dim) -> bool {
    same(dim.step, dim.width)
}

fn same(a: Bound, b: Bound) -> bool {
    of_bound(a) == of_bound(b)
}

/// Returns whether all values `v` have `(v - lower) mod step < width`.
///
/// Where every step of the consumer is a whole number of the producer's steps, only the first
/// value and the widths decide.
fn is_on_grid(form: &Linear, dim: &Dim, dims: &[Dim]) -> bool {
    let mut first = Sum::number(form.constant);
    for (factor, of) in form.coefficients.iter().zip(dims) {
        match first.plus(&Sum::of_bound(of.lower), *factor) {
            Some(sum) => first = sum,
            None => return false,
        }
    }
    let offset = first.plus(&Sum::of_bound(dim.lower), -1);
    let Some(offset) = offset.and_then(|offset| offset.known()) else {
        return false;
    };
    let mut used = form.coefficients.iter().zip(dims).filter(|(f, _)| **f != 0);
    let (Some(step), Some(width)) = (dim.step.known(), dim.width.known()) else {
        let only = used.next().filter(|_| used.next().is_none());
        let is_same =
            |of: &Dim| offset == 0 && same(of.step, dim.step) && same(of.width, dim.width);
        return only.is_some_and(|(factor, of)| *factor == 1 && is_same(of));
    };
    let [mut low, mut high] = [i128::from(offset.rem_euclid(step)); 2];
    for (factor, of) in used.filter(|(_, of)| draft::count(of) != Some(1)) {
        let (own_step, own_width) = match (of.step.known(), of.width.known()) {
            _ if is_dense(of) => (1, 1),
            (Some(step), Some(width)) => (step, width),
            _ => return false,
        };
        let factor = i128::from(*factor);
        if factor * i128::from(own_step) % i128::from(step) != 0 {
            return false;
        }
        let reach = factor * i128::from(own_width - 1);
        low += reach.min(0);
        high += reach.max(0);
    }
    low >= 0 && high < i128::from(width)
}
