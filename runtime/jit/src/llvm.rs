//! Small pieces around LLVM's C API: owned strings, errors, diagnostics, set-up.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Mutex, OnceLock};

use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::core::{
    LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity, LLVMGetVersion,
};
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use llvm_sys::prelude::LLVMDiagnosticInfoRef;

use crate::{Error, Result};

/// The version of the LLVM that is linked, as `22.1.8`.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three numbers.
    unsafe { LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

static FATAL: OnceLock<fn(&str) -> !> = OnceLock::new();

/// Sets the handler of LLVM's "fatal errors", which cannot be returned: `handler` reports and ends
/// the process. The first handler stays.
pub fn on_fatal_error(handler: fn(&str) -> !) {
    extern "C" fn call(reason: *const c_char) {
        // SAFETY: LLVM passes a C string.
        let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
        if let Some(handler) = FATAL.get() {
            handler(&reason);
        }
    }
    if FATAL.set(handler).is_ok() {
        // SAFETY: the handler is a plain function that lives as long as the process.
        unsafe { LLVMInstallFatalErrorHandler(Some(call)) };
    }
}

/// A copy of a message that LLVM allocated, which is freed. Null is the empty message.
///
/// # Safety
/// `message` is null or from LLVM's `LLVMCreateMessage`, and is not used afterwards.
pub unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: by this function's contract.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Turns LLVM's error, or null for success, into a result.
///
/// # Safety
/// `error` is null or an error that nobody else handles.
pub unsafe fn check(doing: &'static str, error: LLVMErrorRef) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: by this function's contract; the message has its own way to be freed.
    let message = unsafe {
        let raw = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(raw);
        text
    };
    Err(Error::Llvm { doing, message })
}

/// A C string; a name with a zero byte in it is an error rather than a shorter name.
pub fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Llvm {
        doing: "passing a name to LLVM",
        message: format!("{text:?} contains a zero byte"),
    })
}

/// Error diagnostics of a context, collected. (LLVM's own handler prints and exits.)
#[derive(Default)]
pub struct Diagnostics(Mutex<Vec<String>>);

impl Diagnostics {
    /// The first error since the last call, as a result.
    pub fn check(&self, doing: &'static str) -> Result<()> {
        let mut messages = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let texts = std::mem::take(&mut *messages);
        match texts.is_empty() {
            true => Ok(()),
            false => Err(Error::Llvm {
                doing,
                message: texts.join("; "),
            }),
        }
    }

    /// The handler to install, with a pointer to `self` as its context.
    pub extern "C" fn handle(info: LLVMDiagnosticInfoRef, diagnostics: *mut c_void) {
        // SAFETY: LLVM passes a live diagnostic and the pointer that was installed with it.
        let (severity, text, diagnostics) = unsafe {
            let text = take_message(LLVMGetDiagInfoDescription(info));
            (
                LLVMGetDiagInfoSeverity(info),
                text,
                &*diagnostics.cast::<Diagnostics>(),
            )
        };
        if severity == LLVMDiagnosticSeverity::LLVMDSError {
            diagnostics
                .0
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .push(text);
        }
    }
}
