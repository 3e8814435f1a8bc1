//! Functions as machine code for a process that calls them itself, as the Python package does.
//!
//! ```text
//! text --form, raise, lower--> LLVM IR --> object code --mdh_jit::Jit::load_object--> mdhrt::call::Callee
//!                        `---> kernels --> PTX --mdh_cuda::Visitor--> what it launches
//! ```
//!
//! The code is that of a library's C function, whose failures are values for the caller, without the function: the
//! caller fills the words that its [`Interface`] asks for.

use mdh_cuda::Capability;
use mdh_dialect::marks::DEVICE_MEMORY;
use mdh_dialect::{context, ir, ops};
use mdh_jit::interface::Interface;
use mdh_jit::{Emit, Level, Processor};
use mdh_passes::llvm::prefix_functions;
use mdh_passes::pipelines::{Line, LineOptions, Raise, RangeChecks, Target};
use mdh_passes::support::deterministic;
use melior::Context;
use melior::ir::Module;

use crate::cli::Device;
use crate::error::Result;
use crate::formed::Formed;
use crate::host::Host;
use crate::library::signature;
use crate::source::Source;
use crate::tuned::{Choice, Machine, Wanted};
use crate::{compile, diagnostics, execute, ptx, schedules};

/// A GPU that computes, and the memory of the arrays.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The name that its driver gives it, by which schedules are kept.
    pub name: String,
    /// The chip that kernels are for.
    pub chip: Capability,
    /// True if arrays are in its memory; those in the host's are copied.
    pub has_arrays: bool,
}

/// A wish for machine code.
#[derive(Default)]
pub struct Request<'t> {
    /// The function; its only one if none is named.
    pub entry: Option<&'t str>,
    /// The schedule that it is given, in any of the spellings of `mdh run --schedule`.
    pub schedule: Option<&'t Source>,
    /// True if the best schedule that was tuned for it is taken, where there is one for its own sizes.
    pub is_tuned: bool,
    /// True if results must not depend on the number of cores.
    pub is_deterministic: bool,
    /// True if the checks at run time that views stay within their buffers are left out.
    pub is_unchecked: bool,
    /// The GPU that computes; this machine's processor if there is none.
    pub gpu: Option<Gpu>,
}

/// Machine code of a function.
pub struct Callable {
    /// The words that a call takes.
    pub interface: Interface,
    /// The symbol of the code, which is of the type [`mdhrt::call::Code`].
    pub symbol: String,
    /// An object file for this machine.
    pub object: Vec<u8>,
    /// The kernels that the code launches, as PTX, if a GPU computes.
    pub kernels: Option<String>,
}

/// Compiles a function of a program for this machine's processor, or for a GPU. What is wrong with it has been
/// [said](crate::error::say) when an error comes back.
pub fn compile(host: &Host, source: &Source, request: &Request) -> Result<Callable> {
    mdh_passes::register_all();
    let context = context::program_context();
    diagnostics::show(&context, source);
    let module = source.parse_wanted(&context, request.entry)?;
    if request.is_deterministic {
        deterministic::want(compile::operation(&module));
    }
    let formed = Formed::of_module(&context, module, source, request.entry, Raise::On)?;
    formed.apply_to(&formed.module, request.schedule)?;
    if request.is_tuned && request.schedule.is_none() {
        take_tuned(host, &formed, request.gpu.as_ref())?;
    }
    let entry = formed.entry()?;
    let interface = signature::interface(&entry)?;
    let (device, target) = match request.gpu {
        None => (Device::Cpu, Target::Cpu),
        Some(_) => (Device::Cuda, Target::Cuda),
    };
    execute::expect_code(compile::operation(&formed.module), device, None)?;
    let mut module = formed.copy(&context, &entry);
    if request.gpu.as_ref().is_some_and(|gpu| gpu.has_arrays) {
        let functions = ir::find_all(compile::operation(&module), &[ops::func::FUNC]);
        functions
            .into_iter()
            .for_each(|function| DEVICE_MEMORY.set(function));
    }
    let line = Line {
        target,
        options: LineOptions {
            ranges: RangeChecks::from_flag(!request.is_unchecked),
            ..LineOptions::RUN
        },
    };
    let kernels = lower(host, &context, &mut module, line, request)?;
    let (symbol, object) = object(&module, &entry.name, Processor::Host)?;
    Ok(Callable {
        interface,
        symbol,
        object,
        kernels,
    })
}

/// Lowers a module, and returns the PTX of its kernels if a GPU computes.
fn lower(
    host: &Host,
    context: &Context,
    module: &mut Module,
    line: Line,
    request: &Request,
) -> Result<Option<String>> {
    let machine = &host.machine;
    let Some(gpu) = &request.gpu else {
        compile::run_all(machine, context, module, &line.after(compile::RAISED))?;
        return Ok(None);
    };
    const DEVICE: &str = "device";
    compile::run_all(
        machine,
        context,
        module,
        &line.between(compile::RAISED, DEVICE),
    )?;
    let kernels = ptx::kernels_of(context, module, gpu.chip)?;
    compile::run_all(machine, context, module, &line.after(DEVICE))?;
    Ok(kernels)
}

/// Returns the symbol of a function's wrapper, and an object file that shows it alone, of a module that is lowered.
pub fn object(lowered: &Module, function: &str, processor: Processor) -> Result<(String, Vec<u8>)> {
    let compiled = format!("{}{function}", prefix_functions::PREFIX);
    let mut llvm = compile::to_llvm(lowered)?;
    llvm.add_entry(&compiled)?;
    let symbol = llvm.export_entry(&compiled)?;
    let code = llvm.optimise_for(processor, Level::Full)?;
    Ok((symbol, code.emit(Emit::Object)?))
}

/// Gives a function the best schedule that was tuned for its own sizes, if there is one: silently, since nobody has
/// asked for it.
fn take_tuned(host: &Host, formed: &Formed, gpu: Option<&Gpu>) -> Result<()> {
    let module = compile::operation(&formed.module);
    let function = crate::select::function(module, &formed.function)?;
    let machine = match gpu {
        None => Machine::processor(host),
        Some(gpu) => Machine::Gpu {
            name: Some(gpu.name.clone()),
            chip: Some(gpu.chip),
        },
    };
    let wanted = Wanted::new(host, None, machine)?;
    match wanted.exact(function)?.choice {
        Choice::Kept(plans) => schedules::set(function, &plans),
        Choice::Model(_) | Choice::Nothing { .. } => Ok(()),
    }
}
