//! Functions that compiled code calls by name and that the process does not have, or not as
//! wanted. Everything else (`free`, the mathematics of libm) comes from the process.
//!
//! There are two sets: code of `mdh run` ends the process where it fails, code of a library unwinds.

use std::ffi::{CStr, CString, c_void};
use std::sync::Once;

use mdh_arrays::{Error, memory};
use mdhrt::{bf16, copy, f16, failure, memory as heap, pool};

use crate::faults::{self, NO_MEMORY, PROGRAM_FAILED};

/// Symbols and addresses.
pub fn symbols() -> Vec<(&'static CStr, u64)> {
    let mut symbols = vec![
        (c"memrefCopy", copy::mdh_copy as *const () as u64),
        (c"puts", failure::mdh_say as *const () as u64),
        (c"abort", abort as *const () as u64),
        (c"malloc", allocate as *const () as u64),
        (c"calloc", allocate_zeroed as *const () as u64),
    ];
    symbols.extend(shared_symbols());
    symbols.extend(mdh_simulator::symbols());
    symbols
}

/// Symbols and addresses for code of a library, whose failures unwind to its caller: what `libmdhrt` has, and what drives a GPU.
pub fn library_symbols() -> Vec<(&'static CStr, u64)> {
    let mut symbols = vec![
        (c"mdh_copy", copy::mdh_copy as *const () as u64),
        (c"mdh_say", failure::mdh_say as *const () as u64),
        (c"mdh_stop", failure::mdh_stop as *const () as u64),
        (c"mdh_allocate", heap::mdh_allocate as *const () as u64),
        (
            c"mdh_allocate_zeroed",
            heap::mdh_allocate_zeroed as *const () as u64,
        ),
        (c"mdh_release", heap::mdh_release as *const () as u64),
    ];
    symbols.extend(shared_symbols());
    symbols
}

/// The functions that both kinds of code call.
fn shared_symbols() -> Vec<(&'static CStr, u64)> {
    let mut symbols = vec![
        (
            c"mdh_parallel_for",
            pool::mdh_parallel_for as *const () as u64,
        ),
        (
            c"mdh_thread_count",
            pool::mdh_thread_count as *const () as u64,
        ),
        (c"__truncdfbf2", bf16::truncate_f64 as *const () as u64),
        (c"__truncsfbf2", bf16::truncate_f32 as *const () as u64),
        (c"__truncdfhf2", f16::truncate_f64 as *const () as u64),
        (c"__truncsfhf2", f16::truncate_f32 as *const () as u64),
        (c"__extendhfsf2", f16::extend_f32 as *const () as u64),
    ];
    symbols.extend(mdh_cuda::symbols());
    symbols
}

/// Shows the library of the C compiler to code, which calls it where a processor has no instruction (`__powidf2`). A
/// program may have loaded it for itself alone, as Python does.
pub fn show_compiler_library() {
    static SHOWN: Once = Once::new();
    // SAFETY: the name is a C string; what this opens does nothing when it is loaded. Without it, code that needs it is
    // not linked, with an error.
    SHOWN.call_once(|| unsafe {
        libc::dlopen(
            c"libgcc_s.so.1".as_ptr(),
            libc::RTLD_NOW | libc::RTLD_GLOBAL,
        );
    });
}

/// Returns whether compiled code can call a function of that name: one of these, or of the process.
pub fn is_known(name: &str) -> bool {
    let Ok(name) = CString::new(name) else {
        return false;
    };
    let ours = symbols().iter().any(|(known, _)| *known == name.as_c_str());
    // SAFETY: looks a name up and calls nothing.
    ours || unsafe { !libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).is_null() }
}

/// The end of a failed assertion: `cf.assert` prints its text with `puts`, which is kept, and then
/// calls `abort`.
extern "C" fn abort() -> ! {
    faults::end(&format!("{}\n", failure::said()), PROGRAM_FAILED)
}

/// `malloc` for code that does not look at what it gets, and would write there.
extern "C" fn allocate(bytes: usize) -> *mut c_void {
    // SAFETY: asks for memory.
    taken(unsafe { libc::malloc(bytes) }, bytes)
}

/// `calloc`, likewise.
extern "C" fn allocate_zeroed(count: usize, each: usize) -> *mut c_void {
    // SAFETY: asks for memory.
    taken(
        unsafe { libc::calloc(count, each) },
        count.saturating_mul(each),
    )
}

fn taken(block: *mut c_void, bytes: usize) -> *mut c_void {
    if block.is_null() && bytes > 0 {
        let missing = Error::Memory {
            needed: bytes as u64,
            available: memory::available().unwrap_or_default(),
        };
        faults::end(&format!("error: {missing}\n"), NO_MEMORY);
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_process_are_known() {
        assert!(is_known("memcpy") && is_known("memrefCopy"));
        assert!(!is_known("no_such_function") && !is_known("a\0b"));
    }
}
