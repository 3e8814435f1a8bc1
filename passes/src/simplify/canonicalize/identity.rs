//! A computation that copies a buffer as it is, is that buffer.
//!
//! ```mlir
//! func.func @copy(%v: tensor<8x5xf32>) -> tensor<8x5xf32> {
//!   %init = tensor.empty() : tensor<8x5xf32>
//!   %w = mdh.compute (i = 8, j = 5)
//!     out_view(w = %init[i, j] : tensor<8x5xf32>)
//!     md_hom(id, (cc, cc))
//!     inp_view(v = %v[i, j] : tensor<8x5xf32>)
//!   return %w : tensor<8x5xf32>
//! }
//! // becomes
//! func.func @copy(%v: tensor<8x5xf32>) -> tensor<8x5xf32> {
//!   return %v : tensor<8x5xf32>
//! }
//! ```
//!
//! The elements that it does not write must be the input's too, or undefined: the domain covers
//! the buffer, or the destination is the input itself, or a `tensor.empty`. A dynamic size of the
//! destination must be the input's, traced to the same value.

use mdh_algebra::affine::Expr;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Parts};
use mdh_dialect::schedule::has_schedule;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;
use mlir_sys::MlirRewriterBase;

use super::pads;
use crate::support::draft::{self, Rewriter};
use crate::support::extents::{self, Extent};
use crate::support::region;

/// The pattern.
pub fn fold(op: Op, rewriter: MlirRewriterBase) -> bool {
    let (Some(parts), Some(block)) = (draft::parts(op), ir::only_block(ir::region(op, 0))) else {
        return false;
    };
    let is_combined = |c| !ir::is_cc(c);
    // What is called need not end, and what is copied was asked for all the same.
    let calls = !ir::find_all(op, &[ops::func::CALL]).is_empty();
    if has_schedule(op) || calls || parts.combine.iter().any(|c| is_combined(*c)) {
        return false;
    }
    let (arguments, yields) = (arguments(block), region::yields(block));
    let mut values = Vec::new();
    for output in &parts.outputs {
        let [component] = output.components[..] else {
            return false;
        };
        let argument = arguments.iter().position(|a| *a == yields[component]);
        let source = argument.and_then(|a| source(&parts, a));
        match source {
            Some((input, access)) if is_copy(&parts, input, access, output) => {
                values.push(input.value);
            }
            _ => return false,
        }
    }
    if values.is_empty() {
        return false;
    }
    Rewriter::Pattern(rewriter).replace(op, &values);
    true
}

/// The input and access that an argument of the scalar function reads.
fn source<'p, 'c>(
    parts: &'p Parts<'c>,
    argument: usize,
) -> Option<(&'p BufferPart<'c>, &'p Vec<Expr>)> {
    let accesses = parts
        .inputs
        .iter()
        .flat_map(|b| b.accesses.iter().map(move |a| (b, a)));
    accesses.into_iter().nth(argument)
}

/// Returns whether the output, as a value, is the input.
fn is_copy<'c>(
    parts: &Parts<'c>,
    input: &BufferPart<'c>,
    access: &[Expr],
    output: &BufferPart<'c>,
) -> bool {
    let same_place = access == output.accesses[0].as_slice() && input.origin == output.origin;
    let same_type = input.value.r#type() == output.value.r#type();
    let is_tensor = draft::is_kind(output, BufferKind::Tensor);
    if !same_place || !same_type || !is_tensor {
        return false;
    }
    if input.value == output.value {
        return input.pad.is_none() || stays_inside(parts, input);
    }
    let has_no_other = covers(parts, output) || extents::is_undefined(output.value);
    same_size(input, output) && has_no_other && (input.pad.is_none() || stays_inside(parts, input))
}

fn stays_inside(parts: &Parts, input: &BufferPart) -> bool {
    pads::stays_inside(input, &pads::grids(&parts.dims))
}

fn same_size(a: &BufferPart, b: &BufferPart) -> bool {
    let rank = types::buffer_type(a.value.r#type()).map_or(0, |t| t.shape.len());
    (0..rank).all(|axis| extents::of_axis(a.value, axis) == extents::of_axis(b.value, axis))
}

/// Returns whether the domain's points are all elements of a buffer, each axis one dimension.
pub(super) fn covers(parts: &Parts, buffer: &BufferPart) -> bool {
    let rank = buffer.origin.len();
    let mut seen = Vec::new();
    for (axis, (expr, origin)) in buffer.accesses[0].iter().zip(&buffer.origin).enumerate() {
        let Expr::Dim(d) = expr else {
            return false;
        };
        let dim = &parts.dims[*d];
        let is_dense = dim.step == dim.width;
        let is_first = dim.lower == *origin;
        let size = extents::of_axis(buffer.value, axis);
        let is_last = match (dim.lower.known(), size, extents::of_bound(dim.upper)) {
            (Some(0), size, upper) => upper == size,
            (Some(lower), Extent::Number(size), Extent::Number(upper)) => {
                lower.checked_add(size) == Some(upper)
            }
            _ => false,
        };
        if !is_dense || !is_first || !is_last || seen.contains(d) {
            return false;
        }
        seen.push(*d);
    }
    // A dimension that the index function leaves out must have points.
    let rest = (0..parts.dims.len()).filter(|d| !seen.contains(d));
    seen.len() == rank
        && rest
            .into_iter()
            .all(|d| draft::count(&parts.dims[d]) >= Some(1))
}
