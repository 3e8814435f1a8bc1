//! `mdh schedule`: schedules from one spelling to the other.

use mdh_algebra::schedule::Schedules;
use mdh_dialect::ir::{Errors, Op};
use mdh_dialect::{context, schedule};
use mdh_passes::{pipelines, table};

use crate::cli::{ScheduleArguments, Spelling};
use crate::error::{Error, Result};
use crate::schedules::{self, Plans};
use crate::select::{function, select};
use crate::source::Source;
use crate::{compile, diagnostics, output};

/// Runs the command.
pub fn run(arguments: &ScheduleArguments) -> Result<()> {
    let source = Source::read(&arguments.file)?;
    let extension = arguments.file.extension().and_then(|e| e.to_str());
    let plans = match extension {
        Some("mlir" | "mlirbc") => of_program(&source, arguments.entry.as_deref())?,
        _ => schedules::read(&source)?,
    };
    let text = match (plans, arguments.to) {
        (Plans::One(plan), Spelling::Attr) => format!("{plan}\n"),
        (Plans::One(plan), Spelling::Json) => format!("{}\n", plan.to_json()),
        (Plans::Several(computations), Spelling::Json) => {
            format!("{}\n", Schedules { computations }.to_json())
        }
        (Plans::Several(plans), Spelling::Attr) => {
            let lines = plans
                .iter()
                .map(|(name, plan)| format!("// {name}\n{plan}\n"));
            lines.collect()
        }
    };
    output::print(text)
}

/// The schedules of a function: of its only computation, or by the positions of several, counted
/// as `--schedule` does.
fn of_program(source: &Source, wanted: Option<&str>) -> Result<Plans> {
    table::register_all();
    let context = context::program_context();
    diagnostics::show(&context, source);
    let mut module = source.parse_wanted(&context, wanted)?;
    let name = select(compile::operation(&module), wanted, source.stem())?;
    compile::keep_only(&context, &module, &name);
    compile::run(&context, &mut module, &pipelines::FORM)?;
    compile::run(&context, &mut module, &pipelines::INLINE)?;
    let holders = schedules::computations(function(compile::operation(&module), &name)?);
    let is_alone = holders.len() == 1;
    let read = |(n, op): (usize, Op)| -> std::result::Result<_, Errors> {
        Ok(schedule::read(op)?.map(|plan| (n.to_string(), plan)))
    };
    let found: std::result::Result<Vec<_>, Errors> = holders
        .into_iter()
        .enumerate()
        .filter_map(|each| read(each).transpose())
        .collect();
    let mut found = found.map_err(|errors| Error::input(errors.join("\n  ")))?;
    if found.is_empty() {
        let message = format!("'{name}' has no computation with a schedule");
        return Err(Error::input(message));
    }
    Ok(match is_alone {
        true => Plans::One(Box::new(found.remove(0).1)),
        false => Plans::Several(found.into_iter().collect()),
    })
}
