//! Rectangular parts of tensors and memrefs: the meaning of `extract_slice`, `insert_slice` and
//! `subview`.

use super::statement::ValueId;
use crate::domain::total_elements;

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
    /// These extents: each axis becomes a group of axes.
    Split {
        /// Those of all groups.
        extents: Vec<Index>,
        /// The axes that each axis becomes.
        groups: Vec<Vec<usize>>,
    },
    /// These axes together become one each.
    Groups(Vec<Vec<usize>>),
}

impl Shaping {
    /// The numbers that it depends on.
    pub(super) fn extents(&self) -> &[Index] {
        match self {
            Shaping::To(extents) | Shaping::Split { extents, .. } => extents,
            Shaping::Groups(_) => &[],
        }
    }

    /// The shape that elements of a shape are seen under: one of as many, in each group of axes.
    pub(super) fn shape(
        &self,
        source: &[i64],
        number: impl Fn(Index) -> Result<i64, String>,
    ) -> Result<Vec<i64>, String> {
        let joined = |shape: &[i64], group: &[usize]| -> Option<Vec<i64>> {
            group.iter().map(|axis| shape.get(*axis).copied()).collect()
        };
        let shape: Vec<i64> = match self {
            Shaping::To(extents) | Shaping::Split { extents, .. } => {
                let extents = extents.iter().map(|extent| number(*extent));
                extents.collect::<Result<_, String>>()?
            }
            Shaping::Groups(groups) => {
                let product = |group: &Vec<usize>| Some(joined(source, group)?.iter().product());
                let shape: Option<Vec<i64>> = groups.iter().map(product).collect();
                shape.ok_or("bug: a group of axes that are not there")?
            }
        };
        let is_as_many = total_elements(&shape) == total_elements(source);
        let are_parts = match self {
            Shaping::Split { groups, .. } => groups.iter().zip(source).all(|(group, whole)| {
                joined(&shape, group).is_some_and(|parts| total_elements(&parts) == Some(*whole))
            }),
            _ => true,
        };
        let seen = format!("sees a tensor of shape {source:?} under the shape {shape:?}");
        match (is_as_many, are_parts) {
            (true, true) => Ok(shape),
            (true, false) => Err(format!(
                "{seen}: expected each group of axes to have as many elements as the axis that it splits"
            )),
            (false, _) => Err(format!("{seen}: expected one of as many elements")),
        }
    }
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

/// A slice with all numbers known: steps along the axes of the whole, most often one along each.
///
/// The law: `part[x] = whole[offset + x * stride]` in each axis, with `x = 0` where the part has
/// no axis, and all steps along one axis added.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slice {
    offsets: Vec<i64>,
    /// The axis of the whole that each step goes along.
    axes: Vec<usize>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    /// The steps that are axes of the part, in its order.
    kept: Vec<usize>,
    /// Says that all steps go along one axis, not one along each.
    is_flat: bool,
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
            axes: (0..shape.len()).collect(),
            sizes: numbers(&operands.sizes)?,
            strides: numbers(&operands.strides)?,
            kept: operands.kept.clone(),
            is_flat: false,
        };
        if [&slice.offsets, &slice.sizes, &slice.strides].map(Vec::len) != [shape.len(); 3] {
            return Err("bug: a slice of another rank".into());
        }
        for (axis, extent) in shape.iter().enumerate() {
            let (offset, size) = (slice.offsets[axis], slice.sizes[axis]);
            let stride = slice.strides[axis];
            let reached = reached(offset, [(size, stride)].into_iter());
            if size < 0 || size > 0 && !reached.is_some_and(|r| is_inside(r, *extent)) {
                return Err(format!(
                    "takes {size} elements from {offset} by steps of {stride} in axis {axis}, \
                     which has the indices 0..{extent}"
                ));
            }
        }
        Ok(slice)
    }

    /// A part of so many elements that lie one after the other, with any strides.
    pub(super) fn flat(
        (offset, sizes, strides): (Index, &[Index], &[Index]),
        number: impl Fn(Index) -> Result<i64, String>,
        count: i64,
    ) -> Result<Slice, String> {
        let numbers = |of: &[Index]| of.iter().map(|i| number(*i)).collect::<Result<Vec<_>, _>>();
        let (sizes, strides) = (numbers(sizes)?, numbers(strides)?);
        let slice = Slice {
            offsets: vec![number(offset)?],
            axes: vec![0; sizes.len()],
            kept: (0..sizes.len()).collect(),
            sizes,
            strides,
            is_flat: true,
        };
        let (sizes, strides) = (&slice.sizes, &slice.strides);
        let steps = sizes.iter().copied().zip(strides.iter().copied());
        let is_empty = sizes.contains(&0);
        let reached = reached(slice.offsets[0], steps);
        if sizes.iter().any(|n| *n < 0)
            || !is_empty && !reached.is_some_and(|r| is_inside(r, count))
        {
            return Err(format!(
                "shows elements of sizes {sizes:?} from {} on by strides {strides:?}: expected them \
                 within the {count} elements of the memory",
                slice.offsets[0]
            ));
        }
        Ok(slice)
    }

    /// Fails if an element of the whole may be several ones of the part, or cannot be told to be one.
    pub(super) fn check_written(&self) -> Result<(), String> {
        let is_told = match self.is_flat {
            false => {
                let mut steps = self.sizes.iter().zip(&self.strides);
                steps.all(|(size, stride)| *size <= 1 || *stride != 0)
            }
            true => {
                let steps = self.steps(0);
                let mut told = steps.iter().scan(0, |inner, step| {
                    let (size, stride) = (self.sizes[*step], self.strides[*step]);
                    let is_told = steps.len() == 1 && stride != 0 || stride > *inner;
                    *inner += (size - 1) * stride;
                    Some(is_told)
                });
                told.all(|one| one)
            }
        };
        match is_told || self.sizes.contains(&0) {
            true => Ok(()),
            false => Err(format!(
                "is written by strides {:?} over sizes {:?}, which the oracle does not follow: \
                 expected each stride to pass over what the smaller ones reach, or stores in loops",
                self.strides, self.sizes
            )),
        }
    }

    /// The steps of more than one element along an axis, the shortest ones first.
    fn steps(&self, axis: usize) -> Vec<usize> {
        let mut steps: Vec<usize> = (0..self.axes.len())
            .filter(|step| self.axes[*step] == axis && self.sizes[*step] > 1)
            .collect();
        steps.sort_by_key(|step| self.strides[*step]);
        steps
    }

    /// The part's shape.
    pub(super) fn shape(&self) -> Vec<i64> {
        self.kept.iter().map(|step| self.sizes[*step]).collect()
    }

    /// The part in an array of these strides: where it begins, its shape and its strides.
    pub(super) fn strided(&self, strides: &[i64]) -> (i64, Vec<i64>, Vec<i64>) {
        let offset = self.offsets.iter().zip(strides).map(|(o, s)| o * s).sum();
        let stride = |step: &usize| self.strides[*step] * strides[self.axes[*step]];
        (offset, self.shape(), self.kept.iter().map(stride).collect())
    }

    /// Returns where an element of the part stands in the whole.
    pub(super) fn source_index(&self, part: &[i64]) -> Vec<i64> {
        let mut index = self.offsets.clone();
        for (step, x) in self.kept.iter().zip(part) {
            index[self.axes[*step]] += x * self.strides[*step];
        }
        index
    }

    /// Returns the index in the part of an element of the whole, if it is in it.
    pub(super) fn part(&self, whole: &[i64]) -> Option<Vec<i64>> {
        let mut digits = vec![0; self.axes.len()];
        let mut place = |step: usize, distance: i64| {
            let x = distance.checked_div(self.strides[step]).unwrap_or(0);
            digits[step] = x;
            (0 <= x && x < self.sizes[step]).then(|| distance - x * self.strides[step])
        };
        for (axis, index) in whole.iter().enumerate() {
            let distance = index - self.offsets[axis];
            let rest = match self.is_flat {
                // Looking for an element is what the most time is spent on: no list is made for it.
                false => place(axis, distance)?,
                true => {
                    let mut longest = self.steps(axis).into_iter().rev();
                    longest.try_fold(distance, |rest, step| place(step, rest))?
                }
            };
            if rest != 0 {
                return None;
            }
        }
        Some(self.kept.iter().map(|step| digits[*step]).collect())
    }
}

/// The first and the last place that steps from an offset reach, of sizes of at least one.
fn reached(offset: i64, mut steps: impl Iterator<Item = (i64, i64)>) -> Option<(i64, i64)> {
    steps.try_fold((offset, offset), |(low, high), (size, stride)| {
        let way = size.checked_sub(1)?.checked_mul(stride)?;
        Some((low.checked_add(way.min(0))?, high.checked_add(way.max(0))?))
    })
}

fn is_inside((low, high): (i64, i64), extent: i64) -> bool {
    0 <= low && high < extent
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
                    let position = places.iter().position(|p| *p == [i, j]);
                    let part = slice.part(&[i, j]);
                    assert_eq!(part, position.map(|x| vec![x as i64]));
                }
            }
            assert!(Slice::new(&operands, number, &[size.min(1), 2]).is_err() || size == 0);
        }
    }

    /// Other strides over a flat whole: the same, where each element is met once.
    #[test]
    fn a_flat_whole_has_parts_of_any_strides() {
        let known = |numbers: &[i64]| {
            numbers
                .iter()
                .map(|n| Index::Known(*n))
                .collect::<Vec<Index>>()
        };
        let number = |index| match index {
            Index::Known(n) => Ok(n),
            Index::Value(_) => Err("none".to_owned()),
        };
        for (offset, sizes, strides, is_told) in [
            (1, [2, 3], [4, 1], true),
            (0, [3, 2], [1, 5], true),
            (2, [1, 4], [0, 2], true),
            (0, [2, 3], [1, 1], false),
            (0, [3, 2], [0, 1], false),
        ] {
            let operands = (
                Index::Known(offset),
                &known(&sizes)[..],
                &known(&strides)[..],
            );
            let slice = Slice::flat(operands, number, 9).unwrap();
            assert_eq!(slice.shape(), sizes);
            assert_eq!(
                slice.check_written().is_ok(),
                is_told,
                "{sizes:?} {strides:?}"
            );
            let mut met = Vec::new();
            for i in 0..sizes[0] {
                for j in 0..sizes[1] {
                    let place = slice.source_index(&[i, j]);
                    assert_eq!(place, [offset + i * strides[0] + j * strides[1]]);
                    if is_told {
                        assert_eq!(slice.part(&place), Some(vec![i, j]));
                    }
                    met.push(place[0]);
                }
            }
            let outside = (0..9).filter(|place| is_told && !met.contains(place));
            assert!(
                outside
                    .into_iter()
                    .all(|place| slice.part(&[place]).is_none())
            );
            let last = met.into_iter().max().unwrap();
            assert!(Slice::flat(operands, number, last).is_err());
        }
    }
}
