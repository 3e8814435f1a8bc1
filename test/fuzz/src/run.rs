//! One program through `mdh run --check`, in this process.

use std::path::Path;

use mdh_algebra::scalar::Scalar;
use mdh_compiler::cli::{Binding, CheckHow, Device, Fallback, RunArguments, Size};
use mdh_compiler::error::{Error, ErrorKind, Result};
use mdh_compiler::host::Host;
use mdh_compiler::names::written;
use mdh_compiler::report::Report;
use mdh_compiler::source::Source;
use mdh_compiler::values::Tensor;
use mdh_compiler::{compile, entry, npy, run_command};
use mdh_dialect::context;

use crate::program::{DefinedValue, Definition, RandomProgram};

/// Extent of a run's checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The results of the finished machine code.
    LastStep,
    /// Also the results of the program after each pass.
    EachStep,
}

/// Way of running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The checks.
    pub depth: Depth,
    /// The elements that are compared, and the arithmetic.
    pub check: CheckHow,
    /// The device.
    pub device: Device,
}

impl Way {
    /// The results of machine code, as they are.
    pub const PLAIN: Way = Way {
        depth: Depth::LastStep,
        check: CheckHow::Sample,
        device: Device::Cpu,
    };

    /// The same in integers.
    pub const EXACT: Way = Way {
        check: CheckHow::Exact,
        ..Way::PLAIN
    };

    /// The options of `mdh run`, with a blank before each.
    pub fn options(self) -> &'static str {
        match (self.check, self.device) {
            (CheckHow::Exact, Device::Cpu) => " --check=exact",
            (CheckHow::Exact, Device::Sim) => " --check=exact --device sim --fallback cpu",
            (CheckHow::Exact, Device::Cuda) => " --check=exact --device cuda --fallback cpu",
            (_, Device::Cpu) => " --check",
            (_, Device::Sim) => " --check --device sim --fallback cpu",
            (_, Device::Cuda) => " --check --device cuda --fallback cpu",
        }
    }
}

/// End of a run; the reason for a failure has been shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The result is what the definition says.
    Right,
    /// It is not.
    Wrong,
    /// The program was not run, or not to its end, since something is said to be wrong with it.
    Refused,
    /// A bug was reported.
    Bug,
}

impl Ending {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Ending::Right => "right",
            Ending::Wrong => "wrong",
            Ending::Refused => "refused",
            Ending::Bug => "bug",
        }
    }
}

/// A program, and how it is run.
pub struct Case {
    /// The program.
    pub program: RandomProgram,
    /// The way.
    pub way: Way,
}

impl crate::case::Case for Case {
    fn text(&self) -> String {
        format!("{}{:?}", self.program, self.program.values)
    }

    fn run(&self, folder: &Path) -> Ending {
        run(&self.program, self.way, folder)
    }

    fn write(&self, folder: &Path) -> Result<String> {
        write(&self.program, self.way, folder)
    }
}

/// Runs a program on a device, of which a GPU may be simulated; `folder` is for the arrays that it
/// is called with.
fn run(program: &RandomProgram, way: Way, folder: &Path) -> Ending {
    let text = program.to_string();
    let source = Source::from_text("f.mlir", &text);
    let outcome = arguments(program, &source, folder).and_then(|mut arguments| {
        arguments.check = Some(way.check);
        arguments.check_each_step = way.depth == Depth::EachStep;
        arguments.device = way.device;
        // A program without points has no kernel.
        arguments.fallback = Some(Fallback::Cpu);
        run_source(&source, &arguments)
    });
    ending(outcome)
}

/// Runs a program as `mdh run` does on this machine.
pub fn run_source(source: &Source, arguments: &RunArguments) -> Result<Report> {
    run_command::run_source(&Host::this()?, source, arguments)
}

/// Returns the end of a run; shows the reason for a failure.
pub fn ending(outcome: Result<Report>) -> Ending {
    match outcome {
        Ok(report) if report.check.as_ref().is_some_and(|check| check.passed) => Ending::Right,
        Ok(_) => Ending::Wrong,
        Err(error) => ended(&error),
    }
}

/// Returns the end of a run that failed; shows the reason.
pub fn ended(error: &Error) -> Ending {
    eprintln!("{error}");
    match error.kind() {
        ErrorKind::Check => Ending::Wrong,
        ErrorKind::Bug => Ending::Bug,
        _ => Ending::Refused,
    }
}

/// The command line of a program's run, its arrays written to `folder`.
pub fn arguments(program: &RandomProgram, source: &Source, folder: &Path) -> Result<RunArguments> {
    let is_given = |value: &DefinedValue| matches!(value.definition, Definition::Argument(Some(_)));
    let names = match program.arguments().any(is_given) {
        true => names(source)?,
        false => Vec::new(),
    };
    let mut inputs = Vec::new();
    for (value, name) in program.arguments().zip(names) {
        if let Definition::Argument(Some(contents)) = &value.definition {
            let file = folder.join(format!("{}.npy", value.name));
            npy::write(&file, &tensor(value, contents)?)?;
            inputs.push(Binding {
                name: Some(name),
                value: file.display().to_string(),
            });
        }
    }
    Ok(RunArguments {
        entry: Some("f".into()),
        inputs,
        random: Some(program.seed),
        size: sizes(program),
        check: Some(CheckHow::Sample),
        ..RunArguments::new("f.mlir".as_ref())
    })
}

/// Returns the command's names of the arguments of `f`.
fn names(source: &Source) -> Result<Vec<String>> {
    mdh_passes::register_all();
    let context = context::program_context();
    // What is wrong is shown when the program is run.
    context.attach_diagnostic_handler(|_| true);
    let mut module = source.parse(&context)?;
    let names = written(compile::operation(&module)).remove("f");
    compile::form(&context, &mut module)?;
    let names = names.unwrap_or_default();
    let entry = entry::find(compile::operation(&module), None, "f", &names)?;
    Ok(entry.arguments.into_iter().map(|a| a.name).collect())
}

fn sizes(program: &RandomProgram) -> Vec<Size> {
    let size = |(dimension, size): &(String, i64)| Size {
        dimension: dimension.clone(),
        size: *size,
    };
    program.sizes.iter().map(size).collect()
}

fn tensor(value: &DefinedValue, contents: &[Scalar]) -> Result<Tensor> {
    let mut tensor = Tensor::zeroed(value.ty.element, &value.ty.shape)?;
    for (i, element) in contents.iter().enumerate() {
        tensor.set(i, *element);
    }
    Ok(tensor)
}

/// Writes a program, its arrays and its command to a folder; returns the command.
pub fn write(program: &RandomProgram, way: Way, folder: &Path) -> Result<String> {
    let text = program.to_string();
    let file = folder.join("f.mlir");
    mdh_compiler::output::write(&file, text.as_bytes())?;
    let source = Source::from_text("f.mlir", &text);
    let arguments = arguments(program, &source, folder);
    let mut command = format!(
        "mdh run {} --entry f --random {}",
        file.display(),
        program.seed
    );
    let inputs = arguments
        .map(|arguments| arguments.inputs)
        .unwrap_or_default();
    for (n, Binding { name, value }) in inputs.iter().enumerate() {
        let flag = if n == 0 { " --in" } else { "" };
        command += &format!("{flag} {}={value}", name.as_deref().unwrap_or_default());
    }
    for (n, Size { dimension, size }) in sizes(program).iter().enumerate() {
        let flag = if n == 0 { " --size" } else { "" };
        command += &format!("{flag} {dimension}={size}");
    }
    Ok(command + way.options())
}
