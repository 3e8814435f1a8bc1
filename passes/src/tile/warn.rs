//! `mdh-warn`: warns of computations that are slow, or sum up `i1`, with advice.
//!
//! ```mlir
//! func.func @attention(%s: memref<512x512xf32>, %v: memref<512x64xf32>, %o: memref<512x64xf32>) {
//!   mdh.compute (q = 512, j = 64, k = 512)
//!       out_view(o = %o[q, j] : memref<512x64xf32>)
//!       md_hom((%s_qk: f32, %v_kj: f32) {
//!         %e = math.exp %s_qk : f32
//!         %p = arith.mulf %e, %v_kj : f32
//!         mdh.yield %p : f32
//!       }, (cc, cc, pw(addf)))
//!       inp_view(s = %s[q, k] : memref<512x512xf32>, v = %v[k, j] : memref<512x64xf32>)
//!   return
//! }
//! // becomes the same, and a warning
//! warning: .. 'math.exp' ..
//! ```
//!
//! It comes after the schedules, and changes nothing; [`mdh_schedule::warnings`] decides. The
//! options name the machine.

use std::collections::HashSet;

use mdh_algebra::computation::Computation;
use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::schedule;
use mdh_dialect::translate::{self, Depth};
use mdh_schedule::asm::Asm;
use mdh_schedule::{Schedule, warnings};
use melior::ir::operation::OperationLike;

use crate::support::machine;
use crate::tile;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-warn",
    description: "warn about schedules and scalar functions that are slow, and sums of i1",
    operation: ops::builtin::MODULE,
    options: tile::schedule::OPTIONS,
    run,
};

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let asm = machine::from_options(options)?;
    let mut said = Said::new();
    for op in ir::find_all(module, &[ops::mdh::COMPUTE]) {
        if let Ok(computation) = translate::compute(op, Depth::Code) {
            let schedule = schedule::read(op)?;
            warn((op, &computation), schedule.as_ref(), &asm, &mut said);
        }
    }
    Ok(())
}

/// Warnings that were said, each with its place: what was one operation has one, and is warned of once.
pub type Said = HashSet<(String, String)>;

/// Emits the warnings about an operation that is this computation with that schedule.
pub fn warn(
    (op, computation): (Op, &Computation),
    schedule: Option<&Schedule>,
    asm: &Asm,
    said: &mut Said,
) {
    for warning in warnings(computation, schedule, asm) {
        if said.insert((op.location().to_string(), warning.message.clone())) {
            ir::warning_at(op, &warning.message);
        }
    }
}
