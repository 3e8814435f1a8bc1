//! Inputs that nothing reads go; equal inputs are one.
//!
//! ```mlir
//! func.func @f(%a: memref<8xf32>, %c: memref<8xf32>, %w: memref<8xf32>) {
//!   mdh.compute (i = 8)
//!     out_view(w = %w[i] : memref<8xf32>)
//!     md_hom((%x: f32, %y: f32, %z: f32) {
//!       %p = arith.mulf %x, %y : f32
//!       mdh.yield %p : f32
//!     }, (cc))
//!     inp_view(a = %a[i] : memref<8xf32>, b = %a[i] : memref<8xf32>, c = %c[i] : memref<8xf32>)
//!   return
//! }
//! // becomes
//! func.func @f(%a: memref<8xf32>, %c: memref<8xf32>, %w: memref<8xf32>) {
//!   mdh.compute (i = 8)
//!     out_view(w = %w[i] : memref<8xf32>)
//!     md_hom((%x: f32) {
//!       %p = arith.mulf %x, %x : f32
//!       mdh.yield %p : f32
//!     }, (cc))
//!     inp_view(a = %a[i] : memref<8xf32>)
//!   return
//! }
//! ```
//!
//! Two inputs are equal if they are the same buffer with the same origin and padding; then they
//! become one with the accesses of both, each access once.

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::BufferPart;
use melior::ir::ValueLike;
use mlir_sys::MlirRewriterBase;

use crate::support::draft::{self, Draft, Rewriter};
use crate::support::region;

/// The pattern.
pub fn simplify(op: Op, rewriter: MlirRewriterBase) -> bool {
    let (Some(parts), Some(block)) = (draft::parts(op), ir::only_block(ir::region(op, 0))) else {
        return false;
    };
    let used: Vec<bool> = arguments(block).into_iter().map(ir::has_uses).collect();
    let merged = merge(&parts.inputs, &used);
    if merged.is_identity(&parts.inputs) {
        return false;
    }
    let mut draft = Draft::new(op, parts);
    let targets = merged.targets();
    draft.set_inputs(merged.inputs, &targets);
    draft.commit_same(Rewriter::Pattern(rewriter))
}

/// Merges equal inputs of a computation that is to be made, and drops those that nothing reads.
pub fn merge_equal(draft: &mut Draft) {
    let arguments = arguments(region::block(&draft.scalar));
    let used: Vec<bool> = arguments.into_iter().map(ir::has_uses).collect();
    let merged = merge(&draft.parts.inputs, &used);
    if !merged.is_identity(&draft.parts.inputs) {
        let targets = merged.targets();
        draft.set_inputs(merged.inputs, &targets);
    }
}

struct Merged<'c> {
    inputs: Vec<BufferPart<'c>>,
    /// For each old access the new buffer and access; `None` where nothing uses it.
    places: Vec<Option<(usize, usize)>>,
}

fn merge<'c>(inputs: &[BufferPart<'c>], used: &[bool]) -> Merged<'c> {
    let mut merged = Merged {
        inputs: Vec::new(),
        places: Vec::new(),
    };
    for input in inputs {
        for access in &input.accesses {
            if !used.get(merged.places.len()).copied().unwrap_or(true) {
                merged.places.push(None);
                continue;
            }
            let position = merged
                .inputs
                .iter()
                .position(|other| same_buffer(other, input));
            let buffer = position.unwrap_or_else(|| {
                merged.inputs.push(BufferPart {
                    accesses: Vec::new(),
                    ..input.clone()
                });
                merged.inputs.len() - 1
            });
            let accesses = &mut merged.inputs[buffer].accesses;
            let access = accesses
                .iter()
                .position(|a| a == access)
                .unwrap_or_else(|| {
                    accesses.push(access.clone());
                    accesses.len() - 1
                });
            merged.places.push(Some((buffer, access)));
        }
    }
    merged
}

fn same_buffer(a: &BufferPart, b: &BufferPart) -> bool {
    a.value.to_raw().ptr == b.value.to_raw().ptr
        && a.origin == b.origin
        && draft::same(a.pad, b.pad)
}

impl Merged<'_> {
    fn is_identity(&self, inputs: &[BufferPart]) -> bool {
        let count =
            |buffers: &[BufferPart]| buffers.iter().map(|b| b.accesses.len()).sum::<usize>();
        self.inputs.len() == inputs.len() && count(&self.inputs) == count(inputs)
    }

    /// The number of the new access for each old one.
    fn targets(&self) -> Vec<Option<usize>> {
        let starts: Vec<usize> = self
            .inputs
            .iter()
            .scan(0, |next, b| {
                let start = *next;
                *next += b.accesses.len();
                Some(start)
            })
            .collect();
        self.places
            .iter()
            .map(|p| p.map(|(b, a)| starts[b] + a))
            .collect()
    }
}
