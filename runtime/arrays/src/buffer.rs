//! Memory that compiled code reads and writes.
//!
//! Buffers are aligned for any vector, and large ones ask for huge pages (a first touch is three
//! times as fast) and begin at different places of a page: a processor tells a load from the stores
//! before it by the address within a page first, and a stencil whose input and output begin at the
//! same place loads what seems to have been stored just now. Each stands between two pages that nobody may touch, so that an access far
//! outside faults, and two guard zones within these, that tell afterwards whether anything was
//! written just outside. Tests have buffers [end](Placement::AtEnd) where such a page begins: then
//! a read of one element too many faults. Outputs are [poisoned](Buffer::poison) before each run,
//! so that code which skips a write cannot pass for code which makes it.

use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::memory;
use crate::{Error, Result};

/// Alignment of buffers in bytes: one cache line, one AVX-512 register.
pub const ALIGNMENT: usize = 64;

/// The byte that outputs are filled with before a run.
pub const POISON: u8 = 0xcd;

/// Bytes before and after every buffer that nothing may write.
const GUARD: usize = 64;

/// Contents of the guard zones.
const GUARD_BYTE: u8 = 0x5a;

/// Size of a huge page; buffers of at least this size start in the first lines of one.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes from where one large buffer starts in its page to where the next one does: odd in lines, so
/// that all lines of a page come up, and neighbours of a few rows of usual lengths are elsewhere.
const STAGGER: usize = 25 * ALIGNMENT;

/// Bytes of a page, within which a processor compares addresses first.
const SEEN: usize = 4096;

/// Large buffers that have been made.
static LARGE: AtomicUsize = AtomicUsize::new(0);

/// Position of buffers between their pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// At multiples of [`ALIGNMENT`].
    Aligned,
    /// Such that they end where memory does, aligned for their elements only.
    AtEnd,
}

static AT_END: AtomicBool = AtomicBool::new(false);

/// Rule: where all buffers stand that are made from now on.
pub fn place(placement: Placement) {
    AT_END.store(placement == Placement::AtEnd, Ordering::Relaxed);
}

/// An owned stretch of memory between guard zones.
pub struct Buffer {
    /// The mapping it owns.
    _mapping: Mapping,
    data: NonNull<u8>,
    bytes: usize,
    /// The zones before and after it.
    guards: [(NonNull<u8>, usize); 2],
}

/// Pages, unmapped when it is dropped.
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped with this size in `new`, and nothing refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
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
        let padded = bytes.checked_add(2 * HUGE_PAGE).ok_or_else(size_error)?;
        if padded > isize::MAX as usize {
            return Err(size_error());
        }
        memory::require(bytes as u64)?;
        let placement = match AT_END.load(Ordering::Relaxed) {
            true => Placement::AtEnd,
            false => Placement::Aligned,
        };
        let buffer = Buffer::map(bytes, placement).ok_or_else(|| Error::Memory {
            needed: bytes as u64,
            available: memory::available().unwrap_or(0),
        })?;
        for (zone, bytes) in buffer.guards {
            // SAFETY: both zones lie in the mapping, and nothing else refers to it yet.
            unsafe { ptr::write_bytes(zone.as_ptr(), GUARD_BYTE, bytes) };
        }
        Ok(buffer)
    }

    /// Pages of its own: those that may be touched are in the middle.
    fn map(bytes: usize, placement: Placement) -> Option<Buffer> {
        let page = page_size();
        let is_huge = bytes >= HUGE_PAGE && placement == Placement::Aligned;
        let after = match placement {
            Placement::Aligned => GUARD,
            Placement::AtEnd => 0,
        };
        let boundary = if is_huge { HUGE_PAGE } else { page };
        let most = bytes.checked_add(2 * boundary + SEEN + 4 * page + 2 * GUARD)?;
        let mapping = Mapping::new(most)?;
        let first = mapping.base.as_ptr() as usize + page;
        let data = match (placement, is_huge) {
            (_, true) => {
                let number = LARGE.fetch_add(1, Ordering::Relaxed);
                let start = number.wrapping_mul(STAGGER) % SEEN;
                (first + GUARD).next_multiple_of(HUGE_PAGE) + start
            }
            (Placement::Aligned, _) => {
                let end = (first + GUARD + bytes + 2 * GUARD).next_multiple_of(page);
                (end - GUARD - bytes) / ALIGNMENT * ALIGNMENT
            }
            (Placement::AtEnd, _) => (first + GUARD + bytes).next_multiple_of(page) - bytes,
        };
        let from = (data - GUARD) / page * page;
        let to = (data + bytes + after).next_multiple_of(page);
        let at = |address: usize| {
            let offset = address - mapping.base.as_ptr() as usize;
            debug_assert!(offset <= mapping.bytes);
            // SAFETY: all these addresses lie in the mapping.
            unsafe { mapping.base.add(offset) }
        };
        let (start, access) = (at(from).as_ptr().cast(), libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: whole pages of the mapping, which nothing refers to yet.
        if unsafe { libc::mprotect(start, to - from, access) } != 0 {
            return None;
        }
        if is_huge {
            let (first, end) = (data / page * page, (data + bytes).next_multiple_of(page));
            // A refusal costs speed only.
            // SAFETY: the range lies in the mapping.
            unsafe { libc::madvise(at(first).as_ptr().cast(), end - first, libc::MADV_HUGEPAGE) };
        }
        Some(Buffer {
            data: at(data),
            guards: [(at(data - GUARD), GUARD), (at(data + bytes), after)],
            bytes,
            _mapping: mapping,
        })
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

    /// Its first byte, aligned as it is [placed](Placement); never null, also when it is empty.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// Returns whether nothing was written just before or just after it since it was made.
    pub fn is_intact(&self) -> bool {
        self.guards.iter().all(|(zone, bytes)| {
            // SAFETY: both zones lie in the mapping and are initialised.
            let zone = unsafe { slice::from_raw_parts(zone.as_ptr(), *bytes) };
            zone.iter().all(|&byte| byte == GUARD_BYTE)
        })
    }
}

impl Mapping {
    /// Pages that nobody may touch yet, at an address of the kernel's choice.
    fn new(bytes: usize) -> Option<Mapping> {
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: an anonymous mapping touches nothing else.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, kind, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base.cast::<u8>())?;
        Some(Mapping { base, bytes })
    }
}

/// Bytes of a page.
pub(crate) fn page_size() -> usize {
    // SAFETY: only asks.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
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

    /// Checks: what is at the same index of two large buffers is not at the same place of a page.
    #[test]
    fn large_buffers_begin_at_different_places() {
        let places = |_| Buffer::zeroed(HUGE_PAGE).unwrap().as_mut_ptr() as usize % SEEN;
        let mut places: Vec<usize> = (0..8).map(places).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 8);
    }

    #[test]
    fn at_its_end_memory_ends() {
        for bytes in [1, 4, 64, 4095, 4096, 4097, HUGE_PAGE + 4] {
            let mut buffer = Buffer::map(bytes, Placement::AtEnd).unwrap();
            buffer.poison();
            assert!(is_readable(buffer.data.as_ptr()));
            let end = buffer.data.as_ptr() as usize + bytes;
            assert!(!is_readable(end as *const u8), "{bytes}");
            assert_eq!(end % page_size(), 0);
        }
    }

    #[test]
    fn far_outside_is_no_memory() {
        for bytes in [0, 64, 5000, HUGE_PAGE] {
            let buffer = Buffer::zeroed(bytes).unwrap();
            let data = buffer.data.as_ptr() as usize;
            assert!(
                !is_readable((data - GUARD - page_size()) as *const u8),
                "{bytes}"
            );
            let end = data + bytes + GUARD + ALIGNMENT;
            assert!(!is_readable((end + page_size()) as *const u8), "{bytes}");
        }
    }

    /// Returns whether the kernel finds memory to read there.
    fn is_readable(address: *const u8) -> bool {
        let mut ends = [0; 2];
        // SAFETY: writing from an address that is not readable fails, and that is all.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let written = libc::write(ends[1], address.cast(), 1);
            libc::close(ends[0]);
            libc::close(ends[1]);
            written == 1
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
