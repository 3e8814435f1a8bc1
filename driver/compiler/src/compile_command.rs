//! `mdh compile`: every stage of a compilation, readable.

use std::collections::BTreeMap;

use clap::ValueEnum;

use mdh_dialect::{context, schedule};
use mdh_passes::pipelines::{Line, Pipeline, Target};
use mdh_passes::support::deterministic;
use mdh_schedule::asm::Asm;
use melior::Context;
use melior::ir::Module;

use crate::cli::{CompileArguments, Device, Stage};
use crate::devices::{self, NamedDevice};
use crate::error::{Error, Result};
use crate::formed::{Formed, History};
use crate::functions::symbol_name;
use crate::host::Host;
use crate::names::Names;
use crate::package::Wanted;
use crate::progress::{Progress, Reader};
use crate::select::{function, select};
use crate::source::Source;
use crate::tuned::{self, Machine};
use crate::{compile, diagnostics, execute, library, output, package, ptx, schedules, versions};

/// Runs the command.
pub fn run(host: &Host, arguments: &CompileArguments) -> Result<()> {
    run_with(host, arguments, || Source::read(&arguments.file))
}

/// The same of a program that is read somewhere else, behind the checks of the command line.
pub fn run_with(
    host: &Host,
    arguments: &CompileArguments,
    read: impl FnOnce() -> Result<Source>,
) -> Result<()> {
    check(arguments)?;
    arguments.out.check()?;
    if matches!(arguments.emit, Stage::Obj | Stage::Shared | Stage::Package) {
        output::expect_no_terminal(
            arguments.out.path(),
            &format!("--emit {}", arguments.emit.name()),
        )?;
    }
    let source = read()?;
    let progress = Progress::start(Reader::Person, "compiling");
    let bytes = compile(host, &source, arguments)?;
    drop(progress);
    arguments.out.write(&bytes)
}

/// Compiles a program, and returns what the command prints.
pub fn compile(host: &Host, source: &Source, arguments: &CompileArguments) -> Result<Vec<u8>> {
    mdh_passes::register_all();
    let context = context::program_context();
    diagnostics::show(&context, source);
    if arguments.no_warnings {
        diagnostics::hide_warnings(&context);
    }
    if let Some(filter) = &arguments.remarks.filter {
        diagnostics::show_remarks(&context, source, filter);
    }
    let mut module = source.parse_wanted(&context, arguments.entry.as_deref())?;
    if arguments.deterministic {
        deterministic::want(compile::operation(&module));
    }
    let names = source.names(compile::operation(&module));
    let wanted = arguments.entry.as_deref();
    let is_given = arguments.given.option().is_some();
    if arguments.emit == Stage::Package && !is_given {
        let formed = Formed::of_module(&context, module, source, wanted, arguments.raise())?;
        return package::emit(&context, &formed, &Wanted::new(arguments)?);
    }
    if !is_given && !goes_beyond_raised(arguments)? {
        for pipeline in leading(arguments)? {
            compile::run_portable(&context, &mut module, pipeline)?;
        }
        return Ok(module.as_operation().to_string().into_bytes());
    }
    let history = History::form(&context, &mut module, arguments.raise())?;
    if is_given {
        give_all(host, &context, &mut module, &names, source, arguments)?;
    }
    let file = FormedFile {
        module,
        history,
        names,
    };
    emit(host, &context, file, source, arguments)
}

/// A file whose computations are formed.
struct FormedFile<'c> {
    module: Module<'c>,
    history: History<'c>,
    /// The names in each function.
    names: BTreeMap<String, Names>,
}

/// Gives functions the schedules that the command is given.
fn give_all<'c>(
    host: &Host,
    context: &'c Context,
    module: &mut Module<'c>,
    names: &BTreeMap<String, Names>,
    source: &Source,
    arguments: &CompileArguments,
) -> Result<()> {
    let functions = functions(module, source, arguments)?;
    let is_alone = functions.len() == 1;
    for name in &functions {
        let names = names.get(name).cloned().unwrap_or_default();
        let label = (!is_alone).then(|| name.clone());
        give(host, context, module, (name, &names), arguments, label)?;
        schedules::note_limits(&host.machine, compile::operation(module), name)?;
    }
    Ok(())
}

/// Makes what is emitted of a file.
fn emit<'c>(
    host: &Host,
    context: &'c Context,
    file: FormedFile<'c>,
    source: &Source,
    arguments: &CompileArguments,
) -> Result<Vec<u8>> {
    let FormedFile {
        mut module,
        history,
        names,
    } = file;
    let asm = &machine_of_model(host, arguments)?;
    let wanted = arguments.entry.as_deref();
    Ok(match arguments.emit {
        Stage::Package => {
            let formed = Formed::of_history(module, history, source, wanted)?;
            package::emit(context, &formed, &Wanted::new(arguments)?)?
        }
        Stage::Ptx => {
            expect_code(&module, arguments)?;
            library::protect(context, &module, &history, &names, wanted)?;
            ptx::emit(asm, context, &mut module, arguments)?
        }
        Stage::Llvm | Stage::Asm | Stage::Obj | Stage::Header | Stage::Shared => {
            expect_code(&module, arguments)?;
            let entries = match library::is_linked(arguments.emit) {
                true => library::described(&module, &history, &names, wanted)?,
                // What is only read need not have a form in C.
                false => library::entries(&module, &history, &names, wanted)?,
            };
            let stem = source.stem();
            library::emit(asm, context, &mut module, entries, arguments, stem)?
        }
        _ => {
            lower(asm, context, &mut module, arguments)?;
            module.as_operation().to_string().into_bytes()
        }
    })
}

/// The pipelines that lead to a stage that is printed as MLIR; none for others.
fn leading(arguments: &CompileArguments) -> Result<Vec<&'static Pipeline>> {
    let stage = arguments.emit.mlir();
    let to = |stage: String| line(arguments).to(&stage);
    let leading = stage.map_or(Ok(Vec::new()), to);
    leading.map_err(|why| Error::usage(format!("--emit: {why}")))
}

/// The stages of the target.
fn line(arguments: &CompileArguments) -> Line {
    Line {
        target: arguments.target().unwrap_or(Device::Cpu).into(),
        options: arguments.line_options(),
    }
}

/// Returns whether more than forming and raising leads to what is emitted.
fn goes_beyond_raised(arguments: &CompileArguments) -> Result<bool> {
    let raised = line(arguments).to(compile::RAISED).map_err(Error::bug)?;
    let is_code = arguments.emit.mlir().is_none() && arguments.emit != Stage::Mdh;
    Ok(is_code || leading(arguments)?.len() > raised.len())
}

/// The names of the functions that are given schedules: all that there is code for, of what was tuned. A file of
/// schedules is one function's.
fn functions(
    module: &Module,
    source: &Source,
    arguments: &CompileArguments,
) -> Result<Vec<String>> {
    let wanted = arguments.entry.as_deref();
    let functions = library::functions(module, wanted).into_iter();
    let functions = functions.filter(|op| !schedule::computations(*op).is_empty());
    let functions: Vec<String> = functions.map(|op| symbol_name(op).to_string()).collect();
    let has_all = arguments.given.tuned.is_some() && arguments.emit != Stage::Package;
    match has_all && !functions.is_empty() {
        true => Ok(functions),
        false => Ok(vec![select(
            compile::operation(module),
            wanted,
            source.stem(),
        )?]),
    }
}

/// Gives a function, `of` several, the schedules that the command is given: versions for the sizes that were tuned,
/// where it leaves sizes open.
fn give<'c>(
    host: &Host,
    context: &'c Context,
    module: &mut Module<'c>,
    (name, names): (&str, &Names),
    arguments: &CompileArguments,
    of: Option<String>,
) -> Result<()> {
    let of_device = || machine(host, arguments);
    let Some(wanted) = schedules::wanted(host, &arguments.given, of_device)? else {
        let module = compile::operation(module);
        return schedules::give(host, &arguments.given, of_device, module, name).map(|_| ());
    };
    let wanted = tuned::Wanted { of, ..wanted };
    // A schedule of the nearest sizes is none for all others.
    if !versions::give(context, module, (name, names), &wanted)? {
        let function = function(compile::operation(module), name)?;
        schedules::take(function, wanted.nearest(function)?, &wanted)?;
    }
    Ok(())
}

/// The machine that code is for, as schedules are kept for it.
fn machine(host: &Host, arguments: &CompileArguments) -> Result<Machine> {
    match (arguments.target(), arguments.emit) {
        (Some(Device::Sim), _) => Err(tuned::none_for_sim()),
        (Some(Device::Cuda), _) | (_, Stage::Ptx | Stage::Package) => {
            let name = match arguments.device {
                Some(NamedDevice::Gpu(gpu)) => Some(gpu.name.to_string()),
                _ => None,
            };
            let is_known = name.is_none() && arguments.device.and_then(NamedDevice::chip).is_some();
            let is_known = is_known || arguments.chip.is_some();
            let chip = is_known.then(|| arguments.kernel_chip()).transpose()?;
            Ok(Machine::Gpu { name, chip })
        }
        _ => Ok(Machine::Cpu(Box::new(machine_of_model(host, arguments)?))),
    }
}

/// The machine for which the model chooses schedules.
fn machine_of_model(host: &Host, arguments: &CompileArguments) -> Result<Asm> {
    let Some(name) = &arguments.asm else {
        return Ok(host.machine.clone());
    };
    let asm = devices::machine(name)?;
    match asm.has_kernels() {
        false => Ok(asm),
        true => Err(Error::usage(format!(
            "--asm: found '{name}', whose schedules are of blocks and threads: expected a machine with the layers of \
             cpu, or --device cuda"
        ))),
    }
}

/// Fails for options that a stage has no use for.
fn check(arguments: &CompileArguments) -> Result<()> {
    let is_code = matches!(
        arguments.emit,
        Stage::Llvm | Stage::Asm | Stage::Obj | Stage::Shared
    );
    if arguments.debug_info && !is_code {
        return Err(Error::usage(
            "--debug-info is for code: expected --emit llvm, asm, obj or shared",
        ));
    }
    let has_kernels = matches!(arguments.emit, Stage::Ptx | Stage::Package);
    if arguments.chip.is_some() && !has_kernels {
        return Err(Error::usage(
            "--chip is for kernels: expected --emit ptx or package",
        ));
    }
    check_stage(arguments)?;
    let is_run =
        arguments.random.is_some() || !arguments.size.is_empty() || !arguments.ranges.is_empty();
    if is_run && arguments.emit != Stage::Package {
        return Err(Error::usage(
            "--random, --size and --range are for what a package is checked on: expected --emit package",
        ));
    }
    arguments.kernel_chip()?;
    check_asm(arguments)?;
    if let Some(option) = arguments.given.option()
        && arguments.emit == Stage::Mdh
    {
        return Err(Error::usage(format!(
            "{option} needs a computation, which --emit mdh does not form: expected a later stage, \
             such as --emit compute"
        )));
    }
    Ok(())
}

/// Fails for another machine where it has no say, or code would be made for it: it is made for this one.
fn check_asm(arguments: &CompileArguments) -> Result<()> {
    if arguments.asm.is_none() {
        return Ok(());
    }
    if arguments
        .target()
        .is_some_and(|target| target != Device::Cpu)
    {
        return Err(Error::usage(
            "--asm is for --device cpu: schedules of kernels are for every GPU",
        ));
    }
    match arguments.emit.is_code_of(Device::Cpu) || arguments.emit.is_code_of(Device::Cuda) {
        false => Ok(()),
        true => Err(Error::usage(format!(
            "--asm: found --emit {}, which is code for this machine's processor: expected a stage that is MLIR, such as \
             --emit scheduled; what another machine runs is compiled there",
            arguments.emit.name()
        ))),
    }
}

/// Fails for a stage that the target has not.
fn check_stage(arguments: &CompileArguments) -> Result<()> {
    let device = arguments.target().unwrap_or(Device::Cpu);
    let mut stages = vec!["mdh".to_string()];
    stages.extend(line(arguments).stages().into_iter().map(String::from));
    let codes = Stage::value_variants().iter();
    let codes_of_device = codes.filter(|stage| match arguments.target() {
        // Kernels are for NVIDIA's GPUs, whether one says so or not.
        None => stage.is_code_of(Device::Cpu) || stage.is_code_of(Device::Cuda),
        Some(device) => stage.is_code_of(device),
    });
    stages.extend(codes_of_device.map(|stage| stage.name()));
    let stage = arguments.emit.name();
    if stages.contains(&stage) {
        return Ok(());
    }
    let why = match (arguments.emit, device) {
        (Stage::Obj | Stage::Header | Stage::Shared, Device::Sim) => {
            ": mdh alone has the simulator that the code calls"
        }
        (Stage::Obj | Stage::Header | Stage::Shared | Stage::Llvm | Stage::Asm, Device::Cuda) => {
            ": code that launches kernels is part of a package, with them"
        }
        _ => "",
    };
    Err(Error::usage(format!(
        "--emit: found stage '{stage}', which target '{}' does not have{why}; expected one of: {}",
        Target::from(device).name(),
        stages.join(", ")
    )))
}

/// Fails for schedules that the code would not follow.
fn expect_code(module: &Module, arguments: &CompileArguments) -> Result<()> {
    let device = match arguments.emit {
        Stage::Ptx => Device::Cuda,
        _ => arguments.target().unwrap_or(Device::Cpu),
    };
    execute::expect_code(compile::operation(module), device, arguments.fallback)
}

/// Lowers a module that is raised to a stage that is printed as MLIR.
fn lower(
    asm: &Asm,
    context: &Context,
    module: &mut Module,
    arguments: &CompileArguments,
) -> Result<()> {
    let number =
        |stage: &str| -> Result<usize> { Ok(line(arguments).to(stage).map_err(Error::bug)?.len()) };
    let raised = number(compile::RAISED)?;
    let [scheduled, parallel] = [number("scheduled")?, number("parallel")?];
    for (i, pipeline) in leading(arguments)?.into_iter().enumerate().skip(raised) {
        if i == scheduled {
            expect_code(module, arguments)?;
        }
        if i == parallel {
            library::expose(context, module, arguments.entry.as_deref());
        }
        compile::run(asm, context, module, pipeline)?;
    }
    Ok(())
}
