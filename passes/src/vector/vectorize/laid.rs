//! Lanes in memory that lies in a layout.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --cse
//! // Lanes of j, a multiple of 16, in a tile of 64x64 that lies in blocks of 8x16.
//! #blocks = #mdh.layout<OrderBy(RegP([8,8,4,16],[1,3,2,4])).GroupBy([64,64])>
//! func.func @f(%memory: memref<4096xf32>, %y: memref<64x64xf32>, %n: index) {
//!   %x = mdh.layout.view %memory : memref<4096xf32> to memref<64x64xf32, #blocks>
//!   %c2 = arith.constant 2 : index
//!   %i = arith.muli %n, %c2 : index
//!   %next = arith.addi %i, %c2 : index
//!   mdh.compute (i = %i to %next, j = 16)
//!     out_view(y = %y[i, j] : memref<64x64xf32>)
//!     md_hom(id, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<64x64xf32, #blocks>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [register {i: 2}, simd {j: 16}]>)
//!   return
//! }
//! // becomes
//! %at = mdh.layout.apply #mdh.layout<OrderBy(RegP([8,8,4,16],[1,3,2,4])).GroupBy([64,64])>[%i, %c0]
//! %lanes = vector.load %memory[%at] : memref<4096xf32>, vector<16xf32>
//! ```
//!
//! Elements that are neighbours in the view need not be neighbours in memory. Where the layout is proved
//! to have them so, for lanes that start where these do, they are one vector of the memory itself;
//! everywhere else each lane accesses its own element of the view.

use mdh_algebra::layout::runs::Run;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::layout;
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;
use mdh_dialect::types;
use melior::ir::ValueLike;

use super::access::{Vector, is_in_lanes};
use super::lanes::spread;
use super::truth;
use crate::llvm::lower_to_loops::access::place;
use crate::support::builder::{Builder, known};
use crate::support::residue::residue;

impl<'c> Vector<'c> {
    /// Reads through an access in a layout; `None` if it is not proved that the elements of all
    /// lanes are contiguous.
    pub(super) fn load_run(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Option<Val<'c>> {
        let operands = self.run_start(builder, buffer, access, point)?;
        let element = types::buffer_type(buffer.value.r#type())?.element;
        let mask = self.mask(builder);
        Some(self.load(builder, operands, element, mask, None))
    }

    /// Stores a value of each lane that the mask names in a layout; `false` if it is not proved that
    /// they lie one after the other.
    pub(super) fn store_run(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
        (value, mask): (Val<'c>, Option<Val<'c>>),
    ) -> bool {
        let Some(mut operands) = self.run_start(builder, buffer, access, point) else {
            return false;
        };
        let value = truth::to_memory(builder, value);
        let value = spread(builder, value, self.count);
        match mask {
            None => {
                operands.insert(0, value);
                builder.op(ops::vector::STORE, &operands, &[], &[]);
            }
            Some(mask) => {
                operands.extend([mask, value]);
                builder.op(ops::vector::MASKEDSTORE, &operands, &[], &[]);
            }
        }
        true
    }

    /// The memory under a layout and the place in it where the elements of all lanes start.
    fn run_start(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Option<Vec<Val<'c>>> {
        let axis = self.axis(buffer, access)?;
        let ty = buffer.value.r#type();
        let is_run = |run| layout::is_run(ty, axis, run);
        let is_whole = is_run(Run::Whole);
        if !is_whole && !is_run(Run::Blocks(self.count)) {
            return None;
        }
        let view = ir::defining_op(buffer.value).filter(|op| ir::name_of(*op) == layout::VIEW)?;
        let memory = ir::operand(view, 0)?;
        let layout = layout::of_type(ty)?;
        let mut place = place(builder, buffer, access, point);
        if !is_whole && residue(place[axis], self.count) != Some(0) {
            return None;
        }
        let sizes = layout.sizes();
        let outer = place.len() - sizes.len();
        if self.limit.is_some() {
            // Where no lane has a point, the layout is asked for an index that it has.
            let last = builder.index(sizes[axis - outer].as_constant()? - 1);
            place[axis] = builder.binary(ops::arith::MINSI, place[axis], last);
        }
        let index = place.split_off(outer);
        let (name, attributes) = layout::apply(builder.context, &layout)?;
        let offset = [builder.index_type()];
        place.extend(builder.op(name, &index, &offset, &attributes));
        place.insert(0, truth::memory(builder, memory));
        Some(place)
    }

    /// Returns whether lanes may be neighbours in a layout: if they start where its runs do.
    pub(super) fn has_runs(&self, buffer: &BufferPart<'c>, access: usize) -> bool {
        let runs = [Run::Whole, Run::Blocks(self.count)];
        runs.into_iter().any(|run| self.has(buffer, access, run))
    }

    /// Returns whether lanes are neighbours in a layout wherever they start.
    pub(super) fn is_one_run(&self, buffer: &BufferPart<'c>, access: usize) -> bool {
        self.has(buffer, access, Run::Whole)
    }

    fn has(&self, buffer: &BufferPart<'c>, access: usize, run: Run) -> bool {
        let axis = self.axis(buffer, access);
        axis.is_some_and(|axis| layout::is_run(buffer.value.r#type(), axis, run))
    }

    /// The axis of a view in a layout along which an access moves from lane to lane, by one index.
    fn axis(&self, buffer: &BufferPart<'c>, access: usize) -> Option<usize> {
        layout::of_type(buffer.value.r#type())?;
        if buffer.pad.is_some() || !is_in_lanes(buffer) || known(self.step) != Some(1) {
            return None;
        }
        let map = &buffer.accesses[access];
        let mut moving = (0..map.len()).filter(|n| map[*n].dims().contains(&self.dim));
        let (axis, others) = (moving.next()?, moving.next());
        let is_unit = self.coefficient(&map[axis]) == Some(1);
        (others.is_none() && is_unit).then_some(axis)
    }
}
