//! Functions as machine code for a process that calls them itself, as the Python package and the C interface do.
//!
//! ```text
//! Request --form, raise, lower--> LLVM IR --> object code --Loaded::new--> what Words call
//!                           `---> kernels --> PTX ------------'
//! ```
//!
//! The code is that of a library's C function, whose failures are values for the caller, without the function: the
//! caller fills the [words](crate::library::words) that its [`Interface`] asks for.

use std::path::Path;

use mdh_cuda::{Capability, Facts, Visitor};
use mdh_dialect::marks::DEVICE_MEMORY;
use mdh_dialect::{context, ir, ops};
use mdh_jit::interface::Interface;
use mdh_jit::{Emit, Level, Processor};
use mdh_passes::llvm::prefix_functions;
use mdh_passes::pipelines::{Line, LineOptions, Raise, RangeChecks, Target};
use mdh_passes::support::deterministic;
use melior::Context;
use melior::ir::Module;

use crate::cli::{CompileArguments, Device, OutFile, Size, Spelling, Stage};
use crate::error::{Error, Result};
use crate::explain::spelled::spelled;
use crate::formed::Formed;
use crate::host::Host;
use crate::library::{self, signature};
use crate::source::Source;
use crate::tuned::{Choice, Machine, Wanted};
use crate::{compile, diagnostics, execute, ptx, schedule_command, schedules, sized};

/// A GPU that computes, and the memory of the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Its number, from 0.
    pub number: u32,
    /// True if arrays are in its memory; those in the host's are copied.
    pub has_arrays: bool,
}

/// A wish for machine code of a program's function.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The name that stands for the program in messages; as that of a file it says which language it is in.
    pub name: String,
    /// The program: text, or bytecode.
    pub program: Vec<u8>,
    /// The function; its only one if none is named.
    pub entry: Option<String>,
    /// The schedule that it is given, in any of the spellings of `mdh run --schedule`.
    pub schedule: Option<String>,
    /// Sizes of dimensions that the function leaves open: all of them, or none.
    pub sizes: Vec<Size>,
    /// True if the best schedule that was tuned for it is taken, where there is one for its own sizes.
    pub is_tuned: bool,
    /// True if results must not depend on the number of cores.
    pub is_deterministic: bool,
    /// True if the checks at run time that views stay within their buffers are left out.
    pub is_unchecked: bool,
    /// The GPU that computes; this machine's processor if there is none.
    pub gpu: Option<Gpu>,
}

impl Request {
    /// The program, for the sizes. What is wrong with it has been [said](crate::error::say) when an error comes back.
    fn source(&self) -> Result<Source> {
        let source = Source::from_user(&self.name, self.program.clone())?;
        if self.sizes.is_empty() {
            return Ok(source);
        }
        let context = context::program_context();
        diagnostics::show(&context, &source);
        diagnostics::hide_warnings(&context);
        let text = sized::program(&context, &source, self.entry.as_deref(), &self.sizes)?;
        Ok(Source::from_text(&self.name, &text))
    }

    fn line(&self) -> Line {
        Line {
            target: self.gpu.map_or(Target::Cpu, |_| Target::Cuda),
            options: LineOptions {
                ranges: RangeChecks::from_flag(!self.is_unchecked),
                ..LineOptions::RUN
            },
        }
    }

    fn device(&self) -> Device {
        self.gpu.map_or(Device::Cpu, |_| Device::Cuda)
    }
}

/// Machine code of a function.
#[derive(Clone, Debug)]
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

impl Callable {
    /// The interface of code, from its text.
    ///
    /// # Errors
    /// If the text is that of another version.
    pub fn interface_of(text: &str) -> Result<Interface> {
        let interface = text.parse();
        interface.map_err(|_| Error::input("the code is of another version of mdh"))
    }
}

/// Compiles a function of a program for this machine's processor, or for a GPU. What is wrong with it has been
/// [said](crate::error::say) when an error comes back.
pub fn compile(host: &Host, request: &Request) -> Result<Callable> {
    let facts = request.gpu.map(|gpu| Visitor::facts(gpu.number));
    let facts = facts.transpose()?;
    mdh_passes::register_all();
    let context = context::program_context();
    let formed = formed(host, &context, request, facts.as_ref())?;
    let entry = formed.entry()?;
    let interface = signature::interface(&entry)?;
    let mut module = formed.copy(&context, &entry);
    if request.gpu.is_some_and(|gpu| gpu.has_arrays) {
        let functions = ir::find_all(compile::operation(&module), &[ops::func::FUNC]);
        functions
            .into_iter()
            .for_each(|function| DEVICE_MEMORY.set(function));
    }
    let chip = facts.map(|facts| facts.capability);
    let kernels = lower(host, &context, &mut module, request.line(), chip)?;
    let (symbol, object) = object(&module, &entry.name, Processor::Host)?;
    Ok(Callable {
        interface,
        symbol,
        object,
        kernels,
    })
}

/// Makes a file with the C function of a function that was compiled, for the processor: an object file, its header, or
/// a shared library, for a file of that name.
///
/// # Errors
/// As for [`compile()`]; if it has no form in C; if a GPU computes.
pub fn save(host: &Host, request: &Request, stage: Stage, path: &Path) -> Result<Vec<u8>> {
    if request.gpu.is_some() {
        return Err(Error::usage(format!(
            "found a function that a GPU computes, expected one of the processor: a file of --emit {} launches nothing",
            stage.name()
        )));
    }
    mdh_passes::register_all();
    let context = context::program_context();
    let mut formed = formed(host, &context, request, None)?;
    let entries = vec![formed.entry()?];
    let arguments = CompileArguments {
        entry: Some(formed.function.clone()),
        no_range_checks: request.is_unchecked,
        out: OutFile {
            file: Some(path.to_path_buf()),
        },
        ..CompileArguments::new(Path::new(&request.name), stage)
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let asm = &host.machine;
    library::emit(
        asm,
        &context,
        &mut formed.module,
        entries,
        &arguments,
        &stem,
    )
}

/// The schedules of a function's computations as it is compiled, in JSON: those that it was given, or that were chosen.
///
/// # Errors
/// As for [`compile()`]; if it has no computation.
pub fn schedule(host: &Host, request: &Request) -> Result<String> {
    let facts = request.gpu.map(|gpu| Visitor::facts(gpu.number));
    let facts = facts.transpose()?;
    mdh_passes::register_all();
    let context = context::program_context();
    let formed = formed(host, &context, request, facts.as_ref())?;
    let mut module = formed.copy(&context, &formed.entry()?);
    let line = request.line().between(compile::RAISED, SCHEDULED);
    compile::run_all(&host.machine, &context, &mut module, &line)?;
    let function = crate::select::function(compile::operation(&module), &formed.function)?;
    let plans = schedule_command::plans(function)?.ok_or_else(|| {
        Error::input(format!(
            "'{}' has no computation with a schedule",
            formed.function
        ))
    })?;
    Ok(spelled(plans, Spelling::Json))
}

/// The stage at which computations have schedules.
const SCHEDULED: &str = "scheduled";

/// A function whose computations are formed, and have the schedules that it is given.
fn formed<'c>(
    host: &Host,
    context: &'c Context,
    request: &Request,
    facts: Option<&Facts>,
) -> Result<Formed<'c>> {
    let source = request.source()?;
    diagnostics::show(context, &source);
    let wanted = request.entry.as_deref();
    let module = source.parse_wanted(context, wanted)?;
    if request.is_deterministic {
        deterministic::want(compile::operation(&module));
    }
    let formed = Formed::of_module(context, module, &source, wanted, Raise::On)?;
    let schedule = request.schedule.as_ref();
    let schedule = schedule.map(|text| Source::from_user("schedule", text.clone().into_bytes()));
    formed.apply_to(&formed.module, schedule.transpose()?.as_ref())?;
    if request.is_tuned && request.schedule.is_none() && host.tuned.is_some() {
        take_tuned(host, &formed, facts)?;
    }
    execute::expect_code(compile::operation(&formed.module), request.device(), None)?;
    Ok(formed)
}

/// Lowers a module, and returns the PTX of its kernels if it is for a chip.
fn lower(
    host: &Host,
    context: &Context,
    module: &mut Module,
    line: Line,
    chip: Option<Capability>,
) -> Result<Option<String>> {
    let machine = &host.machine;
    let Some(chip) = chip else {
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
    let kernels = ptx::kernels_of(context, module, chip)?;
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
fn take_tuned(host: &Host, formed: &Formed, gpu: Option<&Facts>) -> Result<()> {
    let module = compile::operation(&formed.module);
    let function = crate::select::function(module, &formed.function)?;
    let machine = match gpu {
        None => Machine::processor(host),
        Some(gpu) => Machine::Gpu {
            name: Some(gpu.name.clone()),
            chip: Some(gpu.capability),
        },
    };
    let wanted = Wanted::new(host, None, machine)?;
    match wanted.exact(function)?.choice {
        Choice::Kept(plans) => schedules::set(function, &plans),
        Choice::Model(_) | Choice::Nothing { .. } => Ok(()),
    }
}
