//! `mdh run`: a function of a file, on given or random arrays, checked and timed.

use std::path::Path;
use std::time::{Duration, Instant};

use mdh_dialect::context;
use mdh_dialect::ir::{self, Op};
use mdh_jit::{Level, Placement, Times, faults};
use mdh_passes::pipelines::{Arithmetic, Line, LineOptions, Pipeline, RangeChecks, Schedules};
use mdh_passes::support::deterministic;
use melior::Context;
use melior::ir::Module;

use crate::between::Between;
use crate::check::Expectation;
use crate::cli::{Binding, Device, RunArguments};
use crate::depth::Trees;
use crate::entry::{self, Entry, Parameter};
use crate::error::{Error, ErrorKind, Result};
use crate::execute::{self, Call, Compiled};
use crate::formed::Formed;
use crate::gpu::Gpu;
use crate::host::Host;
use crate::progress::{Progress, Reader};
use crate::prospect::{Evaluation, Prospect};
use crate::report::{Check, Kernels, Report, ReportedValue, Simulation};
use crate::select::function;
use crate::sized::{self, as_versions};
use crate::source::Source;
use crate::tuned::{self, Machine, Taken};
use crate::values::Tensor;
use crate::{arguments, compile, diagnostics, exact, npy, output, report, schedules, sizes, steps};

/// Runs the command.
pub fn run(host: &Host, command: &RunArguments) -> Result<()> {
    report(host, &Source::read(&command.file)?, command)
}

/// Runs a program that has been read, and prints the report.
pub fn report(host: &Host, source: &Source, command: &RunArguments) -> Result<()> {
    command.json.check()?;
    let report = match run_source(host, source, command) {
        Err(error) if command.json.is_wanted() && error.kind() == ErrorKind::Check => {
            command.json.write(|| report::failure(&error))?;
            return Err(error);
        }
        other => other?,
    };
    let json = &command.json;
    json.print_either(|| report.to_string(), || report.json())?;
    let is_wrong = report.check.as_ref().is_some_and(|check| !check.passed);
    let simulation = report.simulation.as_ref();
    let is_mistaken = simulation.is_some_and(|simulation| !simulation.findings.is_empty());
    match is_wrong || is_mistaken {
        true => Err(Error::new(ErrorKind::Check, "")),
        false => Ok(()),
    }
}

/// Returns the placement of arrays: a run that is checked, and not to be timed, faults where it
/// reads one element too many.
fn placement(command: &RunArguments) -> Placement {
    let is_timed = command.repeat.get() > 1;
    match command.check_each_step || command.check.is_some() && !is_timed {
        true => Placement::AtEnd,
        false => Placement::Aligned,
    }
}

/// The number of the GPU that runs kernels: CUDA_VISIBLE_DEVICES says which one that is.
const GPU: u32 = 0;

/// Runs a program and reports. A wrong result is in the report, everything else that is wrong an
/// error.
pub fn run_source(host: &Host, source: &Source, command: &RunArguments) -> Result<Report> {
    run_and(host, source, command, |_, _| {})
}

/// The same; `look` is shown the results of a call and the expectation, before they are compared.
pub fn run_and(
    host: &Host,
    source: &Source,
    command: &RunArguments,
    look: impl FnOnce(&Expectation, &mut Call),
) -> Result<Report> {
    let context = context_of(source, command);
    let progress = Progress::start(Reader::from_flag(command.json.is_printed()), "compiling");
    let mut prepared = Prepared::new(host, &context, source, command)?;
    let (entry, arguments) = (prepared.entry, prepared.arguments);
    let lowering = Lowering::new(host, &context, command)?;

    progress.step("evaluating the definition");
    let Evaluation {
        prospect,
        instance,
        after_passes,
        other_arguments,
    } = Evaluation::new(&entry, command, &arguments)?;

    progress.step("compiling");
    let gpu = lowering.gpu()?;
    let mut trees = lowering.trees(&prepared.lowered, &entry);
    let code = lowering.compile(&mut prepared.lowered, &entry, gpu.as_ref(), &mut trees);
    // The first wrong step is said before what it leads to.
    if after_passes.is_none() {
        code.as_ref().map_err(Clone::clone)?;
    }
    progress.step("evaluating the definition");
    let errors = trees.errors(&entry, &arguments, &prospect.shapes);
    let expectation = match is_checked(command) {
        true => prospect.expect(instance.as_ref(), errors)?,
        false => None,
    };
    drop(instance);
    let mut call = Call::new(&entry, arguments, &prospect.shapes)?;
    let check = |expected| lowering.check_steps(&prepared.formed, &entry, &mut call, &expected);
    let stepped = after_passes.map(check).transpose();
    // Whether arguments decide what is wrong after a step, the whole run says.
    if prepared.integers.is_none() {
        stepped.as_ref().map_err(Clone::clone)?;
    }
    let code = code?;

    progress.step("running");
    let measured = Measured::new(&code, &entry, &mut call, gpu, command)?;
    drop(progress);
    if let Some(expectation) = &expectation {
        look(expectation, &mut call);
        expect_decided(&prospect, expectation, other_arguments.as_deref(), &call)?;
    }
    stepped?;
    let outputs = outputs(&entry, &call);
    write_outputs(&prepared.files, &outputs, source.written())?;
    Ok(Report {
        check: expectation.map(|expectation| held(&entry, &expectation, &call)),
        tuned: prepared.tuned,
        ..measured.report(&entry, &outputs, &prospect)
    })
}

/// Returns a context that shows the diagnostics of a program, as the command asks for them.
fn context_of(source: &Source, command: &RunArguments) -> Context {
    mdh_passes::register_all();
    let context = context::program_context();
    diagnostics::show(&context, source);
    if command.no_warnings {
        diagnostics::hide_warnings(&context);
    }
    if let Some(filter) = &command.remarks.filter {
        diagnostics::show_remarks(&context, source, filter);
    }
    context
}

/// Returns whether results are compared with the definition.
fn is_checked(command: &RunArguments) -> bool {
    command.check.is_some() || command.check_each_step
}

/// A function with its schedules, and the arguments of a call.
struct Prepared<'c> {
    formed: Formed<'c>,
    entry: Entry<'c>,
    arguments: Vec<Tensor>,
    /// The schedules that were tuned, if some are taken.
    tuned: Option<Taken>,
    /// The file for each output.
    files: Vec<Option<String>>,
    /// A copy of the program, to be lowered.
    lowered: Module<'c>,
    /// The definition in integers, if these stand for floats: then the entry and the arguments are in integers.
    integers: Option<exact::Definition<'c>>,
}

impl<'c> Prepared<'c> {
    fn new(
        host: &Host,
        context: &'c Context,
        source: &Source,
        command: &RunArguments,
    ) -> Result<Prepared<'c>> {
        let wanted = command.entry.as_deref();
        let mut formed = Formed::with(context, source, wanted, command.raise())?;
        let module = compile::operation(&formed.module);
        expects_kernels(module, command.device)?;
        if command.deterministic {
            deterministic::want(module);
        }
        let mut tuned = give(host, &formed, command)?;
        let mut entry = formed.entry()?;
        execute::expect_code(entry.op, command.device, command.fallback)?;
        mdh_jit::buffer::place(placement(command));
        let files = output_files(&entry, &command.outputs)?;
        arguments::check_ranges(&entry, &command.ranges)?;
        let mut arguments = arguments::gather(&entry, command)?;
        if let Some(wanted) = wanted_of_call(host, &formed, command)? {
            let sizes = as_versions(sizes::of_call(&entry, &arguments)?);
            let taken = schedules::give_sized(context, &mut formed, &sizes, &wanted)?;
            tuned = Some(taken);
            entry = formed.entry()?;
        }
        if command.given.option().is_some() {
            let module = compile::operation(&formed.module);
            schedules::note_limits(&host.machine, module, &entry.name)?;
        }
        let lowered = formed.copy(context, &entry);
        let integers = (command.arithmetic() == Arithmetic::Exact)
            .then(|| exact::definition(context, &formed))
            .transpose()?;
        if let Some(definition) = &integers {
            (entry, arguments) = exact::call(entry, definition, arguments)?;
        }
        Ok(Prepared {
            formed,
            entry,
            arguments,
            tuned,
            files,
            lowered,
            integers,
        })
    }
}

/// Machine code of a function.
struct Code {
    compiled: Compiled,
    /// The time that lowering and compiling took, without reading trees.
    time: Duration,
}

/// Way of a function from computations to code.
struct Lowering<'a> {
    host: &'a Host,
    context: &'a Context,
    command: &'a RunArguments,
    line: Line,
    between: Between<'a>,
}

impl<'a> Lowering<'a> {
    fn new(
        host: &'a Host,
        context: &'a Context,
        command: &'a RunArguments,
    ) -> Result<Lowering<'a>> {
        let line = Line {
            target: command.device.into(),
            options: LineOptions {
                ranges: command.ranges_checked(),
                schedules: Schedules::from_flag(!command.no_schedules),
                arithmetic: command.arithmetic(),
                ..LineOptions::RUN
            },
        };
        let between = Between::new(command, &line.after(compile::RAISED))?;
        Ok(Lowering {
            host,
            context,
            command,
            line,
            between,
        })
    }

    /// The GPU that runs kernels, made ready, if one does.
    fn gpu(&self) -> Result<Option<Gpu>> {
        if self.command.ranges_checked() == RangeChecks::Off {
            faults::trust(execute::UNCHECKED);
        }
        if self.command.device != Device::Cuda {
            return Ok(None);
        }
        if self.command.check_each_step {
            return Err(Error::usage(
                "--check-each-step runs steps on the processor: expected --device cpu or sim",
            ));
        }
        Gpu::open(GPU, self.command.time_limit).map(Some)
    }

    /// The combine trees of a function that is about to be lowered, if error bounds depend on them.
    fn trees(&self, module: &Module, entry: &Entry) -> Trees {
        let is_exact = self.command.arithmetic() == Arithmetic::Exact;
        match is_checked(self.command) && !is_exact {
            true => Trees::new(module, &entry.name),
            // Integers have no errors; that operators have their laws is tested.
            false => Trees::unread(),
        }
    }

    /// Lowers a module and compiles it.
    fn compile(
        &self,
        module: &mut Module,
        entry: &Entry,
        gpu: Option<&Gpu>,
        trees: &mut Trees,
    ) -> Result<Code> {
        let mut spent = Duration::ZERO;
        if self.command.device == Device::Cpu {
            spent += self.lower(module, &self.line.after(compile::RAISED), trees)?;
        } else {
            let to_kernels = self.line.between(compile::RAISED, "kernels");
            spent += self.lower(module, &to_kernels, trees)?;
            execute::expect_kernels(compile::operation(module), entry, self.command.fallback)?;
            spent += self.lower(module, &self.line.between("kernels", "device"), trees)?;
            let started = Instant::now();
            if let Some(gpu) = gpu {
                gpu.load(self.context, module)?;
            }
            spent += started.elapsed();
            spent += self.lower(module, &self.line.after("device"), trees)?;
        }
        let started = Instant::now();
        let compiled = Compiled::load(module, &entry.name, Level::Full)?;
        Ok(Code {
            compiled,
            time: spent + started.elapsed(),
        })
    }

    fn lower(
        &self,
        module: &mut Module,
        pipelines: &[&Pipeline],
        trees: &mut Trees,
    ) -> Result<Duration> {
        let (asm, context) = (&self.host.machine, self.context);
        trees.lower(module, pipelines, |module, pipeline| {
            self.between.run(asm, context, module, pipeline)
        })
    }

    /// Runs and checks a function after each pass.
    fn check_steps(
        &self,
        formed: &Formed,
        entry: &Entry,
        call: &mut Call,
        expectation: &Expectation,
    ) -> Result<Vec<steps::Step>> {
        let module = formed.copy(self.context, entry);
        steps::check(
            self.context,
            &module,
            entry,
            &self.host.machine,
            &self.line.after(compile::RAISED),
            call,
            expectation,
        )
    }
}

/// Measurements of a run.
struct Measured {
    /// The arguments that matter, as they were before it.
    inputs: Vec<ReportedValue>,
    times: Times,
    compile_time: Duration,
    /// Kernels, if they ran on a GPU.
    kernels: Option<Kernels>,
    /// Findings of the simulator, if they are to be reported.
    simulation: Option<Simulation>,
}

impl Measured {
    /// Runs code, and measures it.
    fn new(
        code: &Code,
        entry: &Entry,
        call: &mut Call,
        gpu: Option<Gpu>,
        command: &RunArguments,
    ) -> Result<Measured> {
        let inputs = describe(entry, call);
        let device = mdh_simulator::device::Device::own();
        device.take_report();
        let times = run_code(&code.compiled, call, command)?;
        let kernels = gpu.map(|gpu| gpu.finish(command.repeat)).transpose()?;
        let simulation = command.report.then(|| device.take_report().into());
        call.check_bounds()?;
        Ok(Measured {
            inputs,
            times,
            compile_time: code.time,
            kernels,
            simulation,
        })
    }

    /// Returns the report of a run with these outputs that has not been compared with anything.
    fn report(self, entry: &Entry, outputs: &[(&str, &Tensor)], prospect: &Prospect) -> Report {
        let value = |(name, tensor): &(&str, &Tensor)| ReportedValue::new(name, tensor);
        let mut report = Report {
            function: entry.name.clone(),
            inputs: self.inputs,
            outputs: outputs.iter().map(value).collect(),
            time_ms: self.times.into(),
            compile_ms: self.compile_time.as_secs_f64() * 1e3,
            gflops: None,
            gbps: None,
            check: None,
            laws: prospect.laws,
            simulation: self.simulation,
            gpu: self.kernels,
            tuned: None,
        };
        if let Some((operations, bytes)) = prospect.work {
            report.set_rates(operations, bytes);
        }
        report
    }
}

/// Fails if elements are wrong that no argument decides: they are the same for other arguments, if there are such.
fn expect_decided(
    prospect: &Prospect,
    expectation: &Expectation,
    other_arguments: Option<&[Tensor]>,
    call: &Call,
) -> Result<()> {
    if let Some(others) = other_arguments
        && let (_, Some(wrong)) = expectation.hold(call)
        && let Some(definition) = &prospect.definition
        && definition.are_constant(others, expectation, call)
    {
        return Err(exact::constants(&wrong));
    }
    Ok(())
}

/// Runs code as often as the command says.
fn run_code(compiled: &Compiled, call: &mut Call, command: &RunArguments) -> Result<Times> {
    match command.device {
        Device::Cpu => compiled.call(call, command.repeat),
        Device::Sim | Device::Cuda => {
            let mut times = None;
            let run = || times = Some(compiled.call(call, command.repeat));
            mdhrt::failure::catch(run)?;
            times.unwrap_or_else(|| panic!("it has returned"))
        }
    }
}

/// Gives the function the schedules that the command is given; not those that depend on the sizes of a call.
fn give(host: &Host, formed: &Formed, command: &RunArguments) -> Result<Option<Taken>> {
    if wanted_of_call(host, formed, command)?.is_some() {
        return Ok(None);
    }
    let module = compile::operation(&formed.module);
    let of_device = || machine(host, command.device);
    schedules::give(host, &command.given, of_device, module, &formed.function)
}

/// The schedules that are wanted of those that were tuned, if it takes the arguments to know the sizes.
fn wanted_of_call(
    host: &Host,
    formed: &Formed,
    command: &RunArguments,
) -> Result<Option<tuned::Wanted>> {
    let func = function(compile::operation(&formed.module), &formed.function)?;
    match sized::open_dimensions(func).is_empty() {
        true => Ok(None),
        false => schedules::wanted(host, &command.given, || machine(host, command.device)),
    }
}

/// The machine that a run is on, as schedules are kept for it.
fn machine(host: &Host, device: Device) -> Result<Machine> {
    match device {
        Device::Cpu => Ok(Machine::processor(host)),
        Device::Sim => Err(tuned::none_for_sim()),
        Device::Cuda => {
            let gpu = mdh_cuda::Device::open(GPU)?;
            let facts = gpu.facts();
            Ok(Machine::Gpu {
                name: Some(facts.name.clone()),
                chip: Some(facts.capability),
            })
        }
    }
}

/// Kernels run on a GPU, or on a simulated one.
fn expects_kernels(module: Op, device: Device) -> Result<()> {
    if device == Device::Cpu && !ir::find_all(module, &["gpu.launch"]).is_empty() {
        return Err(Error::input(
            "the program launches kernels: expected --device sim or --device cuda",
        ));
    }
    Ok(())
}

/// Compares what a call left with what it must be; shows the first element that is wrong.
fn held(entry: &Entry, expectation: &Expectation, call: &Call) -> Check {
    let (check, wrong) = expectation.hold(call);
    if let Some(wrong) = wrong {
        eprintln!("error: the result is not what the definition says: {wrong}");
        if let Some(note) = expectation.licence(entry, call) {
            eprintln!("note: {note}");
        }
    }
    check
}

/// The arguments that matter, as they were before the run.
fn describe(entry: &Entry, call: &Call) -> Vec<ReportedValue> {
    let sizes =
        sizes::of_call(entry, &call.arguments).unwrap_or_else(|_| sizes::Sizes::declared(entry));
    let parameters = entry.arguments.iter().enumerate();
    let read = parameters.filter(|(i, _)| entry.is_read_at(*i, &sizes));
    read.map(|(i, parameter)| ReportedValue::new(&parameter.name, call.initial(i)))
        .collect()
}

/// Returns the results of a function: memrefs that it writes, then those it returns.
fn outputs<'a>(entry: &'a Entry, call: &'a Call) -> Vec<(&'a str, &'a Tensor)> {
    let written = entry
        .arguments
        .iter()
        .zip(&call.arguments)
        .filter(|(p, _)| p.is_written());
    let returned = entry.results.iter().zip(&call.results);
    written
        .chain(returned)
        .map(|(p, tensor)| (p.name.as_str(), tensor))
        .collect()
}

/// Writes the outputs for which there is a file.
fn write_outputs(
    files: &[Option<String>],
    outputs: &[(&str, &Tensor)],
    written: npy::Written,
) -> Result<()> {
    for (path, (_, tensor)) in files.iter().zip(outputs) {
        if let Some(path) = path {
            npy::write_as(Path::new(path), tensor, written)?;
        }
    }
    Ok(())
}

/// The file for each output, known to be writable.
fn output_files(entry: &Entry, bindings: &[Binding]) -> Result<Vec<Option<String>>> {
    let written = entry.arguments.iter().filter(|p| p.is_written());
    let outputs: Vec<&Parameter> = written.chain(&entry.results).collect();
    let there_are = || match outputs.is_empty() {
        true => format!("'{}' gives nothing", entry.name),
        false => format!("'{}' gives: {}", entry.name, entry::names(&outputs)),
    };
    let mut files: Vec<Option<String>> = vec![None; outputs.len()];
    for binding in bindings.iter().filter(|b| b.name.is_some()) {
        let name = binding.name.as_deref().unwrap_or_default();
        let position = entry::position(&outputs, name).ok_or_else(|| {
            Error::input(format!("there is no output '{name}'")).help(there_are())
        })?;
        if files[position].is_some() {
            return Err(Error::input(format!("the output '{name}' is given twice")));
        }
        files[position] = Some(binding.value.clone());
    }
    for binding in bindings.iter().filter(|b| b.name.is_none()) {
        let Some(free) = files.iter_mut().find(|file| file.is_none()) else {
            return Err(Error::input(format!(
                "too many outputs: found {}, expected at most {}",
                bindings.len(),
                outputs.len()
            ))
            .help(there_are()));
        };
        *free = Some(binding.value.clone());
    }
    for (i, file) in files.iter().enumerate() {
        let Some(file) = file else { continue };
        let wrong = |reason: &str| {
            Error::input(format!(
                "'{file}' {reason}: expected a file for each output"
            ))
        };
        if file == "-" {
            return Err(wrong("is standard output"));
        }
        let is_device = std::fs::metadata(file).is_ok_and(|file| !file.is_file());
        if files[..i].contains(&Some(file.clone())) && !is_device {
            return Err(wrong("is given for two outputs"));
        }
        output::check_writable(Path::new(file))?;
    }
    Ok(files)
}
