//! `mdh-tile`: a computation with a schedule becomes loops over tiles, each of which is a
//! computation with the rest of the schedule.
//!
//! ```mlir
//! func.func @f(%x: memref<1021x64xf32>, %v: memref<64xf32>, %y: memref<1021xf32>) {
//!   mdh.compute (i = 1021, j = 64)
//!     out_view(y = %y[i] : memref<1021xf32>)
//!     md_hom(mulf, (cc, pw(addf)))
//!     inp_view(x = %x[i, j] : memref<1021x64xf32>, v = %v[j] : memref<64xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [core {i: 2}, L1 {i: *}, register {i: 8, j: *}]>)
//!   return
//! }
//! // becomes
//! scf.forall (%p) = (0) to (1021) step (512) {
//!   %next = arith.addi %p, %c512 : index
//!   %end = arith.minsi %next, %c1021 : index
//!   ..
//!   scf.for %i = %p to %end step %c8 {
//!     ..
//!     %after = arith.addi %i, %c8 : index
//!     %last = arith.minsi %after, %end : index
//!     mdh.compute (i = %i to %last, j = 64)
//!       ..
//!       schedule(#mdh.schedule<
//!         asm = cpu,
//!         layers = [register {i: 8, j: 64}],
//!         decompose = {order: [register.i, register.j]}>)
//!   } {mdh.level = "L1.i"}
//! } {mapping = [#mdh.core<"core", 0>], mdh.level = "core.i"}
//! ```
//!
//! The loops are the levels of the order D1, outermost first; those of core layers are parallel
//! (D2). Indices are the whole computation's, so tiles share its views. What a tile receives
//! from the one before it, in a dimension that combines, is a carry. Parallel parts of such a
//! dimension leave partial results, which a computation of their own combines: over the parts,
//! with the same operator.
//!
//! A computation that is computed at a level of another one (`compute_at`) has loops of its own in
//! the body of that level's loop, for the points that the tile there needs, and leaves them in
//! memory for one tile where nobody else reads them.
//!
//! The innermost levels, those that keep their results in registers, stay in the schedule of the
//! innermost computation, for `mdh-vectorize`.

mod align;
mod blocks;
mod carry;
pub(crate) mod chain;
pub(crate) mod code;
mod cores;
pub(crate) mod cyclic;
mod empty;
mod extent;
mod fused;
mod lanes;
pub(crate) mod layout;
pub mod memory;
pub(crate) mod merge;
mod narrow;
pub(crate) mod nest;
mod order;
mod owner;
mod pipeline;
pub mod promote;
mod readers;
mod residual;
mod results;
mod scalar;
mod scan;
mod slices;
mod split;
mod stage;
mod steps;
mod walk;

use mdh_dialect::{marks, ops};
use std::cell::Cell;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_schedule::legality;

use crate::support::builder::Builder;
use crate::support::conditions::Conditions;
use crate::support::region;
use chain::{Chains, Consumer, Refusal, refusals};
use empty::{Emptiness, emptiness, neutral, unscheduled};
use nest::ScheduledNest;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-tile",
    description: "lower every mdh.compute with a schedule to loops over tiles",
    operation: "", // a script may lower one function
    options: &[(
        "levels",
        "stop after that many levels of each schedule; all of them if negative",
        "-1",
    )],
    run,
};

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let text = options.get("levels");
    let levels: i64 = text.parse().map_err(|_| {
        vec![format!(
            "option 'levels' of mdh-tile is '{text}': expected a number"
        )]
    })?;
    for function in ir::find_all(module, &[ops::func::FUNC]) {
        expect_given(function)?;
    }
    let computations = ir::find_all(module, &[ops::mdh::COMPUTE]);
    let lowered = Chains::new(&computations).and_then(|chains| {
        let roots = computations.iter().filter(|op| !chains.is_producer(**op));
        let roots: Vec<Op> = roots.copied().collect();
        roots
            .into_iter()
            .try_for_each(|op| lower(op, &chains, levels))
    });
    lowered.or_else(|(op, errors)| emit_all(op, errors))
}

/// Checks: a function has no schedules by name any more.
fn expect_given(function: Op) -> Result<(), Errors> {
    if !marks::SCHEDULES.is_on(function) {
        return Ok(());
    }
    let text = format!(
        "carries '{}' still: expected mdh-share-subexpressions before, which gives these schedules to its \
         computations; there is none for kernels, nor without the model's schedules",
        marks::SCHEDULES.name
    );
    emit_all(function, vec![text])
}

/// Checks: nothing is computed inside of the loops of a computation without a schedule.
fn expect_no_producer<'c>(op: Op<'c>, chains: &Chains<'c>) -> Result<(), Refusal<'c>> {
    let Some(producer) = chains.group(op).first().copied() else {
        return Ok(());
    };
    let scheduled = chains.scheduled(producer);
    let at = scheduled.and_then(|scheduled| scheduled.schedule.compute_at.as_ref());
    let why = "its consumer has no schedule: expected one with that level";
    let said = at.map(|at| chain::refusal(at, why));
    Err((producer, said.into_iter().collect()))
}

/// Lowers a computation, with all that is computed inside of its loops.
fn lower<'c>(op: Op<'c>, chains: &Chains<'c>, levels: i64) -> Result<(), Refusal<'c>> {
    let refused = |errors: Errors| (op, errors);
    let Some(scheduled) = chains.scheduled(op) else {
        return expect_no_producer(op, chains);
    };
    let loops = scheduled.loops();
    let (leaf, _) = scheduled.leaf(&loops);
    let reasons = refusals(scheduled);
    if !reasons.is_empty() {
        return Err((op, reasons));
    }
    let deferred = scheduled.deferred(&loops, leaf).map_err(refused)?;
    let consumer = Consumer {
        of: scheduled,
        loops: &loops,
        leaf,
        core: None,
    };
    let producers = consumer.producers(chains, op)?;
    let stop = usize::try_from(levels).map_or(leaf, |levels| leaf.min(levels));
    let is_staged = leaf == 0 && levels != 0 && legality::is_staged(&scheduled.resolved, &loops);
    if stop == 0 && !is_staged {
        return Ok(());
    }
    let group = chains.group(op);
    let mut builder = Builder::before(op);
    let emptiness = emptiness(&mut builder, scheduled, &loops[..stop]);
    let is_left = !matches!(emptiness, Emptiness::Never);
    let whole = |builder: &mut Builder<'c>| {
        for op in &group {
            if let Some(parts) = chains.parts(*op) {
                unscheduled(builder, *op, parts);
            }
        }
        neutral(builder, op, &scheduled.parts);
    };
    let emit = |builder: &mut Builder<'c>| {
        let mut nest = ScheduledNest {
            of: scheduled,
            loops: &loops,
            leaf,
            stop,
            deferred,
            outside: *builder,
            buffers: Cell::default(),
            producers: &producers,
            conditions: Conditions::new(op),
        };
        nest.emit(builder)
    };
    let emitted = emptiness.guard(&mut builder, whole, emit);
    emitted.map_err(refused)?;
    region::erase(op);
    erase_producers(group, chains, is_left);
    Ok(())
}

/// Erases what is computed inside of loops now, and the memory that it was in, unless that `is_left`.
fn erase_producers<'c>(group: Vec<Op<'c>>, chains: &Chains<'c>, is_left: bool) {
    let parts = group.iter().filter_map(|op| chains.parts(*op));
    let written: Vec<Val> = parts.flat_map(memory::written).collect();
    group.into_iter().for_each(region::erase);
    if !is_left {
        written.into_iter().for_each(memory::free_unused);
    }
}
