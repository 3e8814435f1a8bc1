//! Destinations of which computations write every element, so that what they held before does not matter.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Parts};
use mdh_dialect::types;
use melior::ir::ValueLike;

use crate::draft;
use crate::extents::{self, Extent};

/// Returns whether all elements of an argument of a function are surely written: of a tensor by each
/// computation that starts from it, of a memref by one of the function's own block.
pub fn is_all_written(function: Op, argument: Val) -> bool {
    let equal = EqualSizes::of(function);
    let is_tensor = types::buffer_type(argument.r#type())
        .is_some_and(|ty| ty.kind == types::BufferKind::Tensor);
    let mut found = Vec::new();
    for op in ir::find_all(function, &[ops::mdh::COMPUTE]) {
        let Some(parts) = draft::parts(op) else {
            continue;
        };
        let mut own = Parts::destinations(&parts).filter(|b| b.value == argument);
        let always = is_tensor || is_always_run(function, op);
        if let Some(first) = own.next() {
            found.push(always && own.next().is_none() && writes_all(&parts, first, &equal));
        }
    }
    match is_tensor {
        true => !found.is_empty() && !found.contains(&false),
        false => found.contains(&true),
    }
}

/// Returns whether a function does an operation whenever it is called.
fn is_always_run(function: Op, op: Op) -> bool {
    ir::parent(op) == Some(function) && ir::only_block(ir::region(function, 0)).is_some()
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
    let points = left
        .map(|(_, dim)| draft::count(dim))
        .try_fold(1, |all: i64, own| all.checked_mul(own?));
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
    pub fn of(function: Op<'c>) -> Self {
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
