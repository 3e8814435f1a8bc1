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
//! and loops. What computes or copies there is shared out to them if it says so (`mdh.together`), or
//! done by the first one. They wait for each other where one may need what others have done, and
//! behind each wait for what they have copied asynchronously. A
//! computation on device memory outside of all blocks is a kernel of one thread.
//!
//! Memory of a block becomes the launch's shared memory, that of a thread is taken where its code
//! starts.
//!
//! The extents of a block must be known; those of the grid are known before its blocks.

pub mod align;
pub mod asynchronous;
mod effects;
mod guard;
mod integer_powers;
pub mod lanes;
mod launch;
pub mod launches;
pub mod math;
pub mod matrix;
pub mod memory;
pub mod place;
pub mod remainder;
mod split;
mod spmd;
mod warps;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, Type};

use crate::builder::Builder;
use crate::parallel::{self, Core, FORALL};
use crate::region;
use crate::scheduled::{Loop, Scheduled};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-map-kernels",
    description: "parallel loops of blocks and threads to kernels",
    operation: "builtin.module",
    options: &[],
    run,
};

/// The layer of the machine's blocks.
pub const BLOCK: &str = "block";
/// The layer of their warps.
pub const WARP: &str = "warp";
/// The layer of their threads: with warps, of those of each of these.
pub const THREAD: &str = "thread";
/// Whose memory an `memref.alloca` takes.
pub const OWNER: &str = "mdh.owner";
/// On computations and loops that all threads of a block do together, wherever they stand: not as
/// each thread's own.
pub const TOGETHER: &str = "mdh.together";

/// The level of the machine that the parts of a loop are given to.
pub fn core(of: &Scheduled, level: Loop) -> Core {
    let to = of.total.decompose.assign[level.level.layer][level.level.dimension];
    Core::new(of.total.asm.layers[to.layer].name(), to.dimension)
}

/// Whether an operation is a part of what cores do.
pub fn is_in_core(op: Op) -> bool {
    ir::ancestors(op).skip(1).any(|op| Core::of(op).is_some())
}

/// What stands for something that all threads do together, they do together.
pub fn keep_together(of: Op, new: Op) {
    if let Some(attribute) = ir::attribute(of, TOGETHER) {
        ir::set_attribute(new, TOGETHER, attribute);
    }
}

/// Whether all threads of a block do something together.
pub fn is_together(op: Op) -> bool {
    ir::attribute(op, TOGETHER).is_some()
}

/// Whether an operation is a kernel's, or its launch.
pub fn is_in_kernel(op: Op) -> bool {
    ir::ancestors(op).any(|op| ir::name_of(op) == "gpu.launch")
}

/// The first operation of the kernel that an operation is in.
pub fn start_of_kernel(op: Op) -> Option<Op> {
    let launch = ir::ancestors(op).find(|op| ir::name_of(*op) == "gpu.launch")?;
    ir::ops_of(region::block_of(ir::region(launch, 0)))
        .first()
        .copied()
}

/// Reads what is there only if a bit says so. In kernels nothing else is read: what nobody has
/// written is no memory to look at.
pub fn read_valid<'c>(
    builder: &mut Builder<'c>,
    op: Op<'c>,
    valid: Option<Val<'c>>,
    types: &[Type<'c>],
    read: impl FnOnce(&mut Builder<'c>) -> Vec<Val<'c>>,
) -> Vec<Val<'c>> {
    let Some(valid) = valid.filter(|_| is_in_kernel(op)) else {
        return read(builder);
    };
    builder.if_else(valid, types, read, |builder| {
        let nothing = types
            .iter()
            .map(|ty| builder.op("ub.poison", &[], &[*ty], &[])[0]);
        nothing.collect()
    })
}

/// How many blocks, warps or threads a loop is for, if that is known.
fn parts_of(op: Op) -> Option<i64> {
    parallel::extent(op)?.known()
}

fn is_block(core: &Core) -> bool {
    core.layer == BLOCK
}

/// Whether an operation is a loop over blocks.
fn is_of_blocks(op: Op) -> bool {
    Core::of(op).as_ref().is_some_and(is_block)
}

/// Whether the parts of a level are threads of a block, or warps of them.
fn is_of_threads(core: &Core) -> bool {
    [WARP, THREAD].contains(&core.layer.as_str())
}

/// Whether a nest of loops is for blocks, warps or threads: others are the processor's.
fn has_kernels(nest: Op) -> bool {
    let cores = ir::all(nest).into_iter().filter_map(Core::of);
    cores
        .into_iter()
        .any(|core| is_block(&core) || is_of_threads(&core))
}

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let outermost = |op: &Op| {
        let mut around = ir::ancestors(*op).skip(1);
        Core::of(*op).is_some() && !around.any(|op| Core::of(op).is_some())
    };
    // All of them now: those inside go with them.
    let mut nests = ir::find_all(module, &[FORALL]);
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
        place::move_to_device(module);
        let left = place::left_over(module);
        if left.is_empty() {
            break;
        }
        left.into_iter().for_each(launch::alone);
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
    for function in ir::find_all(module, &["func.func"]) {
        let name = ir::attribute(function, "sym_name").and_then(ir::text);
        let name = name.unwrap_or("kernel");
        let launches = ir::find_all(function, &["gpu.launch"]).into_iter();
        let unnamed = launches.filter(|op| ir::attribute(*op, "function").is_none());
        for (n, launch) in unnamed.enumerate() {
            let context = ir::context_of(launch);
            let symbol = |name: String| FlatSymbolRefAttribute::new(context, &name).into();
            ir::set_attribute(launch, "module", symbol(format!("{name}_kernels")));
            ir::set_attribute(launch, "function", symbol(format!("{name}_{n}")));
        }
    }
}
