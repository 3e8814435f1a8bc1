//! Views compose: a computation reads (and, among memrefs, writes) the buffer behind a slice,
//! cast, transposition, reshape, broadcast or constant padding.
//!
//! ```mlir
//! func.func @f(%M: tensor<8x16xf32>, %o: index, %init: tensor<4xf32>) -> tensor<4xf32> {
//!   %s = tensor.extract_slice %M[2, %o] [4, 5] [1, 2] : tensor<8x16xf32> to tensor<4x5xf32>
//!   %w = mdh.compute (i = 4, k = 5)
//!     out_view(w = %init[i] : tensor<4xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(s = %s[i, k] : tensor<4x5xf32>)
//!   return %w : tensor<4xf32>
//! }
//! // becomes
//! func.func @f(%M: tensor<8x16xf32>, %o: index, %init: tensor<4xf32>) -> tensor<4xf32> {
//!   %c0 = arith.constant 0 : index
//!   %minus_o = arith.subi %c0, %o : index
//!   %w = mdh.compute (i = 4, k = 5)
//!     out_view(w = %init[i] : tensor<4xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(s = %M[i + 2, k * 2] origin(0, %minus_o) : tensor<8x16xf32>)
//!   return %w : tensor<4xf32>
//! }
//! ```
//!
//! The law: with `g` the view's index function, `view[e - o]` is `source[g(e - o)]`, and a linear
//! `g(x) = c * x + b` gives the index function `c * e + b` with the origin `c * o` (what is known
//! of either goes to the index function). A padding value outside of a slice is no element of the
//! source, so that an input with padding composes only with what keeps its bounds.

mod axes;
mod definitions;

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Parts};
use mdh_dialect::types::BufferKind;
use mdh_dialect::{read, write};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, ValueLike};
use mlir_sys::MlirRewriterBase;

use self::axes::Origin;
use super::pads;
use crate::support::builder::Builder;
use crate::support::draft::{self, Draft, Rewriter};

/// A view: a value's source and index function.
struct View<'c> {
    /// The buffer behind it, or the scalar that all its elements are.
    source: Val<'c>,
    /// The source's index along each of its axes.
    axes: Vec<ViewAxis<'c>>,
    outside: Outside<'c>,
}

/// Contents outside of a view.
enum Outside<'c> {
    /// An index is outside of the view where it is outside of the source, element by element.
    Kept,
    /// Outside of the source, the view's elements are this value.
    Value(Attribute<'c>),
    /// The source may have elements outside of the view.
    Unknown,
}

/// An index into the source as a function of the index into the view.
enum ViewAxis<'c> {
    /// `sum of scale * (index along the axis) + constant + offset`
    Linear {
        terms: Vec<(usize, i64)>,
        constant: i64,
        offset: Option<Val<'c>>,
    },
    /// `((index along the axis) floordiv divisor) mod modulus`
    Digit {
        axis: usize,
        divisor: i64,
        modulus: Option<i64>,
    },
}

/// The buffers of an `mdh.compute`.
pub fn compute(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(mut parts) = draft::parts(op) else {
        return false;
    };
    let Some(origins) = compose_all(&mut parts) else {
        return false;
    };
    let created = set_origins(op, &mut parts, origins);
    let done = Draft::new(op, parts).commit_scheduled(Rewriter::Pattern(rewriter), |new| {
        let mut builder = Builder::before(op);
        let mut values = draft::results(new);
        for (value, old) in values.iter_mut().zip(draft::results(op)) {
            if value.r#type() != old.r#type() {
                *value = builder.op(ops::tensor::CAST, &[*value], &[old.r#type()], &[])[0];
            }
        }
        values
    });
    if !done {
        erase_unused(created);
    }
    done
}

/// The inputs of an `mdh.inp_view`.
pub fn inp_view(op: Op, rewriter: MlirRewriterBase) -> bool {
    let (Ok(mut parts), Some(result)) = (read::inp_view(op), draft::results(op).pop()) else {
        return false;
    };
    let Some(origins) = compose_all(&mut parts) else {
        return false;
    };
    let created = set_origins(op, &mut parts, origins);
    let new = write::inp_view(ir::context_of(op), op.location(), &parts, result.r#type());
    if !mdh_dialect::verify::errors(ir::op(&new)).is_empty() {
        erase_unused(created);
        return false;
    }
    let rewriter = Rewriter::Pattern(rewriter);
    let new = rewriter.insert(new, op);
    rewriter.replace(op, &draft::results(new));
    true
}

/// Composes every buffer that can be; returns the new origins by the buffers' numbers.
fn compose_all<'c>(parts: &mut Parts<'c>) -> Option<Vec<(usize, Vec<Origin<'c>>)>> {
    let grids = pads::grids(&parts.dims);
    let inputs = parts.inputs.len();
    let destinations = inputs..inputs + parts.destinations().count();
    let written: Vec<Val> = parts.destinations().map(|b| b.value).collect();
    let mut origins = Vec::new();
    for (number, buffer) in crate::support::names::buffers_mut(parts).enumerate() {
        let role = match number {
            n if n < inputs => Role::Input,
            n if destinations.contains(&n) => Role::Destination,
            // What is replaced where it is read stays in its place.
            _ if written.contains(&buffer.value) => continue,
            _ => Role::Incoming,
        };
        let Some(view) = definitions::view(buffer.value).filter(|v| composes(buffer, v, role))
        else {
            continue;
        };
        if let Some(origin) = axes::compose(buffer, &view, &grids) {
            buffer.value = view.source;
            if let Outside::Value(value) = view.outside {
                buffer.pad = Some(value);
            }
            origins.push((number, origin));
        }
    }
    (!origins.is_empty()).then_some(origins)
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Input,
    Destination,
    Incoming,
}

fn composes(buffer: &BufferPart, view: &View, role: Role) -> bool {
    match (&view.outside, role) {
        // The result of a tensor destination has its shape: only its type may become another.
        (_, Role::Destination) if draft::is_kind(buffer, BufferKind::Tensor) => {
            ir::defining_op(buffer.value).is_some_and(|op| ir::name_of(op) == ops::tensor::CAST)
        }
        (Outside::Kept, _) => true,
        (Outside::Value(_), role) => role == Role::Input && buffer.pad.is_none(),
        (Outside::Unknown, _) => buffer.pad.is_none(),
    }
}

/// Computes the new origins before the operation; returns what was computed.
fn set_origins<'c>(
    op: Op<'c>,
    parts: &mut Parts<'c>,
    origins: Vec<(usize, Vec<Origin<'c>>)>,
) -> Vec<Val<'c>> {
    let mut builder = Builder::before(op);
    let mut created = Vec::new();
    let mut origins = origins.into_iter().peekable();
    for (number, buffer) in crate::support::names::buffers_mut(parts).enumerate() {
        let Some((_, axes)) = origins.next_if(|(n, _)| *n == number) else {
            continue;
        };
        buffer.origin = axes
            .into_iter()
            .map(|axis| axis.bound(&mut builder))
            .inspect(|bound| {
                if let Bound::Dynamic(value) = bound {
                    created.push(*value);
                }
            })
            .collect();
    }
    created
}

fn erase_unused(created: Vec<Val>) {
    for value in created.into_iter().rev().filter(|v| !ir::has_uses(*v)) {
        if let Some(op) = ir::defining_op(value) {
            crate::support::region::erase(op);
        }
    }
}
