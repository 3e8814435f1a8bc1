//! Kernels: PTX that the driver has assembled.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_void};
use std::ptr;

use cudarc::driver::DriverError;
use cudarc::driver::result::{function, module};
use cudarc::driver::sys::{
    self, CUfunction, CUfunction_attribute, CUjit_option, CUmodule, CUresult,
};

use crate::{CudaErrorKind, Error, Result};

/// Bytes of the driver's assembler's log that are shown.
const LOG: usize = 8192;

/// A kernel, and the shared memory that it itself has.
pub type Kernel = (CUfunction, u64);

/// Kernels of one text.
pub struct Kernels {
    raw: CUmodule,
    /// Those that were launched, by name.
    functions: BTreeMap<String, Kernel>,
}

impl Kernels {
    /// Assembles PTX for the device that is bound.
    pub fn load(ptx: &str) -> Result<Kernels> {
        let text = CString::new(ptx).map_err(|_| {
            Error::new(
                CudaErrorKind::Failed,
                "the kernels' PTX has a zero byte: expected text",
            )
        })?;
        let mut log = vec![0u8; LOG];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG as *mut c_void];
        let mut loaded = ptr::null_mut();
        // SAFETY: the text ends with a zero; options and values have the same length.
        let done = unsafe {
            sys::cuModuleLoadDataEx(
                &mut loaded,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        if let Err(error) = done.result() {
            let said = CStr::from_bytes_until_nul(&log).unwrap_or_default();
            let said = said.to_string_lossy();
            let mut error =
                Error::from_driver("cuModuleLoadDataEx", "to assemble the kernels", error);
            if !said.trim().is_empty() {
                error.message = format!("{}: {}", error.message, said.trim());
            }
            return Err(error);
        }
        Ok(Kernels {
            raw: loaded,
            functions: BTreeMap::new(),
        })
    }

    /// Lets go of them; the driver waits for their launches. The device is bound.
    pub fn unload(self) {
        // SAFETY: made once, used no more. There is nobody to tell of a failure.
        let _ = unsafe { module::unload(self.raw) };
    }

    /// Keeps a kernel with its facts.
    fn remember(&mut self, name: &str, function: CUfunction) -> Result<Kernel> {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        // SAFETY: the function is there.
        let shared = unsafe { function::get_function_attribute(function, attribute) };
        let shared = shared.map_err(|error| {
            let about = format!("for kernel '{name}'");
            Error::from_driver("cuFuncGetAttribute", &about, error)
        })?;
        let both = (function, shared.max(0) as u64);
        self.functions.insert(name.to_string(), both);
        Ok(both)
    }
}

/// The kernel of a name, which the first that has it gives.
pub fn find<'k>(modules: impl Iterator<Item = &'k mut Kernels>, name: &str) -> Result<Kernel> {
    let mut missing = DriverError(CUresult::CUDA_ERROR_NOT_FOUND);
    for kernels in modules {
        if let Some(known) = kernels.functions.get(name) {
            return Ok(*known);
        }
        let text = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded.
        match unsafe { module::get_function(kernels.raw, text) } {
            Ok(function) => return kernels.remember(name, function),
            Err(error) => missing = error,
        }
    }
    let about = format!("for kernel '{name}'");
    Err(Error::from_driver("cuModuleGetFunction", &about, missing))
}
