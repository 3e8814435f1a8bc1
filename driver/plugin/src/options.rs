//! `MdhOptions`: what C asks of a function that is compiled.

use std::ffi::c_char;
use std::mem;
use std::ptr;

use mdh_compiler::cli::Size;
use mdh_compiler::library::arrays::{DL_CPU, DL_CUDA};
use mdh_compiler::library::callable::{Gpu, Request};

use crate::status::{Result, array, misused, needed_text, text};

/// `MdhSize`
#[repr(C)]
pub struct DimensionSize {
    dimension: *const c_char,
    size: i64,
}

/// `MdhOptions`. All zeros are the default, which is also what an earlier version's options have behind their end.
#[repr(C)]
pub struct Options {
    bytes: usize,
    name: *const c_char,
    entry: *const c_char,
    schedule: *const c_char,
    sizes: *const DimensionSize,
    size_count: usize,
    device: i32,
    device_number: i32,
    arrays_on_device: u8,
    deterministic: u8,
    unchecked: u8,
    not_tuned: u8,
}

impl Options {
    /// The options that a pointer shows, or the default of a null pointer.
    ///
    /// # Errors
    /// If they are those of a later version.
    ///
    /// # Safety
    /// The pointer is null or to so many bytes as the options say.
    pub unsafe fn read(pointer: *const Options) -> Result<Options> {
        // SAFETY: null pointers and zeros are values of the fields.
        let mut options: Options = unsafe { mem::zeroed() };
        if pointer.is_null() {
            return Ok(options);
        }
        // SAFETY: the first field is there by this function's contract.
        let bytes = unsafe { ptr::read(pointer.cast::<usize>()) };
        let expected = mem::size_of::<Options>();
        if bytes < mem::size_of::<usize>() || bytes > expected {
            return Err(misused(format!(
                "options: found {bytes} bytes, expected at most {expected}: make them by mdhOptions(), of the header of \
                 this version"
            )));
        }
        // SAFETY: so many bytes are there by this function's contract, and fit.
        unsafe {
            ptr::copy_nonoverlapping(pointer.cast::<u8>(), (&raw mut options).cast::<u8>(), bytes);
        }
        Ok(options)
    }

    /// The request for a program, whose name is `name` unless the options have another one.
    ///
    /// # Errors
    /// If an option is none.
    ///
    /// # Safety
    /// The options' pointers are null or to what they are said to be.
    pub unsafe fn request(&self, name: &str, program: Vec<u8>) -> Result<Request> {
        let owned = |text: Option<&str>| text.map(str::to_string);
        // SAFETY: by this function's contract.
        unsafe {
            let sizes = array(self.sizes, self.size_count, "sizes")?.iter();
            let sizes = sizes.map(|given| {
                let dimension = needed_text(given.dimension, "sizes")?.to_string();
                let size = given.size;
                match size < 0 {
                    true => Err(misused(format!(
                        "sizes: found {size} for '{dimension}', expected at least 0"
                    ))),
                    false => Ok(Size { dimension, size }),
                }
            });
            Ok(Request {
                name: text(self.name, "name")?.unwrap_or(name).to_string(),
                program,
                entry: owned(text(self.entry, "entry")?),
                schedule: owned(text(self.schedule, "schedule")?),
                sizes: sizes.collect::<Result<Vec<Size>>>()?,
                is_tuned: self.not_tuned == 0,
                is_deterministic: self.deterministic != 0,
                is_unchecked: self.unchecked != 0,
                gpu: self.gpu()?,
            })
        }
    }

    fn gpu(&self) -> Result<Option<Gpu>> {
        match (self.device, u32::try_from(self.device_number)) {
            (0 | DL_CPU, _) => Ok(None),
            (DL_CUDA, Ok(number)) => Ok(Some(Gpu {
                number,
                has_arrays: self.arrays_on_device != 0,
            })),
            (DL_CUDA, Err(_)) => Err(misused(format!(
                "device_number: found {}, expected the number of a GPU, from 0",
                self.device_number
            ))),
            (kind, _) => Err(misused(format!(
                "device: found {kind}, expected MDH_CPU ({DL_CPU}) or MDH_CUDA ({DL_CUDA})"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_options_are_the_default() {
        // SAFETY: a null pointer.
        let request = unsafe {
            let options = Options::read(ptr::null()).unwrap();
            options.request("program", b"text".to_vec()).unwrap()
        };
        assert_eq!(request.name, "program");
        assert!(request.is_tuned && !request.is_unchecked && request.gpu.is_none());
    }

    #[test]
    fn options_of_an_earlier_version_are_shorter() {
        let mut options = unsafe { Options::read(ptr::null()) }.unwrap();
        options.entry = c"f".as_ptr();
        options.unchecked = 1;
        options.bytes = mem::offset_of!(Options, device);
        // SAFETY: the strings stay.
        let request = unsafe {
            let options = Options::read(&options).unwrap();
            options.request("program", Vec::new()).unwrap()
        };
        assert_eq!(request.entry.as_deref(), Some("f"));
        assert!(!request.is_unchecked);
        options.bytes = 1000;
        // SAFETY: no more than the first field is read.
        assert!(unsafe { Options::read(&options) }.is_err());
    }

    #[test]
    fn devices() {
        let mut options = unsafe { Options::read(ptr::null()) }.unwrap();
        (options.device, options.device_number) = (DL_CUDA, 1);
        let gpu = options.gpu().unwrap();
        let expected = Gpu {
            number: 1,
            has_arrays: false,
        };
        assert_eq!(gpu, Some(expected));
        options.device = 7;
        assert!(options.gpu().is_err());
    }
}
