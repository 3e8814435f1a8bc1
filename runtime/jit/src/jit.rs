//! Object code in this process, and calls to it.

use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Mutex;

use llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use llvm_sys::error::LLVMErrorRef;
use llvm_sys::orc2::lljit::*;
use llvm_sys::orc2::*;

use crate::llvm::{c_string, check};
use crate::packed::{self, Signature};
use crate::{Arguments, Error, Result, support};

/// Loaded code. Dropping it unloads the code, which its [functions](Function) cannot outlive.
pub struct Jit {
    raw: LLVMOrcLLJITRef,
    reports: Box<Reports>,
    entries: Vec<(String, Signature)>,
}

impl Jit {
    /// Links an object file into the process: against [`support`], then what the process has.
    pub(crate) fn load(object: &[u8], entries: Vec<(String, Signature)>) -> Result<Jit> {
        Jit::link(object, entries, support::symbols())
    }

    /// Links an object file whose code calls the run-time library, as one of `mdh compile --emit obj` does: its
    /// failures unwind to whoever [calls](mdhrt::call::Callee) it.
    pub fn load_object(object: &[u8]) -> Result<Jit> {
        Jit::link(object, Vec::new(), support::library_symbols())
    }

    /// The address of an exported symbol of the code, which is alive while `self` is.
    pub fn address(&self, symbol: &str) -> Result<usize> {
        let symbol: CString = c_string(symbol)?;
        let mut address = 0;
        // SAFETY: the look-up links the code, and gives an error that is ours.
        unsafe {
            let error = LLVMOrcLLJITLookup(self.raw, &mut address, symbol.as_ptr());
            check("linking compiled code", error).map_err(|error| self.reports.explain(error))?;
        }
        Ok(address as usize)
    }

    fn link(
        object: &[u8],
        entries: Vec<(String, Signature)>,
        symbols: Vec<(&'static CStr, u64)>,
    ) -> Result<Jit> {
        crate::target::initialise();
        support::show_compiler_library();
        let doing = "loading compiled code";
        let mut jit = Jit {
            raw: ptr::null_mut(),
            reports: Box::default(),
            entries,
        };
        // SAFETY: ownership follows LLVM's documentation: the builder, the generator, the
        // symbols and the buffer are taken over by the calls they are passed to.
        unsafe {
            check(
                doing,
                LLVMOrcCreateLLJIT(&mut jit.raw, LLVMOrcCreateLLJITBuilder()),
            )?;
            let session = LLVMOrcLLJITGetExecutionSession(jit.raw);
            let reports = (&raw mut *jit.reports).cast();
            LLVMOrcExecutionSessionSetErrorReporter(session, Reports::add, reports);
            let library = LLVMOrcLLJITGetMainJITDylib(jit.raw);
            check(
                doing,
                LLVMOrcJITDylibDefine(library, jit.support_symbols(symbols)),
            )?;
            let mut process = ptr::null_mut();
            let error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut process,
                LLVMOrcLLJITGetGlobalPrefix(jit.raw),
                None,
                ptr::null_mut(),
            );
            check(doing, error)?;
            LLVMOrcJITDylibAddGenerator(library, process);
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                object.as_ptr().cast(),
                object.len(),
                c"compiled code".as_ptr(),
            );
            check(doing, LLVMOrcLLJITAddObjectFile(jit.raw, library, buffer))?;
        }
        Ok(jit)
    }

    /// The function `name`, which was made an [entry](crate::Module::add_entry).
    pub fn function(&self, name: &str) -> Result<Function<'_>> {
        let Some((_, signature)) = self.entries.iter().find(|(entry, _)| entry == name) else {
            let known = self
                .entries
                .iter()
                .map(|(entry, _)| entry.clone())
                .collect();
            return Err(Error::UnknownFunction {
                name: name.to_string(),
                known,
            });
        };
        let address = self.address(&packed::symbol(name))?;
        // SAFETY: the wrapper's type is the one `packed` gave it.
        let wrapper = unsafe { std::mem::transmute::<usize, Wrapper>(address) };
        let (name, signature) = (name.to_string(), signature.clone());
        Ok(Function {
            name,
            signature,
            wrapper,
            code: PhantomData,
        })
    }

    /// The runtime's own functions, as symbols to define.
    ///
    /// # Safety
    /// The result is passed to `LLVMOrcJITDylibDefine` once.
    unsafe fn support_symbols(
        &self,
        symbols: Vec<(&'static CStr, u64)>,
    ) -> LLVMOrcMaterializationUnitRef {
        let generic = LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8
            | LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsCallable as u8;
        let pair = |(name, address): (&CStr, u64)| LLVMOrcCSymbolMapPair {
            // SAFETY: the jit is alive; the reference this makes is taken over below.
            Name: unsafe { LLVMOrcLLJITMangleAndIntern(self.raw, name.as_ptr()) },
            Sym: LLVMJITEvaluatedSymbol {
                Address: address,
                Flags: LLVMJITSymbolFlags {
                    GenericFlags: generic,
                    TargetFlags: 0,
                },
            },
        };
        let mut pairs: Vec<_> = symbols.into_iter().map(pair).collect();
        // SAFETY: the pairs are copied, their names taken over.
        unsafe { LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len()) }
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: created in `load`, disposed once; functions borrow `self`.
            let error = unsafe { LLVMOrcDisposeLLJIT(self.raw) };
            // SAFETY: the error is ours. There is nobody to tell.
            let _ = unsafe { check("unloading compiled code", error) };
        }
    }
}

/// Reports of the linker beside the errors it returns, which only name the symbols that could not
/// be made, not why. (By default it prints this.)
#[derive(Default)]
struct Reports(Mutex<Vec<String>>);

impl Reports {
    /// The reporter to install, with a pointer to `self` as its context.
    extern "C" fn add(reports: *mut c_void, error: LLVMErrorRef) {
        // SAFETY: LLVM passes the pointer that was installed, and hands over the error.
        let (reports, result) = unsafe {
            (
                &*reports.cast::<Reports>(),
                check("linking compiled code", error),
            )
        };
        if let Err(Error::Llvm { message, .. }) = result {
            reports
                .0
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .push(message);
        }
    }

    /// `error`, or what was reported about it.
    fn explain(&self, error: Error) -> Error {
        let mut reports = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        match (std::mem::take(&mut *reports), error) {
            (reports, Error::Llvm { doing, .. }) if !reports.is_empty() => Error::Llvm {
                doing,
                message: reports.join("; "),
            },
            (_, error) => error,
        }
    }
}

/// The wrappers' type.
type Wrapper = unsafe extern "C" fn(*mut *mut c_void);

/// A compiled function.
pub struct Function<'jit> {
    name: String,
    signature: Signature,
    wrapper: Wrapper,
    code: PhantomData<&'jit Jit>,
}

impl Function<'_> {
    /// Returns its signature.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Calls it. `arguments[i]` points to the value of parameter `i`; the last one points to
    /// where the result goes, if there is one ([`Signature::pointers`] in all).
    ///
    /// The value of a memref parameter is itself a pointer, to a descriptor, so its argument
    /// points to that pointer. [`Arguments`] arranges this.
    ///
    /// # Safety
    /// Each pointer is aligned and valid for its parameter's type, descriptors describe memory
    /// that is valid for all that the function does with it, and the function's other
    /// preconditions hold (such as: destinations do not overlap inputs).
    pub unsafe fn call(&self, arguments: &mut [*mut c_void]) -> Result<()> {
        let (found, expected) = (arguments.len(), self.signature.pointers());
        if found != expected {
            let function = self.name.clone();
            return Err(Error::ArgumentCount {
                function,
                expected,
                found,
            });
        }
        // SAFETY: the caller vouches for the arguments; the code is alive while `self` is.
        unsafe { (self.wrapper)(arguments.as_mut_ptr()) };
        Ok(())
    }

    /// Calls it with [`Arguments`], which must match its signature, the result included.
    ///
    /// # Safety
    /// As for [`Function::call`].
    pub unsafe fn call_with(&self, arguments: &mut Arguments) -> Result<()> {
        // SAFETY: by this function's contract.
        unsafe { self.call(arguments.pointers()) }
    }
}
