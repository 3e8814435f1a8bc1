//! Search at run time for elements that the index functions of an output write twice.
//!
//! Where the coefficients along an axis are a mixed radix for the sizes at hand (each larger than
//! what all smaller ones add up to), the index along it tells the dimensions in it apart; if all
//! dimensions of more than one point are told apart, nothing is written twice. Only where that
//! fails the elements are marked one by one.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart};
use mdh_dialect::types::{self, BufferKind};

use super::condition::{Condition, compare};
use super::interval::last;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers;
use crate::support::builder::Builder;

/// Returns whether no element of the buffer is written twice when the dimensions `varying`, none of them
/// empty, run through their points.
pub fn distinct<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    grids: &[Grid<'c>],
    varying: &[usize],
) -> Condition<'c> {
    let simple = match &buffer.accesses[..] {
        [access] => mixed_radix(builder, access, grids, varying),
        _ => Condition::Known(false),
    };
    if let Condition::Known(true) = simple {
        return simple;
    }
    // Known before the marks are needed, so that a loop around all of this needs their memory once.
    let extents: Vec<Val> = (0..buffer.origin.len())
        .map(|axis| builder.dim(buffer.value, axis))
        .collect();
    let mut size = builder.index(1);
    for extent in &extents {
        size = builder.binary(ops::arith::MULI, size, *extent);
    }
    simple.or_else(builder, |builder| {
        mark(builder, buffer, &extents, size, grids, varying)
    })
}

fn mixed_radix<'c>(
    builder: &mut Builder<'c>,
    access: &[Expr],
    grids: &[Grid<'c>],
    varying: &[usize],
) -> Condition<'c> {
    let spans: Vec<Val> = grids
        .iter()
        .map(|grid| {
            let last = last(builder, grid);
            builder.binary(ops::arith::SUBI, last, grid.lower)
        })
        .collect();
    let mut told_apart: Vec<Condition> = vec![Condition::Known(false); grids.len()];
    for form in access.iter().filter_map(|e| e.linear(grids.len())) {
        let coefficient = |d: usize| form.coefficients[d].saturating_abs();
        let mut digits: Vec<usize> = varying
            .iter()
            .copied()
            .filter(|d| coefficient(*d) != 0)
            .collect();
        digits.sort_by_key(|d| coefficient(*d));
        let (mut below, mut is_radix) = (builder.index(0), Condition::Known(true));
        for d in &digits {
            let weight = builder.index(coefficient(*d));
            let is_larger = compare(builder, "sgt", weight, below);
            is_radix = is_radix.and(builder, is_larger);
            let most = builder.binary(ops::arith::MULI, weight, spans[*d]);
            below = builder.binary(ops::arith::ADDI, below, most);
        }
        for d in digits {
            told_apart[d] = told_apart[d].or(builder, is_radix);
        }
    }
    let mut condition = Condition::Known(true);
    for d in varying {
        let zero = builder.index(0);
        let is_point = compare(builder, "eq", spans[*d], zero);
        let apart = told_apart[*d].or(builder, is_point);
        condition = condition.and(builder, apart);
    }
    condition
}

/// Marks each element that is written; whether none was marked before. `size` is the product of
/// the extents.
fn mark<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    extents: &[Val<'c>],
    size: Val<'c>,
    grids: &[Grid<'c>],
    varying: &[usize],
) -> Val<'c> {
    let i1 = types::mlir_type(builder.context, ScalarType::I1);
    let marks = buffers::empty(builder, BufferKind::MemRef, &[Bound::Dynamic(size)], i1);
    let (zero, one) = (builder.index(0), builder.index(1));
    builder.for_loop([zero, size, one], &[], |builder, element, _| {
        let unmarked = builder.boolean(false);
        builder.op(ops::memref::STORE, &[unmarked, marks, element], &[], &[]);
        Vec::new()
    });
    let mut is_first = builder.boolean(true);
    for access in &buffer.accesses {
        let mut point: Vec<Val> = grids.iter().map(|g| g.lower).collect();
        is_first = each_point(
            builder,
            grids,
            varying,
            &mut point,
            is_first,
            &mut |builder, point, so_far| {
                let mut element = builder.index(0);
                for ((expr, origin), extent) in access.iter().zip(&buffer.origin).zip(extents) {
                    let origin = buffers::value(builder, *origin);
                    let index = builder.affine(expr, point);
                    let index = builder.binary(ops::arith::SUBI, index, origin);
                    element = builder.binary(ops::arith::MULI, element, *extent);
                    element = builder.binary(ops::arith::ADDI, element, index);
                }
                let was = builder.op(ops::memref::LOAD, &[marks, element], &[i1], &[])[0];
                let marked = builder.boolean(true);
                builder.op(ops::memref::STORE, &[marked, marks, element], &[], &[]);
                let is_new = builder.binary(ops::arith::XORI, was, marked);
                builder.binary(ops::arith::ANDI, so_far, is_new)
            },
        );
    }
    builder.op(ops::memref::DEALLOC, &[marks], &[], &[]);
    is_first
}

/// Code for a point, given the findings so far.
type Body<'b, 'c> = &'b mut dyn FnMut(&mut Builder<'c>, &[Val<'c>], Val<'c>) -> Val<'c>;

/// Loops over the points of some dimensions.
pub fn each_point<'c>(
    builder: &mut Builder<'c>,
    grids: &[Grid<'c>],
    dims: &[usize],
    point: &mut Vec<Val<'c>>,
    so_far: Val<'c>,
    body: Body<'_, 'c>,
) -> Val<'c> {
    let Some((dim, rest)) = dims.split_first() else {
        return body(builder, point, so_far);
    };
    let holds = grids[*dim].each(builder, &[so_far], |builder, index, so_far| {
        point[*dim] = index;
        vec![each_point(builder, grids, rest, point, so_far[0], body)]
    });
    holds[0]
}
