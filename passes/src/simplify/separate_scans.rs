//! `mdh-separate-scans`: a prefix-sum of sums becomes the sums, and a prefix-sum of these.
//!
//! ```mlir
//! func.func @rows(%x: memref<64x1000xf32>, %y: memref<64xf32>) {
//!   mdh.compute (i = 64, j = 1000)
//!     out_view(y = %y[i] : memref<64xf32>)
//!     md_hom(id, (ps(addf), pw(addf)))
//!     inp_view(x = %x[i, j] : memref<64x1000xf32>)
//!   return
//! }
//! // becomes
//! func.func @rows(%x: memref<64x1000xf32>, %y: memref<64xf32>) {
//!   %sums = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
//!   mdh.compute (i = 64, j = 1000)
//!     out_view(sum_0 = %sums[i] : memref<64xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(x = %x[i, j] : memref<64x1000xf32>)
//!   mdh.compute (i = 64)
//!     out_view(y = %y[i] : memref<64xf32>)
//!     md_hom(id, (ps(addf)))
//!     inp_view(sum_0 = %sums[i] : memref<64xf32>)
//!   memref.dealloc %sums : memref<64xf32>
//!   return
//! }
//! ```
//!
//! What remains has one thing to do: sums in any order on all cores, and a prefix-sum of few
//! numbers. It is done where each prefix is of many points, so that the sums in between are few
//! beside what is read; where a schedule is there, that decides instead.

use mdh_algebra::computation::{Combine, Computation};
use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Parts};
use mdh_dialect::pass::{self, Options, Pass};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::write;
use mdh_schedule::separates_scans;
use melior::ir::Type;

use crate::gpu::place_on_device::Placed;
use crate::support::builder::Builder;
use crate::support::names;
use crate::support::projection::Projection;
use crate::support::region;
use crate::tile;
use crate::tile::tile::code::{cc, combination, component_types};
use crate::tile::tile::layout::{self, axes};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-separate-scans",
    description: "compute sums of which there are prefix-sums before those",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let placed = Placed::default();
    pass::each(module, ops::mdh::COMPUTE, |op| separate(op, &placed))
}

fn separate<'c>(op: Op<'c>, placed: &Placed<'c>) -> Result<(), Errors> {
    let (whole, computation) = translate::both(op, Depth::Signatures)?;
    if !tile::schedule::is_open(op, &whole, placed) {
        return Ok(());
    }
    if !separates_scans(&computation) {
        say_together(op, &computation);
        return Ok(());
    }
    let builder = &mut Builder::before(op);
    let combine: Vec<Combine> = computation.dimensions.iter().map(|d| d.combine).collect();
    let combined: Vec<usize> = (0..combine.len())
        .filter(|d| !combine[*d].is_pw())
        .collect();
    let types = component_types(builder, &computation.components);
    let sums = sums(builder, op, &whole, &combined, &types);
    let projection = Projection::new(&combined, whole.dims.len());
    let mut moved = whole.clone();
    moved.inputs = sums.clone();
    for buffer in names::buffers_mut(&mut moved) {
        *buffer = projection.buffer(buffer);
    }
    let second = Parts {
        dims: projection.dims(&whole.dims),
        combine: combined.iter().map(|d| whole.combine[*d]).collect(),
        ..moved
    };
    combination(builder, op, &second, &types);
    for sum in &sums {
        builder.op(ops::memref::DEALLOC, &[sum.value], &[], &[]);
    }
    region::erase(op);
    Ok(())
}

/// Remarks the reason for which sums stay in the loops of their prefix-sums.
fn say_together(op: Op, of: &Computation) {
    let mut combine = of.dimensions.iter().map(|d| d.combine);
    let sums = of.dimensions.iter().filter(|d| d.combine.is_pw());
    let points = sums.map(|d| d.count().unwrap_or(i64::MAX));
    let points = points.fold(1, i64::saturating_mul);
    if points > 1 && combine.any(|combine| matches!(combine, Combine::Ps(_))) {
        let text = format!(
            "sums {points} points where it takes prefix-sums: expected more points, or a commutative \
             operator that has a neutral element"
        );
        ir::remark_at(op, &text);
    }
}

/// Computes the sums without prefix-sums of them, for each point of the kept dimensions: memory of
/// each component.
fn sums<'c>(
    builder: &mut Builder<'c>,
    op: Op<'c>,
    whole: &Parts<'c>,
    kept: &[usize],
    types: &[Type<'c>],
) -> Vec<BufferPart<'c>> {
    let row_major = axes(&Default::default(), kept.len()).unwrap_or_default();
    let mut sums = Vec::new();
    for (n, ty) in types.iter().enumerate() {
        let name = format!("sum_{n}");
        sums.push(layout::memory(
            builder,
            &name,
            &whole.dims,
            kept,
            &row_major,
            *ty,
            None,
        ));
    }
    let mut first = Parts {
        outputs: sums.clone(),
        ..whole.clone()
    };
    for (n, output) in first.outputs.iter_mut().enumerate() {
        output.components = vec![n];
    }
    for d in kept {
        first.combine[*d] = cc(builder);
    }
    names::make_unique(&mut first);
    let (context, location) = (builder.context, builder.location);
    let (scalar, combiner) = (region::copy(op, 0), region::copy(op, 1));
    builder.insert(write::compute(context, location, &first, scalar, combiner));
    sums
}
