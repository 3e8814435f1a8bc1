//! `mdh-simulate-kernels`: launches become calls of the simulator, and kernels functions that it
//! runs for each thread.
//!
//! ```mlir
//! func.func @f(%x: memref<?xf32>, %n: index) {
//!   %c1 = arith.constant 1 : index
//!   %c32 = arith.constant 32 : index
//!   gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
//!       threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
//!       workgroup(%tile: memref<32xf32, #gpu.address_space<workgroup>>) {
//!     %v = memref.load %x[%tx] : memref<?xf32>
//!     memref.store %v, %tile[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
//!     gpu.barrier
//!     gpu.terminator
//!   }
//!   return
//! }
//! // becomes
//! func.func private @f_kernel(%context: !llvm.ptr, %thread: !llvm.ptr) attributes {mdh.kernel} {
//!   .. // %x from the context, %tx from the thread, %tile in the shared memory that the thread knows
//!   %v = memref.load %x[%tx] : memref<?xf32>
//!   memref.store %v, %tile[%tx] : ..
//!   %site = llvm.mlir.addressof @mdh_site : !llvm.ptr
//!   call @mdh_sim_barrier(%thread, %site) : (!llvm.ptr, !llvm.ptr) -> ()
//!   return
//! }
//! ..
//! call @mdh_sim_launch(%f_kernel, %memory, %blocks, %threads, %bytes)
//!   : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
//! ```
//!
//! Device memory is the simulator's too: `gpu.alloc`, `gpu.dealloc`, `gpu.memcpy`.

mod copies;
mod kernel;
mod launch;
mod multiply;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::location::SourceLocation;
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::captured::c_text;
use crate::support::kernels::memory;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-simulate-kernels",
    description: "kernels to functions that the simulator of a GPU runs",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::gpu::LAUNCH]) {
        launch::lower(module, op).or_else(|errors| emit_all(op, errors))?;
    }
    for op in ir::find_all(module, &memory::OPERATIONS) {
        memory::lower(module, op, "mdh_sim").or_else(|errors| emit_all(op, errors))?;
    }
    Ok(())
}

/// The address of a text that says where an operation is.
pub(super) fn site<'c>(builder: &mut Builder<'c>, module: Op<'c>, op: Op<'c>) -> Val<'c> {
    let place = SourceLocation::from_location(op.location())
        .map_or("an unknown place".into(), |p| p.to_string());
    c_text(builder, module, "mdh_site", &place)
}
