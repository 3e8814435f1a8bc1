//! Command line of `mdh einsum`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;

use mdh_frontend::einsum::Element;

use super::run::at_least_one;
use super::values::{Binding, GivenSchedule, Size, seed};
use super::{CheckHow, CompileArguments, Device, Range, RunArguments, Stage};

/// Arguments of `mdh einsum`.
#[derive(Args, Debug)]
#[command(after_help = EINSUM_EXAMPLES)]
pub struct EinsumArguments {
    /// The indices of each operand, and of the result: NumPy's einsum, such as 'ik,kj->ij'.
    #[arg(allow_hyphen_values = true)]
    pub spec: String,
    /// The operands: .npy files (C or Fortran order), in order, or by name: op1, op2, ..
    #[arg(long = "in", value_name = "[NAME=]A.npy", num_args = 1.., action = clap::ArgAction::Append)]
    pub inputs: Vec<Binding>,
    /// Random numbers for all other operands, the same for the same seed; without --in that is the
    /// default, with seed 0.
    #[arg(long, value_name = "SEED", value_parser = seed, num_args = 0..=1, default_missing_value = "0")]
    pub random: Option<u64>,
    /// Sizes of the indices of operands that are no files.
    #[arg(long, value_name = "INDEX=N", num_args = 1.., action = clap::ArgAction::Append)]
    pub size: Vec<Size>,
    /// The type of operands that are no files, for all or one for each: float32 if none is named,
    /// also as f32. With bfloat16, files of uint16 hold such.
    #[arg(long, value_name = "TYPE", num_args = 1..)]
    pub dtype: Vec<Element>,
    /// The file for the result: .npy.
    #[arg(long = "out", value_name = "OUT.npy")]
    pub out: Option<Binding>,
    /// The operator that sums: add, mul, min, max, and, or, xor, logaddexp, or a region of MLIR
    /// with its laws.
    #[arg(long, value_name = "OPERATOR", default_value = "add")]
    pub combine: String,
    /// The operator that multiplies: one of these, sub, div, pow, first, or a region.
    #[arg(long, value_name = "OPERATOR", default_value = "mul")]
    pub scalar: String,
    /// The order of contraction, as NumPy and opt_einsum have it: '(0, 1) (0, 1)'; the cheapest if
    /// none is given.
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Prints the order of contraction and what it costs, and runs nothing.
    #[arg(long)]
    pub plan: bool,
    /// Prints the program at a stage instead of running it: those of mdh compile.
    #[arg(long, value_name = "STAGE", value_enum, conflicts_with_all = ["plan", "check", "out", "check_each_step", "repeat", "json"])]
    pub emit: Option<Stage>,
    /// The file for --emit; standard output if there is none.
    #[arg(short, long, value_name = "OUT", requires = "emit")]
    pub output: Option<PathBuf>,
    /// Ranges of random numbers, from LOW to below HIGH, of one operand or of all that are not
    /// named; floats are in -1..1 otherwise.
    #[arg(long = "range", value_name = "[NAME=]LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub ranges: Vec<Range>,
    /// Compares the result with the definition of the computations; exit code 3 if they differ. Of a
    /// large one 64 elements are compared, or every element with 'all'; with 'exact', every bit, of
    /// integers in the place of floats.
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
    /// The device that runs it: this machine's processor if none is named.
    #[arg(long, value_enum)]
    pub device: Option<Device>,
    /// Chooses schedules whose results do not depend on the number of cores, floats included.
    #[arg(long)]
    pub deterministic: bool,
    /// The schedule that it is given.
    #[command(flatten)]
    pub given: GivenSchedule,
    /// Number of runs; times are the fastest, the median and the slowest.
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    pub repeat: NonZeroU32,
    /// Prints one JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Shows no warnings: what is right and slow is not said.
    #[arg(long)]
    pub no_warnings: bool,
}

impl EinsumArguments {
    /// Returns the arguments of `mdh run`, for a program of that name.
    pub fn run(&self, file: &Path) -> RunArguments {
        RunArguments {
            inputs: self.inputs.clone(),
            random: self.random,
            outputs: self.out.iter().cloned().collect(),
            ranges: self.ranges.clone(),
            check: self.check,
            check_each_step: self.check_each_step,
            device: self.device.unwrap_or(Device::Cpu),
            deterministic: self.deterministic,
            given: self.given.clone(),
            repeat: self.repeat,
            json: self.json,
            no_warnings: self.no_warnings,
            ..RunArguments::new(file)
        }
    }

    /// Returns the arguments of `mdh compile`, for a program of that name.
    pub fn compile(&self, file: &Path, stage: Stage) -> CompileArguments {
        CompileArguments {
            device: self.device,
            output: self.output.clone(),
            deterministic: self.deterministic,
            given: self.given.clone(),
            no_warnings: self.no_warnings,
            ..CompileArguments::new(file, stage)
        }
    }
}

const EINSUM_EXAMPLES: &str = "\
Examples:
  mdh einsum 'ik,kj->ij' --in A.npy B.npy --out C.npy
  mdh einsum 'ij,jk,kl->il' --size i=1000 j=20 k=1000 l=20 --plan
  mdh einsum 'ij,jk->ik' --combine min --scalar add --size i=64 j=64 k=64 --check
  mdh einsum 'ij,jk->ik' --size i=64 j=64 k=64 --emit mdh -o matmul.mlir";
