//! `mdh compile`: every stage of a compilation, readable.

use std::path::Path;

use mdh_dialect::context;
use mdh_passes::{deterministic, pipelines, table};
use melior::Context;
use melior::ir::Module;

use crate::cli::{CompileArguments, Stage};
use crate::error::{Error, Result};
use crate::package::Wanted;
use crate::progress::Progress;
use crate::select::select;
use crate::source::Source;
use crate::{compile, diagnostics, library, output, package, ptx, schedules};

/// Runs the command.
pub fn run(arguments: &CompileArguments) -> Result<()> {
    let destination = arguments.output.as_deref().unwrap_or(Path::new("-"));
    check(arguments)?;
    output::check_writable(destination)?;
    let source = Source::read(&arguments.file)?;
    let progress = Progress::start("compiling");
    let bytes = compile(&source, arguments)?;
    drop(progress);
    output::write(destination, &bytes)
}

/// What the command prints of a program.
pub fn compile(source: &Source, arguments: &CompileArguments) -> Result<Vec<u8>> {
    table::register_all();
    let context = context::program_context();
    diagnostics::show(&context, source);
    if arguments.no_warnings {
        diagnostics::hide_warnings(&context);
    }
    let mut module = source.parse_wanted(&context, arguments.entry.as_deref())?;
    let names = source.names(compile::operation(&module));
    if arguments.deterministic {
        deterministic::want(&context, compile::operation(&module));
    }
    if let Some(path) = &arguments.schedule {
        compile::run(&context, &mut module, &pipelines::FORM)?;
        compile::run(&context, &mut module, &pipelines::INLINE)?;
        let wanted = arguments.entry.as_deref();
        let name = select(compile::operation(&module), wanted, source.stem())?;
        schedules::apply(path, compile::operation(&module), &name)?;
        schedules::note_limits(compile::operation(&module), &name)?;
    }
    Ok(match arguments.emit {
        Stage::Llvm
        | Stage::Asm
        | Stage::Obj
        | Stage::Header
        | Stage::Shared
        | Stage::Ptx
        | Stage::Package => {
            compile::run(&context, &mut module, &pipelines::FORM)?;
            compile::run(&context, &mut module, &pipelines::INLINE)?;
            match arguments.emit {
                Stage::Ptx => ptx::emit(&context, &mut module, arguments)?,
                Stage::Package => {
                    let wanted = arguments.entry.as_deref();
                    let name = select(compile::operation(&module), wanted, source.stem())?;
                    let names = names.get(&name).cloned().unwrap_or_default();
                    package::emit(&context, &module, &name, &names, &Wanted::of(arguments)?)?
                }
                _ => library::emit(&context, &mut module, &names, arguments, source.stem())?,
            }
        }
        _ => {
            lower(&context, &mut module, arguments)?;
            module.as_operation().to_string().into_bytes()
        }
    })
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
    if arguments.device.is_some() && !has_kernels {
        return Err(Error::usage(
            "--device cuda is for kernels: expected --emit ptx or package",
        ));
    }
    let is_run = arguments.random.is_some()
        || arguments.fallback.is_some()
        || !arguments.size.is_empty()
        || !arguments.ranges.is_empty();
    if is_run && arguments.emit != Stage::Package {
        return Err(Error::usage(
            "--random, --size, --range and --fallback are for what a package is checked on: expected \
             --emit package",
        ));
    }
    ptx::chip(arguments.chip.as_deref())?;
    if arguments.schedule.is_some() && arguments.emit == Stage::Mdh {
        return Err(Error::usage(
            "--schedule needs a computation, which --emit mdh does not form: expected a later \
             stage, such as --emit compute",
        ));
    }
    Ok(())
}

/// Runs what leads to a stage that is printed as MLIR.
fn lower(context: &Context, module: &mut Module, arguments: &CompileArguments) -> Result<()> {
    let mut last = Stage::Mdh;
    for (stage, pipelines) in STAGES {
        if last == arguments.emit {
            break;
        }
        for pipeline in pipelines.iter().filter(|p| runs(p, arguments)) {
            compile::run(context, module, pipeline)?;
        }
        if stage == Stage::Compute {
            library::expose(context, module, arguments.entry.as_deref());
        }
        last = stage;
    }
    Ok(())
}

/// What leads from one stage to the next.
const STAGES: [(Stage, &[&pipelines::Pipeline]); 5] = [
    (
        Stage::Compute,
        &[
            &pipelines::FORM,
            &pipelines::INLINE,
            &pipelines::CHECKS,
            &pipelines::SIMPLIFY,
        ],
    ),
    (
        Stage::Scheduled,
        &[&pipelines::BUFFERIZE, &pipelines::SCHEDULE],
    ),
    (Stage::Tiles, &[&pipelines::TILES]),
    (Stage::Vector, &[&pipelines::VECTORS]),
    (Stage::Loops, &[&pipelines::LOOPS]),
];

/// Checks at run time are for code that runs: between computations they would hide these. They
/// come before anything is simplified, and so they cannot be left for a later stage.
fn runs(pipeline: &pipelines::Pipeline, arguments: &CompileArguments) -> bool {
    let has_checks = !arguments.no_range_checks && arguments.emit != Stage::Compute;
    let is_left_out = |name: &str| match name {
        name if name == pipelines::CHECKS.name => !has_checks,
        name if name == pipelines::SCHEDULE.name => arguments.no_schedules,
        _ => false,
    };
    !is_left_out(pipeline.name)
}
