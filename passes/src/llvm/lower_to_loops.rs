//! `mdh-lower-to-loops`: an `mdh.compute` on memrefs becomes scf loops, one for each dimension. Loops
//! over tiles are `mdh-tile`'s: where a schedule has some, a remark says that it is not followed.
//!
//! ```mlir
//! func.func @matvec(%M: memref<8x5xf32>, %v: memref<5xf32>, %w: memref<8xf32>) {
//!   mdh.compute (i = 8, k = 5)
//!     out_view(w = %w[i] : memref<8xf32>)
//!     md_hom(mulf, (cc, pw(addf)))
//!     inp_view(M = %M[i, k] : memref<8x5xf32>, v = %v[k] : memref<5xf32>)
//!   return
//! }
//! // becomes
//! scf.for %i = %c0 to %c8 step %c1 {
//!   ..
//!   %sum = scf.for %k = %c0 to %c5 step %c1 iter_args(%acc = %zero) -> (f32) {
//!     %m = memref.load %M[%i, %k] : memref<8x5xf32>
//!     %x = memref.load %v[%k] : memref<5xf32>
//!     %p = arith.mulf %m, %x : f32
//!     %s = arith.addf %acc, %p fastmath<reassoc> : f32
//!     scf.yield %s : f32
//!   }
//!   memref.store %sum, %w[%i] : memref<8xf32>
//! }
//! ```
//!
//! The nest has the `cc` dimensions outermost, then `ps`, then `pw`; every combine operator's
//! function is commutative unless it combines in one dimension only, so any order of dimensions
//! gives the same result. Partial results stay in values; only several `ps` dimensions need
//! memory: for each but the innermost, one slice over the `ps` dimensions inside it, allocated
//! once before the nest.

pub(crate) mod access;
pub(crate) mod carry;
pub(crate) mod fold;
pub(crate) mod grid;
mod nest;

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;
use mdh_dialect::pass::{self, Options, Pass};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;
use mlir_sys::{mlirOperationDestroy, mlirOperationRemoveFromParent};

use crate::support::builder::Builder;
use crate::support::scheduled::Scheduled;
use nest::ComputationNest;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-lower-to-loops",
    description: "lower every mdh.compute on memrefs to scf loops",
    operation: "", // a script may lower one function
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    pass::each(module, ops::mdh::COMPUTE, lower)?;
    // Each computation held its operator itself; homs, if any are left, still need theirs.
    if ir::find_all(module, &[ops::mdh::HOM]).is_empty() {
        for combine in ir::find_all(module, &[ops::mdh::COMBINE]) {
            erase(combine);
        }
    }
    Ok(())
}

/// Erases an operation whose results nothing uses.
fn erase(op: Op) {
    // SAFETY: nothing refers to the operation, by contract.
    unsafe {
        mlirOperationRemoveFromParent(op.to_raw());
        mlirOperationDestroy(op.to_raw());
    }
}

fn lower(op: Op) -> Result<(), Errors> {
    let (parts, computation) = translate::both(op, Depth::Signatures)?;
    let is_tensor = |b: &BufferPart| {
        types::buffer_type(b.value.r#type()).is_some_and(|t| t.kind == BufferKind::Tensor)
    };
    if parts.buffers().any(is_tensor) {
        return Err(vec![
            "works on tensors: loops need memrefs; run one-shot-bufferize first".into(),
        ]);
    }
    say_not_followed(op);
    let mut builder = Builder::before(op);
    let nest = ComputationNest::new(&mut builder, op, &parts, &computation)?;
    nest.emit();
    Ok(())
}

/// Says that the loops of a schedule are not made. What `mdh-tile` leaves has none.
fn say_not_followed(op: Op) {
    let Ok(Some(scheduled)) = Scheduled::read(op) else {
        return;
    };
    let (tiles, _) = scheduled.leaf(&scheduled.loops());
    if tiles > 0 {
        let loops = if tiles == 1 { "loop" } else { "loops" };
        let text = format!(
            "has a schedule with {tiles} {loops} over tiles, which is not followed: run mdh-tile first"
        );
        ir::remark_at(op, &text);
    }
}
