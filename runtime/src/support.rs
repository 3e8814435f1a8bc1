//! Functions that compiled code calls by name and that the process does not have, or not as
//! wanted. Everything else (`malloc`, the mathematics of libm) comes from the process.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::slice;
use std::sync::Mutex;

use crate::descriptor::{Descriptor, copy_elements};
use crate::faults::{self, PROGRAM_FAILED};

/// Symbols and addresses.
pub fn symbols() -> [(&'static CStr, u64); 3] {
    [
        (c"memrefCopy", memref_copy as *const () as u64),
        (c"puts", puts as *const () as u64),
        (c"abort", abort as *const () as u64),
    ]
}

/// What a failed assertion said last.
static SAID: Mutex<String> = Mutex::new(String::new());

/// `cf.assert` prints its text with `puts` and then calls `abort`: the text is kept for it.
extern "C" fn puts(text: *const c_char) -> c_int {
    // SAFETY: compiled code passes a C string.
    let text = unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned();
    *SAID.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = text;
    0
}

/// The end of a failed assertion.
extern "C" fn abort() -> ! {
    let said = SAID
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .clone();
    let text = if said.is_empty() {
        "the compiled program stopped itself"
    } else {
        &said
    };
    faults::end(&format!("error: {text}\n"), PROGRAM_FAILED)
}

/// A memref of any rank, as MLIR passes it to library functions.
#[repr(C)]
struct Unranked {
    rank: i64,
    descriptor: *const i64,
}

impl Unranked {
    /// # Safety
    /// `descriptor` points to a descriptor of `rank` dimensions.
    unsafe fn ranked(&self) -> Descriptor {
        let words = Descriptor::words_of(self.rank as usize);
        // SAFETY: by this function's contract.
        Descriptor::from_words(unsafe { slice::from_raw_parts(self.descriptor, words) })
    }
}

/// `memref.copy` of memrefs that are not contiguous. (Upstream has it in a library of its own.)
unsafe extern "C" fn memref_copy(element: i64, source: *const c_void, target: *const c_void) {
    // SAFETY: compiled code passes two memrefs of the same sizes that do not overlap.
    unsafe {
        let source = (*source.cast::<Unranked>()).ranked();
        let target = (*target.cast::<Unranked>()).ranked();
        copy_elements(&source, &target, element as usize);
    }
}
