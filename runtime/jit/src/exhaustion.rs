//! The end of memory: a message with both numbers and [`NO_MEMORY`], instead of a null pointer
//! that nobody looks at or an exception that nobody catches (LLVM is built without).
//!
//! A process asks for this with its allocators: Rust's is [`Allocator`], and C++'s `operator new`
//! calls [`allocate`]. What follows allocates no memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::fmt::{self, Write};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use mdh_arrays::{Error, memory};

use crate::faults::{self, NO_MEMORY};

/// The system's allocator, but that the process ends where there is no more memory.
pub struct Allocator;

// SAFETY: what the system's allocator gives is carried out as it is.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by this function's contract.
        existing(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by this function's contract.
        existing(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by this function's contract.
        existing(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by this function's contract.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Memory for C++, which `free` frees.
pub fn allocate(bytes: usize, alignment: usize) -> *mut c_void {
    let mut block = ptr::null_mut();
    let alignment = alignment.max(size_of::<usize>());
    // SAFETY: asks for memory; the alignments of C++ are powers of two.
    let done = unsafe { libc::posix_memalign(&mut block, alignment, bytes.max(1)) };
    let block = if done == 0 { block } else { ptr::null_mut() };
    existing(block.cast(), bytes).cast()
}

fn existing(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        end(bytes);
    }
    block
}

/// Function that is called before the process ends.
static BEFORE: OnceLock<fn()> = OnceLock::new();

/// Has something done before the process ends, which must not need memory.
pub fn before_end(action: fn()) {
    let _ = BEFORE.set(action);
}

/// Less than this is no memory: what has failed then has failed for that.
const LEAST: usize = 1 << 20;

/// Returns whether there is next to no memory left.
pub fn is_near() -> bool {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a mapping of its own, which goes at once.
    unsafe {
        let block = libc::mmap(ptr::null_mut(), LEAST, libc::PROT_NONE, kind, -1, 0);
        block == libc::MAP_FAILED || libc::munmap(block, LEAST) != 0
    }
}

/// Ends the process, which needs so many bytes more (0: nobody knows, a few).
pub fn end(needed: usize) -> ! {
    /// The thread that ends the process.
    static THREAD: AtomicI32 = AtomicI32::new(0);
    // SAFETY: asks for a number.
    let this = unsafe { libc::gettid() };
    match THREAD.compare_exchange(0, this, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => {}
        // What was to be said took memory.
        Err(ending) if ending == this => faults::end_now(SHORT, NO_MEMORY),
        Err(_) => loop {
            // SAFETY: waits for the other thread.
            unsafe { libc::pause() };
        },
    }
    if let Some(action) = BEFORE.get() {
        action();
    }
    let mut text = Text {
        bytes: [0; 256],
        length: 0,
    };
    let written = message(&mut text, needed);
    let said = std::str::from_utf8(&text.bytes[..text.length]).unwrap_or_default();
    faults::end(if written.is_ok() { said } else { SHORT }, NO_MEMORY)
}

const SHORT: &str = "error: not enough memory\n";

fn message(text: &mut Text, needed: usize) -> fmt::Result {
    let available = memory::within_limits().or_else(free).unwrap_or_default();
    let needed = if needed == 0 { LEAST } else { needed } as u64;
    let error = Error::Memory { needed, available };
    writeln!(text, "error: {error}\n{HELP}")
}

const HELP: &str = "help: give the process more (`ulimit -v`), or compute with smaller sizes";

/// Bytes of memory that nobody uses.
fn free() -> Option<u64> {
    let mut about = std::mem::MaybeUninit::<libc::sysinfo>::uninit();
    // SAFETY: what is read was written by a call that says so.
    unsafe {
        (libc::sysinfo(about.as_mut_ptr()) == 0).then(|| {
            let about = about.assume_init();
            about.freeram.saturating_mul(about.mem_unit.into())
        })
    }
}

/// A text of limited length.
struct Text {
    bytes: [u8; 256],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + part.len());
        room.ok_or(fmt::Error)?.copy_from_slice(part.as_bytes());
        self.length += part.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_message_fits() {
        let mut text = Text {
            bytes: [0; 256],
            length: 0,
        };
        message(&mut text, usize::MAX).unwrap();
        let said = std::str::from_utf8(&text.bytes[..text.length]).unwrap();
        let start = "error: not enough memory: 16.0 EiB (18446744073709551615 bytes) are needed, ";
        assert!(said.starts_with(start), "{said}");
        assert!(said.ends_with("sizes\n"), "{said}");
    }

    #[test]
    fn memory_of_any_alignment() {
        for alignment in [1, 16, 64, 4096] {
            let block = allocate(100, alignment);
            assert_eq!(block as usize % alignment, 0);
            // SAFETY: it was allocated so.
            unsafe { libc::free(block) };
        }
        assert!(!is_near());
    }
}
