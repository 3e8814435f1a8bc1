//! `mdh-prefetch`: while a row is computed on, the next one is prefetched.
//!
//! ```mlir
//! func.func @f(%x: memref<8192x2048xf32>) -> f32 {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %c16 = arith.constant 16 : index
//!   %c2048 = arith.constant 2048 : index
//!   %c8192 = arith.constant 8192 : index
//!   %zero = arith.constant dense<0.0> : vector<16xf32>
//!   scf.for %i = %c0 to %c8192 step %c1 {
//!     %most = scf.for %j = %c0 to %c2048 step %c16 iter_args(%so_far = %zero) -> (vector<16xf32>) {
//!       %v = vector.load %x[%i, %j] : memref<8192x2048xf32>, vector<16xf32>
//!       %next = arith.maximumf %so_far, %v : vector<16xf32>
//!       scf.yield %next : vector<16xf32>
//!     }
//!     %sum = scf.for %j = %c0 to %c2048 step %c16 iter_args(%so_far = %zero) -> (vector<16xf32>) {
//!       %v = vector.load %x[%i, %j] : memref<8192x2048xf32>, vector<16xf32>
//!       %d = arith.subf %v, %most : vector<16xf32>
//!       %e = math.exp %d : vector<16xf32>
//!       %next = arith.addf %so_far, %e : vector<16xf32>
//!       scf.yield %next : vector<16xf32>
//!     }
//!     func.call @use(%sum) : (vector<16xf32>) -> ()
//!   }
//!   %s = arith.constant 0.0 : f32
//!   return %s : f32
//! }
//! func.func private @use(vector<16xf32>)
//! // becomes
//! func.func @f(%x: memref<8192x2048xf32>) -> f32 {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %c16 = arith.constant 16 : index
//!   %c2048 = arith.constant 2048 : index
//!   %c8192 = arith.constant 8192 : index
//!   %zero = arith.constant dense<0.0> : vector<16xf32>
//!   scf.for %i = %c0 to %c8192 step %c1 {
//!     %after = arith.addi %i, %c1 : index
//!     %last = arith.constant 8191 : index
//!     %row = arith.minui %after, %last : index
//!     %most = scf.for %j = %c0 to %c2048 step %c16 iter_args(%so_far = %zero) -> (vector<16xf32>) {
//!       %v = vector.load %x[%i, %j] : memref<8192x2048xf32>, vector<16xf32>
//!       %next = arith.maximumf %so_far, %v : vector<16xf32>
//!       scf.yield %next : vector<16xf32>
//!     }
//!     %sum = scf.for %j = %c0 to %c2048 step %c16 iter_args(%so_far = %zero) -> (vector<16xf32>) {
//!       memref.prefetch %x[%row, %j], read, locality<2>, data : memref<8192x2048xf32>
//!       %v = vector.load %x[%i, %j] : memref<8192x2048xf32>, vector<16xf32>
//!       %d = arith.subf %v, %most : vector<16xf32>
//!       %e = math.exp %d : vector<16xf32>
//!       %next = arith.addf %so_far, %e : vector<16xf32>
//!       scf.yield %next : vector<16xf32>
//!     }
//!     func.call @use(%sum) : (vector<16xf32>) -> ()
//!   }
//!   %s = arith.constant 0.0 : f32
//!   return %s : f32
//! }
//! func.func private @use(vector<16xf32>)
//! ```
//!
//! Where several loops go through the same row one after the other, the first one waits for memory
//! and the others compute, while memory rests. Processors prefetch by themselves, but not from
//! one page to another. The loop that computes most asks for the row that the first one reads next.
//! This is for what is larger than the caches and read in rows that fit one; so it is with tiles
//! (module `tiles`).

mod tiles;

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::attribute::{BoolAttribute, IntegerAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, Type, ValueLike};

use crate::simplify::share_subexpressions::cost;
use crate::support::builder::Builder;
use crate::support::inline::key;
use crate::support::region;
use crate::vector::vectorize::stream::is_large;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-prefetch",
    description: "loops that compute prefetch what the next iteration around them reads",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Bytes from which on a buffer is in no cache.
const LARGE: i64 = 64 << 20;
/// Bytes of the rows that are prefetched: a quarter of what a core has on most machines, since the
/// row before is there, too, and what is made of it.
const MOST: i64 = 256 << 10;
/// The second level of caches.
const LOCALITY: i64 = 2;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for outer in ir::find_all(module, &[ops::scf::FOR]) {
        let loops = children(outer);
        let reads: Vec<Vec<Read>> = loops.iter().map(|of| Read::all(outer, *of)).collect();
        let mut done: Vec<usize> = Vec::new();
        for read in reads.iter().flatten() {
            if done.contains(&key(read.buffer)) {
                continue;
            }
            done.push(key(read.buffer));
            let again = |n: &usize| reads[*n].iter().any(|other| other.is_like(read));
            // The first one waits for memory itself.
            let readers = (0..loops.len()).filter(again).skip(1);
            let Some(most) = readers.max_by_key(|n| work(loops[*n])) else {
                continue;
            };
            prefetch_rows(
                outer,
                reads[most].iter().filter(|other| other.is_like(read)),
            );
        }
    }
    tiles::prefetch_tiles(module);
    Ok(())
}

/// The loops right inside of one.
fn children<'c>(of: Op<'c>) -> Vec<Op<'c>> {
    let body = ir::only_block(ir::region(of, 0)).map(ir::ops_of);
    let body = body.unwrap_or_default().into_iter();
    body.filter(|op| ir::name_of(*op) == ops::scf::FOR)
        .collect()
}

/// Returns the work of one iteration of a loop, in cycles.
fn work(of: Op) -> u64 {
    ir::all(of).into_iter().map(cost).sum()
}

/// A vector of a row that is read in a loop inside of the one around.
struct Read<'c> {
    load: Op<'c>,
    buffer: Val<'c>,
    /// The axis along which the loop around goes from row to row.
    axis: usize,
    /// The rows' number.
    rows: i64,
}

impl<'c> Read<'c> {
    fn all(outer: Op<'c>, inner: Op<'c>) -> Vec<Read<'c>> {
        let loads = ir::find_all(inner, &[ops::vector::LOAD]).into_iter();
        loads.filter_map(|load| Read::new(outer, load)).collect()
    }

    fn new(outer: Op<'c>, load: Op<'c>) -> Option<Read<'c>> {
        let operands: Vec<Val> = load.operands().map(ir::value).collect();
        let (buffer, indices) = operands.split_first()?;
        if !is_large(buffer.r#type(), LARGE) || region::is_defined_in(*buffer, outer) {
            return None;
        }
        let row = key(iv(outer)?);
        let axis = indices.iter().position(|index| key(*index) == row)?;
        let ty = types::buffer_type(buffer.r#type())?;
        let width = ty.element.byte_width() as i64;
        let mut rest = ty.shape[axis + 1..].iter().copied();
        let bytes = rest.try_fold(width, |product, extent| product.checked_mul(extent?));
        // What is in front of the row stays while the loop around goes on.
        let mut before = indices[..axis].iter();
        let stays = before.all(|index| !region::is_defined_in(*index, outer));
        let is_row = stays && bytes.is_some_and(|bytes| bytes <= MOST);
        if !is_row {
            say_far(load, bytes.filter(|_| stays));
        }
        is_row.then_some(Read {
            load,
            buffer: *buffer,
            axis,
            rows: ty.shape[axis]?,
        })
    }

    fn is_like(&self, other: &Read) -> bool {
        (key(self.buffer), self.axis) == (key(other.buffer), other.axis)
    }
}

/// Remarks the reason for which the next row of something large is not prefetched: the bytes of
/// one, if its place is the next.
fn say_far(load: Op, bytes: Option<i64>) {
    let text = match bytes {
        Some(bytes) => format!("found rows of {bytes} bytes, expected at most {MOST}"),
        None => "expected rows of a known size, one after the other".into(),
    };
    ir::remark_at(load, &format!("is read when it is needed: {text}"));
}

/// A loop's index.
fn iv<'c>(of: Op<'c>) -> Option<Val<'c>> {
    let body = ir::only_block(ir::region(of, 0))?;
    body.argument(0).ok().map(ir::value)
}

/// Prefetches what is read in the next iteration of a loop wherever it is read in this one.
fn prefetch_rows<'c, 'r>(outer: Op<'c>, reads: impl Iterator<Item = &'r Read<'c>>)
where
    'c: 'r,
{
    let body = ir::only_block(ir::region(outer, 0)).map(ir::ops_of);
    let first = body.and_then(|ops| ops.first().copied());
    let (Some(first), Some(row)) = (first, iv(outer)) else {
        return;
    };
    let mut next = None;
    for read in reads {
        let next = *next.get_or_insert_with(|| {
            let mut builder = Builder::before(first);
            let step = outer.operand(2).map(ir::value);
            let step = step.unwrap_or_else(|_| panic!("scf.for has a step"));
            let after = builder.binary(ops::arith::ADDI, row, step);
            let last = builder.index(read.rows - 1);
            builder.binary(ops::arith::MINUI, after, last)
        });
        let mut operands: Vec<Val> = read.load.operands().map(ir::value).collect();
        operands[read.axis + 1] = next;
        let mut builder = Builder::before(read.load);
        prefetch(&mut builder, &operands);
    }
}

/// Asks for a buffer's element to be prefetched to the second level of caches.
fn prefetch<'c>(builder: &mut Builder<'c>, operands: &[Val<'c>]) {
    let i32_type: Type = types::mlir_type(builder.context, ScalarType::I32);
    let flag = |flag| BoolAttribute::new(builder.context, flag).into();
    let locality = IntegerAttribute::new(i32_type, LOCALITY).into();
    let attributes = [
        ("isWrite", flag(false)),
        ("isDataCache", flag(true)),
        ("localityHint", locality),
    ];
    builder.op(ops::memref::PREFETCH, operands, &[], &attributes);
}
