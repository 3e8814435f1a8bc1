//! `mdh-reverse-dimensions`: dimensions are reversed so that memory is traversed forwards.
//!
//! ```mlir
//! func.func @sums(%x: memref<64x1000xf32>, %y: memref<64xf32>) {
//!   mdh.compute (i = 64, j = 1000)
//!     out_view(y = %y[i] : memref<64xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(x = %x[63 - i, j] : memref<64x1000xf32>)
//!   return
//! }
//! // becomes
//! func.func @sums(%x: memref<64x1000xf32>, %y: memref<64xf32>) {
//!   mdh.compute (i = 64, j = 1000)
//!     out_view(y = %y[63 - i] : memref<64xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(x = %x[i, j] : memref<64x1000xf32>)
//!   return
//! }
//! ```
//!
//! Processors fetch what follows what is read, and vectors hold neighbours in their order. A dimension
//! is reversed where more elements are accessed backwards along it than forwards: one that is kept, or
//! whose operator is commutative, from known bounds and without gaps. Schedules that are there stay
//! right, and are left alone with their computations; so is what is computed in place.

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::{Buffer, Combine, Computation};
use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{self, Options, Pass};
use mdh_dialect::schedule;
use mdh_dialect::translate::{self, Depth};

use crate::gpu::place_on_device::Placed;
use crate::support::draft::{Draft, Rewriter};
use crate::tile;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-reverse-dimensions",
    description: "go through dimensions such that memory is accessed forwards",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let placed = Placed::default();
    pass::each(module, ops::mdh::COMPUTE, |op| reverse(op, &placed))
}

fn reverse<'c>(op: Op<'c>, placed: &Placed<'c>) -> Result<(), Errors> {
    let (parts, computation) = translate::both(op, Depth::Signatures)?;
    let rank = computation.dimensions.len();
    if schedule::has_schedule(op) {
        for d in (0..rank).filter(|d| is_backwards(&computation, *d)) {
            say_stays(op, &computation.dimensions[d].name, SCHEDULED);
        }
    }
    if !tile::schedule::is_open(op, &parts, placed) {
        return Ok(());
    }
    let reversed = (0..rank).map(|d| {
        let place = is_backwards(&computation, d).then(|| opposite(&computation, d))?;
        let name = &computation.dimensions[d].name;
        place.map_err(|why| say_stays(op, name, why)).ok()
    });
    let reversed: Vec<Option<Expr>> = reversed.collect();
    if reversed.iter().all(Option::is_none) {
        return Ok(());
    }
    let mut outputs = parts.outputs.iter();
    if outputs.any(|output| parts.inputs.iter().any(|input| input.value == output.value)) {
        for d in (0..rank).filter(|d| reversed[*d].is_some()) {
            say_stays(op, &computation.dimensions[d].name, IN_PLACE);
        }
        return Ok(());
    }
    let places = reversed.into_iter().enumerate();
    let places: Vec<Expr> = places
        .map(|(d, place)| place.unwrap_or(Expr::Dim(d)))
        .collect();
    let mut draft = Draft::new(op, parts);
    draft.substitute(&places);
    draft.commit_same(Rewriter::Direct);
    Ok(())
}

const SCHEDULED: &str = "it has a schedule, which is followed as it is: expected none";
const IN_PLACE: &str = "it is computed in place: expected another buffer for the result";

/// Remarks the reason for which memory is gone through backwards along a dimension.
fn say_stays(op: Op, dimension: &str, why: &str) {
    let text = format!("goes through '{dimension}' backwards in memory: {why}");
    ir::remark_at(op, &text);
}

/// The point of a dimension that is as far from its end as a point is from its start; or why there is
/// none, or points must come in their order.
fn opposite(of: &Computation, d: usize) -> Result<Expr, &'static str> {
    let dimension = &of.dimensions[d];
    let is_commutative = || of.operator().is_some_and(|o| o.is_commutative());
    match dimension.combine {
        Combine::Ps(_) => return Err("it is a prefix-sum: expected cc or pw"),
        Combine::Pw(_) if !is_commutative() => {
            return Err("its operator keeps the order: expected a commutative one");
        }
        _ => {}
    }
    if dimension.step.is_none() || dimension.step != dimension.width {
        return Err("its points have gaps: expected a width as large as the step");
    }
    let bounds = dimension.lower.zip(dimension.upper);
    let last = bounds.and_then(|(lower, upper)| lower.checked_add(upper)?.checked_sub(1));
    let last = last.ok_or("its bounds are not known: expected numbers")?;
    Ok(Expr::Dim(d) * -1 + last)
}

/// Returns whether more elements are accessed backwards along a dimension than forwards.
fn is_backwards(of: &Computation, d: usize) -> bool {
    let rank = of.dimensions.len();
    let (mut forwards, mut backwards) = (0i64, 0i64);
    for buffer in of.inputs.iter().chain(&of.outputs) {
        for access in &buffer.accesses {
            // Axes further out lie further apart.
            let along = access.map.iter().find(|axis| axis.dims().contains(&d));
            let Some(axis) = along else {
                continue;
            };
            let form = axis.linear(rank);
            let count = match form.is_some_and(|form| form.coefficients[d] < 0) {
                true => &mut backwards,
                false => &mut forwards,
            };
            *count = count.saturating_add(elements(of, buffer));
        }
    }
    backwards > forwards
}

/// Returns the number of a buffer's elements in the dimensions that its accesses depend on: as far
/// as it is known, large otherwise.
fn elements(of: &Computation, buffer: &Buffer) -> i64 {
    let exprs = buffer.accesses.iter().flat_map(|access| &access.map);
    let mut dims: Vec<usize> = exprs.flat_map(|expr| expr.dims()).collect();
    dims.sort_unstable();
    dims.dedup();
    const OPEN: i64 = 1 << 20;
    let counts = dims
        .iter()
        .map(|d| of.dimensions[*d].count().unwrap_or(OPEN));
    counts.fold(1, |all, count| all.saturating_mul(count))
}
