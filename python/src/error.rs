//! The package's exceptions: classes of `mdh.errors`, made here by their names.

use pyo3::prelude::*;
use pyo3::types::PyType;

use mdh_compiler::error::{Error, ErrorKind};
use mdh_compiler::library::words::{Mistake, Wrong};
use mdhrt::failure::{Failure, Status};

/// An exception of a class of `mdh.errors`.
pub fn new(py: Python, class: &str, message: &str) -> PyErr {
    let class = || -> PyResult<Bound<PyType>> {
        let class = py.import("mdh.errors")?.getattr(class)?;
        Ok(class.cast_into::<PyType>()?)
    };
    match class() {
        Ok(class) => PyErr::from_type(class, message.to_string()),
        Err(error) => error,
    }
}

/// A program or an argument of the package is wrong.
pub fn program(py: Python, message: &str) -> PyErr {
    new(py, "ProgramError", message)
}

/// The shape of an array is wrong.
pub fn shape(py: Python, message: &str) -> PyErr {
    new(py, "ShapeError", message)
}

/// Its elements are of another type.
pub fn element(py: Python, message: &str) -> PyErr {
    new(py, "DTypeError", message)
}

/// Its memory is elsewhere.
pub fn device(py: Python, message: &str) -> PyErr {
    new(py, "DeviceError", message)
}

/// A failure of the compiler; `said` is all that it has told of the program.
pub fn compiler(py: Python, error: &Error, said: &str) -> PyErr {
    let class = match error.kind() {
        ErrorKind::Input | ErrorKind::Usage | ErrorKind::OutputClosed => "ProgramError",
        ErrorKind::Check => "CheckError",
        ErrorKind::Resources => "ResourceError",
        ErrorKind::Device => "DeviceError",
        ErrorKind::Bug | ErrorKind::Interrupted => "InternalError",
    };
    new(py, class, &error.with_said(said))
}

/// A wrong argument of a call.
pub fn argument(py: Python, wrong: &Wrong) -> PyErr {
    match wrong.mistake {
        Mistake::Shape => shape(py, &wrong.message),
        Mistake::Device => device(py, &wrong.message),
    }
}

/// A failure of a call.
pub fn call(py: Python, failure: &Failure) -> PyErr {
    let message = &failure.message;
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let class = match failure.status {
        Status::Done | Status::Failed => "ProgramError",
        Status::NoMemory => "ResourceError",
        Status::Device => "DeviceError",
    };
    new(py, class, message)
}
