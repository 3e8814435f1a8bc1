//! Code in this process: what was compiled here, or a function of a shared library.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mdh_cuda::Visitor;
use mdh_jit::interface::Interface;
use mdh_jit::{Jit, pool};
use mdhrt::call::{About, Callee, Code};
use mdhrt::failure::{Failure, Status};

use crate::error::{Error, Result};
use crate::library::callable::Callable;

/// Code in this process.
pub struct Loaded(LoadedForm);

/// LoadedForm of it.
enum LoadedForm {
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
    /// Links the code of a function, whose kernels the GPU of a number runs.
    ///
    /// # Errors
    /// If there is no such GPU, or no memory for the code.
    pub fn new(callable: &Callable, gpu: Option<u32>) -> Result<Loaded> {
        let kernels = gpu.map(|number| {
            let facts = Visitor::facts(number)?;
            Visitor::new(number, callable.kernels.as_deref(), facts.capability)
        });
        let kernels = kernels.transpose()?;
        let code = Jit::load_object(&callable.object)?;
        let address = code.address(&callable.symbol)?;
        // SAFETY: the symbol is that of a wrapper of this type, of a function with this interface, and the code stays
        // as long as the callee.
        let callee = unsafe {
            let address = std::mem::transmute::<usize, Code>(address);
            Callee::new(address, callable.interface.clone())
        };
        Ok(Loaded(LoadedForm::Linked {
            callee,
            _code: code,
            kernels,
        }))
    }

    /// Opens a shared library of `mdh compile --emit shared`, and returns a function of it with its interface.
    ///
    /// # Errors
    /// If it is none, or has no function of that name.
    pub fn open(path: &Path, function: &str) -> Result<(Loaded, Interface)> {
        let name = |text: Vec<u8>| {
            let message = "found a null byte, expected a path and the name of a function";
            CString::new(text).map_err(|_| Error::input(message))
        };
        let file = name(path.as_os_str().as_bytes().to_vec())?;
        let symbol = name(mdh_jit::about_symbol(function).into_bytes())?;
        // SAFETY: the strings are C strings; constructors of such a library do nothing.
        let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            // SAFETY: an error was made on this thread.
            let said = unsafe { CStr::from_ptr(libc::dlerror()) };
            return Err(Error::input(said.to_string_lossy()));
        }
        let address = |symbol: &CStr| -> Result<*mut c_void> {
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
                true => Err(Error::input(message())),
                false => Ok(address),
            }
        };
        let about = address(&symbol)?.cast::<About>().cast_const();
        // SAFETY: the symbols are those of libmdhrt and of the code, whose types these are; the library stays open.
        unsafe {
            let interface = Callable::interface_of((*about).text())?;
            let loaded = Loaded(LoadedForm::Library {
                about,
                call: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(_, _, _) -> _>(
                    address(c"mdh_call")?,
                ),
                error: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> _>(address(
                    c"mdh_error",
                )?),
            });
            Ok((loaded, interface))
        }
    }

    /// Calls it with a word for each argument of its interface; kernels run on a stream of the caller's, or on another
    /// one, which is waited for.
    ///
    /// # Safety
    /// As for [`Callee::call`].
    pub unsafe fn call(
        &self,
        words: &[u64],
        stream: Option<u64>,
    ) -> std::result::Result<(), Failure> {
        // SAFETY: by this function's contract; a library's message stays until its next failure on this thread.
        unsafe {
            match &self.0 {
                LoadedForm::Linked {
                    callee,
                    kernels: None,
                    ..
                } => callee.call(words),
                LoadedForm::Linked {
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
                LoadedForm::Library { about, call, error } => {
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

/// Sets how many threads computations of this process use from now on, the caller's included.
///
/// # Errors
/// If it is no number of threads.
pub fn set_threads(threads: i64) -> Result<()> {
    let most = pool::MOST_THREADS;
    let wanted = usize::try_from(threads).ok().and_then(NonZeroUsize::new);
    let wanted = wanted
        .filter(|threads| threads.get() <= most)
        .ok_or_else(|| {
            Error::input(format!(
                "found {threads} threads, expected a number from 1 to {most}"
            ))
        })?;
    pool::set_threads(wanted);
    Ok(())
}
