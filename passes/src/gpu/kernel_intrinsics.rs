//! `mdh-kernel-intrinsics`: functions that a device computes itself, in kernels, become calls of LLVM's
//! intrinsics; the number of a thread's warp becomes arithmetic.
//!
//! ```mlir
//! func.func @f(%x: memref<32xf32>, %n: index) {
//!   %c1 = arith.constant 1 : index
//!   gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
//!       threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
//!     %x_t = memref.load %x[%tx] : memref<32xf32>
//!     %y = math.sqrt %x_t : f32
//!     memref.store %y, %x[%tx] : memref<32xf32>
//!     gpu.terminator
//!   }
//!   return
//! }
//! // becomes
//! %x_t = memref.load %x[%tx] : memref<32xf32>
//! %y = llvm.call_intrinsic "llvm.sqrt"(%x_t) : (f32) -> f32
//! memref.store %y, %x[%tx] : memref<32xf32>
//! ```

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_schedule::asm::facts::WARP;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, ValueLike};

use crate::support::builder::Builder;
use crate::support::captured::attribute;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-kernel-intrinsics",
    description: "functions of math that a device computes itself to calls of LLVM's, warps' numbers to arithmetic",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// LLVM's functions; upstream takes those of a library of the device instead.
const INTRINSICS: [(&str, &str); 9] = [
    (ops::math::ABSF, "llvm.fabs"),
    (ops::math::CEIL, "llvm.ceil"),
    (ops::math::COPYSIGN, "llvm.copysign"),
    (ops::math::FLOOR, "llvm.floor"),
    (ops::math::FMA, "llvm.fma"),
    (ops::math::ROUND, "llvm.round"),
    (ops::math::ROUNDEVEN, "llvm.roundeven"),
    (ops::math::SQRT, "llvm.sqrt"),
    (ops::math::TRUNC, ops::llvm::TRUNC),
];

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for launch in ir::find_all(module, &[ops::gpu::LAUNCH]) {
        for op in ir::all(launch) {
            let name = ir::name_of(op);
            let Some((_, of_llvm)) = INTRINSICS.iter().find(|(known, _)| *known == name) else {
                continue;
            };
            if let Some(result) = ir::result(op, 0) {
                let mut builder = Builder::before(op);
                let operands: Vec<Val> = op.operands().map(ir::value).collect();
                let context = builder.context;
                let segments = format!("array<i32: {}, 0>", operands.len());
                let attributes = [
                    ("intrin", attribute(context, &format!("{of_llvm:?}"))),
                    ("op_bundle_sizes", attribute(context, "array<i32>")),
                    ("operandSegmentSizes", attribute(context, &segments)),
                ];
                let ty = result.r#type();
                let call = builder.op(ops::llvm::CALL_INTRINSIC, &operands, &[ty], &attributes);
                region::replace_all_uses(result, call[0]);
                region::erase(op);
            }
        }
        for op in ir::find_all(launch, &[ops::gpu::SUBGROUP_ID]) {
            warp(op);
        }
    }
    Ok(())
}

/// The number of a thread's warp, from its place in the block: upstream has no lowering for it.
fn warp(op: Op) {
    let mut builder = Builder::before(op);
    let index = Type::index(builder.context);
    let mut place = |what: &str, axis: &str| {
        let axis = attribute(builder.context, &format!("#gpu<dim {axis}>"));
        builder.op(what, &[], &[index], &[("dimension", axis)])[0]
    };
    let [x, y, z] = ["x", "y", "z"].map(|axis| place(ops::gpu::THREAD_ID, axis));
    let [width, height] = ["x", "y"].map(|axis| place(ops::gpu::BLOCK_DIM, axis));
    let rows = builder.binary(ops::arith::MULI, z, height);
    let rows = builder.binary(ops::arith::ADDI, rows, y);
    let before = builder.binary(ops::arith::MULI, rows, width);
    let thread = builder.binary(ops::arith::ADDI, before, x);
    let lanes = builder.index(WARP);
    let warp = builder.binary(ops::arith::DIVUI, thread, lanes);
    if let Some(result) = ir::result(op, 0) {
        region::replace_all_uses(result, warp);
    }
    region::erase(op);
}
