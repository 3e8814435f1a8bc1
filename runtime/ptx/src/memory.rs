//! Memory of the device: pieces of the host's, by address.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;

use crate::address_space::WIDEST;

/// Alignment of allocations.
const ALIGNMENT: usize = 512;

/// Allocations of a device.
#[derive(Debug)]
pub struct Memory {
    /// Address to bytes.
    pieces: BTreeMap<usize, usize>,
    left: usize,
}

// SAFETY: the pieces belong to this.
unsafe impl Send for Memory {}

impl Memory {
    /// A device with so many bytes.
    pub fn new(bytes: usize) -> Memory {
        let pieces = BTreeMap::new();
        Memory {
            pieces,
            left: bytes,
        }
    }

    fn layout(bytes: usize) -> Option<Layout> {
        let bytes = bytes.max(1).checked_next_multiple_of(WIDEST)?;
        Layout::from_size_align(bytes, ALIGNMENT).ok()
    }

    /// The address of new memory; `None` if there is not enough.
    pub fn allocate(&mut self, bytes: usize) -> Option<usize> {
        let left = self.left.checked_sub(bytes)?;
        let layout = Memory::layout(bytes)?;
        // SAFETY: the size is not zero.
        let base = unsafe { alloc_zeroed(layout) } as usize;
        if base == 0 {
            return None;
        }
        // What was there before is as a device leaves it: anything, but no zeros.
        // SAFETY: it was just allocated.
        unsafe { std::ptr::write_bytes(base as *mut u8, 0xcd, layout.size()) };
        self.left = left;
        self.pieces.insert(base, bytes);
        Some(base)
    }

    /// Frees memory; whether it was there.
    pub fn free(&mut self, base: usize) -> bool {
        let Some(bytes) = self.pieces.remove(&base) else {
            return false;
        };
        self.left += bytes;
        if let Some(layout) = Memory::layout(bytes) {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(base as *mut u8, layout) };
        }
        true
    }

    /// Returns whether bytes lie in one piece.
    pub fn has(&self, address: usize, bytes: usize) -> bool {
        let below = self.pieces.range(..=address).next_back();
        below.is_some_and(|(base, size)| {
            let offset = address - base;
            offset <= *size && bytes <= size - offset
        })
    }

    /// Returns the number of free bytes.
    pub fn left(&self) -> usize {
        self.left
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let addresses: Vec<usize> = self.pieces.keys().copied().collect();
        addresses.into_iter().for_each(|base| {
            self.free(base);
        });
    }
}
