//! Compiled code as an object that is called with arrays.
//!
//! ```text
//! arrays --Memory--> Words --Loaded::call--> results, or an exception
//! ```
//!
//! A call checks what it is given against the code's interface, fills a word for each address, extent and stride, and
//! lets other threads of Python go on while the code runs. What is read may be copied where its layout is another; what
//! is written in place may not.
//!
//! Arrays are all in the processor's memory, or all in that of one GPU, which then computes. There is code for each such
//! place that arrays have been in: what is missing is made by the class in Python.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple};

use mdh_compiler::library::arrays::{ArrayPlace, NumberType};
use mdh_compiler::library::callable::Callable;
use mdh_compiler::library::loaded::Loaded;
use mdh_compiler::library::words::Words;
use mdhrt::interface::{
    Access, Buffer, BufferLayout, Element, Interface, Parameter, ParameterKind,
};

use crate::array::{Memory, as_array, contiguous};
use crate::compile::Code;
use crate::element::sign_of;
use crate::error;
use crate::results::{Allocator, Library, current_stream};

/// A compiled function: called with one array or number for each argument, in order, it returns its result, or a tuple
/// of several.
#[pyclass(frozen, subclass, module = "mdh._mdh")]
pub struct Function {
    /// The code by the place of its arrays, which another schedule replaces.
    loaded: RwLock<BTreeMap<ArrayPlace, Arc<Loaded>>>,
    interface: Interface,
    allocators: Vec<Allocator>,
}

#[pymethods]
impl Function {
    /// A function with an interface, and the names of the types of its parameters' elements where these are other than the
    /// interface's (`uint8` for an `i8`). It has no code yet.
    #[new]
    #[pyo3(signature = (interface, dtypes=None))]
    fn new(py: Python, interface: &str, dtypes: Option<Vec<String>>) -> PyResult<Function> {
        let interface = Callable::interface_of(interface);
        let interface = interface.map_err(|error| error::compiler(py, &error, ""))?;
        Ok(Function::of_interface(interface, dtypes))
    }

    /// Opens a function of a shared library.
    #[staticmethod]
    #[pyo3(signature = (path, function, dtypes=None))]
    fn open(
        py: Python,
        path: PathBuf,
        function: &str,
        dtypes: Option<Vec<String>>,
    ) -> PyResult<Function> {
        let opened = Loaded::open(&path, function);
        let (loaded, interface) = opened.map_err(|error| error::compiler(py, &error, ""))?;
        let opened = Function::of_interface(interface, dtypes);
        opened.put(ArrayPlace::Host, loaded);
        Ok(opened)
    }

    /// Takes code for arrays in the memory of a GPU, by its number, or in the processor's; `gpu` is the number of the one
    /// that computes, if one does.
    #[pyo3(signature = (code, place=None, gpu=None))]
    fn load(&self, py: Python, code: &Code, place: Option<u32>, gpu: Option<u32>) -> PyResult<()> {
        let callable = &code.callable;
        if callable.interface != self.interface {
            let message = format!(
                "found code of\n{}\nexpected that of\n{}",
                callable.interface, self.interface
            );
            return Err(error::program(py, &message));
        }
        let loaded = Loaded::new(callable, gpu);
        let loaded = loaded.map_err(|error| error::compiler(py, &error, ""))?;
        let place = place.map_or(ArrayPlace::Host, ArrayPlace::Cuda);
        self.put(place, loaded);
        Ok(())
    }

    /// Forgets code, which calls that come need again.
    fn forget(&self) {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        loaded.clear();
    }

    /// The function's name, then a line for each parameter.
    #[getter]
    fn interface(&self) -> String {
        self.interface.to_string()
    }

    /// The names of its arguments.
    #[getter]
    fn argument_names(&self) -> Vec<String> {
        let arguments = self.interface.parameters[..self.interface.inputs()].iter();
        arguments.map(|parameter| parameter.name.clone()).collect()
    }

    #[pyo3(signature = (*arguments, out=None))]
    fn __call__<'py>(
        this: &Bound<'py, Function>,
        arguments: &Bound<'py, PyTuple>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, function) = (arguments.py(), this.get());
        let mut call = Call::new(function, py);
        function.check_count(arguments)?;
        for (number, argument) in arguments.iter_borrowed().enumerate() {
            call.argument(number, &argument)?;
        }
        let out = function.given_results(py, out)?;
        let inputs = function.interface.inputs();
        for number in inputs..function.interface.parameters.len() {
            let given = out.as_ref().map(|out| out.get_item(number - inputs));
            call.result(number, given.transpose()?)?;
        }
        let place = call.words.place().unwrap_or(ArrayPlace::Host);
        let loaded = Function::code(this, place)?;
        call.run(&loaded)
    }
}

impl Function {
    /// The code for arrays in some place: what is there, else what the class makes (`_load_for`).
    fn code(this: &Bound<Function>, place: ArrayPlace) -> PyResult<Arc<Loaded>> {
        let (py, function) = (this.py(), this.get());
        if let Some(loaded) = function.loaded_for(place) {
            return Ok(loaded);
        }
        if let Ok(make) = this.getattr(intern!(py, "_load_for")) {
            make.call1((place.gpu(),))?;
        }
        function.loaded_for(place).ok_or_else(|| {
            let message = format!(
                "{}: found arrays in {place}, expected arrays in the processor's memory: that is what the code is for",
                function.interface.name
            );
            error::device(py, &message)
        })
    }

    fn loaded_for(&self, place: ArrayPlace) -> Option<Arc<Loaded>> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        loaded.get(&place).cloned()
    }

    fn put(&self, place: ArrayPlace, code: Loaded) {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        loaded.insert(place, Arc::new(code));
    }

    fn of_interface(interface: Interface, dtypes: Option<Vec<String>>) -> Function {
        let parameters = interface.parameters.iter().enumerate();
        let named = |(number, parameter): (usize, &Parameter)| {
            let given = dtypes.as_ref().and_then(|dtypes| dtypes.get(number));
            match given {
                Some(name) => Allocator::new(name.clone(), sign_of(name)),
                None => {
                    let name = NumberType::of_element(parameter.element).to_string();
                    Allocator::new(name, None)
                }
            }
        };
        Function {
            allocators: parameters.map(named).collect(),
            loaded: RwLock::default(),
            interface,
        }
    }

    fn check_count(&self, arguments: &Bound<PyTuple>) -> PyResult<()> {
        let expected = self.interface.inputs();
        if arguments.len() == expected {
            return Ok(());
        }
        let names = self.argument_names().join(", ");
        let message = format!(
            "{}: found {} arguments, expected {expected}: {names}",
            self.interface.name,
            arguments.len(),
        );
        Err(error::program(arguments.py(), &message))
    }

    /// The arrays of `out`, one for each result.
    fn given_results<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(out) = out.filter(|out| !out.is_none()) else {
            return Ok(None);
        };
        let given = match out.cast::<PyTuple>() {
            Ok(given) => given.clone(),
            Err(_) => PyTuple::new(py, [out])?,
        };
        let results = self.interface.parameters.len() - self.interface.inputs();
        match given.len() == results {
            true => Ok(Some(given)),
            false => {
                let message = format!(
                    "{}: out has {} arrays, expected {results}, one for each result",
                    self.interface.name,
                    given.len()
                );
                Err(error::program(py, &message))
            }
        }
    }
}

/// A call as it is prepared.
struct Call<'f, 'py> {
    function: &'f Function,
    py: Python<'py>,
    words: Words<'f>,
    /// The library of the first array.
    library: Option<Library>,
    /// Arrays whose memory the words point to.
    kept: Vec<Memory<'py>>,
    results: Vec<Outcome<'py>>,
}

/// Destination of a result.
enum Outcome<'py> {
    /// An array that was made for it, of a library; the parameter's number.
    Made(Bound<'py, PyAny>, Library, usize),
    /// An array of the caller's.
    Given(Bound<'py, PyAny>),
    /// A copy, and the caller's array, whose layout is another: as it was given, and as one of a library.
    Copied {
        copy: Bound<'py, PyAny>,
        array: Bound<'py, PyAny>,
        given: Bound<'py, PyAny>,
    },
    /// A number.
    Scalar(Box<u64>, Element),
}

impl<'f, 'py> Call<'f, 'py> {
    fn new(function: &'f Function, py: Python<'py>) -> Call<'f, 'py> {
        Call {
            function,
            py,
            words: Words::new(&function.interface),
            library: None,
            kept: Vec::new(),
            results: Vec::new(),
        }
    }

    fn argument(&mut self, number: usize, argument: &Bound<'py, PyAny>) -> PyResult<()> {
        let parameter = &self.function.interface.parameters[number];
        match &parameter.kind {
            ParameterKind::Value => {
                let word = self.scalar(number, parameter.element, argument)?;
                self.words.value(word);
                Ok(())
            }
            ParameterKind::Buffer(buffer) => {
                let memory = self.memory(number, argument)?;
                if self.library.is_none() {
                    self.library = Some(Library::from_array(argument)?);
                }
                let is_read = buffer.access == Access::Read;
                if !is_read && !memory.is_writeable {
                    let message = format!(
                        "{}: found an array that is read-only, expected one that may be written",
                        self.words.position(number)
                    );
                    return Err(error::program(self.py, &message));
                }
                let is_copied = is_read && buffer.layout == BufferLayout::Rows;
                let memory = match is_copied && !memory.array.is_row_major() {
                    false => memory,
                    true => {
                        let copied = contiguous(argument)?;
                        self.memory(number, &copied)?
                    }
                };
                self.push(buffer, memory)
            }
            ParameterKind::Result => Err(error::program(self.py, "a result among arguments")),
        }
    }

    /// The memory of an array whose elements are a parameter's.
    fn memory(&mut self, number: usize, array: &Bound<'py, PyAny>) -> PyResult<Memory<'py>> {
        let py = self.py;
        let allocator = &self.function.allocators[number];
        let Some(memory) = Memory::shown_by(array)? else {
            let message = format!(
                "{}: found {}, expected an array of {} (of numpy, torch, jax, or anything that speaks DLPack)",
                self.words.position(number),
                array.get_type().name()?,
                allocator.dtype(),
            );
            return Err(error::element(py, &message));
        };
        let parameter = &self.function.interface.parameters[number];
        if !memory.array.number.is(parameter.element, allocator.sign()) {
            let dtype = match array.getattr(intern!(py, "dtype")) {
                Ok(dtype) => dtype,
                Err(_) => array.get_type().into_any(),
            };
            let message = format!(
                "{}: found elements of {dtype}, expected {}: convert the array, or compile for its type",
                self.words.position(number),
                allocator.dtype()
            );
            return Err(error::element(py, &message));
        }
        let placed = self.words.expect_place(number, &memory.array);
        placed.map_err(|wrong| error::argument(py, &wrong))?;
        Ok(memory)
    }

    /// Adds the words of a buffer.
    fn push(&mut self, buffer: &Buffer, memory: Memory<'py>) -> PyResult<()> {
        let pushed = self.words.array(buffer, &memory.array);
        pushed.map_err(|wrong| error::argument(self.py, &wrong))?;
        self.kept.push(memory);
        Ok(())
    }

    fn result(&mut self, number: usize, given: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        let function = self.function;
        let parameter = &function.interface.parameters[number];
        let buffer = match &parameter.kind {
            ParameterKind::Buffer(buffer) => buffer,
            ParameterKind::Value | ParameterKind::Result => {
                let mut room = Box::new(0u64);
                let address = (&raw mut *room).expose_provenance() as u64;
                self.words.value(address);
                self.results.push(Outcome::Scalar(room, parameter.element));
                return Ok(());
            }
        };
        let library = self.library.unwrap_or(Library::Numpy);
        let Some(given) = given else {
            let shape = self.shape(number, buffer)?;
            let place = self.words.place().unwrap_or(ArrayPlace::Host);
            let made = function.allocators[number].empty(library, &shape, place)?;
            let memory = self.memory(number, &made)?;
            self.results.push(Outcome::Made(made, library, number));
            return self.push(buffer, memory);
        };
        let array = as_array(&given)?;
        let memory = self.memory(number, &array)?;
        if !memory.is_writeable {
            let message = format!(
                "{}: out is read-only, expected an array that may be written",
                self.words.position(number)
            );
            return Err(error::program(self.py, &message));
        }
        if memory.array.is_row_major() || buffer.layout != BufferLayout::Rows {
            self.results.push(Outcome::Given(given));
            return self.push(buffer, memory);
        }
        let copy = contiguous(&array)?;
        let memory = self.memory(number, &copy)?;
        self.results.push(Outcome::Copied { copy, array, given });
        self.push(buffer, memory)
    }

    /// The shape of a result, which may follow from the arguments.
    fn shape(&self, number: usize, buffer: &Buffer) -> PyResult<Bound<'py, PyTuple>> {
        match self.words.shape(buffer) {
            Some(extents) => PyTuple::new(self.py, extents),
            None => {
                let message = format!(
                    "{}: its shape does not follow from the arguments, expected an array for it: out=..",
                    self.words.position(number)
                );
                Err(error::shape(self.py, &message))
            }
        }
    }

    /// The word of a number.
    fn scalar(
        &self,
        number: usize,
        element: Element,
        argument: &Bound<'py, PyAny>,
    ) -> PyResult<u64> {
        let wrong = |expected: &str| {
            let given = argument.repr().map(|text| text.to_string());
            let message = format!(
                "{}: found {}, expected {expected}",
                self.words.position(number),
                given.unwrap_or_default()
            );
            error::element(self.py, &message)
        };
        let integer = |bits: u32| -> PyResult<u64> {
            let value = argument.extract::<i64>();
            let value = value.map_err(|_| wrong(&format!("an integer of {bits} bits")))?;
            let fits = bits == 64 || (-(1i64 << (bits - 1))..1i64 << bits).contains(&value);
            match fits {
                true => Ok(value as u64 & (u64::MAX >> (64 - bits))),
                false => Err(wrong(&format!("an integer of {bits} bits"))),
            }
        };
        let float = || argument.extract::<f64>().map_err(|_| wrong("a number"));
        Ok(match element {
            Element::I1 => u64::from(argument.extract::<bool>().map_err(|_| wrong("a bool"))?),
            Element::I8 => integer(8)?,
            Element::I16 => integer(16)?,
            Element::I32 => integer(32)?,
            Element::I64 => integer(64)?,
            Element::F32 => u64::from((float()? as f32).to_bits()),
            Element::F64 => float()?.to_bits(),
            Element::F16 => u64::from(half::f16::from_f64(float()?).to_bits()),
            Element::BF16 => u64::from(half::bf16::from_f64(float()?).to_bits()),
        })
    }

    /// Calls the code, and makes what the caller gets of its results.
    fn run(self, loaded: &Loaded) -> PyResult<Bound<'py, PyAny>> {
        let (py, function) = (self.py, self.function);
        let (words, place) = (self.words.words(), self.words.place());
        let stream = match (place.and_then(ArrayPlace::gpu), self.library) {
            (Some(gpu), Some(library)) => current_stream(py, library, gpu)?,
            _ => None,
        };
        // SAFETY: the arrays' memory was checked against the interface, and `kept` keeps it.
        let done = py.detach(|| unsafe { loaded.call(words, stream) });
        done.map_err(|failure| error::call(py, &failure))?;
        let mut results = Vec::with_capacity(self.results.len());
        for outcome in self.results {
            results.push(match outcome {
                Outcome::Made(array, library, number) => {
                    function.allocators[number].finished(library, array)?
                }
                Outcome::Given(array) => array,
                Outcome::Copied { copy, array, given } => {
                    array.set_item(py.Ellipsis(), copy)?;
                    given
                }
                Outcome::Scalar(word, element) => number(py, *word, element)?,
            });
        }
        match results.len() {
            0 => Ok(py.None().into_bound(py)),
            1 => Ok(results.remove(0)),
            _ => Ok(PyTuple::new(py, results)?.into_any()),
        }
    }
}

/// A number of Python's.
fn number<'py>(py: Python<'py>, word: u64, element: Element) -> PyResult<Bound<'py, PyAny>> {
    let float = |value: f64| PyFloat::new(py, value).into_any();
    let integer = |value: i64| -> PyResult<Bound<PyAny>> {
        let value: Bound<PyInt> = value.into_pyobject(py)?;
        Ok(value.into_any())
    };
    Ok(match element {
        Element::I1 => PyBool::new(py, word & 1 != 0).to_owned().into_any(),
        Element::I8 => integer(i64::from(word as i8))?,
        Element::I16 => integer(i64::from(word as i16))?,
        Element::I32 => integer(i64::from(word as i32))?,
        Element::I64 => integer(word as i64)?,
        Element::F16 => float(half::f16::from_bits(word as u16).to_f64()),
        Element::BF16 => float(half::bf16::from_bits(word as u16).to_f64()),
        Element::F32 => float(f64::from(f32::from_bits(word as u32))),
        Element::F64 => float(f64::from_bits(word)),
    })
}
