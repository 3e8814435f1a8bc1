//! Empty parts of tensors and memrefs: upstream's tiling gives threads beyond the last tile a part of size 0 that starts
//! behind the end, which its run-time verification takes for a mistake.

use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;

use crate::support::buffers::{SLICE, listed};
use crate::support::builder::Builder;
use crate::support::region;
use crate::tile::tiling_interface::boxes;

/// Operations on a part, with the number of the operand that it is a part of.
const PARTS: [(&str, usize); 4] = [
    (ops::tensor::EXTRACT_SLICE, 0),
    (ops::memref::SUBVIEW, 0),
    (ops::tensor::INSERT_SLICE, 1),
    (ops::tensor::PARALLEL_INSERT_SLICE, 1),
];

/// Starts parts that may be empty at the end, where they would start behind it.
pub fn start_inside(module: Op) {
    for (name, whole) in PARTS {
        for op in ir::find_all(module, &[name]) {
            start(op, whole);
        }
    }
}

fn start(op: Op, whole: usize) -> Option<()> {
    let [offsets, sizes, _] = listed(op, whole + 1, SLICE)?;
    let buffer = ir::operand(op, whole)?;
    // Only other parts stand beside one that a thread leaves.
    let place = match ir::name_of(op) {
        ops::tensor::PARALLEL_INSERT_SLICE => ir::parent(op)?,
        _ => op,
    };
    let mut operand = whole + 1;
    for (axis, (offset, size)) in offsets.iter().zip(sizes).enumerate() {
        let Bound::Dynamic(offset) = *offset else {
            continue;
        };
        if boxes::is_maximum(size) && !boxes::is_minimum(offset) {
            let mut builder = Builder::before(place);
            let extent = builder.dim(buffer, axis);
            let inside = builder.binary(ops::arith::MINSI, offset, extent);
            region::set_operand(op, operand, inside);
        }
        operand += 1;
    }
    Some(())
}
