//! `mdh explain`: a computation, its schedule and the reasons for it, and its bounds.

use mdh_dialect::context;
use mdh_passes::pipelines::{Line, LineOptions, RangeChecks, Target};
use melior::Context;

use crate::cli::ExplainArguments;
use crate::error::{Error, Result};
use crate::explain::look::{Looked, look};
use crate::explain::{page, spelled};
use crate::host::Host;
use crate::select::function;
use crate::source::Source;
use crate::{compile, diagnostics, output};

/// Runs the command.
pub fn run(host: &Host, arguments: &ExplainArguments) -> Result<()> {
    if arguments.emit.is_some() && arguments.json.is_wanted() {
        return Err(Error::usage(
            "--emit prints schedules alone: expected it without --json",
        ));
    }
    if let (None, Some(_)) = (arguments.emit, &arguments.out.file) {
        return Err(Error::usage(
            "--out is for schedules: expected --emit json, attr or transform beside it",
        ));
    }
    arguments
        .html
        .as_deref()
        .map_or(Ok(()), output::check_writable)?;
    arguments.out.check()?;
    arguments.json.check()?;
    let source = Source::read(&arguments.file)?;
    let context = context_of(&source, arguments);
    let looked = look(host, &context, &source, arguments)?;
    let explanation = &looked.explanation;
    if let Some(path) = &arguments.html {
        output::write(path, page::html(explanation, source.name())?.as_bytes())?;
    }
    if let Some(spelling) = arguments.emit {
        let written = compile::operation(&looked.written);
        let written = function(written, &explanation.function)?;
        let text = spelled::spelled(explanation.plans(written, spelling)?, spelling);
        return arguments.out.write(text);
    }
    if arguments.json.is_wanted() {
        let json = serde_json::to_string_pretty(explanation);
        let json = json.map_err(|error| Error::bug(format!("an explanation as JSON: {error}")))?;
        arguments.json.write(|| json + "\n")?;
    }
    if arguments.html.is_some() {
        return Ok(());
    }
    match arguments.verbose {
        true => arguments.json.print(explanation.details())?,
        false => arguments.json.print(explanation.brief())?,
    }
    remark(host, &context, arguments, looked)
}

/// A context that shows the diagnostics of a program, as the command asks for them.
fn context_of(source: &Source, arguments: &ExplainArguments) -> Context {
    mdh_passes::register_all();
    let context = context::program_context();
    diagnostics::show(&context, source);
    if arguments.no_warnings {
        diagnostics::hide_warnings(&context);
    }
    if let Some(filter) = &arguments.remarks.filter {
        diagnostics::show_remarks(&context, source, filter);
    }
    context
}

/// Lowers a module to loops, if remarks are asked for: passes say in them what they leave alone.
fn remark(
    host: &Host,
    context: &Context,
    arguments: &ExplainArguments,
    looked: Looked,
) -> Result<()> {
    if arguments.remarks.filter.is_none() {
        return Ok(());
    }
    let options = LineOptions {
        ranges: RangeChecks::Off,
        ..LineOptions::RUN
    };
    let target = match arguments.machine.gpu()? {
        Some(_) => Target::Cuda,
        None => Target::Cpu,
    };
    let asm = arguments.machine.asm(&host.machine)?;
    let lowering = Line { target, options }.between("bufferized", "loops");
    let mut module = looked.simplified;
    compile::run_all(&asm, context, &mut module, &lowering)
}
