//! `mdh-align-shared-memory`: shared memory of kernels starts where several elements are accessed at
//! once.
//!
//! ```mlir
//! gpu.module @kernels {
//!   gpu.func @f() workgroup(%tile : memref<32xf32, #gpu.address_space<workgroup>>) kernel {
//!     gpu.return
//!   }
//! }
//! // becomes
//! gpu.func @f() workgroup(%tile : memref<32xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
//! ```
//!
//! `mdh-align-accesses` has relied on it, before kernels were functions.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;

use super::align_accesses::WIDEST;
use crate::support::captured::attribute;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-align-shared-memory",
    description: "shared memory of kernels starts where several elements are accessed at once",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Memory that kernels have as arguments of their own, once they are functions.
fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for kernel in ir::find_all(module, &[ops::gpu::FUNC]) {
        let count = ir::attribute(kernel, "workgroup_attributions");
        let count = count.and_then(types::scalar).map_or(0, |n| n.as_i64());
        if count > 0 {
            let texts = vec![format!("{{llvm.align = {WIDEST} : i64}}"); count as usize];
            let attributes = attribute(ir::context_of(kernel), &format!("[{}]", texts.join(", ")));
            ir::set_attribute(kernel, "workgroup_attrib_attrs", attributes);
        }
    }
    Ok(())
}
