//! `mdh-simulate-kernels`: launches become calls of the simulator, and kernels functions that it
//! runs for each thread.
//!
//! ```mlir
//! gpu.launch blocks(%bx, ..) in (%gx = %n, ..) threads(%tx, ..) in (%sx = %c32, ..)
//!     workgroup(%tile: memref<32xf32, #gpu.address_space<workgroup>>) {
//!   "use"(%x, %tile, %tx) : (..) -> ()
//!   gpu.barrier
//!   gpu.terminator
//! }
//! // becomes
//! func.func private @f_kernel(%context: !llvm.ptr, %thread: !llvm.ptr) attributes {mdh.kernel} {
//!   %x = .. // from the context
//!   %tx = .. // from the thread
//!   %tile = .. // in the block's shared memory, which the thread knows
//!   "use"(%x, %tile, %tx) : (..) -> ()
//!   call @mdh_sim_barrier(%thread, %site) : (!llvm.ptr, !llvm.ptr) -> ()
//!   return
//! }
//! ..
//! call @mdh_sim_launch(%f_kernel, %context, %blocks, %threads, %bytes) : (..) -> ()
//! ```
//!
//! Device memory is the simulator's too: `gpu.alloc`, `gpu.dealloc`, `gpu.memcpy`.

mod device;
mod kernel;
mod launch;
pub mod watch;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::location::Place;
use mdh_dialect::pass::{Options, Pass, emit_all};
use melior::ir::attribute::{StringAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Region};

use crate::builder::Builder;
use crate::captured::{attribute, parse};
use crate::names::fresh;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-simulate-kernels",
    description: "kernels to functions that the simulator of a GPU runs",
    operation: "builtin.module",
    options: &[],
    run,
};

/// What marks a function as a kernel.
pub const KERNEL: &str = "mdh.kernel";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &["gpu.launch"]) {
        launch::lower(module, op).or_else(|errors| emit_all(op, errors))?;
    }
    for op in ir::find_all(module, &["gpu.alloc", "gpu.dealloc", "gpu.memcpy"]) {
        device::lower(module, op).or_else(|errors| emit_all(op, errors))?;
    }
    Ok(())
}

/// The address of a text that says where an operation is.
fn site<'c>(builder: &mut Builder<'c>, module: Op<'c>, op: Op<'c>) -> Val<'c> {
    let place = Place::of(op.location()).map_or("an unknown place".into(), |p| p.to_string());
    let text = format!("{place}\0");
    let context = builder.context;
    let value: Attribute = StringAttribute::new(context, &text).into();
    let globals = ir::only_block(ir::region(module, 0)).map_or(Vec::new(), ir::ops_of);
    let same = |global: &&Op| {
        ir::name_of(**global) == "llvm.mlir.global"
            && ir::attribute(**global, "value") == Some(value)
    };
    let known = globals.iter().find(same);
    let known = known.and_then(|op| ir::attribute(*op, "sym_name").and_then(ir::text));
    let name = match known {
        Some(name) => name.to_string(),
        None => {
            let first = globals.first().copied().unwrap_or(op);
            let taken = |name: &str| ir::lookup_symbol(first, name).is_some();
            let name = fresh("mdh_site", taken);
            let ty = parse(context, &format!("!llvm.array<{} x i8>", text.len()));
            Builder::before(first).build(
                "llvm.mlir.global",
                &[],
                &[],
                &[
                    ("global_type", TypeAttribute::new(ty).into()),
                    ("sym_name", StringAttribute::new(context, &name).into()),
                    ("linkage", attribute(context, "#llvm.linkage<internal>")),
                    ("constant", Attribute::unit(context)),
                    ("value", value),
                    ("addr_space", attribute(context, "0 : i32")),
                ],
                vec![Region::new()],
            );
            name
        }
    };
    let symbol = attribute(context, &format!("@{name}"));
    let pointer = parse(context, "!llvm.ptr");
    builder.op(
        "llvm.mlir.addressof",
        &[],
        &[pointer],
        &[("global_name", symbol)],
    )[0]
}
