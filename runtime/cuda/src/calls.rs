//! Functions that compiled code of the host calls. Failures unwind, see [`mdhrt::failure`].

use std::ffi::{CStr, c_char, c_void};

use mdhrt::failure::{Failure, Status, raise};

use crate::{CudaErrorKind, Launch, Result, Session};

/// Does something with the device in use.
fn with<T>(code: impl FnOnce(&mut Session) -> Result<T>) -> T {
    let done = Session::with(code);
    done.unwrap_or_else(|error| {
        raise(Failure {
            status: match error.kind {
                CudaErrorKind::Memory => Status::NoMemory,
                _ => Status::Device,
            },
            message: error.message,
        })
    })
}

/// Memory of the device.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn mdh_cuda_allocate(bytes: i64) -> *mut c_void {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    with(|session| session.allocate(bytes)) as *mut c_void
}

/// Frees memory of the device.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn mdh_cuda_free(address: *mut c_void) {
    with(|session| session.free(address as u64));
}

/// Copies between the host and the device, or within the device.
///
/// # Safety
/// A side that is the host's has that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_cuda_transfer(
    target: *mut c_void,
    source: *const c_void,
    bytes: i64,
) {
    let bytes = usize::try_from(bytes).unwrap_or(0);
    // SAFETY: by this function's contract.
    with(|session| unsafe { session.transfer(target as u64, source as u64, bytes) });
}

/// Launches a kernel; its arguments are `count` words, of which each has one in its lowest bytes.
///
/// # Safety
/// The name is a C string, blocks and threads are three numbers each.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_cuda_launch(
    name: *const c_char,
    blocks: *const [i64; 3],
    threads: *const [i64; 3],
    shared: i64,
    words: *const u64,
    count: i64,
) {
    let words = match count {
        0 => Vec::new(),
        // SAFETY: by this function's contract.
        _ => unsafe { std::slice::from_raw_parts(words, count as usize) }.to_vec(),
    };
    // SAFETY: by this function's contract.
    let launch = unsafe {
        Launch {
            name: CStr::from_ptr(name).to_string_lossy().into_owned(),
            blocks: *blocks,
            threads: *threads,
            shared,
            words,
        }
    };
    with(|session| session.launch(launch));
}
