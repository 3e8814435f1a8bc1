//! `mdh-order-constants`: constants in memory have the order of their uses, and are numbered by it.
//!
//! ```mlir
//! memref.global "private" constant @__constant_2xi32_5 : memref<2xi32> = dense<9>
//! memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<7>
//! func.func @both() -> (memref<2xi32>, memref<2xi32>) {
//!   %x = memref.get_global @__constant_2xi32 : memref<2xi32>
//!   %y = memref.get_global @__constant_2xi32_5 : memref<2xi32>
//!   return %x, %y : memref<2xi32>, memref<2xi32>
//! }
//! // becomes
//! memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<7>
//! memref.global "private" constant @__constant_2xi32_0 : memref<2xi32> = dense<9>
//! func.func @both() -> (memref<2xi32>, memref<2xi32>) {
//!   %x = memref.get_global @__constant_2xi32 : memref<2xi32>
//!   %y = memref.get_global @__constant_2xi32_0 : memref<2xi32>
//!   return %x, %y : memref<2xi32>, memref<2xi32>
//! }
//! ```
//!
//! Upstream's bufferization goes through functions in an order that depends on where they stand in memory, and
//! numbers the constants of all of them on its way. Without this, one program would become different code each time
//! that it is compiled.

use std::collections::{HashMap, HashSet};

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute};
use melior::ir::operation::OperationLike;
use mlir_sys::mlirOperationMoveBefore;

use crate::support::builder::Builder;
use crate::support::region;

/// Beginning of the names that upstream gives.
const PREFIX: &str = "__constant_";

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-order-constants",
    description: "constants in memory in the order of their uses",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let block = region::block_of(ir::region(module, 0));
    let ops = ir::ops_of(block);
    let named = ops.iter().filter_map(|op| {
        let name = ir::attribute(*op, "sym_name").and_then(ir::text);
        Some((name?, *op))
    });
    // What is in a module of its own has its own constants.
    let modules = [ops::builtin::MODULE, ops::gpu::MODULE];
    let code = ops
        .iter()
        .filter(|op| !modules.contains(&ir::name_of(**op)));
    let users: Vec<Op> = code
        .flat_map(|op| ir::find_all(*op, &[ops::memref::GET_GLOBAL]))
        .collect();
    let used: HashSet<&str> = users.iter().filter_map(|user| used_by(*user)).collect();
    let (made, others): (Vec<_>, Vec<_>) =
        named.partition(|(name, op)| is_made(name, *op) && used.contains(name));
    let made: HashMap<&str, Op> = made.into_iter().collect();
    let mut taken: HashSet<String> = others
        .into_iter()
        .map(|(name, _)| name.to_owned())
        .collect();
    let mut renamed: HashMap<&str, String> = HashMap::new();
    let Some(start) = ops.first().filter(|_| !made.is_empty()) else {
        return Ok(());
    };
    let start = Builder::before(*start).marker();
    for user in users {
        let Some((old, constant)) = used_by(user).and_then(|old| Some((old, made.get(old)?)))
        else {
            continue;
        };
        let new = renamed.entry(old).or_insert_with(|| {
            // SAFETY: both stand in the module's block.
            unsafe { mlirOperationMoveBefore(constant.to_raw(), start.to_raw()) };
            let new = free(old, &taken);
            taken.insert(new.clone());
            let name = StringAttribute::new(ir::context_of(module), &new);
            ir::set_attribute(*constant, "sym_name", name.into());
            new
        });
        let name = FlatSymbolRefAttribute::new(ir::context_of(module), new);
        ir::set_attribute(user, "name", name.into());
    }
    region::erase(start);
    Ok(())
}

fn used_by<'c>(user: Op<'c>) -> Option<&'c str> {
    ir::attribute(user, "name").and_then(ir::symbol)
}

/// Returns whether a symbol is a constant of upstream's that nobody else knows.
fn is_made(name: &str, op: Op) -> bool {
    let visibility = ir::attribute(op, "sym_visibility").and_then(ir::text);
    ir::name_of(op) == ops::memref::GLOBAL
        && name.starts_with(PREFIX)
        && visibility == Some("private")
}

/// The name of a constant without its number, or with the first that is free.
fn free(old: &str, taken: &HashSet<String>) -> String {
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let base = old.rsplit_once('_').filter(|(_, end)| is_number(end));
    let base = base.map_or(old, |(base, _)| base);
    let numbered = (0..).map(|n| format!("{base}_{n}"));
    let mut names = std::iter::once(base.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name));
    free.unwrap_or_else(|| panic!("one of all numbers is free"))
}
