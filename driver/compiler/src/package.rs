//! `mdh compile --device cuda -o X.mdhpkg`: what `mdh-exec` runs where nothing of LLVM is.
//!
//! The program is prepared as `mdh run` would run it, on random numbers, and the definition is
//! evaluated at some places, which go into the package: what runs it compares.

use mdh_arrays::Tensor;
use mdh_cuda::Capability;
use mdh_dialect::ir;
use mdh_dialect::schedule;
use mdh_dialect::types::BufferKind;
use mdh_exec::{Array, Expected, Fill, Manifest, Package};
use mdh_jit::Processor;
use mdh_passes::pipelines::{Line, LineOptions, Pipeline, RangeChecks, Schedules, Target};
use melior::Context;
use melior::ir::Module;

use crate::check::Expectation;
use crate::cli::{CheckHow, CompileArguments, Device, Fallback, Range, RunArguments, Size};
use crate::depth::Trees;
use crate::entry::{Entry, Parameter};
use crate::error::{Error, Result};
use crate::formed::Formed;
use crate::library::{callable, link};
use crate::rehearsal::Rehearsal;
use crate::{arguments, compile, execute, ptx, sizes};

/// So many elements of each array are compared, if nothing else is said.
pub const SAMPLES: usize = 256;

/// Options of a package.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The chip that kernels are for.
    pub chip: Capability,
    /// The seed of the random numbers that it is checked on.
    pub seed: u64,
    /// Sizes of dynamic dimensions.
    pub size: Vec<Size>,
    /// Ranges of the random numbers of inputs; others are as `mdh run` has them.
    pub ranges: Vec<Range>,
    /// So many elements of each array are compared at most.
    pub samples: usize,
    /// Range checks of views.
    pub checks: RangeChecks,
    /// Choice of schedules by the model where nobody has given one.
    pub schedules: Schedules,
    /// True if it is an error that zeros would pass.
    pub expects_strong: bool,
    /// Code for the function where no kernel is for the GPU.
    pub fallback: Option<Fallback>,
}

impl Wanted {
    /// Reads a command's options.
    pub fn new(command: &CompileArguments) -> Result<Wanted> {
        Ok(Wanted {
            chip: command.kernel_chip()?,
            seed: command.random.unwrap_or(0),
            size: command.size.clone(),
            ranges: command.ranges.clone(),
            samples: SAMPLES,
            checks: command.line_options().ranges,
            schedules: command.line_options().schedules,
            expects_strong: false,
            fallback: command.fallback,
        })
    }
}

/// The package of a function.
pub fn emit(context: &Context, formed: &Formed, wanted: &Wanted) -> Result<Vec<u8>> {
    let function = formed.function.as_str();
    let entry = formed.entry()?;
    execute::expect_code(entry.op, Device::Cuda, wanted.fallback)?;
    expect_plain_arrays(&entry)?;
    arguments::check_ranges(&entry, &wanted.ranges)?;

    let mut lowered = formed.copy(context, &entry);
    let mut trees = Trees::new(&lowered, function);
    let Kernels { text, schedules } = kernels(context, &mut lowered, &mut trees, &entry, wanted)?;
    let run = RunArguments {
        random: Some(wanted.seed),
        size: wanted.size.clone(),
        ranges: wanted.ranges.clone(),
        check: Some(CheckHow::Sample),
        no_range_checks: wanted.checks == RangeChecks::Off,
        ..RunArguments::new("".as_ref())
    };
    let errors = |inputs: &[Tensor], shapes: &[Vec<i64>]| trees.errors(&entry, inputs, shapes);
    let rehearsal = Rehearsal::new(&entry, errors, &run, wanted.samples)?;
    if wanted.expects_strong {
        rehearsal.expectation.expect_strong()?;
    }

    let (symbol, host) = host(&lowered, function)?;
    let manifest = Manifest {
        format: Manifest::FORMAT,
        producer: format!("mdh {}", env!("CARGO_PKG_VERSION")),
        function: function.to_string(),
        symbol,
        chip: wanted.chip.to_string(),
        schedules,
        arguments: described(&entry, &rehearsal.inputs, wanted)?,
        results: given(&entry, &rehearsal.shapes),
        expected: expected(&rehearsal.expectation, wanted.samples),
        flops: rehearsal.flops,
        bytes: rehearsal.bytes,
    };
    let package = Package {
        manifest,
        kernels: text,
        host,
    };
    Ok(package.write())
}

/// Refuses arguments and results with a layout.
fn expect_plain_arrays(entry: &Entry) -> Result<()> {
    let mut parameters = entry.arguments.iter().chain(&entry.results);
    match parameters.find(|parameter| parameter.layout.is_some()) {
        Some(other) => Err(Error::input(format!(
            "'{}' has a layout: expected arrays that lie row by row in a package",
            other.name
        ))),
        None => Ok(()),
    }
}

/// Kernels of a function: their PTX, and the schedules that they follow.
struct Kernels {
    text: String,
    schedules: Vec<String>,
}

/// Lowers a function to its kernels and to code that launches them, which any machine may do, and compute what is
/// left beside them.
fn kernels<'c>(
    context: &'c Context,
    lowered: &mut Module<'c>,
    trees: &mut Trees,
    entry: &Entry,
    wanted: &Wanted,
) -> Result<Kernels> {
    let line = Line {
        target: Target::Cuda,
        options: LineOptions {
            ranges: wanted.checks,
            schedules: wanted.schedules,
            ..LineOptions::RUN
        },
    };
    let anywhere = mdh_machine::baseline();
    let mut lower = |module: &mut Module<'c>, pipelines: &[&Pipeline]| {
        trees.lower(module, pipelines, |module, pipeline| {
            compile::run(&anywhere, context, module, pipeline)
        })
    };
    lower(lowered, &line.between(compile::RAISED, "scheduled"))?;
    let schedules = schedules_of(lowered);
    lower(lowered, &line.between("scheduled", "device"))?;
    execute::expect_kernels(compile::operation(lowered), entry, wanted.fallback)?;
    let text = ptx::kernels_of(context, lowered, wanted.chip)?.unwrap_or_default();
    lower(lowered, &line.after("device"))?;
    Ok(Kernels { text, schedules })
}

/// Returns the name and the object code of what a computer calls.
fn host(lowered: &Module, function: &str) -> Result<(String, Vec<u8>)> {
    let (symbol, object) = callable::object(lowered, function, Processor::Baseline)?;
    let linked = link::bare(&object, &symbol)?;
    Ok((symbol, linked))
}

/// The schedules of all computations, in the order of the program.
fn schedules_of(module: &Module) -> Vec<String> {
    let computations = ir::find_all(compile::operation(module), &["mdh.compute"]);
    let schedules = computations
        .into_iter()
        .filter_map(|op| schedule::read(op).ok().flatten());
    schedules.map(|schedule| schedule.to_string()).collect()
}

fn array(parameter: &Parameter, shape: &[i64], fill: Fill) -> Array {
    Array {
        name: parameter.name.clone(),
        dtype: parameter.ty.element.to_string(),
        shape: shape.to_vec(),
        is_scalar: parameter.ty.kind == BufferKind::Scalar,
        fill,
    }
}

/// The arguments, as [`arguments::gather`] has made them.
fn described(entry: &Entry, inputs: &[Tensor], wanted: &Wanted) -> Result<Vec<Array>> {
    let sizes = sizes::of_call(entry, inputs)?;
    let both = entry.arguments.iter().zip(inputs).enumerate();
    let arrays = both.map(|(i, (parameter, tensor))| {
        let stream = i as u64;
        let range = arguments::range_of(&wanted.ranges, parameter);
        let fill = match (parameter.ty.kind, range) {
            (BufferKind::Scalar, _) => Fill::Bits(tensor.get(0).bits),
            _ if !entry.is_read_at(i, &sizes) => Fill::Poison,
            (_, Some([low, high])) => Fill::Uniform {
                low,
                high,
                seed: wanted.seed,
                stream,
            },
            (_, None) => Fill::Random {
                seed: wanted.seed,
                stream,
            },
        };
        array(parameter, tensor.shape(), fill)
    });
    Ok(arrays.collect())
}

fn given(entry: &Entry, shapes: &[Vec<i64>]) -> Vec<Array> {
    let both = entry.results.iter().zip(shapes);
    both.map(|(parameter, shape)| {
        let fill = match parameter.ty.kind {
            BufferKind::Scalar => Fill::Bits(0),
            _ => Fill::Poison,
        };
        array(parameter, shape, fill)
    })
    .collect()
}

/// Returns the expected results, at not too many places.
fn expected(expectation: &Expectation, samples: usize) -> Vec<Expected> {
    let outputs = expectation.outputs();
    let samples_of = |(place, elements): (_, &[(Vec<i64>, mdh_algebra::oracle::Element)])| {
        let step = elements.len().div_ceil(samples.max(1)).max(1);
        let some: Vec<_> = elements.iter().step_by(step).collect();
        let bounded = |error: f64| error.is_finite().then_some(error);
        Expected {
            place,
            indices: some.iter().map(|(index, _)| index.clone()).collect(),
            bits: some.iter().map(|(_, element)| element.value.bits).collect(),
            errors: some
                .iter()
                .map(|(_, element)| bounded(element.error))
                .collect(),
        }
    };
    outputs.map(samples_of).collect()
}
