//! `mdh-fuse`: producers move into their consumers where nothing is computed twice; of every
//! producer that stays, a remark says why.
//!
//! It is in no pipeline. Compilation fuses in `canonicalize/producer.rs` where this costs nothing, and chains of large
//! computations through caches in `tile/schedule/chains.rs`.
//!
//! ```mlir
//! func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   %y = mdh.compute (i = 8)
//!     out_view(y = %init[i] : tensor<8xf32>)
//!     md_hom(mulf, (cc))
//!     inp_view(a = %a[i] : tensor<8xf32>, b = %b[i] : tensor<8xf32>)
//!   %w = mdh.compute (i = 8)
//!     out_view(w = %init[i] : tensor<8xf32>)
//!     md_hom(addf, (cc))
//!     inp_view(y = %y[7 - i] : tensor<8xf32>, c = %a[i] : tensor<8xf32>)
//!   return %w : tensor<8xf32>
//! }
//! // becomes
//! func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   %w = mdh.compute (i = 8)
//!     out_view(w = %init[i] : tensor<8xf32>)
//!     md_hom((%x: f32, %y: f32, %z: f32) {
//!       %p = arith.mulf %x, %y : f32
//!       %s = arith.addf %p, %z : f32
//!       mdh.yield %s : f32
//!     }, (cc))
//!     inp_view(a = %a[7 - i] : tensor<8xf32>, b = %b[7 - i] : tensor<8xf32>, c = %a[i] : tensor<8xf32>)
//!   return %w : tensor<8xf32>
//! }
//! ```
//!
//! `canonicalize` fuses too, silently.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};

use crate::support::draft::{self, Rewriter};
use crate::support::fusion;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-fuse",
    description: "move producers into consumers where nothing is computed twice; say why not",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    while ir::find_all(module, &[ops::mdh::COMPUTE])
        .into_iter()
        .any(fuse)
    {}
    for consumer in ir::find_all(module, &[ops::mdh::COMPUTE]) {
        explain(consumer);
    }
    Ok(())
}

/// Moves one producer into the consumer, if there is one.
fn fuse(consumer: Op) -> bool {
    let Some(parts) = draft::parts(consumer) else {
        return false;
    };
    let plan = (0..parts.inputs.len()).find_map(|input| {
        let producer = fusion::producer(&parts.inputs[input])?;
        fusion::plan(consumer, &parts, input, producer).ok()
    });
    plan.is_some_and(|plan| plan.apply(consumer, parts, Rewriter::Direct))
}

fn explain(consumer: Op) {
    let Some(parts) = draft::parts(consumer) else {
        return;
    };
    for (number, input) in parts.inputs.iter().enumerate() {
        let Some(producer) = fusion::producer(input) else {
            continue;
        };
        let why = match fusion::plan(consumer, &parts, number, producer) {
            Err(why) => why,
            Ok(_) => "the result would break a rule".into(),
        };
        let name = &input.name;
        ir::remark_at(
            consumer,
            &format!("input '{name}' is not fused with its producer: {why}"),
        );
    }
}
