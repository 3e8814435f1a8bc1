//! LLVM modules: made from IR, optimised for the host, emitted.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::prelude::{
    LLVMAttributeRef, LLVMContextRef, LLVMMemoryBufferRef, LLVMModuleRef, LLVMValueRef,
};
use llvm_sys::target::{LLVMDisposeTargetData, LLVMSetModuleDataLayout};
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;

use mdhrt::interface::Interface;

use crate::backend;
use crate::jit::Jit;
use crate::library;
use crate::limit;
use crate::llvm::{Diagnostics, c_string, check, take_message};
use crate::packed::{self, Signature};
use crate::target::{self, Processor, Target};
use crate::{Error, Result};

/// LLVM IR that is not optimised yet.
pub struct Module {
    raw: LLVMModuleRef,
    context: LLVMContextRef,
    diagnostics: Box<Diagnostics>,
    entries: Vec<(String, Signature)>,
    /// The C functions, if there are any: then it is for a file, else for this process.
    exported: Vec<CString>,
}

impl Module {
    /// Parses textual LLVM IR; `name` stands for it in messages.
    pub fn parse(name: &str, text: &str) -> Result<Module> {
        let mut module = Module::empty();
        let name = c_string(name)?;
        // SAFETY: the text is copied into the memory buffer, which is disposed after parsing.
        unsafe {
            let (data, length) = (text.as_ptr().cast(), text.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, length, name.as_ptr());
            let mut message = ptr::null_mut();
            let failed =
                LLVMParseIRInContext2(module.context, buffer, &mut module.raw, &mut message);
            LLVMDisposeMemoryBuffer(buffer);
            let message = take_message(message);
            if failed != 0 {
                return Err(Error::Llvm {
                    doing: "parsing LLVM IR",
                    message,
                });
            }
        }
        module.verify()?;
        Ok(module)
    }

    /// Takes what a translator makes: `translate` is given a fresh `LLVMContextRef` and returns
    /// an `LLVMModuleRef` in it, or null if it failed (and said why elsewhere).
    ///
    /// # Safety
    /// The pointer that `translate` returns is null or a module in that context which nobody
    /// else owns.
    pub unsafe fn translate(translate: impl FnOnce(*mut c_void) -> *mut c_void) -> Result<Module> {
        let mut module = Module::empty();
        module.raw = translate(module.context.cast()).cast();
        if module.raw.is_null() {
            return Err(Error::Llvm {
                doing: "translating to LLVM IR",
                message: "the translation gave no module".to_string(),
            });
        }
        module.verify()?;
        Ok(module)
    }

    /// A context without a module.
    fn empty() -> Module {
        target::initialise();
        let mut diagnostics = Box::<Diagnostics>::default();
        // SAFETY: the diagnostics live in a box that is dropped after the context.
        let context = unsafe {
            let context = LLVMContextCreate();
            let pointer = (&raw mut *diagnostics).cast();
            LLVMContextSetDiagnosticHandler(context, Some(Diagnostics::handle), pointer);
            context
        };
        Module {
            raw: ptr::null_mut(),
            context,
            diagnostics,
            entries: Vec::new(),
            exported: Vec::new(),
        }
    }

    /// The IR as it is now, as text.
    pub fn ir(&self) -> String {
        // SAFETY: the module is alive.
        unsafe { take_message(LLVMPrintModuleToString(self.raw)) }
    }

    /// The names of the functions it defines.
    pub fn functions(&self) -> Vec<String> {
        self.defined()
            .map(|function| name_of(function).to_string())
            .collect()
    }

    /// Makes `name` callable from Rust: it has a C interface, `_mlir_ciface_<name>` (MLIR's
    /// `llvm.emit_c_interface`), and gets a wrapper that takes its arguments as an array of
    /// pointers. See [`crate::Function::call`].
    pub fn add_entry(&mut self, name: &str) -> Result<()> {
        let symbol = format!("_mlir_ciface_{name}");
        let Some(interface) = self.definition(&symbol) else {
            let prefix = "_mlir_ciface_";
            let known = self.functions().into_iter();
            let known = known
                .filter_map(|f| Some(f.strip_prefix(prefix)?.to_string()))
                .collect();
            return Err(Error::UnknownFunction {
                name: name.to_string(),
                known,
            });
        };
        // One copy of the code: the wrappers call it, they do not contain it.
        if let Some(function) = self.definition(name) {
            // SAFETY: the function and the attribute belong to this context.
            unsafe { add_enum_attribute(self.context, function, "noinline") };
        }
        let wrapper = c_string(&packed::symbol(name))?;
        // SAFETY: `interface` is a function of this module.
        let signature = unsafe { packed::wrap(self.raw, self.context, interface, &wrapper) };
        self.entries.push((name.to_string(), signature));
        Ok(())
    }

    /// Adds a C function for the [entry](Module::add_entry) `name`: the module is then one to be
    /// linked with `libmdhrt`, in which all else is internal, and not to be loaded here.
    pub fn add_c_function(&mut self, name: &str, interface: &Interface) -> Result<()> {
        let wrapper = packed::symbol(name);
        let Some(code) = self.definition(&wrapper) else {
            let known = self.entries.iter().map(|(entry, _)| entry.clone());
            return Err(Error::UnknownFunction {
                name: name.to_string(),
                known: known.collect(),
            });
        };
        // SAFETY: `code` wraps the entry, in this module and its context.
        unsafe { library::add(self.raw, self.context, interface, code)? };
        self.exported.push(c_string(&interface.name)?);
        let about = library::about_symbol(&interface.name);
        self.exported.push(c_string(&about)?);
        Ok(())
    }

    /// Has a file show the wrapper of the [entry](Module::add_entry) `name`, and nothing else: the
    /// module is then one to be linked with `libmdhrt`. Returns the wrapper's symbol.
    pub fn export_entry(&mut self, name: &str) -> Result<String> {
        let symbol = packed::symbol(name);
        self.exported.push(c_string(&symbol)?);
        Ok(symbol)
    }

    /// Compiles for the host: its CPU and features on every function, then LLVM's pipeline.
    pub fn optimise(self, level: Level) -> Result<Optimised> {
        self.optimise_for(Processor::Host, level)
    }

    /// The same for other processors; what it gives cannot be loaded here then.
    pub fn optimise_for(self, processor: Processor, level: Level) -> Result<Optimised> {
        self.optimise_with(Target::new(processor, level)?, level)
    }

    pub(crate) fn optimise_with(self, target: Target, level: Level) -> Result<Optimised> {
        self.optimise_within(limit::usual(), target, level)
    }

    /// The same with less effort, and a warning, where LLVM takes longer than that.
    fn optimise_within(self, limit: Duration, target: Target, level: Level) -> Result<Optimised> {
        let (saved, less) = (Saved::new(&self), target.at(Level::Quick));
        let full = move || self.optimise_now(target, level);
        // SAFETY: the work owns the module and the target.
        let slow = match unsafe { limit::within(limit, full) } {
            Ok(result) => return result,
            Err(slow) => slow,
        };
        if level == Level::Quick {
            return Err(Error::Slow(slow));
        }
        limit::warn(&slow);
        let (again, less) = (saved.module()?, less()?);
        let quick = move || again.optimise_now(less, Level::Quick);
        // SAFETY: likewise; nothing is shared with the work before.
        unsafe { limit::within(limit, quick) }.unwrap_or(Err(Error::Slow(slow)))
    }

    fn optimise_now(self, target: Target, level: Level) -> Result<Optimised> {
        // What entries have added: once, however many there are.
        self.verify()?;
        if !self.exported.is_empty() {
            // SAFETY: the module is alive, in this context.
            unsafe { library::close(self.raw, self.context, &self.exported) };
        }
        for function in self.defined() {
            // SAFETY: the function belongs to this module, the strings are copied.
            unsafe { target_function(function, &target)? };
        }
        // SAFETY: module and target machine are alive; the options are disposed once.
        unsafe {
            let triple = c_string(&target.triple)?;
            LLVMSetTarget(self.raw, triple.as_ptr());
            let layout = LLVMCreateTargetDataLayout(target.machine);
            LLVMSetModuleDataLayout(self.raw, layout);
            LLVMDisposeTargetData(layout);
            let options = LLVMCreatePassBuilderOptions();
            LLVMPassBuilderOptionsSetLoopInterleaving(options, 1);
            LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
            LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
            LLVMPassBuilderOptionsSetLoopUnrolling(options, 1);
            let error = LLVMRunPasses(self.raw, level.pipeline().as_ptr(), target.machine, options);
            LLVMDisposePassBuilderOptions(options);
            check("optimising LLVM IR", error)?;
        }
        self.diagnostics.check("optimising LLVM IR")?;
        for function in self.defined() {
            // SAFETY: the function has a body in this module, and so in its context.
            unsafe { backend::avoid_faults(self.context, function) };
        }
        if !self.exported.is_empty() {
            // SAFETY: the module is alive.
            unsafe { library::replace_calls(self.raw) };
        }
        Ok(Optimised(Arc::new(Code {
            module: self,
            target,
        })))
    }

    pub(crate) fn context(&self) -> LLVMContextRef {
        self.context
    }

    /// Fails with LLVM's findings if the IR breaks its rules.
    fn verify(&self) -> Result<()> {
        let mut message = ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: the module is alive; the message is LLVM's to give and ours to dispose.
        let (broken, message) = unsafe {
            let broken = LLVMVerifyModule(self.raw, action, &mut message);
            (broken != 0, take_message(message))
        };
        match broken {
            true => Err(Error::Llvm {
                doing: "verifying LLVM IR",
                message,
            }),
            false => self.diagnostics.check("verifying LLVM IR"),
        }
    }

    /// The function of that name, if this module defines it.
    fn definition(&self, name: &str) -> Option<LLVMValueRef> {
        let name = c_string(name).ok()?;
        // SAFETY: the module is alive, and the name ends in a null byte.
        let function = unsafe { LLVMGetNamedFunction(self.raw, name.as_ptr()) };
        // SAFETY: the function is one of the module's.
        let is_there = !function.is_null() && unsafe { LLVMIsDeclaration(function) == 0 };
        is_there.then_some(function)
    }

    /// Every function that has a body.
    pub(crate) fn defined(&self) -> impl Iterator<Item = LLVMValueRef> {
        let listed = |function: LLVMValueRef| (!function.is_null()).then_some(function);
        // SAFETY: the module is alive, and so are its functions; null ends the list.
        let first = listed(unsafe { LLVMGetFirstFunction(self.raw) });
        std::iter::successors(first, move |&f| listed(unsafe { LLVMGetNextFunction(f) }))
            .filter(|&function| unsafe { LLVMIsDeclaration(function) == 0 })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: owned by `self`; the module goes before its context.
        unsafe {
            if !self.raw.is_null() {
                LLVMDisposeModule(self.raw);
            }
            LLVMContextDispose(self.context);
        }
    }
}

/// Effort of LLVM's optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Level {
    /// Compiles fast: for intermediate stages that are run once.
    Quick,
    /// Runs fast: everything LLVM has.
    #[default]
    Full,
}

impl Level {
    fn pipeline(self) -> &'static CStr {
        match self {
            Level::Quick => c"default<O1>",
            Level::Full => c"default<O3>",
        }
    }

    pub(crate) fn codegen(self) -> LLVMCodeGenOptLevel {
        match self {
            Level::Quick => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            Level::Full => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
        }
    }
}

/// Formats that a module can be printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// Textual LLVM IR.
    LlvmIr,
    /// The host's assembly.
    Assembly,
    /// An ELF object file.
    Object,
}

/// A module as it was, which shares nothing with that.
struct Saved {
    bitcode: Vec<u8>,
    entries: Vec<(String, Signature)>,
    exported: Vec<CString>,
}

impl Saved {
    fn new(module: &Module) -> Saved {
        // SAFETY: the module is alive; the buffer is copied and disposed.
        let bitcode = unsafe { bytes(LLVMWriteBitcodeToMemoryBuffer(module.raw)) };
        Saved {
            bitcode,
            entries: module.entries.clone(),
            exported: module.exported.clone(),
        }
    }

    fn module(self) -> Result<Module> {
        let mut module = Module::empty();
        let (data, length) = (self.bitcode.as_ptr().cast(), self.bitcode.len());
        // SAFETY: the bitcode is copied into the buffer, which is disposed after it is read.
        let failed = unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, length, c"saved".as_ptr());
            let failed = LLVMParseBitcodeInContext2(module.context, buffer, &mut module.raw);
            LLVMDisposeMemoryBuffer(buffer);
            failed
        };
        module.diagnostics.check("reading bitcode")?;
        assert!(failed == 0, "LLVM reads what it has written");
        (module.entries, module.exported) = (self.entries, self.exported);
        Ok(module)
    }
}

/// The bytes of a buffer, which is disposed.
///
/// # Safety
/// The buffer is alive, and is not used afterwards.
unsafe fn bytes(buffer: LLVMMemoryBufferRef) -> Vec<u8> {
    // SAFETY: by this function's contract.
    unsafe {
        let (start, size) = (LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        let bytes = std::slice::from_raw_parts(start.cast::<u8>(), size).to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        bytes
    }
}

/// Optimised LLVM IR for the host. It is shared with LLVM where that has not ended.
pub struct Optimised(Arc<Code>);

struct Code {
    module: Module,
    target: Target,
}

// SAFETY: LLVM's objects belong to no thread, and one waits while another uses them.
unsafe impl Send for Code {}
// SAFETY: likewise.
unsafe impl Sync for Code {}

impl Optimised {
    /// The text or object file. What is emitted here is what [`Optimised::load`] runs.
    pub fn emit(&self, what: Emit) -> Result<Vec<u8>> {
        let kind = match what {
            Emit::LlvmIr => return Ok(self.module().ir().into_bytes()),
            Emit::Assembly => LLVMCodeGenFileType::LLVMAssemblyFile,
            Emit::Object => LLVMCodeGenFileType::LLVMObjectFile,
        };
        let shared = Arc::clone(&self.0);
        // SAFETY: the module is not used while this thread waits, and not again if it is in use for longer.
        let done = unsafe { limit::within(limit::usual(), move || generate(&shared, kind)) };
        done.unwrap_or_else(|slow| Err(Error::Slow(slow)))
    }

    /// Loads the object file into this process, with what it refers to linked.
    pub fn load(&self) -> Result<Jit> {
        Jit::load(&self.emit(Emit::Object)?, self.module().entries.clone())
    }

    pub(crate) fn module(&self) -> &Module {
        &self.0.module
    }

    /// The CPU that the code is for, by LLVM's name.
    pub fn cpu(&self) -> &str {
        &self.0.target.cpu
    }
}

/// Machine code of a module.
fn generate(code: &Code, kind: LLVMCodeGenFileType) -> Result<Vec<u8>> {
    let (module, target) = (&code.module, &code.target);
    let doing = "generating machine code";
    let (mut message, mut buffer) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: code generation changes the module, so a clone is used up; the buffer is copied and disposed.
    let code = unsafe {
        let clone = LLVMCloneModule(module.raw);
        let failed = LLVMTargetMachineEmitToMemoryBuffer(
            target.machine,
            clone,
            kind,
            &mut message,
            &mut buffer,
        );
        LLVMDisposeModule(clone);
        if failed != 0 {
            let message = take_message(message);
            return Err(Error::Llvm { doing, message });
        }
        bytes(buffer)
    };
    module.diagnostics.check(doing)?;
    Ok(code)
}

/// A function's name.
pub(crate) fn name_of<'a>(function: LLVMValueRef) -> &'a str {
    let mut length = 0;
    // SAFETY: LLVM returns the name's bytes, which live as long as the function; MLIR's symbols
    // are UTF-8.
    unsafe {
        let start: *const c_char = LLVMGetValueName2(function, &mut length);
        std::str::from_utf8(std::slice::from_raw_parts(start.cast(), length)).unwrap_or("")
    }
}

/// Gives a function the host's CPU, features and preferred vector width.
///
/// # Safety
/// `function` is alive.
unsafe fn target_function(function: LLVMValueRef, target: &Target) -> Result<()> {
    let (cpu, features) = (c_string(&target.cpu)?, c_string(&target.features)?);
    // SAFETY: by this function's contract; LLVM copies the strings.
    unsafe {
        let add = |key: &CStr, value: &CStr| {
            LLVMAddTargetDependentFunctionAttr(function, key.as_ptr(), value.as_ptr());
        };
        add(c"target-cpu", &cpu);
        add(c"target-features", &features);
        if let Some(width) = target.vector_width() {
            add(c"prefer-vector-width", width);
        }
    }
    Ok(())
}

/// Adds an attribute without a value, such as `noinline`.
///
/// # Safety
/// `function` belongs to `context`.
unsafe fn add_enum_attribute(context: LLVMContextRef, function: LLVMValueRef, name: &str) {
    // SAFETY: by this function's contract.
    unsafe {
        let attribute = enum_attribute(context, name);
        LLVMAddAttributeAtIndex(function, llvm_sys::LLVMAttributeFunctionIndex, attribute);
    }
}

/// An attribute without a value.
///
/// # Safety
/// The context is alive.
pub(crate) unsafe fn enum_attribute(context: LLVMContextRef, name: &str) -> LLVMAttributeRef {
    // SAFETY: by this function's contract.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        LLVMCreateEnumAttribute(context, kind, 0)
    }
}
