//! Scalar types, shapes and scalar constants between MLIR and the algebra.

use mdh_algebra::computation::Extent;
use mdh_algebra::scalar::{Scalar, ScalarType};
use melior::Context;
use melior::ir::{Attribute, AttributeLike, Type, TypeLike};
use mlir_sys::*;

/// MLIR's mark of a dynamic size.
pub const DYNAMIC: i64 = i64::MIN;

/// A size as MLIR writes it.
pub fn extent(size: i64) -> Extent {
    (size != DYNAMIC).then_some(size)
}

/// The scalar type of a builtin type, if it is one that the dialect computes with.
pub fn scalar_type(ty: Type) -> Option<ScalarType> {
    let raw = ty.to_raw();
    // SAFETY: the type is valid, and its kind is checked before its width is read.
    unsafe {
        if mlirTypeIsAIndex(raw) {
            return Some(ScalarType::Index);
        }
        if mlirTypeIsAInteger(raw) && mlirIntegerTypeIsSignless(raw) {
            return match mlirIntegerTypeGetWidth(raw) {
                1 => Some(ScalarType::I1),
                8 => Some(ScalarType::I8),
                16 => Some(ScalarType::I16),
                32 => Some(ScalarType::I32),
                64 => Some(ScalarType::I64),
                _ => None,
            };
        }
        if mlirTypeIsAF16(raw) {
            Some(ScalarType::F16)
        } else if mlirTypeIsABF16(raw) {
            Some(ScalarType::BF16)
        } else if mlirTypeIsAF32(raw) {
            Some(ScalarType::F32)
        } else if mlirTypeIsAF64(raw) {
            Some(ScalarType::F64)
        } else {
            None
        }
    }
}

/// The type of a vector's lanes; any other type itself.
pub fn element(ty: Type<'_>) -> Type<'_> {
    // SAFETY: the type is valid, and a vector type has an element type.
    unsafe {
        if mlirTypeIsAVector(ty.to_raw()) {
            Type::from_raw(mlirShapedTypeGetElementType(ty.to_raw()))
        } else {
            ty
        }
    }
}

/// The sizes of a vector, a ranked tensor or a memref as MLIR writes them; none of any other type.
pub fn sizes(ty: Type) -> Vec<i64> {
    let raw = ty.to_raw();
    // SAFETY: the type is valid, and its kind is checked before its sizes are read.
    unsafe {
        let is_ranked = mlirTypeIsAShaped(raw) && mlirShapedTypeHasRank(raw);
        let rank = if is_ranked {
            mlirShapedTypeGetRank(raw)
        } else {
            0
        };
        let sizes = (0..rank).map(|d| mlirShapedTypeGetDimSize(raw, d as isize));
        sizes.collect()
    }
}

/// A scalar type, or a vector of it if another type is a vector: of the same shape.
pub fn with_lanes_of<'c>(other: Type<'c>, scalar: Type<'c>) -> Type<'c> {
    let sizes = sizes(other);
    // SAFETY: the types are valid, and there are as many sizes as the rank says.
    unsafe {
        if !mlirTypeIsAVector(other.to_raw()) {
            return scalar;
        }
        Type::from_raw(mlirVectorTypeGet(
            sizes.len() as isize,
            sizes.as_ptr(),
            scalar.to_raw(),
        ))
    }
}

/// The type of a memref of other elements, which lie in the same places; any other type itself.
pub fn memref_of<'c>(scalar: Type<'c>, memref: Type<'c>) -> Type<'c> {
    let (raw, sizes) = (memref.to_raw(), sizes(memref));
    // SAFETY: the type is valid, and a memref where more is asked of it; that of other scalars is
    // valid, too.
    unsafe {
        if !mlirTypeIsAMemRef(raw) {
            return memref;
        }
        Type::from_raw(mlirMemRefTypeGet(
            scalar.to_raw(),
            sizes.len() as isize,
            sizes.as_ptr(),
            mlirMemRefTypeGetLayout(raw),
            mlirMemRefTypeGetMemorySpace(raw),
        ))
    }
}

/// The type of a tensor or a memref with other extents, of as many axes; any other type itself.
pub fn with_extents<'c>(ty: Type<'c>, extents: &[Extent]) -> Type<'c> {
    let sizes: Vec<i64> = extents.iter().map(|own| own.unwrap_or(DYNAMIC)).collect();
    let (raw, rank) = (ty.to_raw(), sizes.len() as isize);
    // SAFETY: the type is valid, and its kind is checked before more is asked of it; so is that of other
    // extents.
    unsafe {
        if mlirTypeIsARankedTensor(raw) {
            let (element, encoding) = (
                mlirShapedTypeGetElementType(raw),
                mlirRankedTensorTypeGetEncoding(raw),
            );
            let new = mlirRankedTensorTypeGet(rank, sizes.as_ptr(), element, encoding);
            return Type::from_raw(new);
        }
        if !mlirTypeIsAMemRef(raw) {
            return ty;
        }
        let layout = match ty == by_rows(ty) {
            // What lies row by row does so by its own extents.
            true => return by_rows_of(ty, &sizes),
            false => mlirMemRefTypeGetLayout(raw),
        };
        let (element, space) = (
            mlirShapedTypeGetElementType(raw),
            mlirMemRefTypeGetMemorySpace(raw),
        );
        let new = mlirMemRefTypeGet(element, rank, sizes.as_ptr(), layout, space);
        Type::from_raw(new)
    }
}

/// The type of a memref of the same elements that lie row by row, from its first on; any other type itself.
pub fn by_rows(ty: Type<'_>) -> Type<'_> {
    by_rows_of(ty, &sizes(ty))
}

/// The same with other sizes.
fn by_rows_of<'c>(ty: Type<'c>, sizes: &[i64]) -> Type<'c> {
    let raw = ty.to_raw();
    // SAFETY: the type is valid, and a memref where more is asked of it; that of elements in other places
    // is valid, too.
    unsafe {
        if !mlirTypeIsAMemRef(raw) {
            return ty;
        }
        Type::from_raw(mlirMemRefTypeContiguousGet(
            mlirShapedTypeGetElementType(raw),
            sizes.len() as isize,
            sizes.as_ptr(),
            mlirMemRefTypeGetMemorySpace(raw),
        ))
    }
}

/// Returns whether a memref's type says that its elements lie row by row, wherever the first one is.
pub fn lie_by_rows(ty: Type) -> bool {
    if ty == by_rows(ty) {
        return true;
    }
    let (Some(buffer), Some((_, strides))) = (buffer_type(ty), strides(ty)) else {
        return false;
    };
    let mut below = Some(1);
    let mut axes = buffer.shape.into_iter().zip(strides).rev();
    axes.all(|(size, stride)| {
        // One index takes no step.
        let is_next = size == Some(1) || below.is_some() && stride == below;
        below = size
            .zip(below)
            .and_then(|(size, below)| below.checked_mul(size));
        is_next
    })
}

/// The builtin type of a scalar type.
pub fn mlir_type(context: &Context, ty: ScalarType) -> Type<'_> {
    let raw = context.to_raw();
    // SAFETY: the context outlives the type.
    unsafe {
        Type::from_raw(match ty {
            ScalarType::Index => mlirIndexTypeGet(raw),
            ScalarType::F16 => mlirF16TypeGet(raw),
            ScalarType::BF16 => mlirBF16TypeGet(raw),
            ScalarType::F32 => mlirF32TypeGet(raw),
            ScalarType::F64 => mlirF64TypeGet(raw),
            integer => mlirIntegerTypeGet(raw, integer.bit_width()),
        })
    }
}

/// Type of an operand: a buffer of some shape, or a plain scalar.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferType {
    /// The type of its elements.
    pub element: ScalarType,
    /// Its shape; empty for a scalar.
    pub shape: Vec<Extent>,
    /// Tensor, memref or neither.
    pub kind: BufferKind,
}

impl BufferType {
    /// The bytes of all elements; `None` where an extent is not known, or they are too many.
    pub fn bytes(&self) -> Option<i64> {
        let mut extents = self.shape.iter();
        let width = self.element.byte_width() as i64;
        extents.try_fold(width, |bytes, extent| bytes.checked_mul((*extent)?))
    }
}

/// Kind of an operand: tensor, memref or scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    /// A ranked tensor.
    Tensor,
    /// A ranked memref.
    MemRef,
    /// A scalar value.
    Scalar,
}

/// The buffer behind an operand's type, if the dialect accepts it.
pub fn buffer_type(ty: Type) -> Option<BufferType> {
    let raw = ty.to_raw();
    // SAFETY: the type is valid, and its kind is checked before its shape is read.
    unsafe {
        let kind = if mlirTypeIsARankedTensor(raw) {
            // What an encoding says of where elements are, nobody here knows.
            if !mlirRankedTensorTypeGetEncoding(raw).ptr.is_null() {
                return None;
            }
            BufferKind::Tensor
        } else if mlirTypeIsAMemRef(raw) {
            BufferKind::MemRef
        } else {
            let element = scalar_type(ty)?;
            return Some(BufferType {
                element,
                shape: Vec::new(),
                kind: BufferKind::Scalar,
            });
        };
        let element = scalar_type(Type::from_raw(mlirShapedTypeGetElementType(raw)))?;
        let shape = sizes(ty).into_iter().map(extent).collect();
        Some(BufferType {
            element,
            shape,
            kind,
        })
    }
}

/// The offset of a memref's first element in its memory and its strides, where there are such: known ones.
pub fn strides(ty: Type) -> Option<(Extent, Vec<Extent>)> {
    let rank = buffer_type(ty).filter(|ty| ty.kind == BufferKind::MemRef)?;
    let (mut strides, mut offset) = (vec![0i64; rank.shape.len()], 0i64);
    // SAFETY: the type is a memref's, and there is room for each of its strides.
    let success = unsafe {
        mlirMemRefTypeGetStridesAndOffset(ty.to_raw(), strides.as_mut_ptr(), &mut offset)
    };
    let strides = strides.into_iter().map(extent).collect();
    (success.value == 1).then_some((extent(offset), strides))
}

/// The element of a dense attribute whose elements are all the same.
pub fn splat(attribute: Attribute) -> Option<Attribute> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked before the element is read, which lives in the same context.
    unsafe {
        let is_splat = mlirAttributeIsADenseElements(raw) && mlirDenseElementsAttrIsSplat(raw);
        is_splat.then(|| Attribute::from_raw(mlirDenseElementsAttrGetSplatValue(raw)))
    }
}

/// The value of a typed integer, float or boolean attribute.
pub fn scalar(attribute: Attribute) -> Option<Scalar> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is valid, and its kind is checked before its value is read.
    unsafe {
        if mlirAttributeIsABool(raw) {
            return Some(Scalar::from_bool(mlirBoolAttrGetValue(raw)));
        }
        let ty = scalar_type(Type::from_raw(mlirAttributeGetType(raw)))?;
        if mlirAttributeIsAInteger(raw) {
            return Some(Scalar::from_i64(ty, mlirIntegerAttrGetValueInt(raw)));
        }
        mlirAttributeIsAFloat(raw).then(|| Scalar::from_f64(ty, mlirFloatAttrGetValueDouble(raw)))
    }
}

/// A typed attribute with a value.
pub fn attribute(context: &Context, value: Scalar) -> Attribute<'_> {
    let ty = mlir_type(context, value.ty).to_raw();
    // SAFETY: the context outlives the attribute, and the type fits the constructor.
    unsafe {
        Attribute::from_raw(if value.ty.is_float() {
            mlirFloatAttrDoubleGet(context.to_raw(), ty, value.as_f64())
        } else {
            mlirIntegerAttrGet(ty, value.as_i64())
        })
    }
}
