//! Numbers that are known become part of the computation.
//!
//! ```mlir
//! func.func @twice(%v: memref<8xf32>, %w: memref<8xf32>) {
//!   %c8 = arith.constant 8 : index
//!   %two = arith.constant 2.0 : f32
//!   mdh.compute (i = %c8)
//!     out_view(w = %w[i] : memref<8xf32>)
//!     md_hom(mulf, (cc))
//!     inp_view(v = %v[i] : memref<8xf32>, two = %two[] : f32)
//!   return
//! }
//! // becomes
//! func.func @twice(%v: memref<8xf32>, %w: memref<8xf32>) {
//!   mdh.compute (i = 8)
//!     out_view(w = %w[i] : memref<8xf32>)
//!     md_hom((%x: f32) {
//!       %two = arith.constant 2.0 : f32
//!       %p = arith.mulf %x, %two : f32
//!       mdh.yield %p : f32
//!     }, (cc))
//!     inp_view(v = %v[i] : memref<8xf32>)
//!   return
//! }
//! ```

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Parts};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::{Attribute, ValueLike};
use mlir_sys::MlirRewriterBase;

use crate::support::builder::known;
use crate::support::draft::{self, Draft, Rewriter};
use crate::support::names;
use crate::support::region;

/// Bounds, steps, widths and origins; a carry that is known to be there.
pub fn bounds(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(mut parts) = draft::parts(op) else {
        return false;
    };
    if !fold(&mut parts) {
        return false;
    }
    Draft::new(op, parts).commit_scheduled(Rewriter::Pattern(rewriter), draft::results)
}

/// Bounds and origins that are constants become numbers; whether there were any.
pub(crate) fn fold(parts: &mut Parts) -> bool {
    let mut changed = false;
    let mut fold = |bound: &mut Bound| {
        if let Bound::Dynamic(value) = bound
            && let Some(number) = known(*value)
        {
            *bound = Bound::Static(number);
            changed = true;
        }
    };
    for dim in &mut parts.dims {
        for bound in [
            &mut dim.lower,
            &mut dim.upper,
            &mut dim.step,
            &mut dim.width,
        ] {
            fold(bound);
        }
    }
    for buffer in names::buffers_mut(parts) {
        buffer.origin.iter_mut().for_each(&mut fold);
    }
    for carry in &mut parts.carries {
        let constant = carry.valid.and_then(ir::defining_op);
        let value = constant.filter(|op| ir::name_of(*op) == ops::arith::CONSTANT);
        let value = value.and_then(|op| ir::attribute(op, "value"));
        if value
            .and_then(mdh_dialect::types::scalar)
            .is_some_and(|v| v.as_i64() != 0)
        {
            carry.valid = None;
            changed = true;
        }
    }
    changed
}

/// Scalars that the scalar function reads, and tensors of one value.
pub fn scalars(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(parts) = draft::parts(op) else {
        return false;
    };
    if parts.inputs.iter().all(|input| constant(input).is_none()) {
        return false;
    }
    let mut draft = Draft::new(op, parts);
    let block = region::block(&draft.scalar);
    let mut arguments = arguments(block).into_iter();
    let (mut kept, mut targets, mut next) = (Vec::new(), Vec::new(), 0);
    for input in std::mem::take(&mut draft.parts.inputs) {
        let accesses = input.accesses.len();
        let Some(constant) = constant(&input) else {
            arguments.by_ref().take(accesses).for_each(drop);
            targets.extend((next..next + accesses).map(Some));
            next += accesses;
            kept.push(input);
            continue;
        };
        for argument in arguments.by_ref().take(accesses) {
            let copy = region::constant(block, constant, argument.r#type());
            region::replace_all_uses(argument, copy);
            targets.push(None);
        }
    }
    draft.set_inputs(kept, &targets);
    draft.commit_same(Rewriter::Pattern(rewriter))
}

/// The number that an input is everywhere, if it is an `arith.constant`.
fn constant<'c>(input: &BufferPart<'c>) -> Option<Attribute<'c>> {
    let op = ir::defining_op(input.value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT)?;
    let value = ir::attribute(op, "value")?;
    if draft::is_kind(input, BufferKind::Scalar) {
        return Some(value);
    }
    types::splat(value).filter(|_| input.pad.is_none())
}
