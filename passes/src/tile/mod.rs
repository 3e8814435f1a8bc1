//! `mdh-tile`: a computation with a schedule becomes loops over tiles, each of which is a
//! computation with the rest of the schedule.
//!
//! ```mlir
//! mdh.compute (i = 1021, j = 64)
//!   out_view(y = %y[i] : memref<1021xf32>)
//!   md_hom(mulf, (cc, pw(addf)))
//!   inp_view(x = %x[i, j] : memref<1021x64xf32>, v = %v[j] : memref<64xf32>)
//!   // core {i: 2}, L1 {i: *}, register {i: 8, j: *}
//! // becomes
//! scf.parallel (%p) = (%c0) to (%c1021) step (%c512) {
//!   %end = arith.minsi (%p + 512), %c1021
//!   scf.for %i = %p to %end step %c8 {
//!     %last = arith.minsi (%i + 8), %end
//!     mdh.compute (i = %i to %last, j = 64)
//!       ..
//!       // register {i: 8, j: *}
//!   }
//! }
//! ```
//!
//! The loops are the levels of the order D1, outermost first; those of core layers are parallel
//! (D2). Indices are the whole computation's, so tiles share its views. What a tile receives
//! from the one before it, in a dimension that combines, is a carry. Parallel parts of such a
//! dimension leave partial results, which a computation of their own combines: over the parts,
//! with the same operator.
//!
//! The innermost levels, those that keep their results in registers, stay in the schedule of the
//! innermost computation, for `mdh-vectorize`.

pub(crate) mod code;
mod follow;
mod layout;
pub(crate) mod nest;
pub mod phases;
mod residual;
mod results;
mod slices;
mod split;
mod stage;

use std::cell::Cell;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::write;

use crate::builder::{Builder, known};
use crate::lower::grid::Grid;
use crate::region;
use crate::scheduled::{Loop, Scheduled};
use nest::Nest;

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
    for op in ir::find_all(module, &["mdh.compute"]) {
        if let Err(errors) = lower(op, levels) {
            return emit_all(op, errors);
        }
    }
    Ok(())
}

fn lower<'c>(op: Op<'c>, levels: i64) -> Result<(), Errors> {
    let Some(scheduled) = Scheduled::read(op)? else {
        return Ok(());
    };
    let loops = scheduled.loops();
    let (leaf, _) = scheduled.leaf(&loops);
    let found = follow::findings(&scheduled, &loops, leaf);
    if !found.is_empty() {
        return Err(found);
    }
    let late = scheduled.late(&loops, leaf)?;
    let stop = usize::try_from(levels).map_or(leaf, |levels| leaf.min(levels));
    if stop == 0 {
        return Ok(());
    }
    let mut builder = Builder::before(op);
    let emit = |builder: &mut Builder<'c>| {
        let mut nest = Nest {
            of: &scheduled,
            loops: &loops,
            stop,
            late,
            outside: *builder,
            buffers: Cell::default(),
        };
        nest.emit(builder)
    };
    match emptiness(&mut builder, &scheduled, &loops[..stop]) {
        Emptiness::Never => emit(&mut builder)?,
        Emptiness::Always => unscheduled(&mut builder, &scheduled),
        Emptiness::If(condition) => {
            let mut result = Ok(());
            let whole = |builder: &mut Builder<'c>| {
                unscheduled(builder, &scheduled);
                Vec::new()
            };
            builder.if_else(condition, &[], whole, |builder| {
                result = emit(builder);
                Vec::new()
            });
            result?;
        }
    }
    region::erase(op);
    Ok(())
}

/// Whether a dimension that is combined in parts has no points: there would be no part that
/// stores what is combined of nothing.
enum Emptiness<'c> {
    Never,
    Always,
    If(Val<'c>),
}

fn emptiness<'c>(builder: &mut Builder<'c>, of: &Scheduled<'c>, loops: &[Loop]) -> Emptiness<'c> {
    let mut found: Option<Val> = None;
    for (d, dim) in of.parts.dims.iter().enumerate() {
        let is_split = loops
            .iter()
            .any(|l| l.level.dimension == d && l.combine.is_pw());
        if !is_split {
            continue;
        }
        let count = Grid::new(builder, dim).count;
        match known(count) {
            Some(0) => return Emptiness::Always,
            Some(_) => {}
            None => {
                let zero = builder.index(0);
                let is_empty = builder.compare("eq", count, zero);
                found = Some(match found {
                    None => is_empty,
                    Some(other) => builder.binary("arith.ori", other, is_empty),
                });
            }
        }
    }
    found.map_or(Emptiness::Never, Emptiness::If)
}

/// The computation as it is without its schedule.
fn unscheduled<'c>(builder: &mut Builder<'c>, of: &Scheduled<'c>) {
    let (scalar, combiner) = (region::copy(of.op, 0), region::copy(of.op, 1));
    let (context, location) = (builder.context, builder.location);
    let new = write::compute(context, location, &of.parts, scalar, combiner);
    builder.insert(new);
}
