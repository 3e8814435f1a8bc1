//! Command line of `mdh bench`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use mdh_compiler::cli::{Json, is_name};
use mdh_compiler::devices::{self, Capability, DeviceParser, Devices, NamedDevice};
use mdh_compiler::error::Result;

/// Arguments of `mdh bench`.
#[derive(Args, Debug)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArguments {
    /// Workloads, at all of their sizes (matmul) or at one (matmul/1024x1024x1024); all of them
    /// if there is none.
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,
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
    /// of these and of torch_compile,iree,tvm,halide,polly,clang, who take long to compile.
    #[arg(long, value_name = "NAME,..", default_value = "all")]
    pub peers: String,
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
    pub fn kernel_chip(&self) -> Result<Capability> {
        devices::chip(Some(self.device), self.chip.as_deref())
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

    fn from_str(text: &str) -> std::result::Result<GivenSchedule, String> {
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
}
