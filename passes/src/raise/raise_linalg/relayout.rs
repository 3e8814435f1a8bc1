//! Operations of linalg without maps of their own: packing and unpacking, and [`softmax`]. Upstream's decompositions are
//! not raised in their place: they copy what is unpacked a second time, and have none of tiles of open size.
//!
//! A destination of `pack` with too few tiles would leave elements out: that it has enough is asserted.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::packing::{Extent, Tiles};
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::write;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Region, Type, ValueLike};

use super::compute::{combine, verified};
use super::options::Checks;
use super::{loops, memory, softmax};
use crate::support::builder::Builder;
use crate::support::draft::{self, Rewriter};
use crate::support::extents;
use crate::support::names;

/// A tensor or memref and its axes.
pub struct Buffer<'c> {
    /// The value.
    pub value: Val<'c>,
    /// Tensor or memref.
    pub kind: BufferKind,
    /// Its sizes, as far as its type has them.
    pub shape: Vec<Option<i64>>,
    /// The type of its elements.
    pub element: ScalarType,
}

impl<'c> Buffer<'c> {
    /// An operand of an operation.
    pub fn of_operand(op: Op<'c>, operand: usize) -> Result<Self, String> {
        Self::of_value(ir::operand(op, operand).ok_or("it has fewer operands")?)
    }

    /// A tensor or memref.
    pub fn of_value(value: Val<'c>) -> Result<Self, String> {
        let ty = value.r#type();
        let buffer = types::buffer_type(ty).filter(|ty| ty.kind != BufferKind::Scalar);
        let buffer = buffer.ok_or_else(|| {
            format!(
                "an operand has the type {ty}: expected a ranked tensor without encoding, or memref, of i1 to i64, \
                 index, f16, bf16, f32 or f64"
            )
        })?;
        Ok(Buffer {
            value,
            kind: buffer.kind,
            shape: buffer.shape,
            element: buffer.element,
        })
    }

    /// Dimensions that are its axes; those that are not kept are combined.
    pub fn domain(&self, builder: &mut Builder<'c>, is_kept: &[bool]) -> Vec<Dim<'c>> {
        let names = loops::names(is_kept).into_iter();
        let bounds = self.extents(builder).into_iter();
        names
            .zip(bounds)
            .map(|(n, bound)| Dim::dense(n, bound))
            .collect()
    }

    /// The sizes of its axes.
    pub fn extents(&self, builder: &mut Builder<'c>) -> Vec<Bound<'c>> {
        let sizes = self.shape.iter().enumerate();
        let extent = |(axis, size): (usize, &Option<i64>)| {
            let open = || extents::bound(builder, self.value, axis);
            size.map_or_else(open, Bound::Static)
        };
        sizes.map(extent).collect()
    }

    /// The type of its elements, as MLIR has it.
    pub fn element(&self, builder: &Builder<'c>) -> Type<'c> {
        types::mlir_type(builder.context, self.element)
    }

    /// One access to it.
    pub fn access(&self, name: &str, index: Vec<Expr>) -> BufferPart<'c> {
        let origin = vec![Bound::Static(0); index.len()];
        BufferPart::accessed(name, self.value, index, origin)
    }
}

/// The tiles of an operation, all of known sizes.
fn known_tiles(op: Op, rank: usize) -> Result<Tiles, String> {
    let tiles = Tiles::new(op, rank).map_err(|rule| format!("it {rule}"))?;
    match tiles.open() {
        0 => Ok(tiles),
        _ => Err("a tile has a size that is known at run time only: expected numbers".into()),
    }
}

/// Asserts that all elements of a source have a place, where its extents or the tiles' number are open. That
/// what is read is there, where nothing pads it, is checked as it is of any computation.
fn assert_room<'c>(tiles: &Tiles, op: Op<'c>, source: &Buffer<'c>, packed: &Buffer<'c>) {
    let mut builder = Builder::before(op);
    for (axis, (outer, inner)) in tiles.outer.iter().zip(&tiles.inner).enumerate() {
        let Extent::Known(size) = inner.map_or(Extent::Known(1), |(_, size)| size) else {
            continue;
        };
        if source.shape[axis].is_some() && packed.shape[*outer].is_some() {
            continue;
        }
        let elements = builder.dim(source.value, axis);
        let count = builder.dim(packed.value, *outer);
        let size = builder.index(size);
        let room = builder.binary(ops::arith::MULI, count, size);
        let fits = builder.compare("sge", room, elements);
        builder.assert(
                fits,
                &format!(
                    "'{}' op has a destination that is too small: expected axis {outer} to have tiles for \
                     all elements of axis {axis} of its source",
                    ir::name_of(op)
                ),
            );
    }
}

/// Raises what has a source and a destination.
pub fn raise(op: Op, checks: Checks) -> Result<(), String> {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    memory::check_apart(&operands, operands.get(1..2).unwrap_or_default())?;
    match ir::name_of(op) {
        ops::linalg::PACK => pack(op, checks),
        ops::linalg::UNPACK => unpack(op),
        _ => softmax::raise(op, checks),
    }
}

/// `linalg.pack`.
fn pack(op: Op, checks: Checks) -> Result<(), String> {
    let (source, packed) = (Buffer::of_operand(op, 0)?, Buffer::of_operand(op, 1)?);
    let tiles = known_tiles(op, source.shape.len())?;
    let mut read = source.access("in", tiles.packed(packed.shape.len()));
    if let Some(value) = ir::operand(op, 2) {
        let constant = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT);
        let number = constant.and_then(|constant| ir::attribute(constant, "value"));
        read.pad = Some(number.ok_or("what it is padded with is no constant")?);
    }
    if checks == Checks::On {
        assert_room(&tiles, op, &source, &packed);
    }
    relayout(op, &packed, read)
}

/// `linalg.unpack`.
fn unpack(op: Op) -> Result<(), String> {
    let (packed, dest) = (Buffer::of_operand(op, 0)?, Buffer::of_operand(op, 1)?);
    let tiles = known_tiles(op, dest.shape.len())?;
    let index = tiles.unpacked(dest.shape.len());
    let read = packed.access("in", index);
    relayout(op, &dest, read)
}

/// Copies elements to every index of a destination.
pub fn relayout<'c>(op: Op<'c>, dest: &Buffer<'c>, read: BufferPart<'c>) -> Result<(), String> {
    let builder = &mut Builder::before(op);
    let axes = identity(dest.shape.len());
    let output = dest.access("out", axes);
    let code = |_: &mut Builder<'c>, elements: &[Val<'c>]| elements[0];
    let compute = insert(builder, dest, vec![read], output, code)?;
    Rewriter::Direct.replace(op, &draft::results(compute));
    Ok(())
}

/// The index functions of all axes, in order.
pub fn identity(rank: usize) -> Vec<Expr> {
    (0..rank).map(Expr::Dim).collect()
}

/// The points of a computation.
pub struct Points<'c> {
    /// Its dimensions.
    pub dims: Vec<Dim<'c>>,
    /// The combine operator of each.
    pub combine: Vec<Attribute<'c>>,
}

/// Inserts a computation that keeps all axes of a buffer, with one output.
pub fn insert<'c>(
    builder: &mut Builder<'c>,
    over: &Buffer<'c>,
    inputs: Vec<BufferPart<'c>>,
    output: BufferPart<'c>,
    code: impl FnOnce(&mut Builder<'c>, &[Val<'c>]) -> Val<'c>,
) -> Result<Op<'c>, String> {
    let is_kept = vec![true; over.shape.len()];
    let points = Points {
        dims: over.domain(builder, &is_kept),
        combine: combine(builder.context, &is_kept, ""),
    };
    insert_at(builder, points, (inputs, output), code)
}

/// Inserts a computation with one output, whose elements have the types of the inputs'.
pub fn insert_at<'c>(
    builder: &mut Builder<'c>,
    points: Points<'c>,
    (inputs, mut output): (Vec<BufferPart<'c>>, BufferPart<'c>),
    code: impl FnOnce(&mut Builder<'c>, &[Val<'c>]) -> Val<'c>,
) -> Result<Op<'c>, String> {
    let element = types::buffer_type(output.value.r#type()).map(|ty| ty.element);
    let element = element.ok_or("it writes to no tensor or memref")?;
    let types = vec![types::mlir_type(builder.context, element); inputs.len()];
    let scalar = builder.region(&types, ops::mdh::YIELD, |builder, arguments| {
        vec![code(builder, arguments)]
    });
    output.components = vec![0];
    let mut parts = Parts {
        dims: points.dims,
        combine: points.combine,
        inputs,
        outputs: vec![output],
        ..Parts::default()
    };
    names::make_unique(&mut parts);
    let (context, location) = (builder.context, builder.location);
    let compute = write::compute(context, location, &parts, scalar, Region::new());
    Ok(builder.insert(verified(compute)?))
}
