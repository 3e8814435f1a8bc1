//! The machine that code is compiled for: the host, others of its kind, or a GPU.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::Once;

use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;

use crate::llvm::{c_string, take_message};
use crate::module::Level;
use crate::{Error, Result};

/// Processors that code is for.
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

/// The host's processor as LLVM calls it, with its features: code for one runs on another where these are equal.
pub fn host() -> String {
    // SAFETY: the strings are LLVM's own.
    unsafe {
        let cpu = take_message(LLVMGetHostCPUName());
        format!("{cpu} {}", take_message(LLVMGetHostCPUFeatures()))
    }
}

/// A target machine.
pub struct Target {
    pub(crate) machine: LLVMTargetMachineRef,
    pub(crate) triple: String,
    pub(crate) cpu: String,
    pub(crate) features: String,
    relocation: LLVMRelocMode,
}

impl Target {
    /// The host's triple, position-independent code, and the CPU and features of a processor.
    pub fn new(processor: Processor, level: Level) -> Result<Target> {
        initialise();
        // SAFETY: the strings are LLVM's own.
        let triple = unsafe { take_message(LLVMGetDefaultTargetTriple()) };
        let (cpu, features) = match processor {
            // SAFETY: likewise.
            Processor::Host => unsafe {
                let cpu = take_message(LLVMGetHostCPUName());
                (cpu, kept(LLVMGetHostCPUFeatures()))
            },
            Processor::Baseline => (BASELINE.to_string(), String::new()),
            Processor::Named(name, features) => (name.to_string(), features.to_string()),
        };
        let target = Target::create(triple, cpu, features, level, LLVMRelocMode::LLVMRelocPIC)?;
        // SAFETY: the machine is alive.
        unsafe { LLVMSetTargetMachineAsmVerbosity(target.machine, 1) };
        Ok(target)
    }

    /// A chip of NVIDIA's (`sm_90a`), with the version of PTX that it needs.
    pub fn nvidia(chip: &str) -> Result<Target> {
        initialise();
        let triple = "nvptx64-nvidia-cuda".to_string();
        let relocation = LLVMRelocMode::LLVMRelocDefault;
        let (cpu, level) = (chip.to_string(), Level::Full);
        Target::create(triple, cpu, String::new(), level, relocation)
    }

    fn create(
        triple: String,
        cpu: String,
        features: String,
        level: Level,
        relocation: LLVMRelocMode,
    ) -> Result<Target> {
        let refused = |message| Error::Llvm {
            doing: "choosing a target",
            message,
        };
        let [name, processor, extras] = [&triple, &cpu, &features].map(|text| c_string(text));
        let (name, processor, extras) = (name?, processor?, extras?);
        let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the strings outlive the calls, outputs are checked.
        let machine = unsafe {
            if LLVMGetTargetFromTriple(name.as_ptr(), &mut target, &mut message) != 0 {
                return Err(refused(take_message(message)));
            }
            LLVMCreateTargetMachine(
                target,
                name.as_ptr(),
                processor.as_ptr(),
                extras.as_ptr(),
                level.codegen(),
                relocation,
                // One code model for object files and for the JIT, whose linker adds stubs for
                // what is far away.
                LLVMCodeModel::LLVMCodeModelDefault,
            )
        };
        if machine.is_null() {
            return Err(refused(format!("no target machine for {triple}")));
        }
        Ok(Target {
            machine,
            triple,
            cpu,
            features,
            relocation,
        })
    }

    /// Creates the same with another effort, when it is asked to.
    pub(crate) fn at(&self, level: Level) -> impl FnOnce() -> Result<Target> + use<> {
        let [triple, cpu, features] = [&self.triple, &self.cpu, &self.features].map(String::clone);
        let relocation = self.relocation;
        move || Target::create(triple, cpu, features, level, relocation)
    }

    /// The vector width that the optimiser should prefer, in bits: LLVM shies away from 512.
    pub(crate) fn vector_width(&self) -> Option<&'static CStr> {
        self.features
            .split(',')
            .any(|feature| feature == "+avx512f")
            .then_some(c"512")
    }
}

/// Features that are not used. Conversions to bf16 of the first two take denormal numbers for zeros, whatever
/// the mode. With the last, which exchanges any bytes of a vector, LLVM 22 selects instructions for ever where
/// some of the lanes of a difference from zero are reversed.
const DROPPED: [&str; 3] = ["avx512bf16", "avxneconvert", "avx512vbmi"];

/// The host's features (a message of LLVM's, which is freed) without those that are not used.
///
/// # Safety
/// The message is LLVM's, and is not used any more.
unsafe fn kept(features: *mut c_char) -> String {
    // SAFETY: by contract.
    let features = unsafe { take_message(features) };
    let known = features
        .split(',')
        .map(|feature| match feature.strip_prefix('+') {
            Some(name) if DROPPED.contains(&name) => format!("-{name}"),
            _ => feature.to_owned(),
        });
    known.collect::<Vec<_>>().join(",")
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.machine.is_null() {
            // SAFETY: created in `create`, disposed once.
            unsafe { LLVMDisposeTargetMachine(self.machine) };
        }
    }
}

/// LLVM's options beside its defaults.
///
/// To stop looking for pairs of loads and stores that may touch in blocks that have more of them than
/// this. The scheduler's time is quadratic in it, and unrolled copies, which gain nothing from another
/// order, took most of the time of compiling.
///
/// Not to move what two branches do last behind both: versions of a tile do the same with what they
/// load in different ways, and all that they have loaded would go through memory to the one place
/// that computes.
const OPTIONS: [&CStr; 3] = [
    c"mdh",
    c"-dag-maps-huge-region=200",
    c"-simplifycfg-sink-common=false",
];

/// Registers the back-ends of the host and of NVIDIA's GPUs with LLVM.
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
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    });
}
