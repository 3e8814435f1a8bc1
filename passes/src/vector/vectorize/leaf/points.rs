//! The points of a leaf's block: their reads, and their scalar function.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @f(%X: memref<2x16xf32>, %V: memref<16xf32>, %Y: memref<2x16xf32>) {
//!   mdh.compute (i = 2, j = 16)
//!     out_view(y = %Y[i, j] : memref<2x16xf32>)
//!     md_hom(mulf, (cc, cc))
//!     inp_view(x = %X[i, j] : memref<2x16xf32>, v = %V[j] : memref<16xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [register {i: 2}, simd {j: 16}]>)
//!   return
//! }
//! // becomes: v is read once
//! %x0 = vector.load %X[%c0, %c0] : memref<2x16xf32>, vector<16xf32>
//! %v = vector.load %V[%c0] : memref<16xf32>, vector<16xf32>
//! %y0 = arith.mulf %x0, %v : vector<16xf32>
//! %x1 = vector.load %X[%c1, %c0] : memref<2x16xf32>, vector<16xf32>
//! %y1 = arith.mulf %x1, %v : vector<16xf32>
//! ```
//!
//! In a block that is not full a row that is not there is read where the last one is.

use mdh_dialect::ops;
use std::collections::HashMap;

use mdh_dialect::ir::{self, Val};

use super::super::access::Vector;
use super::super::lanes::{Lanes, consecutive, element, has_loops, lifted};
use super::super::stream::Stores;
use super::{Leaf, Limits, Offsets};
use crate::llvm::lower_to_loops::access::read;
use crate::llvm::lower_to_loops::fold::Partial;
use crate::support::builder::Builder;

/// Values that a block has read already: by buffer, access and offsets.
pub(super) type Loaded<'c> = HashMap<(usize, usize, Offsets), Val<'c>>;

impl<'c> Leaf<'c, '_> {
    /// The values at the positions of a block that belong to one kept position. What positions
    /// share is read where the first of them needs it: read all at once, it would take registers
    /// from the sums.
    pub(super) fn group(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        group: &[Offsets],
        loaded: &mut Loaded<'c>,
    ) -> Vec<Partial<'c>> {
        group
            .iter()
            .map(|offsets| self.point(builder, base, limits, offsets, loaded))
            .collect()
    }

    /// The scalar function at one position.
    fn point(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        offsets: &[i64],
        loaded: &mut Loaded<'c>,
    ) -> Partial<'c> {
        let first = self.first_lane(builder, base, limits, offsets);
        let vector = self.vector(builder, limits, offsets);
        let mut inputs = Vec::new();
        for (b, buffer) in self.of.parts.inputs.iter().enumerate() {
            for access in 0..buffer.accesses.len() {
                let moves = |d: usize| {
                    buffer.accesses[access]
                        .iter()
                        .any(|e| e.dims().contains(&d))
                };
                let at = (0..offsets.len()).map(|d| if moves(d) { offsets[d] } else { 0 });
                let name = (b, access, at.collect());
                self.transpose(builder, base, limits, loaded, &name);
                let value = *loaded.entry(name).or_insert_with(|| match &vector {
                    None => read(builder, buffer, access, &first),
                    Some(vector) => vector.read(builder, buffer, access, &first),
                });
                inputs.push(value);
            }
        }
        let mut point = first;
        if let (Some((d, count)), true) = (self.lanes, self.asks_for_indices()) {
            point[d] = consecutive(builder, point[d], self.steps[d], count);
        }
        let scalar = ir::region(self.of.op, 0);
        let masked = vector.as_ref().filter(|_| has_loops(scalar));
        let code = Lanes {
            count: self.combiner.lanes,
            point: &point,
            present: masked.and_then(|vector| vector.mask(builder)),
            contract: self.of.computation.operators.iter().any(|o| o.is_sum()),
        };
        let values = code.inline(builder, scalar, &inputs);
        Partial {
            values,
            valid: self.is_there(builder, limits, offsets, |d| !self.is_kept(d)),
        }
    }

    fn asks_for_indices(&self) -> bool {
        let ops = crate::support::region::operations_of(ir::region(self.of.op, 0));
        ops.into_iter().any(|op| ir::name_of(op) == ops::mdh::INDEX)
    }

    /// The indices of a position's first lane; what is not there is read where something is.
    pub(super) fn first_lane(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        offsets: &[i64],
    ) -> Vec<Val<'c>> {
        let lanes = self.lanes.map(|(d, _)| d);
        self.within(builder, base, limits, offsets, lanes)
    }

    /// The indices of a position; one that is not there is where the last one is, but in the
    /// dimension that has lanes.
    pub(super) fn within(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        offsets: &[i64],
        lanes: Option<usize>,
    ) -> Vec<Val<'c>> {
        let mut point = base.to_vec();
        for d in 0..point.len() {
            let mut offset = builder.index(offsets[d]);
            if let (Some(limit), false) = (limits[d], lanes == Some(d)) {
                let unit = builder.index(1);
                let last = builder.binary(ops::arith::SUBI, limit, unit);
                offset = builder.binary(ops::arith::MINSI, offset, last);
            }
            let distance = builder.binary(ops::arith::MULI, offset, self.steps[d]);
            point[d] = builder.binary(ops::arith::ADDI, point[d], distance);
        }
        point
    }

    pub(super) fn vector(
        &self,
        builder: &mut Builder<'c>,
        limits: &Limits<'c>,
        offsets: &[i64],
    ) -> Option<Vector<'c>> {
        let (dim, count) = self.lanes?;
        let limit = limits[dim].map(|limit| {
            let offset = builder.index(offsets[dim]);
            builder.binary(ops::arith::SUBI, limit, offset)
        });
        Some(Vector {
            dim,
            count,
            step: self.steps[dim],
            limit,
            stores: Stores::Cached,
        })
    }

    /// Returns whether a position has a point, as far as the dimensions that count decide; for each lane
    /// if one of them has lanes.
    pub(super) fn is_there(
        &self,
        builder: &mut Builder<'c>,
        limits: &Limits<'c>,
        offsets: &[i64],
        counts: impl Fn(usize) -> bool,
    ) -> Option<Val<'c>> {
        let mut there: Option<Val> = None;
        for (d, limit) in limits.iter().enumerate() {
            let Some(limit) = limit else { continue };
            if !counts(d) {
                continue;
            }
            let fits = if self.lanes.is_some_and(|(dim, _)| dim == d) {
                self.vector(builder, limits, offsets)?.mask(builder)?
            } else {
                let offset = builder.index(offsets[d]);
                builder.compare("slt", offset, *limit)
            };
            there = Some(match there {
                None => fits,
                Some(there) => self.both(builder, there, fits),
            });
        }
        there
    }

    fn both(&self, builder: &mut Builder<'c>, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        let ty = element(a);
        lifted(
            builder,
            ops::arith::ANDI,
            &[a, b],
            &[ty],
            &[],
            self.combiner.lanes,
        )[0]
    }
}
