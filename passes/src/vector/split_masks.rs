//! `mdh-split-masks`: masked accesses are no wider than the machine's vectors.
//!
//! ```mlir
//! func.func @load(%x: memref<?xf32>, %at: index, %m: vector<32xi1>, %z: vector<32xf32>) -> vector<32xf32> {
//!   %v = vector.maskedload %x[%at], %m, %z : memref<?xf32>, vector<32xi1>, vector<32xf32> into vector<32xf32>
//!   return %v : vector<32xf32>
//! }
//! // becomes
//! func.func @load(%x: memref<?xf32>, %at: index, %m: vector<32xi1>, %z: vector<32xf32>) -> vector<32xf32> {
//!   %m0 = vector.extract_strided_slice %m {offsets = [0], sizes = [16], strides = [1]} : vector<32xi1> to vector<16xi1>
//!   %z0 = vector.extract_strided_slice %z {offsets = [0], sizes = [16], strides = [1]} : vector<32xf32> to vector<16xf32>
//!   %v0 = vector.maskedload %x[%at], %m0, %z0 : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
//!   %low = vector.insert_strided_slice %v0, %z {offsets = [0], strides = [1]} : vector<16xf32> into vector<32xf32>
//!   %m1 = vector.extract_strided_slice %m {offsets = [16], sizes = [16], strides = [1]} : vector<32xi1> to vector<16xi1>
//!   %z1 = vector.extract_strided_slice %z {offsets = [16], sizes = [16], strides = [1]} : vector<32xf32> to vector<16xf32>
//!   %c16 = arith.constant 16 : index
//!   %next = arith.addi %at, %c16 : index
//!   %v1 = vector.maskedload %x[%next], %m1, %z1 : memref<?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
//!   %v = vector.insert_strided_slice %v1, %low {offsets = [16], strides = [1]} : vector<16xf32> into vector<32xf32>
//!   return %v : vector<32xf32>
//! }
//! ```
//!
//! LLVM 22 splits wider ones itself, but on x86 without AVX-512 it loses the mask of a half of which
//! it knows no lane to be there: that half reads memory which need not be the program's. For the same
//! reason a part's mask is computed from what the mask is computed from, where that is known.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, TypeLike, ValueLike};
use mlir_sys::{
    mlirShapedTypeGetDimSize, mlirShapedTypeGetElementType, mlirShapedTypeGetRank,
    mlirTypeIsAVector, mlirVectorTypeIsScalable,
};

use crate::support::builder::Builder;
use crate::support::captured::attribute;
use crate::support::machine;
use crate::support::region;

mod part;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-split-masks",
    description: "masked accesses to parts no wider than the machine's vectors",
    operation: ops::builtin::MODULE,
    options: &[machine::ASM, machine::VECTOR],
    run,
};

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    // Without lanes there are no vectors to be cut.
    let Some(bytes) = machine::from_options(options)?.vector() else {
        return Ok(());
    };
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    for op in ir::find_all(module, &[ops::vector::MASKEDLOAD, ops::vector::MASKEDSTORE]) {
        split(op, bytes);
    }
    Ok(())
}

/// A vector's lanes and the type of one, if it has one axis of a known extent.
fn lanes<'c>(ty: Type<'c>) -> Option<(i64, Type<'c>)> {
    // SAFETY: the type's kind is checked before it is asked for its shape.
    unsafe {
        let raw = ty.to_raw();
        let is_plain = mlirTypeIsAVector(raw)
            && mlirShapedTypeGetRank(raw) == 1
            && !mlirVectorTypeIsScalable(raw);
        is_plain.then(|| {
            let element = Type::from_raw(mlirShapedTypeGetElementType(raw));
            (mlirShapedTypeGetDimSize(raw, 0), element)
        })
    }
}

/// Splits an access whose vectors have more bytes than this.
fn split<'c>(op: Op<'c>, bytes: i64) {
    // Memory, indices, mask, and what is stored or taken where the mask is off.
    let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
    let [memory, indices @ .., last, mask, value] = &operands[..] else {
        return;
    };
    let Some((count, element)) = lanes(value.r#type()) else {
        return;
    };
    let Some(width) = types::scalar_type(element).map(|ty| ty.byte_width() as i64) else {
        return;
    };
    let part = bytes / width;
    if count <= part {
        return;
    }
    if part < 2 || count % part != 0 {
        let text = format!(
            "keeps its {count} lanes under one mask: found vectors of {part} lanes on this machine, \
             expected two or more, in a number that divides {count}"
        );
        return ir::remark_at(op, &text);
    }
    let mut builder = Builder::before(op);
    let context = builder.context;
    let narrow = part::narrowed(context, value.r#type(), part);
    let mut whole = *value;
    for from in (0..count).step_by(part as usize) {
        let own_mask = part::part(&mut builder, *mask, from, part);
        let piece = part::slice(&mut builder, *value, from, part);
        let at = if from == 0 {
            *last
        } else {
            let step = builder.index(from);
            builder.binary(ops::arith::ADDI, *last, step)
        };
        let mut arguments = vec![*memory];
        arguments.extend(indices);
        arguments.extend([at, own_mask, piece]);
        if ir::name_of(op) == ops::vector::MASKEDSTORE {
            builder.op(ir::name_of(op), &arguments, &[], &[]);
            continue;
        }
        let loaded = builder.op(ir::name_of(op), &arguments, &[narrow], &[])[0];
        let place = [
            ("offsets", attribute(context, &format!("[{from}]"))),
            ("strides", attribute(context, "[1]")),
        ];
        let ty = value.r#type();
        let insert = ops::vector::INSERT_STRIDED_SLICE;
        whole = builder.op(insert, &[loaded, whole], &[ty], &place)[0];
    }
    if let Some(result) = ir::result(op, 0) {
        region::replace_all_uses(result, whole);
    }
    region::erase(op);
}
