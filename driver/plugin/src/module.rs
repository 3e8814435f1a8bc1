//! Modules of C programs that have MLIR of their own: compiled, and with computations built in them.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use mlir_sys::*;

use mdh_compiler::error::Error;
use mdh_dialect::ffi::{mdhParseModule, string_ref};
use mdh_dialect::location::SourceLocation;
use melior::ContextRef;
use melior::diagnostic::DiagnosticSeverity;

use crate::compile::{function, give};
use crate::function::Function;
use crate::options::Options;
use crate::status::{Result, array, guarded, misused, needed_text, place};

/// `MdhValue`
#[repr(C)]
pub struct NamedValue {
    name: *const c_char,
    value: MlirValue,
}

/// Compiles a function of a module, which stays as it is.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhCompileModule(
    module: MlirModule,
    options: *const Options,
    made: *mut *mut Function,
) -> c_int {
    // SAFETY: by this function's contract.
    unsafe {
        give(made, || {
            if module.ptr.is_null() {
                return Err(misused("module: found a null pointer, expected a module"));
            }
            // The compiler has a context of its own, with all that its passes need, and no thread of the host's in it.
            let mut bytecode: Vec<u8> = Vec::new();
            let data = (&raw mut bytecode).cast();
            mlirOperationWriteBytecode(mlirModuleGetOperation(module), Some(append), data);
            function(Options::read(options)?.request("module", bytecode)?)
        })
    }
}

/// Adds a part of what MLIR writes to a vector of bytes.
unsafe extern "C" fn append(part: MlirStringRef, bytes: *mut c_void) {
    if part.length > 0 {
        // SAFETY: MLIR passes a valid string and the vector that it was given.
        unsafe {
            let part = std::slice::from_raw_parts(part.data.cast::<u8>(), part.length);
            (*bytes.cast::<Vec<u8>>()).extend_from_slice(part);
        }
    }
}

/// Reads operations, in which names stand for values, into a block.
///
/// # Safety
/// The pointers are to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdhBuild(
    block: MlirBlock,
    before: MlirOperation,
    text: *const c_char,
    values: *const NamedValue,
    count: usize,
    last: *mut MlirOperation,
) -> c_int {
    guarded(|| {
        // SAFETY: by this function's contract.
        unsafe {
            let text = needed_text(text, "text")?;
            let values = array(values, count, "values")?;
            if block.ptr.is_null() {
                return Err(misused("block: found a null pointer, expected a block"));
            }
            let parent = mlirBlockGetParentOperation(block);
            if parent.ptr.is_null() {
                return Err(misused(
                    "block: found one that is in no operation, expected one that is: its context is asked for",
                ));
            }
            let module = parsed(mlirOperationGetContext(parent), text, values)?;
            let built = moved(module, block, before, values);
            mlirModuleDestroy(module);
            if !last.is_null() {
                *place(last, "last")? = built;
            }
            Ok(())
        }
    })
}

/// A module with the operations of the text, and then one that stands for each value: a module's may be used before
/// they are there, and so the text has its own lines.
///
/// # Safety
/// The context and the values are valid.
unsafe fn parsed(context: MlirContext, text: &str, values: &[NamedValue]) -> Result<MlirModule> {
    let mut program = format!("{text}\n");
    for given in values {
        // SAFETY: by this function's contract.
        let name = unsafe { needed_text(given.name, "values") }?;
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "_$.-".contains(c);
        if name.is_empty() || !name.chars().all(is_letter) || given.value.ptr.is_null() {
            return Err(misused(format!(
                "values: found '{name}', expected a value and its name in the text, without '%'"
            )));
        }
        // A conversion of nothing is known in each context, and may be of any type.
        let mut ty: Vec<u8> = Vec::new();
        // SAFETY: likewise; the callback gets the vector that it expects.
        unsafe {
            mlirTypePrint(
                mlirValueGetType(given.value),
                Some(append),
                (&raw mut ty).cast(),
            )
        };
        let ty = String::from_utf8_lossy(&ty);
        program.push_str(&format!(
            "%{name} = builtin.unrealized_conversion_cast to {ty}\n"
        ));
    }
    program.push('\0'); // MLIR's lexer reads up to a null byte behind the text
    let source = MlirStringRef {
        data: program.as_ptr().cast(),
        length: program.len() - 1,
    };
    // SAFETY: by this function's contract; the text outlives the call.
    let (module, mistakes) = unsafe {
        said(context, || {
            mdhParseModule(context, source, string_ref("text"), true)
        })
    };
    match module.ptr.is_null() {
        true => Err(Error::input(mistakes.trim_end()).into()),
        false => Ok(module),
    }
}

/// Moves the operations of a text into a block, and returns the last one.
///
/// # Safety
/// The module has an operation for each value last; all is of one context.
unsafe fn moved(
    module: MlirModule,
    block: MlirBlock,
    before: MlirOperation,
    values: &[NamedValue],
) -> MlirOperation {
    // SAFETY: by this function's contract.
    unsafe {
        let mut operations = Vec::new();
        let mut next = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
        while !next.ptr.is_null() {
            operations.push(next);
            next = mlirOperationGetNextInBlock(next);
        }
        let stand_ins = operations.split_off(operations.len() - values.len());
        for (stand_in, given) in stand_ins.into_iter().zip(values) {
            mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(stand_in, 0), given.value);
        }
        for operation in &operations {
            mlirOperationRemoveFromParent(*operation);
            mlirBlockInsertOwnedOperationBefore(block, before, *operation);
        }
        operations.last().copied().unwrap_or(MlirOperation {
            ptr: std::ptr::null_mut(),
        })
    }
}

/// Runs an action, and returns the errors that are said in a context meanwhile, which its own handlers do not see.
///
/// # Safety
/// The context is valid.
unsafe fn said<T>(context: MlirContext, action: impl FnOnce() -> T) -> (T, String) {
    // SAFETY: by this function's contract.
    let reference = unsafe { ContextRef::from_raw(context) };
    // SAFETY: the reference is there for as long as this function runs.
    let context = unsafe { reference.to_ref() };
    let text: Arc<Mutex<String>> = Arc::default();
    let written = Arc::clone(&text);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let is_error = matches!(diagnostic.severity(), DiagnosticSeverity::Error);
        if is_error {
            let mut text = written.lock().unwrap_or_else(PoisonError::into_inner);
            let place = SourceLocation::from_location(diagnostic.location());
            let place = place.map_or(String::new(), |place| format!("{place}: "));
            text.push_str(&format!("{place}{diagnostic}\n"));
        }
        is_error
    });
    let result = action();
    context.detach_diagnostic_handler(handler);
    let text = text.lock().unwrap_or_else(PoisonError::into_inner);
    (result, text.clone())
}
