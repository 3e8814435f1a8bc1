//! `mdh-limit-vectorizer`: loops that LLVM's vectorizer would not be done with are kept from it.
//!
//! ```mlir
//! // The same for all p: from the last value, 3^12 ways lead back to x.
//! func.func @f(%x: memref<12xi64>, %y: memref<?xi64>, %n: index) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %c12 = arith.constant 12 : index
//!   %zero = arith.constant 0 : i64
//!   scf.for %p = %c0 to %n step %c1 {
//!     %least = scf.for %k = %c0 to %c12 step %c1 iter_args(%so_far = %zero) -> (i64) {
//!       %x_k = memref.load %x[%k] : memref<12xi64>
//!       %is_less = arith.cmpi slt, %so_far, %x_k : i64
//!       %sum = arith.addi %so_far, %x_k : i64
//!       %next = arith.select %is_less, %so_far, %sum : i64
//!       scf.yield %next : i64
//!     }
//!     memref.store %least, %y[%p] : memref<?xi64>
//!   }
//!   return
//! }
//! // becomes
//! #loop_vectorize = #llvm.loop_vectorize<disable = true>
//! ..
//! } {llvm.loop_annotation = #loop_annotation}
//! ```
//!
//! LLVM 22 asks of each value in a loop whether it is the same in all iterations, by asking the same of its
//! operands, and remembers no answer. Where a value that is used twice leads to one that is used twice, and so
//! on, and all of them are the same in all iterations, the time doubles with each: inner loops are unrolled
//! before, and a chain of thirty steps takes years. A value that differs ends the search.

use std::collections::HashMap;

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::operation::OperationLike;
use melior::ir::{RegionLike, RegionRef, TypeLike, ValueLike};

use crate::llvm::loop_annotations::keep_from_vectorizer;
use crate::support::builder::known;
use crate::support::inline::key;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-limit-vectorizer",
    description: "loops that LLVM's vectorizer would not be done with are kept from it",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// So many steps for each value take LLVM next to no time.
const MOST: u64 = 10_000;

/// LLVM unrolls no inner loops into more operations than these, and vectorizes none around others.
const UNROLLED: u64 = 4096;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for of in ir::find_all(module, &[ops::scf::FOR]) {
        let body = ir::region(of, 0);
        if size(body).is_none_or(|size| size > UNROLLED) {
            continue;
        }
        let mut ways = Ways::default();
        for argument in ir::only_block(body).map_or(Vec::new(), arguments) {
            ways.of.insert(key(argument), None);
        }
        ways.region(body);
        if ways.most > MOST {
            keep_from_vectorizer(of);
            let remark = format!(
                "is kept from LLVM's vectorizer, which would take too long: found values that are the same in \
                 all iterations and more than {MOST} ways from one to what it is computed from, expected fewer"
            );
            ir::remark_at(of, &remark);
        }
    }
    Ok(())
}

/// Number of scalar operations of a loop's body with all loops in it unrolled; `None` if that cannot be
/// done, or there are vectors, which LLVM does not vectorize.
fn size(region: RegionRef) -> Option<u64> {
    let mut sum = 0u64;
    for op in ir::ops_of(ir::only_block(region)?) {
        if op
            .results()
            .any(|result| ir::value(result).r#type().is_vector())
        {
            return None;
        }
        let times = match ir::name_of(op) {
            ops::scf::FOR => trips(op)?,
            ops::scf::IF => 1,
            _ if op.region_count() > 0 => return None,
            _ => 1,
        };
        let regions = (0..op.region_count()).map(|n| ir::region(op, n));
        for inner in regions.filter(|region| region.first_block().is_some()) {
            sum = sum.saturating_add(size(inner)?.saturating_mul(times));
        }
        sum = sum.saturating_add(1);
    }
    Some(sum)
}

/// Number of iterations of a loop, if that is known.
fn trips(of: Op) -> Option<u64> {
    let bound = |n| ir::operand(of, n).and_then(known);
    let (from, to, step) = (bound(0)?, bound(1)?, bound(2).filter(|step| *step > 0)?);
    u64::try_from((to - from).max(0))
        .ok()
        .map(|span| span.div_ceil(step as u64))
}

/// Numbers of ways from values to what they are computed from; `None` for those that differ from
/// iteration to iteration.
#[derive(Default)]
struct Ways {
    of: HashMap<usize, Option<u64>>,
    most: u64,
}

impl Ways {
    fn value(&self, value: Val) -> Option<u64> {
        self.of.get(&key(value)).copied().unwrap_or(Some(1))
    }

    /// From a value that is computed from these, all of them.
    fn from(&mut self, values: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
        let sum = |sum: u64, ways: Option<u64>| Some(sum.saturating_add(ways?));
        let ways = values.into_iter().try_fold(1, sum)?;
        self.most = self.most.max(ways);
        Some(ways)
    }

    /// Goes through the operations of a region, and returns those of what it yields.
    fn region(&mut self, region: RegionRef) -> Vec<Option<u64>> {
        let mut operands = Vec::new();
        for op in ir::only_block(region).map_or(Vec::new(), ir::ops_of) {
            operands = op.operands().map(|v| self.value(ir::value(v))).collect();
            let results = match ir::name_of(op) {
                ops::scf::FOR => self.repeated(op, &operands),
                ops::scf::IF => self.chosen(op, operands[0]),
                // An element that may have been stored ends the search, too.
                ops::memref::LOAD => vec![operands.iter().all(Option::is_some).then_some(1)],
                _ => vec![self.from(operands.iter().copied()); op.result_count()],
            };
            for (result, ways) in op.results().zip(results) {
                self.of.insert(key(ir::value(result)), ways);
            }
        }
        operands
    }

    /// The results of a loop that is unrolled.
    fn repeated(&mut self, of: Op, operands: &[Option<u64>]) -> Vec<Option<u64>> {
        let body = ir::region(of, 0);
        let mut carried = operands[3..].to_vec();
        let arguments = ir::only_block(body).map_or(Vec::new(), arguments);
        for _ in 0..trips(of).unwrap_or_default() {
            let values = [Some(1)].into_iter().chain(carried.iter().copied());
            let pairs = arguments.iter().map(|argument| key(*argument)).zip(values);
            self.of.extend(pairs);
            let next = self.region(body);
            if next == carried {
                break;
            }
            carried = next;
        }
        carried
    }

    /// The results of a branch, which become selections.
    fn chosen(&mut self, of: Op, condition: Option<u64>) -> Vec<Option<u64>> {
        let then = self.region(ir::region(of, 0));
        let otherwise = self.region(ir::region(of, 1));
        let pairs = then.into_iter().zip(otherwise);
        pairs
            .map(|(then, otherwise)| self.from([condition, then, otherwise]))
            .collect()
    }
}
