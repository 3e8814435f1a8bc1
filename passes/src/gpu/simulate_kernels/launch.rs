//! Launches, on the host's side.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::marks::KERNEL;
use mdh_dialect::ops;
use melior::ir::BlockRef;
use melior::ir::operation::OperationLike;

use super::kernel::{self, Kernel};
use crate::support::builder::Builder;
use crate::support::captured::{
    Captured, address, call_function, insert_function, known_function, parse, words,
};
use crate::support::names::fresh;
use crate::support::region;

const LAUNCH: &str = "mdh_sim_launch";
/// Start of a launch's operands, behind the sizes of its segments: dependencies, six extents, three
/// of clusters, dynamic shared memory.
const SEGMENTS: usize = 11;

/// The operands of a launch.
struct Operands<'c> {
    blocks: [Val<'c>; 3],
    threads: [Val<'c>; 3],
    dynamic: Option<Val<'c>>,
}

impl<'c> Operands<'c> {
    fn new(op: Op<'c>) -> Result<Operands<'c>, Errors> {
        let segments = ir::integers(op, "operandSegmentSizes");
        let expected = |n: usize, count: i64| segments.get(n) == Some(&count);
        if segments.len() != SEGMENTS || !expected(0, 0) || op.result_count() > 0 {
            return Err(vec![
                "is asynchronous: expected a launch that is waited for".into(),
            ]);
        }
        if !(7..10).all(|n| expected(n, 0)) {
            return Err(vec!["has clusters of blocks: expected none".into()]);
        }
        let values: Vec<Val> = op.operands().map(ir::value).collect();
        Ok(Operands {
            blocks: [values[0], values[1], values[2]],
            threads: [values[3], values[4], values[5]],
            dynamic: values.get(6).copied(),
        })
    }
}

/// Replaces a launch.
pub fn lower<'c>(module: Op<'c>, op: Op<'c>) -> Result<(), Errors> {
    let operands = Operands::new(op)?;
    let function = ir::ancestors(op).find(|op| ir::name_of(*op) == ops::func::FUNC);
    let Some(function) = function else {
        return Err(vec!["is in no function: expected one".into()]);
    };
    let mut builder = Builder::before(op);
    let shared = ir::attribute(op, "workgroup_attributions");
    let shared = shared.and_then(mdh_dialect::types::scalar);
    let shared = shared.map_or(0, |count| count.as_i64() as usize);
    let body = region::take(op, 0);
    let block: BlockRef = region::block(&body);
    let captured = Captured::new(&builder, &body, &[]);
    let kernel = Kernel::receive(&body, block, &captured, shared)?;
    let bytes = kernel.shared;
    kernel::lower(module, op, &kernel, &body)?;
    let base = ir::attribute(function, "sym_name").and_then(ir::text);
    let taken = |name: &str| ir::lookup_symbol(function, name).is_some();
    let name = fresh(&format!("{}_kernel", base.unwrap_or("f")), taken);
    let new = insert_function(function, &name, "(!llvm.ptr, !llvm.ptr) -> ()", body);
    KERNEL.set(new);
    let ty = parse(builder.context, "(!llvm.ptr, !llvm.ptr) -> ()");
    let code = address(&mut builder, &name, ty);
    let context = captured.pass(&mut builder, function, op);
    let blocks = words(&mut builder, function, op, &operands.blocks);
    let threads = words(&mut builder, function, op, &operands.threads);
    let i64 = parse(builder.context, "i64");
    let fixed = builder.index(bytes);
    let fixed = builder.op(ops::arith::INDEX_CAST, &[fixed], &[i64], &[])[0];
    let memory = match operands.dynamic {
        None => fixed,
        Some(dynamic) => {
            let dynamic = builder.op(ops::arith::EXTUI, &[dynamic], &[i64], &[])[0];
            builder.op(ops::arith::ADDI, &[fixed, dynamic], &[i64], &[])[0]
        }
    };
    known_function(
        module,
        LAUNCH,
        "(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()",
    );
    call_function(
        &mut builder,
        LAUNCH,
        &[code, context, blocks, threads, memory],
        &[],
    );
    region::erase(op);
    Ok(())
}
