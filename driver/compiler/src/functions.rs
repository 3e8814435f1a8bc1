//! The functions of a module.

use mdh_dialect::ir::{self, Op};
use melior::ir::RegionLike;
use melior::ir::operation::OperationLike;

/// The name that a symbol operation defines.
pub fn symbol_name<'c>(op: Op<'c>) -> &'c str {
    let name = ir::attribute(op, "sym_name").and_then(ir::text);
    name.unwrap_or_default()
}

/// Returns whether a function is more than a declaration.
pub fn has_body(function: Op) -> bool {
    ir::region(function, 0).first_block().is_some()
}

/// Returns whether a function is private: not meant to be asked for.
pub fn is_private(function: Op) -> bool {
    ir::attribute(function, "sym_visibility").and_then(ir::text) == Some("private")
}

/// The functions of a module, without those of modules in it. It need not have been verified.
pub fn functions_of(module: Op) -> Vec<Op> {
    let body = ir::only_block(ir::region(module, 0));
    let operations = body.map_or(Vec::new(), ir::ops_of).into_iter();
    operations
        .filter(|op| ir::name_of(*op) == "func.func" && op.region_count() == 1)
        .collect()
}

/// The function of a name.
pub fn function_of<'c>(module: Op<'c>, name: &str) -> Option<Op<'c>> {
    let mut functions = functions_of(module).into_iter();
    functions.find(|function| symbol_name(*function) == name)
}
