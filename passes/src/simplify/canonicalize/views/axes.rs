//! Index functions through a view.

use mdh_algebra::affine::Expr;
use mdh_algebra::domain::Grid;
use mdh_dialect::ir::Val;
use mdh_dialect::parts::{Bound, BufferPart};

use super::{View, ViewAxis};
use crate::support::builder::Builder;
use crate::support::extents::Sum;

/// The origin along one axis of a source: a number, or a sum of scaled values.
pub enum Origin<'c> {
    /// As it was along one axis of the view.
    Kept(Bound<'c>),
    /// `sum of scale * value`.
    Sum(Vec<(Val<'c>, i64)>),
}

impl<'c> Origin<'c> {
    /// Computes it.
    pub fn bound(self, builder: &mut Builder<'c>) -> Bound<'c> {
        let terms = match self {
            Origin::Kept(bound) => return bound,
            Origin::Sum(terms) => terms,
        };
        // What a slice adds and a tile's origin takes away cancels.
        let add = |sum: Sum<'c>, (value, scale): &(Val<'c>, i64)| {
            sum.plus(&Sum::of_value(*value), *scale)
        };
        let sum = terms.iter().try_fold(Sum::number(0), add);
        // Else a number is too large, and the values are taken as they are.
        let sum = sum.unwrap_or_else(|| Sum::of_terms(&terms));
        sum.bound(builder)
    }
}

/// Makes the buffer's index functions those of the view's source, and returns their origins.
/// `None`, with nothing changed, if they are not affine.
pub fn compose<'c>(
    buffer: &mut BufferPart<'c>,
    view: &View<'c>,
    grids: &[Option<Grid>],
) -> Option<Vec<Origin<'c>>> {
    let mut accesses = vec![Vec::new(); buffer.accesses.len()];
    let mut origins = Vec::new();
    for axis in &view.axes {
        let (exprs, origin) = match axis {
            ViewAxis::Linear {
                terms,
                constant,
                offset,
            } => linear(buffer, terms, *constant, *offset)?,
            ViewAxis::Digit {
                axis,
                divisor,
                modulus,
            } => digit(buffer, *axis, (*divisor, *modulus), grids)?,
        };
        for (access, expr) in accesses.iter_mut().zip(exprs) {
            access.push(expr);
        }
        origins.push(origin);
    }
    buffer.accesses = accesses;
    Some(origins)
}

type Composed<'c> = (Vec<Expr>, Origin<'c>);

fn linear<'c>(
    buffer: &BufferPart<'c>,
    terms: &[(usize, i64)],
    constant: i64,
    offset: Option<Val<'c>>,
) -> Option<Composed<'c>> {
    if let ([(axis, 1)], 0, None) = (terms, constant, offset) {
        let exprs = buffer.accesses.iter().map(|a| a[*axis].clone()).collect();
        return Some((exprs, Origin::Kept(buffer.origin[*axis])));
    }
    // What is known goes to the index function, the rest to the origin, with the other sign.
    let mut known = constant;
    let mut unknown: Vec<(Val, i64)> = offset.map(|value| (value, -1)).into_iter().collect();
    for (axis, scale) in terms {
        match buffer.origin[*axis] {
            Bound::Static(origin) => known = known.checked_sub(origin.checked_mul(*scale)?)?,
            Bound::Dynamic(origin) => unknown.push((origin, *scale)),
        }
    }
    let expr = |access: &Vec<Expr>| {
        let terms = terms
            .iter()
            .map(|(axis, scale)| access[*axis].clone() * *scale);
        terms.fold(Expr::Const(0), |sum, term| sum + term) + known
    };
    Some((
        buffer.accesses.iter().map(expr).collect(),
        Origin::Sum(unknown),
    ))
}

/// A digit of an index whose other digits are seen to stay apart.
fn digit<'c>(
    buffer: &BufferPart<'c>,
    axis: usize,
    (divisor, modulus): (i64, Option<i64>),
    grids: &[Option<Grid>],
) -> Option<Composed<'c>> {
    let origin = buffer.origin[axis].known()?;
    let digit = |access: &Vec<Expr>| {
        let mut index = access[axis].linear(grids.len())?;
        index.constant = index.constant.checked_sub(origin)?;
        // index = divisor * modulus * above + divisor * own + below
        let (mut own, mut below) = (index.clone(), index);
        let above = modulus
            .map(|m| m.checked_mul(divisor))
            .map_or(Some(None), |m| m.map(Some))?;
        for (own, below) in own.coefficients.iter_mut().zip(&mut below.coefficients) {
            if above.is_some_and(|above| *own % above == 0) {
                (*own, *below) = (0, 0);
            } else if *own % divisor == 0 {
                (*own, *below) = (*own / divisor, 0);
            } else {
                *own = 0;
            }
        }
        below.constant = below.constant.rem_euclid(divisor);
        own.constant = own.constant.div_euclid(divisor);
        if let Some(modulus) = modulus {
            own.constant = own.constant.rem_euclid(modulus);
        }
        let (own, below) = (own.to_expr(), below.to_expr());
        let within = |expr: &Expr, size: i64| {
            expr.range(grids)
                .is_some_and(|r| r.min >= 0 && r.max < size)
        };
        let stays = within(&below, divisor) && modulus.is_none_or(|m| within(&own, m));
        stays.then_some(own)
    };
    let exprs = buffer
        .accesses
        .iter()
        .map(digit)
        .collect::<Option<Vec<Expr>>>()?;
    Some((exprs, Origin::Kept(Bound::Static(0))))
}
