//! Failures of a GPU, as values.

use std::fmt;

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CudaErrorKind {
    /// There is no driver.
    NoDriver,
    /// There is no such device.
    NoDevice,
    /// Kernels are for another architecture than the device's.
    Architecture,
    /// The device has not enough memory.
    Memory,
    /// A launch asks for more than the device has.
    Limit,
    /// Kernels did not end in time.
    Time,
    /// A call of the driver failed.
    Failed,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Its kind.
    pub kind: CudaErrorKind,
    /// Found, expected, where: a sentence without a full stop.
    pub message: String,
}

impl Error {
    /// A failure of that kind.
    pub fn new(kind: CudaErrorKind, message: impl Into<String>) -> Error {
        let message = message.into();
        Error { kind, message }
    }

    /// A call of the driver failed; `about` says what it was for.
    pub fn from_driver(call: &str, about: &str, error: DriverError) -> Error {
        let kind = match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => CudaErrorKind::Memory,
            CUresult::CUDA_ERROR_NO_DEVICE | CUresult::CUDA_ERROR_INVALID_DEVICE => {
                CudaErrorKind::NoDevice
            }
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => CudaErrorKind::Architecture,
            CUresult::CUDA_ERROR_LAUNCH_TIMEOUT => CudaErrorKind::Time,
            _ => CudaErrorKind::Failed,
        };
        let text = |text: std::result::Result<&std::ffi::CStr, DriverError>| {
            text.map(|text| text.to_string_lossy().into_owned())
                .unwrap_or_else(|_| format!("error {}", error.0 as u32))
        };
        let (name, words) = (text(error.error_name()), text(error.error_string()));
        Error::new(kind, format!("{call} failed {about}: {name}, {words}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
