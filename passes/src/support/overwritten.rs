//! Destinations of which computations write every element, so that what they held before does not matter.

use mdh_algebra::affine::Expr;
use mdh_algebra::domain::Grid;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::types;
use melior::ir::ValueLike;

use crate::support::draft;
use crate::support::extents::{self, Extent};

/// The part of an argument's elements that a function writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// All of them, whenever it is called.
    All,
    /// Not all of them, or not always.
    Part,
    /// That depends on sizes.
    Unknown,
}

/// The elements of an argument that a function writes: of a tensor by each computation that starts from it, of a
/// memref by one of the function's own block. `known` has the sizes that are known.
pub fn written<'c>(
    function: Op<'c>,
    argument: Val<'c>,
    known: &dyn Fn(Extent<'c>) -> Option<i64>,
) -> Written {
    let equal = EqualSizes::new(function);
    let is_tensor = types::buffer_type(argument.r#type())
        .is_some_and(|ty| ty.kind == types::BufferKind::Tensor);
    let mut parts_of_writers = Vec::new();
    for op in ir::find_all(function, &[ops::mdh::COMPUTE]) {
        let Some(parts) = draft::parts(op) else {
            continue;
        };
        for own in Parts::destinations(&parts).filter(|b| b.value == argument) {
            parts_of_writers.push(match writes_all(&parts, own, &equal) {
                _ if !is_tensor && !is_always_run(function, op) => Written::Part,
                true => Written::All,
                false => counted(&parts, own, known),
            });
        }
    }
    // One that writes all of a memref is enough, and one that does not of a tensor.
    let order = match is_tensor {
        true => [Written::Part, Written::Unknown, Written::All],
        false => [Written::All, Written::Unknown, Written::Part],
    };
    let first = order.into_iter().find(|one| parts_of_writers.contains(one));
    first.unwrap_or(Written::Unknown)
}

/// Returns whether all elements of an argument of a function are surely written, whatever its sizes.
pub fn is_all_written(function: Op, argument: Val) -> bool {
    written(function, argument, &|_| None) == Written::All
}

/// The elements of a buffer that a computation writes, by their number: no two points write one element.
fn counted<'c>(
    parts: &Parts<'c>,
    buffer: &BufferPart<'c>,
    known: &dyn Fn(Extent<'c>) -> Option<i64>,
) -> Written {
    let value_of = |bound: Bound<'c>| known(extents::of_bound(bound));
    let count = |dim: &Dim<'c>| {
        Some(
            Grid::new(
                value_of(dim.lower)?,
                value_of(dim.upper)?,
                value_of(dim.step)?,
                value_of(dim.width)?,
            )?
            .count(),
        )
    };
    let kept_dims = parts.combine.iter().zip(&parts.dims);
    let kept_dims = kept_dims.filter(|(combine, _)| !ir::is_pw(**combine));
    let points = product(kept_dims.map(|(_, dim)| count(dim)));
    let points = points.and_then(|n| n.checked_mul(buffer.accesses.len() as i64));
    let axes = 0..buffer.origin.len();
    let elements = product(axes.map(|axis| known(extents::of_axis(buffer.value, axis))));
    match points.zip(elements) {
        Some((points, elements)) if points == elements => Written::All,
        Some(_) => Written::Part,
        None => Written::Unknown,
    }
}

/// Returns whether a function does an operation whenever it is called.
fn is_always_run(function: Op, op: Op) -> bool {
    ir::parent(op) == Some(function) && ir::only_block(ir::region(function, 0)).is_some()
}

fn product(mut all: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    all.try_fold(1, |all: i64, own| all.checked_mul(own?))
}

/// Returns whether the points of a domain are all elements of a buffer: along axes that one dimension alone
/// indexes, by the size of both, and along the others by their number, as no two points write one element.
pub fn writes_all(parts: &Parts, buffer: &BufferPart, equal: &EqualSizes) -> bool {
    let [access] = &buffer.accesses[..] else {
        return false;
    };
    let mut open: Vec<bool> = parts.combine.iter().map(|c| !ir::is_pw(*c)).collect();
    let mut rest: Option<i64> = Some(1);
    for (axis, (expr, origin)) in access.iter().zip(&buffer.origin).enumerate() {
        let size = extents::of_axis(buffer.value, axis);
        match expr {
            Expr::Dim(d) if open[*d] && spans(parts, *d, *origin, size, equal) => open[*d] = false,
            _ => {
                rest = match size {
                    Extent::Number(size) => rest.and_then(|rest| rest.checked_mul(size)),
                    _ => None,
                }
            }
        }
    }
    let left = open.iter().zip(&parts.dims).filter(|(open, _)| **open);
    let points = product(left.map(|(_, dim)| draft::count(dim)));
    rest.is_some() && rest == points
}

/// Returns whether a dimension has all indices of an axis of that size.
fn spans(parts: &Parts, d: usize, origin: Bound, size: Extent, equal: &EqualSizes) -> bool {
    let dim = &parts.dims[d];
    let is_dense = dim.step == dim.width && dim.lower == origin;
    is_dense
        && match dim.lower.known() {
            Some(0) => equal.holds(size, extents::of_bound(dim.upper)),
            Some(lower) => match (size, dim.upper) {
                (Extent::Number(size), Bound::Static(upper)) => {
                    lower.checked_add(size) == Some(upper)
                }
                _ => false,
            },
            None => false,
        }
}

/// Sizes that a function asserts to be equal, whenever it is called.
pub struct EqualSizes<'c>(Vec<(Extent<'c>, Extent<'c>)>);

impl<'c> EqualSizes<'c> {
    /// Reads them off a function's assertions.
    pub fn new(function: Op<'c>) -> Self {
        let asserted = ir::find_all(function, &[ops::cf::ASSERT]).into_iter();
        let compared = asserted.filter_map(|op| {
            let by = ir::defining_op(ir::operand(op, 0)?)?;
            let is_equal = is_always_run(function, op)
                && ir::name_of(by) == ops::arith::CMPI
                && ir::integer(by, "predicate") == Some(0);
            let sides = [0, 1].map(|n| ir::operand(by, n).map(extents::of_value));
            match sides {
                [Some(a), Some(b)] if is_equal => Some((a, b)),
                _ => None,
            }
        });
        EqualSizes(compared.collect())
    }

    fn holds(&self, a: Extent<'c>, b: Extent<'c>) -> bool {
        let mut known = vec![a];
        let mut next = 0;
        while let Some(one) = known.get(next).copied() {
            next += 1;
            for (c, d) in &self.0 {
                for (from, to) in [(c, d), (d, c)] {
                    if *from == one && !known.contains(to) {
                        known.push(*to);
                    }
                }
            }
        }
        known.contains(&b)
    }
}
