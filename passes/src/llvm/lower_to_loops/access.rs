//! Reads and writes through views.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;

use super::grid::bound;
use crate::support::builder::Builder;

/// Returns the indices of an access in its buffer.
pub fn place<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    access: usize,
    point: &[Val<'c>],
) -> Vec<Val<'c>> {
    let coordinates = buffer.accesses[access].iter().zip(&buffer.origin);
    coordinates
        .map(|(expr, origin)| {
            let index = builder.affine(expr, point);
            let origin = bound(builder, *origin);
            builder.binary(ops::arith::SUBI, index, origin)
        })
        .collect()
}

/// The element that an access reads at a point.
pub fn read<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    access: usize,
    point: &[Val<'c>],
) -> Val<'c> {
    let ty = types::buffer_type(buffer.value.r#type());
    if ty.as_ref().is_some_and(|t| t.kind == BufferKind::Scalar) {
        return buffer.value;
    }
    let place = place(builder, buffer, access, point);
    let (Some(pad), Some(ty)) = (buffer.pad, ty) else {
        return load(builder, buffer.value, &place);
    };
    let inside = inside(builder, buffer, &place);
    let inside = all(builder, &inside);
    let element = types::mlir_type(builder.context, ty.element);
    builder.if_else(
        inside,
        &[element],
        |builder| vec![load(builder, buffer.value, &place)],
        |builder| vec![builder.constant(pad, element)],
    )[0]
}

/// The same without a branch, of a buffer that has [elements](has_elements): where padding is read, one
/// of them is, too.
pub fn read_unbranched<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    access: usize,
    point: &[Val<'c>],
) -> Val<'c> {
    let Some(pad) = buffer.pad else {
        return read(builder, buffer, access, point);
    };
    let mut place = place(builder, buffer, access, point);
    let inside = inside(builder, buffer, &place);
    let zero = builder.index(0);
    for (axis, fits) in &inside {
        place[*axis] = builder.select(*fits, place[*axis], zero);
    }
    let loaded = load(builder, buffer.value, &place);
    let inside = all(builder, &inside);
    let pad = builder.constant(pad, loaded.r#type());
    builder.select(inside, loaded, pad)
}

/// For each axis that an access may leave, the condition that it does not.
fn inside<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    place: &[Val<'c>],
) -> Vec<(usize, Val<'c>)> {
    let axes = place.iter().enumerate();
    axes.filter(|(axis, _)| !buffer.inside.contains(axis))
        .map(|(axis, coordinate)| {
            // Unsigned: a negative coordinate is beyond every extent too.
            let extent = builder.dim(buffer.value, axis);
            (axis, builder.compare("ult", *coordinate, extent))
        })
        .collect()
}

fn all<'c>(builder: &mut Builder<'c>, conditions: &[(usize, Val<'c>)]) -> Val<'c> {
    let conditions = conditions.iter().map(|(_, condition)| *condition);
    let conjunction = conditions.reduce(|a, b| builder.binary(ops::arith::ANDI, a, b));
    conjunction.unwrap_or_else(|| builder.boolean(true))
}

/// The condition that a buffer has elements; `None` if it is known to have some.
pub fn has_elements<'c>(builder: &mut Builder<'c>, buffer: Val<'c>) -> Option<Val<'c>> {
    let shape = types::buffer_type(buffer.r#type())?.shape;
    let open = shape
        .iter()
        .enumerate()
        .filter(|(_, size)| size.is_none_or(|size| size == 0));
    let zero = builder.index(0);
    let conditions = open.map(|(axis, _)| {
        let extent = builder.dim(buffer, axis);
        (axis, builder.compare("ne", extent, zero))
    });
    let conditions: Vec<_> = conditions.collect();
    (!conditions.is_empty()).then(|| all(builder, &conditions))
}

/// Stores a value where an access goes at a point.
pub fn write<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    access: usize,
    value: Val<'c>,
    point: &[Val<'c>],
) {
    let place = place(builder, buffer, access, point);
    let element = types::buffer_type(buffer.value.r#type()).map(|t| t.element);
    let value = element.map_or(value, |element| convert(builder, value, element));
    store(builder, value, buffer.value, &place);
}

/// An element of a buffer.
pub fn load<'c>(builder: &mut Builder<'c>, buffer: Val<'c>, place: &[Val<'c>]) -> Val<'c> {
    let operands: Vec<Val> = std::iter::once(buffer)
        .chain(place.iter().copied())
        .collect();
    let element = types::buffer_type(buffer.r#type()).map(|t| t.element);
    let element = element.unwrap_or_else(|| panic!("{} is a buffer", buffer.r#type()));
    let ty = types::mlir_type(builder.context, element);
    builder.op(ops::memref::LOAD, &operands, &[ty], &[])[0]
}

/// Stores an element of a buffer.
pub fn store<'c>(builder: &mut Builder<'c>, value: Val<'c>, buffer: Val<'c>, place: &[Val<'c>]) {
    let operands: Vec<Val> = [value, buffer]
        .into_iter()
        .chain(place.iter().copied())
        .collect();
    builder.op(ops::memref::STORE, &operands, &[], &[]);
}

/// The conversion at a store: between floats, or between integers (i1 counts as 0 and 1).
pub(crate) fn convert<'c>(builder: &mut Builder<'c>, value: Val<'c>, to: ScalarType) -> Val<'c> {
    let Some(from) = types::scalar_type(types::element(value.r#type())) else {
        return value;
    };
    if from == to {
        return value;
    }
    if from.is_float() {
        let (wide, narrow) = (
            to.bit_width() > from.bit_width(),
            to.bit_width() < from.bit_width(),
        );
        return if wide {
            builder.convert(ops::arith::EXTF, value, to)
        } else if narrow {
            builder.convert(ops::arith::TRUNCF, value, to)
        } else {
            let single = builder.convert(ops::arith::EXTF, value, ScalarType::F32);
            builder.convert(ops::arith::TRUNCF, single, to)
        };
    }
    if from == ScalarType::I1 {
        let wide = if to == ScalarType::Index {
            ScalarType::I64
        } else {
            to
        };
        let extended = builder.convert(ops::arith::EXTUI, value, wide);
        return convert(builder, extended, to);
    }
    if from == ScalarType::Index || to == ScalarType::Index {
        return builder.convert(ops::arith::INDEX_CAST, value, to);
    }
    let name = if to.bit_width() > from.bit_width() {
        ops::arith::EXTSI
    } else {
        ops::arith::TRUNCI
    };
    builder.convert(name, value, to)
}
