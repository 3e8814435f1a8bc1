//! Several results, or a memref, that a function returns through one pointer.
//!
//! MLIR's C interface makes them one struct, in order: a memref is its descriptor, a scalar takes
//! its own size at a multiple of it. (A single scalar is returned directly.)

use crate::Descriptor;

/// One result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A memref of that many dimensions.
    Memref(usize),
    /// A scalar of that many bytes (1, 2, 4 or 8).
    Scalar(usize),
}

/// Layout of the struct of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    fields: Vec<(Field, usize)>,
    words: usize,
}

impl Results {
    /// The struct with these fields.
    pub fn new(fields: &[Field]) -> Results {
        let mut offset: usize = 0;
        let mut placed = Vec::new();
        for &field in fields {
            let (alignment, bytes) = match field {
                Field::Memref(rank) => (8, 8 * Descriptor::words_of(rank)),
                Field::Scalar(bytes) => (bytes, bytes),
            };
            offset = offset.next_multiple_of(alignment);
            placed.push((field, offset));
            offset += bytes;
        }
        Results {
            fields: placed,
            words: offset.div_ceil(8),
        }
    }

    /// Returns its size in words: the argument of [`crate::Arguments::result_area`].
    pub fn words(&self) -> usize {
        self.words
    }

    /// The `i`-th result, a memref.
    pub fn memref(&self, area: &[i64], i: usize) -> Option<Descriptor> {
        match self.fields.get(i)? {
            &(Field::Memref(rank), offset) => {
                let first = offset / 8;
                let words = area.get(first..first + Descriptor::words_of(rank))?;
                Some(Descriptor::from_words(words))
            }
            (Field::Scalar(_), _) => None,
        }
    }

    /// The bits of the `i`-th result, a scalar.
    pub fn scalar(&self, area: &[i64], i: usize) -> Option<u64> {
        match self.fields.get(i)? {
            &(Field::Scalar(bytes), offset) => {
                let word = *area.get(offset / 8)? as u64;
                let bits = word >> (8 * (offset % 8));
                Some(bits & (u64::MAX >> (64 - 8 * bytes)))
            }
            (Field::Memref(_), _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_a_c_struct_has_them() {
        let fields = [
            Field::Scalar(1),
            Field::Scalar(4),
            Field::Memref(1),
            Field::Scalar(2),
            Field::Scalar(8),
        ];
        let results = Results::new(&fields);
        let offsets: Vec<usize> = results.fields.iter().map(|(_, offset)| *offset).collect();
        assert_eq!(offsets, [0, 4, 8, 48, 56]);
        assert_eq!(results.words(), 8);
        let area = [0x0a0b_0c0d_ffff_ff01, 1, 2, 3, 4, 5, -2, -1];
        assert_eq!(results.scalar(&area, 0), Some(1));
        assert_eq!(results.scalar(&area, 1), Some(0x0a0b_0c0d));
        assert_eq!(results.memref(&area, 2).unwrap().sizes(), [4]);
        assert_eq!(results.scalar(&area, 3), Some(0xfffe));
        assert_eq!(results.scalar(&area, 4), Some(u64::MAX));
        assert_eq!(
            (results.memref(&area, 0), results.scalar(&area, 2)),
            (None, None)
        );
    }

    #[test]
    fn a_single_memref_is_its_descriptor() {
        let results = Results::new(&[Field::Memref(2)]);
        assert_eq!(results.words(), 7);
    }
}
