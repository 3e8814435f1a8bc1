//! Memref descriptors: buffers as MLIR's compiled code takes them.
//!
//! ```text
//! { T* allocated, T* aligned, i64 offset, i64 sizes[rank], i64 strides[rank] }
//! ```
//!
//! Offset and strides count elements; element `i` is `aligned[offset + sum_d i_d * strides_d]`.
//! Every field is one 64-bit word, so a descriptor of any rank is a list of words.

use std::ffi::c_void;

use mdhrt::copy::{self, Elements};

use crate::{Error, Result};

/// Words before the sizes.
const HEADER: usize = 3;

/// The descriptor of one memref. It refers to memory that it does not own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    words: Vec<i64>,
}

impl Descriptor {
    /// A row-major buffer without gaps that starts at `data`.
    pub fn dense(data: *mut u8, shape: &[i64]) -> Descriptor {
        Descriptor::strided(data, 0, shape, &row_major(shape))
    }

    /// Any buffer. `sizes` and `strides` have one entry for each dimension.
    pub fn strided(data: *mut u8, offset: i64, sizes: &[i64], strides: &[i64]) -> Descriptor {
        assert_eq!(
            sizes.len(),
            strides.len(),
            "a descriptor has one stride for each size"
        );
        let address = data as i64;
        let mut words = vec![address, address, offset];
        words.extend_from_slice(sizes);
        words.extend_from_slice(strides);
        Descriptor { words }
    }

    /// A descriptor of zeros, for a function to fill in.
    pub fn empty(rank: usize) -> Descriptor {
        Descriptor {
            words: vec![0; HEADER + 2 * rank],
        }
    }

    /// Returns the number of words of a descriptor of `rank` dimensions.
    pub fn words_of(rank: usize) -> usize {
        HEADER + 2 * rank
    }

    /// The descriptor that these words spell, as a function left them in a result.
    pub fn from_words(words: &[i64]) -> Descriptor {
        assert!(
            words.len() >= HEADER && words.len() % 2 == 1,
            "not a descriptor: {words:?}"
        );
        Descriptor {
            words: words.to_vec(),
        }
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        (self.words.len() - HEADER) / 2
    }

    /// The pointer that was allocated, which is what `free` wants.
    pub fn allocated(&self) -> *mut u8 {
        self.words[0] as *mut u8
    }

    /// The pointer from which offset and strides count.
    pub fn aligned(&self) -> *mut u8 {
        self.words[1] as *mut u8
    }

    /// The offset of the first element, in elements.
    pub fn offset(&self) -> i64 {
        self.words[2]
    }

    /// The extent of each dimension.
    pub fn sizes(&self) -> &[i64] {
        &self.words[HEADER..HEADER + self.rank()]
    }

    /// The distance between neighbours in each dimension, in elements.
    pub fn strides(&self) -> &[i64] {
        &self.words[HEADER + self.rank()..]
    }

    /// Returns the pointer for compiled code that takes a descriptor by pointer.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }

    /// Frees memory that compiled code allocated (`memref.alloc` is `malloc`) for a result.
    ///
    /// # Safety
    /// The memory came from compiled code, belongs to nobody else, and is not used afterwards.
    pub unsafe fn free(self) {
        // SAFETY: by this function's contract.
        unsafe { libc::free(self.allocated().cast()) }
    }

    /// A row-major copy of its elements, each `element` bytes.
    ///
    /// # Safety
    /// Every element the descriptor describes lies in memory that may be read.
    pub unsafe fn gather(&self, element: usize) -> Result<Vec<u8>> {
        let bytes = byte_size(self.sizes(), element)?;
        crate::memory::require(bytes as u64)?;
        let mut copy = vec![0; bytes];
        let target = Descriptor::dense(copy.as_mut_ptr(), self.sizes());
        // SAFETY: the caller vouches for this descriptor; `copy` has room for all elements.
        unsafe { copy_elements(self, &target, element) };
        Ok(copy)
    }
}

/// Strides of a row-major buffer of that shape, in elements.
pub fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        // Empty dimensions count as 1, so that strides stay positive; overflow means that
        // `byte_size` refuses the shape, or that it is empty and no stride is ever used.
        strides[d - 1] = shape[d].max(1).wrapping_mul(strides[d]);
    }
    strides
}

/// Bytes of a buffer of that shape; an error for negative extents and for a size that overflows.
///
/// A buffer with an empty dimension has 0 bytes, whatever the others are.
pub fn byte_size(shape: &[i64], element: usize) -> Result<usize> {
    let refused = || Error::Size {
        shape: shape.to_vec(),
        element,
    };
    if shape.iter().any(|&extent| extent < 0) {
        return Err(refused());
    }
    if shape.contains(&0) {
        return Ok(0);
    }
    let count = shape
        .iter()
        .try_fold(1i64, |count, &extent| count.checked_mul(extent));
    let bytes = count.and_then(|count| count.checked_mul(i64::try_from(element).ok()?));
    bytes.map(|bytes| bytes as usize).ok_or_else(refused)
}

/// Copies `source` into `target`, element by element, in row-major order of the indices.
///
/// # Safety
/// Both describe elements of `element` bytes in memory that may be read, and written for
/// `target`, their sizes are equal and they do not overlap.
pub unsafe fn copy_elements(source: &Descriptor, target: &Descriptor, element: usize) {
    let [from, to] = [source, target].map(|memref| Elements {
        start: memref
            .aligned()
            .wrapping_offset(memref.offset() as isize * element as isize),
        strides: memref.strides(),
    });
    // SAFETY: by this function's contract.
    unsafe { copy::copy(from, to, source.sizes(), element) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_is_row_major() {
        let mut bytes = [0u8; 24];
        let descriptor = Descriptor::dense(bytes.as_mut_ptr(), &[2, 3, 4]);
        assert_eq!(descriptor.rank(), 3);
        assert_eq!(descriptor.sizes(), [2, 3, 4]);
        assert_eq!(descriptor.strides(), [12, 4, 1]);
        assert_eq!(
            (descriptor.offset(), descriptor.aligned()),
            (0, bytes.as_mut_ptr())
        );
    }

    #[test]
    fn rank_zero_is_three_words() {
        let descriptor = Descriptor::empty(0);
        assert_eq!((descriptor.rank(), descriptor.words.len()), (0, 3));
        assert_eq!(Descriptor::words_of(2), 7);
    }

    #[test]
    fn gather_follows_offset_and_strides() {
        let mut data: Vec<u16> = (0..12).collect();
        // The transposed right half of a 3x4 matrix, rows reversed.
        let view = Descriptor::strided(data.as_mut_ptr().cast(), 10, &[2, 3], &[1, -4]);
        // SAFETY: indices 2, 3, 6, 7, 10, 11 of 12.
        let bytes = unsafe { view.gather(2) }.unwrap();
        let values: Vec<u16> = bytes
            .chunks(2)
            .map(|b| u16::from_ne_bytes([b[0], b[1]]))
            .collect();
        assert_eq!(values, [10, 6, 2, 11, 7, 3]);
    }

    #[test]
    fn gather_of_ranks_zero_and_empty() {
        let mut data = 7u32;
        let pointer = (&raw mut data).cast();
        // SAFETY: one element, then none.
        unsafe {
            assert_eq!(
                Descriptor::dense(pointer, &[]).gather(4).unwrap(),
                7u32.to_ne_bytes()
            );
            assert_eq!(
                Descriptor::dense(pointer, &[3, 0]).gather(4).unwrap(),
                [0u8; 0]
            );
        }
    }

    #[test]
    fn sizes_are_checked() {
        assert_eq!(byte_size(&[], 8).unwrap(), 8);
        assert_eq!(byte_size(&[3, 5], 2).unwrap(), 30);
        assert_eq!(byte_size(&[0, i64::MAX, i64::MAX], 8).unwrap(), 0);
        assert!(byte_size(&[1 << 31, 1 << 31], 1).is_ok());
        assert!(byte_size(&[1 << 31, 1 << 31], 4).is_err());
        assert!(byte_size(&[1 << 32, 1 << 32], 1).is_err());
        assert!(byte_size(&[0, -1], 1).is_err());
    }
}
