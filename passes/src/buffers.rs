//! Values for bounds, and new buffers.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::space::{self, Space};
use mdh_dialect::types::{BufferKind, DYNAMIC};
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::{Attribute, Type, TypeLike};
use mlir_sys::{MlirAttribute, mlirMemRefTypeContiguousGet, mlirRankedTensorTypeGet};

use crate::builder::Builder;

/// A bound as a value.
pub fn value<'c>(builder: &mut Builder<'c>, bound: Bound<'c>) -> Val<'c> {
    match bound {
        Bound::Static(number) => builder.index(number),
        Bound::Dynamic(value) => value,
    }
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
    let (shape, sizes) = split(extents);
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
    let parse = |text: &str| {
        let attribute = Attribute::parse(builder.context, text);
        attribute.unwrap_or_else(|| panic!("{text} is an attribute"))
    };
    let own = [
        ("operandSegmentSizes", parse("array<i32: 0, 0>")),
        ("alignment", parse("16 : i64")),
    ];
    builder.op(ops::memref::ALLOCA, &[], &[ty], &own)[0]
}

/// [`aligned`], with the name of the region that it is meant to stay in: on a machine whose
/// regions are caches, that is all that there is to say of it.
pub fn in_region<'c>(
    builder: &mut Builder<'c>,
    extents: &[Bound<'c>],
    element: Type<'c>,
    region: Option<&str>,
) -> Val<'c> {
    let alignment = Attribute::parse(builder.context, "64 : i64");
    let alignment = alignment.unwrap_or_else(|| panic!("64 is an attribute"));
    let space = region.map(Space::region);
    allocated(
        builder,
        extents,
        element,
        space,
        &[("alignment", alignment)],
    )
}

fn allocated<'c>(
    builder: &mut Builder<'c>,
    extents: &[Bound<'c>],
    element: Type<'c>,
    space: Option<Space>,
    more: &[(&str, Attribute<'c>)],
) -> Val<'c> {
    let (shape, sizes) = split(extents);
    let ty = shaped(BufferKind::MemRef, &shape, element);
    let ty = space::within(ty, space);
    let text = format!("array<i32: {}, 0>", sizes.len());
    let segments = Attribute::parse(builder.context, &text);
    let segments = segments.unwrap_or_else(|| panic!("{text} is an attribute"));
    let attributes = [&[("operandSegmentSizes", segments)], more].concat();
    builder.op(ops::memref::ALLOC, &sizes, &[ty], &attributes)[0]
}

/// The sizes of a shape, and the values of those that are dynamic.
fn split<'c>(extents: &[Bound<'c>]) -> (Vec<i64>, Vec<Val<'c>>) {
    let shape = extents.iter().map(|e| e.known().unwrap_or(DYNAMIC));
    let dynamic = |extent: &Bound<'c>| match extent {
        Bound::Static(_) => None,
        Bound::Dynamic(value) => Some(*value),
    };
    (
        shape.collect(),
        extents.iter().filter_map(dynamic).collect(),
    )
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

/// The numbers of a list whose other entries are operands.
pub fn numbers<'c>(builder: &Builder<'c>, bounds: &[Bound<'c>]) -> Attribute<'c> {
    let known = bounds.iter().map(|bound| bound.known().unwrap_or(DYNAMIC));
    let known: Vec<i64> = known.collect();
    DenseI64ArrayAttribute::new(builder.context, &known).into()
}

/// Those that are operands.
pub fn open<'a, 'c: 'a>(bounds: &'a [Bound<'c>]) -> impl Iterator<Item = Val<'c>> + 'a {
    bounds.iter().filter_map(|bound| match bound {
        Bound::Static(_) => None,
        Bound::Dynamic(value) => Some(*value),
    })
}

/// A number of a list of which those that are operands start with operand `first`.
pub fn listed<'c>(op: Op<'c>, name: &str, first: usize, place: usize) -> Option<Bound<'c>> {
    let all = ir::integers(op, name);
    match *all.get(place)? {
        DYNAMIC => {
            let before = all[..place].iter().filter(|n| **n == DYNAMIC);
            ir::operand(op, first + before.count()).map(Bound::Dynamic)
        }
        number => Some(Bound::Static(number)),
    }
}
