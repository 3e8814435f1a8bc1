//! Memory of arrays, as their libraries show it: numpy's `__array_struct__`, else `__dlpack__`, else the buffer protocol,
//! by way of numpy.
//!
//! Both are read where they are, without a call of the library's Python code for each field, and without copies. What
//! shows memory is kept for as long as it is looked at.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyCapsule, PyCapsuleMethods, PyType};

use mdh_compiler::library::arrays::{
    Array, ArrayPlace, Axes, DL_CUDA, DL_CUDA_MANAGED, DlTensor, NumberType, parts,
};
use mdh_cuda::Visitor;

use crate::element;
use crate::error;
use crate::results::Library;

/// numpy's `PyArrayInterface`, whose layout is fixed since its version 2.
#[repr(C)]
struct NumpyInterface {
    version: c_int,
    rank: c_int,
    kind: u8,
    bytes: c_int,
    flags: c_int,
    shape: *const isize,
    strides: *const isize,
    data: *mut c_void,
    descriptor: *mut pyo3::ffi::PyObject,
}

/// Flags of it.
const NOT_SWAPPED: c_int = 0x200;
const WRITEABLE: c_int = 0x400;

/// The memory of an array.
pub struct Memory<'py> {
    /// Its elements and their place.
    pub array: Array,
    /// True if it may be written.
    pub is_writeable: bool,
    /// The object that keeps it.
    _owner: Bound<'py, PyAny>,
}

/// torch's class, and its function that makes a capsule without torch's Python code: several times as fast.
struct Torch {
    tensor: Py<PyType>,
    show: Py<PyAny>,
}

/// Known once a tensor was seen.
static TORCH: PyOnceLock<Torch> = PyOnceLock::new();

impl Torch {
    /// True for tensors whose memory has their numbers, and that no gradient is asked of: torch's own code refuses others.
    fn is_plain(array: &Bound<PyAny>) -> PyResult<bool> {
        let py = array.py();
        let has_gradient = array.getattr(intern!(py, "requires_grad"))?.is_truthy()?;
        Ok(!has_gradient && !array.call_method0(intern!(py, "is_neg"))?.is_truthy()?)
    }

    /// Remembers torch if an array is a plain tensor of it.
    fn notice(array: &Bound<PyAny>) -> PyResult<()> {
        let py = array.py();
        let class = array.get_type();
        let is_tensor = class.module()? == "torch" && class.name()? == "Tensor";
        if is_tensor && TORCH.get(py).is_none() {
            let show = py.import("torch.utils.dlpack")?.getattr("to_dlpack")?;
            let tensor = class.unbind();
            let show = show.unbind();
            // Whoever came first is right.
            let _ = TORCH.set(py, Torch { tensor, show });
        }
        Ok(())
    }
}

impl<'py> Memory<'py> {
    /// The memory of an array; none of an object that shows none. What its library still does with memory of a GPU is
    /// done before the stream goes on that a call will use.
    pub fn shown_by(array: &Bound<'py, PyAny>) -> PyResult<Option<Memory<'py>>> {
        let py = array.py();
        if let Some(torch) = TORCH.get(py)
            && array.get_type().is(&torch.tensor)
            && Torch::is_plain(array)?
        {
            return Memory::of_dlpack(torch.show.bind(py).call1((array,))?).map(Some);
        }
        match array.getattr(intern!(py, "__array_struct__")) {
            Ok(shown) => return Memory::of_numpy(array, shown).map(Some),
            Err(error) if error.is_instance_of::<PyAttributeError>(py) => {}
            Err(error) => return Err(error),
        }
        Torch::notice(array)?;
        match array.getattr(intern!(py, "__dlpack__")) {
            Ok(show) => {
                let shown = match stream_argument(array)? {
                    None => show.call0(),
                    Some(stream) => {
                        let arguments = [("stream", stream)].into_py_dict(py)?;
                        show.call((), Some(&arguments))
                    }
                };
                let shown = shown.map_err(|failure| {
                    match failure.is_instance_of::<PyBufferError>(py) {
                        true => {
                            let message = format!(
                                "found an array that does not show its memory, {}: expected one that does",
                                failure.value(py)
                            );
                            error::program(py, &message)
                        }
                        false => failure,
                    }
                })?;
                let is_writeable = Library::from_array(array)? != Library::Jax;
                let memory = Memory::of_dlpack(shown)?;
                Ok(Some(Memory {
                    is_writeable,
                    ..memory
                }))
            }
            Err(error) if error.is_instance_of::<PyAttributeError>(py) => {
                let arrays = py.import(intern!(py, "mdh.arrays"))?;
                let shown = arrays.call_method1(intern!(py, "from_buffer"), (array,))?;
                match shown.is_none() {
                    true => Ok(None),
                    false => Memory::shown_by(&shown),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn of_numpy(array: &Bound<'py, PyAny>, shown: Bound<'py, PyAny>) -> PyResult<Memory<'py>> {
        let py = array.py();
        let capsule = shown.cast_into::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(None)?;
        // SAFETY: such a capsule holds this structure, which lives as long as the capsule.
        let interface = unsafe { pointer.cast::<NumpyInterface>().as_ref() };
        if interface.version != 2 {
            let message = format!(
                "__array_struct__: found version {}, expected 2",
                interface.version
            );
            return Err(error::element(py, &message));
        }
        let rank = interface.rank as usize;
        // SAFETY: there are as many extents and strides.
        let (shape, strides) =
            unsafe { (parts(interface.shape, rank), parts(interface.strides, rank)) };
        let bytes = interface.bytes as usize;
        let mut number = element::of_numpy(interface.kind, bytes);
        if interface.kind == b'V' {
            let name = array.getattr(intern!(py, "dtype"))?.to_string();
            if name != "bfloat16" {
                number = NumberType::OTHER;
            }
        }
        let size = bytes.max(1) as i64;
        let is_whole = strides.iter().all(|stride| *stride as i64 % size == 0);
        if interface.flags & NOT_SWAPPED == 0 || !is_whole {
            number = NumberType::OTHER;
        }
        Ok(Memory {
            array: Array {
                address: interface.data as u64,
                number,
                shape: Axes::new(rank, |axis| shape[axis] as i64),
                strides: Axes::new(rank, |axis| strides[axis] as i64 / size),
                place: ArrayPlace::Host,
            },
            is_writeable: interface.flags & WRITEABLE != 0,
            _owner: capsule.into_any(),
        })
    }

    fn of_dlpack(shown: Bound<'py, PyAny>) -> PyResult<Memory<'py>> {
        let py = shown.py();
        let capsule = shown.cast_into::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(c"dltensor"))?;
        // SAFETY: a capsule of this name starts with this structure, which lives as long as it: it is not taken over,
        // so that the capsule frees it. Its shape and its strides are whole.
        let array = unsafe { Array::of_dlpack(pointer.cast::<DlTensor>().as_ref()) };
        Ok(Memory {
            array: array.map_err(|wrong| error::argument(py, &wrong))?,
            // What cannot be written is not shown by this version of the protocol.
            is_writeable: true,
            _owner: capsule.into_any(),
        })
    }
}

/// The argument of `__dlpack__` for an array on an NVIDIA GPU: the stream that it is used on. Those of torch and cupy are
/// used on the stream on which they are made.
fn stream_argument(array: &Bound<PyAny>) -> PyResult<Option<i64>> {
    const NONE_TO_ORDER: i64 = -1;
    let py = array.py();
    let Ok(place) = array.call_method0(intern!(py, "__dlpack_device__")) else {
        return Ok(None);
    };
    let (kind, number): (i32, u32) = place.extract()?;
    if ![DL_CUDA, DL_CUDA_MANAGED].contains(&kind) {
        return Ok(None);
    }
    match Library::from_array(array)? {
        Library::Torch | Library::Cupy => Ok(Some(NONE_TO_ORDER)),
        Library::Numpy | Library::Jax => {
            let stream = Visitor::stream(number);
            let stream = stream.map_err(|error| error::compiler(py, &error.into(), ""))?;
            Ok(Some(stream as i64))
        }
    }
}

/// A copy of an array in row-major order, of its own library.
pub fn contiguous<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let copy_by = |library: &Bound<'py, PyModule>, array: &Bound<'py, PyAny>| {
        library.call_method1(intern!(py, "ascontiguousarray"), (array,))
    };
    match Library::from_array(array)? {
        Library::Torch => array.call_method0(intern!(py, "contiguous")),
        Library::Numpy | Library::Jax => {
            let numpy = py.import(intern!(py, "numpy"))?;
            match array.hasattr(intern!(py, "__array__"))? {
                true => copy_by(&numpy, array),
                false => copy_by(
                    &numpy,
                    &numpy.call_method1(intern!(py, "from_dlpack"), (array,))?,
                ),
            }
        }
        Library::Cupy => copy_by(&py.import(intern!(py, "cupy"))?, array),
    }
}

/// An array over memory that is shown by the buffer protocol alone; anything else as it is.
pub fn as_array<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    if given.hasattr(intern!(py, "dtype"))? || given.hasattr(intern!(py, "__dlpack__"))? {
        return Ok(given.clone());
    }
    let arrays = py.import(intern!(py, "mdh.arrays"))?;
    let shown = arrays.call_method1(intern!(py, "from_buffer"), (given,))?;
    Ok(if shown.is_none() {
        given.clone()
    } else {
        shown
    })
}
