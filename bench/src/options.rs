//! Command line of `mdh bench`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use mdh_compiler::cli::{Json, Range, Size, is_name, seed};
use mdh_compiler::devices::{self, Capability, DeviceParser, Devices, NamedDevice};
use mdh_compiler::error::Error;

/// Arguments of `mdh bench`.
#[derive(Args, Debug)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArguments {
    /// Workloads, at all of their sizes (matmul) or at one (matmul/1024x1024x1024), and programs
    /// (.mlir, .tdsl); all workloads if there is none.
    #[arg(value_name = "WORKLOAD|FILE")]
    pub workloads: Vec<String>,
    /// The function that is meant. It is needed if the file has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Sizes of dynamic dimensions ('?'), by the name of the dimension. Several (i=256,512) are several
    /// rows, in which those of one place belong together.
    #[arg(long = "size", value_name = "DIM=N,..", num_args = 1.., action = clap::ArgAction::Append)]
    pub sizes: Vec<SizeList>,
    /// Other programs for the same arrays and results, to be measured beside each program: the
    /// function of the same name, or the one that is named.
    #[arg(long, value_name = "FILE[:NAME]", num_args = 1.., action = clap::ArgAction::Append)]
    pub against: Vec<GivenProgram>,
    /// The seed of random numbers for all arguments that are not given. They are those of a program; it is 0 if none is
    /// named.
    #[arg(long, value_name = "SEED", value_parser = seed)]
    pub random: Option<u64>,
    /// Ranges of random numbers, from LOW to below HIGH, of one argument or of all that are not named;
    /// floats are in -1..1 otherwise. They are for programs.
    #[arg(long = "range", value_name = "[NAME=]LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub ranges: Vec<Range>,
    /// The device that it runs on, or is made for. 'cuda' is an NVIDIA GPU of this machine; the name of a GPU or of a
    /// chip (sm_80, sm_90a) says which one.
    #[arg(long, value_name = "DEVICE", value_parser = DeviceParser(Devices::Modelled), default_value = "cpu")]
    pub device: NamedDevice,
    /// Makes packages in a folder, instead of measuring. There is one of each workload, for scripts/gpu-check on a
    /// machine with a GPU; for --device cuda.
    #[arg(long, value_name = "DIR")]
    pub package: Option<PathBuf>,
    /// The chip that kernels are for: a compute capability (sm_80, sm_90a), or a GPU that has it (h100). It is
    /// that of packages; sm_90 if none is named.
    #[arg(long, value_name = "CHIP")]
    pub chip: Option<String>,
    /// Whom to measure beside ours: none, all (upstream,openblas,mkl,onednn,numpy,torch,jax,numba), or some
    /// of these and of torch_compile,iree,tvm,halide,polly,clang, who take long to compile. Also functions
    /// of Python files: numpy:SCRIPT.py (or torch, jax, python) has one with the name of the
    /// program's function, or 'run', or the one that is named (numpy:SCRIPT.py:NAME). It is given the inputs
    /// in order, and returns the outputs.
    #[arg(long, value_name = "NAME,..", default_value = "all")]
    pub peers: String,
    /// Seconds in which a program or a peer must answer: to prepare a case, or to run it.
    #[arg(long, value_name = "SECONDS", default_value_t = 180, value_parser = clap::value_parser!(u64).range(1..))]
    pub time_limit: u64,
    /// The rows as JSON.
    #[command(flatten)]
    pub json: Json,
    /// Draws a picture to a file. It has the results as bars, or curves of --compile-time.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Measures how compilation grows with the program instead: families of programs (functions,
    /// 'folding chain', chain, 'scalar code', order; all of them if none is named) at several sizes, to
    /// computations with schedules and to machine code.
    #[arg(long)]
    pub compile_time: bool,
    /// The schedule of the function's computation, or of several: JSON, the attribute's text, or a
    /// transform script. Ours has it instead of what the model chooses; with a name, it is measured
    /// beside ours. Only for a workload (matmul:NAME=FILE) or one size of it, if one is named.
    #[arg(long, value_name = "[[WORKLOAD:]NAME=]S.json")]
    pub schedule: Vec<GivenSchedule>,
    /// Measures the best schedule that `mdh tune` has kept for each workload, or for the nearest sizes
    /// of it, beside ours as 'tuned': in the database of a folder, of the user's cache if none is named.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    pub tuned: Option<Option<PathBuf>>,
    /// One short round of small sizes: to see that everything runs. The times mean nothing.
    #[arg(long)]
    pub quick: bool,
    /// Lists the workloads and ends.
    #[arg(long)]
    pub list: bool,
    /// Takes part in a benchmark: answers requests on standard input.
    #[arg(long, hide = true)]
    pub worker: Option<String>,
}

const BENCH_EXAMPLES: &str = "\
Examples:
  mdh bench
  mdh bench matmul scan/16777216 --peers openblas,torch --json results.json --svg results.svg
  mdh bench transpose matmul --peers none --schedule swizzled=swizzled.json
  mdh bench examples/matmul.mlir --against mine.mlir --peers numpy:mine.py --range 0.5..1.5
  mdh bench --device cuda --json results.json
  mdh bench --device cuda --package gpu
  mdh bench --compile-time --json times.json --svg times.svg

The table has for each workload the median time, half its 99 % confidence interval, the time to
compile, the time that the machine's limit allows as a share of ours, and the time of the best peer
divided by ours: above 1, ours is faster. Python peers are looked for in the virtual environment
MDH_PEERS (.venv-peers in the repository if that is not set; scripts/peers makes it).

With --compile-time the table has for each family and stage the shortest time at each size n, and
the power of n that times grow with from 100 on: 1 where twice the program takes twice the time.";

impl BenchArguments {
    /// The chip that packages are for.
    ///
    /// # Errors
    /// If there is no such chip, or the device has another one.
    pub fn kernel_chip(&self) -> Result<Capability, Error> {
        devices::chip(Some(self.device), self.chip.as_deref())
    }
}

/// `DIM=N,..`: sizes of a dimension, one for each case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeList {
    /// The dimension's name.
    pub dimension: String,
    /// Its sizes, at least one.
    pub sizes: Vec<i64>,
}

impl FromStr for SizeList {
    type Err = String;

    fn from_str(text: &str) -> Result<SizeList, String> {
        let (dimension, numbers) = text.split_once('=').unwrap_or((text, ""));
        let size = |number: &str| format!("{dimension}={number}").parse::<Size>();
        let sizes = numbers.split(',').map(size);
        let sizes = sizes
            .map(|size| Ok(size?.size))
            .collect::<Result<_, String>>()?;
        Ok(SizeList {
            dimension: dimension.to_string(),
            sizes,
        })
    }
}

/// `FILE[:NAME]`: a program, and its function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenProgram {
    /// Its file.
    pub file: String,
    /// The function's name, if it is named.
    pub entry: Option<String>,
}

impl FromStr for GivenProgram {
    type Err = String;

    fn from_str(text: &str) -> Result<GivenProgram, String> {
        let (file, entry) = match text.rsplit_once(':') {
            Some((file, entry)) if is_name(entry) => (file, Some(entry)),
            _ => (text, None),
        };
        match file.is_empty() {
            true => Err("found no file, expected FILE or FILE:NAME".to_string()),
            false => Ok(GivenProgram {
                file: file.to_string(),
                entry: entry.map(str::to_string),
            }),
        }
    }
}

/// `[[WORKLOAD:]NAME=]FILE`: a schedule, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenSchedule {
    /// The workload, or one of its cases; all that are measured, without one.
    pub workload: Option<String>,
    /// Its name in the results, where it is measured beside ours; without one, it is ours.
    pub name: Option<String>,
    /// Its file.
    pub file: PathBuf,
}

impl FromStr for GivenSchedule {
    type Err = String;

    fn from_str(text: &str) -> Result<GivenSchedule, String> {
        let (front, file) = match text.split_once('=') {
            // What is no name belongs to a path, as in `./a=b.json`.
            Some((front, file)) if is_name(front.rsplit(':').next().unwrap_or(front)) => {
                (Some(front), file)
            }
            _ => (None, text),
        };
        if file.is_empty() {
            return Err("found nothing, expected a file with a schedule".to_string());
        }
        let (workload, name) = match front.map(|front| (front, front.rsplit_once(':'))) {
            None => (None, None),
            Some((_, Some((workload, name)))) => (Some(workload), Some(name)),
            Some((name, None)) => (None, Some(name)),
        };
        Ok(GivenSchedule {
            workload: workload.map(str::to_string),
            name: name.map(str::to_string),
            file: file.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_have_names_and_workloads() {
        let parsed = |text: &str| {
            let given: GivenSchedule = text.parse().unwrap();
            (given.workload, given.name, given.file)
        };
        let some = |text: &str| Some(text.to_string());
        assert_eq!(parsed("s.json"), (None, None, "s.json".into()));
        assert_eq!(parsed("./a=b.json"), (None, None, "./a=b.json".into()));
        assert_eq!(parsed("z=a=b.json"), (None, some("z"), "a=b.json".into()));
        assert_eq!(
            parsed("matmul/10x500x64:z=s.json"),
            (some("matmul/10x500x64"), some("z"), "s.json".into())
        );
        assert!("z=".parse::<GivenSchedule>().is_err());
    }

    #[test]
    fn sizes_are_lists_and_programs_have_functions() {
        let sizes = |text: &str| {
            text.parse::<SizeList>()
                .map(|list| (list.dimension, list.sizes))
        };
        assert_eq!(sizes("i=64").unwrap(), ("i".to_string(), vec![64]));
        assert_eq!(sizes("k=1,2,4").unwrap(), ("k".to_string(), vec![1, 2, 4]));
        for wrong in ["i", "i=", "i=1,", "i=x", "=4", "i=-1"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
        let program = |text: &str| text.parse::<GivenProgram>().map(|p| (p.file, p.entry));
        let plain = ("a/b.mlir".to_string(), None);
        assert_eq!(program("a/b.mlir").unwrap(), plain);
        let named = ("b.mlir".to_string(), Some("f".to_string()));
        assert_eq!(program("b.mlir:f").unwrap(), named);
        assert!(program(":f").is_err());
    }
}
