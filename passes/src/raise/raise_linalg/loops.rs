//! The loops of an operation of linalg, as dimensions of a computation.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::{Bound, BufferPart, Dim};
use mdh_dialect::structured::{Operand, Structured};
use mdh_dialect::types;
use melior::ir::ValueLike;

use crate::support::builder::Builder;
use crate::support::extents::{self, Extent};

/// The loops of an operation.
pub struct Loops<'c> {
    /// The number of iterations of each, where it is known.
    pub extents: Vec<Option<i64>>,
    /// The same as the program has it, of those that alone index an axis.
    pub sizes: Vec<Option<Extent<'c>>>,
    /// Says which keep their results apart; the body accumulates over the others.
    pub is_kept: Vec<bool>,
}

impl<'c> Loops<'c> {
    /// The loops of an operation, of which a destination keeps some.
    pub fn new(structured: &Structured<'c>, output: &Operand) -> Self {
        let size = |d: usize| {
            let (value, axis) = structured.axis(d)?;
            Some(extents::of_axis(value, axis))
        };
        Loops {
            sizes: (0..structured.rank).map(size).collect(),
            extents: structured.extents(),
            is_kept: structured.kept(output),
        }
    }
}

/// The number of iterations that an operation's loops make, if its sizes are known.
pub fn iterations(op: Op) -> Option<i64> {
    let extents = Structured::read(op).ok()?.extents();
    let extents: Option<Vec<i64>> = extents.into_iter().collect();
    Some(extents?.into_iter().fold(1, i64::saturating_mul))
}

/// Refuses a destination of unknown sizes in which two iterations might write one element: with
/// known ones that is proved or refuted.
pub fn check_written(structured: &Structured, output: &Operand) -> Result<(), String> {
    let operands = structured.operands();
    let shapes = operands.filter_map(|o| types::buffer_type(o.value.r#type()));
    if !shapes.into_iter().any(|ty| ty.shape.contains(&None)) {
        return Ok(());
    }
    let dimension = |expr: &Expr| {
        let form = expr.linear(structured.rank)?;
        let mut used = (0..structured.rank).filter(|d| form.coefficients[*d] != 0);
        used.next().filter(|_| used.next().is_none())
    };
    let single: Vec<usize> = output.map.iter().filter_map(dimension).collect();
    let kept_dims = structured.kept(output);
    let missed = (0..structured.rank).find(|d| kept_dims[*d] && !single.contains(d));
    missed.map_or(Ok(()), |d| {
        Err(format!(
            "loop {d} has no axis of its destination to itself, so that iterations might write the \
             same element, and sizes are known at run time only: expected such an axis, or known sizes"
        ))
    })
}

/// The domain: the size of each loop is that of an axis which it alone indexes.
pub fn domain<'c>(
    structured: &Structured<'c>,
    builder: &mut Builder<'c>,
    is_kept: &[bool],
) -> Result<Vec<Dim<'c>>, String> {
    let extents = structured.extents();
    let mut dims = Vec::new();
    for (d, name) in names(is_kept).into_iter().enumerate() {
        let size = match (extents[d], structured.axis(d)) {
            (Some(size), _) => Bound::Static(size),
            (None, Some((value, axis))) => extents::bound(builder, value, axis),
            (None, None) => {
                return Err(format!(
                    "no operand has an axis that loop {d} alone indexes, so that its size is unknown"
                ));
            }
        };
        dims.push(Dim::dense(name, size));
    }
    Ok(dims)
}

/// The part of an operand that the points access.
pub fn buffer<'c>(operand: &Operand<'c>, name: &str) -> BufferPart<'c> {
    let origin = vec![Bound::Static(0); operand.map.len()];
    let mut part = BufferPart::accessed(name, operand.value, operand.map.clone(), origin);
    let context = ir::context_of_value(operand.value);
    part.pad = operand.outside.map(|pad| types::attribute(context, pad));
    part
}

/// The dimension of a computation without loops, of one point.
pub fn single<'c>() -> Dim<'c> {
    Dim::dense("i", Bound::Static(1))
}

/// Names of dimensions as one writes them: those that are kept from `i`, the others from `k`.
pub fn names(is_kept: &[bool]) -> Vec<String> {
    const KEPT: [&str; 8] = ["i", "j", "l", "m", "n", "o", "p", "q"];
    const COMBINED: [&str; 8] = ["k", "r", "s", "t", "u", "v", "w", "x"];
    let mut next = [0, 0];
    let mut names = Vec::new();
    for kept in is_kept {
        let (list, next) = match kept {
            true => (&KEPT, &mut next[0]),
            false => (&COMBINED, &mut next[1]),
        };
        let name = list.get(*next).map(|name| (*name).to_owned());
        names.push(name.unwrap_or_else(|| format!("{}{next}", list[0])));
        *next += 1;
    }
    names
}
