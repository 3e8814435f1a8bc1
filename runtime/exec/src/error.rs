//! Ends of `mdh-exec`.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | it worked |
//! | 1 | the package is none, or is damaged, or the program fails for its input |
//! | 2 | the command line is wrong |
//! | 3 | a result is not what the package says |
//! | 4 | there is not enough memory, on the GPU or beside it |
//! | 5 | there is no driver or no GPU, kernels are not for it, or it fails: a call of the driver, a limit, a kernel that does not end |

use std::fmt;

use mdhrt::failure::{Failure, Status};

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure, with the exit code of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The exit code.
    pub code: u8,
    /// Found, expected, where: a sentence without a full stop.
    pub message: String,
}

impl Error {
    /// The package is wrong, or the program fails.
    pub fn input(message: impl Into<String>) -> Error {
        let (code, message) = (1, message.into());
        Error { code, message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<mdh_cuda::Error> for Error {
    fn from(error: mdh_cuda::Error) -> Error {
        Error {
            code: match error.kind {
                mdh_cuda::CudaErrorKind::Memory => 4,
                _ => 5,
            },
            message: error.message,
        }
    }
}

impl From<mdh_arrays::Error> for Error {
    fn from(error: mdh_arrays::Error) -> Error {
        use mdh_arrays::Error as Array;
        Error {
            code: match error {
                Array::Size { .. } | Array::Memory { .. } => 4,
                Array::Bytes { .. } => 1,
            },
            message: error.to_string(),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error {
            code: match failure.status {
                Status::Done | Status::Failed => 1,
                Status::NoMemory => 4,
                Status::Device => 5,
            },
            message: failure.message,
        }
    }
}
