//! `mdh compile`: every stage of a compilation, readable.

use std::path::Path;

use mdh_dialect::context;
use mdh_passes::{pipelines, table};
use mdh_runtime::{Emit, Level};
use melior::ir::Module;

use crate::cli::{CompileArguments, Stage};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::select::{function, functions_of, is_private, select};
use crate::source::Source;
use crate::{compile, diagnostics, output, schedules};

/// Runs the command.
pub fn run(arguments: &CompileArguments) -> Result<()> {
    let destination = arguments.output.as_deref().unwrap_or(Path::new("-"));
    output::check_writable(destination)?;
    let source = Source::read(&arguments.file)?;
    table::register_all();
    let context = context::program_context();
    diagnostics::show(&context, &source);
    let progress = Progress::start("compiling");
    let mut module = source.parse_wanted(&context, arguments.entry.as_deref())?;
    if let Some(path) = &arguments.schedule {
        if arguments.emit == Stage::Mdh {
            return Err(Error::usage(
                "--schedule needs a computation, which --emit mdh does not form: expected a later \
                 stage, such as --emit compute",
            ));
        }
        compile::run(&context, &mut module, &pipelines::FORM)?;
        compile::run(&context, &mut module, &pipelines::INLINE)?;
        let wanted = arguments.entry.as_deref();
        let name = select(compile::operation(&module), wanted, source.stem())?;
        schedules::apply(path, function(compile::operation(&module), &name)?)?;
    }
    let mut last = Stage::Mdh;
    for (stage, pipelines) in STAGES {
        if last == arguments.emit {
            break;
        }
        for pipeline in pipelines.iter().filter(|p| runs(p, arguments)) {
            compile::run(&context, &mut module, pipeline)?;
        }
        if stage == Stage::Compute {
            expose(&context, &module, arguments.entry.as_deref());
        }
        last = stage;
    }
    let bytes = match arguments.emit {
        Stage::Mdh
        | Stage::Compute
        | Stage::Scheduled
        | Stage::Tiles
        | Stage::Vector
        | Stage::Loops => text(&module).into_bytes(),
        Stage::Llvm => emit(&module, Emit::LlvmIr)?,
        Stage::Asm => emit(&module, Emit::Assembly)?,
        Stage::Obj => emit(&module, Emit::Object)?,
    };
    drop(progress);
    output::write(destination, &bytes)
}

/// What leads from one stage to the next.
const STAGES: [(Stage, &[&pipelines::Pipeline]); 6] = [
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
    // Parallel loops run one part after the other: code for files needs no run-time library.
    (Stage::Llvm, &[&pipelines::LLVM]),
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

/// Gives the function that is asked for a C interface; all that are not private if none is.
fn expose(context: &melior::Context, module: &Module, entry: Option<&str>) {
    for function in functions_of(compile::operation(module)) {
        let name = compile::symbol_name(function);
        if entry.map_or(!is_private(function), |entry| entry == name) {
            compile::expose(context, module, name);
        }
    }
}

fn text(module: &Module) -> String {
    module.as_operation().to_string()
}

fn emit(module: &Module, what: Emit) -> Result<Vec<u8>> {
    let optimised = compile::to_llvm(module)?.optimise(Level::Full)?;
    Ok(optimised.emit(what)?)
}
