//! The machine that code is compiled for: the host, or others of its kind.

use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::sync::Once;

use llvm_sys::core::LLVMDisposeMessage;
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;

use crate::llvm::take_message;
use crate::module::Level;
use crate::{Error, Result};

/// Which processors code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Processor {
    /// This machine's, with everything it can do.
    #[default]
    Host,
    /// Those that servers have had for ten years: AVX2 and FMA on x86-64.
    Baseline,
    /// Those of a name that LLVM knows, with these features beside its own: `+avx512f,-vaes`.
    Named(&'static str, &'static str),
}

/// The name of [`Processor::Baseline`].
#[cfg(target_arch = "x86_64")]
const BASELINE: &str = "x86-64-v3";
#[cfg(not(target_arch = "x86_64"))]
const BASELINE: &str = "generic";

/// A target machine.
pub struct Target {
    pub(crate) machine: LLVMTargetMachineRef,
    pub(crate) triple: String,
    pub(crate) cpu: String,
    pub(crate) features: String,
}

impl Target {
    /// The host's triple, position-independent code, and the CPU and features of a processor.
    pub fn of(processor: Processor, level: Level) -> Result<Target> {
        initialise();
        let refused = |message| Error::Llvm {
            doing: "choosing the host as target",
            message,
        };
        // SAFETY: the strings are LLVM's own or outlive the calls; outputs are checked.
        unsafe {
            let triple = LLVMGetDefaultTargetTriple();
            let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
            if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
                LLVMDisposeMessage(triple);
                return Err(refused(take_message(message)));
            }
            let (cpu, features) = match processor {
                Processor::Host => (
                    take_message(LLVMGetHostCPUName()),
                    kept(LLVMGetHostCPUFeatures()),
                ),
                Processor::Baseline => (BASELINE.to_string(), CString::default()),
                Processor::Named(name, features) => {
                    (name.to_string(), CString::new(features).unwrap_or_default())
                }
            };
            let name = CString::new(cpu.as_str()).unwrap_or_default();
            let machine = LLVMCreateTargetMachine(
                target,
                triple,
                name.as_ptr(),
                features.as_ptr(),
                level.codegen(),
                LLVMRelocMode::LLVMRelocPIC,
                // One code model for object files and for the JIT, whose linker adds stubs for
                // what is far away.
                LLVMCodeModel::LLVMCodeModelDefault,
            );
            let target = Target {
                machine,
                triple: take_message(triple),
                cpu,
                features: features.to_string_lossy().into_owned(),
            };
            if machine.is_null() {
                return Err(refused(format!("no target machine for {}", target.triple)));
            }
            LLVMSetTargetMachineAsmVerbosity(machine, 1);
            Ok(target)
        }
    }

    /// The vector width that the optimiser should prefer, in bits: LLVM shies away from 512.
    pub(crate) fn vector_width(&self) -> Option<&'static CStr> {
        self.features
            .split(',')
            .any(|feature| feature == "+avx512f")
            .then_some(c"512")
    }
}

/// Features whose conversions to bf16 take denormal numbers for zeros, whatever the mode.
const FLUSHING: [&str; 2] = ["avx512bf16", "avxneconvert"];

/// The host's features (a message of LLVM's, which is freed) without those that give wrong
/// numbers.
///
/// # Safety
/// The message is LLVM's, and is not used any more.
unsafe fn kept(features: *mut c_char) -> CString {
    // SAFETY: by contract.
    let mut features = unsafe { take_message(features) };
    for feature in FLUSHING {
        features = features.replace(&format!("+{feature}"), &format!("-{feature}"));
    }
    CString::new(features).unwrap_or_default()
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.machine.is_null() {
            // SAFETY: created in `host`, disposed once.
            unsafe { LLVMDisposeTargetMachine(self.machine) };
        }
    }
}

/// What LLVM is told beside its defaults: to stop looking for pairs of loads and stores that may
/// touch in blocks that have more of them than this. The scheduler's time is quadratic in it, and
/// unrolled copies, which gain nothing from another order, took most of the time of compiling.
const OPTIONS: [&CStr; 2] = [c"mdh", c"-dag-maps-huge-region=200"];

/// Registers the host's back-end with LLVM.
pub(crate) fn initialise() {
    static ONCE: Once = Once::new();
    // SAFETY: these register static tables; `Once` keeps two threads from doing it together.
    ONCE.call_once(|| unsafe {
        let options = OPTIONS.map(CStr::as_ptr);
        LLVMParseCommandLineOptions(options.len() as i32, options.as_ptr(), ptr::null());
        #[cfg(target_arch = "x86_64")]
        {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
            LLVMInitializeX86AsmParser();
        }
        #[cfg(target_arch = "aarch64")]
        {
            LLVMInitializeAArch64TargetInfo();
            LLVMInitializeAArch64Target();
            LLVMInitializeAArch64TargetMC();
            LLVMInitializeAArch64AsmPrinter();
            LLVMInitializeAArch64AsmParser();
        }
    });
}
