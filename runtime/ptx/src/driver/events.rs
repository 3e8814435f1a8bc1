//! Events: when something is done.

use std::ffi::c_uint;
use std::time::Instant;

use super::{Code, INVALID_VALUE, NOT_READY, SUCCESS, put, with};

/// Makes an event.
///
/// # Safety
/// `event` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut usize, _flags: c_uint) -> Code {
    with("cuEventCreate", |device| {
        let new = device.handle();
        device.events.insert(new, None);
        // SAFETY: by this function's contract.
        unsafe { put(event, new) }
    })
}

/// Notes when it is.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: usize, _stream: usize) -> Code {
    with("cuEventRecord", |device| {
        let now = (!device.hangs).then(Instant::now);
        match device.events.get_mut(&event) {
            Some(known) => {
                *known = now;
                SUCCESS
            }
            None => INVALID_VALUE,
        }
    })
}

/// Returns whether an event has happened.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: usize) -> Code {
    with("cuEventQuery", |device| match device.events.get(&event) {
        Some(Some(_)) => device.state(),
        Some(None) => NOT_READY,
        None => INVALID_VALUE,
    })
}

/// Milliseconds between two events.
///
/// # Safety
/// `time` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(time: *mut f32, start: usize, end: usize) -> Code {
    with("cuEventElapsedTime", |device| {
        let [start, end] = [start, end].map(|event| device.events.get(&event).copied().flatten());
        match (start, end) {
            (Some(start), Some(end)) => {
                let took = end.duration_since(start).as_secs_f32() * 1e3;
                // SAFETY: by this function's contract.
                unsafe { put(time, took) }
            }
            _ => NOT_READY,
        }
    })
}

/// The same, as newer drivers call it.
///
/// # Safety
/// `time` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime_v2(time: *mut f32, start: usize, end: usize) -> Code {
    // SAFETY: by this function's contract.
    unsafe { cuEventElapsedTime(time, start, end) }
}

/// Forgets an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: usize) -> Code {
    with("cuEventDestroy", |device| {
        match device.events.remove(&event) {
            Some(_) => SUCCESS,
            None => INVALID_VALUE,
        }
    })
}
