//! Copies between buffers whose elements do not lie one after the other.

use std::{ptr, slice};

/// Elements in memory: `start` is the first one, strides count elements.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    /// Address of the element at index 0, 0, ..
    pub start: *mut u8,
    /// The distance between neighbours in each dimension, in elements.
    pub strides: &'a [i64],
}

/// Copies elements of that many bytes, in row-major order of the indices.
///
/// # Safety
/// Both have that shape and lie in memory that may be read, and written for `target`, and they do
/// not overlap.
pub unsafe fn copy(source: Elements, target: Elements, shape: &[i64], element: usize) {
    if shape.contains(&0) {
        return;
    }
    // A row is the innermost dimension; a scalar is a row of one element.
    let outer = shape.len().saturating_sub(1);
    let length = shape.last().map_or(1, |&size| size as usize);
    let steps = [source, target]
        .map(|e| e.strides.last().copied().unwrap_or(1) as isize * element as isize);
    let mut index = vec![0i64; outer];
    loop {
        // SAFETY: the index is within the sizes, for which the caller vouches, and so are the
        // elements that follow in the innermost dimension.
        unsafe {
            let from = row(source, &index, element);
            copy_row(from, row(target, &index, element), steps, length, element);
        }
        let Some(d) = (0..outer).rev().find(|&d| index[d] + 1 < shape[d]) else {
            return;
        };
        index[d] += 1;
        index[d + 1..].fill(0);
    }
}

/// The first element of the row at `index`, which has an entry for all but the last dimension.
///
/// # Safety
/// The element lies in the same memory.
unsafe fn row(elements: Elements, index: &[i64], element: usize) -> *mut u8 {
    let distance: i64 = index.iter().zip(elements.strides).map(|(i, s)| i * s).sum();
    // SAFETY: by this function's contract.
    unsafe { elements.start.offset(distance as isize * element as isize) }
}

/// Copies `length` elements that are `steps` bytes apart, in source and target.
///
/// # Safety
/// They may be read and written, and do not overlap.
unsafe fn copy_row(from: *const u8, to: *mut u8, steps: [isize; 2], length: usize, element: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        if steps == [element as isize; 2] {
            return ptr::copy_nonoverlapping(from, to, length * element);
        }
        for i in 0..length as isize {
            let (from, to) = (from.offset(i * steps[0]), to.offset(i * steps[1]));
            ptr::copy_nonoverlapping(from, to, element);
        }
    }
}

/// A memref of any rank, as MLIR passes it to library functions.
#[repr(C)]
pub struct Unranked {
    rank: i64,
    /// `allocated, aligned, offset, sizes.., strides..`, a word each.
    descriptor: *const i64,
}

/// `memref.copy` of memrefs that are not contiguous. (Upstream has it in a library of its own.)
///
/// # Safety
/// The memrefs have the same sizes and do not overlap, and their memory may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdh_copy(element: i64, source: *const Unranked, target: *const Unranked) {
    // SAFETY: by this function's contract.
    unsafe {
        let rank = (*source).rank as usize;
        let [source, target] = [source, target]
            .map(|memref| slice::from_raw_parts((*memref).descriptor, 3 + 2 * rank));
        let elements = |words: &'static [i64]| Elements {
            start: (words[1] as *mut u8).offset((words[2] * element) as isize),
            strides: &words[3 + rank..],
        };
        let shape = &source[3..3 + rank];
        copy(elements(source), elements(target), shape, element as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_and_offsets_are_followed() {
        let source: Vec<u16> = (0..12).collect();
        let mut target = [99u16; 6];
        // The transposed right half of a 3x4 matrix, rows reversed.
        let from = [0, source.as_ptr() as i64, 10, 2, 3, 1, -4];
        let to = [0, target.as_mut_ptr() as i64, 0, 2, 3, 3, 1];
        let [from, to] = [&from, &to].map(|words| Unranked {
            rank: 2,
            descriptor: words.as_ptr(),
        });
        // SAFETY: indices 2, 3, 6, 7, 10, 11 of 12, and six of six.
        unsafe { mdh_copy(2, &from, &to) };
        assert_eq!(target, [10, 6, 2, 11, 7, 3]);
    }

    #[test]
    fn a_scalar_and_nothing() {
        let (source, mut target) = (7u8, 0u8);
        let from = |strides| Elements {
            start: (&raw const source).cast_mut(),
            strides,
        };
        let start = &raw mut target;
        let to = |strides| Elements { start, strides };
        // SAFETY: one element, then none.
        unsafe {
            copy(from(&[]), to(&[]), &[], 1);
            copy(from(&[1, 1]), to(&[1, 1]), &[3, 0], 1);
        }
        assert_eq!(target, 7);
    }
}
