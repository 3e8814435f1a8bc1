//! `mdh`: runs, checks and compiles data-parallel programs.

use std::ffi::c_void;
use std::process::ExitCode;

use mdh_jit::exhaustion::{self, Allocator};

/// Rust's memory, whose end is no panic.
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// C++'s `operator new(size_t)`: that of the C++ library throws where there is no memory, through
/// LLVM, which is built without exceptions. `new[]` and those that return null call it.
#[unsafe(no_mangle)]
extern "C" fn _Znwm(bytes: usize) -> *mut c_void {
    exhaustion::allocate(bytes, align_of::<libc::max_align_t>())
}

/// C++'s `operator new(size_t, std::align_val_t)`.
#[unsafe(no_mangle)]
extern "C" fn _ZnwmSt11align_val_t(bytes: usize, alignment: usize) -> *mut c_void {
    exhaustion::allocate(bytes, alignment)
}

fn main() -> ExitCode {
    mdh_driver::commands::main(std::env::args_os())
}
