//! The operations whose results are views.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::{Outside, View, ViewAxis};
use crate::support::buffers::{PAD, SLICE, as_bound, listed};
use crate::support::draft;

/// Returns the view that a value is, if the operation that defines it is known and its index
/// function affine.
pub fn view<'c>(value: Val<'c>) -> Option<View<'c>> {
    let op = ir::defining_op(value)?;
    let rank = types::buffer_type(value.r#type())?.shape.len();
    match ir::name_of(op) {
        ops::tensor::CAST | ops::memref::CAST => cast(op, value),
        ops::tensor::EXTRACT_SLICE | ops::memref::SUBVIEW => slice(op, rank),
        ops::linalg::TRANSPOSE => transpose(op, &ir::integers(op, "permutation")),
        ops::memref::TRANSPOSE => transpose(op, &memref_permutation(op)?),
        ops::tensor::EXPAND_SHAPE | ops::memref::EXPAND_SHAPE => expand(op, value),
        ops::tensor::COLLAPSE_SHAPE | ops::memref::COLLAPSE_SHAPE => collapse(op),
        ops::linalg::BROADCAST => broadcast(op, rank),
        ops::tensor::PAD => pad(op, rank),
        ops::tensor::SPLAT | ops::linalg::FILL => scalar(op, value),
        _ => None,
    }
}

fn source<'c>(op: Op<'c>) -> Option<(Val<'c>, Vec<Option<i64>>)> {
    let source = ir::operand(op, 0)?;
    Some((source, types::buffer_type(source.r#type())?.shape))
}

fn kept<'c>(axis: usize) -> ViewAxis<'c> {
    ViewAxis::Linear {
        terms: vec![(axis, 1)],
        constant: 0,
        offset: None,
    }
}

/// A bound, which may be a constant of the program.
fn folded(bound: Bound) -> Bound {
    match bound {
        Bound::Static(_) => bound,
        Bound::Dynamic(value) => as_bound(value),
    }
}

/// A cast from a type that says at least as much.
fn cast<'c>(op: Op<'c>, value: Val<'c>) -> Option<View<'c>> {
    let (source, known) = source(op)?;
    let shape = types::buffer_type(value.r#type())?.shape;
    let says_more = known.len() == shape.len()
        && known
            .iter()
            .zip(&shape)
            .all(|(k, s)| k.is_some() || s.is_none());
    if !says_more || source.r#type() == value.r#type() {
        return None;
    }
    let axes = (0..shape.len()).map(kept).collect();
    Some(View {
        source,
        axes,
        outside: Outside::Kept,
    })
}

fn slice<'c>(op: Op<'c>, rank: usize) -> Option<View<'c>> {
    let (source, shape) = source(op)?;
    let [offsets, sizes, strides] = listed(op, 1, SLICE)?;
    let dropped = shape.len().checked_sub(rank)?;
    let is_one = |axis: usize| sizes.get(axis) == Some(&Bound::Static(1));
    if dropped != 0 && (0..shape.len()).filter(|a| is_one(*a)).count() != dropped {
        return None;
    }
    let mut next_axis = 0;
    let mut axes = Vec::new();
    for axis in 0..shape.len() {
        let (constant, offset) = match folded(*offsets.get(axis)?) {
            Bound::Static(number) => (number, None),
            Bound::Dynamic(value) => (0, Some(value)),
        };
        let terms = if dropped != 0 && is_one(axis) {
            Vec::new()
        } else {
            next_axis += 1;
            vec![(next_axis - 1, strides.get(axis)?.known()?)]
        };
        axes.push(ViewAxis::Linear {
            terms,
            constant,
            offset,
        });
    }
    Some(View {
        source,
        axes,
        outside: Outside::Unknown,
    })
}

/// `view[x]_k` is the source's axis `permutation[k]`.
fn transpose<'c>(op: Op<'c>, permutation: &[i64]) -> Option<View<'c>> {
    let (source, shape) = source(op)?;
    let place = |axis: usize| permutation.iter().position(|p| *p == axis as i64);
    let axes = (0..shape.len())
        .map(|a| place(a).map(kept))
        .collect::<Option<_>>()?;
    Some(View {
        source,
        axes,
        outside: Outside::Kept,
    })
}

fn memref_permutation(op: Op) -> Option<Vec<i64>> {
    let map = mdh_dialect::index_function::from_map(ir::attribute(op, "permutation")?)?;
    let place = |expr: &mdh_algebra::affine::Expr| match expr {
        mdh_algebra::affine::Expr::Dim(d) => Some(*d as i64),
        _ => None,
    };
    map.iter().map(place).collect()
}

/// For each axis of a group the number of elements that one step of it skips; `None` where a size
/// inside of it is unknown.
fn steps(shape: &[Option<i64>], group: &[usize]) -> Option<Vec<i64>> {
    let mut steps = Vec::new();
    let mut step = Some(1i64);
    for axis in group.iter().rev() {
        steps.push(step?);
        step = step
            .zip(*shape.get(*axis)?)
            .and_then(|(a, b)| a.checked_mul(b));
    }
    steps.reverse();
    Some(steps)
}

/// A source's axis is a row-major index over several axes of the view.
fn expand<'c>(op: Op<'c>, value: Val<'c>) -> Option<View<'c>> {
    let (source, source_shape) = source(op)?;
    let shape = types::buffer_type(value.r#type())?.shape;
    let mut axes = Vec::new();
    for group in ir::axis_groups(op) {
        // An axis of size 1 has the index 0.
        let group: Vec<usize> = group
            .into_iter()
            .filter(|a| shape.get(*a) != Some(&Some(1)))
            .collect();
        let steps = steps(&shape, &group)?;
        let terms = group.into_iter().zip(steps).collect();
        axes.push(ViewAxis::Linear {
            terms,
            constant: 0,
            offset: None,
        });
    }
    // A reshape to rank 0 has no groups; all of the source's axes have size 1.
    axes.resize_with(source_shape.len(), || ViewAxis::Linear {
        terms: Vec::new(),
        constant: 0,
        offset: None,
    });
    Some(View {
        source,
        axes,
        outside: Outside::Unknown,
    })
}

/// A view's axis is a row-major index over several axes of the source.
fn collapse<'c>(op: Op<'c>) -> Option<View<'c>> {
    let (source, shape) = source(op)?;
    let zero = || ViewAxis::Linear {
        terms: Vec::new(),
        constant: 0,
        offset: None,
    };
    let mut axes: Vec<ViewAxis> = (0..shape.len()).map(|_| zero()).collect();
    for (number, group) in ir::axis_groups(op).into_iter().enumerate() {
        let group: Vec<usize> = group
            .into_iter()
            .filter(|a| shape.get(*a) != Some(&Some(1)))
            .collect();
        if let [axis] = group[..] {
            axes[axis] = kept(number);
            continue;
        }
        let steps = steps(&shape, &group)?;
        for (place, (axis, divisor)) in group.iter().zip(steps).enumerate() {
            let modulus = if place == 0 {
                None
            } else {
                Some(shape[*axis]?)
            };
            axes[*axis] = ViewAxis::Digit {
                axis: number,
                divisor,
                modulus,
            };
        }
    }
    Some(View {
        source,
        axes,
        outside: Outside::Unknown,
    })
}

fn broadcast<'c>(op: Op<'c>, rank: usize) -> Option<View<'c>> {
    let (source, shape) = source(op)?;
    let added = ir::integers(op, "dimensions");
    let axes: Vec<ViewAxis> = (0..rank)
        .filter(|axis| !added.contains(&(*axis as i64)))
        .map(kept)
        .collect();
    (axes.len() == shape.len()).then_some(View {
        source,
        axes,
        outside: Outside::Unknown,
    })
}

/// Padding with a constant.
fn pad<'c>(op: Op<'c>, rank: usize) -> Option<View<'c>> {
    let (source, _) = source(op)?;
    let block = ir::only_block(ir::region(op, 0))?;
    let yielded = ir::ops_of(block).last()?.operand(0).ok()?;
    let constant = ir::defining_op(ir::value(yielded))
        .filter(|op| ir::name_of(*op) == ops::arith::CONSTANT)?;
    let value = ir::attribute(constant, "value")?;
    let [low, _] = listed(op, 1, PAD)?;
    let mut axes = Vec::new();
    for axis in 0..rank {
        // The index into the source is less by what stands before it.
        let constant = folded(*low.get(axis)?).known()?.checked_neg()?;
        axes.push(ViewAxis::Linear {
            terms: vec![(axis, 1)],
            constant,
            offset: None,
        });
    }
    Some(View {
        source,
        axes,
        outside: Outside::Value(value),
    })
}

/// Every element is one scalar.
fn scalar<'c>(op: Op<'c>, value: Val<'c>) -> Option<View<'c>> {
    let source = ir::operand(op, 0)?;
    let element = draft::element(value)?;
    let is_same = types::scalar_type(source.r#type()) == Some(element);
    is_same.then_some(View {
        source,
        axes: Vec::new(),
        outside: Outside::Unknown,
    })
}
