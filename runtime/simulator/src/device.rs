//! The simulated device's memory, and the findings about kernels on it.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use mdhrt::failure::{self, Failure};

use crate::report::Report;
use crate::shadow::Shadow;

/// Between buffers, so that what goes past one of them is not in another one.
const GAP: usize = 512;
/// Alignment of buffers.
const ALIGNMENT: usize = 256;

/// Memory of the device.
#[derive(Debug)]
pub struct Buffer {
    /// Its first byte.
    pub base: usize,
    /// Number of its bytes.
    pub bytes: usize,
    /// The last accesses to it.
    pub shadow: Shadow,
}

impl Buffer {
    fn layout(bytes: usize) -> Layout {
        let size = (bytes + GAP).next_multiple_of(ALIGNMENT);
        Layout::from_size_align(size, ALIGNMENT).unwrap_or_else(|_| {
            panic!("{bytes} bytes fit no address space");
        })
    }

    fn new(bytes: usize) -> Option<Buffer> {
        // SAFETY: the size is not zero.
        let base = unsafe { alloc(Buffer::layout(bytes)) } as usize;
        (base != 0).then(|| Buffer {
            base,
            bytes,
            shadow: Shadow::new(base, bytes),
        })
    }

    /// Returns whether bytes lie in it.
    pub fn has(&self, address: usize, bytes: usize) -> bool {
        address >= self.base && address + bytes <= self.base + self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, once.
        unsafe { dealloc(self.base as *mut u8, Buffer::layout(self.bytes)) }
    }
}

/// Device that kernels run on.
#[derive(Debug, Default)]
pub struct Device {
    /// By address.
    buffers: RwLock<Vec<Arc<Buffer>>>,
    report: Mutex<Report>,
}

/// The one device of the process.
static DEVICE: Device = Device {
    buffers: RwLock::new(Vec::new()),
    report: Mutex::new(Report {
        findings: std::collections::BTreeMap::new(),
        counters: std::collections::BTreeMap::new(),
        launches: 0,
        blocks: 0,
    }),
};

impl Device {
    /// The one of the process.
    pub fn own() -> &'static Device {
        &DEVICE
    }

    /// Its buffers, by address.
    pub fn buffers(&self) -> Vec<Arc<Buffer>> {
        let buffers = self.buffers.read();
        buffers.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// New memory; `None` if there is not enough.
    pub fn allocate(&self, bytes: usize) -> Option<usize> {
        let buffer = Arc::new(Buffer::new(bytes)?);
        let base = buffer.base;
        let mut buffers = self.buffers.write().unwrap_or_else(PoisonError::into_inner);
        let place = buffers.partition_point(|other| other.base < base);
        buffers.insert(place, buffer);
        Some(base)
    }

    /// Frees what was allocated; whether there was something.
    pub fn free(&self, base: usize) -> bool {
        let mut buffers = self.buffers.write().unwrap_or_else(PoisonError::into_inner);
        let before = buffers.len();
        buffers.retain(|buffer| buffer.base != base);
        buffers.len() < before
    }

    /// Returns the findings so far.
    pub fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was found.
    pub fn take_report(&self) -> Report {
        std::mem::take(&mut *self.report())
    }
}

/// Memory of the device; ends the program if there is not enough.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn mdh_sim_allocate(bytes: i64) -> *mut c_void {
    let size = usize::try_from(bytes).ok();
    let base = size.and_then(|bytes| Device::own().allocate(bytes));
    match base {
        Some(base) => base as *mut c_void,
        None => failure::raise(Failure::new(format!(
            "out of device memory: {bytes} bytes were asked for"
        ))),
    }
}

/// Frees memory of the device.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn mdh_sim_free(base: *mut c_void) {
    if !Device::own().free(base as usize) {
        failure::raise(Failure::new(
            "bug: device memory is freed that was not allocated",
        ));
    }
}

/// Copies between the host and the device, or within one of them.
///
/// # Safety
/// Both sides have that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_transfer(
    target: *mut c_void,
    source: *const c_void,
    bytes: i64,
) {
    let bytes = usize::try_from(bytes).unwrap_or(0);
    let buffers = Device::own().buffers();
    if let Some(n) = find(&buffers, target as usize).filter(|_| bytes > 0) {
        let buffer = &buffers[n];
        if !buffer.has(target as usize, bytes) {
            failure::raise(Failure::new(format!(
                "{bytes} bytes are copied to byte {} of a buffer of {} on the device",
                target as usize - buffer.base,
                buffer.bytes
            )));
        }
        buffer.shadow.fill(target as usize, bytes);
    }
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy(source.cast::<u8>(), target.cast::<u8>(), bytes) }
}

/// The buffer that an address lies in, among buffers by address.
pub fn find(buffers: &[Arc<Buffer>], address: usize) -> Option<usize> {
    let place = buffers.partition_point(|buffer| buffer.base <= address);
    let last = place.checked_sub(1)?;
    (address < buffers[last].base + buffers[last].bytes.max(1)).then_some(last)
}
