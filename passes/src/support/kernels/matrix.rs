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

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, Dim, Parts};
use mdh_dialect::{read, schedule, threads, write};
use mdh_schedule::asm::MATRIX;
use mdh_schedule::matrix::THREADS;
use mdh_schedule::{Parts as Count, Schedule};

use super::cores::{THREAD, WARP};
use super::effects::depends_on;
use super::spmd::ThreadPosition;
use crate::support::buffers::value;
use crate::support::builder::{Builder, known};
use crate::support::parallel::Core;
use crate::support::region;
use crate::support::scheduled::{Loop, Scheduled};

/// The dimensions of a product of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// The one that is cut over eight threads.
    pub rows: usize,
    /// The one that is cut over four.
    pub columns: usize,
}

/// Marks the rest of a computation if a warp executes it at once. There is no instruction for others
/// than products, which a CPU computes all the same.
pub fn mark(of: &Scheduled, loops: &[Loop], op: Op) {
    if !loops.iter().any(|l| of.layer(l.level) == MATRIX) || !threads::is_product(op) {
        return;
    }
    let along = |axis: usize| {
        let mut threads = loops.iter().filter(|l| of.layer(l.level) == THREAD);
        let to = |l: &Loop| of.resolved.decompose.assign[l.level.layer][l.level.dimension];
        let thread = threads.find(|l| to(l).dimension == axis)?;
        Some(of.parts.dims[thread.level.dimension].name.clone())
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
    let conditions = is_there.iter().filter(|(core, _)| is_of(core));
    conditions
        .map(|(_, is_there)| *is_there)
        .reduce(|a, b| builder.binary(ops::arith::ANDI, a, b))
}

/// Checks that rows and columns are what the loops over threads cut: lanes of a row of threads have
/// the same rows, those of a column the same columns, and neighbours neighbouring ones; all have the
/// same terms.
fn check_parts<'c>(
    op: Op<'c>,
    parts: &Parts<'c>,
    dimensions: Dimensions,
    place: &ThreadPosition<'c>,
) -> Result<(), Errors> {
    let index = |axis: usize| {
        let is = |(core, _): &&(Core, Val<'c>)| core.layer == THREAD && core.axis == axis;
        place.threads.iter().find(is).map(|(_, index)| *index)
    };
    let (Some(x), Some(y)) = (index(0), index(1)) else {
        return Ok(());
    };
    let bounds = |d: usize| [parts.dims[d].lower, parts.dims[d].upper];
    let moves = |d: usize, index: Val<'c>| {
        let mut bounds_of_dim = bounds(d).into_iter();
        bounds_of_dim
            .any(|bound| matches!(bound, Bound::Dynamic(value) if depends_on(value, &[index])))
    };
    for (d, dim) in parts.dims.iter().enumerate() {
        let what = match d {
            d if d == dimensions.rows => "rows",
            d if d == dimensions.columns => "columns",
            _ => "terms",
        };
        for (axis, index) in [("x", x), ("y", y)] {
            let is_own = matches!((what, axis), ("rows", "y") | ("columns", "x"));
            if moves(d, index) && !is_own {
                return Err(vec![format!(
                    "computes a product of matrices whose {what} '{}' differ along '{THREAD}.{axis}': \
                     expected its rows to be those of '{THREAD}.y', its columns those of '{THREAD}.x', \
                     and all else the same for all threads of a warp",
                    dim.name
                )]);
            }
        }
    }
    let columns = &parts.dims[dimensions.columns];
    let distance = schedule::read(op)?.and_then(|plan| points(&plan, &columns.name));
    let distance = distance.and_then(|distance| reach(columns, distance));
    let step = match columns.lower {
        Bound::Dynamic(lower) => step(lower, x),
        Bound::Static(_) => Some(0),
    };
    match (distance, step) {
        (Some(distance), Some(step)) if distance != step => Err(vec![format!(
            "computes a product of matrices, of which neighbours along '{THREAD}.x' have columns '{}' \
             {step} apart: expected {distance}, as far as those of each of them reach",
            columns.name
        )]),
        // Those of another thread are found by their distance.
        (Some(distance), None) => Err(vec![format!(
            "computes a product of matrices, of which it is not known how far apart neighbours along '{THREAD}.x' \
             have columns '{}': expected {distance}, as far as those of each of them reach",
            columns.name
        )]),
        _ => Ok(()),
    }
}

/// Returns the indices that so many points of a dimension reach over; `None` if these are no whole periods.
fn reach(dim: &Dim, points: i64) -> Option<i64> {
    let (step, width) = (dim.step.known()?, dim.width.known()?);
    if step == width {
        return Some(points);
    }
    let periods = (width > 0 && points % width == 0).then(|| points / width)?;
    periods.checked_mul(step)
}

/// Returns the number of points of a dimension that a schedule's levels hold, if it is known.
fn points(plan: &Schedule, dimension: &str) -> Option<i64> {
    let layers = plan.layers.iter();
    let mut counts = layers.filter_map(|layer| layer.parts.get(dimension));
    counts.try_fold(1i64, |product, count| match count {
        Count::Fixed(count) => product.checked_mul(*count),
        Count::Derived => None,
    })
}

/// Returns by how much a value grows with an index, where sums and multiples say it.
fn step<'c>(value: Val<'c>, index: Val<'c>) -> Option<i64> {
    if value == index {
        return Some(1);
    }
    if !depends_on(value, &[index]) {
        return Some(0);
    }
    let op = ir::defining_op(value)?;
    let (a, b) = (ir::operand(op, 0)?, ir::operand(op, 1)?);
    match ir::name_of(op) {
        ops::arith::ADDI => step(a, index)?.checked_add(step(b, index)?),
        ops::arith::SUBI => step(a, index)?.checked_sub(step(b, index)?),
        ops::arith::MULI => {
            let (factor, other) = match (known(a), known(b)) {
                (Some(factor), _) => (factor, b),
                (None, factor) => (factor?, a),
            };
            step(other, index)?.checked_mul(factor)
        }
        _ => None,
    }
}

/// Gives threads that have no part one without points, so that all of a warp can come.
pub fn lower<'c>(
    op: Op<'c>,
    place: &ThreadPosition<'c>,
    is_there: &[(Core, Val<'c>)],
) -> Result<(), Errors> {
    let strides = place.strides.iter();
    let layout: Vec<(i64, i64)> = strides.map(|(_, s, parts)| (*s, *parts)).collect();
    if layout != [(1, THREADS[0]), (THREADS[0], THREADS[1])] {
        let mut texts: Vec<String> = layout.iter().map(|(_, parts)| parts.to_string()).collect();
        if texts.is_empty() {
            texts.push("1".into());
        }
        return Err(vec![format!(
            "computes products of matrices in warps of {} threads: expected {} x {}",
            texts.join(" x "),
            THREADS[0],
            THREADS[1]
        )]);
    }
    let mut parts = read::compute(op)?;
    let Some(dimensions) = dimensions(&parts) else {
        return Ok(());
    };
    check_parts(op, &parts, dimensions, place)?;
    let Dimensions { rows, columns } = dimensions;
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
