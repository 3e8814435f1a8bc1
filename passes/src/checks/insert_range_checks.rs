//! `mdh-insert-range-checks`: asserts at run time the conditions that depend on sizes which are not
//! known yet.
//!
//! ```mlir
//! func.func @copy(%w: memref<8xf32>, %v: memref<10xf32>, %n: index) {
//!   mdh.compute (i = %n)
//!     out_view(w = %w[i] : memref<8xf32>)
//!     md_hom(id, (cc))
//!     inp_view(v = %v[i] : memref<10xf32>)
//!   return
//! }
//! // becomes
//! func.func @copy(%w: memref<8xf32>, %v: memref<10xf32>, %n: index) {
//!   %c0 = arith.constant 0 : index
//!   %is_empty = arith.cmpi sle, %n, %c0 : index
//!   %c10 = arith.constant 10 : index
//!   %c1 = arith.constant 1 : index
//!   %last = arith.subi %n, %c1 : index
//!   %is_read = arith.cmpi ult, %last, %c10 : index
//!   %reads = arith.ori %is_empty, %is_read : i1
//!   cf.assert %reads, "mdh.compute reads input 'v' outside of its extent in axis 0 ('i'): enlarge the buffer, shrink the domain, or give the value outside by 'pad(...)'"
//!   %c8 = arith.constant 8 : index
//!   %is_written = arith.cmpi ult, %last, %c8 : index
//!   %writes = arith.ori %is_empty, %is_written : i1
//!   cf.assert %writes, "mdh.compute writes output 'w' outside of its extent in axis 0 ('i'): enlarge the buffer or shrink the domain"
//!   mdh.compute (i = %n)
//!     out_view(w = %w[i] : memref<8xf32>)
//!     md_hom(id, (cc))
//!     inp_view(v = %v[i] : memref<10xf32>)
//!   return
//! }
//! ```
//!
//! One assertion for each of [`mdh_algebra::rules::obligations`]: grids are well formed, the
//! number of points fits 64 bits, accesses stay in their buffers, an empty `pw` dimension has a
//! carry to give, and no element is written twice. What is proven is not asserted. Ranges of
//! linear index functions and of divisions of them are compared as numbers; with `mod` in them
//! the numbers suffice or a loop over the points decides. And where a schedule says how many parts
//! a dimension has, these cover its points.
//!
//! Axes that `tensor.expand_shape` and `memref.expand_shape` split into extents that are known at run time only are
//! asserted to have as many elements as before, beside computations too. (Extents that contradict a type are refused
//! where computations are formed or raised, [`reshapes`].) Slices that upstream's tiling makes for threads beyond the last
//! tile are empty, and start behind the end: they start at the end then, as upstream's own assertions, which come later,
//! ask for.
//!
//! The pass belongs before `canonicalize`, which may read through a slice or drop an access.

mod condition;
mod distinct;
mod interval;
mod messages;
pub mod reshapes;
mod slices;

use mdh_algebra::affine::{Ends, Expr};
use mdh_algebra::computation::{Computation, Place};
use mdh_algebra::rules::{Obligation, obligations};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Parts};
use mdh_dialect::pass::{self, Options, Pass};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::types;
use melior::ir::ValueLike;

use self::condition::{Condition, compare};
use self::messages::{buffer, overflow_message, range_message, text};
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers;
use crate::support::builder::{Builder, known};
use crate::support::extents;
use crate::support::scheduled::Scheduled;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-insert-range-checks",
    description: "assert at run time what sizes decide that are not known yet",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    pass::each(module, ops::tensor::DIM, has_axis)?;
    pass::each(module, ops::memref::DIM, has_axis)?;
    reshapes::insert(module);
    slices::start_inside(module);
    pass::each(module, ops::mdh::COMPUTE, insert)
}

/// An axis whose extent is asked for is one that the buffer has: upstream says that the result is
/// undefined where it has not, and some of its patterns do not end well then.
fn has_axis(op: Op) -> Result<(), Errors> {
    let operand = |n| ir::operand(op, n);
    let (Some(buffer), Some(axis)) = (operand(0), operand(1).and_then(known)) else {
        return Ok(());
    };
    let Some(rank) = types::buffer_type(buffer.r#type()).map(|ty| ty.shape.len()) else {
        return Ok(());
    };
    let is_one = usize::try_from(axis).is_ok_and(|axis| axis < rank);
    is_one.then_some(()).ok_or_else(|| {
        let expected = match rank {
            0 => "that has none".to_string(),
            rank => format!("whose axes are 0 to {}", rank - 1),
        };
        vec![format!(
            "asks for the extent of axis {axis} of a buffer {expected}"
        )]
    })
}

fn insert(op: Op) -> Result<(), Errors> {
    let (parts, computation) = translate::both(op, Depth::Signatures)?;
    let mut owed = obligations(&computation);
    // What cannot be followed of a schedule is said where it is lowered.
    let scheduled = Scheduled::read(op).ok().flatten();
    let covers = scheduled.map_or(Vec::new(), |scheduled| scheduled.covers());
    if owed.is_empty() && covers.is_empty() {
        return Ok(());
    }
    let mut builder = Builder::before(op);
    // Points are counted by division, which a step of 0 forbids.
    owed.sort_by_key(rank);
    let is_grid = |o: &Obligation| matches!(o, Obligation::Grid { .. });
    for obligation in owed.iter().filter(|o| is_grid(o)) {
        if let Obligation::Grid { dimension } = obligation {
            grid(&mut builder, &parts, *dimension);
        }
    }
    let grids = parts
        .dims
        .iter()
        .map(|dim| Grid::new(&mut builder, dim))
        .collect();
    let mut checks = Checks {
        builder,
        parts: &parts,
        computation: &computation,
        grids,
    };
    let mut done: Vec<(Place, usize, Expr)> = Vec::new();
    for obligation in owed.into_iter().filter(|o| !is_grid(o)) {
        if let Obligation::Range {
            place,
            access,
            axis,
        } = obligation
        {
            let expr = checks.expr(place, access, axis);
            let same = (place, axis, expr);
            if done.contains(&same) {
                continue;
            }
            done.push(same);
        }
        checks.check(obligation);
    }
    for (dimension, points) in covers {
        checks.cover(dimension, points);
    }
    Ok(())
}

/// Orders obligations: those that others rely on come first.
fn rank(obligation: &Obligation) -> usize {
    match obligation {
        Obligation::Grid { .. } => 0,
        Obligation::Points => 1,
        Obligation::EmptyPw { .. } => 2,
        Obligation::Range { .. } => 3,
        Obligation::Injective { .. } => 4,
    }
}

/// `step >= 1` and `1 <= width <= step`.
fn grid<'c>(builder: &mut Builder<'c>, parts: &Parts<'c>, d: usize) {
    let dim = &parts.dims[d];
    let [step, width] = [dim.step, dim.width].map(|b| buffers::value(builder, b));
    let unit = builder.index(1);
    let is_positive = compare(builder, "sge", step, unit);
    assert(
        builder,
        is_positive,
        &format!(
            "has a step below 1 in dimension '{}': expected at least 1",
            dim.name
        ),
    );
    let is_positive = compare(builder, "sge", width, unit);
    let is_within = compare(builder, "sle", width, step);
    let fits = is_positive.and(builder, is_within);
    assert(
        builder,
        fits,
        &format!(
            "has a width in dimension '{}' that is below 1 or above its step: expected 1 to the step",
            dim.name
        ),
    );
}

fn assert<'c>(builder: &mut Builder<'c>, condition: Condition<'c>, message: &str) {
    require(builder, condition, &format!("mdh.compute {message}"));
}

/// Asserts what is not known to hold.
fn require<'c>(builder: &mut Builder<'c>, condition: Condition<'c>, message: &str) {
    if let Condition::Known(true) = condition {
        return;
    }
    let value = condition.value(builder);
    builder.assert(value, message);
}

/// One computation's checks.
struct Checks<'c, 'p> {
    builder: Builder<'c>,
    parts: &'p Parts<'c>,
    computation: &'p Computation,
    grids: Vec<Grid<'c>>,
}

impl<'c> Checks<'c, '_> {
    fn check(&mut self, obligation: Obligation) {
        match obligation {
            Obligation::Grid { .. } => {}
            Obligation::Points => self.points(),
            Obligation::EmptyPw { dimension } => self.empty_pw(dimension),
            Obligation::Range {
                place,
                access,
                axis,
            } => self.range(place, access, axis),
            Obligation::Injective { place } => self.injective(place),
        }
    }

    fn expr(&self, place: Place, access: usize, axis: usize) -> Expr {
        buffer(self.parts, place).accesses[access][axis].clone()
    }

    /// Returns whether one of the dimensions has no points.
    fn any_empty(&mut self, dims: &[usize]) -> Condition<'c> {
        let mut is_outside = Condition::Known(false);
        for d in dims {
            let grid = &self.grids[*d];
            let is_empty = compare(&mut self.builder, "sle", grid.upper, grid.lower);
            is_outside = is_outside.or(&mut self.builder, is_empty);
        }
        is_outside
    }

    /// The product of the counts fits 64 bits, unless one is 0; so does each bound's distance.
    fn points(&mut self) {
        let builder = &mut self.builder;
        let (one, most) = (builder.index(1), builder.index(i64::MAX));
        let (mut product, mut fits) = (one, Condition::Known(true));
        let factors = self
            .grids
            .iter()
            .filter(|g| known(g.count) != Some(1))
            .count();
        for grid in &self.grids {
            if known(grid.lower).is_none_or(|lower| lower < 0) {
                let is_empty = compare(builder, "sle", grid.upper, grid.lower);
                let distance = builder.binary(ops::arith::SUBI, grid.upper, grid.lower);
                let zero = builder.index(0);
                let is_right = compare(builder, "sgt", distance, zero);
                let is_counted = is_empty.or(builder, is_right);
                fits = fits.and(builder, is_counted);
            }
            if factors < 2 {
                continue;
            }
            let count = builder.binary(ops::arith::MAXSI, grid.count, one);
            if known(product) != Some(1) {
                let limit = builder.binary(ops::arith::DIVSI, most, count);
                let is_small = compare(builder, "sle", product, limit);
                fits = fits.and(builder, is_small);
            }
            product = builder.binary(ops::arith::MULI, product, count);
        }
        let positions: Vec<usize> = (0..self.grids.len()).collect();
        let is_empty = self.any_empty(&positions);
        let fits = is_empty.or(&mut self.builder, fits);
        assert(
            &mut self.builder,
            fits,
            "has a domain of more than 2^63 - 1 points: expected smaller bounds",
        );
    }

    /// The parts that a schedule gives a dimension, for so many points, cover it.
    fn cover(&mut self, d: usize, points: i64) {
        let most = self.builder.index(points);
        let fits = compare(&mut self.builder, "sle", self.grids[d].count, most);
        let message = format!(
            "has a schedule whose parts cover {points} points of dimension '{}', which has more: \
             leave the outermost count out or write '*'",
            self.parts.dims[d].name
        );
        assert(&mut self.builder, fits, &message);
    }

    /// An empty dimension has a carry to give, unless nothing is expected.
    fn empty_pw(&mut self, d: usize) {
        let zero = self.builder.index(0);
        let mut holds = compare(&mut self.builder, "sgt", self.grids[d].count, zero);
        for valid in self.parts.carries.iter().filter_map(|c| c.valid) {
            holds = holds.or(&mut self.builder, Condition::Value(valid));
        }
        let mut kept_dims = self.computation.kept();
        kept_dims.retain(|k| *k != d);
        let is_nothing_expected = self.any_empty(&kept_dims);
        let holds = holds.or(&mut self.builder, is_nothing_expected);
        let message = format!(
            "combines no points in dimension '{}' by an operator that has no neutral element: \
             expected at least one point, a carry that is there, or 'neutral(...)' on the operator",
            self.parts.dims[d].name
        );
        assert(&mut self.builder, holds, &message);
    }

    /// The dimensions that must have points for a buffer to be accessed.
    fn visited(&self, place: Place) -> Vec<usize> {
        let mut kept_dims = self.computation.kept();
        match place {
            Place::Input(_) => (0..self.grids.len()).collect(),
            Place::Output(_) => kept_dims,
            Place::Incoming { carry, .. } | Place::Outgoing { carry, .. } => {
                kept_dims.retain(|d| *d != self.parts.carries[carry].dim);
                kept_dims
            }
        }
    }

    fn range(&mut self, place: Place, access: usize, axis: usize) {
        let buffer = buffer(self.parts, place);
        let expr = self.expr(place, access, axis);
        if self.is_its_extent(buffer, &expr, axis) {
            return;
        }
        let is_unvisited = self.any_empty(&self.visited(place));
        let builder = &mut self.builder;
        if buffer.pad.is_some() {
            // There is a value outside, too: the index only has to be a number.
            let fits = interval::interval(builder, &expr, &self.grids)
                .map_or(Condition::Known(false), |found| found.fits);
            let holds = is_unvisited.or(builder, fits);
            let message = overflow_message(self.parts, place, axis, &expr);
            return assert(&mut self.builder, holds, &message);
        }
        let origin = buffers::value(builder, buffer.origin[axis]);
        let extent = builder.dim(buffer.value, axis);
        let simple = match interval::interval(builder, &expr, &self.grids) {
            None => (Condition::Known(false), Ends::Sound),
            Some(found) => {
                let is_above = compare(builder, "sge", found.min, origin);
                // Not below 0, so that it is a number without sign, whatever the origin.
                let last = builder.binary(ops::arith::SUBI, found.max, origin);
                let is_below = compare(builder, "ult", last, extent);
                let is_inside = is_above.and(builder, is_below);
                (is_inside.and(builder, found.fits), found.ends)
            }
        };
        let (is_inside, ends) = simple;
        let holds = is_unvisited.or(builder, is_inside);
        let holds = match ends {
            Ends::Attained => holds,
            Ends::Sound => {
                let grids = &self.grids;
                holds.or_else(builder, |b| all_inside(b, &expr, grids, [origin, extent]))
            }
        };
        let message = range_message(self.parts, place, axis, &expr);
        assert(&mut self.builder, holds, &message);
    }

    /// A dimension that ends where the buffer does: `%n = tensor.dim %v, %c0`, `i = %n`, `v[i]`.
    fn is_its_extent(&self, buffer: &BufferPart<'c>, expr: &Expr, axis: usize) -> bool {
        let (Expr::Dim(d), Some(0)) = (expr, buffer.origin[axis].known()) else {
            return false;
        };
        let dim = &self.parts.dims[*d];
        dim.lower.known().is_some_and(|lower| lower >= 0)
            && extents::of_bound(dim.upper) == extents::of_axis(buffer.value, axis)
    }

    fn injective(&mut self, place: Place) {
        let buffer = buffer(self.parts, place);
        let varying = self.visited(place);
        let is_unvisited = self.any_empty(&varying);
        let builder = &mut self.builder;
        let grids = &self.grids;
        let holds = is_unvisited.or_else(builder, |builder| {
            let holds = distinct::distinct(builder, buffer, grids, &varying);
            holds.value(builder)
        });
        let message = format!(
            "writes {} twice at one place: expected each element to be written by one point; use \
             every kept dimension in the index function, or combine the others by 'pw'",
            text(self.parts, place)
        );
        assert(&mut self.builder, holds, &message);
    }
}

/// Returns whether an index function stays inside at every point.
fn all_inside<'c>(
    builder: &mut Builder<'c>,
    expr: &Expr,
    grids: &[Grid<'c>],
    [origin, extent]: [Val<'c>; 2],
) -> Val<'c> {
    let dims: Vec<usize> = expr.dims().into_iter().collect();
    let mut point: Vec<Val> = grids.iter().map(|g| g.lower).collect();
    let yes = builder.boolean(true);
    distinct::each_point(
        builder,
        grids,
        &dims,
        &mut point,
        yes,
        &mut |builder, point, so_far| {
            let index = builder.affine(expr, point);
            let place = builder.binary(ops::arith::SUBI, index, origin);
            let is_inside = builder.compare("ult", place, extent);
            builder.binary(ops::arith::ANDI, so_far, is_inside)
        },
    )
}
