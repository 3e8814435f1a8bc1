//! Memory that compiled code allocates for the time of a call.
//!
//! Compiled code frees what it allocates, in the function or the part of a loop that allocated it. A
//! [failure](crate::failure) keeps it from that, so each thread lists what it has allocated:
//!
//! ```text
//! mdh_allocate:  | previous, next, number | bytes for compiled code ... |
//! ```

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ptr;

use crate::failure::{Failure, Status, raise};

/// Header before the bytes; as large as keeps them as aligned as `malloc` does.
#[repr(C, align(16))]
struct Block {
    previous: *mut Block,
    next: *mut Block,
    /// The how manieth of its thread it is.
    number: u64,
}

const HEADER: usize = size_of::<Block>();

thread_local! {
    /// Closes this thread's list to a ring; null pointers mean that it points to itself.
    static RING: UnsafeCell<Block> = const {
        UnsafeCell::new(Block { previous: ptr::null_mut(), next: ptr::null_mut(), number: 0 })
    };
    /// Number of blocks that this thread has allocated.
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// This thread's ring, closed.
fn ring() -> *mut Block {
    let ring = RING.with(UnsafeCell::get);
    // SAFETY: only this thread reaches it, and nothing else refers to it now.
    unsafe {
        if (*ring).next.is_null() {
            (*ring).next = ring;
            (*ring).previous = ring;
        }
    }
    ring
}

/// Returns a mark of the time before this thread's next allocations.
pub fn mark() -> u64 {
    TAKEN.get()
}

/// Releases what this thread has allocated since a [mark], and not released.
pub fn release_since(mark: u64) {
    let ring = ring();
    // SAFETY: the blocks of the ring are allocated, the newest first.
    unsafe {
        let mut newest = (*ring).next;
        while newest != ring && (*newest).number > mark {
            mdh_release(newest.add(1).cast());
            newest = (*ring).next;
        }
    }
}

/// `malloc`, but that it fails where there is not enough memory.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn mdh_allocate(bytes: usize) -> *mut c_void {
    // SAFETY: asks for memory.
    listed(bytes, |all| unsafe { libc::malloc(all) })
}

/// `calloc`, likewise.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn mdh_allocate_zeroed(count: usize, each: usize) -> *mut c_void {
    // SAFETY: asks for memory.
    listed(count.saturating_mul(each), |all| unsafe {
        libc::calloc(1, all)
    })
}

fn listed(bytes: usize, allocate: impl FnOnce(usize) -> *mut c_void) -> *mut c_void {
    let size = bytes.checked_add(HEADER);
    let block: *mut Block = size.map_or(ptr::null_mut(), allocate).cast();
    if block.is_null() {
        raise(Failure {
            status: Status::NoMemory,
            message: format!("error: there is not enough memory: {bytes} bytes more are needed"),
        });
    }
    let (ring, number) = (ring(), TAKEN.get() + 1);
    TAKEN.set(number);
    // SAFETY: the block has room for its header, and the ring is this thread's.
    unsafe {
        let next = (*ring).next;
        block.write(Block {
            previous: ring,
            next,
            number,
        });
        (*next).previous = block;
        (*ring).next = block;
        block.add(1).cast()
    }
}

/// `free`.
///
/// # Safety
/// The bytes are null or were allocated here, on the same thread, and are not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdh_release(bytes: *mut c_void) {
    if bytes.is_null() {
        return;
    }
    // SAFETY: by this function's contract; the neighbours are in the same ring.
    unsafe {
        let block = bytes.cast::<Block>().sub(1);
        (*(*block).previous).next = (*block).next;
        (*(*block).next).previous = (*block).previous;
        libc::free(block.cast());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::catch;

    /// Returns the number of this thread's blocks.
    fn count() -> usize {
        let ring = ring();
        // SAFETY: the ring is this thread's.
        let next = |block: &*mut Block| Some(unsafe { (**block).next }).filter(|b| *b != ring);
        std::iter::successors(next(&ring), next).count()
    }

    #[test]
    fn blocks_are_released_in_any_order() {
        let blocks: Vec<_> = (1..6).map(|n| mdh_allocate(n * 100)).collect();
        for block in &blocks {
            assert_eq!(block.addr() % 16, 0);
            // SAFETY: as many bytes were asked for.
            unsafe { ptr::write_bytes(block.cast::<u8>(), 0xcd, 100) };
        }
        assert_eq!(count(), 5);
        for n in [2, 0, 4, 3, 1] {
            // SAFETY: each once.
            unsafe { mdh_release(blocks[n]) };
        }
        assert_eq!(count(), 0);
    }

    #[test]
    fn a_failure_releases_what_its_call_took() {
        let before = mdh_allocate(8);
        let caught = catch(|| {
            mdh_allocate(8);
            let zeros = mdh_allocate_zeroed(4, 2);
            // SAFETY: eight bytes were asked for.
            assert_eq!(unsafe { *zeros.cast::<u64>() }, 0);
            mdh_allocate(usize::MAX);
        });
        let failure = caught.unwrap_err();
        assert_eq!(failure.status, Status::NoMemory);
        assert!(failure.message.ends_with("more are needed"), "{failure:?}");
        assert_eq!(count(), 1);
        // SAFETY: it is still there.
        unsafe { mdh_release(before) };
        assert_eq!(count(), 0);
    }
}
