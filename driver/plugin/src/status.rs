//! Statuses and messages for C, and what C passes by pointers.
//!
//! A function of the C interface runs [guarded]: what goes wrong, a panic included, is a status for the caller and a
//! message for the thread.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use mdh_compiler::error::{Error, payload_text, warnings};
use mdh_compiler::library::background::Work;
use mdh_compiler::library::words::Wrong;
use mdhrt::failure::Failure;

/// `MDH_DONE`
pub const DONE: c_int = 0;
/// `MDH_FAILED`
const FAILED: c_int = 1;

/// A failure as C gets it.
#[derive(Debug)]
pub struct Refusal {
    status: c_int,
    message: String,
}

/// The result of what may be refused.
pub type Result<T> = std::result::Result<T, Refusal>;

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::new(&error, "")
    }
}

impl From<Failure> for Refusal {
    fn from(mut failure: Failure) -> Refusal {
        let message = failure.message.strip_prefix("error: ");
        failure.message = message.map_or(failure.message.clone(), str::to_string);
        Error::from(failure).into()
    }
}

impl From<Wrong> for Refusal {
    fn from(wrong: Wrong) -> Refusal {
        Error::input(wrong.message).into()
    }
}

impl Refusal {
    fn new(error: &Error, said: &str) -> Refusal {
        Refusal {
            status: match c_int::from(error.kind().exit_code()) {
                DONE => FAILED,
                code => code,
            },
            message: error.with_said(said),
        }
    }
}

/// Runs work of the compiler to its end; its result, and its warnings.
pub fn compiled<T: Send + 'static>(
    action: impl FnOnce() -> mdh_compiler::error::Result<T> + Send + 'static,
) -> Result<(T, String)> {
    match Work::begin(action)?.end() {
        (Ok(result), said) => Ok((result, warnings(&said))),
        (Err(error), said) => Err(Refusal::new(&error, &said)),
    }
}

thread_local! {
    /// Text of this thread's last call that failed.
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns what went wrong in this thread's last call that failed; it stays until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn mdhMessage() -> *const c_char {
    // A thread that ends has no messages any more.
    LAST.try_with(|last| last.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

/// Runs an action, and returns its status.
pub fn guarded(action: impl FnOnce() -> Result<()>) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(action));
    let done = done.unwrap_or_else(|panic| Err(Error::bug(payload_text(&*panic)).into()));
    match done {
        Ok(()) => DONE,
        Err(refusal) => {
            let text = c_string(&refusal.message);
            let _ = LAST.try_with(|last| last.replace(text));
            refusal.status
        }
    }
}

/// A text for C, in which null bytes are written as such.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}

/// A wrong use of the interface.
pub fn misused(message: impl Into<String>) -> Refusal {
    Error::usage(message).into()
}

/// The text of a C string; none of a null pointer.
///
/// # Errors
/// If it is no UTF-8.
///
/// # Safety
/// The pointer is null or to a C string that outlives the result.
pub unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by this function's contract.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    let wrong = |_| {
        misused(format!(
            "{what}: found bytes that are no UTF-8, expected text"
        ))
    };
    text.map(Some).map_err(wrong)
}

/// The text of a C string that has to be there.
///
/// # Errors
/// If there is none, or it is no UTF-8.
///
/// # Safety
/// As for [`text`].
pub unsafe fn needed_text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: by this function's contract.
    let given = unsafe { text(pointer, what) }?;
    given.ok_or_else(|| misused(format!("{what}: found a null pointer, expected text")))
}

/// An array of C.
///
/// # Errors
/// If there is none, and it has elements.
///
/// # Safety
/// The pointer is null or to so many elements, which outlive the result.
pub unsafe fn array<'a, T>(pointer: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(misused(format!(
            "{what}: found a null pointer, expected {count} elements"
        ))),
        // SAFETY: by this function's contract.
        (false, _) => Ok(unsafe { slice::from_raw_parts(pointer, count) }),
    }
}

/// A place that a result goes to.
///
/// # Errors
/// If there is none.
///
/// # Safety
/// The pointer is null or to a place that outlives the result.
pub unsafe fn place<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T> {
    let missing = || {
        misused(format!(
            "{what}: found a null pointer, expected a place for it"
        ))
    };
    // SAFETY: by this function's contract.
    unsafe { pointer.as_mut() }.ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: the message stays until the next failure.
        let text = unsafe { CStr::from_ptr(mdhMessage()) };
        text.to_str().unwrap().to_string()
    }

    #[test]
    fn a_failure_is_a_status_and_a_message() {
        let status = guarded(|| Err(Error::input("found 1").help("write 2").into()));
        assert_eq!((status, last().as_str()), (1, "found 1\nhelp: write 2"));
        assert_eq!(guarded(|| Ok(())), DONE);
        assert_eq!(last(), "found 1\nhelp: write 2");
        let failure = Failure::new("error: f: 'x' is a null pointer");
        assert_eq!(guarded(|| Err(failure.into())), 1);
        assert_eq!(last(), "f: 'x' is a null pointer");
    }

    #[test]
    fn a_panic_is_a_bug() {
        assert_eq!(guarded(|| panic!("it broke")), 70);
        assert!(last().starts_with("this is a bug in mdh, not in your input: it broke"));
    }

    #[test]
    fn what_c_has_to_pass() {
        // SAFETY: null pointers, and strings that stay.
        unsafe {
            assert_eq!(text(c"f".as_ptr(), "entry").unwrap(), Some("f"));
            assert_eq!(text(std::ptr::null(), "entry").unwrap(), None);
            let refusal = text(c"\xff".as_ptr(), "entry").unwrap_err();
            assert_eq!(refusal.status, 2);
            let refusal = needed_text(std::ptr::null(), "path").unwrap_err();
            assert_eq!(refusal.message, "path: found a null pointer, expected text");
            assert!(array::<u8>(std::ptr::null(), 0, "x").unwrap().is_empty());
            assert_eq!(array::<u8>(std::ptr::null(), 2, "x").unwrap_err().status, 2);
        }
    }
}
