//! The end of a leaf: carries are applied, results stored.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @f(%x: memref<64x64xf32>, %carry: memref<64xf32>, %y: memref<64xf32>) {
//!   mdh.compute (i = 16, k = 4)
//!     out_view(y = %y[i] : memref<64xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(x = %x[k, i] : memref<64x64xf32>)
//!     carry k (before = %carry[i] : memref<64xf32>) -> (after = %carry[i] : memref<64xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [register {k: 4}, simd {i: 16}]>)
//!   return
//! }
//! // becomes: what the tiles before have left is read, combined and stored for the next one
//! %before = vector.load %carry[%c0] : memref<64xf32>, vector<16xf32>
//! %sum = arith.addf %before, %tile fastmath<reassoc,contract> : vector<16xf32>
//! vector.store %sum, %carry[%c0] : memref<64xf32>, vector<16xf32>
//! vector.store %sum, %y[%c0] : memref<64xf32>, vector<16xf32>
//! ```
//!
//! Of a prefix-sum only the last point's is carried out.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, CarryPart};
use mdh_schedule::asm::facts::LINE;
use melior::ir::{Type, ValueLike};

use super::super::access::Vector;
use super::super::fold::lane;
use super::super::stream::{self, Stores};
use super::{Leaf, Limits};
use crate::llvm::lower_to_loops::access::{read, write};
use crate::llvm::lower_to_loops::fold::Partial;
use crate::support::builder::Builder;
use crate::support::kernels;

impl<'c> Leaf<'c, '_> {
    /// Applies the carries, innermost first, and stores the results of a block.
    pub(super) fn finish(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        totals: Vec<Partial<'c>>,
    ) {
        for (group, tile) in self.positions.iter().zip(totals) {
            let offsets = &group[0];
            let point = self.first_lane(builder, base, limits, offsets);
            let vector = self.vector(builder, limits, offsets);
            let vector = vector.filter(|_| !self.combines_lanes());
            // Single positions are guarded as a whole, lanes are masked.
            let has_lanes = |d: usize| self.lanes.is_some_and(|(dim, _)| dim == d);
            let is_guarded = |d: usize| !self.combine(d).is_pw() && !has_lanes(d);
            let guard = self.is_there(builder, limits, offsets, is_guarded);
            let body = |builder: &mut Builder<'c>| {
                let mut resolved = tile.clone();
                for carry in self.of.parts.carries.iter().rev() {
                    resolved = self.carried(builder, carry, vector.as_ref(), &point, &resolved);
                    self.carry_out(builder, carry, vector.as_ref(), &point, &resolved);
                }
                for buffer in &self.of.parts.outputs {
                    let stores = self.stores(buffer);
                    let vector = vector.as_ref().map(|v| Vector { stores, ..*v });
                    for (access, component) in buffer.components.iter().enumerate() {
                        let value = resolved.values[*component];
                        store(
                            builder,
                            buffer,
                            access,
                            value,
                            vector.as_ref(),
                            &point,
                            resolved.valid,
                        );
                    }
                }
            };
            match guard {
                None => body(builder),
                Some(guard) => builder.if_then(guard, body),
            }
        }
    }

    /// Non-temporal stores are for elements that are written once and not read by this computation.
    fn stores(&self, buffer: &BufferPart<'c>) -> Stores {
        let parts = &self.of.parts;
        let is_read = parts.inputs.iter().any(|input| input.value == buffer.value);
        let adds = |carry: &CarryPart| self.combine(carry.dim).is_pw();
        let is_written_again = parts.carries.iter().any(adds) || buffer.accesses.len() > 1;
        let Some(least) = stream::least(&self.of.resolved.asm) else {
            return Stores::Cached;
        };
        let is_large = stream::is_large(buffer.value.r#type(), least);
        match is_large && !is_read && !is_written_again && self.writes_lines(buffer) {
            true => Stores::Streamed,
            false => Stores::Cached,
        }
    }

    /// Returns whether the lines of an output are written whole before other loops run: one block goes on
    /// where the one before ends, or, where it has several rows or a sum's loops are in between, has whole
    /// lines.
    fn writes_lines(&self, buffer: &BufferPart<'c>) -> bool {
        let sums = self.loops.iter().any(|d| self.combine(*d).is_pw());
        let Some((lane, _)) = self.lanes else {
            return !sums;
        };
        let is_row = (0..self.extents.len()).all(|d| d == lane || self.extents[d] == 1);
        match sums {
            true => stream::fills_lines(buffer.value.r#type(), self.extents[lane]),
            false => is_row || stream::fills_lines(buffer.value.r#type(), LINE),
        }
    }

    /// `f(carry, total)`.
    fn carried(
        &self,
        builder: &mut Builder<'c>,
        carry: &CarryPart<'c>,
        vector: Option<&Vector<'c>>,
        point: &[Val<'c>],
        resolved: &Partial<'c>,
    ) -> Partial<'c> {
        let types: Vec<Type> = resolved.values.iter().map(|value| value.r#type()).collect();
        let op = self.of.op;
        let values = kernels::read_valid(builder, op, carry.valid, &types, |builder| {
            let read = |buffer: &BufferPart<'c>| match vector {
                None => read(builder, buffer, 0, point),
                Some(vector) => match vector.gather(builder, buffer, 0, point) {
                    Some(gathered) => gathered,
                    None => vector.read(builder, buffer, 0, point),
                },
            };
            carry.incoming.iter().map(read).collect()
        });
        let incoming = Partial {
            values,
            valid: carry.valid,
        };
        self.combiner.combine(builder, &incoming, resolved)
    }

    /// Stores the carry of the next tile: at the last point of a `ps` dimension.
    fn carry_out(
        &self,
        builder: &mut Builder<'c>,
        carry: &CarryPart<'c>,
        vector: Option<&Vector<'c>>,
        point: &[Val<'c>],
        resolved: &Partial<'c>,
    ) {
        if carry.outgoing.is_empty() {
            return;
        }
        let pairs = || carry.outgoing.iter().zip(&resolved.values);
        if !self.combine(carry.dim).is_ps() {
            for (buffer, value) in pairs() {
                store(builder, buffer, 0, *value, vector, point, resolved.valid);
            }
            return;
        }
        let unit = builder.index(1);
        let last = builder.binary(ops::arith::SUBI, self.grids[carry.dim].count, unit);
        let last = self.grids[carry.dim].point(builder, last);
        let Some(vector) = vector.filter(|v| v.dim == carry.dim) else {
            let is_last = builder.compare("eq", point[carry.dim], last);
            return builder.if_then(is_last, |builder| {
                for (buffer, value) in pairs() {
                    store(builder, buffer, 0, *value, vector, point, resolved.valid);
                }
            });
        };
        for n in 0..vector.count {
            let number = builder.index(n);
            let distance = builder.binary(ops::arith::MULI, number, vector.step);
            let index = builder.binary(ops::arith::ADDI, point[carry.dim], distance);
            let is_last = builder.compare("eq", index, last);
            builder.if_then(is_last, |builder| {
                for (buffer, value) in pairs() {
                    let value = lane(builder, *value, n);
                    let valid = resolved.valid.map(|v| lane(builder, v, n));
                    store(builder, buffer, 0, value, None, point, valid);
                }
            });
        }
    }
}

fn store<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    access: usize,
    value: Val<'c>,
    vector: Option<&Vector<'c>>,
    point: &[Val<'c>],
    valid: Option<Val<'c>>,
) {
    match (vector, valid) {
        (Some(vector), _) => vector.write(builder, buffer, access, value, point, valid),
        (None, None) => write(builder, buffer, access, value, point),
        (None, Some(valid)) => {
            builder.if_then(valid, |builder| {
                write(builder, buffer, access, value, point)
            });
        }
    }
}
