//! Loads and stores of all lanes.

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::rank_without_units;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::{Type, ValueLike};

use super::fold::{lane, shuffle};
use super::lanes::{consecutive, element, is_vector, lifted, spread, vector_type};
use super::stream::{self, Stores};
use super::truth;
use crate::llvm::lower_to_loops::access::{convert, place, read, write};
use crate::support::builder::{Builder, known};

/// The points of a vector: consecutive ones of one dimension.
pub struct Vector<'c> {
    /// The dimension.
    pub dim: usize,
    /// Number of lanes.
    pub count: i64,
    /// From one point's index to the next one's.
    pub step: Val<'c>,
    /// Number of lanes with a point, if not all have one.
    pub limit: Option<Val<'c>>,
    /// Kind of stores.
    pub stores: Stores,
}

/// Motion of an access from one lane to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    /// It stays where it is.
    Still,
    /// It goes to the next element in memory.
    Next,
    /// It goes to the element before.
    Previous,
    /// It moves in another way.
    Other,
}

impl<'c> Vector<'c> {
    pub(super) fn motion(&self, buffer: &BufferPart<'c>, access: usize) -> Motion {
        let map = &buffer.accesses[access];
        if map.iter().all(|expr| !expr.dims().contains(&self.dim)) {
            return Motion::Still;
        }
        match self.along_row(buffer, access) {
            Some(1) => Motion::Next,
            Some(-1) => Motion::Previous,
            _ => Motion::Other,
        }
    }

    /// Elements of a row in memory from one lane's to the next one's, if an access moves along it and
    /// in no other way.
    pub(super) fn along_row(&self, buffer: &BufferPart<'c>, access: usize) -> Option<i64> {
        let map = &buffer.accesses[access];
        let row = row(buffer.value.r#type())?;
        let mut other_axes = map.iter().enumerate().filter(|(axis, _)| *axis != row);
        let is_alone = other_axes.all(|(_, expr)| !expr.dims().contains(&self.dim));
        let coefficient = self.coefficient(map.get(row).filter(|_| is_alone)?)?;
        coefficient.checked_mul(known(self.step)?)
    }

    /// The coefficient of the lanes' dimension in an index function, if that is linear.
    pub(super) fn coefficient(&self, expr: &Expr) -> Option<i64> {
        let rank = self.dim + 1 + expr.dims().last().map_or(0, |d| *d);
        Some(expr.linear(rank)?.coefficients[self.dim])
    }

    /// Returns whether each lane reads an element of its own, which are no neighbours in memory.
    pub fn reads_alone(&self, buffer: &BufferPart<'c>, access: usize) -> bool {
        let is_alone = self.motion(buffer, access) == Motion::Other;
        is_in_lanes(buffer) && is_alone && !self.has_runs(buffer, access)
    }

    /// Returns whether lanes read one element after the other in memory.
    pub fn reads_neighbours(&self, buffer: &BufferPart<'c>, access: usize) -> bool {
        let is_next = self.motion(buffer, access) == Motion::Next;
        is_in_lanes(buffer) && (is_next || self.is_one_run(buffer, access))
    }

    /// Returns the index in memory of the first of a vector's elements.
    fn start(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
        motion: Motion,
    ) -> Vec<Val<'c>> {
        let mut place = place(builder, buffer, access, point);
        if let (Motion::Previous, Some(row)) = (motion, row(buffer.value.r#type())) {
            let back = builder.index(self.count - 1);
            place[row] = builder.binary(ops::arith::SUBI, place[row], back);
        }
        place
    }

    /// From lanes to their order in memory, and back.
    fn ordered(&self, builder: &mut Builder<'c>, value: Val<'c>, motion: Motion) -> Val<'c> {
        if motion != Motion::Previous || !is_vector(value) {
            return value;
        }
        let reversed: Vec<i64> = (0..self.count).rev().collect();
        shuffle(builder, value, value, &reversed)
    }

    /// The points of the single lanes; those beyond the limit are the last one within it.
    pub(super) fn point_of(
        &self,
        builder: &mut Builder<'c>,
        point: &[Val<'c>],
        number: i64,
    ) -> Vec<Val<'c>> {
        let mut number = builder.index(number);
        if let Some(limit) = self.limit {
            let unit = builder.index(1);
            let last = builder.binary(ops::arith::SUBI, limit, unit);
            number = builder.binary(ops::arith::MINSI, number, last);
        }
        let offset = builder.binary(ops::arith::MULI, number, self.step);
        let mut point = point.to_vec();
        point[self.dim] = builder.binary(ops::arith::ADDI, point[self.dim], offset);
        point
    }

    /// Returns the mask of the lanes with a point.
    pub fn mask(&self, builder: &mut Builder<'c>) -> Option<Val<'c>> {
        let i1 = types::mlir_type(builder.context, ScalarType::I1);
        let ty = vector_type(i1, self.count);
        let limit = self.limit?;
        Some(builder.op(ops::vector::CREATE_MASK, &[limit], &[ty], &[])[0])
    }

    /// Reads through an access: a vector, or a scalar where it is the same in all lanes. `point` is
    /// the first lane's.
    pub fn read(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Val<'c> {
        let ty = types::buffer_type(buffer.value.r#type());
        let is_scalar = ty.as_ref().is_some_and(|t| t.kind == BufferKind::Scalar);
        let motion = self.motion(buffer, access);
        if is_scalar || motion == Motion::Still {
            return read(builder, buffer, access, point);
        }
        if let Some(value) = (self.choose(builder, buffer, access, point))
            .or_else(|| self.gather(builder, buffer, access, point))
            .or_else(|| self.load_run(builder, buffer, access, point))
        {
            return value;
        }
        if motion == Motion::Other || !is_in_lanes(buffer) {
            return self.each_lane(builder, buffer, access, point);
        }
        let place = self.start(builder, buffer, access, point, motion);
        self.neighbours(builder, buffer, place, motion)
    }

    /// Reads as many neighbours in memory as there are lanes, from the first one's place on.
    pub(super) fn neighbours(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        mut place: Vec<Val<'c>>,
        motion: Motion,
    ) -> Val<'c> {
        let element =
            types::buffer_type(buffer.value.r#type()).map_or(ScalarType::F32, |t| t.element);
        let mask = self.readable(builder, buffer, &mut place, motion);
        let memory = truth::memory(builder, buffer.value);
        let base: Vec<Val> = [memory].into_iter().chain(place).collect();
        let pad = buffer.pad.filter(|_| mask.is_some());
        let otherwise = pad.map(|pad| {
            let scalar = types::mlir_type(builder.context, element);
            self.padding(builder, pad, scalar)
        });
        let loaded = self.load(builder, base, element, mask, otherwise);
        self.ordered(builder, loaded, motion)
    }

    /// Loads neighbours from the first one's place on: those that a mask names, others are the given
    /// values, or zero.
    pub(super) fn load(
        &self,
        builder: &mut Builder<'c>,
        mut operands: Vec<Val<'c>>,
        element: ScalarType,
        mask: Option<Val<'c>>,
        otherwise: Option<Val<'c>>,
    ) -> Val<'c> {
        let scalar = types::mlir_type(builder.context, truth::stored(element));
        let vector = [vector_type(scalar, self.count)];
        let loaded = match mask {
            None => builder.op(ops::vector::LOAD, &operands, &vector, &[])[0],
            Some(mask) => {
                let otherwise = match otherwise {
                    Some(value) => truth::to_memory(builder, value),
                    None => self.zeros(builder, scalar),
                };
                operands.extend([mask, otherwise]);
                builder.op(ops::vector::MASKEDLOAD, &operands, &vector, &[])[0]
            }
        };
        truth::from_memory(builder, loaded, element)
    }

    /// Returns the mask of the lanes that read memory; `None` if all do. A place of which no lane
    /// reads becomes one in the buffer: processors take hundreds of cycles to find that nothing is
    /// wrong with a masked load of memory that is not there.
    fn readable(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        place: &mut [Val<'c>],
        motion: Motion,
    ) -> Option<Val<'c>> {
        let mask = self.mask(builder);
        let mut mask = mask.map(|mask| self.ordered(builder, mask, motion));
        if buffer.pad.is_none() {
            return mask;
        }
        // What all lanes have in common is one condition, and one mask.
        let (mut shared, mut own): (Option<Val>, Option<Val>) = (None, None);
        let row = row(buffer.value.r#type());
        for (d, coordinate) in place.iter_mut().enumerate() {
            if buffer.inside.contains(&d) {
                continue;
            }
            // Unsigned: a negative coordinate is beyond every extent too.
            let extent = builder.dim(buffer.value, d);
            if Some(d) != row {
                let fits = builder.compare("ult", *coordinate, extent);
                shared = Some(shared.map_or(fits, |s| builder.binary(ops::arith::ANDI, s, fits)));
                let zero = builder.index(0);
                *coordinate = builder.select(fits, *coordinate, zero);
                continue;
            }
            let unit = builder.index(1);
            let coordinates = consecutive(builder, *coordinate, unit, self.count);
            let extent = spread(builder, extent, self.count);
            own = Some(builder.compare("ult", coordinates, extent));
        }
        let shared = shared.map(|shared| spread(builder, shared, self.count));
        for more in [own, shared].into_iter().flatten() {
            mask = Some(mask.map_or(more, |mask| builder.binary(ops::arith::ANDI, mask, more)));
        }
        mask
    }

    pub(super) fn zeros(&self, builder: &mut Builder<'c>, scalar: Type<'c>) -> Val<'c> {
        let ty = types::scalar_type(scalar).unwrap_or(ScalarType::F32);
        let zero = builder.scalar(mdh_algebra::scalar::Scalar::zero(ty));
        spread(builder, zero, self.count)
    }

    /// Stores a value of each lane, or of those lanes only that `valid` names.
    pub fn write(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        value: Val<'c>,
        point: &[Val<'c>],
        valid: Option<Val<'c>>,
    ) {
        let motion = self.motion(buffer, access);
        if motion == Motion::Still {
            return self.write_first(builder, buffer, access, value, point, valid);
        }
        let mask = self.mask_of(builder, valid);
        let stored = types::buffer_type(buffer.value.r#type()).map(|t| t.element);
        // All lanes at once, also where each is stored alone: LLVM makes of truncated lanes of i32
        // a vector of 256 bits that it has no instructions for.
        let value = stored.map_or(value, |stored| convert(builder, value, stored));
        if self.scatter(builder, buffer, access, point, value, mask)
            || self.store_run(builder, buffer, access, point, (value, mask))
        {
            return;
        }
        if motion == Motion::Other || !is_in_lanes(buffer) {
            for n in 0..self.count {
                let value = lane(builder, value, n);
                let is_there = mask.map(|m| lane(builder, m, n));
                let point = self.point_of(builder, point, n);
                guarded(builder, is_there, |builder| {
                    write(builder, buffer, access, value, &point)
                });
            }
            return;
        }
        let place = self.start(builder, buffer, access, point, motion);
        let memory = truth::memory(builder, buffer.value);
        let value = truth::to_memory(builder, value);
        let value = spread(builder, value, self.count);
        let value = self.ordered(builder, value, motion);
        let mask = mask.map(|mask| self.ordered(builder, mask, motion));
        match mask {
            None => {
                let (stores, count) = (self.stores, self.count);
                stream::store(builder, stores, value, memory, &place, count);
            }
            Some(mask) => {
                let operands = [vec![memory], place, vec![mask, value]].concat();
                builder.op(ops::vector::MASKEDSTORE, &operands, &[], &[]);
            }
        }
    }

    /// Returns the mask of lanes that there are, and that `valid` names; `None` if these are all.
    fn mask_of(&self, builder: &mut Builder<'c>, valid: Option<Val<'c>>) -> Option<Val<'c>> {
        let mask = self.mask(builder);
        let Some(valid) = valid else {
            return mask;
        };
        let (ty, count) = (element(valid), self.count);
        Some(match mask {
            None => spread(builder, valid, count),
            Some(m) => lifted(builder, ops::arith::ANDI, &[m, valid], &[ty], &[], count)[0],
        })
    }

    /// Stores to one place for all lanes: the dimension has one point at most, the first lane's, if that
    /// is there.
    fn write_first(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        value: Val<'c>,
        point: &[Val<'c>],
        valid: Option<Val<'c>>,
    ) {
        let value = lane(builder, value, 0);
        let zero = builder.index(0);
        let mut is_there = self.limit.map(|limit| builder.compare("sgt", limit, zero));
        if let Some(valid) = valid {
            let valid = lane(builder, valid, 0);
            let both = |there| builder.binary(ops::arith::ANDI, there, valid);
            is_there = Some(is_there.map_or(valid, both));
        }
        guarded(builder, is_there, |builder| {
            write(builder, buffer, access, value, point)
        });
    }
}

/// Returns whether a buffer's elements are laid out in memory as they are in vectors: those of index
/// have no size before they are lowered.
pub(super) fn is_in_lanes(buffer: &BufferPart) -> bool {
    let ty = types::buffer_type(buffer.value.r#type());
    ty.is_some_and(|ty| ty.kind != BufferKind::Scalar && ty.element != ScalarType::Index)
}

fn guarded<'c>(
    builder: &mut Builder<'c>,
    condition: Option<Val<'c>>,
    body: impl FnOnce(&mut Builder<'c>),
) {
    match condition {
        None => body(builder),
        Some(condition) => builder.if_then(condition, body),
    }
}

/// The axis along which neighbours are neighbours in memory, if there is one: the last of more than one
/// element.
pub(super) fn row(ty: Type) -> Option<usize> {
    let strides = strides(ty).filter(|strides| strides.last() == Some(&1))?;
    let shape = types::buffer_type(ty)?.shape;
    let row = rank_without_units(&shape).checked_sub(1)?;
    (strides[row] == 1).then_some(row)
}

/// Elements from one index of each of a memref's dimensions to the next; `None` if that differs
/// from index to index, or for what is no memref: a scalar can be carried in, too.
pub(super) fn strides(ty: Type) -> Option<Vec<i64>> {
    let (_, strides) = types::strides(ty).filter(|_| mdh_dialect::layout::of_type(ty).is_none())?;
    let number = |stride: Option<i64>| stride.unwrap_or(types::DYNAMIC);
    Some(strides.into_iter().map(number).collect())
}
