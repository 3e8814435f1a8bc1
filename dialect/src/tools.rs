//! The command line tools that MLIR's libraries contain, with our dialect in them.

use std::ffi::{CString, c_char, c_int};

use mlir_sys::MlirDialectRegistry;

use crate::context;
use crate::ffi;

type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, MlirDialectRegistry) -> c_int;

fn run(main: Main) -> i32 {
    let registry = context::full_registry();
    let arguments: Vec<CString> = std::env::args_os()
        .map(|a| CString::new(a.into_encoded_bytes()).unwrap_or_default())
        .collect();
    let mut argv: Vec<*mut c_char> = arguments.iter().map(|a| a.as_ptr().cast_mut()).collect();
    argv.push(std::ptr::null_mut());
    // SAFETY: the arguments end in null and outlive the call, as does the registry.
    unsafe {
        main(
            arguments.len() as c_int,
            argv.as_mut_ptr(),
            registry.to_raw(),
        )
    }
}

/// `mdh-opt`: mlir-opt with the dialect; the passes must have been registered.
pub fn opt() -> i32 {
    run(ffi::mdhOptMain)
}

/// `mdh-lsp-server`: the language server for .mlir files with the dialect.
pub fn lsp_server() -> i32 {
    run(ffi::mdhLspServerMain)
}
