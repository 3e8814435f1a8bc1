//! Functions that compiled code calls by name and that the process does not have, or not as
//! wanted. Everything else (`malloc`, the mathematics of libm) comes from the process.

use std::ffi::{CStr, CString};

use mdhrt::{bf16, copy, failure, pool};

use crate::faults::{self, PROGRAM_FAILED};

/// Symbols and addresses.
pub fn symbols() -> Vec<(&'static CStr, u64)> {
    let mut all = vec![
        (c"memrefCopy", copy::mdh_copy as *const () as u64),
        (c"puts", failure::mdh_say as *const () as u64),
        (c"abort", abort as *const () as u64),
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
    ];
    all.extend(mdh_simulator::symbols());
    all.extend(mdh_cuda::symbols());
    all
}

/// Whether compiled code can call a function of that name: one of these, or of the process.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_process_are_known() {
        assert!(is_known("memcpy") && is_known("memrefCopy"));
        assert!(!is_known("no_such_function") && !is_known("a\0b"));
    }
}
