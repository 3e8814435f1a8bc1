//! The command line of `mdh`.

mod bench;
mod check;
mod layout;
mod map;
mod run;
mod template;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use mdh_passes::pipelines::{LineOptions, RangeChecks, Schedules};

use crate::error::Error;
use crate::output;

pub use bench::{BenchArguments, BenchDevice, GivenSchedule};
pub use check::CheckArguments;
pub use layout::{Assumed, Banks, Bits, Code, LayoutArguments};
pub use map::{Choice, MapArguments, MapCode, Mode};
pub use run::{CheckHow, Device, Fallback, Range, RunArguments};
pub use template::TemplateArguments;

/// Computations as multi-dimensional homomorphisms, from MLIR to numbers.
#[derive(Parser, Debug)]
#[command(
    name = "mdh",
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Example:\n  mdh run examples/matmul.mlir --check")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Runs a function of a file and prints shapes, times and digests.
    Run(RunArguments),
    /// Says of a tensor program what its statements are, and which may run in place.
    Check(CheckArguments),
    /// Prints a file at one stage on its way to machine code.
    Compile(CompileArguments),
    /// Converts a schedule from one spelling to another.
    Schedule(ScheduleArguments),
    /// Asks a layout where an index stands, draws it, checks it, or prints it as code.
    Layout(LayoutArguments),
    /// Shows how a space of indices becomes blocks and threads of a device, and the waste.
    Map(MapArguments),
    /// Fills a kernel's template with the index expressions of layouts.
    Template(TemplateArguments),
    /// Prints a machine as schedules see it: this one, or one from a file.
    Asm(AsmArguments),
    /// Says what a computation is, which schedule it gets and why, and what bounds it.
    Explain(ExplainArguments),
    /// Measures workloads beside other programs, and beside what the machine can do at most.
    Bench(BenchArguments),
}

/// What `mdh compile` takes.
#[derive(Args, Debug)]
#[command(after_help = COMPILE_EXAMPLES)]
pub struct CompileArguments {
    /// The program, in MLIR or in the tensor language (.tdsl).
    pub file: PathBuf,
    /// The stage to print; with --device cuda it is a package if none is named.
    #[arg(
        long,
        value_name = "STAGE",
        value_enum,
        required = false,
        required_unless_present = "device",
        required_if_eq_any([("device", "cpu"), ("device", "sim")]),
        default_value_if("device", "cuda", "package")
    )]
    pub emit: Stage,
    /// The target of the stages: this machine's processor if none is named; ptx and package are for
    /// NVIDIA's GPUs anyway.
    #[arg(long, value_enum)]
    pub device: Option<Device>,
    /// The file to write; standard output if there is none.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// The function to print, with what it needs; the whole file if there is none.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Leaves out the checks at run time that views stay within their buffers.
    #[arg(long)]
    pub no_range_checks: bool,
    /// Leaves computations without a schedule as plain loops, where the model would choose one.
    #[arg(long)]
    pub no_schedules: bool,
    /// Chooses schedules whose results do not depend on the number of cores, floats included.
    #[arg(long)]
    pub deterministic: bool,
    /// Tells debuggers and profilers which line of the program code comes from.
    #[arg(long)]
    pub debug_info: bool,
    /// The schedule of the function's computation, or of several: JSON, the attribute's text, or a
    /// transform script.
    #[arg(long, value_name = "S.json")]
    pub schedule: Option<PathBuf>,
    /// The compute capability that --emit ptx and package are for, such as sm_80 or sm_90a; sm_90
    /// if none is named.
    #[arg(long, value_name = "CHIP")]
    pub chip: Option<String>,
    /// The seed of the random numbers that a package is checked on; 0 if none is named.
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub random: Option<u64>,
    /// Ranges of these random numbers, from LOW to below HIGH, of one argument or of all that are
    /// not named; floats are in -1..1 otherwise.
    #[arg(long = "range", value_name = "[NAME=]LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub ranges: Vec<Range>,
    /// What runs a package of which nothing is for the device: expected where that is meant.
    #[arg(long, value_enum)]
    pub fallback: Option<Fallback>,
    /// Sizes of dynamic dimensions ('?') that a package is checked on, by the name of the dimension.
    #[arg(long, value_name = "DIM=N", num_args = 1.., action = clap::ArgAction::Append)]
    pub size: Vec<Size>,
    /// Shows no warnings: what is right and slow is not said.
    #[arg(long)]
    pub no_warnings: bool,
}

impl CompileArguments {
    /// What is left out of the stages.
    pub fn line_options(&self) -> LineOptions {
        LineOptions {
            ranges: match self.no_range_checks {
                true => RangeChecks::Off,
                false => RangeChecks::On,
            },
            schedules: match self.no_schedules {
                true => Schedules::Written,
                false => Schedules::Default,
            },
        }
    }
}

const COMPILE_EXAMPLES: &str = "\
Examples:
  mdh compile examples/matvec.mlir --emit loops
  mdh compile examples/matvec.mlir --emit header -o matvec.h
  mdh compile examples/matvec.mlir --emit obj -o matvec.o
  cc main.c matvec.o -L target/release -l:libmdhrt.a -lm -lpthread -ldl
  mdh compile examples/matvec.mlir --emit shared -o libmatvec.so
  mdh compile examples/matvec.mlir --emit ptx --chip sm_90a -o matvec.ptx
  mdh compile examples/matvec.mlir --device cuda -o matvec.mdhpkg";

/// What `mdh schedule` takes.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  mdh schedule schedule.json --to attr")]
pub struct ScheduleArguments {
    /// JSON, the attribute's text, a transform script, or a program (.mlir) with scheduled
    /// computations.
    pub file: PathBuf,
    /// The function of a program whose schedules are meant; needed if it has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// The spelling to print.
    #[arg(long, value_name = "SPELLING", value_enum)]
    pub to: Spelling,
}

/// What `mdh asm` takes.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  mdh asm --json > machine.json")]
pub struct AsmArguments {
    /// The machine, in JSON; this one if there is none.
    #[arg(long, value_name = "A.json")]
    pub asm: Option<PathBuf>,
    /// Prints JSON, which --asm reads, instead of text.
    #[arg(long)]
    pub json: bool,
}

/// What `mdh explain` takes.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  mdh explain examples/matmul.mlir\n  mdh explain examples/matmul.mlir --device h200"
)]
pub struct ExplainArguments {
    /// The program, in MLIR or in the tensor language (.tdsl).
    pub file: PathBuf,
    /// The function to explain; needed if the file has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// The schedule of the function's computation, or of several: JSON, the attribute's text, or a
    /// transform script.
    #[arg(long, value_name = "S.json")]
    pub schedule: Option<PathBuf>,
    /// Sizes of dynamic dimensions ('?'), by the name of the dimension: what bounds a run with
    /// them. What the model chooses is for any size.
    #[arg(long, value_name = "DIM=N", num_args = 1.., action = clap::ArgAction::Append)]
    pub size: Vec<Size>,
    /// The machine, in JSON; this one if there is none.
    #[arg(long, value_name = "A.json", conflicts_with = "device")]
    pub asm: Option<PathBuf>,
    /// A GPU instead: how its kernels are scheduled, and about how long they take: a100, h100, h200,
    /// b200.
    #[arg(long, value_name = "GPU")]
    pub device: Option<String>,
    /// Chooses schedules whose results do not depend on the number of cores, floats included.
    #[arg(long)]
    pub deterministic: bool,
    /// Shows no warnings: what is right and slow is not said.
    #[arg(long)]
    pub no_warnings: bool,
}

/// How a schedule is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Spelling {
    /// The text of the attribute, #mdh.schedule<...>.
    Attr,
    /// JSON.
    Json,
    /// A transform script.
    Transform,
}

/// A stage between a program and machine code: those of [`mdh_passes::pipelines::STAGES`], and what is no MLIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// Views and homomorphisms: out_view . md_hom . inp_view.
    Mdh,
    /// One mdh.compute for each computation, as it is written.
    Formed,
    /// The same, checked at run time where that is needed, and simplified.
    Compute,
    /// The same on memory.
    Bufferized,
    /// The same, each with a schedule.
    Scheduled,
    /// Memory of the device, and copies to it and back (sim, cuda).
    Placed,
    /// Loops over tiles, cores and all.
    Tiles,
    /// Loops of blocks and threads as kernels (sim, cuda).
    Kernels,
    /// Tiles in registers as code on vectors.
    Vector,
    /// Loops over memory.
    Loops,
    /// Kernels as functions of the device (sim, cuda).
    Device,
    /// These functions in the nvvm and llvm dialects (cuda).
    Nvvm,
    /// Bodies of parallel loops as functions for threads, launches as calls.
    Parallel,
    /// The llvm dialect.
    LlvmDialect,
    /// LLVM IR, optimised for this machine.
    Llvm,
    /// This machine's assembly.
    Asm,
    /// An object file, whose C functions need the run-time library libmdhrt.
    Obj,
    /// The header of these C functions.
    Header,
    /// A shared library with these C functions and the run-time library in it.
    Shared,
    /// Kernels for NVIDIA's GPUs, in PTX.
    Ptx,
    /// Kernels, what launches them, and what results must be, for mdh-exec.
    Package,
}

impl Stage {
    /// The stage of the compiler, if it is one that is printed as MLIR after some passes.
    pub fn mlir(self) -> Option<String> {
        let is_code = matches!(
            self,
            Stage::Llvm
                | Stage::Asm
                | Stage::Obj
                | Stage::Header
                | Stage::Shared
                | Stage::Ptx
                | Stage::Package
        );
        let value = self
            .to_possible_value()
            .filter(|_| !is_code && self != Stage::Mdh);
        value.map(|value| value.get_name().to_string())
    }
}

/// `[NAME=]VALUE`: a file or a number for an argument, or a file for a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The argument's or result's name; without one, bindings count in order.
    pub name: Option<String>,
    /// The file or the number.
    pub value: String,
}

impl FromStr for Binding {
    type Err = String;

    fn from_str(text: &str) -> Result<Binding, String> {
        let (name, value) = match text.split_once('=') {
            // What is no name belongs to a path, as in `./a=b.npy`.
            Some((name, value)) if is_name(name) => (Some(name.to_string()), value),
            _ => (None, text),
        };
        match value.is_empty() {
            true => Err("found nothing, expected a file or a number".to_string()),
            false => Ok(Binding {
                name,
                value: value.to_string(),
            }),
        }
    }
}

/// `DIM=N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// The dimension's name.
    pub dimension: String,
    /// Its size, at least 0.
    pub size: i64,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let expected = || "expected DIM=N, such as i=64".to_string();
        let (dimension, size) = text.split_once('=').ok_or_else(expected)?;
        if !is_name(dimension) {
            return Err(expected());
        }
        let size = size.parse().ok().filter(|&size| size >= 0);
        let size = size.ok_or_else(|| {
            format!(
                "the size of '{dimension}' must be an integer from 0 to {}",
                i64::MAX
            )
        })?;
        Ok(Size {
            dimension: dimension.to_string(),
            size,
        })
    }
}

/// Where random numbers start.
fn seed(text: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| format!("expected a number from 0 to {}", u64::MAX))
}

/// Whether a text can name an argument or a dimension.
fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_')
        && characters.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
}

/// The definition of the command line, with the versions of mdh and of LLVM.
pub fn command() -> clap::Command {
    static VERSION: OnceLock<String> = OnceLock::new();
    let version = VERSION.get_or_init(|| {
        format!(
            "{} (LLVM {})",
            env!("CARGO_PKG_VERSION"),
            mdh_runtime::version()
        )
    });
    Cli::command().version(version.as_str())
}

/// The process's command line. Prints help, the version or an error (exit code 2) itself; fails
/// where those cannot be printed.
pub fn parse() -> Result<Cli, Error> {
    let matches = command().try_get_matches_from(run::joined(std::env::args_os()));
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    cli.or_else(|found| {
        if !found.use_stderr() {
            output::print_with(|| found.print())?;
        }
        found.exit()
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn parsed(line: &str) -> Result<Cli, String> {
        let words = line.split_whitespace().map(OsString::from);
        let matches = command().try_get_matches_from(super::run::joined(words));
        let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
        cli.map_err(|error| error.render().to_string())
    }

    pub(super) fn run(line: &str) -> RunArguments {
        match parsed(line).unwrap().command {
            Command::Run(arguments) => arguments,
            other => panic!("not a run: {other:?}"),
        }
    }

    fn help(path: &[&str]) -> String {
        let mut command = command().term_width(100);
        command.build();
        let found = path
            .iter()
            .fold(&mut command, |c, name| c.find_subcommand_mut(name).unwrap());
        found.render_help().to_string()
    }

    #[test]
    fn the_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn help_texts() {
        insta::assert_snapshot!("help", help(&[]));
        insta::assert_snapshot!("help_run", help(&["run"]));
        insta::assert_snapshot!("help_compile", help(&["compile"]));
        insta::assert_snapshot!("help_check", help(&["check"]));
        insta::assert_snapshot!("help_schedule", help(&["schedule"]));
        insta::assert_snapshot!("help_layout", help(&["layout"]));
        insta::assert_snapshot!("help_map", help(&["map"]));
        insta::assert_snapshot!("help_template", help(&["template"]));
        insta::assert_snapshot!("help_asm", help(&["asm"]));
        insta::assert_snapshot!("help_explain", help(&["explain"]));
        insta::assert_snapshot!("help_bench", help(&["bench"]));
    }

    #[test]
    fn the_version_names_llvm() {
        let text = parsed("mdh --version").unwrap_err();
        assert!(
            text.starts_with("mdh ") && text.contains("(LLVM 22."),
            "{text}"
        );
    }

    #[test]
    fn several_values_until_the_next_flag() {
        let run =
            run("mdh run a.mlir --in M.npy v=b.npy n=-5 -7 --out w.npy --size i=8 k=0 --check");
        let binding = |name: Option<&str>, value: &str| Binding {
            name: name.map(str::to_string),
            value: value.to_string(),
        };
        let inputs = [
            binding(None, "M.npy"),
            binding(Some("v"), "b.npy"),
            binding(Some("n"), "-5"),
            binding(None, "-7"),
        ];
        assert_eq!(run.inputs, inputs);
        assert_eq!(run.outputs, [binding(None, "w.npy")]);
        let sizes: Vec<(String, i64)> = run
            .size
            .into_iter()
            .map(|size| (size.dimension, size.size))
            .collect();
        assert_eq!(sizes, [("i".to_string(), 8), ("k".to_string(), 0)]);
        assert!(run.check == Some(CheckHow::Sample) && !run.json);
        assert_eq!((run.repeat.get(), run.random), (1, None));
    }

    #[test]
    fn flags_repeat() {
        let run = run("mdh run a.mlir --in a.npy --in b.npy --size i=1 --size j=2 --repeat 7");
        assert_eq!(
            (run.inputs.len(), run.size.len(), run.repeat.get()),
            (2, 2, 7)
        );
    }

    #[test]
    fn paths_with_equals_signs() {
        let path = Binding::from_str("./a=b.npy").unwrap();
        assert_eq!((path.name, path.value.as_str()), (None, "./a=b.npy"));
    }

    #[test]
    fn stages() {
        for (name, stage) in [("mdh", Stage::Mdh), ("obj", Stage::Obj)] {
            let cli = parsed(&format!("mdh compile a.mlir --emit {name} -o b")).unwrap();
            let Command::Compile(arguments) = cli.command else {
                panic!("not a compile")
            };
            assert_eq!(arguments.emit, stage);
            assert_eq!(arguments.output, Some(PathBuf::from("b")));
        }
    }

    #[test]
    fn mistakes() {
        for line in [
            "mdh run a.mlir --size i",
            "mdh run a.mlir --size i=-1",
            "mdh run a.mlir --in M=",
            "mdh run a.mlir --repeat 0",
            "mdh compile a.mlir --emit sass",
            "mdh compile a.mlir",
            "mdh walk",
        ] {
            let name = line.replace([' ', '.', '=', '-'], "_");
            insta::assert_snapshot!(name, parsed(line).unwrap_err());
        }
    }
}
