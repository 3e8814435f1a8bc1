//! Upstream's `PartialReductionOpInterface` for `mdh.compute`: the functions that
//! `cpp/PartialReduction.cpp` calls, and those behind them, which the passes supply.

use std::ffi::c_void;
use std::sync::OnceLock;

use melior::ir::Value;
use mlir_sys::{MlirOperation, MlirValue};

use crate::ir::{self, Op, Val};
use crate::parts::Bound;
use crate::tiling::{
    At, EachBox, IndexBox, RawIndex, RawPlace, Refusal, Tiled, answer, bounds, give, place,
};

/// A part of a computation whose dimensions are cut though they combine.
#[derive(Clone, Debug, PartialEq)]
pub struct Split<'c> {
    /// The part of the domain.
    pub part: IndexBox<'c>,
    /// The dimensions that are cut.
    pub dims: Vec<usize>,
    /// The part's number in each of these.
    pub numbers: Vec<Bound<'c>>,
    /// True if each part has a partial result of its own, and false if it has an element for each
    /// of them.
    pub has_result_for_each_part: bool,
    /// Tensors of the partial results, one for each component.
    pub partials: Vec<Val<'c>>,
}

/// Answers to upstream's questions.
pub struct Partial {
    /// Tensors of partial results that are not there yet; the sizes of the part are the domain's, and
    /// those of the partial results where it is cut.
    pub start: for<'c> fn(Op<'c>, At<'c>, &Split<'c>) -> Result<Vec<Op<'c>>, Refusal>,
    /// The computation of a part, with a result for each component.
    pub tile: for<'c> fn(Op<'c>, At<'c>, &Split<'c>) -> Result<Tiled<'c>, Refusal>,
    /// The part of a component's partial results that a part of the domain computes.
    pub position: for<'c> fn(Op<'c>, At<'c>, usize, &Split<'c>) -> Result<IndexBox<'c>, Refusal>,
    /// The computation of the result from all partial results.
    pub merge: for<'c> fn(Op<'c>, At<'c>, &Split<'c>) -> Result<Op<'c>, Refusal>,
}

static PARTIAL: OnceLock<&'static Partial> = OnceLock::new();

/// Sets how partial results are computed; the first call decides.
pub fn set(partial: &'static Partial) {
    let _ = PARTIAL.set(partial);
}

fn partial() -> Result<&'static Partial, Refusal> {
    let partial = PARTIAL.get().copied();
    partial.ok_or_else(|| {
        "cannot be cut into partial results: the passes of mdh are not registered".into()
    })
}

/// `MdhSplit` of the shim.
#[repr(C)]
struct RawSplit {
    offsets: *const RawIndex,
    sizes: *const RawIndex,
    rank: isize,
    dims: *const isize,
    count: isize,
    numbers: *const RawIndex,
    has_result_for_each_part: bool,
    partials: *const MlirValue,
    components: isize,
}

/// # Safety
/// There are as many elements as it says.
unsafe fn list<'a, T>(start: *const T, count: isize) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: by contract.
        Ok(count) if count != 0 && !start.is_null() => unsafe {
            std::slice::from_raw_parts(start, count)
        },
        _ => &[],
    }
}

/// # Safety
/// It is valid, and so is all that it points to; what upstream does not say is null.
unsafe fn split<'c>(raw: *const RawSplit) -> Split<'c> {
    // SAFETY: by contract.
    unsafe {
        let raw = &*raw;
        let some = |start: *const RawIndex, count| match start.is_null() {
            true => Vec::new(),
            false => bounds(start, count),
        };
        let dims = list(raw.dims, raw.count).iter();
        let partials = list(raw.partials, raw.components).iter();
        Split {
            part: IndexBox {
                offsets: some(raw.offsets, raw.rank),
                sizes: some(raw.sizes, raw.rank),
            },
            dims: dims.filter_map(|d| usize::try_from(*d).ok()).collect(),
            numbers: some(raw.numbers, raw.count),
            has_result_for_each_part: raw.has_result_for_each_part,
            partials: partials
                .map(|value| ir::value(Value::from_raw(*value)))
                .collect(),
        }
    }
}

type EachOp = extern "C" fn(*mut c_void, MlirOperation);

#[unsafe(no_mangle)]
extern "C" fn mdhRustPartialStart(
    op: MlirOperation,
    at: RawPlace,
    raw: *const RawSplit,
    data: *mut c_void,
    each: EachOp,
) -> bool {
    // SAFETY: MLIR passes what it holds.
    let (op, at, split) = unsafe { (ir::op_from_raw(op), place(at), split(raw)) };
    let starts = answer(op, ir::error_at, |_| (partial()?.start)(op, at, &split));
    let Some(starts) = starts else {
        return false;
    };
    for start in starts {
        each(data, start.to_raw());
    }
    true
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustPartialTile(
    op: MlirOperation,
    at: RawPlace,
    raw: *const RawSplit,
    data: *mut c_void,
    each: EachOp,
) -> bool {
    // SAFETY: MLIR passes what it holds.
    let (op, at, split) = unsafe { (ir::op_from_raw(op), place(at), split(raw)) };
    let tiled = answer(op, ir::error_at, |_| (partial()?.tile)(op, at, &split));
    let Some(tiled) = tiled else {
        return false;
    };
    each(data, tiled.op.to_raw());
    for slice in tiled.slices {
        each(data, slice.to_raw());
    }
    true
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustPartialPosition(
    op: MlirOperation,
    at: RawPlace,
    component: isize,
    raw: *const RawSplit,
    data: *mut c_void,
    each: EachBox,
) -> bool {
    // SAFETY: MLIR passes what it holds.
    let (op, at, split) = unsafe { (ir::op_from_raw(op), place(at), split(raw)) };
    let component = usize::try_from(component).unwrap_or(usize::MAX);
    let part = answer(op, ir::error_at, |_| {
        (partial()?.position)(op, at, component, &split)
    });
    give(part, data, each)
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustPartialMerge(
    op: MlirOperation,
    at: RawPlace,
    raw: *const RawSplit,
    data: *mut c_void,
    each: EachOp,
) -> bool {
    // SAFETY: MLIR passes what it holds.
    let (op, at, split) = unsafe { (ir::op_from_raw(op), place(at), split(raw)) };
    let merged = answer(op, ir::error_at, |_| (partial()?.merge)(op, at, &split));
    if let Some(merged) = merged {
        each(data, merged.to_raw());
        return true;
    }
    false
}
