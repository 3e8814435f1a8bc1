//! The loops of a leaf, which carry partial results.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @f(%x: memref<100xf32>, %y: memref<f32>) {
//!   mdh.compute (k = 100)
//!     out_view(y = %y[] : memref<f32>)
//!     md_hom(id, (pw(addf)))
//!     inp_view(x = %x[k] : memref<100xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [register {k: *}, simd {k: 16}],
//!       decompose = {order: [register.k, simd.k]}, recompose = {order: [simd.k, register.k]},
//!       outputs = {y: {combine: {simd.k: register}}}>)
//!   return
//! }
//! // becomes: lanes are combined once after the loop
//! %lanes = scf.for %k = %c0 to %c96 step %c16 iter_args(%sum = %zeros) -> (vector<16xf32>) {
//!   %v = vector.load %x[%k] : memref<100xf32>, vector<16xf32>
//!   %next = arith.addf %sum, %v fastmath<reassoc,contract> : vector<16xf32>
//!   scf.yield %next : vector<16xf32>
//! }
//! %first4 = vector.constant_mask [4] : vector<16xi1>
//! %rest = vector.maskedload %x[%c96], %first4, %zeros
//!     : memref<100xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
//! %both = arith.addf %lanes, %rest fastmath<reassoc,contract> : vector<16xf32>
//! %all = arith.select %first4, %both, %lanes : vector<16xi1>, vector<16xf32>
//! .. // then half of the lanes with the other half, until one is left
//! %last = vector.extract %one[0] : f32 from vector<1xf32>
//! memref.store %last, %y[] : memref<f32>
//! ```
//!
//! What combines without a neutral element carries a bit more: whether there is anything yet.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::super::fold::{lane, map};
use super::super::lanes::{is_vector, spread};
use super::group::At;
use super::points::Loaded;
use super::{Leaf, Limits};
use crate::llvm::lower_to_loops::fold::Partial;
use crate::support::builder::{Builder, known};

/// Code for a block of a dimension: its first index, the number of its points if it may not be
/// full, and the loop-carried values.
type Body<'c, 'b> =
    dyn FnMut(&mut Builder<'c>, Val<'c>, Option<Val<'c>>, &[Val<'c>]) -> Vec<Val<'c>> + 'b;

impl<'c> Leaf<'c, '_> {
    /// A loop over the blocks of a dimension, the last of which may not be full.
    fn blocks(
        &self,
        builder: &mut Builder<'c>,
        d: usize,
        carried: &[Val<'c>],
        body: &mut Body<'c, '_>,
    ) -> Vec<Val<'c>> {
        let grid = &self.grids[d];
        let extent = builder.index(self.extents[d]);
        let rest = builder.binary(ops::arith::REMSI, grid.count, extent);
        let whole = builder.binary(ops::arith::SUBI, grid.count, rest);
        let span = builder.binary(ops::arith::MULI, whole, self.steps[d]);
        let end = builder.binary(ops::arith::ADDI, grid.lower, span);
        let step = builder.binary(ops::arith::MULI, extent, self.steps[d]);
        let results = builder.for_loop(
            [grid.lower, end, step],
            carried,
            |builder, index, carried| body(builder, index, None, carried),
        );
        if self.extents[d] == 1 || known(rest) == Some(0) {
            return results;
        }
        let zero = builder.index(0);
        let is_there = builder.compare("sgt", rest, zero);
        let types: Vec<_> = results.iter().map(melior::ir::ValueLike::r#type).collect();
        builder.if_else(
            is_there,
            &types,
            |builder| body(builder, end, Some(rest), &results),
            |_| results.clone(),
        )
    }

    /// The running combination over a `ps` dimension; every block is finished.
    pub(super) fn scan(
        &self,
        builder: &mut Builder<'c>,
        d: usize,
        inner: &[usize],
        base: &mut Vec<Val<'c>>,
        limits: &mut Limits<'c>,
    ) {
        let across = self.lanes.is_some_and(|(dim, _)| dim == d);
        let has_lanes = self.lanes.is_some() && !across && !self.combines_lanes();
        let nothing = self.combiner.nothing(builder, has_lanes);
        let width = nothing.pack().len();
        let start: Vec<Val> = self.positions.iter().flat_map(|_| nothing.pack()).collect();
        self.blocks(builder, d, &start, &mut |builder, index, rest, carried| {
            base[d] = index;
            limits[d] = rest;
            let tiles = self.totals(builder, inner, base, limits);
            let mut prefixes = Vec::new();
            let mut next = Vec::new();
            for (before, tile) in carried.chunks(width).zip(tiles) {
                let before = nothing.unpack(before);
                let tile = if across {
                    let tile = self.with_lanes(builder, tile);
                    self.combiner.scanned(builder, &tile)
                } else {
                    tile
                };
                let prefix = self.combiner.combine(builder, &before, &tile);
                // One combination is all that the next block waits for.
                let last = if across {
                    let end = map(&tile, |v| lane(builder, v, self.combiner.lanes - 1));
                    self.combiner.combine(builder, &before, &end)
                } else {
                    prefix.clone()
                };
                let last = last.kept_valid(&nothing, builder);
                next.extend(self.shaped(builder, last, has_lanes).pack());
                prefixes.push(prefix);
            }
            self.finish(builder, base, limits, prefixes);
            next
        });
        limits[d] = None;
    }

    fn with_lanes(&self, builder: &mut Builder<'c>, tuple: Partial<'c>) -> Partial<'c> {
        map(&tuple, |v| spread(builder, v, self.combiner.lanes))
    }

    /// The tuple as a loop carries it.
    fn shaped(
        &self,
        builder: &mut Builder<'c>,
        tuple: Partial<'c>,
        has_lanes: bool,
    ) -> Partial<'c> {
        if has_lanes {
            self.with_lanes(builder, tuple)
        } else {
            tuple
        }
    }

    /// For each kept position of the block, the combination over the loops given and the block's
    /// `pw` dimensions.
    pub(super) fn totals(
        &self,
        builder: &mut Builder<'c>,
        loops: &[usize],
        base: &mut Vec<Val<'c>>,
        limits: &mut Limits<'c>,
    ) -> Vec<Partial<'c>> {
        if loops.is_empty() && self.matrix.is_none() {
            let mut loaded = Loaded::new();
            let total = |group: &Vec<_>| {
                let values = self.group(builder, base, limits, group, &mut loaded);
                self.joined(builder, values)
            };
            return self.positions.iter().map(total).collect();
        }
        let across = self.combines_lanes();
        let has_lanes = self.lanes.is_some() && (self.is_deferred || !across);
        let nothing = self.combiner.nothing(builder, has_lanes);
        let width = nothing.pack().len();
        let many = |n: usize| {
            if self.is_deferred {
                self.positions[n].len()
            } else {
                1
            }
        };
        let count: usize = (0..self.positions.len()).map(many).sum();
        let corrections = self.group.as_ref().map(|group| &group.corrections);
        let count = count + corrections.map_or(0, |all| all.points.len());
        let start: Vec<Val> = (0..count).flat_map(|_| nothing.pack()).collect();
        let sums = self.sums(builder, loops, base, limits, &start, &nothing);
        let mut sums = sums.chunks(width).map(|packed| nothing.unpack(packed));
        if !self.is_deferred {
            let mut sums: Vec<Partial> = sums.collect();
            if let Some(all) = corrections {
                let over = sums.split_off(sums.len() - all.points.len());
                for (sum, which) in sums.iter_mut().zip(&all.which) {
                    let over = over[*which].values[0];
                    sum.values[0] = builder.binary(ops::arith::SUBI, sum.values[0], over);
                }
            }
            return sums;
        }
        let mut totals = Vec::new();
        for n in 0..self.positions.len() {
            let group: Vec<Partial> = sums.by_ref().take(many(n)).collect();
            totals.push(self.joined(builder, group));
        }
        totals
    }

    fn sums(
        &self,
        builder: &mut Builder<'c>,
        loops: &[usize],
        base: &mut Vec<Val<'c>>,
        limits: &mut Limits<'c>,
        carried: &[Val<'c>],
        nothing: &Partial<'c>,
    ) -> Vec<Val<'c>> {
        let Some((&d, inner)) = loops.split_first() else {
            if let Some(matrix) = &self.matrix {
                return self.multiplied(builder, matrix, base, limits, carried);
            }
            let width = nothing.pack().len();
            let sums = carried.chunks(width).map(|packed| nothing.unpack(packed));
            return match self.groups(limits) {
                Some(group) => {
                    let at = At {
                        group,
                        base,
                        limits,
                    };
                    self.grouped_sums(builder, &at, sums)
                }
                None => self.block_sums(builder, (base, limits), sums, nothing),
            };
        };
        let results = self.blocks(builder, d, carried, &mut |builder, index, rest, carried| {
            base[d] = index;
            limits[d] = rest;
            self.sums(builder, inner, base, limits, carried, nothing)
        });
        base[d] = self.grids[d].lower;
        limits[d] = None;
        results
    }

    /// Adds one instruction for each group to the sums of a block, and to those that are subtracted
    /// again.
    fn grouped_sums(
        &self,
        builder: &mut Builder<'c>,
        at: &At<'c, '_>,
        mut sums: impl Iterator<Item = Partial<'c>>,
    ) -> Vec<Val<'c>> {
        let mut next = Vec::new();
        let mut loaded = Loaded::new();
        for (points, sum) in self.positions.iter().zip(sums.by_ref()) {
            let sum = sum.values[0];
            next.push(self.grouped_sum(builder, at, sum, points, None, &mut loaded));
        }
        for (sum, points) in sums.zip(&at.group.corrections.points) {
            let sum = sum.values[0];
            let highest = Some(self.highest(builder, at.group));
            next.push(self.grouped_sum(builder, at, sum, points, highest, &mut loaded));
        }
        next
    }

    /// Adds the points of a block, from its first ones on, to its sums.
    fn block_sums(
        &self,
        builder: &mut Builder<'c>,
        (base, limits): (&[Val<'c>], &Limits<'c>),
        mut sums: impl Iterator<Item = Partial<'c>>,
        nothing: &Partial<'c>,
    ) -> Vec<Val<'c>> {
        let mut next = Vec::new();
        let mut loaded = Loaded::new();
        let has_lanes = nothing.values.iter().any(|v| is_vector(*v));
        for group in &self.positions {
            let parts = self.group(builder, base, limits, group, &mut loaded);
            let joined = match (self.is_deferred, self.combines_lanes()) {
                // Each part has a sum of its own.
                (true, _) => parts.into_iter().map(|part| vec![part]).collect(),
                (false, true) => vec![vec![self.joined(builder, parts)]],
                // One after the other into the same sum.
                (false, false) => vec![parts],
            };
            for parts in joined {
                let Some(mut sum) = sums.next() else { break };
                for part in parts {
                    sum = self.combiner.combine(builder, &sum, &part);
                }
                let sum = sum.kept_valid(nothing, builder);
                next.extend(self.shaped(builder, sum, has_lanes).pack());
            }
        }
        next.extend(sums.flat_map(|sum| sum.pack()));
        next
    }

    /// The unrolled parts of a kept position combined in order, and their lanes.
    pub(super) fn joined(&self, builder: &mut Builder<'c>, group: Vec<Partial<'c>>) -> Partial<'c> {
        // Lanes hold neighbours: they go first where the order counts, else last, since there is
        // one vector then.
        let lanes_first = self.combines_lanes() && !self.combiner.is_commutative();
        let mut sum: Option<Partial> = None;
        for part in group {
            let part = match lanes_first {
                true => self.across_lanes(builder, part),
                false => part,
            };
            sum = Some(match sum {
                None => part,
                Some(sum) => self.combiner.combine(builder, &sum, &part),
            });
        }
        let Some(sum) = sum else {
            panic!("a block has at least one position");
        };
        match self.combines_lanes() && !lanes_first {
            true => self.across_lanes(builder, sum),
            false => sum,
        }
    }

    fn across_lanes(&self, builder: &mut Builder<'c>, tuple: Partial<'c>) -> Partial<'c> {
        let tuple = self.with_lanes(builder, tuple);
        self.combiner.across(builder, &tuple)
    }
}
