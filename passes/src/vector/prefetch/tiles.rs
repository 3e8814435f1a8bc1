//! While a tile is computed on, the next one is prefetched.
//!
//! ```mlir
//! // mdh-opt --mdh-prefetch
//! func.func @f(%b: memref<2048x1000xf32>, %out: memref<16xf32>) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %c4 = arith.constant 4 : index
//!   %c16 = arith.constant 16 : index
//!   %c32 = arith.constant 32 : index
//!   %c96 = arith.constant 96 : index
//!   %c960 = arith.constant 960 : index
//!   scf.for %j = %c0 to %c960 step %c96 {
//!     scf.for %i = %c0 to %c16 step %c4 {
//!       scf.for %k = %c0 to %c32 step %c1 {
//!         %v = vector.load %b[%k, %j] : memref<2048x1000xf32>, vector<16xf32>
//!         vector.store %v, %out[%c0] : memref<16xf32>, vector<16xf32>
//!       }
//!     }
//!   }
//!   return
//! }
//! // becomes
//! %next = arith.addi %j, %c96 : index
//! memref.prefetch %b[%k, %next], read, locality<2>, data : memref<2048x1000xf32>
//! %v = vector.load %b[%k, %j] : memref<2048x1000xf32>, vector<16xf32>
//! ```
//!
//! A tile of short pieces of rows, which is gone through several times: the first time waits for
//! memory, since the processor does not see where the next piece lies, and the others compute, while
//! memory rests. It is asked for each time, which costs less than asking whether it is the first:
//! so this is for tiles that are gone through a few times only. What is asked for behind the last
//! tile of a row is the beginning of another row.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use mdh_schedule::asm::facts::LINE;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::{iv, prefetch};
use crate::support::builder::{Builder, known};
use crate::support::inline::key;
use crate::support::region;
use crate::vector::vectorize::stream::is_large;

/// Bytes from which on a buffer is in no cache that a core has alone.
const LARGE: i64 = 4 << 20;
/// Bytes of a piece of a row, at most: of longer ones the processor fetches most ahead by itself.
const PIECE: i64 = 1 << 10;
/// Limit on how often a tile is gone through.
const AGAIN: i64 = 8;

/// Prefetches the next tile where a load reads one.
pub fn prefetch_tiles(module: Op) {
    for load in ir::find_all(module, &[ops::vector::LOAD]) {
        if let Some((last, step)) = next_tile(load) {
            let mut operands: Vec<Val> = load.operands().map(ir::value).collect();
            let mut builder = Builder::before(load);
            let step = builder.index(step);
            let next = builder.binary(ops::arith::ADDI, last, step);
            operands.pop();
            operands.push(next);
            prefetch(&mut builder, &operands);
        }
    }
}

/// The index along the pieces of rows that a load reads, and how far the next tile is.
fn next_tile<'c>(load: Op<'c>) -> Option<(Val<'c>, i64)> {
    let operands: Vec<Val> = load.operands().map(ir::value).collect();
    let (buffer, indices) = operands.split_first()?;
    let (last, rows) = indices.split_last()?;
    if !is_large(buffer.r#type(), LARGE) {
        return None;
    }
    let loops = loops_around(load);
    let (inner, around) = loops.split_first()?;
    let row = key(iv(*inner)?);
    let (along, distance) = sum(*last);
    let at = around
        .iter()
        .position(|of| iv(*of).is_some_and(|iv| key(iv) == key(along)))?;
    let next = around[at];
    let step = known(ir::operand(next, 2)?)?;
    let element = types::buffer_type(buffer.r#type())?.element;
    let width = element.byte_width() as i64;
    // Lines are asked for once.
    let begins_line = distance.checked_mul(width)? % LINE == 0;
    let is_piece = step.checked_mul(width)? <= PIECE;
    let is_outside = |value: &Val<'c>| !region::is_defined_in(*value, next);
    let is_tile = is_outside(buffer)
        && rows.iter().any(|index| key(*index) == row)
        && rows
            .iter()
            .all(|index| key(*index) == row || is_outside(index));
    let times = around[..at]
        .iter()
        .try_fold(1i64, |all, of| all.checked_mul(trips(*of)?))?;
    let is_again = (2..=AGAIN).contains(&times);
    (begins_line && is_piece && is_tile && is_again).then_some((*last, step))
}

/// The sequential loops around an operation, innermost first, up to a function or a parallel loop.
fn loops_around(of: Op<'_>) -> Vec<Op<'_>> {
    let parents = std::iter::successors(ir::parent(of), |op| ir::parent(*op));
    let near = parents.take_while(|op| [ops::scf::FOR, ops::scf::IF].contains(&ir::name_of(*op)));
    near.filter(|op| ir::name_of(*op) == ops::scf::FOR)
        .collect()
}

/// A value as another one and a number that is added to it.
fn sum(value: Val<'_>) -> (Val<'_>, i64) {
    let added = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::ADDI);
    let parts = added.and_then(|op| {
        let [a, b] = [op.operand(0).ok()?, op.operand(1).ok()?].map(ir::value);
        Some((a, known(b)?))
    });
    parts.unwrap_or((value, 0))
}

/// Returns the trip count of a loop, if it is known.
fn trips(of: Op) -> Option<i64> {
    let number = |n| known(ir::operand(of, n)?);
    let (lower, upper, step) = (number(0)?, number(1)?, number(2)?);
    let span = upper.checked_sub(lower)?.max(0);
    (step > 0).then(|| span / step + i64::from(span % step != 0))
}
