//! Memory that compiled code reads and writes.
//!
//! Buffers are aligned for any vector, large ones ask for huge pages (a first touch is three
//! times as fast), and each stands between two guard zones that tell afterwards whether anything
//! was written outside it. Outputs are [poisoned](Buffer::poison) before each run, so that code
//! which skips a write cannot pass for code which makes it.

use std::alloc::{self, Layout};
use std::ptr::{self, NonNull};
use std::slice;

use crate::memory;
use crate::{Error, Result};

/// Alignment of every buffer in bytes: one cache line, one AVX-512 register.
pub const ALIGNMENT: usize = 64;

/// The byte that outputs are filled with before a run.
pub const POISON: u8 = 0xcd;

/// Bytes before and after every buffer that nothing may write.
const GUARD: usize = 64;

/// What the guard zones hold.
const GUARD_BYTE: u8 = 0x5a;

/// Size of a huge page; buffers of at least this size are mapped on their own.
const HUGE_PAGE: usize = 2 << 20;

/// An owned, aligned stretch of memory between guard zones.
pub struct Buffer {
    storage: Storage,
    data: NonNull<u8>,
    bytes: usize,
}

/// Where the memory came from, and so how it is given back.
enum Storage {
    Heap(NonNull<u8>, Layout),
    Mapped(NonNull<u8>, usize),
}

// SAFETY: a buffer owns its memory, like a `Box<[u8]>`.
unsafe impl Send for Buffer {}
// SAFETY: shared access only reads.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `bytes` zero bytes. Fails with [`Error::Memory`] before anything is allocated if there is
    /// not enough memory.
    pub fn zeroed(bytes: usize) -> Result<Buffer> {
        let size_error = || Error::Size {
            shape: vec![bytes as i64],
            element: 1,
        };
        let padded = bytes
            .checked_add(2 * GUARD + 2 * HUGE_PAGE)
            .ok_or_else(size_error)?;
        if padded > isize::MAX as usize {
            return Err(size_error());
        }
        memory::require(bytes as u64)?;
        let refused = || Error::Memory {
            needed: bytes as u64,
            available: memory::available().unwrap_or(0),
        };
        let (storage, data) = if bytes >= HUGE_PAGE {
            map(bytes, padded).ok_or_else(refused)?
        } else {
            allocate(bytes).ok_or_else(refused)?
        };
        let buffer = Buffer {
            storage,
            data,
            bytes,
        };
        for zone in buffer.guards() {
            // SAFETY: both zones lie in the storage, and nothing else refers to it yet.
            unsafe { ptr::write_bytes(zone, GUARD_BYTE, GUARD) };
        }
        Ok(buffer)
    }

    /// A buffer with the same contents as `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Result<Buffer> {
        let mut buffer = Buffer::zeroed(bytes.len())?;
        buffer.bytes_mut().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// Fills it with [`POISON`].
    pub fn poison(&mut self) {
        self.bytes_mut().fill(POISON);
    }

    /// Its contents.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `data` points to `bytes` initialised bytes that this buffer owns.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.bytes) }
    }

    /// Its contents, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.bytes) }
    }

    /// Its first byte, aligned to [`ALIGNMENT`]; never null, also when it is empty.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// Whether nothing was written just before or just after it since it was made.
    pub fn is_intact(&self) -> bool {
        self.guards().into_iter().all(|zone| {
            // SAFETY: both zones lie in the storage and are initialised.
            let zone = unsafe { slice::from_raw_parts(zone, GUARD) };
            zone.iter().all(|&byte| byte == GUARD_BYTE)
        })
    }

    /// The first byte of the zone before it and of the zone after it.
    fn guards(&self) -> [*mut u8; 2] {
        let data = self.data.as_ptr();
        // SAFETY: the storage holds `GUARD` bytes on either side of the data.
        unsafe { [data.sub(GUARD), data.add(self.bytes)] }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match self.storage {
            // SAFETY: allocated with this layout in `allocate`.
            Storage::Heap(base, layout) => unsafe { alloc::dealloc(base.as_ptr(), layout) },
            // SAFETY: mapped with this size in `map`.
            Storage::Mapped(base, bytes) => unsafe {
                libc::munmap(base.as_ptr().cast(), bytes);
            },
        }
    }
}

/// A small buffer, from the heap.
fn allocate(bytes: usize) -> Option<(Storage, NonNull<u8>)> {
    let layout = Layout::from_size_align(bytes + 2 * GUARD, ALIGNMENT).ok()?;
    // SAFETY: the size is not zero.
    let base = NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?;
    // SAFETY: `GUARD` is less than the size.
    let data = unsafe { base.add(GUARD) };
    Some((Storage::Heap(base, layout), data))
}

/// A large buffer: pages of its own, with the data on a huge page's boundary.
fn map(bytes: usize, padded: usize) -> Option<(Storage, NonNull<u8>)> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing else.
    let base = unsafe { libc::mmap(ptr::null_mut(), padded, access, kind, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    let base = NonNull::new(base.cast::<u8>())?;
    let offset = (base.as_ptr() as usize + GUARD).next_multiple_of(HUGE_PAGE);
    let offset = offset - base.as_ptr() as usize;
    // SAFETY: `padded` leaves two huge pages and two guard zones beside the data.
    let data = unsafe { base.add(offset) };
    // A refusal costs speed only.
    // SAFETY: the range lies in the mapping.
    unsafe { libc::madvise(data.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
    Some((Storage::Mapped(base, padded), data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_aligned_zero_and_intact() {
        for bytes in [
            0,
            1,
            63,
            64,
            65,
            4096,
            HUGE_PAGE - 1,
            HUGE_PAGE,
            HUGE_PAGE + 3,
        ] {
            let mut buffer = Buffer::zeroed(bytes).unwrap();
            assert_eq!(buffer.as_mut_ptr() as usize % ALIGNMENT, 0, "{bytes}");
            assert_eq!(buffer.bytes().len(), bytes);
            assert!(buffer.bytes().iter().all(|&byte| byte == 0));
            buffer.poison();
            assert!(buffer.bytes().iter().all(|&byte| byte == POISON));
            assert!(buffer.is_intact());
        }
    }

    #[test]
    fn a_write_outside_is_noticed() {
        for bytes in [8, HUGE_PAGE] {
            for offset in [-1, bytes as isize] {
                let mut buffer = Buffer::zeroed(bytes).unwrap();
                // SAFETY: hits a guard zone, which belongs to the storage.
                unsafe { *buffer.as_mut_ptr().offset(offset) = 1 };
                assert!(!buffer.is_intact(), "{bytes} {offset}");
            }
        }
    }

    #[test]
    fn too_large_is_an_error_with_both_numbers() {
        let error = Buffer::zeroed(1 << 60).err().unwrap();
        assert!(
            matches!(error, Error::Memory { needed, .. } if needed == 1 << 60),
            "{error}"
        );
        assert!(matches!(
            Buffer::zeroed(usize::MAX).err().unwrap(),
            Error::Size { .. }
        ));
    }

    #[test]
    fn a_copy_has_the_same_bytes() {
        let copy = Buffer::copy_of(&[1, 2, 3]).unwrap();
        assert_eq!(copy.bytes(), [1, 2, 3]);
    }
}
