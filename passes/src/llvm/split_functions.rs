//! `mdh-split-functions`: loop nests of a long function become functions of their own.
//!
//! ```mlir
//! // mdh-opt nests.mlir --mdh-split-functions
//! func.func private @f_nest_0(%v: f32, %x: memref<8xf32>) attributes {passthrough = ["noinline"]} {
//!   ..
//!   scf.for %i = %c0 to %c8 step %c1 {
//!     memref.store %v, %x[%i] : memref<8xf32>
//!   }
//!   return
//! }
//! ..
//! func.func @f(%y: memref<8xf32>, %w: f32) {
//!   ..
//!   call @f_nest_0(%w, %y) : (f32, memref<8xf32>) -> ()
//! ```
//!
//! Some of LLVM's passes look at all loops of a function for each of them. A call costs nanoseconds.

use mdh_dialect::ops;
use std::collections::HashSet;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use melior::ir::operation::OperationLike;
use melior::ir::{Block, BlockLike, Region, RegionLike, Type, ValueLike};
use mlir_sys::{mlirBlockAppendOwnedOperation, mlirOperationRemoveFromParent};

use crate::support::builder::Builder;
use crate::support::captured::{attribute, call_function, constants_inside, insert_function};
use crate::support::draft::results;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-split-functions",
    description: "loop nests of functions that have many to functions of their own",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// The most nests that stay.
const MOST: usize = 32;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let named = |op: &Op<'_>| {
        ir::attribute(*op, "sym_name")
            .and_then(ir::text)
            .map(str::to_owned)
    };
    let mut taken: Option<HashSet<String>> = None;
    for function in ir::find_all(module, &[ops::func::FUNC]) {
        let Some(block) = ir::only_block(ir::region(function, 0)) else {
            say_stays(function);
            continue;
        };
        let is_nest = |op: &Op| ir::name_of(*op) == ops::scf::FOR;
        let nests: Vec<Op> = ir::ops_of(block).into_iter().filter(is_nest).collect();
        if nests.len() <= MOST {
            continue;
        }
        let taken = taken.get_or_insert_with(|| ir::all(module).iter().filter_map(named).collect());
        let base = named(&function).unwrap_or_default();
        let mut names = (0..).map(|n| format!("{base}_nest_{n}"));
        for nest in nests {
            if let Some(name) = names.find(|name| taken.insert(name.clone())) {
                outline(function, nest, &name);
            }
        }
    }
    Ok(())
}

/// Remarks that a function of many nests keeps them: code of several blocks may go through any of
/// them any number of times.
fn say_stays(function: Op) {
    let mut nests = ir::find_all(function, &[ops::scf::FOR]);
    nests.retain(|op| ir::parent(*op) == Some(function));
    if nests.len() > MOST {
        let text = format!(
            "keeps its {} loop nests, which takes long to compile: it has several blocks, expected one",
            nests.len()
        );
        ir::remark_at(function, &text);
    }
}

/// Makes a nest the body of a function of what it uses, and calls that. What the nest carries out of
/// its loops is what the function returns.
fn outline<'c>(function: Op<'c>, nest: Op<'c>, name: &str) {
    let (context, location) = (ir::context_of(nest), nest.location());
    let next = nest.next_in_block().map(|op| ir::op(&op));
    let mut builder = Builder::before(next.unwrap_or(nest));
    builder.location = location;
    let body = Region::new();
    let block = body.append_block(Block::new(&[]));
    // SAFETY: the nest leaves its block for the new one.
    let block = unsafe {
        mlirOperationRemoveFromParent(nest.to_raw());
        mlirBlockAppendOwnedOperation(block.to_raw(), nest.to_raw());
        melior::ir::BlockRef::from_raw(block.to_raw())
    };
    constants_inside(&body, block);
    let captured: Vec<Val> = region::captured(&body);
    for value in &captured {
        let argument = region::add_argument(block, value.r#type(), location);
        region::replace_inside(&body, *value, argument);
    }
    let carried = results(nest);
    let types: Vec<Type> = carried.iter().map(|v| v.r#type()).collect();
    let called = call_function(&mut builder, name, &captured, &types);
    for (inside, outside) in carried.iter().zip(called) {
        region::replace_all_uses(*inside, outside);
    }
    region::end_with(block, location, ops::func::RETURN, &carried);
    let signature = format!("({}) -> ({})", listed(&captured), listed(&carried));
    let made = insert_function(function, name, &signature, body);
    let noinline = attribute(context, "[\"noinline\"]");
    ir::set_attribute(made, "passthrough", noinline);
}

/// The types of values, in a list.
fn listed(values: &[Val]) -> String {
    let types: Vec<String> = values.iter().map(|v| v.r#type().to_string()).collect();
    types.join(", ")
}
