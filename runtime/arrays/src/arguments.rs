//! The arguments of a call to compiled code.

use std::ffi::c_void;
use std::ptr;

use crate::Descriptor;

/// The arguments of one call: values, and everything that pointers to them point to.
#[derive(Default)]
pub struct Arguments {
    /// A word for each argument: the scalar's bits, or a pointer into one of the lists below.
    values: Vec<u64>,
    descriptors: Vec<Descriptor>,
    areas: Vec<Vec<i64>>,
    pointers: Vec<*mut c_void>,
}

impl Arguments {
    /// No arguments.
    pub fn new() -> Arguments {
        Arguments::default()
    }

    /// Adds a memref.
    pub fn memref(&mut self, mut descriptor: Descriptor) -> &mut Arguments {
        self.values.push(descriptor.as_mut_ptr() as u64); // its words stay where they are
        self.descriptors.push(descriptor);
        self
    }

    /// Adds a scalar of at most 64 bits by its bit pattern (`f32::to_bits`, `i16 as u16`).
    pub fn scalar(&mut self, bits: u64) -> &mut Arguments {
        self.values.push(bits);
        self
    }

    /// Adds a pointer to `words` zero words, which belong to the arguments: where a function
    /// puts a memref that it returns, or several results. See [`Arguments::area`].
    pub fn result_area(&mut self, words: usize) -> &mut Arguments {
        let mut area = vec![0; words];
        self.values.push(area.as_mut_ptr() as u64);
        self.areas.push(area);
        self
    }

    /// Adds room for a scalar result; it comes last. See [`Arguments::result`].
    pub fn result_slot(&mut self) -> &mut Arguments {
        self.scalar(0)
    }

    /// The words of the `i`-th result area.
    pub fn area(&self, i: usize) -> &[i64] {
        &self.areas[i]
    }

    /// The bits of the scalar result, `bytes` bytes long, after a call.
    pub fn result(&self, bytes: usize) -> u64 {
        let mut bits = [0; 8];
        let last = self.values.last().copied().unwrap_or(0);
        bits[..bytes].copy_from_slice(&last.to_ne_bytes()[..bytes]);
        u64::from_ne_bytes(bits)
    }

    /// Pointers to the values, for a call; they are valid until the arguments change.
    pub fn pointers(&mut self) -> &mut [*mut c_void] {
        self.pointers.clear();
        self.pointers.extend(
            self.values
                .iter_mut()
                .map(|value| ptr::from_mut(value).cast()),
        );
        &mut self.pointers
    }
}
