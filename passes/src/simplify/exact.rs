//! `mdh-exact`: integers of the same width in the place of floats, for checks without a tolerance.
//!
//! ```mlir
//! func.func @scale(%x: f32, %y: f64) -> (f64, i1) {
//!   %two = arith.constant 2.0 : f32
//!   %p = arith.mulf %x, %two : f32
//!   %w = arith.extf %p : f32 to f64
//!   %s = arith.addf %w, %y : f64
//!   %c = arith.cmpf olt, %s, %y : f64
//!   return %s, %c : f64, i1
//! }
//! // becomes
//! func.func @scale(%x: i32, %y: i64) -> (i64, i1) {
//!   %two = arith.constant 2 : i32
//!   %p = arith.muli %x, %two : i32
//!   %w = arith.extsi %p : i32 to i64
//!   %s = arith.addi %w, %y : i64
//!   %c = arith.cmpi slt, %s, %y : i64
//!   return %s, %c : i64, i1
//! }
//! ```
//!
//! [`mdh_algebra::exact`] says what becomes of each operation and of constants. Everything is retyped in
//! place: values, functions, memory, padding, built-in combine operators and neutral elements. Schedules and
//! memory stay, since widths do; but there are no instructions for products of matrices of integers. What is applied to a program as it is written is its definition in integers;
//! applied to a program that has been simplified, fused and scheduled as one of floats, it shows that all of
//! this has kept the meaning, and so does the lowering after it.
//!
//! Operations of linalg are to be generic ones before, and operations on tensors linalg
//! (`linalg-generalize-named-ops`, `convert-elementwise-to-linalg`); constants are to be folded (`sccp`), since
//! a sum of fractions is not that of the integers that stand for them.

mod code;
mod constants;
mod types;

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::schedule;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-exact",
    description: "integers of the same width in the place of floats, for exact checks",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let ops = ir::all(module);
    let mut refused = false;
    for op in ops.iter().filter(|op| types::has_floats(**op)) {
        if let Some(reason) = code::refusal(*op) {
            ir::error_at(*op, &format!("has no form in integers: {reason}"));
            refused = true;
        }
    }
    for op in constants::arithmetic(module) {
        ir::error_at(
            op,
            "computes with constants alone, which the compiler may do in floats before there are integers: expected \
             an operand that differs from run to run, as an argument of the function is",
        );
        refused = true;
    }
    if refused {
        return Err(Errors::new());
    }
    ops.iter().for_each(|op| types::retype(*op));
    ops.into_iter().for_each(code::replace);
    for op in ir::find_all(module, &[ops::mdh::COMPUTE]) {
        if let Some(broken) = schedule::violations(op).first() {
            ir::remark_at(
                op,
                &format!("loses its schedule, which is for floats: {broken}"),
            );
            schedule::set(op, None);
        }
    }
    Ok(())
}
