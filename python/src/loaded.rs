//! Code in this process: what was compiled here, or a function of a shared library.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use pyo3::prelude::*;

use mdh_cuda::Visitor;
use mdh_jit::Jit;
use mdhrt::call::{About, Callee, Code};
use mdhrt::failure::{Failure, Status};
use mdhrt::interface::Interface;

use crate::{compile, error};

/// Code in this process.
pub enum Loaded {
    /// Code that was compiled here, or kept. It goes when nothing calls it any more.
    Linked {
        callee: Callee,
        _code: Jit,
        /// The kernels that it launches, if it is for a GPU.
        kernels: Option<Visitor>,
    },
    /// A function of a shared library, which has a run-time library of its own. It stays as long as the process.
    Library {
        about: *const About,
        call: unsafe extern "C" fn(Code, *const About, *const u64) -> c_int,
        error: unsafe extern "C" fn() -> *const c_char,
    },
}

// SAFETY: code is not changed once it is linked, which `Loaded::new` does; calls are safe on any thread.
unsafe impl Send for Loaded {}
// SAFETY: likewise.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// Links the code of a function with that interface, for a GPU if it has the number of one.
    pub fn new(
        py: Python,
        interface: &Interface,
        code: &compile::Code,
        gpu: Option<u32>,
    ) -> PyResult<Loaded> {
        let kernels = gpu.map(|number| {
            let facts = Visitor::facts(number)?;
            Visitor::new(number, code.kernels.as_deref(), facts.capability)
        });
        let kernels = kernels.transpose();
        let kernels = kernels.map_err(|error| error::compiler(py, &error.into(), ""))?;
        let linked = Jit::load_object(&code.object).and_then(|jit| {
            let address = jit.address(&code.symbol)?;
            Ok((jit, address))
        });
        let (code, address) = linked.map_err(|error| error::compiler(py, &error.into(), ""))?;
        // SAFETY: the symbol is that of a wrapper of this type, of a function with this interface, and the code stays
        // as long as the callee.
        let callee = unsafe {
            let address = std::mem::transmute::<usize, Code>(address);
            Callee::new(address, interface.clone())
        };
        Ok(Loaded::Linked {
            callee,
            _code: code,
            kernels,
        })
    }

    /// Opens a shared library of `mdh compile --emit shared`, and returns a function of it with its interface.
    pub fn open(py: Python, path: &Path, function: &str) -> PyResult<(Loaded, Interface)> {
        let name = |text: Vec<u8>| {
            let message = "found a null byte, expected a path and the name of a function";
            CString::new(text).map_err(|_| error::program(py, message))
        };
        let file = name(path.as_os_str().as_bytes().to_vec())?;
        let symbol = name(mdh_jit::about_symbol(function).into_bytes())?;
        // SAFETY: the strings are C strings; constructors of such a library do nothing.
        let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            // SAFETY: an error was made on this thread.
            let said = unsafe { CStr::from_ptr(libc::dlerror()) };
            return Err(error::program(py, &said.to_string_lossy()));
        }
        let address = |symbol: &CStr| -> PyResult<*mut c_void> {
            // SAFETY: the library is open.
            let address = unsafe { libc::dlsym(library, symbol.as_ptr()) };
            let message = || {
                format!(
                    "'{}' has no function '{function}' that can be loaded: expected a shared library that `save` or \
                     `mdh compile --emit shared` has made of such a function",
                    path.display()
                )
            };
            match address.is_null() {
                true => Err(error::program(py, &message())),
                false => Ok(address),
            }
        };
        let about = address(&symbol)?.cast::<About>().cast_const();
        // SAFETY: the symbols are those of libmdhrt and of the code, whose types these are; the library stays open.
        unsafe {
            let interface = (*about).text().parse();
            let interface = interface
                .map_err(|_| error::program(py, "the code is of another version of mdh"))?;
            let loaded = Loaded::Library {
                about,
                call: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(_, _, _) -> _>(
                    address(c"mdh_call")?,
                ),
                error: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> _>(address(
                    c"mdh_error",
                )?),
            };
            Ok((loaded, interface))
        }
    }

    /// Calls it with a word for each argument of its interface; kernels run on a stream of the caller's, or on another
    /// one, which is waited for.
    ///
    /// # Safety
    /// As for [`Callee::call`].
    pub unsafe fn call(&self, words: &[u64], stream: Option<u64>) -> Result<(), Failure> {
        // SAFETY: by this function's contract; a library's message stays until its next failure on this thread.
        unsafe {
            match self {
                Loaded::Linked {
                    callee,
                    kernels: None,
                    ..
                } => callee.call(words),
                Loaded::Linked {
                    callee,
                    kernels: Some(kernels),
                    ..
                } => {
                    let done = kernels.call(stream, || callee.call(words));
                    done.unwrap_or_else(|error| {
                        Err(Failure {
                            status: Status::Device,
                            message: format!("error: {error}"),
                        })
                    })
                }
                Loaded::Library { about, call, error } => {
                    let status = match call((**about).code(), *about, words.as_ptr()) {
                        0 => return Ok(()),
                        4 => Status::NoMemory,
                        5 => Status::Device,
                        _ => Status::Failed,
                    };
                    let message = CStr::from_ptr(error()).to_string_lossy().into_owned();
                    Err(Failure { status, message })
                }
            }
        }
    }
}
