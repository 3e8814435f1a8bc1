//! Values for bounds, and new buffers.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::space::{self, Space};
use mdh_dialect::types::{BufferKind, DYNAMIC};
use mdh_schedule::asm::facts::LINE;
use melior::ir::attribute::{DenseI32ArrayAttribute, DenseI64ArrayAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Region, Type, TypeLike, ValueLike};
use mlir_sys::{
    MlirAttribute, mlirMemRefTypeContiguousGet, mlirMemRefTypeGetMemorySpace,
    mlirRankedTensorTypeGet, mlirShapedTypeGetElementType, mlirShapedTypeGetRank,
};

use crate::support::builder::{Builder, known};
use crate::support::captured::attribute;

/// A bound as a value.
pub fn value<'c>(builder: &mut Builder<'c>, bound: Bound<'c>) -> Val<'c> {
    match bound {
        Bound::Static(number) => builder.index(number),
        Bound::Dynamic(value) => value,
    }
}

/// A value as a bound, a number where it is known.
pub fn as_bound(value: Val) -> Bound {
    known(value).map_or(Bound::Dynamic(value), Bound::Static)
}

/// A new buffer of these extents whose elements are undefined: a `tensor.empty`, or a
/// `memref.alloc` that the caller frees.
pub fn empty<'c>(
    builder: &mut Builder<'c>,
    kind: BufferKind,
    extents: &[Bound<'c>],
    element: Type<'c>,
) -> Val<'c> {
    if kind != BufferKind::Tensor {
        return allocated(builder, extents, element, None, &[]);
    }
    let (shape, sizes) = (shape(extents), open(extents).collect::<Vec<_>>());
    let ty = shaped(kind, &shape, element);
    builder.op(ops::tensor::EMPTY, &sizes, &[ty], &[])[0]
}

/// A new memref whose first element starts a cache line: no vector crosses two of them more often
/// than it must.
pub fn aligned<'c>(builder: &mut Builder<'c>, extents: &[Bound<'c>], element: Type<'c>) -> Val<'c> {
    in_region(builder, extents, element, None)
}

/// Memory of a core, of known sizes: it is there as long as the code around it runs.
pub fn local<'c>(
    builder: &mut Builder<'c>,
    shape: &[i64],
    element: Type<'c>,
    space: Space,
) -> Val<'c> {
    let ty = space::within(shaped(BufferKind::MemRef, shape, element), Some(space));
    let alignment = ("alignment", attribute(builder.context, "16 : i64"));
    memory(builder, ops::memref::ALLOCA, &[], ty, &[alignment])
}

/// [`aligned`], with the name of the region that it is meant to stay in: on a machine whose
/// regions are caches, that is all that there is to say of it.
pub fn in_region<'c>(
    builder: &mut Builder<'c>,
    extents: &[Bound<'c>],
    element: Type<'c>,
    region: Option<&str>,
) -> Val<'c> {
    let alignment = (
        "alignment",
        attribute(builder.context, &format!("{LINE} : i64")),
    );
    let space = region.map(Space::region);
    allocated(builder, extents, element, space, &[alignment])
}

fn allocated<'c>(
    builder: &mut Builder<'c>,
    extents: &[Bound<'c>],
    element: Type<'c>,
    space: Option<Space>,
    more: &[(&str, Attribute<'c>)],
) -> Val<'c> {
    let (shape, sizes) = (shape(extents), open(extents).collect::<Vec<_>>());
    let ty = shaped(BufferKind::MemRef, &shape, element);
    let ty = space::within(ty, space);
    memory(builder, ops::memref::ALLOC, &sizes, ty, more)
}

/// New memory as an operation gives it, `memref.alloc`, `memref.alloca` or `gpu.alloc`, with values for
/// the sizes that its type leaves open.
pub fn memory<'c>(
    builder: &mut Builder<'c>,
    name: &str,
    sizes: &[Val<'c>],
    ty: Type<'c>,
    more: &[(&str, Attribute<'c>)],
) -> Val<'c> {
    let open = sizes.len() as i32;
    let segments: &[i32] = match name {
        // What it waits for comes first.
        ops::gpu::ALLOC => &[0, open, 0],
        _ => &[open, 0],
    };
    let segments = DenseI32ArrayAttribute::new(builder.context, segments).into();
    let attributes = [&[("operandSegmentSizes", segments)], more].concat();
    builder.op(name, sizes, &[ty], &attributes)[0]
}

/// The type of a buffer in row-major order.
pub fn shaped<'c>(kind: BufferKind, shape: &[i64], element: Type<'c>) -> Type<'c> {
    let none = MlirAttribute {
        ptr: std::ptr::null_mut(),
    };
    let (rank, sizes) = (shape.len() as isize, shape.as_ptr());
    // SAFETY: the element type is valid, and so are as many sizes as the rank says.
    unsafe {
        Type::from_raw(match kind {
            BufferKind::Tensor => mlirRankedTensorTypeGet(rank, sizes, element.to_raw(), none),
            BufferKind::MemRef => mlirMemRefTypeContiguousGet(element.to_raw(), rank, sizes, none),
            BufferKind::Scalar => element.to_raw(),
        })
    }
}

/// The answers of `memref.extract_strided_metadata`: the memory under it, the offset of its first element, its
/// extents and its strides.
pub fn metadata<'c>(builder: &mut Builder<'c>, memory: Val<'c>) -> Vec<Val<'c>> {
    let raw = memory.r#type().to_raw();
    // SAFETY: the value is a memref, whose element type and memory space are valid.
    let (base, rank) = unsafe {
        let (element, space) = (
            mlirShapedTypeGetElementType(raw),
            mlirMemRefTypeGetMemorySpace(raw),
        );
        let base = mlirMemRefTypeContiguousGet(element, 0, std::ptr::null(), space);
        (Type::from_raw(base), mlirShapedTypeGetRank(raw) as usize)
    };
    let numbers = std::iter::repeat_n(builder.index_type(), 1 + 2 * rank);
    let types: Vec<Type> = std::iter::once(base).chain(numbers).collect();
    let name = ops::memref::EXTRACT_STRIDED_METADATA;
    builder.op(name, &[memory], &types, &[])
}

/// The names of the lists that say which part of a buffer a slice is.
pub const SLICE: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];

/// The names of the lists of how much a `tensor.pad` adds before a tensor, and behind it.
pub const PAD: [&str; 2] = ["static_low", "static_high"];

/// The name of the list of extents that `expand_shape` gives a buffer.
pub const EXPANDED: [&str; 1] = ["static_output_shape"];

/// The numbers of bounds as a type or a list has them, in which others are open.
pub fn shape(bounds: &[Bound]) -> Vec<i64> {
    let numbers = bounds.iter().map(|b| b.known().unwrap_or(DYNAMIC));
    numbers.collect()
}

/// Those that are values.
pub fn open<'a, 'c: 'a>(bounds: &'a [Bound<'c>]) -> impl Iterator<Item = Val<'c>> + 'a {
    bounds.iter().filter_map(|bound| match bound {
        Bound::Static(_) => None,
        Bound::Dynamic(value) => Some(*value),
    })
}

/// The operands and attributes of an operation with lists of numbers, of which some are operands that follow
/// the `first` ones.
pub fn lists<'c, const N: usize>(
    builder: &Builder<'c>,
    first: &[Val<'c>],
    names: [&'static str; N],
    lists: [&[Bound<'c>]; N],
) -> (Vec<Val<'c>>, Vec<(&'static str, Attribute<'c>)>) {
    let context = builder.context;
    let (mut operands, mut segments) = (first.to_vec(), vec![1; first.len()]);
    let mut attributes = Vec::new();
    for (name, list) in names.into_iter().zip(lists) {
        operands.extend(open(list));
        segments.push(open(list).count() as i32);
        let numbers = DenseI64ArrayAttribute::new(context, &shape(list));
        attributes.push((name, numbers.into()));
    }
    let segments = DenseI32ArrayAttribute::new(context, &segments).into();
    attributes.push(("operandSegmentSizes", segments));
    (operands, attributes)
}

/// The lists of an operation, of which those numbers that are operands follow the `first` ones.
pub fn listed<'c, const N: usize>(
    op: Op<'c>,
    first: usize,
    names: [&str; N],
) -> Option<[Vec<Bound<'c>>; N]> {
    let mut operands = op.operands().skip(first).map(ir::value);
    let mut bound = |number| match number {
        DYNAMIC => operands.next().map(Bound::Dynamic),
        number => Some(Bound::Static(number)),
    };
    let mut list = |name| -> Option<Vec<Bound<'c>>> {
        let numbers = ir::integers(op, name).into_iter();
        numbers.map(&mut bound).collect()
    };
    let lists: Option<Vec<_>> = names.into_iter().map(&mut list).collect();
    lists?.try_into().ok()
}

/// A tensor with elements before it (`low`) and behind it (`high`), which code gives.
pub fn padded<'c>(
    builder: &mut Builder<'c>,
    tensor: Val<'c>,
    [low, high]: [&[Bound<'c>]; 2],
    ty: Type<'c>,
    code: Region<'c>,
) -> Val<'c> {
    let (operands, attributes) = lists(builder, &[tensor], PAD, [low, high]);
    let op = builder.build(ops::tensor::PAD, &operands, &[ty], &attributes, vec![code]);
    ir::result(op, 0).unwrap_or_else(|| panic!("a padded tensor is a result"))
}
