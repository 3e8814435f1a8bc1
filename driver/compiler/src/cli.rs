//! Command line of the compiler's commands.

mod check;
mod einsum;
mod run;
mod shared;
mod values;

use std::path::{Path, PathBuf};

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};

use mdh_cuda::Capability;
use mdh_passes::pipelines::{LineOptions, Raise, RangeChecks, Schedules};

use crate::devices::{self, DeviceParser, Devices, NamedDevice};
use crate::error::Result;

pub use crate::devices::Device;
pub use check::CheckArguments;
pub use einsum::EinsumArguments;
pub use run::{CheckHow, Fallback, Range, RunArguments};
pub use shared::{Json, MachineOptions, OutFile, Remarks};
pub use values::{Binding, GivenSchedule, Size, is_name, seed};

/// Arguments of `mdh compile`.
#[derive(Args, Debug)]
#[command(after_help = COMPILE_EXAMPLES)]
pub struct CompileArguments {
    /// The program, in MLIR or in the tensor language (.tdsl).
    pub file: PathBuf,
    /// The form in which it is printed. It is a stage of the compilation, with --device cuda or a GPU's name a package if none is
    /// named. A stage that only some devices have names them in the list of mdh compile --help.
    #[arg(
        long,
        value_name = "STAGE",
        value_enum,
        required = false,
        required_unless_present = "device",
        required_if_eq_any([("device", "cpu"), ("device", "sim")]),
        default_value_ifs([
            ("device", ArgPredicate::from("cpu"), None),
            ("device", ArgPredicate::from("sim"), None),
            ("device", ArgPredicate::IsPresent, Some("package")),
        ])
    )]
    pub emit: Stage,
    /// The device that it runs on, or is made for. It is the target of the stages: this machine's processor if none is
    /// named; ptx and package are for NVIDIA's GPUs anyway. The name of a GPU or of a chip (sm_90a) is --chip, too.
    #[arg(long, value_name = "DEVICE", value_parser = DeviceParser(Devices::All))]
    pub device: Option<NamedDevice>,
    /// The machine that is meant: a file as `mdh asm --json` writes it, or a name. The model chooses schedules
    /// for it; code is made for this machine's processor only, so that it is for stages that are MLIR.
    #[arg(long, value_name = "FILE|NAME")]
    pub asm: Option<String>,
    /// The file that is written.
    #[command(flatten)]
    pub out: OutFile,
    /// The function that is meant. It is printed with what it needs; the whole file if none is named.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
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
    /// Tells debuggers and profilers which line of the program code comes from.
    #[arg(long)]
    pub debug_info: bool,
    /// The schedule that it is given.
    #[command(flatten)]
    pub given: GivenSchedule,
    /// The chip that kernels are for: a compute capability (sm_80, sm_90a), or a GPU that has it (h100). It is
    /// for --emit ptx and package; sm_90 if none is named.
    #[arg(long, value_name = "CHIP")]
    pub chip: Option<String>,
    /// The seed of random numbers for all arguments that are not given. A package is checked on these; 0 if none is
    /// named.
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub random: Option<u64>,
    /// Ranges of random numbers, from LOW to below HIGH, of one argument or of all that are not
    /// named; floats are in -1..1 otherwise.
    #[arg(long = "range", value_name = "[NAME=]LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub ranges: Vec<Range>,
    /// The device that runs a program of which nothing is for the wanted one, or a computation with a schedule
    /// for a machine for which no code is made: expected where that is meant.
    #[arg(long, value_enum)]
    pub fallback: Option<Fallback>,
    /// Sizes of dynamic dimensions ('?'), by the name of the dimension. A package is checked on these.
    #[arg(long, value_name = "DIM=N", num_args = 1.., action = clap::ArgAction::Append)]
    pub size: Vec<Size>,
    /// Shows no warnings: what is right and slow is not said.
    #[arg(long)]
    pub no_warnings: bool,
    /// Remarks of passes.
    #[command(flatten)]
    pub remarks: Remarks,
}

impl CompileArguments {
    /// Returns the arguments of `mdh compile FILE --emit STAGE`.
    pub fn new(file: &Path, emit: Stage) -> CompileArguments {
        CompileArguments {
            file: file.to_path_buf(),
            emit,
            device: None,
            asm: None,
            out: OutFile::default(),
            entry: None,
            no_range_checks: false,
            no_raise: false,
            no_schedules: false,
            deterministic: false,
            debug_info: false,
            given: GivenSchedule::default(),
            chip: None,
            random: None,
            ranges: Vec::new(),
            fallback: None,
            size: Vec::new(),
            no_warnings: false,
            remarks: Remarks::default(),
        }
    }

    /// Returns the device whose stages are meant, if one is named.
    pub fn target(&self) -> Option<Device> {
        self.device.map(NamedDevice::target)
    }

    /// Returns the chip that kernels are for.
    ///
    /// # Errors
    /// If there is no such chip, or the device has another one.
    pub fn kernel_chip(&self) -> Result<Capability> {
        devices::chip(self.device, self.chip.as_deref())
    }

    /// Returns what becomes of linalg.
    pub fn raise(&self) -> Raise {
        Raise::from_flag(!self.no_raise)
    }

    /// Returns the passes that are left out of the stages.
    pub fn line_options(&self) -> LineOptions {
        LineOptions {
            ranges: RangeChecks::from_flag(!self.no_range_checks),
            schedules: Schedules::from_flag(!self.no_schedules),
            raise: self.raise(),
            ..LineOptions::RUN
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

/// Arguments of `mdh schedule`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  mdh schedule schedule.json --emit attr\n  mdh schedule examples/matmul.mlir --emit json\n  mdh schedule examples/matmul.mlir --tuned --emit json"
)]
pub struct ScheduleArguments {
    /// JSON, the attribute's text, a transform script, or a program: its schedules, or the model's
    /// where it has none.
    pub file: PathBuf,
    /// Takes the best schedule that `mdh tune` has kept for this program on this machine, or else
    /// for the nearest sizes of it: in the database of a folder, of the user's cache if none is named.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    pub tuned: Option<Option<PathBuf>>,
    /// The machine that it was measured on, or that the model chooses for.
    #[command(flatten)]
    pub machine: MachineOptions,
    /// The chip that kernels are for: a compute capability (sm_80, sm_90a), or a GPU that has it (h100). The
    /// schedule was measured on a GPU with it.
    #[arg(long, value_name = "CHIP", requires = "tuned")]
    pub chip: Option<String>,
    /// Sizes of dynamic dimensions ('?'), by the name of the dimension. They are those of `mdh tune --size`.
    #[arg(long, value_name = "DIM=N", num_args = 1.., action = clap::ArgAction::Append, requires = "tuned")]
    pub size: Vec<Size>,
    /// The function that is meant. It is needed if the file has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// The form in which it is printed. It is a spelling of the schedule.
    #[arg(long, value_name = "SPELLING", value_enum)]
    pub emit: Spelling,
    /// The file that is written.
    #[command(flatten)]
    pub out: OutFile,
}

/// Arguments of `mdh asm`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  mdh asm --json=machine.json\n  mdh asm --device h100")]
pub struct AsmArguments {
    /// The machine that is printed.
    #[command(flatten)]
    pub machine: MachineOptions,
    /// JSON, which --asm reads.
    #[command(flatten)]
    pub json: Json,
}

/// Arguments of `mdh explain`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  mdh explain examples/matmul.mlir\n  mdh explain examples/matmul.mlir --device h200\n  mdh explain examples/matmul.mlir --emit json -o schedule.json\n  mdh explain examples/matmul.mlir --html matmul.html"
)]
pub struct ExplainArguments {
    /// The program, in MLIR or in the tensor language (.tdsl).
    pub file: PathBuf,
    /// The function that is meant. It is needed if the file has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// The schedule that it is given.
    #[command(flatten)]
    pub given: GivenSchedule,
    /// Sizes of dynamic dimensions ('?'), by the name of the dimension. They say what bounds a run with
    /// them. What the model chooses is for any size; --tuned and versions of the function are for these.
    #[arg(long, value_name = "DIM=N", num_args = 1.., action = clap::ArgAction::Append)]
    pub size: Vec<Size>,
    /// The machine that schedules are for: of a GPU also how long its kernels take, about.
    #[command(flatten)]
    pub machine: MachineOptions,
    /// Chooses schedules whose results do not depend on the number of cores, floats included.
    #[arg(long)]
    pub deterministic: bool,
    /// Shows no warnings: what is right and slow is not said.
    #[arg(long)]
    pub no_warnings: bool,
    /// Says everything: buffers, all reasons, whole schedules, tiles and traffic of each memory, statements
    /// of the tensor language.
    #[arg(long)]
    pub verbose: bool,
    /// The form in which it is printed. It is a spelling of the schedules that were chosen, as --schedule takes them.
    #[arg(long, value_name = "SPELLING", value_enum)]
    pub emit: Option<Spelling>,
    /// The file for these schedules.
    #[command(flatten)]
    pub out: OutFile,
    /// All that there is to say, as JSON.
    #[command(flatten)]
    pub json: Json,
    /// Writes a page to a file. It draws loops, tiles, cores and buffers, beside the machine's limits.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Remarks of passes.
    #[command(flatten)]
    pub remarks: Remarks,
}

impl ExplainArguments {
    /// Returns the arguments of `mdh explain FILE --entry NAME`, without warnings.
    pub fn new(file: &Path, entry: Option<&str>) -> ExplainArguments {
        ExplainArguments {
            file: file.to_path_buf(),
            entry: entry.map(str::to_string),
            given: GivenSchedule::default(),
            size: Vec::new(),
            machine: MachineOptions::default(),
            deterministic: false,
            no_warnings: true,
            verbose: false,
            emit: None,
            out: OutFile::default(),
            json: Json::default(),
            html: None,
            remarks: Remarks::default(),
        }
    }
}

/// Spelling of a schedule.
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
    /// The same, and what is written in linalg too.
    Raised,
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
    /// LLVM IR, optimised for this machine (cpu, sim).
    Llvm,
    /// This machine's assembly (cpu, sim).
    Asm,
    /// An object file, whose C functions need the run-time library libmdhrt (cpu).
    Obj,
    /// The header of these C functions (cpu).
    Header,
    /// A shared library with these C functions and the run-time library in it (cpu).
    Shared,
    /// Kernels for NVIDIA's GPUs, in PTX (cuda).
    Ptx,
    /// Kernels, what launches them, and what results must be, for mdh-exec (cuda).
    Package,
}

impl Stage {
    /// Its name on the command line.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_string())
    }

    /// Returns whether it is code that is made for a device, and no MLIR.
    pub fn is_code_of(self, device: Device) -> bool {
        match self {
            // Of the simulator's kernels there is code to read only.
            Stage::Llvm | Stage::Asm => device != Device::Cuda,
            Stage::Obj | Stage::Header | Stage::Shared => device == Device::Cpu,
            Stage::Ptx | Stage::Package => device == Device::Cuda,
            _ => false,
        }
    }

    /// The stage of the compiler, if it is one that is printed as MLIR after some passes.
    pub fn mlir(self) -> Option<String> {
        let is_code = [Device::Cpu, Device::Cuda].map(|device| self.is_code_of(device));
        let is_none = self == Stage::Mdh || is_code.contains(&true);
        (!is_none).then(|| self.name())
    }
}
