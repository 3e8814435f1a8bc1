//! Rectangular parts of tensors and memrefs: the meaning of `extract_slice`, `insert_slice` and
//! `subview`.

use super::ValueId;

/// A number, or a value of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Known when the program is read.
    Known(i64),
    /// Known when it runs.
    Value(ValueId),
}

/// Names the shape that elements are seen under.
#[derive(Clone, Debug, PartialEq)]
pub enum Shaping {
    /// These extents.
    To(Vec<Index>),
    /// These axes together become one each.
    Groups(Vec<Vec<usize>>),
}

/// Says whether a tensor is a value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// It is.
    Own,
    /// It is another name of a memref: what is written to the one is written to the other.
    Shared,
}

/// A slice as it is written: one offset, size and stride for each axis of the whole.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SliceOperands {
    /// The first index.
    pub offsets: Vec<Index>,
    /// Number of indices along each axis.
    pub sizes: Vec<Index>,
    /// From one to the next.
    pub strides: Vec<Index>,
    /// The axes of the whole that the part has, too; of the others it has one index.
    pub kept: Vec<usize>,
}

impl SliceOperands {
    /// The part from these indices on, of these sizes, with all axes.
    pub(super) fn at(offsets: &[i64], sizes: &[i64]) -> SliceOperands {
        let known = |numbers: &[i64]| numbers.iter().map(|n| Index::Known(*n)).collect();
        SliceOperands {
            offsets: known(offsets),
            sizes: known(sizes),
            strides: vec![Index::Known(1); sizes.len()],
            kept: (0..sizes.len()).collect(),
        }
    }
}

/// A slice with all numbers known.
///
/// The law: `part[x] = whole[offset + x * stride]` in each axis, with `x = 0` where the part has
/// no axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slice {
    offsets: Vec<i64>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    kept: Vec<usize>,
}

impl Slice {
    /// The slice, if it lies in a whole of this shape.
    pub(super) fn new(
        operands: &SliceOperands,
        number: impl Fn(Index) -> Result<i64, String>,
        shape: &[i64],
    ) -> Result<Slice, String> {
        let numbers = |of: &[Index]| of.iter().map(|i| number(*i)).collect::<Result<Vec<_>, _>>();
        let slice = Slice {
            offsets: numbers(&operands.offsets)?,
            sizes: numbers(&operands.sizes)?,
            strides: numbers(&operands.strides)?,
            kept: operands.kept.clone(),
        };
        if [&slice.offsets, &slice.sizes, &slice.strides].map(Vec::len) != [shape.len(); 3] {
            return Err("bug: a slice of another rank".into());
        }
        for (axis, extent) in shape.iter().enumerate() {
            let (offset, size) = (slice.offsets[axis], slice.sizes[axis]);
            let stride = slice.strides[axis];
            let last = size
                .checked_sub(1)
                .and_then(|steps| steps.checked_mul(stride))
                .and_then(|way| way.checked_add(offset));
            let is_inside = |index: Option<i64>| index.is_some_and(|i| 0 <= i && i < *extent);
            if size < 0 || size > 0 && !(is_inside(Some(offset)) && is_inside(last)) {
                return Err(format!(
                    "takes {size} elements from {offset} by steps of {stride} in axis {axis}, \
                     which has the indices 0..{extent}"
                ));
            }
        }
        Ok(slice)
    }

    /// The part's shape.
    pub(super) fn shape(&self) -> Vec<i64> {
        self.kept.iter().map(|axis| self.sizes[*axis]).collect()
    }

    /// The part in an array of these strides: where it begins, its shape and its strides.
    pub(super) fn strided(&self, strides: &[i64]) -> (i64, Vec<i64>, Vec<i64>) {
        let offset = self.offsets.iter().zip(strides).map(|(o, s)| o * s).sum();
        let own = |axis: &usize| self.strides[*axis] * strides[*axis];
        (offset, self.shape(), self.kept.iter().map(own).collect())
    }

    /// Returns where an element of the part stands in the whole.
    pub(super) fn source_index(&self, part: &[i64]) -> Vec<i64> {
        let mut index = self.offsets.clone();
        for (axis, x) in self.kept.iter().zip(part) {
            index[*axis] += x * self.strides[*axis];
        }
        index
    }

    /// Returns the index in the part of an element of the whole, if it is in it.
    pub(super) fn part(&self, whole: &[i64]) -> Option<Vec<i64>> {
        let mut all = Vec::with_capacity(whole.len());
        for (axis, index) in whole.iter().enumerate() {
            let distance = index - self.offsets[axis];
            let x = match self.strides[axis] {
                0 => 0,
                stride => distance / stride,
            };
            let is_met = x * self.strides[axis] == distance;
            if !is_met || x < 0 || x >= self.sizes[axis] {
                return None;
            }
            all.push(x);
        }
        Some(self.kept.iter().map(|axis| all[*axis]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `part` is the inverse of `whole`, and knows no other element.
    #[test]
    fn a_part_stands_where_the_law_says() {
        for (offset, size, stride) in [(0, 4, 1), (1, 2, 3), (5, 3, -2), (2, 1, 1), (3, 0, 1)] {
            let known = |n: i64| vec![Index::Known(n), Index::Known(1)];
            let operands = SliceOperands {
                offsets: known(offset),
                sizes: vec![Index::Known(size), Index::Known(1)],
                strides: known(stride),
                kept: vec![0],
            };
            let number = |index| match index {
                Index::Known(n) => Ok(n),
                Index::Value(_) => Err("none".to_owned()),
            };
            let slice = Slice::new(&operands, number, &[6, 2]).unwrap();
            assert_eq!(slice.shape(), [size]);
            let places: Vec<Vec<i64>> = (0..size).map(|x| slice.source_index(&[x])).collect();
            for i in 0..6 {
                for j in 0..2 {
                    let found = places.iter().position(|p| *p == [i, j]);
                    let part = slice.part(&[i, j]);
                    assert_eq!(part, found.map(|x| vec![x as i64]));
                }
            }
            assert!(Slice::new(&operands, number, &[size.min(1), 2]).is_err() || size == 0);
        }
    }
}
