//! `mdh explain`: what a computation is, which schedule it gets and why, and what bounds it.

use mdh_algebra::asm::Asm;
use mdh_algebra::computation::Computation;
use mdh_algebra::schedule::{Choice, SHARE, Schedule};
use mdh_dialect::ir::{self, Op};
use mdh_dialect::location::Place;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{context, schedule};
use mdh_passes::{choose, deterministic, histograms, pipelines, separate_scans, share, table};
use melior::ir::operation::OperationLike;

use crate::cli::ExplainArguments;
use crate::error::{Error, Result};
use crate::explain::{levels, work};
use crate::select::{function, select};
use crate::source::Source;
use crate::{asm_command, compile, diagnostics, machine, output, schedules};

/// Runs the command.
pub fn run(arguments: &ExplainArguments) -> Result<()> {
    let asm = match &arguments.asm {
        Some(path) => asm_command::read(path)?,
        None => machine::this(),
    };
    let source = Source::read(&arguments.file)?;
    table::register_all();
    let context = context::program_context();
    diagnostics::show(&context, &source);
    let wanted = arguments.entry.as_deref();
    let mut module = source.parse_wanted(&context, wanted)?;
    let name = select(compile::operation(&module), wanted, source.stem())?;
    compile::keep_only(&context, &module, &name);
    compile::run(&context, &mut module, &pipelines::FORM)?;
    compile::run(&context, &mut module, &pipelines::INLINE)?;
    if arguments.deterministic {
        deterministic::want(&context, compile::operation(&module));
    }
    if let Some(path) = &arguments.schedule {
        schedules::apply(path, compile::operation(&module), &name)?;
    }
    compile::run(&context, &mut module, &pipelines::SIMPLIFY)?;
    compile::run(&context, &mut module, &pipelines::BUFFERIZE)?;
    compile::run_passes(&context, &mut module, &[separate_scans::PASS.argument])?;
    let failed = |(_, errors): (Op, Vec<String>)| Error::input(errors.join("\n  "));
    share::share(compile::operation(&module), &asm, SHARE).map_err(failed)?;
    let entry = function(compile::operation(&module), &name)?;
    let computations = ir::find_all(entry, &["mdh.compute"]);
    let mut text = format!("{name}: {}\n", ir::count(computations.len(), "computation"));
    let open: Vec<Op> = computations
        .iter()
        .copied()
        .filter(|op| !histograms::is_histogram(*op))
        .collect();
    let failed = |(_, errors): (Op, Vec<String>)| Error::input(errors.join("\n  "));
    let chosen = choose::choices(&open, &asm, SHARE).map_err(failed)?;
    for (number, op) in computations.into_iter().enumerate() {
        let own = chosen.iter().find(|(other, _)| *other == op);
        text += &computation(
            number,
            op,
            own.and_then(|(_, choice)| choice.as_ref()),
            &asm,
        )?;
    }
    output::print(text)
}

/// All there is to say of one computation.
fn computation(number: usize, op: Op, choice: Option<&Choice>, asm: &Asm) -> Result<String> {
    let failed = |errors: Vec<String>| Error::input(errors.join("\n  "));
    let known = match translate::compute(op, Depth::Code) {
        Ok(computation) => computation,
        Err(_) => translate::compute(op, Depth::Signatures).map_err(failed)?,
    };
    let names: Vec<&str> = known
        .outputs
        .iter()
        .map(|output| output.name.as_str())
        .collect();
    let place = Place::of(op.location()).map(|place| format!(" ({}:{})", place.file, place.line));
    let heading = format!(
        "\ncomputation {number}: {}{}\n",
        names.join(", "),
        place.unwrap_or_default()
    );
    Ok(heading + &work::text(&known) + &plan(op, &known, choice, asm)?)
}

/// The schedule, the reasons for it, and what follows from it.
fn plan(op: Op, computation: &Computation, choice: Option<&Choice>, asm: &Asm) -> Result<String> {
    let failed = |errors: Vec<String>| Error::input(errors.join("\n  "));
    if let Some(own) = schedule::read(op).map_err(failed)? {
        return Ok(
            "  schedule: given with the program\n".to_string() + &scheduled(&own, computation, asm)
        );
    }
    if histograms::is_histogram(op) {
        return Ok(
            "  schedule: none, a histogram: each value updates the bin that it falls into, and cores \
             have bins of their own\n"
                .into(),
        );
    }
    match choice {
        Some(Choice {
            schedule, reasons, ..
        }) => {
            let reasons: String = reasons
                .iter()
                .map(|reason| format!("    - {reason}\n"))
                .collect();
            let head = format!(
                "  schedule: chosen by the model for '{}'\n{reasons}",
                asm.name
            );
            Ok(head + &scheduled(schedule, computation, asm))
        }
        None => Ok(format!(
            "  schedule: none, plain loops: the model has nothing for dimensions without points or \
             whose points do not lie at equal distances, nor for a machine without the layers of \
             cpu ('{}')\n",
            asm.name
        )),
    }
}

fn scheduled(schedule: &Schedule, computation: &Computation, asm: &Asm) -> String {
    let lines = schedule.to_string();
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    match &schedule.compute_at {
        None => lines + &levels::text(schedule, computation, asm),
        Some(at) => {
            let text = format!(
                "  levels: those of a tile, in '{}' of '{}'\n",
                at.level, at.consumer
            );
            lines + &text
        }
    }
}
