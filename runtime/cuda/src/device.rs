//! A GPU, and its driver's facts about it.

use std::fmt;
use std::str::FromStr;

use cudarc::driver::result::{self, primary_ctx};
use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute};

use crate::{CudaErrorKind, Error, Result};

/// Compute capability of a chip: `sm_90`, or `sm_90a` with what only that very chip has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The first number.
    pub major: u32,
    /// The second one.
    pub minor: u32,
    /// True if code for it runs on no later chip: the `a` of `sm_90a`.
    pub is_exact: bool,
}

impl Capability {
    /// Returns whether a chip of capability `device` runs PTX for this one.
    pub fn runs_on(self, device: Capability) -> bool {
        let [own, other] = [self, device].map(|c| (c.major, c.minor));
        match self.is_exact {
            true => own == other,
            false => own <= other,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = if self.is_exact { "a" } else { "" };
        write!(f, "sm_{}{}{letter}", self.major, self.minor)
    }
}

impl FromStr for Capability {
    type Err = String;

    /// `sm_80`, `sm_90a`, `sm_100f`: the last digit is the second number.
    fn from_str(text: &str) -> std::result::Result<Capability, String> {
        let wrong = || {
            format!(
                "found '{text}': expected a compute capability, such as sm_80, sm_90a or sm_100"
            )
        };
        let number = text.strip_prefix("sm_").ok_or_else(wrong)?;
        let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
        let is_number =
            (2..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        let value: u32 = digits
            .parse()
            .ok()
            .filter(|_| is_number)
            .ok_or_else(wrong)?;
        Ok(Capability {
            major: value / 10,
            minor: value % 10,
            is_exact: digits != number,
        })
    }
}

/// Facts about a device, from its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// Compute capability of its chip.
    pub capability: Capability,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of its memory.
    pub memory: u64,
    /// Bytes of its second-level cache.
    pub cache: u64,
    /// Bytes of shared memory that a block can have.
    pub shared: u64,
    /// Threads that a block can have.
    pub threads: u32,
    /// Blocks along each dimension of a grid.
    pub grid: [u32; 3],
    /// Threads along each dimension of a block.
    pub block: [u32; 3],
    /// The multiprocessors' highest clock, in kHz.
    pub clock: u32,
    /// The memory's highest clock, in kHz.
    pub memory_clock: u32,
    /// Bits of the memory's bus.
    pub bus: u32,
}

/// A GPU of this machine, made ready.
#[derive(Debug)]
pub struct Device {
    number: u32,
    raw: CUdevice,
    context: CUcontext,
    facts: Facts,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Device {}

impl Device {
    /// The device of that number, counted from 0. Loads the driver.
    pub fn open(number: u32) -> Result<Device> {
        if !is_driver_there() {
            return Err(Error::new(
                CudaErrorKind::NoDriver,
                "there is no driver of CUDA: found no libcuda.so or libcuda.so.1, expected one that \
                 NVIDIA's driver has installed",
            ));
        }
        let about = "to start the driver";
        result::init().map_err(|error| Error::from_driver("cuInit", about, error))?;
        let about = "to count devices";
        let count = result::device::get_count();
        let count = count.map_err(|error| Error::from_driver("cuDeviceGetCount", about, error))?;
        if i64::from(number) >= i64::from(count) {
            return Err(Error::new(
                CudaErrorKind::NoDevice,
                format!("there is no device {number}: the driver found {count}"),
            ));
        }
        let about = format!("for device {number}");
        let raw = result::device::get(number as i32);
        let raw = raw.map_err(|error| Error::from_driver("cuDeviceGet", &about, error))?;
        let facts = facts(raw, &about)?;
        // SAFETY: the device is there; it is released when this is dropped.
        let context = unsafe { primary_ctx::retain(raw) };
        let context = context
            .map_err(|error| Error::from_driver("cuDevicePrimaryCtxRetain", &about, error))?;
        let device = Device {
            number,
            raw,
            context,
            facts,
        };
        device.bind()?;
        Ok(device)
    }

    /// Its number, counted from 0.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the driver's facts about it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Makes it the device of the calling thread.
    pub fn bind(&self) -> Result<()> {
        // SAFETY: the context is retained while this lives.
        let done = unsafe { result::ctx::set_current(self.context) };
        done.map_err(|error| Error::from_driver("cuCtxSetCurrent", "for a thread", error))
    }
}

/// Returns whether there is a driver.
pub fn is_driver_there() -> bool {
    // SAFETY: loads a library, and calls nothing of it.
    unsafe { sys::is_culib_present() }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: retained once. There is nobody to tell of a failure.
        let _ = unsafe { primary_ctx::release(self.raw) };
    }
}

fn facts(raw: CUdevice, about: &str) -> Result<Facts> {
    use CUdevice_attribute::*;
    let get = |attribute: CUdevice_attribute| {
        // SAFETY: the device is there.
        let value = unsafe { result::device::get_attribute(raw, attribute) };
        let value =
            value.map_err(|error| Error::from_driver("cuDeviceGetAttribute", about, error))?;
        Ok(value.max(0) as u32)
    };
    let name = result::device::get_name(raw);
    // SAFETY: the device is there.
    let memory = unsafe { result::device::total_mem(raw) };
    Ok(Facts {
        name: name.map_err(|error| Error::from_driver("cuDeviceGetName", about, error))?,
        capability: Capability {
            major: get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            minor: get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            is_exact: false,
        },
        multiprocessors: get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        memory: memory.map_err(|error| Error::from_driver("cuDeviceTotalMem", about, error))?
            as u64,
        cache: u64::from(get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        shared: u64::from(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?),
        threads: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        grid: [
            get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        block: [
            get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        clock: get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        memory_clock: get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
        bus: get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_and_printed() {
        for text in ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120"] {
            let read: Capability = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        for text in ["", "sm_", "sm_9", "90", "sm_90b", "sm_9000", "sm_-9"] {
            assert!(text.parse::<Capability>().is_err(), "{text}");
        }
    }

    #[test]
    fn code_runs_on_later_chips_unless_it_is_for_one() {
        let runs = |code: &str, chip: &str| {
            let [code, chip] = [code, chip].map(|text| text.parse::<Capability>().unwrap());
            code.runs_on(chip)
        };
        assert!(runs("sm_80", "sm_90") && runs("sm_90", "sm_100") && runs("sm_90a", "sm_90"));
        assert!(!runs("sm_90a", "sm_100") && !runs("sm_100", "sm_90"));
    }
}
