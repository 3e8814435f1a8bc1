//! Strides of a memref's elements, if they are not in row-major order without gaps.
//!
//! Arrays are read, compared and written in row-major order. A memref whose type says something
//! else (`memref<4x4xf32, strided<[10, 2], offset: 5>>`) is given memory of its own for a call:
//! what the type leaves open (`?`) is as small as it can be.

use mdh_dialect::types::DYNAMIC;
use mdh_jit::descriptor::{byte_size, copy_elements};
use mdh_jit::{Buffer, Descriptor, interface};
use mdhrt::elements::Elements;
use melior::ir::{Type, TypeLike};
use mlir_sys::{
    mlirAffineMapIsIdentity, mlirMemRefTypeGetAffineMap, mlirMemRefTypeGetMemorySpace,
    mlirMemRefTypeGetStridesAndOffset, mlirRankedTensorTypeGetEncoding, mlirShapedTypeGetRank,
    mlirTypeIsAMemRef, mlirTypeIsARankedTensor,
};

use crate::error::{Error, Result};
use crate::values::Tensor;

/// The strides and the offset of a memref's type, in elements; `None` is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedLayout {
    strides: Vec<Option<i64>>,
    offset: Option<i64>,
    order: Order,
}

/// Order of the elements of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Row-major, without gaps.
    Rows,
    /// By strides and an offset of its own.
    Own,
}

impl StridedLayout {
    /// The layout of a type; `None` for a type that is no memref. Fails with what is expected
    /// instead if arrays cannot be given to it.
    pub fn new(ty: Type) -> std::result::Result<Option<StridedLayout>, &'static str> {
        let raw = ty.to_raw();
        let known = |number: i64| (number != DYNAMIC).then_some(number);
        // SAFETY: the type is valid, and its kind is checked before its parts are read.
        unsafe {
            if mlirTypeIsARankedTensor(raw) && !mlirRankedTensorTypeGetEncoding(raw).ptr.is_null() {
                return Err("expected a tensor without an encoding");
            }
            if !mlirTypeIsAMemRef(raw) {
                return Ok(None);
            }
            if !mlirMemRefTypeGetMemorySpace(raw).ptr.is_null() {
                return Err("expected a memref in the default memory space");
            }
            let mut strides = vec![0; usize::try_from(mlirShapedTypeGetRank(raw)).unwrap_or(0)];
            let mut offset = 0;
            let result = mlirMemRefTypeGetStridesAndOffset(raw, strides.as_mut_ptr(), &mut offset);
            if result.value == 0 {
                return Err("expected a memref whose layout is strides and an offset");
            }
            let order = match mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(raw)) {
                true => Order::Rows,
                false => Order::Own,
            };
            Ok(Some(StridedLayout {
                strides: strides.into_iter().map(known).collect(),
                offset: known(offset),
                order,
            }))
        }
    }

    /// The same for C, where a pointer to the first element does without an open offset.
    pub fn interface(&self) -> interface::BufferLayout {
        match self.order {
            Order::Rows => interface::BufferLayout::Rows,
            Order::Own => interface::BufferLayout::Strided {
                offset: self.offset.unwrap_or(0),
                strides: self.strides.clone(),
            },
        }
    }

    /// Strides, offset and the number of elements that the memory has, for an array of that
    /// shape.
    fn place(&self, shape: &[i64]) -> std::result::Result<Placement, String> {
        let is_empty = shape.contains(&0);
        // The distance from the first to the last element in the dimensions from `d` on.
        let mut span: i128 = 0;
        let mut strides = vec![0; shape.len()];
        for d in (0..shape.len()).rev() {
            let smallest = i64::try_from(span + 1).map_err(|_| TOO_LARGE)?;
            strides[d] = self.strides[d].unwrap_or(smallest);
            span += i128::from(shape[d].max(1) - 1) * i128::from(strides[d].unsigned_abs());
        }
        let extents: Vec<u64> = shape.iter().map(|n| n.unsigned_abs()).collect();
        let places = Elements {
            start: 0,
            size: 1,
            extents: &extents,
            strides: &strides,
        };
        let (lowest, end) = places.range().unwrap_or_default();
        if end.saturating_sub(lowest) > i128::from(i64::MAX) {
            return Err(TOO_LARGE.to_string());
        }
        if !places.are_apart() {
            return Err("its elements overlap".to_string());
        }
        let offset = match self.offset {
            Some(offset) => i128::from(offset),
            None => -lowest,
        };
        let first = offset + lowest;
        if first < 0 {
            return Err(format!(
                "its first element in memory is {} elements before its start",
                -first
            ));
        }
        let elements = if is_empty { 0 } else { offset + end };
        Ok(Placement {
            strides,
            offset: i64::try_from(offset).map_err(|_| TOO_LARGE)?,
            elements: i64::try_from(elements).map_err(|_| TOO_LARGE)?,
        })
    }
}

const TOO_LARGE: &str = "it is too large to be addressed";

#[derive(Debug, PartialEq, Eq)]
struct Placement {
    strides: Vec<i64>,
    offset: i64,
    elements: i64,
}

impl Placement {
    fn is_dense(&self, shape: &[i64]) -> bool {
        self.offset == 0 && Descriptor::dense(std::ptr::null_mut(), shape).strides() == self.strides
    }
}

/// An array's memory in another layout.
pub struct Placed {
    placement: Placement,
    buffer: Buffer,
}

impl Placed {
    /// Memory for an array; `None` if the layout is that of arrays. `name` is the argument's or
    /// result's, for messages.
    pub fn new(name: &str, layout: &StridedLayout, tensor: &Tensor) -> Result<Option<Placed>> {
        let placement = layout.place(tensor.shape()).map_err(|reason| {
            Error::input(format!(
                "'{name}' of type {} cannot be laid out as its memref type says: {reason}",
                tensor.type_text()
            ))
        })?;
        if placement.is_dense(tensor.shape()) {
            return Ok(None);
        }
        let mut buffer = Buffer::zeroed(byte_size(
            &[placement.elements],
            tensor.element().byte_width(),
        )?)?;
        buffer.poison();
        Ok(Some(Placed { placement, buffer }))
    }

    /// Returns its descriptor for compiled code.
    pub fn descriptor(&mut self, shape: &[i64]) -> Descriptor {
        let Placement {
            strides, offset, ..
        } = &self.placement;
        Descriptor::strided(self.buffer.as_mut_ptr(), *offset, shape, strides)
    }

    /// Copies the array here.
    pub fn fill(&mut self, tensor: &mut Tensor) {
        let here = self.descriptor(tensor.shape());
        // SAFETY: both have the array's shape and their own memory for all its elements.
        unsafe { copy_elements(&tensor.descriptor(), &here, tensor.element().byte_width()) };
    }

    /// Copies the array back.
    pub fn take(&mut self, tensor: &mut Tensor) {
        let here = self.descriptor(tensor.shape());
        // SAFETY: as in `fill`.
        unsafe { copy_elements(&here, &tensor.descriptor(), tensor.element().byte_width()) };
    }

    /// Returns whether nothing was written beyond its ends, nor between the elements, which are those of
    /// the array.
    pub fn is_intact(&self, tensor: &mut Tensor) -> Result<bool> {
        let mut fresh = Placed {
            placement: Placement {
                strides: self.placement.strides.clone(),
                ..self.placement
            },
            buffer: Buffer::zeroed(self.buffer.bytes().len())?,
        };
        fresh.buffer.poison();
        fresh.fill(tensor);
        Ok(self.buffer.is_intact() && self.buffer.bytes() == fresh.buffer.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdh_algebra::scalar::ScalarType;

    fn layout(strides: &[Option<i64>], offset: Option<i64>) -> StridedLayout {
        StridedLayout {
            strides: strides.to_vec(),
            offset,
            order: Order::Own,
        }
    }

    fn placed(
        strides: &[i64],
        offset: i64,
        elements: i64,
    ) -> std::result::Result<Placement, String> {
        let strides = strides.to_vec();
        Ok(Placement {
            strides,
            offset,
            elements,
        })
    }

    #[test]
    fn what_is_open_is_as_small_as_it_can_be() {
        let open = layout(&[None, None], None);
        assert_eq!(open.place(&[4, 5]), placed(&[5, 1], 0, 20));
        let some = layout(&[None, Some(3)], Some(7));
        assert_eq!(some.place(&[2, 4]), placed(&[10, 3], 7, 27));
        let back = layout(&[Some(1), Some(-4)], None);
        assert_eq!(back.place(&[4, 3]), placed(&[1, -4], 8, 12));
        assert_eq!(layout(&[], Some(2)).place(&[]), placed(&[], 2, 3));
    }

    #[test]
    fn empty_arrays_need_no_memory() {
        let layout = layout(&[Some(0), None], Some(-3));
        assert_eq!(
            layout.place(&[5, 0]).map(|p| p.elements),
            Err("its first element in memory is 3 elements before its start".to_string())
        );
        let layout = super::StridedLayout {
            offset: Some(9),
            ..layout
        };
        assert_eq!(layout.place(&[5, 0]).map(|p| p.elements), Ok(0));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let reason = |strides: &[Option<i64>], offset, shape: &[i64]| {
            layout(strides, offset).place(shape).unwrap_err()
        };
        assert_eq!(reason(&[Some(0)], Some(0), &[4]), "its elements overlap");
        assert_eq!(
            reason(&[Some(3), Some(1)], Some(0), &[2, 4]),
            "its elements overlap"
        );
        assert_eq!(
            reason(&[Some(-1)], Some(2), &[4]),
            "its first element in memory is 1 elements before its start"
        );
        assert_eq!(reason(&[Some(i64::MAX)], Some(0), &[4]), TOO_LARGE);
    }

    #[test]
    fn elements_go_there_and_back() {
        let mut tensor = Tensor::random(ScalarType::I16, &[4, 3], 1, 0).unwrap();
        let layout = layout(&[Some(-2), Some(10)], Some(9));
        let mut placed = Placed::new("x", &layout, &tensor).unwrap().unwrap();
        placed.fill(&mut tensor);
        assert!(placed.is_intact(&mut tensor).unwrap());
        let mut copy = Tensor::zeroed(ScalarType::I16, &[4, 3]).unwrap();
        placed.take(&mut copy);
        assert_eq!(copy.bytes(), tensor.bytes());
        placed.buffer.bytes_mut()[0] ^= 1;
        assert!(!placed.is_intact(&mut tensor).unwrap());
    }

    #[test]
    fn dense_arrays_stay_where_they_are() {
        let tensor = Tensor::zeroed(ScalarType::F32, &[4, 3]).unwrap();
        let open = layout(&[None, None], None);
        assert!(Placed::new("x", &open, &tensor).unwrap().is_none());
    }
}
