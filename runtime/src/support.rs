//! Functions that compiled code calls by name and that the process does not have, or not as
//! wanted. Everything else (`malloc`, the mathematics of libm) comes from the process.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::slice;

use half::bf16;

use crate::descriptor::{Descriptor, copy_elements};
use crate::faults::{self, PROGRAM_FAILED};
use crate::pool;

/// Symbols and addresses.
pub fn symbols() -> [(&'static CStr, u64); 7] {
    [
        (c"memrefCopy", memref_copy as *const () as u64),
        (c"puts", puts as *const () as u64),
        (c"abort", abort as *const () as u64),
        (
            c"mdh_parallel_for",
            pool::mdh_parallel_for as *const () as u64,
        ),
        (
            c"mdh_thread_count",
            pool::mdh_thread_count as *const () as u64,
        ),
        (c"__truncdfbf2", truncate_f64 as *const () as u64),
        (c"__truncsfbf2", truncate_f32 as *const () as u64),
    ]
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

thread_local! {
    /// What a failed assertion said last on this thread: several may fail at the same time.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// `cf.assert` prints its text with `puts` and then calls `abort`: the text is kept for it.
extern "C" fn puts(text: *const c_char) -> c_int {
    // SAFETY: compiled code passes a C string.
    let text = unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned();
    SAID.set(text);
    0
}

/// The end of a failed assertion.
extern "C" fn abort() -> ! {
    let said = SAID.take();
    faults::end(&format!("{}\n", assertion(&said)), PROGRAM_FAILED)
}

/// What is shown of a failed assertion. One that says where it is says what it is, too.
fn assertion(said: &str) -> String {
    match said {
        "" => "error: the compiled program stopped itself".to_string(),
        _ if said.contains(": error: ") => said.to_string(),
        _ => format!("error: {said}"),
    }
}

/// f64 to bf16, rounded once. (libgcc has it from version 13 on.)
///
/// The calling convention returns a bf16 in the low half of a register that holds an f32.
extern "C" fn truncate_f64(value: f64) -> f32 {
    f32::from_bits(u32::from(bf16::from_f32(to_odd(value)).to_bits()))
}

/// The nearest f32 towards zero, odd if that is not exact: rounding it again to fewer bits is as
/// good as rounding `value` once.
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if nearest.is_nan() || f64::from(nearest) == value {
        return nearest;
    }
    let is_further = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_further)) | 1)
}

/// f32 to bf16, where the host has no instruction for it.
extern "C" fn truncate_f32(value: f32) -> f32 {
    f32::from_bits(u32::from(bf16::from_f32(value).to_bits()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_are_errors() {
        assert_eq!(assertion("a.mlir:2:6: error: no"), "a.mlir:2:6: error: no");
        assert_eq!(assertion("reads 9 of 5"), "error: reads 9 of 5");
        assert_eq!(assertion(""), "error: the compiled program stopped itself");
    }

    #[test]
    fn functions_of_the_process_are_known() {
        assert!(is_known("memcpy") && is_known("memrefCopy"));
        assert!(!is_known("no_such_function") && !is_known("a\0b"));
    }

    #[test]
    fn a_double_is_rounded_to_bf16_once() {
        // Just above the middle between 1 and the next bf16: f32 would round it to the middle,
        // which then goes down to 1.
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        let next = bf16::from_bits(bf16::ONE.to_bits() + 1);
        for (value, expected) in [
            (above, next),
            (-above, -next),
            (1.0 + 2f64.powi(-8), bf16::ONE), // the middle itself goes to the even one
            (1e300, bf16::INFINITY),
            (-0.0, bf16::NEG_ZERO),
            (1e-320, bf16::ZERO),
        ] {
            let found = truncate_f64(value).to_bits();
            assert_eq!(found, u32::from(expected.to_bits()), "{value}");
        }
        assert!(bf16::from_bits(truncate_f64(f64::NAN).to_bits() as u16).is_nan());
    }
}
