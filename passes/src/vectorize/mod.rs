//! `mdh-vectorize`: a computation whose schedule has only registers and lanes left becomes code
//! on vectors.
//!
//! ```mlir
//! mdh.compute (i = 4, j = 16, k = 100)
//!   out_view(C = %C[i, j] : memref<4x16xf32>)
//!   md_hom(mulf, (cc, cc, pw(addf)))
//!   inp_view(A = %A[i, k] : memref<4x100xf32>, B = %B[k, j] : memref<100x16xf32>)
//!   // register {i: 4, k: *}, simd {j: 16}; order: [register.k, register.i, simd.j]
//! // becomes
//! %sums:4 = scf.for %k = %c0 to %c100 step %c1 iter_args(..) -> (vector<16xf32>, ..) {
//!   %b = vector.load %B[%k, %c0] : memref<100x16xf32>, vector<16xf32>
//!   %a0 = memref.load %A[%c0, %k] : memref<4x100xf32>
//!   ..
//! }
//! vector.store %sums#0, %C[%c0, %c0] : memref<4x16xf32>, vector<16xf32>
//! ```
//!
//! Partial results are in registers: they are what the loops carry. Dimensions that do not fill
//! their block are masked: lanes by vector masks, unrolled rows by reading a row that is there
//! and not storing. What has no form on vectors is left to `mdh-lower-to-loops`, with a remark.

mod access;
mod fold;
mod lanes;
mod leaf;
mod repeat;

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::pass::{Options, Pass, emit_all};

use crate::builder::Builder;
use crate::region;
use crate::scheduled::Scheduled;
use leaf::Leaf;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-vectorize",
    description: "lower every mdh.compute whose schedule has only registers and lanes to vectors",
    operation: "builtin.module",
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &["mdh.compute"]) {
        if let Err(errors) = lower(op) {
            return emit_all(op, errors);
        }
    }
    Ok(())
}

/// Why a computation's code has no form on vectors; `None` if it has one.
fn obstacle(op: Op) -> Option<String> {
    // What is not there is combined too, and selected away: a loop might not end with it.
    if ir::combiner(op).is_some_and(lanes::has_loops) {
        return Some("its combine operator has a loop".into());
    }
    let codes = [Some(ir::region(op, 0)), ir::combiner(op)];
    codes.into_iter().flatten().find_map(lanes::obstacle)
}

/// Whether lanes make a computation faster: none of its functions is called for each lane alone.
pub fn gains(op: Op) -> bool {
    let codes = [Some(ir::region(op, 0)), ir::combiner(op)];
    obstacle(op).is_none() && !codes.into_iter().flatten().any(lanes::is_called_by_lane)
}

fn lower(op: Op) -> Result<(), Errors> {
    let Some(scheduled) = Scheduled::read(op)? else {
        return Ok(());
    };
    let loops = scheduled.loops();
    let (start, form) = scheduled.leaf(&loops);
    if start > 0 {
        let level = scheduled.total.name(loops[0].level);
        return Err(vec![format!(
            "has a schedule with the level '{level}' outside of registers: expected registers and \
             lanes only; run mdh-tile first"
        )]);
    }
    if let Some(why) = obstacle(op) {
        ir::remark_at(op, &format!("stays scalar: {why}"));
        return Ok(());
    }
    let mut builder = Builder::before(op);
    match Leaf::new(&mut builder, &scheduled, &form) {
        Some(leaf) => leaf.emit(&mut builder),
        None => {
            let why = "the points of a dimension do not lie at equal distances";
            ir::remark_at(op, &format!("stays scalar: {why}"));
            return Ok(());
        }
    }
    region::erase(op);
    Ok(())
}
