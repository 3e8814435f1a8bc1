//! Groups of neighbouring points of a sum that one instruction combines in each lane.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize=features=avx512_vnni --canonicalize --cse
//! // B in groups of four terms.
//! func.func @f(%A: memref<1x8xi8>, %B: memref<2x16x4xi8>, %C: memref<1x16xi32>) {
//!   mdh.compute (i = 1, j = 16, k = 8)
//!     out_view(C = %C[i, j] : memref<1x16xi32>)
//!     md_hom((%a: i8, %b: i8) {
//!       %x = arith.extsi %a : i8 to i32
//!       %y = arith.extsi %b : i8 to i32
//!       %p = arith.muli %x, %y : i32
//!       mdh.yield %p : i32
//!     }, (cc, cc, pw(addi)))
//!     inp_view(A = %A[i, k] : memref<1x8xi8>, B = %B[k floordiv 4, j, k mod 4] : memref<2x16x4xi8>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [register {k: *}, simd {j: 16, k: 4}],
//!       outputs = {C: {combine: {register.k: register}}}>)
//!   return
//! }
//! // becomes
//! %a4 = vector.load %A[%c0, %k] : memref<1x8xi8>, vector<4xi8>
//! %bits = vector.bitcast %a4 : vector<4xi8> to vector<1xi32>
//! %word = vector.extract %bits[0] : i32 from vector<1xi32>
//! %flipped = arith.xori %word, %x80808080 : i32
//! %words = vector.broadcast %flipped : i32 to vector<16xi32>
//! %as = vector.bitcast %words : vector<16xi32> to vector<64xi8>
//! %k4 = arith.floordivsi %k, %c4 : index
//! %b4 = vector.load %B[%k4, %c0, %c0] : memref<2x16x4xi8>, vector<64xi8>
//! %next = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%sum, %as, %b4) : ..
//! %over = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%so_far, %x80, %b4) : ..
//! ```
//!
//! The instruction for bytes takes one factor without a sign and one with it. Where both have one,
//! or none, the highest bit of one is transposed_dimension, which adds or takes 128; the sum of 128 times the
//! other, which several sums share, is taken away again after the loops.
//!
//! What is not laid out in groups is put together from vectors, or from single elements. Blocks
//! that are not full, and machines that have no such instruction, combine the points of a group one
//! after the other.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::{Type, ValueLike};

use super::super::access::{Motion, Vector, strides};
use super::super::dot::{Dot, Factor, Shape};
use super::super::fold::shuffle;
use super::super::lanes::{spread, vector_type};
use super::super::stream::Stores;
use super::points::Loaded;
use super::{Leaf, Limits, Offsets};
use crate::llvm::lower_to_loops::access::{place, read};
use crate::support::builder::{Builder, known};
use crate::support::residue::residue;
use crate::support::scheduled::RegisterTile;

/// The dimension of groups, how many points one has, and what combines them.
pub(super) struct Group {
    pub(super) dim: usize,
    pub(super) count: i64,
    pub(super) dot: Dot,
    pub(super) corrections: Corrections,
}

/// Corrections for flipping the first factor's highest bits, which are to be subtracted, if the
/// factors are transposed.
#[derive(Default)]
pub(super) struct Corrections {
    /// The positions of the block whose second factor differs.
    pub(super) points: Vec<Vec<Offsets>>,
    /// The correction of each kept position.
    pub(super) which: Vec<usize>,
}

/// Position of a block's points, and their groups.
pub(super) struct At<'c, 'a> {
    pub(super) group: &'a Group,
    pub(super) base: &'a [Val<'c>],
    pub(super) limits: &'a Limits<'c>,
}

impl<'c> Leaf<'c, '_> {
    /// The groups of a form that an instruction of a machine with these features combines. That
    /// factor comes first which is the same in all lanes, if one is.
    pub(super) fn group_of(&self, form: &RegisterTile, features: &[&str]) -> Option<Group> {
        let (level, (lane, lanes)) = (form.group?.level, self.lanes?);
        let dim = level.dimension;
        let shape = Shape {
            lanes,
            points: self.of.parts_of(level),
        };
        let scheduled = self.of;
        let dot = Dot::new(
            scheduled.op,
            &scheduled.parts,
            &scheduled.computation,
            shape,
            features,
        );
        let dot = dot.filter(|_| known(self.steps[dim]) == Some(1))?;
        let vector = Vector {
            dim: lane,
            count: lanes,
            step: self.steps[lane],
            limit: None,
            stores: Stores::Cached,
        };
        let is_still = dot.factors.map(|factor| {
            let buffer = &scheduled.parts.inputs[factor.buffer];
            vector.motion(buffer, factor.access) == Motion::Still
        });
        let first = usize::from(!is_still[0] && is_still[1]);
        let dot = dot.with_first(first);
        Some(Group {
            dim,
            count: shape.points,
            corrections: self.corrections(&dot),
            dot,
        })
    }

    /// The groups that an instruction combines, in a block that is full as far as sums go.
    pub(super) fn groups(&self, limits: &Limits<'c>) -> Option<&Group> {
        let is_full = |d: usize| !self.combine(d).is_pw() || limits[d].is_none();
        let is_combined_inside = !self.is_deferred && !self.combines_lanes();
        let is_whole = is_combined_inside && (0..limits.len()).all(is_full);
        self.group.as_ref().filter(|_| is_whole)
    }

    /// A sum, and the points of a block that belong to it, group by group; with another first
    /// factor than theirs, if one is given.
    pub(super) fn grouped_sum(
        &self,
        builder: &mut Builder<'c>,
        at: &At<'c, '_>,
        mut sum: Val<'c>,
        points: &[Offsets],
        first: Option<Val<'c>>,
        loaded: &mut Loaded<'c>,
    ) -> Val<'c> {
        let [left, right] = at.group.dot.factors;
        for chunk in points.chunks(at.group.count as usize) {
            let left = first.unwrap_or_else(|| self.factor(builder, at, left, &chunk[0], loaded));
            let right = self.factor(builder, at, right, &chunk[0], loaded);
            sum = at.group.dot.emit(builder, [sum, left, right]);
        }
        sum
    }

    /// The first factor of the sums of 128 times the second one.
    pub(super) fn highest(&self, builder: &mut Builder<'c>, group: &Group) -> Val<'c> {
        let highest = builder.scalar(Scalar::from_bits(ScalarType::I8, 0x80));
        spread(builder, highest, self.combiner.lanes * group.count)
    }

    fn corrections(&self, dot: &Dot) -> Corrections {
        let mut corrections = Corrections::default();
        if !dot.is_flipped {
            return corrections;
        }
        let mut distinct = Vec::new();
        for position in &self.positions {
            let offsets_of_factor = self.moved(dot.factors[1], &position[0]);
            let position_in_distinct = distinct
                .iter()
                .position(|other| *other == offsets_of_factor);
            corrections
                .which
                .push(position_in_distinct.unwrap_or(distinct.len()));
            if position_in_distinct.is_none() {
                distinct.push(offsets_of_factor);
                corrections.points.push(position.clone());
            }
        }
        corrections
    }

    /// A position as far as a factor moves with it.
    pub(super) fn moved(&self, factor: Factor, offsets: &[i64]) -> Offsets {
        let numbered = offsets.iter().enumerate();
        numbered
            .map(|(d, offset)| if self.moves(factor, d) { *offset } else { 0 })
            .collect()
    }

    /// A factor at all lanes of a group of points: neighbouring elements are those of a group.
    fn factor(
        &self,
        builder: &mut Builder<'c>,
        at: &At<'c, '_>,
        factor: Factor,
        offsets: &Offsets,
        loaded: &mut Loaded<'c>,
    ) -> Val<'c> {
        let group = at.group;
        let name = (factor.buffer, factor.access, self.moved(factor, offsets));
        if let Some(value) = loaded.get(&name) {
            return *value;
        }
        let lanes = self.combiner.lanes;
        let Some(vector) = self.vector(builder, at.limits, offsets) else {
            panic!("groups are inside of lanes");
        };
        let buffer = &self.of.parts.inputs[factor.buffer];
        let is_still = vector.motion(buffer, factor.access) == Motion::Still;
        let elements = match is_still {
            true => self.still(builder, at, factor, offsets),
            false => self.moving(builder, at, factor, offsets, &vector),
        };
        let count = if is_still { 1 } else { lanes };
        let elements = group
            .dot
            .widened(builder, factor, elements, count * group.count);
        let word = types::mlir_type(builder.context, ScalarType::I32);
        let words = vector_type(word, count);
        let mut words = builder.op(ops::vector::BITCAST, &[elements], &[words], &[])[0];
        if is_still {
            let first = melior::ir::attribute::DenseI64ArrayAttribute::new(builder.context, &[0]);
            let first = [("static_position", first.into())];
            words = builder.op(ops::vector::EXTRACT, &[words], &[word], &first)[0];
        }
        if factor.is_flipped {
            let highest = builder.scalar(Scalar::from_bits(ScalarType::I32, 0x8080_8080));
            let highest = if is_still {
                highest
            } else {
                spread(builder, highest, lanes)
            };
            words = builder.binary(ops::arith::XORI, words, highest);
        }
        let words = spread(builder, words, lanes);
        let ty = vector_type(group.dot.element(builder), lanes * group.count);
        let value = builder.op(ops::vector::BITCAST, &[words], &[ty], &[])[0];
        loaded.insert(name, value);
        value
    }

    /// The points of a group one after the other.
    fn each_point(
        &self,
        builder: &mut Builder<'c>,
        at: &At<'c, '_>,
        offsets: &Offsets,
    ) -> Vec<Vec<Val<'c>>> {
        let group = at.group;
        let moved = (0..group.count).map(|n| {
            let mut offsets = offsets.clone();
            offsets[group.dim] += n;
            self.first_lane(builder, at.base, at.limits, &offsets)
        });
        moved.collect()
    }

    /// The elements of one group, the same in all lanes.
    fn still(
        &self,
        builder: &mut Builder<'c>,
        at: &At<'c, '_>,
        factor: Factor,
        offsets: &Offsets,
    ) -> Val<'c> {
        let group = at.group;
        let buffer = &self.of.parts.inputs[factor.buffer];
        let along = Vector {
            dim: group.dim,
            count: group.count,
            step: self.steps[group.dim],
            limit: None,
            stores: Stores::Cached,
        };
        let points = self.each_point(builder, at, offsets);
        let ty = vector_type(element(builder, buffer), group.count);
        if is_grouped(builder, buffer, factor.access, group, &points[0], None) {
            return load_group(builder, buffer, factor.access, &points[0], ty);
        }
        if buffer.pad.is_none() && along.reads_neighbours(buffer, factor.access) {
            return along.read(builder, buffer, factor.access, &points[0]);
        }
        let elements = points
            .iter()
            .map(|point| read(builder, buffer, factor.access, point));
        let elements: Vec<Val> = elements.collect();
        builder.op(ops::vector::FROM_ELEMENTS, &elements, &[ty], &[])[0]
    }

    /// The elements of the groups of all lanes.
    fn moving(
        &self,
        builder: &mut Builder<'c>,
        at: &At<'c, '_>,
        factor: Factor,
        offsets: &Offsets,
        vector: &Vector<'c>,
    ) -> Val<'c> {
        let group = at.group;
        let buffer = &self.of.parts.inputs[factor.buffer];
        let points = self.each_point(builder, at, offsets);
        if is_grouped(
            builder,
            buffer,
            factor.access,
            group,
            &points[0],
            Some(vector),
        ) {
            let ty = vector_type(element(builder, buffer), vector.count * group.count);
            return load_group(builder, buffer, factor.access, &points[0], ty);
        }
        let mut rows: Vec<Val> = Vec::new();
        for point in &points {
            let row = vector.read(builder, buffer, factor.access, point);
            rows.push(spread(builder, row, vector.count));
        }
        // The first row's and the third one's elements alternate, then those of both pairs.
        let mut length = vector.count;
        while rows.len() > 1 {
            let half = rows.len() / 2;
            let order: Vec<i64> = (0..2 * length).map(|n| n / 2 + n % 2 * length).collect();
            let pairs = (0..half).map(|n| shuffle(builder, rows[n], rows[n + half], &order));
            rows = pairs.collect();
            length *= 2;
        }
        rows[0]
    }
}

fn element<'c>(builder: &Builder<'c>, buffer: &BufferPart<'c>) -> Type<'c> {
    let ty = types::buffer_type(buffer.value.r#type());
    types::mlir_type(builder.context, ty.map_or(ScalarType::I8, |ty| ty.element))
}

/// Returns whether the points of a group lie next to each other, as an axis of their own, and so do the
/// groups of all lanes, if there are any.
fn is_grouped<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    access: usize,
    group: &Group,
    point: &[Val<'c>],
    lanes: Option<&Vector<'c>>,
) -> bool {
    let [outer @ .., Expr::Mod(index, size)] = &buffer.accesses[access][..] else {
        return false;
    };
    let Some(ty) = types::buffer_type(buffer.value.r#type()) else {
        return false;
    };
    let moves = |expr: &Expr, d: usize| expr.dims().contains(&d);
    // The number of the group is the same for all of its points.
    let is_number = |expr: &Expr| matches!(expr, Expr::FloorDiv(i, s) if (i, s) == (index, size));
    let form = index.linear(group.dim + 1 + index.dims().last().map_or(0, |d| *d));
    let is_plain = **size == Expr::Const(group.count)
        && form.is_some_and(|form| form.coefficients[group.dim] == 1)
        && outer.iter().all(|e| !moves(e, group.dim) || is_number(e))
        && ty.kind == BufferKind::MemRef
        && ty.shape.last() == Some(&Some(group.count))
        && buffer.origin.last().and_then(|origin| origin.known()) == Some(0)
        && buffer.pad.is_none();
    let strides = strides(buffer.value.r#type()).unwrap_or_default();
    if !is_plain || strides.last() != Some(&1) {
        return false;
    }
    let first = builder.affine(index, point);
    let is_start = residue(first, group.count) == Some(0);
    let Some(vector) = lanes else {
        return is_start;
    };
    let [outer @ .., next] = outer else {
        return false;
    };
    let form = next.linear(vector.dim + 1 + next.dims().last().map_or(0, |d| *d));
    let is_next = form.is_some_and(|form| form.coefficients[vector.dim] == 1);
    let is_alone = !moves(index, vector.dim) && outer.iter().all(|e| !moves(e, vector.dim));
    let is_dense = strides.len() > 1 && strides[strides.len() - 2] == group.count;
    // What is beyond the last point of a block is there, but may not be beyond the block.
    let room = ty.shape[ty.shape.len() - 2];
    let has_room = vector.limit.is_none() || room.is_some_and(|n| n % vector.count == 0);
    let is_unit = known(vector.step) == Some(1);
    is_start && is_next && is_alone && is_dense && has_room && is_unit
}

/// Loads groups from their first element on.
fn load_group<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    access: usize,
    point: &[Val<'c>],
    ty: Type<'c>,
) -> Val<'c> {
    let mut place = place(builder, buffer, access, point);
    if let Some(within) = place.last_mut() {
        *within = builder.index(0);
    }
    let base = [buffer.value].into_iter().chain(place);
    let operands: Vec<Val> = base.collect();
    builder.op(ops::vector::LOAD, &operands, &[ty], &[])[0]
}
