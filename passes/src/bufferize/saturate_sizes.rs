//! `mdh-saturate-sizes`: an allocation of more bytes than can be addressed asks for as many as can, and fails.
//!
//! ```mlir
//! func.func @f(%m: index, %n: index) {
//!   %t = memref.alloc(%m, %n) : memref<?x?xf64>
//!   memref.dealloc %t : memref<?x?xf64>
//!   return
//! }
//! // becomes
//! func.func @f(%m: index, %n: index) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %most = arith.constant 1152921504606846463 : index
//!   %no_rows = arith.cmpi eq, %m, %c0 : index
//!   %no_columns = arith.cmpi eq, %n, %c0 : index
//!   %is_empty = arith.ori %no_rows, %no_columns : i1
//!   %count, %beyond = arith.mului_extended %m, %n : index
//!   %is_number = arith.cmpi eq, %beyond, %c0 : index
//!   %is_few = arith.cmpi ule, %count, %most : index
//!   %is_right = arith.andi %is_number, %is_few : i1
//!   %fits = arith.ori %is_empty, %is_right : i1
//!   %rows = arith.select %fits, %m, %most : index
//!   %columns = arith.select %fits, %n, %c1 : index
//!   %t = memref.alloc(%rows, %columns) : memref<?x?xf64>
//!   memref.dealloc %t : memref<?x?xf64>
//!   return
//! }
//! ```
//!
//! Upstream computes the bytes modulo 2^64: 2^31 rows of 2^31 doubles would be 64 bytes. A negative extent counts as one
//! that is too large. Known extents that are too large are an error.

use mdh_algebra::bind::shape_text;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-saturate-sizes",
    description: "allocations of more bytes than can be addressed ask for as many as can",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Bytes of the largest allocation: what an index counts, less what aligns it and stands before it.
const MOST: i64 = i64::MAX - 4096;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::memref::ALLOC, ops::gpu::ALLOC]) {
        saturate(op).or_else(|errors| emit_all(op, errors))?;
    }
    Ok(())
}

/// Puts other extents in the place of those of which the product is too large.
fn saturate(op: Op) -> Result<(), Errors> {
    let memory = ir::result(op, 0).map(|memory| memory.r#type());
    let Some(ty) = memory.and_then(types::buffer_type) else {
        return Ok(());
    };
    let bytes = ty.element.byte_width().max(1) as i64;
    let mut known = ty.shape.iter().flatten();
    let known = match ty.shape.contains(&Some(0)) {
        true => Some(0),
        false => known.try_fold(bytes, |all, extent| all.checked_mul(*extent)),
    };
    let Some(known) = known.filter(|bytes| *bytes <= MOST) else {
        return Err(vec![format!(
            "allocates {} elements of {bytes} bytes each: expected fewer than 2^63 bytes in all",
            shape_text(&ty.shape)
        )]);
    };
    let most = MOST.checked_div(known).unwrap_or(i64::MAX);
    let count = ty.shape.iter().filter(|extent| extent.is_none()).count();
    if count == 0 {
        return Ok(());
    }
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    // What stands before the extents are tokens, what follows them are symbols of the layout.
    let first = match ir::name_of(op) {
        ops::gpu::ALLOC => ir::integers(op, "operandSegmentSizes")[0] as usize,
        _ => 0,
    };
    let extents = &operands[first..first + count];
    let builder = &mut Builder::before(op);
    let (zero, one, limit) = (builder.index(0), builder.index(1), builder.index(most));
    let fits = fits(builder, extents, [zero, one, limit]);
    for (n, extent) in extents.iter().enumerate() {
        let other = if n == 0 { limit } else { one };
        let extent = builder.select(fits, *extent, other);
        region::set_operand(op, first + n, extent);
    }
    Ok(())
}

/// Returns whether a product of extents is at most a limit, and does not overflow.
fn fits<'c>(
    builder: &mut Builder<'c>,
    extents: &[Val<'c>],
    [zero, one, limit]: [Val<'c>; 3],
) -> Val<'c> {
    let mut product: Option<Val> = None;
    let (mut is_empty, mut is_number): (Option<Val>, Option<Val>) = (None, None);
    for extent in extents {
        if extents.len() > 1 {
            let is_none = builder.compare("eq", *extent, zero);
            is_empty = Some(join(builder, ops::arith::ORI, is_empty, is_none));
        }
        product = Some(match product {
            None => *extent,
            Some(product) => {
                let index = builder.index_type();
                let operands = [product, *extent];
                let both = builder.op(ops::arith::MULUI_EXTENDED, &operands, &[index, index], &[]);
                let has_no_more = builder.compare("eq", both[1], zero);
                is_number = Some(join(builder, ops::arith::ANDI, is_number, has_no_more));
                both[0]
            }
        });
    }
    let product = product.unwrap_or(one);
    let is_few = builder.compare("ule", product, limit);
    let fits = join(builder, ops::arith::ANDI, is_number, is_few);
    join(builder, ops::arith::ORI, is_empty, fits)
}

/// `a op b`, or `b` where there is no `a`.
fn join<'c>(builder: &mut Builder<'c>, name: &str, a: Option<Val<'c>>, b: Val<'c>) -> Val<'c> {
    a.map_or(b, |a| builder.binary(name, a, b))
}
