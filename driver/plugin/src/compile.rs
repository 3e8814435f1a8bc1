//! Functions for C: made of programs in text or bytecode, of einsums, and of shared libraries.

use std::ffi::{c_char, c_int};
use std::path::Path;
use std::ptr;

use mdh_compiler::einsum_command;
use mdh_compiler::library::arrays::{Array, DlTensor};
use mdh_compiler::library::callable::{self, Request};
use mdh_compiler::library::loaded::{self, Loaded};
use mdh_frontend::einsum::{Element, Operand};
use mdh_tuner::programs::tuned::host;

use crate::function::Function;
use crate::options::Options;
use crate::status::{Result, array, compiled, guarded, misused, needed_text, place, text};

/// Puts a function to a place of C's, which has a null pointer if there is none.
///
/// # Safety
/// The place is null or a pointer's.
pub unsafe fn give(
    function: *mut *mut Function,
    make: impl FnOnce() -> Result<Box<Function>>,
) -> c_int {
    guarded(|| {
        // SAFETY: by this function's contract.
        let function = unsafe { place(function, "function") }?;
        *function = ptr::null_mut();
        *function = Box::into_raw(make()?);
        Ok(())
    })
}

/// Compiles a request.
pub fn function(request: Request) -> Result<Box<Function>> {
    let (made, warnings) = compiled(move || {
        let callable = callable::compile(&host()?, &request)?;
        let loaded = Loaded::new(&callable, request.gpu.map(|gpu| gpu.number))?;
        Ok((loaded, callable.interface, request))
    })?;
    let (loaded, interface, request) = made;
    Ok(Function::new(loaded, interface, Some(request), &warnings))
}

/// Compiles a function of a program, so many bytes of text or bytecode.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhCompile(
    program: *const c_char,
    length: usize,
    options: *const Options,
    made: *mut *mut Function,
) -> c_int {
    // SAFETY: by this function's contract.
    unsafe {
        give(made, || {
            let program = array(program.cast::<u8>(), length, "program")?.to_vec();
            function(Options::read(options)?.request("program", program)?)
        })
    }
}

/// Compiles an einsum of operands whose types and shapes are those of tensors.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhEinsum(
    spec: *const c_char,
    operands: *const DlTensor,
    count: usize,
    combine: *const c_char,
    scalar: *const c_char,
    options: *const Options,
    made: *mut *mut Function,
) -> c_int {
    // SAFETY: by this function's contract.
    unsafe {
        give(made, || {
            let spec = needed_text(spec, "spec")?;
            let operands = array(operands, count, "operands")?.iter().enumerate();
            let operands = operands.map(|(number, tensor)| operand(number, tensor));
            let operands = operands.collect::<Result<Vec<Operand>>>()?;
            let combine = text(combine, "combine")?.unwrap_or("add");
            let scalar = text(scalar, "scalar")?.unwrap_or("mul");
            let translated = einsum_command::translated(spec, operands, [combine, scalar], None)?;
            let program = translated.text.into_bytes();
            function(Options::read(options)?.request("einsum", program)?)
        })
    }
}

/// The operand that a tensor is.
///
/// # Safety
/// The tensor's shape and strides are null or have a number for each axis.
unsafe fn operand(number: usize, tensor: &DlTensor) -> Result<Operand> {
    let wrong = |message: String| misused(format!("operand {}: {message}", number + 1));
    // SAFETY: by this function's contract.
    let array = unsafe { Array::of_dlpack(tensor) };
    let array = array.map_err(|mistake| wrong(mistake.message))?;
    let element: Element = array.number.to_string().parse().map_err(wrong)?;
    let extents = array.shape.numbers().iter();
    let extents: Option<Vec<u64>> = extents.map(|n| u64::try_from(*n).ok()).collect();
    let shape = array.shape.numbers();
    let extents = extents.ok_or_else(|| {
        wrong(format!(
            "found the shape {shape:?}, expected extents of at least 0"
        ))
    })?;
    Ok(Operand::new(&extents, element))
}

/// Opens a shared library, and takes a function of it.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhOpen(
    path: *const c_char,
    name: *const c_char,
    made: *mut *mut Function,
) -> c_int {
    // SAFETY: by this function's contract.
    unsafe {
        give(made, || {
            let (path, name) = (needed_text(path, "path")?, needed_text(name, "name")?);
            let (loaded, interface) = Loaded::open(Path::new(path), name)?;
            Ok(Function::new(loaded, interface, None, ""))
        })
    }
}

/// Sets how many threads computations use from now on, the caller's included.
#[unsafe(no_mangle)]
pub extern "C" fn mdhSetThreads(threads: i64) -> c_int {
    guarded(|| Ok(loaded::set_threads(threads)?))
}

/// Returns how many threads computations use.
#[unsafe(no_mangle)]
pub extern "C" fn mdhThreadCount() -> i64 {
    mdhrt::pool::thread_count() as i64
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use mdh_compiler::library::arrays::DL_CPU;

    use super::*;
    use crate::function::{mdhCall, mdhFunctionDestroy, mdhResultShape};
    use crate::status::{DONE, mdhMessage};

    const TWICE: &str = "\
func.func @twice(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %init = tensor.empty(%n) : tensor<?xi32>
  %y = mdh.compute (i = %n) out_view(y = %init[i] : tensor<?xi32>)
    md_hom(addi, (cc)) inp_view(x = %x[i][i] : tensor<?xi32>)
  return %y : tensor<?xi32>
}";

    fn tensor(data: &mut [i32], shape: &[i64]) -> DlTensor {
        DlTensor {
            data: data.as_mut_ptr().cast(),
            device_kind: DL_CPU,
            device: 0,
            rank: shape.len() as i32,
            code: 0,
            bits: 32,
            lanes: 1,
            shape: shape.as_ptr(),
            strides: ptr::null(),
            byte_offset: 0,
        }
    }

    fn message() -> String {
        // SAFETY: the message stays until the next failure.
        let text = unsafe { CStr::from_ptr(mdhMessage()) };
        text.to_string_lossy().into_owned()
    }

    #[test]
    fn a_program_is_compiled_and_called() {
        let mut twice = ptr::null_mut();
        // SAFETY: the text is there, and so is all memory of the calls.
        unsafe {
            let status = mdhCompile(TWICE.as_ptr().cast(), TWICE.len(), ptr::null(), &mut twice);
            assert_eq!(status, DONE, "{}", message());
            let (mut x, mut y) = ([1, -2, 3], [0; 3]);
            let tensors = [tensor(&mut x, &[3]), tensor(&mut y, &[3])];
            let mut extent = 0;
            let status = mdhResultShape(twice, tensors.as_ptr(), 1, 0, &mut extent);
            assert_eq!((status, extent), (DONE, 3));
            assert_eq!(mdhCall(twice, tensors.as_ptr(), 2), DONE, "{}", message());
            assert_eq!(y, [2, -4, 6]);
            let tensors = [tensor(&mut x, &[3]), tensor(&mut y, &[2])];
            assert_eq!(mdhCall(twice, tensors.as_ptr(), 2), 1);
            assert_eq!(message(), "twice: y_n0 is 2, expected 3, which is x_n0");
            mdhFunctionDestroy(twice);
        }
    }

    #[test]
    fn a_mistake_has_its_place() {
        let text = b"func.func @f() {\n  wrong\n}";
        let mut made = ptr::dangling_mut();
        // SAFETY: the text is there.
        let status =
            unsafe { mdhCompile(text.as_ptr().cast(), text.len(), ptr::null(), &mut made) };
        assert_eq!(status, 1);
        assert!(made.is_null());
        assert!(
            message().starts_with("program:2:3: error: "),
            "{}",
            message()
        );
    }
}
