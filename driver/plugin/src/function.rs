//! `MdhFunction`: a function that was compiled, or is that of a shared library, and what C asks of it.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use mdh_compiler::cli::Stage;
use mdh_compiler::error::Error;
use mdh_compiler::library::arrays::{Array, ArrayPlace, DlTensor, NumberType};
use mdh_compiler::library::callable::{self, Request};
use mdh_compiler::library::loaded::Loaded;
use mdh_compiler::library::words::Words;
use mdh_compiler::output;
use mdh_tuner::programs::tuned::host;
use mdhrt::interface::{
    Access, BufferLayout, Element, Extent, Interface, Parameter, ParameterKind,
};

use crate::status::{
    Refusal, Result, array, c_string, compiled, guarded, misused, needed_text, place,
};

/// `MdhFunction`
pub struct Function {
    loaded: Loaded,
    interface: Interface,
    /// The request that it was compiled of; none of a function of a shared library.
    request: Option<Request>,
    warnings: CString,
    schedule: OnceLock<CString>,
    shown: Shown,
}

/// The interface as C reads it, and what that points to.
struct Shown {
    interface: ShownInterface,
    _parameters: Vec<ShownParameter>,
    _names: Vec<CString>,
    _numbers: Vec<Vec<i64>>,
}

/// `MdhInterface`
#[repr(C)]
pub struct ShownInterface {
    name: *const c_char,
    arguments: usize,
    results: usize,
    parameters: *const ShownParameter,
}

/// `MdhType`, DLPack's `DLDataType`
#[repr(C)]
struct ShownType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `MdhParameter`
#[repr(C)]
struct ShownParameter {
    name: *const c_char,
    ty: ShownType,
    access: i32,
    is_scalar: i32,
    rank: i32,
    shape: *const i64,
    strides: *const i64,
    offset: i64,
}

/// `MDH_OPEN`
const OPEN: i64 = -1;

// SAFETY: what C reads of it is not changed once it is made, and the pointers are to what it owns.
unsafe impl Send for Function {}
// SAFETY: likewise.
unsafe impl Sync for Function {}

impl Function {
    /// A function, and what C owns of it.
    pub fn new(
        loaded: Loaded,
        interface: Interface,
        request: Option<Request>,
        warnings: &str,
    ) -> Box<Function> {
        Box::new(Function {
            loaded,
            shown: Shown::new(&interface),
            interface,
            request,
            warnings: c_string(warnings.trim_end()),
            schedule: OnceLock::new(),
        })
    }

    /// The request that it was compiled of.
    fn request(&self) -> Result<Request> {
        let none = || {
            misused(format!(
                "{}: found a function of a shared library, expected one that was compiled in this process",
                self.interface.name
            ))
        };
        self.request.clone().ok_or_else(none)
    }

    /// Words of so many parameters, from the first one on.
    ///
    /// # Safety
    /// The tensors' pointers are to what they say.
    unsafe fn words(&self, tensors: &[DlTensor]) -> Result<Words<'_>> {
        let mut words = Words::new(&self.interface);
        for (number, tensor) in tensors.iter().enumerate() {
            let parameter = &self.interface.parameters[number];
            // SAFETY: by this function's contract.
            let array = unsafe { Array::of_dlpack(tensor) };
            let wrong = |message: String| {
                Refusal::from(Error::input(format!(
                    "{}: {message}",
                    words.position(number)
                )))
            };
            let array = array.map_err(|mistake| wrong(mistake.message))?;
            if !array.number.is(parameter.element, None) {
                let expected = NumberType::of_element(parameter.element);
                return Err(wrong(format!(
                    "found elements of {}, expected {expected}",
                    array.number
                )));
            }
            match &parameter.kind {
                ParameterKind::Buffer(buffer) => {
                    words.expect_place(number, &array)?;
                    words.array(buffer, &array)?;
                }
                ParameterKind::Value | ParameterKind::Result => {
                    expect_scalar(&array).map_err(wrong)?;
                    words.value(match parameter.kind {
                        // SAFETY: it has one element of this type.
                        ParameterKind::Value => unsafe { read(array.address, parameter.element) },
                        _ => array.address,
                    });
                }
            }
        }
        Ok(words)
    }

    /// Calls it, with kernels on a stream of the caller's if there is one.
    ///
    /// # Safety
    /// The tensors' pointers are to what they say, and to as much memory.
    unsafe fn call(&self, tensors: &[DlTensor], stream: Option<u64>) -> Result<()> {
        self.expect_count(tensors.len(), self.interface.parameters.len())?;
        // SAFETY: by this function's contract.
        let words = unsafe { self.words(tensors) }?;
        let gpu = self.request.as_ref().and_then(|request| request.gpu);
        let gpu = gpu.filter(|gpu| gpu.has_arrays);
        let expected = gpu.map_or(ArrayPlace::Host, |gpu| ArrayPlace::Cuda(gpu.number));
        match words.place() {
            Some(place) if place != expected => Err(Error::input(format!(
                "{}: found tensors in {place}, expected them in {expected}: that is what the code is for",
                self.interface.name
            ))
            .into()),
            // SAFETY: the words are checked, and by this function's contract.
            _ => Ok(unsafe { self.loaded.call(words.words(), stream) }?),
        }
    }

    fn expect_count(&self, count: usize, expected: usize) -> Result<()> {
        if count == expected {
            return Ok(());
        }
        let parameters = self.interface.parameters[..expected].iter();
        let names: Vec<&str> = parameters
            .map(|parameter| parameter.name.as_str())
            .collect();
        Err(misused(format!(
            "{}: found {count} tensors, expected {expected}: {}",
            self.interface.name,
            names.join(", ")
        )))
    }
}

/// Checks that a tensor is one number in the processor's memory.
fn expect_scalar(array: &Array) -> std::result::Result<(), String> {
    let count: i64 = array.shape.numbers().iter().product();
    if count != 1 {
        return Err(format!(
            "found a tensor of {count} elements, expected a number: one of rank 0"
        ));
    }
    if array.place != ArrayPlace::Host {
        return Err(format!(
            "found a number in {}, expected one in the processor's memory",
            array.place
        ));
    }
    match array.address {
        0 => Err("found a null pointer, expected a number".to_string()),
        _ => Ok(()),
    }
}

/// The word of a number.
///
/// # Safety
/// There is an element of the type at the address.
unsafe fn read(address: u64, element: Element) -> u64 {
    let mut bytes = [0; 8];
    let start = ptr::with_exposed_provenance::<u8>(address as usize);
    // SAFETY: by this function's contract.
    unsafe { ptr::copy_nonoverlapping(start, bytes.as_mut_ptr(), element.bytes()) };
    let word = u64::from_ne_bytes(bytes);
    match element {
        Element::I1 => u64::from(word != 0),
        _ => word,
    }
}

impl Shown {
    fn new(interface: &Interface) -> Shown {
        let (mut names, mut numbers, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
        for parameter in &interface.parameters {
            names.push(c_string(&parameter.name));
            let name = names[names.len() - 1].as_ptr();
            parameters.push(shown(parameter, name, &mut numbers));
        }
        names.push(c_string(&interface.name));
        Shown {
            interface: ShownInterface {
                name: names[names.len() - 1].as_ptr(),
                arguments: interface.inputs(),
                results: interface.results,
                parameters: parameters.as_ptr(),
            },
            _parameters: parameters,
            _names: names,
            _numbers: numbers,
        }
    }
}

/// A parameter as C reads it; its extents and strides are put to the numbers.
fn shown(
    parameter: &Parameter,
    name: *const c_char,
    numbers: &mut Vec<Vec<i64>>,
) -> ShownParameter {
    let (code, bits) = NumberType::of_element(parameter.element).dlpack();
    let mut put = |extents: Vec<i64>| {
        // The memory of an inner vector stays where it is.
        numbers.push(extents);
        numbers[numbers.len() - 1].as_ptr()
    };
    let mut shown = ShownParameter {
        name,
        ty: ShownType {
            code,
            bits,
            lanes: 1,
        },
        access: match parameter.kind {
            ParameterKind::Value => Access::Read,
            ParameterKind::Result => Access::Written,
            ParameterKind::Buffer(ref buffer) => buffer.access,
        } as i32,
        is_scalar: 1,
        rank: 0,
        shape: ptr::null(),
        strides: ptr::null(),
        offset: 0,
    };
    if let ParameterKind::Buffer(buffer) = &parameter.kind {
        let extents = buffer.extents.iter().map(|extent| match extent {
            Extent::Fixed(n) => *n as i64,
            Extent::Given(_) => OPEN,
        });
        shown.is_scalar = 0;
        shown.rank = buffer.extents.len() as i32;
        shown.shape = put(extents.collect());
        if let BufferLayout::Strided { offset, strides } = &buffer.layout {
            let strides = strides.iter().map(|stride| stride.unwrap_or(OPEN));
            shown.strides = put(strides.collect());
            shown.offset = *offset;
        }
    }
    shown
}

/// The function of a pointer.
///
/// # Safety
/// The pointer is null or to a function that has not been destroyed.
unsafe fn borrowed<'a>(function: *const Function) -> Result<&'a Function> {
    // SAFETY: by this function's contract.
    let function = unsafe { function.as_ref() };
    function.ok_or_else(|| misused("found a null pointer, expected a function"))
}

/// Destroys a function; does nothing with a null pointer.
///
/// # Safety
/// The function is not used any more, by calls that run either.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhFunctionDestroy(function: *mut Function) {
    if !function.is_null() {
        // SAFETY: a box's pointer, by this function's contract.
        let function = unsafe { Box::from_raw(function) };
        guarded(|| {
            drop(function);
            Ok(())
        });
    }
}

/// Returns what a function's calls take, which stays as long as the function; null of a null pointer.
///
/// # Safety
/// The pointer is null or to a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhFunctionInterface(function: *const Function) -> *const ShownInterface {
    // SAFETY: by this function's contract.
    let function = unsafe { function.as_ref() };
    function.map_or(ptr::null(), |function| &raw const function.shown.interface)
}

/// Returns the compiler's warnings, which stay as long as the function; an empty text if there are none.
///
/// # Safety
/// The pointer is null or to a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhFunctionWarnings(function: *const Function) -> *const c_char {
    // SAFETY: by this function's contract.
    let function = unsafe { function.as_ref() };
    function.map_or(c"".as_ptr(), |function| function.warnings.as_ptr())
}

/// Calls a function with a tensor for each argument, and then for each result.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhCall(
    function: *const Function,
    tensors: *const DlTensor,
    count: usize,
) -> c_int {
    // SAFETY: by this function's contract.
    guarded(|| unsafe { borrowed(function)?.call(array(tensors, count, "tensors")?, None) })
}

/// The same, with kernels on a stream of the caller's.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhCallOnStream(
    function: *const Function,
    tensors: *const DlTensor,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    let stream = stream.expose_provenance() as u64;
    // SAFETY: by this function's contract.
    guarded(|| unsafe { borrowed(function)?.call(array(tensors, count, "tensors")?, Some(stream)) })
}

/// Finds the shape of a result, by its number from 0, for these arguments.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhResultShape(
    function: *const Function,
    arguments: *const DlTensor,
    count: usize,
    result: usize,
    shape: *mut i64,
) -> c_int {
    guarded(|| {
        // SAFETY: by this function's contract.
        let function = unsafe { borrowed(function) }?;
        let interface = &function.interface;
        function.expect_count(count, interface.inputs())?;
        if result >= interface.results {
            return Err(misused(format!(
                "{}: found {result} as the number of a result, expected one below {}",
                interface.name, interface.results
            )));
        }
        // SAFETY: likewise.
        let words = unsafe { function.words(array(arguments, count, "arguments")?) }?;
        let number = interface.inputs() + result;
        let ParameterKind::Buffer(buffer) = &interface.parameters[number].kind else {
            return Ok(());
        };
        let extents = words.shape(buffer).ok_or_else(|| {
            let position = words.position(number);
            Error::input(format!(
                "{position}: its shape does not follow from the arguments"
            ))
        })?;
        if !extents.is_empty() {
            // SAFETY: there is room for the rank of the result.
            unsafe {
                place(shape, "shape")?;
                ptr::copy_nonoverlapping(extents.as_ptr(), shape, extents.len());
            }
        }
        Ok(())
    })
}

/// Finds the schedules of a function's computations, in JSON, which stays as long as the function.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhFunctionSchedule(
    function: *const Function,
    json: *mut *const c_char,
) -> c_int {
    guarded(|| {
        // SAFETY: by this function's contract.
        let (function, json) = unsafe { (borrowed(function)?, place(json, "json")?) };
        *json = ptr::null();
        if function.schedule.get().is_none() {
            let request = function.request()?;
            let (text, _) = compiled(move || callable::schedule(&host()?, &request))?;
            // Whoever came first has the same.
            let _ = function.schedule.set(c_string(&text));
        }
        *json = function
            .schedule
            .get()
            .map_or(ptr::null(), |text| text.as_ptr());
        Ok(())
    })
}

/// Kinds of files, in the order of `MDH_OBJECT`, `MDH_HEADER`, `MDH_SHARED_LIBRARY`.
const FILES: [Stage; 3] = [Stage::Obj, Stage::Header, Stage::Shared];

/// Writes a function as a C function, to a file of a kind.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhFunctionSave(
    function: *const Function,
    kind: c_int,
    path: *const c_char,
) -> c_int {
    guarded(|| {
        // SAFETY: by this function's contract.
        let (function, path) = unsafe { (borrowed(function)?, needed_text(path, "path")?) };
        let stage = usize::try_from(kind).ok().and_then(|kind| FILES.get(kind));
        let stage = *stage.ok_or_else(|| {
            misused(format!(
                "kind: found {kind}, expected MDH_OBJECT, MDH_HEADER or MDH_SHARED_LIBRARY"
            ))
        })?;
        let (request, path) = (function.request()?, path.to_string());
        let written = compiled(move || {
            let path = Path::new(&path);
            output::check_writable(path)?;
            output::write(path, &callable::save(&host()?, &request, stage, path)?)
        });
        written.map(|_| ())
    })
}
