//! `mdh bench --device cuda`: packages of the workloads, and the runner that measures them beside
//! peers (`bench/gpu/run.py`), which needs nothing of this command.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use mdh_dialect::context;
use mdh_passes::pipelines::{RangeChecks, Schedules};
use serde::Serialize;

use super::peers;
use super::workloads::{Bound, Case};
use crate::options::BenchArguments;
use mdh_compiler::devices::Capability;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::formed::Formed;
use mdh_compiler::package::{self, Wanted};
use mdh_compiler::progress::{Progress, Reader};
use mdh_compiler::source::Source;
use mdh_compiler::{diagnostics, output};

/// Description of a package for the runner.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    workload: &'a str,
    size: &'a str,
    dtype: &'a str,
    dims: &'a BTreeMap<String, i64>,
    texts: &'a BTreeMap<String, String>,
    /// True if only memory bounds it.
    memory_bound: bool,
    package: String,
    compile_ms: f64,
}

/// The list of packages in their folder.
const INDEX: &str = "index.json";

/// Makes packages, and measures them unless only they are wanted.
pub fn run(command: &BenchArguments, cases: &[Case]) -> Result<()> {
    check(command)?;
    let temporary;
    let folder = match &command.package {
        Some(folder) => folder.as_path(),
        None => {
            let made = tempfile::Builder::new().prefix("mdh-").tempdir();
            temporary = made.map_err(|error| unusable(&std::env::temp_dir(), &error))?;
            temporary.path()
        }
    };
    fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
    let progress = Progress::start(Reader::Person, "compiling");
    let mut entries = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        // The share is that of the elements of its check.
        let count = cases.len();
        progress.step(&format!(
            "compiling {} ({} of {count})",
            case.name(),
            number + 1
        ));
        let started = std::time::Instant::now();
        let schedule = super::schedules::own(&command.schedule, case);
        let bytes = make(
            case,
            command.kernel_chip()?,
            schedule.as_deref().map(Path::new),
        )?;
        let name = format!("{}.mdhpkg", case.name().replace('/', "-"));
        output::write(&folder.join(&name), &bytes)?;
        entries.push(Entry {
            workload: &case.workload,
            size: &case.size,
            dtype: &case.dtype,
            dims: &case.dims,
            texts: &case.texts,
            memory_bound: case.bound == Bound::Bytes,
            package: name,
            compile_ms: started.elapsed().as_secs_f64() * 1e3,
        });
    }
    drop(progress);
    let index = serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n";
    output::write(&folder.join(INDEX), index.as_bytes())?;
    match command.package {
        Some(_) => Ok(()),
        None => measure(command, folder),
    }
}

/// Fails for options that are for the processor.
fn check(command: &BenchArguments) -> Result<()> {
    let wrong = if command.svg.is_some() {
        "--svg is for --device cpu"
    } else if command.json.is_printed() {
        "--json without a file is for --device cpu: expected --json=FILE"
    } else if command.schedule.iter().any(|s| s.name.is_some()) {
        "--schedule NAME=FILE is for --device cpu: expected a schedule without a name"
    } else {
        return Ok(());
    };
    Err(Error::usage(wrong))
}

fn unusable(folder: &Path, error: &std::io::Error) -> Error {
    Error::input(format!("cannot write to '{}': {error}", folder.display()))
}

/// The package of a workload.
fn make(case: &Case, chip: Capability, schedule: Option<&Path>) -> Result<Vec<u8>> {
    mdh_passes::register_all();
    let name = case.name();
    let source = Source::from_text(&name, &case.program()?);
    let context = context::program_context();
    diagnostics::show(&context, &source);
    let formed = Formed::new(&context, &source, None)?;
    formed.apply(schedule)?;
    let wanted = Wanted {
        chip,
        seed: 0,
        size: Vec::new(),
        ranges: case.ranges(),
        samples: case.samples,
        checks: RangeChecks::On,
        schedules: Schedules::Default,
        expects_strong: true,
        fallback: None,
    };
    package::emit(&context, &formed, &wanted)
}

/// Runs the runner, which prints the table.
fn measure(command: &BenchArguments, folder: &Path) -> Result<()> {
    let this = std::env::current_exe().unwrap_or_default();
    let beside = this.parent().unwrap_or(Path::new("")).join("mdh-exec");
    if !beside.is_file() {
        let message = format!(
            "mdh-exec is not beside the command: expected '{}'",
            beside.display()
        );
        return Err(Error::input(message).help("build it: `scripts/build`"));
    }
    let venv = peers::environment().join("bin/python");
    let python = if venv.is_file() {
        venv
    } else {
        "python3".into()
    };
    let mut runner = Command::new(python);
    runner.arg(peers::repository().join("bench/gpu/run.py"));
    runner.arg(folder).arg("--exec").arg(beside);
    runner.args(["--peers", &command.peers]);
    if command.quick {
        runner.arg("--quick");
    }
    if let Some(json) = command.json.file() {
        runner.arg("--json").arg(json);
    }
    let status = runner.status();
    let status = status
        .map_err(|error| Error::input(format!("cannot run Python for the benchmark: {error}")))?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::new(
            mdh_compiler::error::ErrorKind::Device,
            "the benchmark was not done",
        )),
    }
}

#[cfg(test)]
mod tests {
    use mdh_arrays::Tensor;
    use mdh_exec::{Array, Package, hold};

    use mdh_compiler::devices;

    use super::super::workloads::Devices;
    use super::super::workloads::{Scale, all};
    use super::*;

    fn zeros(arrays: &[Array]) -> Vec<Tensor> {
        let zeros = |array: &Array| Tensor::zeroed(array.element().unwrap(), &array.shape).unwrap();
        arrays.iter().map(zeros).collect()
    }

    /// Checks: what a device gives that does nothing is wrong in every row.
    #[test]
    fn zeros_are_caught_in_every_package() {
        let cases = all(Scale::Quick).unwrap();
        let cases = cases.iter().filter(|case| case.on != Devices::Cpus);
        let mut packages = 0;
        let chip = devices::chip(None, None).unwrap();
        for case in cases {
            let package = Package::read(&make(case, chip, None).unwrap()).unwrap();
            let manifest = &package.manifest;
            let (arguments, results) = (zeros(&manifest.arguments), zeros(&manifest.results));
            let held = hold(manifest, &arguments, &results).unwrap();
            assert!(held.wrong.is_some(), "{}", case.name());
            assert_eq!(held.weak, [""; 0], "{}", case.name());
            packages += 1;
        }
        assert!(packages > 10, "{packages}");
    }
}
