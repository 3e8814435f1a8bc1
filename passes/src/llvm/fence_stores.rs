//! `mdh-fence-stores`: a function's non-temporal stores are visible to other threads when it
//! returns, and when it hands work to them.
//!
//! ```mlir
//! func.func @f(%v: vector<16xf32>, %y: memref<64xf32>) {
//!   %c0 = arith.constant 0 : index
//!   vector.store %v, %y[%c0] {alignment = 64, nontemporal = true} : memref<64xf32>, vector<16xf32>
//!   return
//! }
//! // becomes
//! func.func @f(%v: vector<16xf32>, %y: memref<64xf32>) {
//!   %c0 = arith.constant 0 : index
//!   vector.store %v, %y[%c0] {alignment = 64, nontemporal = true} : memref<64xf32>, vector<16xf32>
//!   llvm.fence seq_cst
//!   return
//! }
//! ```
//!
//! The processor keeps other stores in order, so that a thread which sees that another one is done
//! sees its results too; of non-temporal stores it does not, nor does LLVM add what is missing.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::attribute::{BoolAttribute, IntegerAttribute};

use crate::support::builder::Builder;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-fence-stores",
    description: "fences after non-temporal stores, before others may look",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// `seq_cst` among LLVM's orderings.
const SEQUENTIAL: i64 = 7;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for function in ir::find_all(module, &[ops::func::FUNC]) {
        let stores = ir::find_all(function, &[ops::vector::STORE, ops::memref::STORE]);
        if !stores.into_iter().any(is_streamed) {
            continue;
        }
        let ends = ir::find_all(function, &[ops::func::RETURN, ops::func::CALL]);
        for end in ends.into_iter().filter(|end| !ir::calls_nothing(*end)) {
            let mut builder = Builder::before(end);
            let i64_type = types::mlir_type(builder.context, ScalarType::I64);
            let ordering = IntegerAttribute::new(i64_type, SEQUENTIAL).into();
            builder.op(ops::llvm::FENCE, &[], &[], &[("ordering", ordering)]);
        }
    }
    Ok(())
}

fn is_streamed(store: Op) -> bool {
    let attribute = ir::attribute(store, "nontemporal");
    let attribute = attribute.and_then(|a| BoolAttribute::try_from(a).ok());
    attribute.is_some_and(|a| a.value())
}
