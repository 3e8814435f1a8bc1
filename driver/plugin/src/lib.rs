//! `libmdh.so`: the dialect and its passes as plugins of a stock `mlir-opt`, and the compiler for programs in C.
//!
//! Owns the entry points that MLIR looks for and those of the C interface (`include/mdh-c/`): ownership, statuses,
//! what C passes. It must not know what compiles and calls, which is `mdh_compiler::library`. It is one library, since
//! a process has one of each pass and of each operation, whoever asks for them. Start with `mlirGetPassPluginInfo`
//! and [`compile::mdhCompile`].
//!
//! | modules | what they hold |
//! |---------|----------------|
//! | [`status`] | statuses and messages, what C passes by pointers |
//! | [`options`] | what is asked of a function that is compiled |
//! | [`compile`] | what makes functions: programs, einsums, shared libraries |
//! | [`function`] | functions: what they take, calls, files, schedules |
//! | [`module`] | modules of a host with MLIR, and computations built in them |
//!
//! ```sh
//! mlir-opt --load-dialect-plugin=libmdh.so --load-pass-plugin=libmdh.so \
//!   --pass-pipeline='builtin.module(mdh-form-compute)' file.mlir
//! ```

#![allow(
    non_snake_case,
    reason = "functions of the C interface are named as those of MLIR's are"
)]

pub mod compile;
pub mod function;
pub mod module;
pub mod options;
pub mod status;

use std::ffi::{c_char, c_void};

use mlir_sys::MlirDialectRegistry;

/// The version of the plugin interface that LLVM 22 has.
const PLUGIN_API_VERSION: u32 = 1;

/// `mlir::DialectPluginLibraryInfo`.
#[repr(C)]
pub struct DialectPlugin {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(*mut c_void),
}

/// `mlir::PassPluginLibraryInfo`.
#[repr(C)]
pub struct PassPlugin {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(),
}

const VERSION: *const c_char = concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast();

/// Returns the version of mdh.
#[unsafe(no_mangle)]
pub extern "C" fn mdhVersion() -> *const c_char {
    VERSION
}

extern "C" fn register_dialect(registry: *mut c_void) {
    mdh_passes::register_hooks();
    // SAFETY: MLIR passes the registry of its context.
    unsafe { mdh_dialect::ffi::mdhRegisterDialect(MlirDialectRegistry { ptr: registry }) }
}

extern "C" fn register_passes() {
    mdh_passes::register(mdh_machine::find);
}

/// Entry point of `--load-dialect-plugin`.
#[unsafe(no_mangle)]
pub extern "C" fn mlirGetDialectPluginInfo() -> DialectPlugin {
    DialectPlugin {
        api_version: PLUGIN_API_VERSION,
        name: c"mdh".as_ptr(),
        version: VERSION,
        register: register_dialect,
    }
}

/// Entry point of `--load-pass-plugin`.
#[unsafe(no_mangle)]
pub extern "C" fn mlirGetPassPluginInfo() -> PassPlugin {
    PassPlugin {
        api_version: PLUGIN_API_VERSION,
        name: c"mdh".as_ptr(),
        version: VERSION,
        register: register_passes,
    }
}
