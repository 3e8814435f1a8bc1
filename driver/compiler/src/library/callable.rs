//! Functions as machine code for a process that calls them itself, as the Python package does.
//!
//! ```text
//! text --form, raise, lower--> LLVM IR --> object code --mdh_jit::Jit::load_object--> mdhrt::call::Callee
//! ```
//!
//! The code is that of a library's C function, whose failures are values for the caller, without the function: the
//! caller fills the words that its [`Interface`] asks for.

use mdh_dialect::context;
use mdh_jit::interface::Interface;
use mdh_jit::{Emit, Level, Processor};
use mdh_passes::llvm::prefix_functions;
use mdh_passes::pipelines::{Line, LineOptions, Raise, RangeChecks, Target};
use mdh_passes::support::deterministic;
use melior::ir::Module;

use crate::cli::Device;
use crate::error::Result;
use crate::formed::Formed;
use crate::host::Host;
use crate::library::signature;
use crate::source::Source;
use crate::tuned::{Choice, Machine, Wanted};
use crate::{compile, diagnostics, execute, schedules};

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
}

/// Machine code of a function.
pub struct Callable {
    /// The words that a call takes.
    pub interface: Interface,
    /// The symbol of the code, which is of the type [`mdhrt::call::Code`].
    pub symbol: String,
    /// An object file for this machine.
    pub object: Vec<u8>,
}

/// Compiles a function of a program for this machine's processor. What is wrong with it has been
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
        take_tuned(host, &formed)?;
    }
    let entry = formed.entry()?;
    let interface = signature::interface(&entry)?;
    execute::expect_code(compile::operation(&formed.module), Device::Cpu, None)?;
    let mut module = formed.copy(&context, &entry);
    let line = Line {
        target: Target::Cpu,
        options: LineOptions {
            ranges: RangeChecks::from_flag(!request.is_unchecked),
            ..LineOptions::RUN
        },
    };
    compile::run_all(
        &host.machine,
        &context,
        &mut module,
        &line.after(compile::RAISED),
    )?;
    let (symbol, object) = object(&module, &entry.name, Processor::Host)?;
    Ok(Callable {
        interface,
        symbol,
        object,
    })
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
fn take_tuned(host: &Host, formed: &Formed) -> Result<()> {
    let module = compile::operation(&formed.module);
    let function = crate::select::function(module, &formed.function)?;
    let wanted = Wanted::new(host, None, Machine::processor(host))?;
    match wanted.exact(function)?.choice {
        Choice::Kept(plans) => schedules::set(function, &plans),
        Choice::Model(_) | Choice::Nothing { .. } => Ok(()),
    }
}
