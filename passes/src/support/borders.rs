//! Padding only where it is read: code for the points that read no padding, beside that for all.
//!
//! ```mlir
//! // mdh-opt --mdh-lower-to-loops --canonicalize --cse
//! // A tile of three points reads four elements, all of which are there in most tiles.
//! func.func @f(%x: memref<100xf32>, %y: memref<99xf32>, %i: index) {
//!   %c3 = arith.constant 3 : index
//!   %next = arith.addi %i, %c3 : index
//!   mdh.compute (i = %i to %next)
//!     out_view(y = %y[i] : memref<99xf32>)
//!     md_hom(addf, (cc))
//!     inp_view(x = %x[i - 1][i] pad(0.0 : f32) : memref<100xf32>)
//!   return
//! }
//! // becomes
//! %end = arith.addi %i, %c2 : index
//! %first = arith.addi %i, %minus1 : index
//! %begins = arith.cmpi sge, %first, %c0 : index
//! %ends = arith.cmpi slt, %end, %c100 : index
//! %inside = arith.andi %begins, %ends : i1
//! scf.if %inside {
//!   scf.for %k = %i to %next step %c1 {
//!     %before = arith.addi %k, %minus1 : index
//!     %a = memref.load %x[%before] : memref<100xf32>
//!     %b = memref.load %x[%k] : memref<100xf32>
//!     ..
//!   }
//! } else {
//!   ..
//! }
//! ```
//!
//! What asks is the innermost tile, so that it holds for any schedule, for tiles of a chain, and for
//! the threads of a GPU; parts of the question that are the same in all iterations of a loop are moved
//! out of it. There are three versions at most, however many axes there are: one without padding, one
//! with padding in one axis, that of the lanes, whose masks cost little, and one for the rest.

mod along;

use std::cell::RefCell;
use std::collections::BTreeMap;

use mdh_algebra::domain::Grid as Points;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Parts};

use crate::llvm::lower_to_loops::grid::{Grid, bound};
use crate::simplify::canonicalize::pads;
use crate::support::builder::{Builder, known};
use crate::support::ranges;
use crate::support::region;
use along::Along;

/// An axis of an input that its accesses may leave: the input's number, and the axis.
type InputAxis = (usize, usize);

/// Emits code for one version of a computation.
type Body<'c, 'b> = dyn FnMut(&mut Builder<'c>, &Parts<'c>) + 'b;

/// A computation's padding, as far as it is known before code is emitted.
struct BorderPlan<'c, 'p> {
    parts: &'p Parts<'c>,
    grids: Vec<Grid<'c>>,
    /// Inputs of which all axes may be left that any code can tell of.
    inputs: Vec<BufferPart<'c>>,
    /// Axes that are asked together.
    outer: Vec<InputAxis>,
    /// Those with a version in which they alone are masked.
    inner: Vec<InputAxis>,
}

/// Emits code for each version of a computation, of which the one runs that fits, and erases it:
/// inputs whose points all lie inside have no padding. `lanes` is the dimension of a vector's lanes;
/// without any, a single read of one point is not worth the question.
pub fn versions<'c>(
    op: Op<'c>,
    parts: &Parts<'c>,
    grids: &[Grid<'c>],
    lanes: Option<usize>,
    body: &mut Body<'c, '_>,
) {
    let mut inputs = parts.inputs.clone();
    let points = pads::grids(&parts.dims);
    let asked = asked(op, &mut inputs, parts, &points);
    let reads = asked.iter().map(|(input, _)| *input);
    let reads: usize = reads.map(|n| inputs[n].accesses.len()).sum();
    let is_one = grids.iter().all(|grid| known(grid.count) == Some(1));
    let mut builder = Builder::before(op);
    // What the threads of a warp do together has no branches that some of them take.
    let is_shared = parts.threads.matrix.is_some() || parts.threads.lanes.is_some();
    let is_cheap = reads == 1 && is_one && lanes.is_none();
    if asked.is_empty() || is_cheap || is_shared {
        drop_unread(&mut inputs);
        body(&mut builder, &with(parts, inputs));
        return region::erase(op);
    }
    let is_alone = |axis: &InputAxis| is_alone(&inputs, &asked, *axis, lanes);
    let (inner, outer) = asked.iter().partition(|axis| is_alone(axis));
    let plan = BorderPlan {
        parts,
        grids: grids.to_vec(),
        inputs,
        outer,
        inner,
    };
    match lanes.and_then(|lanes| Along::new(op, &plan, lanes)) {
        Some(along) => {
            along.emit(plan, body);
            region::erase(along.of);
        }
        None => {
            plan.emit(&mut builder, body);
            region::erase(op);
        }
    }
}

/// An input that is left along no axis has no padding.
fn drop_unread(inputs: &mut [BufferPart]) {
    for input in inputs {
        if (0..input.origin.len()).all(|axis| input.inside.contains(&axis)) {
            input.pad = None;
        }
    }
}

fn with<'c>(parts: &Parts<'c>, inputs: Vec<BufferPart<'c>>) -> Parts<'c> {
    Parts {
        inputs,
        ..parts.clone()
    }
}

impl<'c> BorderPlan<'c, '_> {
    /// The computation for points that stay inside of these axes.
    fn inside(&self, axes: &[&[InputAxis]]) -> Parts<'c> {
        let mut inputs = self.inputs.clone();
        for (input, axis) in axes.iter().copied().flatten() {
            inputs[*input].inside.push(*axis);
        }
        drop_unread(&mut inputs);
        with(self.parts, inputs)
    }

    /// One branch for each version.
    fn emit(&self, builder: &mut Builder<'c>, body: &mut Body<'c, '_>) {
        let within = |builder: &mut Builder<'c>, body: &mut Body<'c, '_>| {
            let masked = self.inside(&[&self.outer]);
            let clean = self.inside(&[&self.outer, &self.inner]);
            branch(builder, self, &self.inner, body, masked, |builder, body| {
                body(builder, &clean);
            });
        };
        branch(builder, self, &self.outer, body, self.inside(&[]), within);
    }
}

/// Code for points inside of these axes, if there are any to be asked, and that for the rest.
fn branch<'c>(
    builder: &mut Builder<'c>,
    plan: &BorderPlan<'c, '_>,
    axes: &[InputAxis],
    body: &mut Body<'c, '_>,
    otherwise: Parts<'c>,
    within: impl FnOnce(&mut Builder<'c>, &mut Body<'c, '_>),
) {
    if axes.is_empty() {
        return within(builder, body);
    }
    let inside = all_inside(builder, &plan.inputs, &plan.grids, axes);
    either(builder, inside, body, within, |builder, body| {
        body(builder, &otherwise)
    });
}

/// Code that runs if a condition holds, and other code if not.
fn either<'c>(
    builder: &mut Builder<'c>,
    condition: Val<'c>,
    body: &mut Body<'c, '_>,
    then: impl FnOnce(&mut Builder<'c>, &mut Body<'c, '_>),
    otherwise: impl FnOnce(&mut Builder<'c>, &mut Body<'c, '_>),
) {
    let body = RefCell::new(body);
    builder.if_else(
        condition,
        &[],
        |builder| {
            then(builder, &mut **body.borrow_mut());
            Vec::new()
        },
        |builder| {
            otherwise(builder, &mut **body.borrow_mut());
            Vec::new()
        },
    );
}

/// Notes which axes no access leaves, and returns those of which a run knows it.
fn asked<'c>(
    op: Op<'c>,
    inputs: &mut [BufferPart<'c>],
    parts: &Parts<'c>,
    points: &[Option<Points>],
) -> Vec<InputAxis> {
    let mut asked = Vec::new();
    for (n, input) in inputs.iter_mut().enumerate() {
        if input.pad.is_none() {
            continue;
        }
        for axis in 0..input.origin.len() {
            match pads::axis_stays_inside(input, axis, points) {
                Some(true) => input.inside.push(axis),
                Some(false) => {}
                None if ranges::stays_inside(input, axis, &parts.dims) => input.inside.push(axis),
                None if is_linear(input, axis, points.len()) => asked.push((n, axis)),
                None => say_unclear(op, &input.name, axis),
            }
        }
    }
    asked
}

/// Remarks that no question is asked of an axis.
fn say_unclear(op: Op, name: &str, axis: usize) {
    let text = format!(
        "asks at each element whether input '{name}' is left along axis {axis}: found an index function \
         with a division, expected a sum of indices"
    );
    ir::remark_at(op, &text);
}

fn is_linear(input: &BufferPart, axis: usize, rank: usize) -> bool {
    let mut accesses = input.accesses.iter();
    accesses.all(|access| access[axis].linear(rank).is_some())
}

/// Returns whether an axis has a version of its own, in which it alone is masked: the vectorised
/// one, or the last one.
fn is_alone(
    inputs: &[BufferPart],
    asked: &[InputAxis],
    axis: InputAxis,
    lanes: Option<usize>,
) -> bool {
    let moves = |(input, axis): InputAxis| {
        let mut accesses = inputs[input].accesses.iter();
        lanes.is_some_and(|d| accesses.any(|access| access[axis].uses(d)))
    };
    if asked.iter().any(|axis| moves(*axis)) {
        return moves(axis);
    }
    let of_input = asked.iter().filter(|(input, _)| *input == axis.0);
    lanes.is_some() && of_input.map(|(_, axis)| *axis).max() == Some(axis.1)
}

/// The condition that all accesses stay inside of these axes.
fn all_inside<'c>(
    builder: &mut Builder<'c>,
    inputs: &[BufferPart<'c>],
    grids: &[Grid<'c>],
    axes: &[InputAxis],
) -> Val<'c> {
    let mut inside: Option<Val<'c>> = None;
    for (input, axis) in axes {
        let input = &inputs[*input];
        let origin = bound(builder, input.origin[*axis]);
        let extent = builder.dim(input.value, *axis);
        let zero = builder.index(0);
        for (coefficients, (least, most)) in reach(input, *axis, grids.len()) {
            let [first, last] = rest(builder, grids, &coefficients);
            let mut end = |from: Val<'c>, offset: i64, predicate: &str, limit: Val<'c>| {
                let offset = builder.index(offset);
                let end = builder.binary(ops::arith::ADDI, from, offset);
                let end = builder.binary(ops::arith::SUBI, end, origin);
                let fits = builder.compare(predicate, end, limit);
                inside = Some(match inside {
                    Some(inside) => builder.binary(ops::arith::ANDI, inside, fits),
                    None => fits,
                });
            };
            end(first, least, "sge", zero);
            end(last, most, "slt", extent);
        }
    }
    inside.unwrap_or_else(|| builder.boolean(true))
}

/// The least and the greatest constant of an axis' index functions, by their coefficients.
fn reach(input: &BufferPart, axis: usize, rank: usize) -> BTreeMap<Vec<i64>, (i64, i64)> {
    let mut borders = BTreeMap::new();
    let forms = input
        .accesses
        .iter()
        .filter_map(|access| access[axis].linear(rank));
    for form in forms {
        let constant = form.constant;
        let ends = borders
            .entry(form.coefficients)
            .or_insert((constant, constant));
        *ends = (ends.0.min(constant), ends.1.max(constant));
    }
    borders
}

/// The least and the greatest sum of the dimensions' indices with these factors.
fn rest<'c>(builder: &mut Builder<'c>, grids: &[Grid<'c>], factors: &[i64]) -> [Val<'c>; 2] {
    let mut ends = [builder.index(0); 2];
    for (grid, factor) in grids
        .iter()
        .zip(factors)
        .filter(|(_, factor)| **factor != 0)
    {
        let mut indices = [grid.lower, grid.last(builder)];
        if *factor < 0 {
            indices.reverse();
        }
        let factor = builder.index(*factor);
        for (end, index) in ends.iter_mut().zip(indices) {
            let part = builder.binary(ops::arith::MULI, index, factor);
            *end = builder.binary(ops::arith::ADDI, *end, part);
        }
    }
    ends
}
