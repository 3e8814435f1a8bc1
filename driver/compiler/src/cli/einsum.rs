//! Command line of `mdh einsum`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;

use mdh_frontend::einsum::Element;

use super::run::at_least_one;
use super::shared::Json;
use super::values::{Binding, GivenSchedule, Size, seed};
use super::{CheckHow, CompileArguments, Device, OutFile, Range, RunArguments, Stage};
use crate::devices::DeviceParser;
use crate::error::{Error, Result};

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
    /// The seed of random numbers for all arguments that are not given. Without --in these are the
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
    /// The file to write. It is .npy with the result, which is only written where one is named, or what --emit
    /// prints.
    #[arg(short = 'o', long = "out", value_name = "FILE")]
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
    /// The form in which it is printed. It is a stage of `mdh compile`, to which the program comes instead of running.
    #[arg(long, value_name = "STAGE", value_enum, conflicts_with_all = ["plan", "check", "check_each_step", "repeat", "json"])]
    pub emit: Option<Stage>,
    /// Ranges of random numbers, from LOW to below HIGH, of one argument or of all that are not
    /// named; floats are in -1..1 otherwise.
    #[arg(long = "range", value_name = "[NAME=]LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub ranges: Vec<Range>,
    /// Compares the results with the definition; exit code 3 if they differ. Of a
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
    /// The device that it runs on, or is made for. It is this machine's processor if none is named.
    #[arg(long, value_name = "DEVICE", value_parser = DeviceParser::here())]
    pub device: Option<Device>,
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
            no_schedules: self.no_schedules,
            deterministic: self.deterministic,
            given: self.given.clone(),
            repeat: self.repeat,
            json: self.json.clone(),
            no_warnings: self.no_warnings,
            ..RunArguments::new(file)
        }
    }

    /// Returns the arguments of `mdh compile`, for a program of that name.
    ///
    /// # Errors
    /// If the file of --out has a name before it, as results have.
    pub fn compile(&self, file: &Path, stage: Stage) -> Result<CompileArguments> {
        Ok(CompileArguments {
            device: self.device.map(Into::into),
            out: self.out_file()?,
            no_schedules: self.no_schedules,
            deterministic: self.deterministic,
            given: self.given.clone(),
            no_warnings: self.no_warnings,
            ..CompileArguments::new(file, stage)
        })
    }

    /// The file of `--out` for what `--emit` prints.
    ///
    /// # Errors
    /// If it has a name before it, as results have.
    pub fn out_file(&self) -> Result<OutFile> {
        let out = self.out.as_ref();
        if let Some(name) = out.and_then(|out| out.name.as_deref()) {
            return Err(Error::usage(format!(
                "--out: found a file for '{name}', and with --emit no result is written: expected a file alone"
            )));
        }
        let file = out.map(|out| PathBuf::from(&out.value));
        Ok(OutFile { file })
    }
}

const EINSUM_EXAMPLES: &str = "\
Examples:
  mdh einsum 'ik,kj->ij' --in A.npy B.npy --out C.npy
  mdh einsum 'ij,jk,kl->il' --size i=1000 j=20 k=1000 l=20 --plan
  mdh einsum 'ij,jk->ik' --combine min --scalar add --size i=64 j=64 k=64 --check
  mdh einsum 'ij,jk->ik' --size i=64 j=64 k=64 --emit mdh -o matmul.mlir";
