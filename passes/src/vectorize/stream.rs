//! Stores that go past the caches.
//!
//! ```mlir
//! vector.store %v, %y[%i] : memref<67108864xf32>, vector<16xf32>
//! // becomes
//! %start = memref.extract_aligned_pointer_as_index %y : memref<67108864xf32> -> index
//! %distance = arith.muli %i, %c4 : index
//! %address = arith.addi %start, %distance : index
//! %rest = arith.andi %address, %c63 : index
//! %is_aligned = arith.cmpi eq, %rest, %c0 : index
//! scf.if %is_aligned {
//!   vector.store %v, %y[%i] {alignment = 64, nontemporal = true}
//!       : memref<67108864xf32>, vector<16xf32>
//! } else {
//!   vector.store %v, %y[%i] : memref<67108864xf32>, vector<16xf32>
//! }
//! ```
//!
//! A cache reads a line before it is written, and later writes it back; of an output that is
//! written once and is larger than the caches, nobody finds anything there. The processor has such
//! stores for aligned vectors only: of others LLVM makes one for each element. In loops whose steps
//! are whole vectors LLVM decides once, before them.

use mdh_dialect::ir::Val;
use mdh_dialect::types;
use melior::ir::attribute::{BoolAttribute, IntegerAttribute};
use melior::ir::{Attribute, Type, TypeLike, ValueLike};
use mlir_sys::mlirMemRefTypeGetStridesAndOffset;

use super::lanes::element;
use crate::builder::Builder;

/// Bytes from which on an output goes past the caches: twice what is the last level's share of a
/// core on most machines.
const LEAST: i64 = 64 << 20;

/// Where a vector is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    /// In the caches.
    Cached,
    /// In memory, where it is aligned.
    Streamed,
}

/// Whether a buffer is larger than the caches, as far as its type says.
pub fn is_large(buffer: Type) -> bool {
    let Some(ty) = types::buffer_type(buffer) else {
        return false;
    };
    let size = ty.element.byte_width() as i64;
    let count = ty.shape.iter().try_fold(size, |product, extent| {
        extent.and_then(|extent| product.checked_mul(extent))
    });
    count.is_some_and(|bytes| bytes >= LEAST) && layout(buffer).is_some()
}

/// Strides and offset of a memref whose type says them.
fn layout(ty: Type) -> Option<(Vec<i64>, i64)> {
    if mdh_dialect::layout::of_type(ty).is_some() {
        return None;
    }
    let rank = types::buffer_type(ty).map_or(0, |t| t.shape.len());
    let (mut strides, mut offset) = (vec![0i64; rank], 0i64);
    // SAFETY: the type is a memref's, and there is room for each of its strides.
    let found = unsafe {
        mlirMemRefTypeGetStridesAndOffset(ty.to_raw(), strides.as_mut_ptr(), &mut offset)
    };
    let is_known = found.value == 1 && offset != types::DYNAMIC;
    (is_known && !strides.contains(&types::DYNAMIC)).then_some((strides, offset))
}

/// Stores a vector of `lanes` elements.
pub fn store<'c>(
    builder: &mut Builder<'c>,
    stores: Stores,
    value: Val<'c>,
    buffer: Val<'c>,
    place: &[Val<'c>],
    lanes: i64,
) {
    let operands: Vec<Val> = [value, buffer].into_iter().chain(place.to_vec()).collect();
    let width = types::scalar_type(element(value)).map_or(0, |ty| ty.byte_width() as i64);
    let bytes = lanes * width;
    let is_streamed = stores == Stores::Streamed && [16, 32, 64].contains(&bytes);
    let Some((strides, offset)) = layout(buffer.r#type()).filter(|_| is_streamed) else {
        builder.op("vector.store", &operands, &[], &[]);
        return;
    };
    let index = builder.index_type();
    let start = "memref.extract_aligned_pointer_as_index";
    let start = builder.op(start, &[buffer], &[index], &[])[0];
    let mut distance = builder.index(offset);
    for (coordinate, stride) in place.iter().zip(strides) {
        let stride = builder.index(stride);
        let part = builder.binary("arith.muli", *coordinate, stride);
        distance = builder.binary("arith.addi", distance, part);
    }
    let width = builder.index(width);
    let distance = builder.binary("arith.muli", distance, width);
    let address = builder.binary("arith.addi", start, distance);
    let last = builder.index(bytes - 1);
    let rest = builder.binary("arith.andi", address, last);
    let zero = builder.index(0);
    let is_aligned = builder.compare("eq", rest, zero);
    let i64_type = types::mlir_type(builder.context, mdh_algebra::scalar::ScalarType::I64);
    let attributes: [(&str, Attribute); 2] = [
        ("alignment", IntegerAttribute::new(i64_type, bytes).into()),
        (
            "nontemporal",
            BoolAttribute::new(builder.context, true).into(),
        ),
    ];
    builder.if_else(
        is_aligned,
        &[],
        |builder| builder.op("vector.store", &operands, &[], &attributes),
        |builder| builder.op("vector.store", &operands, &[], &[]),
    );
}
