//! Kernels on NVIDIA's GPUs, by way of CUDA's driver, which is loaded when it is first asked for.
//!
//! Owns sessions on a device. It must not know LLVM or MLIR. Start with [`Session`]; programs that have a device and
//! arrays in its memory call kernels as a [`Visitor`].
//!
//! ```text
//! Device (a GPU) --Session::new--> Session (memory, kernels, times) --install--> what compiled code calls
//! ```
//!
//! Compiled code of the host calls these; `x` is the address of memory on either side:
//!
//! | symbol | what it stands for |
//! |---|---|
//! | `mdh_cuda_allocate(bytes) -> x`, `mdh_cuda_free(x)` | `gpu.alloc`, `gpu.dealloc` |
//! | `mdh_cuda_transfer(target, source, bytes)` | `gpu.memcpy` |
//! | `mdh_cuda_launch(name, blocks, threads, shared, words, count)` | `gpu.launch_func` |
//!
//! Launches are asynchronous, transfers to the host wait for them. What goes wrong is an [`Error`]
//! with the driver's call, the kernels it may be about, and the driver's own words.

mod calls;
mod device;
mod error;
mod kernels;
mod launch;
mod pool;
mod session;
mod visitor;

use std::ffi::CStr;

pub use device::{Capability, Device, Facts};
pub use error::{CudaErrorKind, Error, Result};
pub use launch::Launch;
pub use session::{Session, TIME_LIMIT};
pub use visitor::Visitor;

/// Returns the functions that compiled code calls, by name.
pub fn symbols() -> Vec<(&'static CStr, u64)> {
    vec![
        (
            c"mdh_cuda_allocate",
            calls::mdh_cuda_allocate as *const () as u64,
        ),
        (c"mdh_cuda_free", calls::mdh_cuda_free as *const () as u64),
        (
            c"mdh_cuda_transfer",
            calls::mdh_cuda_transfer as *const () as u64,
        ),
        (
            c"mdh_cuda_launch",
            calls::mdh_cuda_launch as *const () as u64,
        ),
    ]
}
