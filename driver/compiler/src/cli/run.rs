//! Command line of `mdh run`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use mdh_passes::pipelines::{Arithmetic, Raise, RangeChecks};

use super::shared::{Json, Remarks};
use super::values::{Binding, GivenSchedule, Size, is_name, seed};
use crate::devices::{Device, DeviceParser};

/// Arguments of `mdh run`.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArguments {
    /// The program, in MLIR or in the tensor language (.tdsl).
    pub file: PathBuf,
    /// The function that is meant. It is needed if the file has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Arguments: .npy files (C or Fortran order; bf16 as uint16), numbers for scalars; by name,
    /// or in order.
    /// Without names, only arguments that are read count: no destinations of results, but where
    /// more are given, all that may be written in part only, which sizes decide.
    #[arg(long = "in", value_name = "[NAME=]A.npy", num_args = 1.., action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub inputs: Vec<Binding>,
    /// The seed of random numbers for all arguments that are not given. Without --in these are the
    /// default, with seed 0.
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = seed, num_args = 0..=1, default_missing_value = "0")]
    pub random: Option<u64>,
    /// Sizes of dynamic dimensions ('?'), by the name of the dimension.
    #[arg(long, value_name = "DIM=N", num_args = 1.., action = clap::ArgAction::Append)]
    pub size: Vec<Size>,
    /// Files for the results: .npy (bf16 as uint16), by name, or in order.
    #[arg(short = 'o', long = "out", value_name = "[NAME=]OUT.npy", num_args = 1.., action = clap::ArgAction::Append)]
    pub outputs: Vec<Binding>,
    /// Ranges of random numbers, from LOW to below HIGH, of one argument or of all that are not
    /// named; floats are in -1..1 otherwise.
    #[arg(long = "range", value_name = "[NAME=]LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub ranges: Vec<Range>,
    /// Compares the results with the definition; exit code 3 if they differ. Of large outputs 64
    /// elements are compared, or every element with 'all'; with 'exact', every bit, of integers in the
    /// place of floats.
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "sample"
    )]
    pub check: Option<CheckHow>,
    /// Runs the program as it is after every lowering step, and compares each with the definition.
    #[arg(long)]
    pub check_each_step: bool,
    /// Runs these passes before each of the compiler's: to show that they change no result.
    #[arg(long, value_name = "PASS,..", value_delimiter = ',')]
    pub between: Vec<String>,
    /// The number of the only pass that those of --between run before.
    #[arg(long, value_name = "N", requires = "between", hide = true)]
    pub between_gap: Option<usize>,
    /// Tests what combine operators declare (associativity, commutativity, neutral elements) on
    /// random finite values; exit code 3 with a counter-example.
    #[arg(long)]
    pub check_laws: bool,
    /// Has NaN, infinities and -0.0 among the values of --check-laws.
    #[arg(long, requires = "check_laws")]
    pub special: bool,
    /// The device that it runs on, or is made for. 'cuda' is an NVIDIA GPU of this machine; 'sim' runs kernels
    /// (gpu.launch) thread by thread on the processor, and checks what they do to memory.
    #[arg(long, value_name = "DEVICE", value_parser = DeviceParser::here(), default_value = "cpu")]
    pub device: Device,
    /// The device that runs a program of which nothing is for the wanted one, or a computation with a schedule
    /// for a machine for which no code is made: expected where that is meant.
    #[arg(long, value_enum)]
    pub fallback: Option<Fallback>,
    /// Seconds that kernels on a GPU may take between two transfers.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub time_limit: Duration,
    /// Prints what the simulator has found and counted; exit code 3 if it found a mistake.
    #[arg(long)]
    pub report: bool,
    /// Leaves out the checks at run time that views stay within their buffers.
    #[arg(long)]
    pub no_range_checks: bool,
    /// Leaves linalg as it is, to upstream's plain loops on one core: for comparison.
    #[arg(long)]
    pub no_raise: bool,
    /// Leaves computations without a schedule as plain loops, where the model would choose one.
    #[arg(long, conflicts_with = "tuned")]
    pub no_schedules: bool,
    /// Chooses schedules whose results do not depend on the number of cores, floats included.
    #[arg(long)]
    pub deterministic: bool,
    /// The schedule that it is given.
    #[command(flatten)]
    pub given: GivenSchedule,
    /// Number of runs; times are the fastest, the median and the slowest.
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    pub repeat: NonZeroU32,
    /// The report as one JSON object.
    #[command(flatten)]
    pub json: Json,
    /// Shows no warnings: what is right and slow is not said.
    #[arg(long)]
    pub no_warnings: bool,
    /// Remarks of passes.
    #[command(flatten)]
    pub remarks: Remarks,
}

impl RunArguments {
    /// Returns whether accesses are held against the sizes of the run.
    pub fn ranges_checked(&self) -> RangeChecks {
        RangeChecks::from_flag(!self.no_range_checks)
    }

    /// Returns what becomes of linalg.
    pub fn raise(&self) -> Raise {
        Raise::from_flag(!self.no_raise)
    }

    /// Returns the arithmetic of floats.
    pub fn arithmetic(&self) -> Arithmetic {
        match self.check {
            Some(CheckHow::Exact) => Arithmetic::Exact,
            _ => Arithmetic::Float,
        }
    }

    /// Returns the arguments of `mdh run FILE`.
    pub fn new(file: &Path) -> RunArguments {
        RunArguments {
            file: file.to_path_buf(),
            entry: None,
            inputs: Vec::new(),
            random: None,
            size: Vec::new(),
            outputs: Vec::new(),
            ranges: Vec::new(),
            check: None,
            check_each_step: false,
            between: Vec::new(),
            between_gap: None,
            check_laws: false,
            special: false,
            fallback: None,
            no_range_checks: false,
            no_raise: false,
            no_schedules: false,
            deterministic: false,
            device: Device::Cpu,
            time_limit: mdh_cuda::TIME_LIMIT,
            report: false,
            given: GivenSchedule::default(),
            repeat: NonZeroU32::MIN,
            json: Json::default(),
            no_warnings: false,
            remarks: Remarks::default(),
        }
    }
}

/// Elements that `--check` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckHow {
    /// Some of large outputs.
    Sample,
    /// Every element.
    All,
    /// Every element of the program in integers: sums and products have the same bits in every order.
    Exact,
}

/// Device that may run instead of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fallback {
    /// This machine's processor.
    Cpu,
}

const RUN_EXAMPLES: &str = "\
Examples:
  mdh run examples/matmul.mlir --random 1 --check
  mdh run examples/matvec.mlir --in M.npy v.npy --out w.npy
  mdh run examples/matmul.mlir --range 0.5..1.5 --check all

Exit codes: 0 done, 1 wrong input, 2 wrong command line, 3 a check failed, 4 not enough memory,
5 no GPU or one that fails, 70 a bug in mdh, 130 interrupted.";

/// `[NAME=]LOW..HIGH`: where the random numbers of an argument lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The argument's name; without one, of all that have no range of their own.
    pub name: Option<String>,
    /// From this on.
    pub low: f64,
    /// Below this.
    pub high: f64,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Range, String> {
        let (name, range) = match text.split_once('=') {
            Some((name, range)) => (Some(name), range),
            None => (None, text),
        };
        let ends = range.split_once("..");
        let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
        let ends = ends.and_then(|(low, high)| Some((number(low)?, number(high)?)));
        match (name, ends) {
            (name, Some((low, high))) if low < high && name.is_none_or(is_name) => Ok(Range {
                name: name.map(str::to_string),
                low,
                high,
            }),
            _ => Err("expected [NAME=]LOW..HIGH, such as 0.5..1.5 or x=-8..8".to_string()),
        }
    }
}

/// A time in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a number of seconds above 0, such as 0.5 or 60".to_string();
    let number: f64 = text.parse().map_err(|_| wrong())?;
    let time = Duration::try_from_secs_f64(number).map_err(|_| wrong())?;
    (!time.is_zero()).then_some(time).ok_or_else(wrong)
}

/// Parses a number of runs.
pub(super) fn at_least_one(text: &str) -> Result<NonZeroU32, String> {
    let number = text.parse();
    number.map_err(|_| format!("expected a number from 1 to {}", u32::MAX))
}
