//! `mdh-map-kernels`: parallel loops of blocks and threads become kernels.
//!
//! ```mlir
//! func.func @f(%n: index, %blocks: index) {
//!   %c1 = arith.constant 1 : index
//!   %c128 = arith.constant 128 : index
//!   %x = gpu.alloc () : memref<1000xf32>
//!   scf.forall (%b) in (%blocks) {
//!     %i = arith.muli %b, %c128 : index
//!     scf.forall (%t) in (128) {
//!       %j = arith.addi %i, %t : index
//!       %end = arith.addi %j, %c1 : index
//!       %is_there = arith.cmpi slt, %j, %n : index
//!       scf.if %is_there {
//!         mdh.compute (k = %j to %end)
//!           out_view(y = %x[k] : memref<1000xf32>)
//!           md_hom(id, (cc))
//!           inp_view(x = %x[k] : memref<1000xf32>)
//!       }
//!     } {mapping = [#gpu.thread<x>]}
//!   } {mapping = [#gpu.block<x>]}
//!   return
//! }
//! // becomes
//! gpu.launch blocks(%b, ..) in (%g = %blocks, ..) threads(%t, ..) in (%s = %c128, ..)
//!     module(@f_kernels) function(@f_0) {
//!   ..
//!   %i = arith.muli %b, %c128 : index
//!   %j = arith.addi %i, %t : index
//!   %end = arith.addi %j, %c1 : index
//!   %is_there = arith.cmpi slt, %j, %n : index
//!   scf.if %is_there {
//!     mdh.compute (k = %j to %end) ..
//!   }
//!   gpu.terminator
//! }
//! ```
//!
//! All threads of a block go through what stands outside of its parallel loops: index arithmetic
//! and loops. What computes or copies there is shared out to them if it says so (`cooperative`), or
//! done by the first one. They wait for each other where one may need what others have done, and
//! behind each wait for what they have copied asynchronously. A
//! computation on device memory outside of all blocks is a kernel of one thread.
//!
//! Memory of a block becomes the launch's shared memory, that of a thread is taken where its code
//! starts.
//!
//! The extents of a block must be known; those of the grid are known before its blocks.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use melior::ir::Location;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationLike;

use super::place_on_device;
use crate::support::kernels::cores::has_kernels;
use crate::support::kernels::{launch, split};
use crate::support::parallel::{self, Core, FORALL};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-map-kernels",
    description: "parallel loops of blocks and threads to kernels",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let outermost = |op: &Op| {
        let mut around = ir::ancestors(*op).skip(1);
        Core::read(*op).is_some() && !around.any(|op| Core::read(op).is_some())
    };
    // All of them now: those inside go with them.
    let mut nests = ir::find_all(module, &[FORALL]);
    let is_several = |op: &&Op| parallel::is_mapped(**op) && Core::read(**op).is_none();
    for op in nests.iter().filter(is_several) {
        ir::remark_at(
            *op,
            "becomes no kernel: it has several variables, expected one",
        );
    }
    nests.retain(outermost);
    let (nests, others): (Vec<Op>, Vec<Op>) = nests.into_iter().partition(|op| has_kernels(*op));
    for op in others {
        let text = "becomes no kernel: expected loops over 'block', 'warp' or 'thread' in it";
        ir::remark_at(op, text);
    }
    for op in nests {
        // What is refused half-way is not there any more.
        let location = op.location();
        let parts = split::lower(op).map_err(|errors| refuse(location, errors))?;
        for part in parts {
            launch::lower(part).map_err(|errors| refuse(location, errors))?;
        }
    }
    // What a kernel leaves in memory of the device is for kernels too.
    loop {
        place_on_device::move_to_device(module);
        let left = place_on_device::left_over(module);
        if left.is_empty() {
            break;
        }
        for op in left {
            launch::alone(op).or_else(|errors| emit_all(op, errors))?;
        }
    }
    name_all(module);
    Ok(())
}

/// Emits why there is no kernel: it is what the schedule asks for.
fn refuse(location: Location, errors: Errors) -> Errors {
    for error in errors {
        let message = format!("a computation has a schedule whose kernel {error}");
        ir::error_in(location, &message);
    }
    Vec::new()
}

/// Kernels of a function are `<function>_0`, `<function>_1`, .. of one module, `<function>_kernels`.
fn name_all(module: Op) {
    for function in ir::find_all(module, &[ops::func::FUNC]) {
        let name = ir::attribute(function, "sym_name").and_then(ir::text);
        let name = name.unwrap_or("kernel");
        let launches = ir::find_all(function, &[ops::gpu::LAUNCH]).into_iter();
        let unnamed = launches.filter(|op| ir::attribute(*op, "function").is_none());
        for (n, launch) in unnamed.enumerate() {
            let context = ir::context_of(launch);
            let symbol = |name: String| FlatSymbolRefAttribute::new(context, &name).into();
            ir::set_attribute(launch, "module", symbol(format!("{name}_kernels")));
            ir::set_attribute(launch, "function", symbol(format!("{name}_{n}")));
        }
    }
}
