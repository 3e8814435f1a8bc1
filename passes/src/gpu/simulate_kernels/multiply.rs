//! Warp-level MMA, simulated.
//!
//! ```mlir
//! // mdh-opt --mdh-simulate-kernels --cse
//! func.func @f(%x: memref<8xf32>, %a: vector<2xf16>, %c: f32) {
//!   %c1 = arith.constant 1 : index
//!   %c32 = arith.constant 32 : index
//!   gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
//!       threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
//!     %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c, %c, %c, %c]
//!       {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
//!        shape = #nvvm.shape<m = 16, n = 8, k = 16>}
//!       : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
//!     %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
//!     memref.store %d0, %x[%c1] : memref<8xf32>
//!     gpu.terminator
//!   }
//!   return
//! }
//! // becomes, with neighbours packed into numbers of 64 bits
//! %all = call @mdh_sim_multiply(%thread, %f16, %a01, %a23, %b01, %sum01, %sum23, %site)
//!     : .. -> !llvm.struct<(i64, i64)>
//! ```

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::captured::{call_function, extract, insert, known_function, parse};

/// Function of the simulator that is called.
const FUNCTION: &str = "mdh_sim_multiply";
/// Sums of a lane.
const SUMS: usize = 4;
/// The result of the operation.
const RESULT: &str = "!llvm.struct<(f32, f32, f32, f32)>";

/// Calls the simulator for an `nvvm.mma.sync`.
pub fn lower<'c>(
    builder: &mut Builder<'c>,
    module: Op<'c>,
    op: Op<'c>,
    (thread, site): (Val<'c>, Val<'c>),
) -> Result<Vec<Val<'c>>, Errors> {
    let factor = factor(op)?;
    let factor = builder.scalar(Scalar::from_i64(ScalarType::I32, factor));
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let pairs: Vec<Val> = operands.chunks(2).map(|two| pair(builder, two)).collect();
    let both = parse(builder.context, "!llvm.struct<(i64, i64)>");
    known_function(
        module,
        FUNCTION,
        "(!llvm.ptr, i32, i64, i64, i64, i64, i64, !llvm.ptr) -> !llvm.struct<(i64, i64)>",
    );
    let arguments: Vec<Val> = [&[thread, factor], &pairs[..], &[site]].concat();
    let product = call_function(builder, FUNCTION, &arguments, &[both])[0];
    let result = parse(builder.context, RESULT);
    let mut sums = builder.op(ops::llvm::MLIR_UNDEF, &[], &[result], &[])[0];
    for n in 0..SUMS {
        let sum = half(builder, product, n);
        sums = insert(builder, sums, sum, n);
    }
    Ok(vec![sums])
}

/// The number by which the simulator knows the type of the factors.
fn factor(op: Op) -> Result<i64, Errors> {
    let text = |name: &str| ir::attribute(op, name).map_or(String::new(), |a| a.to_string());
    let shape = text("shape");
    let types = ["multiplicandAPtxType", "multiplicandBPtxType"].map(text);
    let sum = op.result(0).map(|sum| ir::value(sum).r#type().to_string());
    let is_known = shape == "#nvvm.shape<m = 16, n = 8, k = 16>" && sum.as_deref() == Ok(RESULT);
    let are_all = |name: &str| {
        types
            .iter()
            .all(|ty| *ty == format!("#nvvm.mma_type<{name}>"))
    };
    match () {
        () if is_known && are_all("f16") => Ok(0),
        () if is_known && are_all("bf16") => Ok(1),
        () => Err(vec![format!(
            "has 'nvvm.mma.sync' of {shape} and factors of {} inside, which is not simulated: \
             expected m = 16, n = 8, k = 16, factors of f16 or bf16 and sums of f32",
            types.join(" and ")
        )]),
    }
}

/// Two values of 32 bits in one of 64, the first one lowest.
fn pair<'c>(builder: &mut Builder<'c>, two: &[Val<'c>]) -> Val<'c> {
    let [word, wide] = ["i32", "i64"].map(|ty| parse(builder.context, ty));
    let mut parts = two.iter().map(|value| {
        let bits = match value.r#type() == word {
            true => *value,
            false => builder.op(ops::llvm::BITCAST, &[*value], &[word], &[])[0],
        };
        builder.op(ops::arith::EXTUI, &[bits], &[wide], &[])[0]
    });
    let (low, high) = (parts.next(), parts.next());
    let (Some(low), Some(high)) = (low, high) else {
        panic!("fragments have an even number of registers");
    };
    let shift = shift(builder);
    let high = builder.binary(ops::arith::SHLI, high, shift);
    builder.binary(ops::arith::ORI, high, low)
}

/// A sum out of those that lie in pairs.
fn half<'c>(builder: &mut Builder<'c>, all: Val<'c>, n: usize) -> Val<'c> {
    let [word, wide] = ["i32", "i64"].map(|ty| parse(builder.context, ty));
    let mut bits = extract(builder, all, n / 2, wide);
    if n % 2 == 1 {
        let shift = shift(builder);
        bits = builder.binary(ops::arith::SHRUI, bits, shift);
    }
    let bits = builder.op(ops::arith::TRUNCI, &[bits], &[word], &[])[0];
    let float = types::mlir_type(builder.context, ScalarType::F32);
    builder.op(ops::arith::BITCAST, &[bits], &[float], &[])[0]
}

fn shift<'c>(builder: &mut Builder<'c>) -> Val<'c> {
    builder.scalar(Scalar::from_i64(ScalarType::I64, 32))
}
