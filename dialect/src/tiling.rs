//! Upstream's `TilingInterface` for `mdh.compute`: the functions that `cpp/Tiling.cpp` calls, and
//! those behind them, which the passes supply.
//!
//! The dimensions of upstream's iteration domain are those of the computation, and count its
//! periods from 0: tile `o, s` of a dimension `L to U step T` starts at `L + T * o`.

use std::ffi::c_void;
use std::sync::OnceLock;

use melior::ir::{BlockRef, Value};
use mlir_sys::*;

use crate::ir::{self, Op, Val};
use crate::parts::Bound;
use crate::pass::guarded;
use crate::types::{self, BufferKind};

/// Insertion point of operations.
#[derive(Clone, Copy)]
pub struct At<'c> {
    /// The block.
    pub block: BlockRef<'c, 'c>,
    /// The operation that they come before; none at the block's end.
    pub before: Option<Op<'c>>,
}

/// Box of indices: a part of a domain or of a tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexBox<'c> {
    /// Its first index in each dimension.
    pub offsets: Vec<Bound<'c>>,
    /// Its length in each dimension.
    pub sizes: Vec<Bound<'c>>,
}

/// The computation of a tile.
pub struct Tiled<'c> {
    /// The computation, with one result for each of the whole one.
    pub op: Op<'c>,
    /// The slices that it takes, of inputs and outputs.
    pub slices: Vec<Op<'c>>,
}

/// Reason for which something cannot be done: a phrase that follows the operation's name.
pub type Refusal = String;

/// Finds the part of one thing that belongs to a part of another; the number is that of a result.
pub type Position =
    for<'c> fn(Op<'c>, At<'c>, usize, &IndexBox<'c>) -> Result<IndexBox<'c>, Refusal>;

/// Answers to upstream's questions.
pub struct Tiling {
    /// Tells, for each dimension, that its tiles are independent.
    pub is_parallel: fn(Op) -> Vec<bool>,
    /// The whole domain.
    pub domain: for<'c> fn(Op<'c>, At<'c>) -> Result<IndexBox<'c>, Refusal>,
    /// The computation of a part of the domain.
    pub tile: for<'c> fn(Op<'c>, At<'c>, &IndexBox<'c>) -> Result<Tiled<'c>, Refusal>,
    /// The part of a result that a part of the domain computes.
    pub result: Position,
    /// The part of the domain that computes a part of a result.
    pub of_result: Position,
    /// The code of one point, which is given as the domain's parts are.
    pub point: for<'c> fn(Op<'c>, At<'c>, &[Bound<'c>]) -> Result<(), Refusal>,
}

static TILING: OnceLock<&'static Tiling> = OnceLock::new();

/// Sets how computations are tiled; the first call decides.
pub fn set(tiling: &'static Tiling) {
    let _ = TILING.set(tiling);
}

/// `MdhIndex` of the shim: a number, or a value of type index.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawIndex {
    value: MlirValue,
    number: i64,
}

/// `MdhPlace` of the shim.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawPlace {
    block: MlirBlock,
    before: MlirOperation,
}

unsafe extern "C" {
    fn mdhSlice(
        place: RawPlace,
        location: MlirLocation,
        source: MlirValue,
        offsets: *const RawIndex,
        sizes: *const RawIndex,
        rank: isize,
    ) -> MlirOperation;
}

/// A slice of a tensor, of stride 1.
pub fn slice<'c>(at: At<'c>, origin: Op<'c>, source: Val<'c>, part: &IndexBox<'c>) -> Op<'c> {
    use melior::ir::ValueLike;
    use melior::ir::operation::OperationLike;
    let [offsets, sizes] = [&part.offsets, &part.sizes].map(|bounds| {
        let bounds = bounds.iter().map(|bound| raw(*bound));
        bounds.collect::<Vec<RawIndex>>()
    });
    let null = MlirOperation {
        ptr: std::ptr::null_mut(),
    };
    let place = RawPlace {
        block: melior::ir::BlockLike::to_raw(&at.block),
        before: at.before.map_or(null, |op| op.to_raw()),
    };
    // SAFETY: all handles are valid, and there are as many numbers as the rank says.
    unsafe {
        ir::op_from_raw(mdhSlice(
            place,
            origin.location().to_raw(),
            source.to_raw(),
            offsets.as_ptr(),
            sizes.as_ptr(),
            offsets.len() as isize,
        ))
    }
}

pub(crate) fn raw(bound: Bound) -> RawIndex {
    use melior::ir::ValueLike;
    let (value, number) = match bound {
        Bound::Static(number) => (
            MlirValue {
                ptr: std::ptr::null_mut(),
            },
            number,
        ),
        Bound::Dynamic(value) => (value.to_raw(), 0),
    };
    RawIndex { value, number }
}

/// # Safety
/// There are as many indices as it says.
pub(crate) unsafe fn bounds<'c>(indices: *const RawIndex, count: isize) -> Vec<Bound<'c>> {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: by contract; a value is null or valid.
    let indices = unsafe { std::slice::from_raw_parts(indices, count) };
    let bound = |index: &RawIndex| match index.value.ptr.is_null() {
        true => Bound::Static(index.number),
        // SAFETY: as above.
        false => Bound::Dynamic(ir::value(unsafe { Value::from_raw(index.value) })),
    };
    indices.iter().map(bound).collect()
}

/// # Safety
/// The handles are valid.
pub(crate) unsafe fn place<'c>(raw: RawPlace) -> At<'c> {
    // SAFETY: by contract; a null operation is none.
    unsafe {
        At {
            block: BlockRef::from_raw(raw.block),
            before: (!raw.before.ptr.is_null()).then(|| ir::op_from_raw(raw.before)),
        }
    }
}

/// Returns the tiling, or an error if nobody has set it.
fn tiling() -> Result<&'static Tiling, Refusal> {
    let tiling = TILING.get().copied();
    tiling.ok_or_else(|| "cannot be tiled: the passes of mdh are not registered".into())
}

/// Does something for an operation, and says why it cannot be done.
pub(crate) fn answer<T>(
    op: Op<'static>,
    say: fn(Op, &str),
    body: impl FnOnce(&'static Tiling) -> Result<T, Refusal>,
) -> Option<T> {
    let done = guarded(|| tiling().and_then(body)).unwrap_or_else(Err);
    done.map_err(|why| say(op, &why)).ok()
}

pub(crate) type EachBox = extern "C" fn(*mut c_void, RawIndex, RawIndex);

pub(crate) fn give(part: Option<IndexBox>, data: *mut c_void, each: EachBox) -> bool {
    let Some(part) = part else {
        return false;
    };
    for (offset, size) in part.offsets.iter().zip(&part.sizes) {
        each(data, raw(*offset), raw(*size));
    }
    true
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustTilingIterators(
    op: MlirOperation,
    data: *mut c_void,
    each: extern "C" fn(*mut c_void, bool),
) {
    // SAFETY: MLIR passes an operation that it holds.
    let op = unsafe { ir::op_from_raw(op) };
    let answer = answer(op, ir::error_at, |tiling| Ok((tiling.is_parallel)(op)));
    for is_parallel in answer.unwrap_or_default() {
        each(data, is_parallel);
    }
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustTilingDomain(
    op: MlirOperation,
    at: RawPlace,
    data: *mut c_void,
    each: EachBox,
) -> bool {
    // SAFETY: MLIR passes an operation and a place that it holds.
    let (op, at) = unsafe { (ir::op_from_raw(op), place(at)) };
    let part = answer(op, ir::error_at, |tiling| (tiling.domain)(op, at));
    give(part, data, each)
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustTile(
    op: MlirOperation,
    at: RawPlace,
    offsets: *const RawIndex,
    sizes: *const RawIndex,
    rank: isize,
    data: *mut c_void,
    each: extern "C" fn(*mut c_void, MlirOperation),
) -> bool {
    // SAFETY: MLIR passes what it holds, and as many indices as it says.
    let (op, at, part) = unsafe { (ir::op_from_raw(op), place(at), part(offsets, sizes, rank)) };
    let Some(tiled) = answer(op, ir::error_at, |tiling| (tiling.tile)(op, at, &part)) else {
        return false;
    };
    each(data, tiled.op.to_raw());
    for slice in tiled.slices {
        each(data, slice.to_raw());
    }
    true
}

/// # Safety
/// There are as many offsets and sizes as it says.
unsafe fn part<'c>(offsets: *const RawIndex, sizes: *const RawIndex, rank: isize) -> IndexBox<'c> {
    // SAFETY: by contract.
    unsafe {
        IndexBox {
            offsets: bounds(offsets, rank),
            sizes: bounds(sizes, rank),
        }
    }
}

macro_rules! positions {
    ($($name:ident, $function:ident, $say:path;)*) => {$(
        #[unsafe(no_mangle)]
        #[allow(
            clippy::too_many_arguments,
            reason = "C has no slices: a part is two pointers and a length"
        )]
        extern "C" fn $name(
            op: MlirOperation,
            at: RawPlace,
            number: isize,
            offsets: *const RawIndex,
            sizes: *const RawIndex,
            rank: isize,
            data: *mut c_void,
            each: EachBox,
        ) -> bool {
            // SAFETY: MLIR passes what it holds, and as many indices as it says.
            let (op, at, part) =
                unsafe { (ir::op_from_raw(op), place(at), part(offsets, sizes, rank)) };
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let outcome = answer(op, $say, |tiling| (tiling.$function)(op, at, number, &part));
            give(outcome, data, each)
        }
    )*};
}

// Where fusion is only tried, it is no error that it is not done.
positions! {
    mdhRustResultTile, result, ir::error_at;
    mdhRustTileOfResult, of_result, ir::remark_at;
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustTilePoint(
    op: MlirOperation,
    at: RawPlace,
    point: *const RawIndex,
    rank: isize,
) -> bool {
    // SAFETY: MLIR passes what it holds, and as many indices as it says.
    let (op, at, point) = unsafe { (ir::op_from_raw(op), place(at), bounds(point, rank)) };
    let done = answer(op, ir::error_at, |tiling| (tiling.point)(op, at, &point));
    done.is_some()
}

/// Returns the operand whose shape a result has: the tensor that the computation writes to.
fn shape_operand(op: Op, result: usize) -> Option<usize> {
    let parts = crate::read::compute(op).ok()?;
    let is_tensor = |value: Val| {
        let ty = melior::ir::ValueLike::r#type(&value);
        types::buffer_type(ty).is_some_and(|ty| ty.kind == BufferKind::Tensor)
    };
    // The outputs follow the inputs, and the outgoing carries the outputs.
    let numbers = (parts.inputs.len()..).zip(parts.destinations());
    let mut tensors = numbers.filter(|(_, buffer)| is_tensor(buffer.value));
    tensors.nth(result).map(|(number, _)| number)
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustShapeOperand(op: MlirOperation, result: isize) -> isize {
    // SAFETY: MLIR passes an operation that it holds.
    let op = unsafe { ir::op_from_raw(op) };
    let operand = guarded(|| shape_operand(op, usize::try_from(result).ok()?));
    let number = operand.ok().flatten().and_then(|n| isize::try_from(n).ok());
    number.unwrap_or(-1)
}
