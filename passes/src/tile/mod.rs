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
mod layout;
pub(crate) mod nest;
mod residual;
mod split;
mod stage;

use std::cell::Cell;

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::pass::{Options, Pass, emit_all};

use crate::builder::Builder;
use crate::region;
use crate::scheduled::Scheduled;
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

fn lower(op: Op, levels: i64) -> Result<(), Errors> {
    let Some(scheduled) = Scheduled::read(op)? else {
        return Ok(());
    };
    let loops = scheduled.loops();
    let (leaf, _) = scheduled.leaf(&loops);
    let stop = usize::try_from(levels).map_or(leaf, |levels| leaf.min(levels));
    if stop == 0 {
        return Ok(());
    }
    let mut builder = Builder::before(op);
    let mut nest = Nest {
        of: &scheduled,
        loops: &loops,
        stop,
        outside: builder,
        buffers: Cell::default(),
    };
    nest.emit(&mut builder)?;
    region::erase(op);
    Ok(())
}
