//! `mdh-keep-loops`: nobody may take a loop away that need not end.
//!
//! ```mlir
//! func.func @collatz(%x: i64) -> i64 {
//!   %c1 = arith.constant 1 : i64
//!   %y = scf.while (%n = %x) : (i64) -> i64 {
//!     %more = arith.cmpi sgt, %n, %c1 : i64
//!     scf.condition(%more) %n : i64
//!   } do {
//!   ^bb0(%n: i64):
//!     %half = arith.shrsi %n, %c1 : i64
//!     scf.yield %half : i64
//!   }
//!   return %x : i64
//! }
//! // becomes
//! func.func private @mdh_goes_on() attributes {llvm.linkage = #llvm.linkage<internal>} {
//!   return
//! }
//! func.func @collatz(%x: i64) -> i64 {
//!   %c1 = arith.constant 1 : i64
//!   %y = scf.while (%n = %x) : (i64) -> i64 {
//!     %more = arith.cmpi sgt, %n, %c1 : i64
//!     scf.condition(%more) %n : i64
//!   } do {
//!   ^bb0(%n: i64):
//!     func.call @mdh_goes_on() : () -> ()
//!     %half = arith.shrsi %n, %c1 : i64
//!     scf.yield %half : i64
//!   }
//!   return %x : i64
//! }
//! ```
//!
//! For upstream's rewrites an operation without effects whose results nothing uses is dead, and
//! they take an `scf.while` for one whether it ends or not: a program that would not end then
//! returns something. A call is an effect. LLVM sees that the function does nothing, and keeps the
//! loop all the same, unless it can prove that it ends.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute, TypeAttribute};
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{Attribute, Block, BlockLike, Identifier, Region, RegionLike, Type};

use crate::support::builder::Builder;
use crate::support::names::fresh;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-keep-loops",
    description: "loops that need not end are not taken away",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let functions = ir::only_block(ir::region(module, 0)).map_or(Vec::new(), ir::ops_of);
    let functions = functions
        .into_iter()
        .filter(|op| ir::name_of(*op) == ops::func::FUNC);
    let loops = functions.flat_map(|function| ir::find_all(function, &[ops::scf::WHILE]));
    let mut name = None;
    for op in loops.collect::<Vec<_>>() {
        let Some(body) = ir::only_block(ir::region(op, 1)) else {
            continue;
        };
        let ops = ir::ops_of(body);
        if ops.iter().any(|op| ir::calls_nothing(*op)) {
            continue;
        }
        let name = name.get_or_insert_with(|| declare(module));
        let callee = FlatSymbolRefAttribute::new(ir::context_of(op), name).into();
        Builder::before(ops[0]).op(ops::func::CALL, &[], &[], &[("callee", callee)]);
    }
    Ok(())
}

/// Puts a function that does nothing in front, and returns its name.
fn declare(module: Op) -> String {
    let first = ir::only_block(ir::region(module, 0)).map(ir::ops_of);
    let first = first.unwrap_or_default()[0];
    let is_taken = |name: &str| ir::lookup_symbol(first, name).is_some();
    let name = fresh("mdh_goes_on", is_taken);
    let context = ir::context_of(module);
    let parse = |text: &str| {
        Attribute::parse(context, text).unwrap_or_else(|| panic!("{text} is an attribute"))
    };
    let ty = Type::parse(context, "() -> ()").unwrap_or_else(|| panic!("() -> () is a type"));
    let attributes: [(&str, Attribute); 4] = [
        ("sym_name", StringAttribute::new(context, &name).into()),
        (
            "sym_visibility",
            StringAttribute::new(context, "private").into(),
        ),
        ("function_type", TypeAttribute::new(ty).into()),
        ("llvm.linkage", parse("#llvm.linkage<internal>")),
    ];
    let attributes: Vec<_> = attributes
        .iter()
        .map(|(name, value)| (Identifier::new(context, name), *value))
        .collect();
    let location = first.location();
    let end = OperationBuilder::new(ops::func::RETURN, location).build();
    let body = Block::new(&[]);
    body.append_operation(end.unwrap_or_else(|error| panic!("cannot build func.return: {error}")));
    let region = Region::new();
    region.append_block(body);
    let function = OperationBuilder::new(ops::func::FUNC, location)
        .add_attributes(&attributes)
        .add_regions([region])
        .build()
        .unwrap_or_else(|error| panic!("cannot build func.func: {error}"));
    Builder::before(first).insert(function);
    name
}
