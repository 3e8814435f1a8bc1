//! Stores that are stored non-temporally.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @f(%x: memref<67108864xf32>, %y: memref<67108864xf32>, %n: index) {
//!   %c16 = arith.constant 16 : index
//!   %i = arith.muli %n, %c16 : index
//!   %end = arith.addi %i, %c16 : index
//!   mdh.compute (i = %i to %end)
//!     out_view(y = %y[i] : memref<67108864xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : memref<67108864xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 16}]>)
//!   return
//! }
//! // becomes
//! %start = memref.extract_aligned_pointer_as_index %y : memref<67108864xf32> -> index
//! %distance = arith.muli %n, %c64 : index
//! %address = arith.addi %start, %distance : index
//! %rest = arith.andi %address, %c63 : index
//! %is_aligned = arith.cmpi eq, %rest, %c0 : index
//! scf.if %is_aligned {
//!   vector.store %v, %y[%i] {alignment = 64 : i64, nontemporal = true}
//!       : memref<67108864xf32>, vector<16xf32>
//! } else {
//!   vector.store %v, %y[%i] : memref<67108864xf32>, vector<16xf32>
//! }
//! ```
//!
//! A cache reads a line before it is written, and later writes it back; of an output that is
//! written once and is larger than the caches, nobody finds anything there. The processor has such
//! stores for aligned vectors (and for words, which some processors send to memory one by one). In
//! loops whose steps are whole lines LLVM decides once, before them; [`crate::tile::tile`] lets such loops
//! begin with a line.
//!
//! A line that is written partly non-temporally and partly in them is read and written several
//! times, which takes longer than leaving all to the caches: what does not fill a vector stays in
//! them.

use mdh_algebra::computation::rank_without_units;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::types;
use mdh_schedule::asm::Asm;
use mdh_schedule::asm::facts::LINE;
use mdh_schedule::streaming_threshold;
use melior::ir::attribute::{BoolAttribute, IntegerAttribute};
use melior::ir::{Attribute, Type, ValueLike};

use super::lanes::element;
use crate::support::builder::Builder;

/// Kind of a vector's stores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stores {
    /// Stores to the caches.
    Cached,
    /// Non-temporal stores, where the address is aligned.
    Streamed,
}

/// Bytes from which on outputs of this machine go past its caches; `None` where it has none.
pub fn least(asm: &Asm) -> Option<i64> {
    let last = asm.memory("L3").or_else(|| asm.memory("L2"))?;
    Some(streaming_threshold(i64::try_from(last.capacity?).ok()?))
}

/// Returns whether a buffer has at least `least` bytes, as far as its type says, and its elements
/// lie where the type says.
pub fn is_large(buffer: Type, least: i64) -> bool {
    let bytes = types::buffer_type(buffer).and_then(|ty| ty.bytes());
    bytes.is_some_and(|bytes| bytes >= least) && layout(buffer).is_some()
}

/// Returns whether rows of `neighbours` elements fill lines of a cache: every row of the buffer
/// begins with a line, and each of its pieces does.
pub fn fills_lines(buffer: Type, neighbours: i64) -> bool {
    let (Some(ty), Some((strides, offset))) = (types::buffer_type(buffer), layout(buffer)) else {
        return false;
    };
    let width = ty.element.byte_width() as i64;
    let is_whole = |elements: i64| elements.checked_mul(width).is_some_and(|n| n % LINE == 0);
    let rows = &strides[..rank_without_units(&ty.shape).saturating_sub(1)];
    is_whole(neighbours) && is_whole(offset) && rows.iter().all(|stride| is_whole(*stride))
}

/// Strides and offset of a memref whose type says them.
fn layout(ty: Type) -> Option<(Vec<i64>, i64)> {
    let known = types::strides(ty).filter(|_| mdh_dialect::layout::of_type(ty).is_none());
    let (offset, strides) = known?;
    let strides: Option<Vec<i64>> = strides.into_iter().collect();
    strides.zip(offset)
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
    let width = width(value);
    let bytes = lanes * width;
    let is_streamed = stores == Stores::Streamed && [16, 32, 64].contains(&bytes);
    let rest = is_streamed.then(|| rest(builder, buffer, place, bytes));
    let Some(rest) = rest.flatten() else {
        builder.op(ops::vector::STORE, &operands, &[], &[]);
        return;
    };
    let zero = builder.index(0);
    let is_aligned = builder.compare("eq", rest, zero);
    let past = past(builder, bytes);
    builder.if_else(
        is_aligned,
        &[],
        |builder| builder.op(ops::vector::STORE, &operands, &[], &past),
        |builder| builder.op(ops::vector::STORE, &operands, &[], &[]),
    );
}

/// Returns the bytes of an element behind a multiple of `bytes`, a power of two; `None` where the
/// buffer's type does not say where its elements lie.
pub fn rest<'c>(
    builder: &mut Builder<'c>,
    buffer: Val<'c>,
    place: &[Val<'c>],
    bytes: i64,
) -> Option<Val<'c>> {
    let (strides, offset) = layout(buffer.r#type())?;
    let index = builder.index_type();
    let start = ops::memref::EXTRACT_ALIGNED_POINTER_AS_INDEX;
    let start = builder.op(start, &[buffer], &[index], &[])[0];
    let mut distance = builder.index(offset);
    for (coordinate, stride) in place.iter().zip(strides) {
        let stride = builder.index(stride);
        let part = builder.binary(ops::arith::MULI, *coordinate, stride);
        distance = builder.binary(ops::arith::ADDI, distance, part);
    }
    let element = types::buffer_type(buffer.r#type())?.element;
    let width = builder.index(element.byte_width() as i64);
    let distance = builder.binary(ops::arith::MULI, distance, width);
    let address = builder.binary(ops::arith::ADDI, start, distance);
    let last = builder.index(bytes - 1);
    Some(builder.binary(ops::arith::ANDI, address, last))
}

/// Bytes of each element of a vector.
fn width(value: Val) -> i64 {
    types::scalar_type(element(value)).map_or(0, |ty| ty.byte_width() as i64)
}

/// Returns the attributes of a non-temporal store.
fn past<'c>(builder: &Builder<'c>, alignment: i64) -> [(&'static str, Attribute<'c>); 2] {
    let i64_type = types::mlir_type(builder.context, mdh_algebra::scalar::ScalarType::I64);
    let alignment = IntegerAttribute::new(i64_type, alignment);
    let is_past = BoolAttribute::new(builder.context, true);
    [
        ("alignment", alignment.into()),
        ("nontemporal", is_past.into()),
    ]
}
