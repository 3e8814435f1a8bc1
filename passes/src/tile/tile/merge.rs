//! Dimensions of a copy that lie next to each other on both sides, merged into one.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%f: memref<512x512x3x3xf32>, %v: memref<512xf32>, %y: memref<512xf32>) {
//!   mdh.compute (k = 512, c = 512, r = 3, s = 3)
//!     out_view(y = %y[k] : memref<512xf32>)
//!     md_hom(mulf, (cc, pw(addf), pw(addf), pw(addf)))
//!     inp_view(f = %f[k, c, r, s] : memref<512x512x3x3xf32>, v = %v[c] : memref<512xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L2 {k: *, c: *, r: *, s: *}, register {k: 16}],
//!       inputs = {f: {stage: {L2.k: L3}, layout: {L2.k: permuted(2, 3, 4, 1)}}}>)
//!   return
//! }
//! // becomes: of a filter that is packed as [c, r, s, k], r and s are whole
//! %packed = memref.alloc() {alignment = 64 : i64} : memref<512x3x3x512xf32, #mdh.memory<"L3">>
//! %from = memref.collapse_shape %f [[0], [1, 2, 3]] : memref<512x512x3x3xf32> into memref<512x4608xf32>
//! %to = memref.collapse_shape %packed [[0, 1, 2], [3]]
//!   : memref<512x3x3x512xf32, #mdh.memory<"L3">> into memref<4608x512xf32, #mdh.memory<"L3">>
//! mdh.compute (c0 = 4608, c3 = 512)
//!   out_view(to = %to[c0, c3] : memref<4608x512xf32, #mdh.memory<"L3">>)
//!   md_hom(id, (cc, cc))
//!   inp_view(from = %from[c3, c0] : memref<512x4608xf32>)
//! ```
//!
//! so that there are enough neighbours for the lanes, and for blocks that are transposed in
//! registers.

use mdh_dialect::ops;
use std::collections::BTreeMap;

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::Val;
use mdh_dialect::layout;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::{Attribute, Type, TypeLike, ValueLike};
use mlir_sys::{
    mlirAffineMapIsIdentity, mlirMemRefTypeContiguousGet, mlirMemRefTypeGetAffineMap,
    mlirMemRefTypeGetMemorySpace,
};

use super::nest::bound;
use crate::simplify::canonicalize::unit_dims;
use crate::support::buffers::value;
use crate::support::builder::Builder;
use crate::support::draft;

/// Number of points of a merged dimension for each one of the dimension whose name it has.
pub type Scales = BTreeMap<String, i64>;

/// Merges neighbouring dimensions of a copy where that is possible, and removes those of one point.
pub fn neighbours<'c>(builder: &mut Builder<'c>, parts: &mut Parts<'c>) -> Scales {
    let mut scales = Scales::new();
    let mut unit: Vec<usize> = (0..parts.dims.len())
        .filter(|d| unit_dims::is_unit(parts, *d))
        .collect();
    if unit.len() == parts.dims.len() {
        unit.pop();
    }
    remove(parts, &unit);
    let mut outer = 0;
    while outer < parts.dims.len() {
        let mergeable = (0..parts.dims.len()).find_map(|inner| Pair::new(parts, outer, inner));
        match mergeable {
            // The merged dimension may have a neighbour, too; one that was merged into another
            // one is gone.
            Some(pair) => {
                let [kept, gone] = [pair.outer, pair.inner].map(|d| parts.dims[d].name.clone());
                // The inner one's size counts what it has been merged from.
                scales.remove(&gone);
                *scales.entry(kept).or_insert(1) *= pair.size;
                pair.merge(builder, parts);
                outer = 0;
            }
            None => outer += 1,
        }
    }
    scales
}

/// Two dimensions that all buffers have next to each other.
struct Pair {
    outer: usize,
    inner: usize,
    /// The inner one's points, which are all of its axis.
    size: i64,
    /// The outer one's axis, of each buffer.
    axes: Vec<usize>,
}

impl Pair {
    fn new(parts: &Parts, outer: usize, inner: usize) -> Option<Pair> {
        let is_dense = |dim: &Dim| [dim.step, dim.width].map(Bound::known) == [Some(1); 2];
        let [first, second] = [&parts.dims[outer], &parts.dims[inner]];
        let is_whole = second.lower.known() == Some(0);
        if outer == inner || !is_dense(first) || !is_dense(second) || !is_whole {
            return None;
        }
        let size = second.upper.known().filter(|size| *size > 0)?;
        let buffers = parts.inputs.iter().chain(&parts.outputs);
        let rank = parts.dims.len();
        let axes = buffers.map(|buffer| axis(buffer, rank, (outer, inner), size));
        let axes = axes.collect::<Option<_>>()?;
        Some(Pair {
            outer,
            inner,
            size,
            axes,
        })
    }

    fn merge<'c>(self, builder: &mut Builder<'c>, parts: &mut Parts<'c>) {
        let scaled = |builder: &mut Builder<'c>, of: Bound<'c>| {
            let (of, size) = (value(builder, of), builder.index(self.size));
            bound(builder.binary(ops::arith::MULI, of, size))
        };
        let buffers = parts.inputs.iter_mut().chain(&mut parts.outputs);
        for (buffer, axis) in buffers.zip(&self.axes) {
            buffer.value = collapsed(builder, buffer.value, *axis);
            buffer.accesses.iter_mut().for_each(|access| {
                access.remove(axis + 1);
            });
            buffer.origin.remove(axis + 1);
            buffer.origin[*axis] = scaled(builder, buffer.origin[*axis]);
        }
        let dim = &mut parts.dims[self.outer];
        let (lower, upper) = (dim.lower, dim.upper);
        dim.lower = scaled(builder, lower);
        dim.upper = scaled(builder, upper);
        remove(parts, &[self.inner]);
    }
}

/// Removes dimensions, of each of which the first index is left.
fn remove(parts: &mut Parts, gone: &[usize]) {
    let replacements = unit_dims::replacements(parts, gone);
    let buffers = parts.inputs.iter_mut().chain(&mut parts.outputs);
    buffers.for_each(|buffer| draft::substitute_accesses(buffer, &replacements));
    unit_dims::remove(parts, gone);
}

/// The axis of the first of two dimensions, if the second one's is the next one, has so many
/// elements, and nothing else depends on them.
fn axis(
    buffer: &BufferPart,
    rank: usize,
    (outer, inner): (usize, usize),
    size: i64,
) -> Option<usize> {
    let [access] = &buffer.accesses[..] else {
        return None;
    };
    let at = |d: usize| access.iter().position(|expr| *expr == Expr::Dim(d));
    let first = at(outer)?;
    let is_alone = |n: usize, expr: &Expr| {
        let form = expr.linear(rank);
        n == first || n == first + 1 || {
            form.is_some_and(|form| form.coefficients[outer] == 0 && form.coefficients[inner] == 0)
        }
    };
    let is_alone_in_all = || access.iter().enumerate().all(|(n, expr)| is_alone(n, expr));
    let ty = types::buffer_type(buffer.value.r#type())?;
    let is_next = at(inner) == Some(first + 1)
        && buffer.origin[first + 1].known() == Some(0)
        && ty.kind == BufferKind::MemRef
        && ty.shape[first + 1] == Some(size)
        && is_contiguous(buffer.value.r#type());
    (is_next && is_alone_in_all()).then_some(first)
}

fn is_contiguous(ty: Type) -> bool {
    // SAFETY: callers have asked whether it is a memref.
    let is_row_major = unsafe { mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(ty.to_raw())) };
    is_row_major && layout::of_type(ty).is_none()
}

/// The same memory with one axis instead of `axis` and the next one.
fn collapsed<'c>(builder: &mut Builder<'c>, memory: Val<'c>, axis: usize) -> Val<'c> {
    let ty = memory.r#type();
    let Some(buffer) = types::buffer_type(ty) else {
        panic!("{ty} is a memref");
    };
    let mut shape = buffer.shape;
    let inner = shape.remove(axis + 1);
    shape[axis] = shape[axis].zip(inner).map(|(a, b)| a * b);
    let groups: Vec<String> = (0..shape.len())
        .map(|n| match n.cmp(&axis) {
            std::cmp::Ordering::Less => format!("[{n}]"),
            std::cmp::Ordering::Equal => format!("[{n}, {}]", n + 1),
            std::cmp::Ordering::Greater => format!("[{}]", n + 1),
        })
        .collect();
    let groups = format!("[{}]", groups.join(", "));
    let Some(reassociation) = Attribute::parse(builder.context, &groups) else {
        panic!("{groups} is an attribute");
    };
    let element = types::mlir_type(builder.context, buffer.element);
    let extents: Vec<i64> = (shape.iter()).map(|n| n.unwrap_or(i64::MIN)).collect();
    // SAFETY: the type is a memref's; a contiguous one of other extents is valid, too.
    let collapsed = unsafe {
        let space = mlirMemRefTypeGetMemorySpace(ty.to_raw());
        let (rank, extents) = (extents.len() as isize, extents.as_ptr());
        let raw = mlirMemRefTypeContiguousGet(element.to_raw(), rank, extents, space);
        Type::from_raw(raw)
    };
    let attributes = [("reassociation", reassociation)];
    builder.op(
        ops::memref::COLLAPSE_SHAPE,
        &[memory],
        &[collapsed],
        &attributes,
    )[0]
}
