//! Truth values in lanes: a byte each in memory, a bit each in a vector.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @f(%x: memref<64xi1>, %y: memref<64xi1>, %z: memref<64xi1>) {
//!   mdh.compute (i = 64)
//!     out_view(z = %z[i] : memref<64xi1>)
//!     md_hom((%a: i1, %b: i1) {
//!       %both = arith.andi %a, %b : i1
//!       mdh.yield %both : i1
//!     }, (cc))
//!     inp_view(x = %x[i] : memref<64xi1>, y = %y[i] : memref<64xi1>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 64}]>)
//!   return
//! }
//! // becomes
//! %xs = builtin.unrealized_conversion_cast %x : memref<64xi1> to memref<64xi8>
//! %a8 = vector.load %xs[%c0] : memref<64xi8>, vector<64xi8>
//! %a = arith.trunci %a8 : vector<64xi8> to vector<64xi1>
//! %ys = builtin.unrealized_conversion_cast %y : memref<64xi1> to memref<64xi8>
//! %b8 = vector.load %ys[%c0] : memref<64xi8>, vector<64xi8>
//! %b = arith.trunci %b8 : vector<64xi8> to vector<64xi1>
//! %both = arith.andi %a, %b : vector<64xi1>
//! %zs = builtin.unrealized_conversion_cast %z : memref<64xi1> to memref<64xi8>
//! %both8 = arith.extui %both : vector<64xi1> to vector<64xi8>
//! vector.store %both8, %zs[%c0] : memref<64xi8>, vector<64xi8>
//! ```
//!
//! A `vector.load` of `i1` would read eight of them from each byte. MLIR has no operation that sees a
//! memref's elements in another type; the two types are one in LLVM, where the cast goes.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;

use crate::support::builder::Builder;
use crate::support::captured::cast;

/// The type that an element has in memory.
pub fn stored(element: ScalarType) -> ScalarType {
    match element {
        ScalarType::I1 => ScalarType::I8,
        other => other,
    }
}

/// A buffer as vectors access it: its bytes, where its elements are truth values.
pub fn memory<'c>(builder: &mut Builder<'c>, buffer: Val<'c>) -> Val<'c> {
    let ty = buffer.r#type();
    match types::buffer_type(ty).map(|ty| ty.element) {
        Some(ScalarType::I1) => {
            let byte = types::mlir_type(builder.context, ScalarType::I8);
            cast(builder, buffer, types::memref_of(byte, ty))
        }
        _ => buffer,
    }
}

/// Lanes as they are stored.
pub fn to_memory<'c>(builder: &mut Builder<'c>, value: Val<'c>) -> Val<'c> {
    match types::scalar_type(types::element(value.r#type())) {
        Some(ScalarType::I1) => builder.convert(ops::arith::EXTUI, value, ScalarType::I8),
        _ => value,
    }
}

/// Loaded lanes as values of an element's type.
pub fn from_memory<'c>(builder: &mut Builder<'c>, value: Val<'c>, element: ScalarType) -> Val<'c> {
    match element {
        ScalarType::I1 => builder.convert(ops::arith::TRUNCI, value, element),
        _ => value,
    }
}
