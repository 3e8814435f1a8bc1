//! Arrays that results go into: of the library whose array comes first among the arguments.

use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyAttributeError, PyMemoryError, PyOverflowError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use mdh_compiler::library::arrays::{ArrayPlace, NumberKind};

use crate::error;

/// A library of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// numpy, and whatever shows memory as it does.
    Numpy,
    /// torch
    Torch,
    /// jax
    Jax,
    /// cupy
    Cupy,
}

/// The stream of a library on which a GPU does what it is told now; none of a library that does not say.
pub fn current_stream(py: Python, library: Library, gpu: u32) -> PyResult<Option<u64>> {
    match library {
        Library::Torch | Library::Cupy => {
            let arrays = py.import(intern!(py, "mdh.arrays"))?;
            let stream =
                arrays.call_method1(intern!(py, "current_stream"), (library.name(), gpu))?;
            Ok(Some(stream.extract()?))
        }
        Library::Numpy | Library::Jax => Ok(None),
    }
}

/// The number of libraries.
const LIBRARIES: usize = 4;

impl Library {
    /// The library of an array.
    pub fn from_array(array: &Bound<PyAny>) -> PyResult<Library> {
        let py = array.py();
        let module = array.get_type().getattr(intern!(py, "__module__"));
        let module = match module {
            Ok(module) => module.to_string(),
            Err(error) if error.is_instance_of::<PyAttributeError>(py) => String::new(),
            Err(error) => return Err(error),
        };
        let package = module.split('.').next().unwrap_or_default();
        Ok(match package {
            "torch" => Library::Torch,
            "jax" | "jaxlib" => Library::Jax,
            "cupy" => Library::Cupy,
            _ => Library::Numpy,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Library::Numpy => "numpy",
            Library::Torch => "torch",
            Library::Jax => "jax",
            Library::Cupy => "cupy",
        }
    }
}

/// Ways to make results of one type of elements, by library; asked of `mdh.arrays` once for each.
pub struct Allocator {
    dtype: String,
    sign: Option<NumberKind>,
    makers: [PyOnceLock<Maker>; LIBRARIES],
}

/// Functions of a library.
struct Maker {
    /// Shape and the number of a GPU, or None, to an array whose elements are not set.
    allocate: Py<PyAny>,
    /// Such an array to what users get; nothing to do if there is none.
    finish: Option<Py<PyAny>>,
}

impl Allocator {
    /// For elements of that name; of integers, those of one kind alone if it is given.
    pub fn new(dtype: String, sign: Option<NumberKind>) -> Allocator {
        Allocator {
            dtype,
            sign,
            makers: [const { PyOnceLock::new() }; LIBRARIES],
        }
    }

    /// The name of the elements.
    pub fn dtype(&self) -> &str {
        &self.dtype
    }

    /// The kind of integers, where it matters.
    pub fn sign(&self) -> Option<NumberKind> {
        self.sign
    }

    fn maker<'a>(&'a self, py: Python<'a>, library: Library) -> PyResult<&'a Maker> {
        self.makers[library as usize].get_or_try_init(py, || {
            let makers = py.import("mdh.arrays")?;
            let made = makers.call_method1("maker", (library.name(), &self.dtype))?;
            let (allocate, finish) = made.extract()?;
            Ok(Maker { allocate, finish })
        })
    }

    /// An array of that shape whose elements are not set.
    pub fn empty<'py>(
        &self,
        library: Library,
        shape: &Bound<'py, PyTuple>,
        place: ArrayPlace,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = shape.py();
        let maker = self.maker(py, library)?;
        let made = maker.allocate.bind(py).call1((shape, place.gpu()));
        made.map_err(|failure| {
            let about =
                |failure: &PyErr| format!("a result of shape {shape}: {}", failure.value(py));
            if failure.is_instance_of::<PyMemoryError>(py) {
                error::new(py, "ResourceError", &about(&failure))
            } else if failure.is_instance_of::<PyOverflowError>(py)
                || failure.get_type(py).is(PyValueError::type_object(py))
            {
                error::shape(py, &about(&failure))
            } else {
                failure
            }
        })
    }

    /// The array that users get of one that [`Allocator::empty`] made.
    pub fn finished<'py>(
        &self,
        library: Library,
        array: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        match &self.maker(py, library)?.finish {
            Some(finish) => finish.bind(py).call1((array,)),
            None => Ok(array),
        }
    }
}
