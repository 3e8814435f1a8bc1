//! Warp-level MMA: products of matrices.
//!
//! ```mlir
//! // mdh-opt products.mlir --mdh-tile --canonicalize --mdh-map-kernels --canonicalize --cse
//! // Each of 8 x 4 threads has two columns of five, if it has a part; all of the warp come:
//! gpu.launch .. threads(%x, %y, %z) in (%sx = %c4, %sy = %c8, %sz = %c1) .. {
//!   ..
//!   %j = arith.muli %x, %c2 : index
//!   %has_columns = arith.cmpi slt, %j, %c5 : index
//!   ..
//!   %j_last = arith.select %has_columns, %j_end, %j : index
//!   mdh.compute (i = %i to %i_end, j = %j to %j_last, k = 16) .. threads(matrix(i, j))
//! ```
//!
//! A thread without columns still gives its part of rows that others have.
//! The two dimensions are those that are cut over 8 threads and over 4.

use mdh_algebra::asm::MATRIX;
use mdh_algebra::schedule::matrix::THREADS;
use mdh_dialect::ir::{Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, Parts};
use mdh_dialect::{read, schedule, write};

use super::cores::{THREAD, WARP};
use crate::buffers::value;
use crate::builder::Builder;
use crate::parallel::Core;
use crate::region;
use crate::scheduled::{Loop, Scheduled};

/// The dimensions of a product of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// The one that is cut over eight threads.
    pub rows: usize,
    /// The one that is cut over four.
    pub columns: usize,
}

/// Marks the rest of a computation if a warp executes it at once.
pub fn mark(of: &Scheduled, loops: &[Loop], op: Op) {
    if !loops.iter().any(|l| of.layer(l.level) == MATRIX) {
        return;
    }
    let along = |axis: usize| {
        let mut threads = loops.iter().filter(|l| of.layer(l.level) == THREAD);
        let to = |l: &Loop| of.resolved.decompose.assign[l.level.layer][l.level.dimension];
        let found = threads.find(|l| to(l).dimension == axis)?;
        Some(of.parts.dims[found.level.dimension].name.clone())
    };
    let (Some(columns), Some(rows)) = (along(0), along(1)) else {
        return;
    };
    write::share(op, |threads| threads.matrix = Some([rows, columns]));
}

/// The dimensions of a computation that a warp executes at once.
pub fn dimensions(parts: &Parts) -> Option<Dimensions> {
    let [rows, columns] = parts.threads.matrix.as_ref()?;
    let position = |name: &String| parts.dims.iter().position(|dim| dim.name == *name);
    Some(Dimensions {
        rows: position(rows)?,
        columns: position(columns)?,
    })
}

/// Returns whether a warp executes a computation at once.
pub fn is_marked(op: Op) -> bool {
    read::threads(op).is_ok_and(|threads| threads.matrix.is_some())
}

/// Returns whether a thread has a part along an axis, in its warp and of the warps.
fn along<'c>(
    builder: &mut Builder<'c>,
    is_there: &[(Core, Val<'c>)],
    axis: usize,
) -> Option<Val<'c>> {
    let is_of = |core: &Core| core.layer == WARP || core.layer == THREAD && core.axis == axis;
    let own = is_there.iter().filter(|(core, _)| is_of(core));
    own.map(|(_, is_there)| *is_there)
        .reduce(|a, b| builder.binary(ops::arith::ANDI, a, b))
}

/// Gives threads that have no part one without points, so that all of a warp can come.
pub fn lower<'c>(
    op: Op<'c>,
    strides: &[(Core, i64, i64)],
    is_there: &[(Core, Val<'c>)],
) -> Result<(), Errors> {
    let found: Vec<(i64, i64)> = strides.iter().map(|(_, s, parts)| (*s, *parts)).collect();
    if found != [(1, THREADS[0]), (THREADS[0], THREADS[1])] {
        let found: Vec<String> = found.iter().map(|(_, parts)| parts.to_string()).collect();
        return Err(vec![format!(
            "computes products of matrices in warps of {} threads: expected {} x {}",
            found.join(" x "),
            THREADS[0],
            THREADS[1]
        )]);
    }
    let mut parts = read::compute(op)?;
    let Some(Dimensions { rows, columns }) = dimensions(&parts) else {
        return Ok(());
    };
    let plan = schedule::read(op)?;
    let mut builder = Builder::before(op);
    for (axis, d) in [columns, rows].into_iter().enumerate() {
        let Some(is_there) = along(&mut builder, is_there, axis) else {
            continue;
        };
        let dim = &mut parts.dims[d];
        let [lower, upper] = [dim.lower, dim.upper].map(|bound| value(&mut builder, bound));
        dim.upper = Bound::Dynamic(builder.select(is_there, upper, lower));
    }
    let (scalar, combiner) = (region::copy(op, 0), region::copy(op, 1));
    let new = write::compute(builder.context, builder.location, &parts, scalar, combiner);
    let new = builder.insert(new);
    schedule::set(new, plan.as_ref());
    region::erase(op);
    Ok(())
}
