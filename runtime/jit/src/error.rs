//! Errors, as values.

use std::fmt;

use crate::Slow;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// LLVM refused something; its own message. Unless the IR was written by hand this is a bug.
    Llvm {
        /// The step that failed (`parsing LLVM IR`).
        doing: &'static str,
        /// LLVM's message.
        message: String,
    },
    /// LLVM does not come to an end, also with less to do.
    Slow(Slow),
    /// There is no function of that name to call.
    UnknownFunction {
        /// The name that was asked for.
        name: String,
        /// The functions that are there.
        known: Vec<String>,
    },
    /// A call passes another number of arguments than the function takes.
    ArgumentCount {
        /// The function.
        function: String,
        /// Parameters, plus one where there is a result.
        expected: usize,
        /// Pointers that were passed.
        found: usize,
    },
    /// Arrays cannot be made.
    Array(mdh_arrays::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Llvm { doing, message } => write!(f, "{doing}: {message}"),
            Error::Slow(slow) => slow.fmt(f),
            Error::UnknownFunction { name, known } if known.is_empty() => {
                write!(f, "no compiled function '{name}', the module defines none")
            }
            Error::UnknownFunction { name, known } => {
                write!(
                    f,
                    "no compiled function '{name}'; there are: {}",
                    known.join(", ")
                )
            }
            Error::ArgumentCount {
                function,
                expected,
                found,
            } => write!(
                f,
                "calling '{function}': found {found} argument pointers, expected {expected}"
            ),
            Error::Array(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<mdh_arrays::Error> for Error {
    fn from(error: mdh_arrays::Error) -> Error {
        Error::Array(error)
    }
}
