//! `mdh-outline-parallel`: the body of a parallel loop becomes a function, which the run-time
//! library's threads call.
//!
//! ```mlir
//! func.func @f(%x: memref<?xf32>, %n: index) {
//!   %zero = arith.constant 0.0 : f32
//!   scf.forall (%i) = (0) to (%n) step (64) {
//!     memref.store %zero, %x[%i] : memref<?xf32>
//!   } {mapping = [#mdh.core<"core", 0>]}
//!   return
//! }
//! // becomes
//! func.func private @f_parallel(%context: !llvm.ptr, %part: i64) {
//!   .. // %x, %lower and %step, from the context
//!   %number = arith.index_cast %part : i64 to index
//!   %distance = arith.muli %number, %step : index
//!   %i = arith.addi %lower, %distance : index
//!   ..
//!   memref.store %zero, %x[%i] : memref<?xf32>
//!   return
//! }
//! ..
//! call @mdh_parallel_for(%f_parallel, %memory, %parts) : (!llvm.ptr, !llvm.ptr, i64) -> ()
//! ```
//!
//! What the body captures is in a closure on the caller's stack, which is
//! allocated once, where the calling function starts. Parallel loops inside of others stay loops:
//! the threads are busy already. So do those that launch kernels: a device has one thread that drives it, and its
//! memory is copied back whole, over what other iterations have written. A loop of one part is none. A program's own `scf.parallel` of one
//! variable is handed over, too.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Region};

use crate::support::buffers::value;
use crate::support::builder::Builder;
use crate::support::captured::{
    Captured, address, call_function, insert_function, known_function, parse,
};
use crate::support::names::fresh;
use crate::support::parallel::{self, Core, FORALL};
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-outline-parallel",
    description: "bodies of parallel loops to functions that the run-time library calls",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Function of the run-time library that runs the parts of a loop.
const PARALLEL_FOR: &str = "mdh_parallel_for";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[FORALL]) {
        let first = parallel::bounds(op).filter(|_| Core::read(op).is_some());
        if let Some([first, ..]) = first.filter(|_| parallel::known_trips(op) == Some(1)) {
            let first = value(&mut Builder::before(op), first);
            parallel::inline(op, first);
        }
    }
    // All that are outermost now: what is inside of them stays a loop in their functions.
    let loops = ir::find_all(module, &[ops::scf::PARALLEL, FORALL]);
    let outermost: Vec<_> = loops
        .into_iter()
        .filter_map(|op| match enclosing(op) {
            Some(_) if drives_device(op) => {
                say_stays(op, "it launches kernels");
                None
            }
            Some(function) => Some((op, function)),
            None => {
                say_stays(op, "all threads are busy with the parts of one around it");
                None
            }
        })
        .collect();
    for (op, function) in outermost {
        match bounds(op) {
            Some(bounds) => outline(module, function, op, bounds),
            None if op.result_count() > 0 => say_stays(op, "it has a result: expected none"),
            None => say_stays(op, "it has several variables: expected one"),
        }
    }
    Ok(())
}

/// Remarks the reason for which a parallel loop's iterations stay on one thread.
fn say_stays(op: Op, why: &str) {
    if is_parallel(op) || parallel::is_mapped(op) {
        ir::remark_at(op, &format!("stays a loop of one thread: {why}"));
    }
}

/// Returns whether an operation calls the libraries that drive a device, or simulate one.
fn drives_device(op: Op) -> bool {
    let calls = ir::find_all(op, &[ops::func::CALL]);
    let mut called = calls.into_iter().flat_map(ir::symbols_named_by);
    called.any(|name| name.starts_with("mdh_cuda_") || name.starts_with("mdh_sim_"))
}

/// Returns whether the iterations of a loop are for the threads.
fn is_parallel(op: Op) -> bool {
    ir::name_of(op) == ops::scf::PARALLEL || Core::read(op).is_some()
}

/// The bounds of a parallel loop of one variable and without results.
fn bounds<'c>(op: Op<'c>) -> Option<[Val<'c>; 3]> {
    if op.result_count() > 0 || !is_parallel(op) {
        return None;
    }
    if let Some(all) = parallel::bounds(op) {
        let mut builder = Builder::before(op);
        return Some(all.map(|bound| value(&mut builder, bound)));
    }
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    operands.try_into().ok()
}

/// The function around a parallel loop that no other one encloses.
fn enclosing<'c>(op: Op<'c>) -> Option<Op<'c>> {
    let mut around = ir::ancestors(op).skip(1);
    let outer = around.find(|op| is_parallel(*op) || ir::name_of(*op) == ops::func::FUNC)?;
    (!is_parallel(outer)).then_some(outer)
}

fn outline<'c>(module: Op<'c>, function: Op<'c>, op: Op<'c>, bounds: [Val<'c>; 3]) {
    let mut builder = Builder::before(op);
    let body = region::take(op, 0);
    let block = region::block(&body);
    let captured = Captured::new(&builder, &body, &[bounds[0], bounds[2]]);
    receive(&body, block, &captured, &bounds);
    let name = declare(function, body);
    let context = captured.pass(&mut builder, function, op);
    let parts = part_count(&mut builder, &bounds);
    call(module, &mut builder, &name, context, parts);
    region::erase(op);
}

/// Makes a loop's body that of a function: of the context and the number of the part.
fn receive<'c>(
    body: &Region<'c>,
    block: BlockRef<'c, 'c>,
    captured: &Captured<'c>,
    bounds: &[Val<'c>],
) {
    let terminator = region::terminator(block);
    let location = terminator.location();
    let context = ir::context_of(terminator);
    let index = mdh_dialect::code::arguments(block)[0];
    let pointer = region::add_argument(block, parse(context, "!llvm.ptr"), location);
    let part = region::add_argument(block, parse(context, "i64"), location);
    let first = ir::ops_of(block).first().copied().unwrap_or(terminator);
    let mut builder = Builder::before(first);
    let inside = captured.receive(&mut builder, body, pointer);
    let find = |value: Val<'c>| {
        let at = captured.values.iter().position(|v| *v == value);
        inside[at.unwrap_or_else(|| panic!("a bound is in the context"))]
    };
    let (lower, step) = (find(bounds[0]), find(bounds[2]));
    let number = builder.op(
        ops::arith::INDEX_CAST,
        &[part],
        &[builder.index_type()],
        &[],
    )[0];
    let distance = builder.binary(ops::arith::MULI, number, step);
    let here = builder.binary(ops::arith::ADDI, lower, distance);
    region::replace_all_uses(index, here);
    // SAFETY: nothing uses the argument any more.
    unsafe { mlir_sys::mlirBlockEraseArgument(block.to_raw(), 0) }
    let mut end = Builder::before(terminator);
    end.op(ops::func::RETURN, &[], &[], &[]);
    region::erase(terminator);
}

/// Puts a function with that body before another one, and returns its name.
fn declare<'c>(function: Op<'c>, body: Region<'c>) -> String {
    let base = ir::attribute(function, "sym_name")
        .and_then(ir::text)
        .unwrap_or("f");
    let is_taken = |name: &str| ir::lookup_symbol(function, name).is_some();
    let name = fresh(&format!("{base}_parallel"), is_taken);
    insert_function(function, &name, "(!llvm.ptr, i64) -> ()", body);
    name
}

fn part_count<'c>(builder: &mut Builder<'c>, bounds: &[Val<'c>]) -> Val<'c> {
    let distance = builder.binary(ops::arith::SUBI, bounds[1], bounds[0]);
    let ty = builder.index_type();
    let count = builder.op(ops::arith::CEILDIVSI, &[distance, bounds[2]], &[ty], &[])[0];
    let i64 = parse(builder.context, "i64");
    builder.op(ops::arith::INDEX_CAST, &[count], &[i64], &[])[0]
}

fn call<'c>(
    module: Op<'c>,
    builder: &mut Builder<'c>,
    name: &str,
    context: Val<'c>,
    parts: Val<'c>,
) {
    known_function(module, PARALLEL_FOR, "(!llvm.ptr, !llvm.ptr, i64) -> ()");
    let ty = parse(builder.context, "(!llvm.ptr, i64) -> ()");
    let body = address(builder, name, ty);
    call_function(builder, PARALLEL_FOR, &[body, context, parts], &[]);
}
