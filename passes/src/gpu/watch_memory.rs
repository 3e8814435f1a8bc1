//! `mdh-watch-memory`: kernels tell the simulator of each access to memory before they make it.
//!
//! ```mlir
//! llvm.func @f(%context: !llvm.ptr, %thread: !llvm.ptr) attributes {mdh.kernel} {
//!   %p = llvm.load %context : !llvm.ptr -> !llvm.ptr
//!   %v = llvm.load %p : !llvm.ptr -> f32
//!   llvm.store %v, %context : f32, !llvm.ptr
//!   llvm.return
//! }
//! // becomes
//! %address = llvm.ptrtoint %p : !llvm.ptr to i64
//! %four = llvm.mlir.constant(4 : i64) : i64
//! %site = llvm.mlir.addressof @mdh_site : !llvm.ptr
//! llvm.call @mdh_sim_read(%thread, %address, %four, %site) : (!llvm.ptr, i64, i64, !llvm.ptr) -> ()
//! %v = llvm.load %p : !llvm.ptr -> f32
//! ```
//!
//! What a thread alone can see is not told: its stack, constants, its arguments.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::marks::KERNEL;
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{RegionLike, Type, ValueLike};

use super::simulate_kernels::site;
use crate::support::builder::Builder;
use crate::support::captured::{attribute, parse};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-watch-memory",
    description: "accesses of kernels to memory are told to the simulator of a GPU",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// Depth to which definitions of addresses are followed.
const DEPTH: usize = 64;

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for function in ir::find_all(module, &[ops::llvm::FUNC]) {
        if !KERNEL.is_on(function) {
            continue;
        }
        let Some(entry) = ir::region(function, 0).first_block() else {
            continue;
        };
        let arguments = mdh_dialect::code::arguments(entry);
        if arguments.len() != 2 {
            return emit_all(
                function,
                vec!["bug: a kernel has a context and a thread".into()],
            );
        }
        for op in ir::all(function) {
            watch(module, op, &arguments).or_else(|errors| emit_all(op, errors))?;
        }
    }
    Ok(())
}

fn watch<'c>(module: Op<'c>, op: Op<'c>, arguments: &[Val<'c>]) -> Result<(), Errors> {
    let operand = |n: usize| ir::operand(op, n);
    let (name, address, ty) = match ir::name_of(op) {
        ops::llvm::LOAD => ("mdh_sim_read", operand(0), ir::result(op, 0)),
        ops::llvm::STORE => ("mdh_sim_write", operand(1), operand(0)),
        ops::llvm::ATOMICRMW | ops::llvm::CMPXCHG => ("mdh_sim_atomic", operand(0), operand(1)),
        other if other.starts_with("llvm.intr.masked") || other.starts_with("llvm.intr.mem") => {
            return Err(vec![format!("'{other}' in a kernel is not simulated")]);
        }
        _ => return Ok(()),
    };
    let (Some(address), Some(value)) = (address, ty) else {
        return Ok(());
    };
    if is_private(address, arguments) {
        return Ok(());
    }
    let Some(bytes) = bytes(value.r#type()) else {
        return Err(vec![format!(
            "a kernel accesses {}, which is not simulated",
            value.r#type()
        )]);
    };
    let mut builder = Builder::before(op);
    let i64 = parse(builder.context, "i64");
    let address = builder.op(ops::llvm::PTRTOINT, &[address], &[i64], &[])[0];
    let count = Scalar::from_i64(ScalarType::I64, bytes);
    let count = types::attribute(builder.context, count);
    let count = builder.op(ops::llvm::MLIR_CONSTANT, &[], &[i64], &[("value", count)])[0];
    let site = site(&mut builder, module, op);
    declare(module, name);
    let callee = attribute(builder.context, &format!("@{name}"));
    let segments = attribute(builder.context, "array<i32: 4, 0>");
    let none = attribute(builder.context, "array<i32>");
    let attributes = [
        ("callee", callee),
        ("operandSegmentSizes", segments),
        ("op_bundle_sizes", none),
    ];
    builder.op(
        ops::llvm::CALL,
        &[arguments[1], address, count, site],
        &[],
        &attributes,
    );
    Ok(())
}

fn declare<'c>(module: Op<'c>, name: &str) {
    let ops = ir::only_block(ir::region(module, 0)).map_or(Vec::new(), ir::ops_of);
    let Some(first) = ops
        .first()
        .filter(|op| ir::lookup_symbol(**op, name).is_none())
    else {
        return;
    };
    let mut builder = Builder::before(*first);
    let context = builder.context;
    let ty = "!llvm.func<void (ptr, i64, i64, ptr)>";
    let attributes = [
        ("sym_name", attribute(context, &format!("\"{name}\""))),
        ("function_type", attribute(context, ty)),
        ("linkage", attribute(context, "#llvm.linkage<external>")),
    ];
    let body = vec![melior::ir::Region::new()];
    builder.build(ops::llvm::FUNC, &[], &[], &attributes, body);
}

/// Returns whether an address is of what only the thread can see.
fn is_private(address: Val, arguments: &[Val]) -> bool {
    let mut at = address;
    for _ in 0..DEPTH {
        if arguments.contains(&at) {
            return true;
        }
        let Some(op) = ir::defining_op(at) else {
            return false;
        };
        match ir::name_of(op) {
            ops::llvm::ALLOCA | ops::llvm::MLIR_ADDRESSOF => return true,
            ops::llvm::GETELEMENTPTR | ops::llvm::BITCAST | ops::llvm::ADDRSPACECAST => {
                let Ok(base) = op.operand(0) else {
                    return false;
                };
                at = ir::value(base);
            }
            _ => return false,
        }
    }
    false
}

/// The bytes of a scalar or a vector.
fn bytes(ty: Type) -> Option<i64> {
    let text = ty.to_string();
    if text.starts_with("!llvm.ptr") {
        return Some(8);
    }
    let lanes = match text.strip_prefix("vector<") {
        None => 1,
        Some(rest) => {
            let mut sizes = rest.trim_end_matches('>').split('x').rev();
            sizes.next()?;
            let sizes: Option<Vec<i64>> = sizes.map(|n| n.parse().ok()).collect();
            sizes?.into_iter().product()
        }
    };
    let element = types::scalar_type(types::element(ty))?;
    Some(lanes * element.byte_width().max(1) as i64)
}
