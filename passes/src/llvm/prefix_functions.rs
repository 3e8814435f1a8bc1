//! `mdh-prefix-functions`: functions get names that no library has.
//!
//! ```mlir
//! func.func @exp(%x: f64) -> f64 {
//!   %y = math.exp %x : f64
//!   return %y : f64
//! }
//! // becomes
//! func.func @mdh.exp(%x: f64) -> f64 {
//!   %y = math.exp %x : f64
//!   return %y : f64
//! }
//! ```
//!
//! Code that is generated later calls functions of the C library by name (`exp`, `malloc`,
//! `memcpy`): a program's own function of that name would be called in its place. What has no
//! body keeps its name, by which it is found elsewhere. For programs that are run; in one that is
//! printed a name is what its author wants.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::RegionLike;
use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute};

/// Prefix of a function's name after the pass.
pub const PREFIX: &str = "mdh.";

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-prefix-functions",
    description: "names of functions that no library has",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let context = ir::context_of(module);
    let body = ir::only_block(ir::region(module, 0));
    let functions = body.map_or(Vec::new(), ir::ops_of).into_iter();
    let functions = functions
        .filter(|op| ir::name_of(*op) == ops::func::FUNC)
        .filter(|op| ir::region(*op, 0).first_block().is_some());
    let mut renamed = std::collections::HashSet::new();
    for function in functions {
        if let Some(name) = ir::attribute(function, "sym_name").and_then(ir::text) {
            let prefixed = StringAttribute::new(context, &format!("{PREFIX}{name}"));
            ir::set_attribute(function, "sym_name", prefixed.into());
            renamed.insert(name);
        }
    }
    for (op, attribute) in [(ops::func::CALL, "callee"), (ops::func::CONSTANT, "value")] {
        for user in ir::find_all(module, &[op]) {
            let name = ir::attribute(user, attribute).and_then(ir::symbol);
            if let Some(name) = name.filter(|name| renamed.contains(name)) {
                let prefixed = FlatSymbolRefAttribute::new(context, &format!("{PREFIX}{name}"));
                ir::set_attribute(user, attribute, prefixed.into());
            }
        }
    }
    Ok(())
}
