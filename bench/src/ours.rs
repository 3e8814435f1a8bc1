//! Our side: a program compiled as `mdh run` compiles it, run as often as the conductor says.

use std::num::NonZeroU32;
use std::path::Path;
use std::time::{Duration, Instant};

use melior::Context;
use melior::ir::Module;

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::context;
use mdh_jit::{Level, memory};
use mdh_passes::pipelines::{Pipeline, Target};
use mdh_schedule::asm::Asm;

use super::candidates;
use super::limits::{self, Work};
use super::protocol::{Answer, Array, Compiled, Request, Task};
use super::shared::{Shared, read_into, write_to};
use super::signature::{self, Port, Signature};
use mdh_compiler::arguments;
use mdh_compiler::check::Expectation;
use mdh_compiler::cli::{CheckHow, Device, RunArguments};
use mdh_compiler::compile;
use mdh_compiler::depth::Trees;
use mdh_compiler::diagnostics;
use mdh_compiler::entry::{Entry, Parameter};
use mdh_compiler::error::{Error, ErrorKind, Result};
use mdh_compiler::execute::{self, Call, Compiled as Code};
use mdh_compiler::formed::Formed;
use mdh_compiler::host::Host;
use mdh_compiler::rehearsal::Rehearsal;
use mdh_compiler::sizes::{self, Open, Sizes};
use mdh_compiler::source::Source;
use mdh_compiler::values::Tensor;

/// Answers requests from standard input until it ends.
pub fn serve(host: &Host) -> Result<()> {
    mdh_passes::register_all();
    let mut left = None;
    while let Some(request) = left.take().map_or_else(next, |request| Ok(Some(request)))? {
        let answer = match request {
            Request::Compile(task) => match case(&host.machine, &task) {
                Ok(()) => Answer::Done {},
                Err(error) => refusal(&error),
            },
            Request::Prepare(task) => match candidates::serve(&host.machine, &task) {
                Ok(None) => return Ok(()),
                Ok(request) => {
                    left = request;
                    continue;
                }
                Err(error) => refusal(&error),
            },
            Request::Limits => match limits::measure(&host.machine) {
                Ok(limits) => Answer::Limits(limits),
                Err(error) => refusal(&error),
            },
            _ => Answer::Failed("nothing is compiled".to_string()),
        };
        say(&answer)?;
    }
    Ok(())
}

/// Answers the conductor about a failure: short memory is no fault of the program.
pub fn refusal(error: &Error) -> Answer {
    match error.kind() {
        ErrorKind::Resources => Answer::No(error.message().to_string()),
        ErrorKind::Check => Answer::Wrong(error.message().to_string()),
        _ => Answer::Failed(error.message().to_string()),
    }
}

/// The next request; none at the end.
pub fn next() -> Result<Option<Request>> {
    mdh_process::next().map_err(|error| Error::bug(error.to_string()))
}

/// Answers.
pub fn say(answer: &Answer) -> Result<()> {
    mdh_process::say(answer).map_err(|_| Error::new(ErrorKind::OutputClosed, ""))
}

/// The function of a program that is measured; with a schedule, if there is one for it.
pub fn formed<'c>(
    context: &'c Context,
    source: &Source,
    entry: Option<&str>,
    schedule: Option<&Path>,
) -> Result<Formed<'c>> {
    diagnostics::show(context, source);
    let formed = Formed::new(context, source, entry)?;
    formed.apply(schedule)?;
    Ok(formed)
}

/// Refuses a schedule that is none of this program's, or of no program's.
pub fn check_schedule(task: &Task, schedule: &Path) -> Result<()> {
    mdh_passes::register_all();
    let source = task.source()?;
    let context = context::program_context();
    formed(&context, &source, task.entry.as_deref(), Some(schedule)).map(|_| ())
}

/// Prepares a program and runs it on request, until it is dropped.
fn case(asm: &Asm, task: &Task) -> Result<()> {
    let source = task.source()?;
    let context = context::program_context();
    let schedule = task.schedule.as_ref().map(Path::new);
    let formed = formed(&context, &source, task.entry.as_deref(), schedule)?;
    let entry = formed.entry()?;
    execute::expect_code(entry.op, Device::Cpu, None)?;
    let command = as_run(task);
    require_memory(&entry, &command)?;

    let steps = compile::line(Target::Cpu).after(compile::RAISED);
    let mut lowered = formed.copy(&context, &entry);
    let mut trees = Trees::new(&lowered, &entry.name);
    let lowering = lower(asm, &context, &mut lowered, &steps, &mut trees)?;
    let errors = |inputs: &[Tensor], shapes: &[Vec<i64>]| trees.errors(&entry, inputs, shapes);
    let inputs = match &task.inputs {
        Some(arrays) => given(&entry, arrays, &command)?,
        None => arguments::gather(&entry, &command)?,
    };
    let rehearsal = Rehearsal::on_inputs(&entry, inputs, errors, &command, task.samples)?;
    let expectation = rehearsal.expectation;
    let note = weakness(task, &expectation)?;
    let files = (rehearsal.inputs.iter())
        .map(|tensor| Shared::with(tensor.bytes()))
        .collect::<Result<Vec<_>>>()?;
    let mut call = Call::new(&entry, rehearsal.inputs, &rehearsal.shapes)?;

    let (code, compile_ms) = compiled(&lowered, &entry.name, lowering)?;
    hold(&code, &mut call, &expectation)?;
    say(&Answer::Compiled(Compiled {
        inputs: describe(&entry, &call.arguments, &files),
        outputs: describe_outputs(&entry, &call, &files),
        work: work(&entry, &call, rehearsal.flops),
        compile_ms,
        checked: true,
        note,
    }))?;
    run(&entry, &code, &mut call)
}

/// The arguments of a call on arrays that another program has, in the order in which they are read.
pub fn given(entry: &Entry, arrays: &[Array], command: &RunArguments) -> Result<Vec<Tensor>> {
    let ours: Vec<Port> = arrays.iter().map(Port::from).collect();
    let theirs = Signature::new(entry, &command.size)?;
    if let Some(why) = signature::difference("input", &ours, &theirs.inputs) {
        return Err(Error::input(why));
    }
    let tensors = arrays.iter().map(tensor).collect::<Result<_>>()?;
    arguments::complete(entry, tensors, command)
}

/// An array, with the numbers of its file.
fn tensor(array: &Array) -> Result<Tensor> {
    let mut types = ScalarType::ALL.into_iter();
    let element = types.find(|ty| ty.name() == array.dtype);
    let element =
        element.ok_or_else(|| Error::bug(format!("there is no type '{}'", array.dtype)))?;
    let mut tensor = Tensor::zeroed(element, &array.shape)?;
    if let Some(file) = &array.file {
        read_into(file, tensor.bytes_mut())?;
    }
    Ok(tensor)
}

/// A remark on a check that cannot tell results from zero. Of a workload that is an error: its inputs are chosen so that
/// it can.
fn weakness(task: &Task, expectation: &Expectation) -> Result<Option<String>> {
    match expectation.expect_strong() {
        Ok(()) => Ok(None),
        Err(weak) if task.may_be_weak => Ok(Some(format!("{}: --range 0.5..1.5", weak.message()))),
        Err(weak) => Err(weak),
    }
}

/// Lowers a module, whose trees are read. Returns the time that passes take.
pub fn lower(
    asm: &Asm,
    context: &Context,
    module: &mut Module,
    steps: &[&'static Pipeline],
    trees: &mut Trees,
) -> Result<Duration> {
    trees.lower(module, steps, |module, pipeline| {
        compile::run(asm, context, module, pipeline)
    })
}

/// Machine code of a function that took some time to lower, and the milliseconds from its module to it.
pub fn compiled(lowered: &Module, name: &str, lowering: Duration) -> Result<(Code, f64)> {
    let started = Instant::now();
    let code = Code::load(lowered, name, Level::Full)?;
    let spent = lowering + started.elapsed();
    Ok((code, spent.as_secs_f64() * 1e3))
}

/// Calls the code once, and fails if its result is not what the definition says.
pub fn hold(code: &Code, call: &mut Call, expectation: &Expectation) -> Result<()> {
    code.call(call, NonZeroU32::MIN)?;
    call.check_bounds()?;
    match expectation.hold(call) {
        (_, Some(wrong)) => Err(Error::check(format!(
            "the result is not what the definition says: {wrong}"
        ))),
        (_, None) => Ok(()),
    }
}

/// Runs and answers until the case is dropped.
pub fn run(entry: &Entry, code: &Code, call: &mut Call) -> Result<()> {
    while let Some(request) = next()? {
        let answer = match request {
            Request::Run { calls } => {
                let calls = NonZeroU32::new(calls).unwrap_or(NonZeroU32::MIN);
                let times = code.time(call, calls)?;
                Answer::Times(times.iter().map(|time| time.as_nanos() as f64).collect())
            }
            Request::Output { files } => {
                // What is updated has been updated by every run before.
                code.call(call, NonZeroU32::MIN)?;
                for (file, (_, tensor)) in files.iter().zip(outputs(entry, call)) {
                    write_to(file, tensor.bytes())?;
                }
                Answer::Done {}
            }
            Request::Drop => return Ok(()),
            _ => Answer::Failed("a case is loaded".to_string()),
        };
        say(&answer)?;
    }
    Ok(())
}

/// The arguments of an `mdh run` that makes random inputs and checks the result.
pub fn as_run(task: &Task) -> RunArguments {
    RunArguments {
        random: Some(task.seed),
        size: task.sizes(),
        ranges: task.ranges.clone(),
        check: Some(CheckHow::Sample),
        ..RunArguments::new(task.name.as_ref())
    }
}

/// So many copies of all arrays there are at least: ours, and those that peers are given or make.
const COPIES: u64 = 3;

/// Refuses before anything starts if memory is short for the sizes of a run.
pub fn require_memory(entry: &Entry, command: &RunArguments) -> Result<()> {
    let sizes = sizes::infer(entry, &command.size, Sizes::declared(entry), Open::Kept)?;
    let bytes = bytes(entry, &sizes);
    Ok(memory::require(bytes.saturating_mul(COPIES))?)
}

/// So many times its arrays a program may take, beside what compiling takes.
const GENEROUS: u64 = 16;
/// Memory for compiling, and for stacks.
const COMPILING: u64 = 4 << 30;

/// Limits this process to what a program may take at most, and to what the machine has: a candidate
/// that takes all memory ends alone.
pub fn limit_memory(entry: &Entry) -> Result<()> {
    let most = bytes(entry, &Sizes::declared(entry))
        .saturating_mul(GENEROUS)
        .saturating_add(COMPILING);
    let most = memory::available().map_or(most, |available| available.min(most));
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes the structure that it is given.
    let read = unsafe { libc::getrlimit(libc::RLIMIT_DATA, &mut limit) };
    limit.rlim_cur = most.min(limit.rlim_max);
    // SAFETY: reads the structure that it is given.
    match read == 0 && unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) } == 0 {
        true => Ok(()),
        false => {
            let error = std::io::Error::last_os_error();
            let what = "the memory of a process cannot be limited";
            Err(Error::of_system(format!("{what}: {error}")))
        }
    }
}

/// The bytes of all arrays of a function, with what is known of the sizes of its arguments.
fn bytes(entry: &Entry, sizes: &Sizes) -> u64 {
    let shapes = sizes.shapes.iter();
    let shapes = shapes.chain(entry.results.iter().map(|result| &result.ty.shape));
    let parameters = entry.arguments.iter().chain(&entry.results);
    let bytes = parameters.zip(shapes);
    let bytes = bytes.map(|(p, shape)| bytes_of(shape, p.ty.element.byte_width()));
    bytes.fold(0, u64::saturating_add)
}

fn bytes_of(shape: &[Option<i64>], width: usize) -> u64 {
    let extents = shape
        .iter()
        .map(|n| n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0));
    extents.fold(width as u64, u64::saturating_mul)
}

fn describe(entry: &Entry, tensors: &[Tensor], files: &[Shared]) -> Vec<Array> {
    let parameters = entry.arguments.iter().zip(tensors).zip(files);
    let read = parameters.filter(|((parameter, _), _)| parameter.is_read());
    read.map(|((parameter, tensor), file)| array(&parameter.name, tensor, Some(file.path())))
        .collect()
}

/// Returns the results of a call: the arguments that it updates, then its results.
fn outputs<'a>(
    entry: &'a Entry,
    call: &'a Call,
) -> impl Iterator<Item = (&'a Parameter, &'a Tensor)> {
    let arguments = entry.arguments.iter().zip(&call.arguments);
    let updated = arguments.filter(|(parameter, _)| parameter.is_written());
    updated.chain(entry.results.iter().zip(&call.results))
}

/// Outputs; those that are updated have the files of what they are before.
fn describe_outputs(entry: &Entry, call: &Call, files: &[Shared]) -> Vec<Array> {
    let before = |parameter: &Parameter| {
        let mut pairs = entry.arguments.iter().zip(files);
        let pair = pairs.find(|(other, _)| std::ptr::eq(*other, parameter));
        pair.filter(|_| parameter.is_read())
            .map(|(_, file)| file.path())
    };
    outputs(entry, call)
        .map(|(parameter, tensor)| array(&parameter.name, tensor, before(parameter)))
        .collect()
}

/// The work of a call.
pub fn work(entry: &Entry, call: &Call, flops: f64) -> Work {
    let arguments = || entry.arguments.iter().zip(&call.arguments);
    let bytes = |(_, tensor): (&Parameter, &Tensor)| tensor.bytes().len() as f64;
    let read = arguments().filter(|(parameter, _)| parameter.is_read());
    let updated = read.clone().filter(|(parameter, _)| parameter.is_written());
    Work {
        flops,
        read: read.map(bytes).sum(),
        written: outputs(entry, call).map(bytes).sum(),
        updated: updated.map(bytes).sum(),
    }
}

fn array(name: &str, tensor: &Tensor, file: Option<String>) -> Array {
    Array {
        name: name.to_string(),
        dtype: tensor.element().to_string(),
        shape: tensor.shape().to_vec(),
        bytes: tensor.bytes().len() as u64,
        file,
    }
}
