//! A padding value that is never read goes.
//!
//! ```mlir
//! func.func @sum3(%v: memref<8xf32>, %w: memref<6xf32>) {
//!   mdh.compute (i = 6, r = 3)
//!     out_view(w = %w[i] : memref<6xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(v = %v[i + r] pad(0.0 : f32) : memref<8xf32>)
//!   return
//! }
//! // becomes
//! func.func @sum3(%v: memref<8xf32>, %w: memref<6xf32>) {
//!   mdh.compute (i = 6, r = 3)
//!     out_view(w = %w[i] : memref<6xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(v = %v[i + r] : memref<8xf32>)
//!   return
//! }
//! ```

use mdh_algebra::computation::Combine;
use mdh_algebra::domain::Grid;
use mdh_dialect::ir::Op;
use mdh_dialect::parts::{BufferPart, Dim};
use mdh_dialect::{translate, types};
use melior::ir::ValueLike;
use mlir_sys::MlirRewriterBase;

use crate::support::draft::{self, Draft, Rewriter};

/// The pattern.
pub fn drop(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(mut parts) = draft::parts(op) else {
        return false;
    };
    let grids = grids(&parts.dims);
    let mut changed = false;
    for input in parts.inputs.iter_mut().filter(|i| i.pad.is_some()) {
        if stays_inside(input, &grids) {
            input.pad = None;
            changed = true;
        }
    }
    changed && Draft::new(op, parts).commit_same(Rewriter::Pattern(rewriter))
}

/// The grids of the dimensions, where they are known.
pub fn grids(dims: &[Dim]) -> Vec<Option<Grid>> {
    dims.iter()
        .map(|d| translate::dimension(d, Combine::Cc).grid())
        .collect()
}

/// Returns whether every access is known to lie in its buffer at all points.
pub fn stays_inside(buffer: &BufferPart, grids: &[Option<Grid>]) -> bool {
    let mut axes = 0..buffer.origin.len();
    axes.all(|axis| axis_stays_inside(buffer, axis, grids) == Some(true))
}

/// Returns whether every access lies in its buffer along an axis at all points; `None` if that is
/// not known. `false` says that there is a point at which one does not, or may not.
pub fn axis_stays_inside(buffer: &BufferPart, axis: usize, grids: &[Option<Grid>]) -> Option<bool> {
    let shape = types::buffer_type(buffer.value.r#type())?.shape;
    let (origin, extent) = (buffer.origin[axis].known()?, (*shape.get(axis)?)?);
    let mut is_known = true;
    for access in &buffer.accesses {
        let range = access[axis].range(grids)?;
        let first = range.min.checked_sub(origin)?;
        let last = range.max.checked_sub(origin)?;
        is_known &= first >= 0 && last < extent;
    }
    Some(is_known)
}
