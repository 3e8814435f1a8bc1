//! Strided elements of lanes: chosen from neighbours, or gathered and scattered by one operation.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @f(%x: memref<100x8xf32>, %y: memref<100x8xf32>) {
//!   mdh.compute (i = 5)
//!     out_view(y = %y[i, 4] : memref<100x8xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i, 3] : memref<100x8xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 8}]>)
//!   return
//! }
//! // becomes
//! %apart = arith.constant dense<[0, 8, 16, 24, 32, 40, 48, 56]> : vector<8xi32>
//! ..
//! %mask = vector.constant_mask [5] : vector<8xi1>
//! %lanes = vector.gather %x[%c0, %c3] [%apart], %mask, %zeros
//!     : memref<100x8xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
//! vector.scatter %y[%c0, %c4] [%apart], %mask, %lanes
//!     : memref<100x8xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
//! ```
//!
//! Not every machine does it faster than one element after the other, but it is far less code: of
//! masked lanes, and of those that may read padding, each has a branch of its own otherwise.
//!
//! Of elements that lie few places apart in a row, whole vectors are read, and lanes chosen from them:
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @g(%x: memref<100xf32>, %y: memref<8xf32>) {
//!   mdh.compute (i = 8)
//!     out_view(y = %y[i] : memref<8xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i * 2 - 1] pad(0.0 : f32) : memref<100xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 8}]>)
//!   return
//! }
//! // becomes
//! %a = vector.maskedload %x[%minus1], %is_there, %zeros
//!     : memref<100xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
//! ..
//! %b = vector.maskedload %x[%c6], %are_there, %zeros
//!     : memref<100xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
//! %lanes = vector.shuffle %a, %b [0, 2, 4, 6, 9, 11, 13, 15] : vector<8xf32>, vector<8xf32>
//! ```
//!
//! Nothing beyond the last lane's element is read, so that no mask is needed where none is for lanes
//! that are read one by one.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;
use mdh_dialect::types;
use melior::ir::{Attribute, Type, ValueLike};

use super::access::{Motion, Vector, is_in_lanes, row, strides};
use super::fold::shuffle;
use super::lanes::{consecutive, spread, vector_type};
use crate::llvm::lower_to_loops::access::{has_elements, place, read_unbranched};
use crate::support::builder::{Builder, known};

impl<'c> Vector<'c> {
    /// Reads elements that lie few places apart in a row: vectors of neighbours, from which lanes are
    /// chosen. `None` where the lanes' distance is not known, or so long that few lanes come from each.
    pub fn choose(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Option<Val<'c>> {
        let by = self.along_row(buffer, access)?;
        let row = row(buffer.value.r#type()).filter(|_| is_in_lanes(buffer))?;
        if !(2..=self.count / 2).contains(&by) {
            return None;
        }
        let start = place(builder, buffer, access, point);
        let [one, factor] = [1, by].map(|number| builder.index(number));
        // One past the last element that a lane reads.
        let end = self.limit.map(|limit| {
            let last = builder.binary(ops::arith::SUBI, limit, one);
            let last = builder.binary(ops::arith::MULI, last, factor);
            builder.binary(ops::arith::ADDI, last, one)
        });
        // The last vector ends with the last lane's element.
        let first = |part: i64| (part * self.count).min((self.count - 1) * by + 1 - self.count);
        let parts: Vec<Val> = (0..by)
            .map(|part| {
                let offset = builder.index(first(part));
                let mut start = start.clone();
                start[row] = builder.binary(ops::arith::ADDI, start[row], offset);
                let neighbours = Vector {
                    step: one,
                    limit: end.map(|end| builder.binary(ops::arith::SUBI, end, offset)),
                    ..*self
                };
                neighbours.neighbours(builder, buffer, start, Motion::Next)
            })
            .collect();
        let mut chosen = parts[0];
        for (part, vector) in (1..).zip(&parts[1..]) {
            let new = part * self.count..first(part) + self.count;
            let lanes = (0..self.count).map(|lane| match lane * by {
                element if new.contains(&element) => self.count + element - first(part),
                element if part == 1 && element < self.count => element,
                _ => lane,
            });
            chosen = shuffle(builder, chosen, *vector, &lanes.collect::<Vec<_>>());
        }
        Some(chosen)
    }

    /// Gathers the elements of an access of which some may not be there. `None` where all are, or the
    /// lanes' distances are not known.
    pub fn gather(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Option<Val<'c>> {
        let is_open = self.limit.is_some() || buffer.pad.is_some();
        let offsets = self.lane_offsets(buffer, access).filter(|_| is_open)?;
        let scalar = types::buffer_type(buffer.value.r#type())?.element;
        let scalar = types::mlir_type(builder.context, scalar);
        let place = place(builder, buffer, access, point);
        let mask = [
            self.mask(builder),
            self.within(builder, buffer, access, &place),
        ];
        let mask = mask
            .into_iter()
            .flatten()
            .reduce(|a, b| builder.binary(ops::arith::ANDI, a, b));
        let mask = mask.unwrap_or_else(|| self.all(builder));
        let otherwise = match buffer.pad {
            Some(pad) => self.padding(builder, pad, scalar),
            None => self.zeros(builder, scalar),
        };
        let indices = self.indices(builder, &offsets);
        let base = [buffer.value].into_iter().chain(place);
        let operands: Vec<Val> = base.chain([indices, mask, otherwise]).collect();
        let vector = vector_type(scalar, self.count);
        Some(builder.op(ops::vector::GATHER, &operands, &[vector], &[])[0])
    }

    /// A mask of the lanes that read no padding, of an access whose index functions are linear;
    /// `place` is the first one's. `None` if all do.
    fn within(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        place: &[Val<'c>],
    ) -> Option<Val<'c>> {
        buffer.pad?;
        let mut mask: Option<Val> = None;
        for (axis, first) in place.iter().enumerate() {
            if buffer.inside.contains(&axis) {
                continue;
            }
            let by = builder.index(self.coefficient(&buffer.accesses[access][axis])?);
            let by = builder.binary(ops::arith::MULI, by, self.step);
            // Unsigned: a negative coordinate is beyond every extent too.
            let extent = builder.dim(buffer.value, axis);
            let fits = match known(by) {
                Some(0) => builder.compare("ult", *first, extent),
                _ => {
                    let coordinates = consecutive(builder, *first, by, self.count);
                    let extent = spread(builder, extent, self.count);
                    builder.compare("ult", coordinates, extent)
                }
            };
            let fits = spread(builder, fits, self.count);
            mask = Some(mask.map_or(fits, |mask| builder.binary(ops::arith::ANDI, mask, fits)));
        }
        mask
    }

    /// Reads one element after the other. Where padding may be read there is no branch for each: its
    /// place is taken by an element that is there.
    pub fn each_lane(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Val<'c> {
        let element =
            types::buffer_type(buffer.value.r#type()).map_or(ScalarType::F32, |t| t.element);
        let scalar = types::mlir_type(builder.context, element);
        let vector = vector_type(scalar, self.count);
        let lanes = |builder: &mut Builder<'c>| {
            let lanes = (0..self.count).map(|n| {
                let point = self.point_of(builder, point, n);
                read_unbranched(builder, buffer, access, &point)
            });
            let lanes: Vec<Val> = lanes.collect();
            builder.op(ops::vector::FROM_ELEMENTS, &lanes, &[vector], &[])
        };
        match buffer.pad.zip(has_elements(builder, buffer.value)) {
            None => lanes(builder)[0],
            Some((pad, condition)) => builder.if_else(condition, &[vector], lanes, |builder| {
                vec![self.padding(builder, pad, scalar)]
            })[0],
        }
    }

    /// The value outside of a buffer's extents, in all lanes.
    pub(super) fn padding(
        &self,
        builder: &mut Builder<'c>,
        pad: Attribute<'c>,
        scalar: Type<'c>,
    ) -> Val<'c> {
        let pad = builder.constant(pad, scalar);
        spread(builder, pad, self.count)
    }

    /// A mask of all lanes.
    fn all(&self, builder: &mut Builder<'c>) -> Val<'c> {
        let truth = builder.boolean(true);
        spread(builder, truth, self.count)
    }

    /// Stores a value of each lane that the mask names; `false` where the lanes' distances are not
    /// known.
    pub fn scatter(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
        value: Val<'c>,
        mask: Option<Val<'c>>,
    ) -> bool {
        let Some(offsets) = self.lane_offsets(buffer, access) else {
            return false;
        };
        let mask = mask.unwrap_or_else(|| self.all(builder));
        let place = place(builder, buffer, access, point);
        let indices = self.indices(builder, &offsets);
        let value = spread(builder, value, self.count);
        let base = [buffer.value].into_iter().chain(place);
        let operands: Vec<Val> = base.chain([indices, mask, value]).collect();
        builder.op(ops::vector::SCATTER, &operands, &[], &[]);
        true
    }

    /// Returns the lanes' offsets from the first one's element in memory, where each is accessed
    /// alone and that is known.
    fn lane_offsets(&self, buffer: &BufferPart<'c>, access: usize) -> Option<Vec<i32>> {
        let ty = types::buffer_type(buffer.value.r#type())?;
        let is_whole = matches!(
            ty.element,
            ScalarType::F32 | ScalarType::F64 | ScalarType::I32 | ScalarType::I64
        );
        let strides = strides(buffer.value.r#type()).filter(|s| s.last() == Some(&1))?;
        let is_alone = self.motion(buffer, access) == Motion::Other;
        let step = known(self.step).filter(|_| is_whole && is_alone)?;
        let mut distance = 0i64;
        for (expr, stride) in buffer.accesses[access].iter().zip(strides) {
            let coefficient = self.coefficient(expr)?.checked_mul(step)?;
            let is_known = coefficient == 0 || stride != i64::MIN;
            let part = is_known.then(|| coefficient.checked_mul(stride.max(0)))??;
            distance = distance.checked_add(part)?;
        }
        let lanes = 0..self.count;
        lanes
            .map(|n| i32::try_from(distance.checked_mul(n)?).ok())
            .collect()
    }

    fn indices(&self, builder: &mut Builder<'c>, offsets: &[i32]) -> Val<'c> {
        let i32 = types::mlir_type(builder.context, ScalarType::I32);
        let ty = vector_type(i32, self.count);
        let texts: Vec<String> = offsets.iter().map(i32::to_string).collect();
        let text = format!("dense<[{}]> : {ty}", texts.join(", "));
        let Some(offsets) = Attribute::parse(builder.context, &text) else {
            panic!("'{text}' is no attribute");
        };
        builder.constant(offsets, ty)
    }
}
