//! `mdh-check-divisions`: integer divisions without a defined result are asserted not to happen.
//!
//! ```mlir
//! func.func @f(%x: i32, %y: i32) -> i32 {
//!   %q = arith.divsi %x, %y : i32
//!   return %q : i32
//! }
//! // becomes
//! func.func @f(%x: i32, %y: i32) -> i32 {
//!   %c0 = arith.constant 0 : i32
//!   %is_defined = arith.cmpi ne, %y, %c0 : i32
//!   cf.assert %is_defined, "divides by zero"
//!   %smallest = arith.constant -2147483648 : i32
//!   %is_larger = arith.cmpi ne, %x, %smallest : i32
//!   %c-1 = arith.constant -1 : i32
//!   %is_other = arith.cmpi ne, %y, %c-1 : i32
//!   %fits = arith.ori %is_larger, %is_other : i1
//!   cf.assert %fits, "divides the smallest integer by -1"
//!   %q = arith.divsi %x, %y : i32
//!   return %q : i32
//! }
//! ```
//!
//! The processor would stop at such a division, but LLVM need not leave it one: it may assume
//! that it does not happen. Divisions by a constant other than 0 and -1 stay as they are, and those of
//! indices whose constants, extents and loops say that it cannot happen, as of the number of a core's
//! points.
//!
//! The assertions of upstream's `generate-runtime-verification` divide as well: that static extents divide
//! what is expanded, they say by a remainder, also of extents whose product is 0. Nothing but 0 is a multiple
//! of 0, so that what is divided is in the place of this remainder.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::attribute::StringAttribute;

use crate::llvm::locate_assertions::VERIFICATION;
use crate::support::builder::Builder;
use crate::support::ranges;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-check-divisions",
    description: "assert that integer divisions have a defined result",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

const UNSIGNED: [&str; 3] = [ops::arith::DIVUI, ops::arith::REMUI, ops::arith::CEILDIVUI];
const SIGNED: [&str; 4] = [
    ops::arith::DIVSI,
    ops::arith::REMSI,
    ops::arith::CEILDIVSI,
    ops::arith::FLOORDIVSI,
];

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let remainders = ir::find_all(module, &[ops::arith::REMSI]);
    for op in remainders.into_iter().filter(|op| is_verification(*op)) {
        if let (Some(of), Some(remainder)) = (ir::operand(op, 0), ir::result(op, 0)) {
            region::replace_all_uses(remainder, of);
            region::erase(op);
        }
    }
    for op in ir::find_all(module, &UNSIGNED) {
        check_divisor(op);
    }
    for op in ir::find_all(module, &SIGNED) {
        check_divisor(op);
        check_quotient(op);
    }
    Ok(())
}

/// Returns whether a remainder by 0 is one of upstream's assertions and nothing else.
fn is_verification(op: Op) -> bool {
    let is_by_zero = ir::operand(op, 1).and_then(known) == Some(0);
    let is_upstreams = |user: &Op| {
        let message = ir::attribute(*user, "msg").and_then(ir::text);
        message.is_some_and(|text| text.starts_with(VERIFICATION))
    };
    let is_asserted = |compared: &Op| {
        let users = ir::result(*compared, 0).map_or(Vec::new(), ir::users);
        ir::name_of(*compared) == ops::arith::CMPI && users.iter().all(is_upstreams)
    };
    let users = ir::result(op, 0).map_or(Vec::new(), ir::users);
    is_by_zero && users.iter().all(is_asserted)
}

fn operands(op: Op) -> Option<(Val, Val)> {
    let operand = |i| ir::operand(op, i);
    Some((operand(0)?, operand(1)?))
}

/// The number of an integer constant.
fn known(value: Val) -> Option<i64> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT)?;
    let constant = types::scalar(ir::attribute(op, "value")?)?;
    Some(constant.as_i64())
}

fn check_divisor(op: Op) {
    let Some((_, divisor)) = operands(op) else {
        return;
    };
    let Some(ty) = types::scalar_type(divisor.r#type()) else {
        let ty = divisor.r#type();
        let text = format!(
            "is not checked: found operands of type {ty}, expected one number each; check the \
             lanes one by one, or divide before vectors are made"
        );
        return ir::remark_at(op, &text);
    };
    let never = match ty {
        ScalarType::Index => !ranges::interval(divisor).contains(0),
        _ => known(divisor).is_some_and(|divisor| divisor != 0),
    };
    if never {
        return;
    }
    let mut builder = Builder::before(op);
    let zero = builder.scalar(Scalar::from_i64(ty, 0));
    let is_defined = builder.compare("ne", divisor, zero);
    assert(&mut builder, is_defined, "divides by zero");
}

fn check_quotient(op: Op) {
    let Some((dividend, divisor)) = operands(op) else {
        return;
    };
    let Some(ty) = types::scalar_type(divisor.r#type()) else {
        return;
    };
    let smallest = i64::MIN >> (64 - ty.bit_width());
    let never = match ty {
        ScalarType::Index => {
            !ranges::interval(divisor).contains(-1)
                || !ranges::interval(dividend).contains(smallest)
        }
        _ => {
            known(divisor).is_some_and(|divisor| divisor != -1)
                || known(dividend).is_some_and(|dividend| dividend != smallest)
        }
    };
    if never {
        return;
    }
    let mut builder = Builder::before(op);
    let smallest = builder.scalar(Scalar::from_i64(ty, smallest));
    let is_larger = builder.compare("ne", dividend, smallest);
    let minus_one = builder.scalar(Scalar::from_i64(ty, -1));
    let is_other = builder.compare("ne", divisor, minus_one);
    let fits = builder.binary(ops::arith::ORI, is_larger, is_other);
    assert(&mut builder, fits, "divides the smallest integer by -1");
}

fn assert<'c>(builder: &mut Builder<'c>, condition: Val<'c>, message: &str) {
    let message = StringAttribute::new(builder.context, message).into();
    builder.op(ops::cf::ASSERT, &[condition], &[], &[("msg", message)]);
}
