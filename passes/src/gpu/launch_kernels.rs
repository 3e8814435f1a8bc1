//! `mdh-launch-kernels`: launches, and memory of a device, become calls of the library that drives
//! it.
//!
//! ```mlir
//! module attributes {gpu.container_module} {
//!   gpu.module @f_kernels {
//!     gpu.func @f_0(%x: memref<?xf32>, %n: index) kernel { gpu.return }
//!   }
//!   func.func @f(%x: memref<?xf32>, %n: index) {
//!     %c1 = arith.constant 1 : index
//!     gpu.launch_func @f_kernels::@f_0 blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
//!         args(%x : memref<?xf32>, %n : index)
//!     return
//!   }
//! }
//! // becomes
//! llvm.mlir.global internal constant @mdh_kernel("f_0\00")
//! ..
//! %name = llvm.mlir.addressof @mdh_kernel : !llvm.ptr
//! .. // the words of the memref's descriptor, and %n, on the stack
//! call @mdh_cuda_launch(%name, %blocks, %threads, %shared, %words, %count)
//!   : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> ()
//! ```
//!
//! The kernels themselves go: they are compiled apart, and known by their names.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::types::{BufferKind, buffer_type};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::captured::{
    c_text, call_function, cast, extract, known_function, number, parse, stored, words,
};
use crate::support::kernels::memory;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-launch-kernels",
    description: "launches and memory of a device to calls of the library that drives it",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

const LIBRARY: &str = "mdh_cuda";
const LAUNCH: &str = "mdh_cuda_launch";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::gpu::LAUNCH_FUNC]) {
        launch(module, op).or_else(|errors| emit_all(op, errors))?;
    }
    for op in ir::find_all(module, &memory::OPERATIONS) {
        memory::lower(module, op, LIBRARY).or_else(|errors| emit_all(op, errors))?;
    }
    ir::find_all(module, &[ops::gpu::MODULE, ops::gpu::BINARY])
        .into_iter()
        .for_each(region::erase);
    Ok(())
}

/// The operands of a launch.
struct Operands<'c> {
    blocks: Vec<Val<'c>>,
    threads: Vec<Val<'c>>,
    dynamic: Option<Val<'c>>,
    arguments: Vec<Val<'c>>,
}

impl<'c> Operands<'c> {
    fn new(op: Op<'c>) -> Result<Operands<'c>, Errors> {
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let mut from = 0;
        let segments = ir::integers(op, "operandSegmentSizes");
        let mut segments = segments.into_iter().map(|count| {
            let segment = &operands[from..from + count as usize];
            from += count as usize;
            segment
        });
        let mut next = |count: usize| -> Vec<Val<'c>> {
            let taken = segments.by_ref().take(count);
            taken.flatten().copied().collect()
        };
        // What it waits for, blocks, threads, clusters, dynamic shared memory, arguments, its stream.
        let waits = next(1);
        let (blocks, threads, clusters) = (next(3), next(3), next(3));
        let dynamic = next(1).first().copied();
        let (arguments, stream) = (next(1), next(1));
        if !waits.is_empty() || !stream.is_empty() || op.result_count() > 0 {
            return Err(vec![
                "is asynchronous: expected a launch that is waited for".into(),
            ]);
        }
        if !clusters.is_empty() {
            return Err(vec!["has clusters of blocks: expected none".into()]);
        }
        Ok(Operands {
            blocks,
            threads,
            dynamic,
            arguments,
        })
    }
}

/// Replaces a launch.
fn launch<'c>(module: Op<'c>, op: Op<'c>) -> Result<(), Errors> {
    let operands = Operands::new(op)?;
    let function = ir::ancestors(op).find(|op| ir::name_of(*op) == ops::func::FUNC);
    let Some(function) = function else {
        return Err(vec!["is in no function: expected one".into()]);
    };
    let kernel = ir::attribute(op, "kernel").map(|symbol| symbol.to_string());
    let kernel = kernel.unwrap_or_default();
    // `@f_kernels::@f_0`
    let kernel = kernel.rsplit('@').next().unwrap_or_default();
    let mut builder = Builder::before(op);
    let name = c_text(&mut builder, module, "mdh_kernel", kernel);
    let blocks = words(&mut builder, function, op, &operands.blocks);
    let threads = words(&mut builder, function, op, &operands.threads);
    let i64 = parse(builder.context, "i64");
    let shared = match operands.dynamic {
        None => number(&mut builder, 0),
        Some(bytes) => builder.op(ops::arith::EXTUI, &[bytes], &[i64], &[])[0],
    };
    let parameters: Vec<Val> = operands
        .arguments
        .into_iter()
        .flat_map(|value| parameters(&mut builder, value))
        .collect();
    let count = number(&mut builder, parameters.len() as i64);
    let arguments = words(&mut builder, function, op, &parameters);
    let ty = "(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64) -> ()";
    known_function(module, LAUNCH, ty);
    let arguments_of_call = [name, blocks, threads, shared, arguments, count];
    call_function(&mut builder, LAUNCH, &arguments_of_call, &[]);
    region::erase(op);
    Ok(())
}

/// Returns the words that a kernel's code takes for one argument: a memref is its descriptor's.
fn parameters<'c>(builder: &mut Builder<'c>, value: Val<'c>) -> Vec<Val<'c>> {
    let ty = value.r#type();
    let buffer = buffer_type(ty).filter(|buffer| buffer.kind == BufferKind::MemRef);
    let Some(buffer) = buffer else {
        return vec![value];
    };
    let descriptor = stored(builder.context, ty);
    let descriptor_value = cast(builder, value, descriptor);
    let [pointer, i64] = ["!llvm.ptr", "i64"].map(|ty| parse(builder.context, ty));
    let mut fields = vec![
        extract(builder, descriptor_value, 0, pointer),
        extract(builder, descriptor_value, 1, pointer),
        extract(builder, descriptor_value, 2, i64),
    ];
    let rank = buffer.shape.len();
    if rank > 0 {
        let array = parse(builder.context, &format!("!llvm.array<{rank} x i64>"));
        for field in [3, 4] {
            let numbers = extract(builder, descriptor_value, field, array);
            fields.extend((0..rank).map(|axis| extract(builder, numbers, axis, i64)));
        }
    }
    fields
}
