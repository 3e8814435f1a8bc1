//! Parts of arrays, which names of memrefs show.

use super::super::slices::Slice;

/// A part of an array.
#[derive(Clone, Debug)]
pub(super) struct ArrayPart {
    pub(super) array: usize,
    pub(super) offset: i64,
    pub(super) shape: Vec<i64>,
    pub(super) strides: Vec<i64>,
}

impl ArrayPart {
    pub(super) fn whole(array: usize, shape: Vec<i64>) -> ArrayPart {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis].max(1);
        }
        ArrayPart {
            array,
            offset: 0,
            shape,
            strides,
        }
    }

    pub(super) fn slice(&self, slice: &Slice) -> ArrayPart {
        let (offset, shape, strides) = slice.strided(&self.strides);
        ArrayPart {
            array: self.array,
            offset: self.offset + offset,
            shape,
            strides,
        }
    }

    pub(super) fn reshaped(&self, shape: Vec<i64>) -> Result<ArrayPart, String> {
        let dense = ArrayPart::whole(self.array, self.shape.clone());
        let axes = self
            .shape
            .iter()
            .zip(self.strides.iter().zip(&dense.strides));
        if !axes
            .into_iter()
            .all(|(n, (own, dense))| *n <= 1 || own == dense)
        {
            return Err(
                "sees a part of a memref whose elements are not next to each other under \
                        another shape, which the oracle does not follow: expected a contiguous part"
                    .into(),
            );
        }
        Ok(ArrayPart {
            offset: self.offset,
            ..ArrayPart::whole(self.array, shape)
        })
    }

    /// The place of an element, if the index is inside.
    #[inline]
    pub(super) fn place(&self, index: impl Iterator<Item = i64>) -> Option<usize> {
        let mut place = self.offset;
        let mut axes = 0;
        for (axis, i) in index.enumerate() {
            if i < 0 || i >= *self.shape.get(axis)? {
                return None;
            }
            place += i * self.strides[axis];
            axes += 1;
        }
        (axes == self.shape.len()).then_some(place as usize)
    }
}
