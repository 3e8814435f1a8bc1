//! CUDA's driver interface: devices, memory, modules, launches, streams and events.
//!
//! Kernels run when they are launched. What goes wrong in them is told as a device tells it: by the
//! calls that come later, all of which fail then. A kernel that does not end leaves events that
//! never happen.

mod events;
mod kernels;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::memory::Memory;
use crate::parse::{Kernel, Module};
use crate::settings;

/// Threads of a block, at most.
pub const MOST_THREADS: u64 = 1024;
/// Bytes of shared memory that a block may have.
pub const SHARED: u64 = 48 << 10;
/// Bytes that it may have if it asks.
pub const MOST_SHARED: u64 = 227 << 10;

/// `CUresult`
type Code = c_uint;

const SUCCESS: Code = 0;
const INVALID_VALUE: Code = 1;
const OUT_OF_MEMORY: Code = 2;
const INVALID_DEVICE: Code = 101;
const NO_BINARY: Code = 209;
const INVALID_PTX: Code = 218;
const INVALID_HANDLE: Code = 400;
const NOT_FOUND: Code = 500;
const NOT_READY: Code = 600;
const ILLEGAL_ADDRESS: Code = 700;
const OUT_OF_RESOURCES: Code = 701;
const LAUNCH_FAILED: Code = 719;
const UNKNOWN: Code = 999;

/// Names and words of errors.
const ERRORS: [(Code, &CStr, &CStr); 12] = [
    (SUCCESS, c"CUDA_SUCCESS", c"no error"),
    (
        INVALID_VALUE,
        c"CUDA_ERROR_INVALID_VALUE",
        c"invalid argument",
    ),
    (OUT_OF_MEMORY, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (
        INVALID_DEVICE,
        c"CUDA_ERROR_INVALID_DEVICE",
        c"invalid device ordinal",
    ),
    (
        NO_BINARY,
        c"CUDA_ERROR_NO_BINARY_FOR_GPU",
        c"no kernel image is available for execution on the device",
    ),
    (
        INVALID_PTX,
        c"CUDA_ERROR_INVALID_PTX",
        c"a PTX JIT compilation failed",
    ),
    (
        INVALID_HANDLE,
        c"CUDA_ERROR_INVALID_HANDLE",
        c"invalid resource handle",
    ),
    (
        NOT_FOUND,
        c"CUDA_ERROR_NOT_FOUND",
        c"named symbol not found",
    ),
    (NOT_READY, c"CUDA_ERROR_NOT_READY", c"device not ready"),
    (
        ILLEGAL_ADDRESS,
        c"CUDA_ERROR_ILLEGAL_ADDRESS",
        c"an illegal memory access was encountered",
    ),
    (
        OUT_OF_RESOURCES,
        c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        c"too many resources requested for launch",
    ),
    (
        LAUNCH_FAILED,
        c"CUDA_ERROR_LAUNCH_FAILED",
        c"unspecified launch failure",
    ),
];

/// The device.
struct Device {
    memory: Memory,
    modules: HashMap<usize, Module>,
    /// Kernels that were asked for: module and name.
    functions: Vec<(usize, String)>,
    /// Launches by the streams that were made; those that a program need not make are not among them.
    streams: HashMap<usize, u64>,
    /// Times at which events were recorded; `None` for those that never happen.
    events: HashMap<usize, Option<Instant>>,
    /// Mistake of a kernel.
    failed: Option<Code>,
    hangs: bool,
    next: usize,
}

static DEVICE: Mutex<Option<Device>> = Mutex::new(None);

thread_local! {
    /// The device that a thread has chosen.
    static CONTEXT: Cell<usize> = const { Cell::new(0) };
}

fn lock() -> MutexGuard<'static, Option<Device>> {
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something with the device, unless the call is one that fails.
fn with(call: &str, code: impl FnOnce(&mut Device) -> Code) -> Code {
    if settings::fails(call) {
        return UNKNOWN;
    }
    let mut device = lock();
    let device = device.get_or_insert_with(|| Device {
        memory: Memory::new(settings::memory()),
        modules: HashMap::new(),
        functions: Vec::new(),
        streams: HashMap::new(),
        events: HashMap::new(),
        failed: None,
        hangs: false,
        // Small handles are streams that are there without being made.
        next: 16,
    });
    code(device)
}

impl Device {
    fn handle(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// The kernel that a call was given, and its name.
    fn kernel(&self, function: usize) -> Option<(&str, &Kernel)> {
        let (module, name) = self.functions.get(function.wrapping_sub(1))?;
        Some((name, self.modules.get(module)?.kernels.get(name)?))
    }

    /// Returns whether there is such a stream: one that was made, or one of those that are there without (0 to 2).
    fn has_stream(&self, stream: usize) -> bool {
        stream <= 2 || self.streams.contains_key(&stream)
    }

    /// Counts a launch on a stream; whether there is such a stream.
    fn count_launch(&mut self, stream: usize) -> bool {
        if let Some(launches) = self.streams.get_mut(&stream) {
            *launches += 1;
        }
        self.has_stream(stream)
    }

    /// Returns the code that a call gives which waits for kernels.
    fn state(&self) -> Code {
        self.failed.unwrap_or(SUCCESS)
    }
}

/// Writes a result to where a caller wants it.
///
/// # Safety
/// The place is one for a value of this type.
unsafe fn put<T>(place: *mut T, value: T) -> Code {
    // SAFETY: by this function's contract.
    unsafe { place.write(value) };
    SUCCESS
}

/// Starts the driver.
#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: c_uint) -> Code {
    with("cuInit", |_| SUCCESS)
}

/// Gives the number of devices.
///
/// # Safety
/// `count` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> Code {
    // SAFETY: by this function's contract.
    with("cuDeviceGetCount", |_| unsafe {
        put(count, settings::devices())
    })
}

/// The device of a number.
///
/// # Safety
/// `device` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, number: c_int) -> Code {
    with("cuDeviceGet", |_| {
        match (0..settings::devices()).contains(&number) {
            // SAFETY: by this function's contract.
            true => unsafe { put(device, number) },
            false => INVALID_DEVICE,
        }
    })
}

/// A device's name.
///
/// # Safety
/// `name` has room for `length` letters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, _device: c_int) -> Code {
    let text = c"interpreter of PTX".to_bytes_with_nul();
    with("cuDeviceGetName", |_| {
        if text.len() > length.max(0) as usize {
            return INVALID_VALUE;
        }
        // SAFETY: by this function's contract.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
        SUCCESS
    })
}

/// Gives the size of a device's memory.
///
/// # Safety
/// `bytes` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) -> Code {
    // SAFETY: by this function's contract.
    with("cuDeviceTotalMem", |_| unsafe {
        put(bytes, settings::memory())
    })
}

/// A fact about a device, by the numbers of `CUdevice_attribute`.
///
/// # Safety
/// `value` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_uint,
    _device: c_int,
) -> Code {
    let answer = match attribute {
        1..=3 => MOST_THREADS as i32,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        8 => SHARED as i32,
        13 => 1_000_000,
        16 => 1,
        36 => 1_000_000,
        37 => 64,
        38 => 1 << 20,
        75 => settings::chip() / 10,
        76 => settings::chip() % 10,
        97 => MOST_SHARED as i32,
        _ => return INVALID_VALUE,
    };
    // SAFETY: by this function's contract.
    with("cuDeviceGetAttribute", |_| unsafe { put(value, answer) })
}

/// Makes a device ready.
///
/// # Safety
/// `context` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) -> Code {
    // SAFETY: by this function's contract.
    with("cuDevicePrimaryCtxRetain", |_| unsafe {
        put(context, device as usize + 1)
    })
}

/// Lets go of it.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_device: c_int) -> Code {
    with("cuDevicePrimaryCtxRelease", |_| SUCCESS)
}

/// Chooses the device of a thread.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: usize) -> Code {
    with("cuCtxSetCurrent", |_| {
        CONTEXT.set(context);
        SUCCESS
    })
}

/// The device of a thread.
///
/// # Safety
/// `context` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut usize) -> Code {
    let current = CONTEXT.get();
    // SAFETY: by this function's contract.
    with("cuCtxGetCurrent", |_| unsafe { put(context, current) })
}

/// Makes a stream.
///
/// # Safety
/// `stream` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut usize, _flags: c_uint) -> Code {
    with("cuStreamCreate", |device| {
        let new = device.handle();
        device.streams.insert(new, 0);
        // SAFETY: by this function's contract.
        unsafe { put(stream, new) }
    })
}

/// Waits for what a stream does.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: usize) -> Code {
    with("cuStreamSynchronize", |device| {
        match device.has_stream(stream) {
            true => device.state(),
            false => INVALID_HANDLE,
        }
    })
}

/// Has what a stream does next wait for an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitEvent(stream: usize, event: usize, _flags: c_uint) -> Code {
    with("cuStreamWaitEvent", |device| {
        // Kernels run when they are launched: there is nothing to wait for.
        match device.has_stream(stream) && device.events.contains_key(&event) {
            true => SUCCESS,
            false => INVALID_HANDLE,
        }
    })
}

/// Ends a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(stream: usize) -> Code {
    with("cuStreamDestroy", |device| {
        match device.streams.remove(&stream) {
            Some(_) => SUCCESS,
            None => INVALID_HANDLE,
        }
    })
}

/// Returns how many kernels were launched on a stream that was made: for tests, which cannot see it otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn mdh_ptx_launches(stream: usize) -> u64 {
    let device = lock();
    let launches = device
        .as_ref()
        .and_then(|device| device.streams.get(&stream));
    launches.copied().unwrap_or(0)
}

/// New memory.
///
/// # Safety
/// `address` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut usize, bytes: usize) -> Code {
    with("cuMemAlloc", |device| match device.memory.allocate(bytes) {
        // SAFETY: by this function's contract.
        Some(new) => unsafe { put(address, new) },
        None => OUT_OF_MEMORY,
    })
}

/// Frees memory.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: usize) -> Code {
    with("cuMemFree", |device| match device.memory.free(address) {
        true => SUCCESS,
        false => INVALID_VALUE,
    })
}

/// Copies bytes.
///
/// # Safety
/// Sides of the host have them.
unsafe fn copy(
    call: &str,
    to: usize,
    from: usize,
    bytes: usize,
    sides: [Option<usize>; 2],
) -> Code {
    with(call, |device| {
        if device.state() != SUCCESS {
            return device.state();
        }
        let mut device_sides = sides.into_iter().flatten();
        if !device_sides.all(|address| device.memory.has(address, bytes)) {
            return INVALID_VALUE;
        }
        let [_, source] = sides;
        // SAFETY: sides of the device were looked at, those of the host are the caller's.
        match source.is_some() && settings::is_zero() {
            true => unsafe { std::ptr::write_bytes(to as *mut u8, 0, bytes) },
            false => unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) },
        }
        SUCCESS
    })
}

/// Copies to the device.
///
/// # Safety
/// `from` has the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: usize,
    from: *const c_void,
    bytes: usize,
    _stream: usize,
) -> Code {
    // SAFETY: by this function's contract.
    unsafe {
        copy(
            "cuMemcpyHtoDAsync",
            to,
            from as usize,
            bytes,
            [Some(to), None],
        )
    }
}

/// Copies from the device.
///
/// # Safety
/// `to` has room for the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    from: usize,
    bytes: usize,
    _stream: usize,
) -> Code {
    // SAFETY: by this function's contract.
    unsafe {
        copy(
            "cuMemcpyDtoHAsync",
            to as usize,
            from,
            bytes,
            [None, Some(from)],
        )
    }
}

/// Copies within the device.
///
/// # Safety
/// None: both sides are looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoDAsync_v2(
    to: usize,
    from: usize,
    bytes: usize,
    _stream: usize,
) -> Code {
    // SAFETY: both sides are the device's.
    unsafe { copy("cuMemcpyDtoDAsync", to, from, bytes, [Some(to), Some(from)]) }
}

/// An error's name.
///
/// # Safety
/// `text` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: Code, text: *mut *const c_char) -> Code {
    let error = ERRORS.iter().find(|(known, ..)| *known == code);
    let name = error.map_or(c"CUDA_ERROR_UNKNOWN", |(_, name, _)| name);
    // SAFETY: by this function's contract.
    unsafe { put(text, name.as_ptr()) }
}

/// Gives the meaning of an error.
///
/// # Safety
/// `text` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(code: Code, text: *mut *const c_char) -> Code {
    let error = ERRORS.iter().find(|(known, ..)| *known == code);
    let words = error.map_or(c"unknown error", |(.., words)| words);
    // SAFETY: by this function's contract.
    unsafe { put(text, words.as_ptr()) }
}
