//! Places in a program, which findings and counts are of.

use std::ffi::{CStr, c_char};

/// A place in the program, as text that ends in a null and lives as long as the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Site(pub *const c_char);

// SAFETY: a constant's address.
unsafe impl Send for Site {}
// SAFETY: the same.
unsafe impl Sync for Site {}

impl Site {
    /// Returns its text.
    pub fn text(self) -> String {
        if self.0.is_null() {
            return "an unknown place".into();
        }
        // SAFETY: compiled code has the text as a constant.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_string_lossy().into_owned()
    }
}
