//! `mdh schedule`: schedules from one spelling to another, and those of a program or of the model for it.

use std::path::PathBuf;

use mdh_dialect::ir::{Errors, Op};
use mdh_dialect::script::{self, Plans};
use mdh_dialect::{context, schedule};
use melior::Context;
use melior::ir::Module;

use crate::cli::{ExplainArguments, ScheduleArguments};
use crate::devices::{self, NamedDevice};
use crate::error::{Error, Result};
use crate::explain::look::look;
use crate::explain::spelled::spelled;
use crate::formed::Formed;
use crate::functions::functions_of;
use crate::host::Host;
use crate::schedules;
use crate::select::{function, select};
use crate::source::Source;
use crate::tuned::{Choice, Machine, Wanted};
use crate::{compile, diagnostics, sized, versions};

/// Runs the command.
pub fn run(host: &Host, arguments: &ScheduleArguments) -> Result<()> {
    arguments.out.check()?;
    let source = Source::read(&arguments.file)?;
    if let Some(folder) = &arguments.tuned {
        let plans = of_database(host, &source, arguments, folder.clone())?;
        return arguments.out.write(spelled(plans, arguments.emit));
    }
    let extension = arguments.file.extension().and_then(|e| e.to_str());
    let plans = match extension {
        Some("mlir" | "mlirbc" | "tdsl") => of_module(host, &source, arguments)?,
        _ if schedules::is_script(&source) => of_module(host, &source, arguments)?,
        _ => {
            refuse_machine(arguments, "a file of schedules")?;
            schedules::read(&source)?
        }
    };
    arguments.out.write(spelled(plans, arguments.emit))
}

/// Refuses the options of a machine where nothing is chosen or looked up.
fn refuse_machine(arguments: &ScheduleArguments, what: &str) -> Result<()> {
    let Some(option) = arguments.machine.option() else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "{option} is for a function whose schedules the model chooses, and for --tuned: found {what}"
    )))
}

/// The schedules that were tuned for a program's function.
fn of_database(
    host: &Host,
    source: &Source,
    arguments: &ScheduleArguments,
    folder: Option<PathBuf>,
) -> Result<Plans> {
    mdh_passes::register_all();
    let context = context::program_context();
    diagnostics::show(&context, source);
    let wanted = Wanted::new(host, folder, machine(host, arguments)?)?;
    let mut formed = Formed::new(&context, source, arguments.entry.as_deref())?;
    let tuned = match arguments.size.is_empty() {
        true => {
            let module = compile::operation(&formed.module);
            wanted.nearest(function(module, &formed.function)?)?
        }
        false => {
            sized::of_dimensions(&context, &formed, &arguments.size)?;
            let sizes = sized::given(&formed, &arguments.size)?;
            versions::found(&context, &mut formed, &sizes, &wanted)?
        }
    };
    let mut plans = match tuned.choice {
        Choice::Kept(plans) | Choice::Model(plans) => plans.computations,
        Choice::Nothing { found: tuned, help } => return Err(Error::input(tuned).help(help)),
    };
    wanted.note(&tuned.taken.note);
    let function = function(compile::operation(&formed.module), &formed.function)?;
    let is_alone = schedule::computations(function).len() == 1;
    Ok(match plans.pop_first() {
        Some((_, plan)) if is_alone => Plans::One(Box::new(plan)),
        first => Plans::Several(first.into_iter().chain(plans).collect()),
    })
}

/// The machine that the schedules were measured on.
fn machine(host: &Host, arguments: &ScheduleArguments) -> Result<Machine> {
    let device = arguments.machine.named();
    let chip = || devices::chip(device, arguments.chip.as_deref());
    match device {
        Some(NamedDevice::Gpu(gpu)) => {
            chip()?;
            let name = Some(gpu.name.to_string());
            Ok(Machine::Gpu { name, chip: None })
        }
        Some(NamedDevice::Cuda) if arguments.chip.is_none() => Ok(Machine::Gpu {
            name: None,
            chip: None,
        }),
        _ if device.is_some_and(NamedDevice::is_gpu) || arguments.chip.is_some() => {
            let chip = Some(chip()?);
            Ok(Machine::Gpu { name: None, chip })
        }
        _ => Ok(Machine::Cpu(Box::new(
            arguments.machine.asm(&host.machine)?,
        ))),
    }
}

/// The schedules of a script, or of a program's function. Where both stand in one file, the script
/// is for those who run it.
fn of_module(host: &Host, source: &Source, arguments: &ScheduleArguments) -> Result<Plans> {
    mdh_passes::register_all();
    let context = context::program_context();
    diagnostics::show(&context, source);
    let wanted = arguments.entry.as_deref();
    let module = source.parse_wanted(&context, wanted)?;
    let op = compile::operation(&module);
    if schedules::is_script(source) && functions_of(op).is_empty() {
        let sequence = schedules::sequence(source, op)?;
        return script::read(sequence).map_err(schedules::refused);
    }
    match of_program(&context, module, source, wanted)? {
        Some(plans) => {
            refuse_machine(arguments, "a function that has schedules")?;
            Ok(plans)
        }
        None => of_model(host, &context, source, arguments),
    }
}

/// The schedules that the model chooses for the function.
fn of_model(
    host: &Host,
    context: &Context,
    source: &Source,
    arguments: &ScheduleArguments,
) -> Result<Plans> {
    diagnostics::hide_warnings(context);
    let mut wanted = ExplainArguments::new(&arguments.file, arguments.entry.as_deref());
    wanted.machine = arguments.machine.clone();
    let looked = look(host, context, source, &wanted)?;
    let explanation = &looked.explanation;
    let written = function(compile::operation(&looked.written), &explanation.function)?;
    explanation.plans(written, arguments.emit)
}

/// The schedules of a function: of its only computation, or by the positions of several, counted
/// as `--schedule` does; `None` if it has none.
fn of_program<'c>(
    context: &'c Context,
    mut module: Module<'c>,
    source: &Source,
    wanted: Option<&str>,
) -> Result<Option<Plans>> {
    let name = select(compile::operation(&module), wanted, source.stem())?;
    compile::keep_only(context, &module, &name);
    compile::form(context, &mut module)?;
    plans(function(compile::operation(&module), &name)?)
}

/// The schedules of a function, by the positions of its computations if it has several; `None` if it has none.
///
/// # Errors
/// If what stands there is no schedule.
pub fn plans(function: Op) -> Result<Option<Plans>> {
    let holders = schedule::computations(function);
    let is_alone = holders.len() == 1;
    let read = |(n, op): (usize, Op)| -> std::result::Result<_, Errors> {
        Ok(schedule::read(op)?.map(|plan| (n.to_string(), plan)))
    };
    let plans: std::result::Result<Vec<_>, Errors> = holders
        .into_iter()
        .enumerate()
        .filter_map(|numbered| read(numbered).transpose())
        .collect();
    let named = plans.and_then(|plans| Ok([plans, schedule::named(function)?].concat()));
    let mut plans = named.map_err(|errors| Error::input(errors.join("\n  ")))?;
    if plans.is_empty() {
        return Ok(None);
    }
    Ok(Some(match is_alone {
        true => Plans::One(Box::new(plans.remove(0).1)),
        false => Plans::Several(plans.into_iter().collect()),
    }))
}
