//! Operations of linalg without maps of their own: packing, unpacking and softmax.
//!
//! `pack[o, t] = x[o * T + t]` with what it is padded with, and `unpack[i] = x[i floordiv T, i mod
//! T]`. `softmax` is the largest element of each row, the sum of the exponentials of what is left
//! without it, and these over that sum; upstream decomposes it in the same way.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::write;
use melior::ir::operation::OperationLike;
use melior::ir::{Region, Type, ValueLike};

use super::compute::{combine, verified};
use super::{memory, structured};
use crate::builder::Builder;
use crate::draft::{self, Rewriter};
use crate::extents;
use crate::{buffers, names};

/// A tensor or memref and its axes.
pub struct Buffer<'c> {
    /// The value.
    pub value: Val<'c>,
    kind: BufferKind,
    /// Its sizes, as far as its type has them.
    pub shape: Vec<Option<i64>>,
    /// The type of its elements.
    pub element: ScalarType,
}

impl<'c> Buffer<'c> {
    /// An operand of an operation.
    pub fn of(op: Op<'c>, operand: usize) -> Result<Self, String> {
        Self::of_value(ir::operand(op, operand).ok_or("it has fewer operands")?)
    }

    /// A tensor or memref.
    pub fn of_value(value: Val<'c>) -> Result<Self, String> {
        let ty = value.r#type();
        let buffer = types::buffer_type(ty).filter(|ty| ty.kind != BufferKind::Scalar);
        let buffer = buffer.ok_or_else(|| {
            format!(
                "an operand has the type {ty}: expected a ranked tensor or memref of i1 to i64, \
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
        let names = structured::names(is_kept);
        let sizes = self.shape.iter().enumerate();
        let dim = |((axis, size), name): ((usize, &Option<i64>), String)| {
            let open = || extents::bound(builder, self.value, axis);
            Dim::dense(name, size.map_or_else(open, Bound::Static))
        };
        sizes.zip(names).map(dim).collect()
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

/// Says how the tiles of a packed buffer lie.
struct Packing {
    /// For each axis of what is not packed, that of the packed buffer which counts its tiles.
    outer: Vec<usize>,
    /// And the axis inside of a tile with its extent, if it is cut.
    tile: Vec<Option<(usize, i64)>>,
}

impl Packing {
    fn of(op: Op, rank: usize) -> Result<Self, String> {
        let position = |p: &i64| usize::try_from(*p).ok().filter(|p| *p < rank);
        let order = ir::integers(op, "outer_dims_perm");
        let mut outer: Vec<usize> = (0..rank).collect();
        for (place, axis) in order.iter().enumerate() {
            outer[position(axis).ok_or("its order is none of its axes")?] = place;
        }
        let mut tile = vec![None; rank];
        let cut = ir::integers(op, "inner_dims_pos");
        for (n, (axis, size)) in cut
            .iter()
            .zip(ir::integers(op, "static_inner_tiles"))
            .enumerate()
        {
            if size <= 0 {
                return Err(
                    "a tile has a size that is known at run time only: expected numbers".into(),
                );
            }
            tile[position(axis).ok_or("it cuts an axis that is not there")?] =
                Some((rank + n, size));
        }
        Ok(Packing { outer, tile })
    }
}

/// Raises what has a source and a destination.
pub fn raise(op: Op) -> Result<(), String> {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    memory::check_apart(&operands, operands.get(1..2).unwrap_or_default())?;
    match ir::name_of(op) {
        ops::linalg::PACK => pack(op),
        ops::linalg::UNPACK => unpack(op),
        _ => softmax(op),
    }
}

/// `linalg.pack`.
fn pack(op: Op) -> Result<(), String> {
    let (source, packed) = (Buffer::of(op, 0)?, Buffer::of(op, 1)?);
    let packing = Packing::of(op, source.shape.len())?;
    let index = packing
        .outer
        .iter()
        .zip(&packing.tile)
        .map(|(outer, tile)| match tile {
            Some((inner, size)) => Expr::Dim(*outer) * *size + Expr::Dim(*inner),
            None => Expr::Dim(*outer),
        });
    let mut read = source.access("in", index.collect());
    if let Some(value) = ir::operand(op, 2) {
        let constant = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT);
        let number = constant.and_then(|constant| ir::attribute(constant, "value"));
        read.pad = Some(number.ok_or("what it is padded with is no constant")?);
    }
    relayout(op, &packed, read)
}

/// `linalg.unpack`.
fn unpack(op: Op) -> Result<(), String> {
    let (packed, dest) = (Buffer::of(op, 0)?, Buffer::of(op, 1)?);
    let packing = Packing::of(op, dest.shape.len())?;
    let mut index = vec![Expr::Const(0); packed.shape.len()];
    for (axis, (outer, tile)) in packing.outer.iter().zip(&packing.tile).enumerate() {
        let here = || Box::new(Expr::Dim(axis));
        match tile {
            Some((inner, size)) => {
                index[*outer] = Expr::FloorDiv(here(), Box::new(Expr::Const(*size)));
                index[*inner] = Expr::Mod(here(), Box::new(Expr::Const(*size)));
            }
            None => index[*outer] = Expr::Dim(axis),
        }
    }
    let read = packed.access("in", index);
    relayout(op, &dest, read)
}

/// Copies elements to every index of a destination.
pub fn relayout<'c>(op: Op<'c>, dest: &Buffer<'c>, read: BufferPart<'c>) -> Result<(), String> {
    let builder = &mut Builder::before(op);
    let all = identity(dest.shape.len());
    let output = dest.access("out", all);
    let code = |_: &mut Builder<'c>, elements: &[Val<'c>]| elements[0];
    let kept = vec![true; dest.shape.len()];
    let compute = insert(builder, dest, &kept, "", vec![read], output, code)?;
    Rewriter::Direct.replace(op, &draft::results(compute));
    Ok(())
}

/// The index functions of all axes, in order.
pub fn identity(rank: usize) -> Vec<Expr> {
    (0..rank).map(Expr::Dim).collect()
}

/// `linalg.softmax`.
fn softmax<'c>(op: Op<'c>) -> Result<(), String> {
    let (source, dest) = (Buffer::of(op, 0)?, Buffer::of(op, 1)?);
    let rank = source.shape.len();
    let along = ir::integer(op, "dimension").and_then(|d| usize::try_from(d).ok());
    let along = along
        .filter(|d| *d < rank)
        .ok_or("its dimension is none of its axes")?;
    let builder = &mut Builder::before(op);
    let element = source.element(builder);
    let all = identity(rank);
    let rest: Vec<Expr> = (0..rank).filter(|d| *d != along).map(Expr::Dim).collect();
    let mut is_kept = vec![true; rank];
    let domain = source.domain(builder, &is_kept);
    is_kept[along] = false;
    let extents: Vec<Bound> = domain.iter().map(|dim| dim.upper).collect();
    let extents: Vec<Bound> = (0..rank)
        .filter(|d| *d != along)
        .map(|d| extents[d])
        .collect();
    let row = |builder: &mut Builder<'c>| Buffer {
        value: buffers::empty(builder, source.kind, &extents, element),
        kind: source.kind,
        shape: extents.iter().map(|e| e.known()).collect(),
        element: source.element,
    };
    let x = || source.access("x", all.clone());
    let exponential = |builder: &mut Builder<'c>, e: &[Val<'c>]| {
        let less = builder.binary(ops::arith::SUBF, e[0], e[1]);
        builder.op(ops::math::EXP, &[less], &[less.r#type()], &[])[0]
    };
    let mut largest = row(builder);
    let output = largest.access("largest", rest.clone());
    let first = |_: &mut Builder<'c>, e: &[Val<'c>]| e[0];
    let done = insert(
        builder,
        &source,
        &is_kept,
        "maximumf",
        vec![x()],
        output,
        first,
    )?;
    let memory = [largest.value];
    largest.value = ir::result(done, 0).unwrap_or(largest.value);
    let mut sum = row(builder);
    let output = sum.access("sum", rest.clone());
    let inputs = vec![x(), largest.access("largest", rest.clone())];
    let done = insert(
        builder,
        &source,
        &is_kept,
        "addf",
        inputs,
        output,
        exponential,
    )?;
    let memory = [memory[0], sum.value];
    sum.value = ir::result(done, 0).unwrap_or(sum.value);
    let inputs = vec![
        x(),
        largest.access("largest", rest.clone()),
        sum.access("sum", rest),
    ];
    let code = |builder: &mut Builder<'c>, e: &[Val<'c>]| {
        let above = exponential(builder, e);
        builder.binary(ops::arith::DIVF, above, e[2])
    };
    let output = dest.access("out", all.clone());
    is_kept[along] = true;
    let compute = insert(builder, &dest, &is_kept, "", inputs, output, code)?;
    for value in memory
        .into_iter()
        .filter(|_| source.kind == BufferKind::MemRef)
    {
        builder.op(ops::memref::DEALLOC, &[value], &[], &[]);
    }
    Rewriter::Direct.replace(op, &draft::results(compute));
    Ok(())
}

/// Inserts a computation over the axes of a buffer, with one output.
pub fn insert<'c>(
    builder: &mut Builder<'c>,
    over: &Buffer<'c>,
    is_kept: &[bool],
    operator: &str,
    inputs: Vec<BufferPart<'c>>,
    mut output: BufferPart<'c>,
    code: impl FnOnce(&mut Builder<'c>, &[Val<'c>]) -> Val<'c>,
) -> Result<Op<'c>, String> {
    let types = vec![over.element(builder); inputs.len()];
    let scalar = builder.region(&types, ops::mdh::YIELD, |builder, arguments| {
        vec![code(builder, arguments)]
    });
    output.components = vec![0];
    let mut parts = Parts {
        dims: over.domain(builder, is_kept),
        combine: combine(builder.context, is_kept, operator),
        inputs,
        outputs: vec![output],
        ..Parts::default()
    };
    names::make_unique(&mut parts);
    let (context, location) = (builder.context, builder.location);
    let compute = write::compute(context, location, &parts, scalar, Region::new());
    Ok(builder.insert(verified(compute)?))
}
