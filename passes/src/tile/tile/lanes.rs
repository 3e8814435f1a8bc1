//! Partial results that threads have in registers (R3), and combine by shuffles.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<128xf32>, %y: memref<f32>) {
//!   mdh.compute (k = 128)
//!     out_view(y = %y[] : memref<f32>)
//!     md_hom(id, (pw(addf)))
//!     inp_view(x = %x[k] : memref<128xf32>)
//!     schedule(#mdh.schedule<asm = cuda, layers = [thread {k: 32}, register {k: *}],
//!       outputs = {y: {combine: {thread.k: register}}}>)
//!   return
//! }
//! // becomes
//! %sum = memref.alloca() {alignment = 16 : i64} : memref<f32, #mdh.memory<"register", thread>>
//! scf.forall (%t) in (32) {
//!   .. // each thread's own
//!   mdh.compute (k = %from to %to)
//!     out_view(partial_0 = %sum[] : memref<f32, #mdh.memory<"register", thread>>)
//!     ..
//! } {mapping = [#gpu.thread<x>], mdh.level = "thread.k"}
//! mdh.compute (part = 32)
//!   out_view(y = %y[] : memref<f32>)
//!   md_hom(id, (pw(addf)))
//!   inp_view(parts_0 = %sum[] : memref<f32, #mdh.memory<"register", thread>>)
//!   threads(lanes(part = thread.x))
//! ```
//!
//! The memory has no axis for threads, although it is taken outside of their loop: `lanes` says
//! that the points of that dimension are threads, of which each has its own.

use mdh_dialect::ir::{Errors, Op};
use mdh_dialect::write;
use mdh_schedule::OutputPlan;

use super::carry::refuse;
use super::nest::Slices;
use super::nest::{ScheduledNest, Tile};
use crate::support::builder::Builder;
use crate::support::kernels::THREAD;
use crate::support::kernels::WARP;
use crate::support::scheduled::Loop;

/// Returns whether the parts of a level are threads, whose results the schedule combines in registers: for
/// all outputs or for none, since what is combined is their tuple.
fn is_in_registers(nest: &ScheduledNest, of: Loop) -> Result<bool, Errors> {
    let resolved = &nest.of.resolved;
    if !resolved.asm.has_kernels() || nest.of.layer(of.level) != THREAD {
        return Ok(false);
    }
    let is_register = |plan: &OutputPlan| {
        let region = plan.region[of.level.layer][of.level.dimension];
        resolved.asm.layers[region].name() == "register"
    };
    let count = resolved
        .outputs
        .iter()
        .filter(|plan| is_register(plan))
        .count();
    if count > 0 && count < resolved.outputs.len() {
        return Err(refuse(
            nest,
            of,
            "combines some outputs in registers of threads and others elsewhere: expected one \
             region for all outputs, whose tuples are combined together",
        ));
    }
    Ok(count > 0)
}

/// Prefix-sums of the threads' parts are not combined in registers.
pub fn refuse_scan(nest: &ScheduledNest, of: Loop) -> Result<(), Errors> {
    match is_in_registers(nest, of)? {
        false => Ok(()),
        true => Err(refuse(
            nest,
            of,
            "combines prefix-sums in registers of threads: expected 'shared' or 'device' there",
        )),
    }
}

/// Memory for the values of each thread of a level, if these are in registers: `position` is that
/// of the loop before which it is needed, the level's own or, if its parts are deferred, one
/// further out.
pub fn slices<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    of: Loop,
    tile: &Tile<'c>,
    dims: &[usize],
) -> Result<Option<Slices<'c>>, Errors> {
    if !is_in_registers(nest, of)? {
        return Ok(None);
    }
    let is_deferred = nest.loops[position] != of;
    for inner in nest.loops[position..].iter().filter(|inner| **inner != of) {
        let layer = nest.of.layer(inner.level);
        let is_combined = !is_deferred && inner.combine.is_pw() && is_in_registers(nest, *inner)?;
        if inner.is_parallel && [WARP, THREAD].contains(&layer) && !is_combined {
            let name = nest.of.resolved.name(inner.level);
            return Err(refuse(
                nest,
                of,
                &format!(
                    "combines results in registers of threads outside of '{name}', whose parts each \
                     thread would need: expected it inside of all other levels of warps and threads"
                ),
            ));
        }
    }
    let slices = Slices::of_threads(nest, builder, tile, dims.to_vec());
    let slices = slices.ok_or_else(|| {
        refuse(
            nest,
            of,
            "combines results in registers of threads that have a number of them which is not known, or \
             are in no block: expected tiles of known sizes, in blocks",
        )
    });
    slices.map(Some)
}

/// Marks a computation as one that combines the values of threads, which are the points of a
/// dimension.
pub fn mark(nest: &ScheduledNest, of: Loop, op: Op, dimension: &str) {
    let to = nest.of.resolved.decompose.assign[of.level.layer][of.level.dimension];
    let name = nest.of.resolved.asm_name(to).to_string();
    write::share(op, |threads| threads.lanes = Some([dimension.into(), name]));
}
