//! Blocks, warps and threads of a GPU in IR: the level of a loop, and code that threads execute
//! together.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::marks::COOPERATIVE;
use mdh_dialect::ops;
use mdh_dialect::read;
use melior::ir::Type;

use crate::support::builder::Builder;
use crate::support::parallel::{self, Core};
use crate::support::region;
use crate::support::scheduled::{Loop, Scheduled};

/// The layer of the machine's blocks.
pub const BLOCK: &str = "block";
/// The layer of their warps.
pub const WARP: &str = "warp";
/// The layer of their threads: with warps, of those of each of these.
pub const THREAD: &str = "thread";

/// The level of the machine that the parts of a loop are given to.
pub fn core(of: &Scheduled, level: Loop) -> Core {
    let to = of.resolved.decompose.assign[level.level.layer][level.level.dimension];
    Core::new(of.resolved.asm.layers[to.layer].name(), to.dimension)
}

/// Returns whether an operation is inside of a loop over cores.
pub fn is_in_core(op: Op) -> bool {
    ir::ancestors(op).skip(1).any(|op| Core::read(op).is_some())
}

/// A loop of a cooperative computation is cooperative.
pub fn keep_cooperative(of: Op, new: Op) {
    if is_cooperative(of) {
        COOPERATIVE.set(new);
    }
}

/// Returns whether a computation or a loop is cooperative: done by all threads of a block.
pub fn is_cooperative(op: Op) -> bool {
    match ir::name_of(op) {
        ops::mdh::COMPUTE => read::threads(op).is_ok_and(|threads| threads.cooperative),
        _ => COOPERATIVE.is_on(op),
    }
}

/// Returns whether an operation is a kernel's, or its launch.
pub fn is_in_kernel(op: Op) -> bool {
    ir::ancestors(op).any(|op| ir::name_of(op) == ops::gpu::LAUNCH)
}

/// The first operation of the kernel that an operation is in.
pub fn start_of_kernel(op: Op) -> Option<Op> {
    let launch = ir::ancestors(op).find(|op| ir::name_of(*op) == ops::gpu::LAUNCH)?;
    ir::ops_of(region::block_of(ir::region(launch, 0)))
        .first()
        .copied()
}

/// Reads an element only if a bit says that it is there. In kernels nothing else is read: unwritten
/// memory must not be looked at.
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
            .map(|ty| builder.op(ops::ub::POISON, &[], &[*ty], &[])[0]);
        nothing.collect()
    })
}

/// Returns the number of blocks, warps or threads that a loop is for, if it is known.
pub fn parts_of(op: Op) -> Option<i64> {
    parallel::extent(op)?.known()
}

/// Returns whether the parts of a level are blocks.
pub fn is_block(core: &Core) -> bool {
    core.layer == BLOCK
}

/// Returns whether an operation is a loop over blocks.
pub fn is_of_blocks(op: Op) -> bool {
    Core::read(op).as_ref().is_some_and(is_block)
}

/// Returns whether the parts of a level are threads of a block, or warps of them.
pub fn is_of_threads(core: &Core) -> bool {
    [WARP, THREAD].contains(&core.layer.as_str())
}

/// Returns whether a nest of loops is for blocks, warps or threads: others are the processor's.
pub fn has_kernels(nest: Op) -> bool {
    let cores = ir::all(nest).into_iter().filter_map(Core::read);
    cores
        .into_iter()
        .any(|core| is_block(&core) || is_of_threads(&core))
}
