//! `mdh-raise-linalg`: operations of linalg become computations.
//!
//! ```mlir
//! func.func @product(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>)
//!     -> tensor<64x48xf32> {
//!   %d = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
//!                      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
//!   return %d : tensor<64x48xf32>
//! }
//! // becomes
//! func.func @product(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>)
//!     -> tensor<64x48xf32> {
//!   %d = mdh.compute (i = 64, j = 48, k = 32)
//!     out_view(out = %c[i, j] : tensor<64x48xf32>)
//!     md_hom(mulf, (cc, cc, pw(addf)))
//!     inp_view(in = %a[i, k] : tensor<64x32xf32>, in_1 = %b[k, j] : tensor<32x48xf32>)
//!     carry k (out_before = %c[i, j] : tensor<64x48xf32>)
//!   return %d : tensor<64x48xf32>
//! }
//! ```
//!
//! All operations with linalg's interface have maps and a body, so that named ones are read as
//! `linalg.generic` is. Loops that index a destination are kept; over the others the body
//! accumulates, by an operator that is found in it ([`accumulate`]). What a destination holds is
//! carried in, unless it is filled with the operator's neutral element. Coupled accumulators, as of an
//! arg-max, have an operator on tuples, and so have a largest exponent and sums that it rescales ([`rescaled`]).
//! What a body extracts at indices of its loops is an input. An operator that is not known
//! to be associative is taken where `mdh.associative` stands on the operation, or with the option
//! `associative`, which says so of all of them; a law that is known not to hold is granted with a remark.
//! With a digest, which `mdh-to-linalg` writes, it is granted to the operator that has it ([`told`]).
//!
//! What stays as it is has a remark with the rule that it does not follow.

mod accumulate;
mod accumulators;
mod best_two;
mod body;
mod combining;
mod compute;
pub(crate) mod extents;
mod extracted;
pub(crate) mod loops;
mod masked_choices;
mod masks;
mod memory;
mod naming;
pub(crate) mod operators;
mod options;
mod parts;
mod places;
mod ranked;
mod relayout;
mod rescaled;
mod rounded;
pub(crate) mod selection;
mod shapes;
mod softmax;
mod steps;
pub(crate) mod told;
mod tried;
mod views;

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::upstream;
use options::{Checks, Licence};

use crate::checks::insert_range_checks::reshapes;
use crate::support::index_arith;

pub use loops::names;
pub use selection::declares_numbers;
pub use views::{linalg_destinations, of_loops};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-raise-linalg",
    description: "operations of linalg to mdh.compute",
    operation: ops::builtin::MODULE,
    options: &[
        (
            "associative",
            "take operators that are not known to be associative for associative",
            "false",
        ),
        (
            "checks",
            "assert at run time that extents of operands fit, where that is not known",
            "false",
        ),
    ],
    run,
};

/// Iterations from which on a remark names their number.
const LARGE: i64 = 1 << 20;

/// Replaces the transformations of Winograd's convolution, which have no loops over elements, by what
/// upstream makes of them: products of matrices in loops.
fn decompose(module: Op) {
    let transformations = [
        ops::linalg::WINOGRAD_FILTER_TRANSFORM,
        ops::linalg::WINOGRAD_INPUT_TRANSFORM,
        ops::linalg::WINOGRAD_OUTPUT_TRANSFORM,
    ];
    for op in ir::find_all(module, &transformations) {
        if !upstream::decompose(op) {
            let name = ir::name_of(op);
            let text =
                format!("'{name}' op stays as it is: upstream decomposes none of such sizes");
            ir::remark_at(op, &text);
        }
    }
}

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let associative = options.flag("associative")?;
    let checks = match options.flag("checks")? {
        true => Checks::On,
        false => Checks::Off,
    };
    reshapes::refuse(module)?;
    let written = ir::find_all(module, &[ops::mdh::COMPUTE]);
    decompose(module);
    index_arith::replace(module);
    memory::mark_aliasing(module);
    // From the last one: what a destination is filled with is seen as it was written.
    let mut ops = ir::all(module);
    ops.retain(|op| ir::name_of(*op).starts_with("linalg."));
    let mut gone: Vec<Op> = Vec::new();
    for op in ops.into_iter().rev() {
        if gone.contains(&op) {
            continue;
        }
        let raised = match ir::name_of(op) {
            ops::linalg::YIELD | ops::linalg::INDEX => continue,
            ops::linalg::FILL if accumulators::is_view(op) => continue,
            ops::linalg::PACK | ops::linalg::UNPACK | ops::linalg::SOFTMAX => {
                relayout::raise(op, checks).map(|()| Vec::new())
            }
            _ => compute::raise(op, Licence::new(op, associative), checks),
        };
        match raised {
            Ok(replaced) => gone.extend(replaced),
            Err(rule) => {
                let name = ir::name_of(op);
                let cost = loops::iterations(op).filter(|n| *n >= LARGE);
                let cost = cost.map_or(String::new(), |n| {
                    format!("; its {n} iterations run as plain loops, on one core")
                });
                ir::remark_at(op, &format!("'{name}' op stays as it is: {rule}{cost}"));
            }
        }
    }
    shapes::raise(module);
    naming::distinguish(module, &written);
    Ok(())
}
