//! Gathers and scatters: strided elements of lanes, accessed by one operation.
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
//! masked lanes, each has a branch of its own otherwise.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;
use mdh_dialect::types;
use melior::ir::{Attribute, ValueLike};

use super::access::{Motion, Vector, strides};
use super::lanes::{spread, vector_type};
use crate::builder::{Builder, known};
use crate::lower::access::place;

impl<'c> Vector<'c> {
    /// Gathers the elements of an access. `None` where the lanes' distances are not known, or
    /// elements may not be there.
    pub fn gather(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Option<Val<'c>> {
        let offsets = self
            .lane_offsets(buffer, access)
            .filter(|_| buffer.pad.is_none())?;
        let scalar = types::buffer_type(buffer.value.r#type())?.element;
        let scalar = types::mlir_type(builder.context, scalar);
        let mask = match self.mask(builder) {
            Some(mask) => mask,
            None => self.all(builder),
        };
        let zeros = self.zeros(builder, scalar);
        let place = place(builder, buffer, access, point);
        let indices = self.indices(builder, &offsets);
        let base = [buffer.value].into_iter().chain(place);
        let operands: Vec<Val> = base.chain([indices, mask, zeros]).collect();
        let vector = vector_type(scalar, self.count);
        Some(builder.op(ops::vector::GATHER, &operands, &[vector], &[])[0])
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
        let all: Vec<String> = offsets.iter().map(i32::to_string).collect();
        let text = format!("dense<[{}]> : {ty}", all.join(", "));
        let Some(offsets) = Attribute::parse(builder.context, &text) else {
            panic!("'{text}' is no attribute");
        };
        builder.constant(offsets, ty)
    }
}
