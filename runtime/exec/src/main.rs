//! `mdh-exec`: runs packages that `mdh compile` made, on a machine with a GPU and nothing else.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use mdh_arrays::Times;
use mdh_exec::tune::package::TunePackage;
use mdh_exec::tune::race::{self, Wanted};
use mdh_exec::tune::results::ProgramResults;
use mdh_exec::{Error, Manifest, Outcome, Package, Request, Result, run, tune};

/// Runs packages of kernels on an NVIDIA GPU, and checks what they compute.
#[derive(Parser, Debug)]
#[command(name = "mdh-exec", version, after_help = AFTER)]
struct Arguments {
    /// Packages, as `mdh compile --device cuda -o X.mdhpkg` makes them.
    #[arg(required_unless_present = "tune_worker", value_name = "X.mdhpkg")]
    packages: Vec<PathBuf>,
    /// The GPU, by number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: u32,
    /// Says how often the kernels are timed, after a run to warm up; each time is the mean of several
    /// runs that are launched right after each other.
    #[arg(long, value_name = "N", default_value_t = 10)]
    repeat: u32,
    /// The most copies of the data that these runs take turns with, so that the GPU's cache does not
    /// hold what a run reads.
    #[arg(long, value_name = "N", default_value_t = 64)]
    rotate: u32,
    /// Writes the arguments and the results of the first run to files of a folder,
    /// `argument-0.bin`, .., `result-0.bin`, ..: the elements one after the other.
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    /// Says how many seconds kernels may take between two transfers: 60, or 10 with --tune.
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    /// Measures the candidates of packages (.mdhtune) that `mdh tune --device cuda --package` makes:
    /// each is held against the definition, then timed until it cannot win.
    #[arg(long, conflicts_with = "write")]
    tune: bool,
    /// Writes what --tune has measured, after each candidate, for `mdh tune --import`.
    #[arg(long, value_name = "RESULTS.json", requires = "tune")]
    out: Option<PathBuf>,
    /// Ends --tune after so many seconds, which packages share; the default of each is measured.
    #[arg(long, value_name = "SECONDS", requires = "tune")]
    seconds: Option<f64>,
    /// Measures candidates as it is asked to on standard input.
    #[arg(long, value_name = "X.mdhtune", hide = true)]
    tune_worker: Option<PathBuf>,
    /// Prints one JSON object a package instead of text. Where a result is wrong, it has no times.
    #[arg(long)]
    json: bool,
}

/// Limit on the time of kernels of candidates, which may be slow.
const TUNE_LIMIT: Duration = Duration::from_secs(10);

const AFTER: &str = "\
Exit codes: 0 done, 1 no package or a damaged one, or the program fails, 2 wrong command line,
3 a result is wrong, 4 not enough memory, 5 no GPU or one that fails. Of several packages all are
tried; the code is that of the first one that fails.";

/// Functions that packages' code calls, so that they are in this program.
#[used]
static CALLED: [fn() -> usize; 1] = [called];

fn called() -> usize {
    let symbols = [
        mdhrt::copy::mdh_copy as *const () as usize,
        mdhrt::failure::mdh_say as *const () as usize,
        mdhrt::failure::mdh_stop as *const () as usize,
        mdhrt::memory::mdh_allocate as *const () as usize,
        mdhrt::memory::mdh_allocate_zeroed as *const () as usize,
        mdhrt::memory::mdh_release as *const () as usize,
        mdhrt::pool::mdh_parallel_for as *const () as usize,
        mdhrt::pool::mdh_thread_count as *const () as usize,
    ];
    symbols.len() + mdh_cuda::symbols().len()
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let usual = if arguments.tune {
        TUNE_LIMIT
    } else {
        mdh_cuda::TIME_LIMIT
    };
    let limit = seconds("--time-limit", arguments.time_limit);
    let total = seconds("--seconds", arguments.seconds);
    let (limit, total) = match (limit, total) {
        (Ok(limit), Ok(total)) => (limit.unwrap_or(usual), total),
        (Err(error), _) | (_, Err(error)) => return fail(&error),
    };
    let time_limit = limit.max(Duration::from_millis(1));
    if arguments.write.is_some() && arguments.packages.len() > 1 {
        return fail(&Error {
            code: 2,
            message: "--write is for one package: found several".to_string(),
        });
    }
    let request = Request {
        device: arguments.device,
        repeat: arguments.repeat,
        rotate: arguments.rotate,
        time_limit,
        write: arguments.write,
    };
    if arguments.tune || arguments.tune_worker.is_some() {
        let done = match &arguments.tune_worker {
            Some(path) => serve(path, &request),
            None => measure(
                &arguments.packages,
                request,
                total,
                arguments.out,
                arguments.json,
            ),
        };
        return done.map_or_else(|error| fail(&error), |()| ExitCode::SUCCESS);
    }
    let mut first = ExitCode::SUCCESS;
    let mut has_failed = false;
    for path in &arguments.packages {
        let name = path.display().to_string();
        let done = one(path, &request, arguments.json);
        if let Err(error) = done {
            let message = format!("{name}: {error}");
            let code = fail(&Error { message, ..error });
            if !has_failed {
                (first, has_failed) = (code, true);
            }
        }
    }
    first
}

/// Reads a number of seconds.
fn seconds(name: &str, given: Option<f64>) -> Result<Option<Duration>> {
    let read = given.map(Duration::try_from_secs_f64).transpose();
    read.map_err(|_| Error {
        code: 2,
        message: format!("{name}: expected a number of seconds, such as 0.5 or 60"),
    })
}

/// Reads a file of a package, and says which one is wrong.
fn read<T>(path: &Path, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let bytes = fs::read(path);
    let bytes = bytes.map_err(|error| Error::input(format!("cannot be read: {error}")));
    bytes.and_then(|bytes| read(&bytes)).map_err(|error| Error {
        message: format!("{}: {error}", path.display()),
        ..error
    })
}

fn serve(path: &Path, request: &Request) -> Result<()> {
    tune::worker::serve(&read(path, TunePackage::read)?, request)
}

/// Measures the candidates of packages.
fn measure(
    paths: &[PathBuf],
    request: Request,
    time: Option<Duration>,
    out: Option<PathBuf>,
    json: bool,
) -> Result<()> {
    let packages = paths
        .iter()
        .map(|path| Ok((path.clone(), read(path, TunePackage::read)?)));
    let packages = packages.collect::<Result<Vec<_>>>()?;
    let wanted = Wanted { request, time, out };
    let mut printed = Ok(());
    let results = race::measure(&packages, &wanted, &mut |program| {
        if !json && printed.is_ok() {
            printed = print(&of_candidates(program));
        }
    })?;
    printed?;
    if json {
        print(&(serde_json::to_string(&results).unwrap_or_default() + "\n"))?;
    }
    let is_none = |program: &ProgramResults| program.best().is_none();
    match results.programs.iter().find(|program| is_none(program)) {
        None => Ok(()),
        Some(program) => Err(Error {
            code: 3,
            message: format!("no candidate of {} works", program.name),
        }),
    }
}

/// A program's best candidate, the default beside it, and what failed.
fn of_candidates(program: &ProgramResults) -> String {
    let mut text = format!("{}: {} candidates", program.name, program.candidates.len());
    if program.left > 0 {
        text += &format!(", {} left out for lack of time", program.left);
    }
    let cost = |of: Option<&tune::results::CandidateResult>| of.and_then(|one| one.outcome.cost());
    let (default, best) = (cost(program.default()), cost(program.best()));
    text += "\n";
    if let Some(default) = default {
        text += &format!("  default  {default:.4} ms\n");
    }
    if let (Some(best), Some(ms)) = (program.best(), best) {
        let ratio = default.map_or(String::new(), |default| {
            format!(", {:.2} times as fast", default / ms)
        });
        text += &format!("  best     {ms:.4} ms{ratio}, candidate {}\n", best.number);
    }
    for one in &program.candidates {
        if let tune::results::Reply::Failed { kind, text: why } = &one.outcome {
            let line = why.lines().next().unwrap_or_default();
            text += &format!("  candidate {}: {kind}: {line}\n", one.number);
        }
    }
    text
}

fn fail(error: &Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(error.code)
}

fn one(path: &PathBuf, request: &Request, json: bool) -> Result<()> {
    let bytes = fs::read(path);
    let bytes = bytes.map_err(|error| Error::input(format!("cannot be read: {error}")))?;
    let package = Package::read(&bytes)?;
    let outcome = run(&package, request)?;
    let text = match json {
        true => as_json(&package.manifest, &outcome),
        false => as_text(&package.manifest, &outcome),
    };
    print(&text)?;
    match &outcome.wrong {
        None => Ok(()),
        Some(wrong) => Err(Error {
            code: 3,
            message: format!("the result is not what the definition says: {wrong}"),
        }),
    }
}

/// Writes to standard output. A reader that has gone needs nothing.
fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout();
    let written = stdout.write_all(text.as_bytes());
    match written.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::input(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn as_json(manifest: &Manifest, outcome: &Outcome) -> String {
    let device = &outcome.device;
    let times: Vec<f64> = outcome.kernels.iter().copied().map(milliseconds).collect();
    let value = serde_json::json!({
        "function": manifest.function,
        "device": {
            "name": device.name,
            "chip": device.capability.to_string(),
            "multiprocessors": device.multiprocessors,
            "clock_khz": device.clock,
            "memory_clock_khz": device.memory_clock,
            "bus_bits": device.bus,
            "memory": device.memory,
            "cache": device.cache,
        },
        "launches": outcome.launches,
        "whole_ms": milliseconds(outcome.whole),
        "kernels_ms": times,
        "timing": {
            "runs": outcome.timing.runs,
            "copies": outcome.timing.copies,
            "cold": outcome.timing.is_cold,
        },
        "flops": manifest.flops,
        "bytes": manifest.bytes,
        "compared": outcome.comparison.points,
        "told": outcome.comparison.told,
        "weak": outcome.weak,
        "checked": outcome.comparison.passed(),
    });
    format!("{value}\n")
}

fn as_text(manifest: &Manifest, outcome: &Outcome) -> String {
    let device = &outcome.device;
    let whole = milliseconds(outcome.whole);
    let mut text = format!(
        "{}\n  gpu    {}, {}\n  whole  {whole:.3} ms\n",
        manifest.function, device.name, device.capability
    );
    if let Some(times) = Times::new(outcome.kernels.clone()) {
        let seconds = times.median.as_secs_f64();
        let rate = |count: f64| count / seconds / 1e9;
        let [min, median, max] = [times.min, times.median, times.max].map(milliseconds);
        text += &format!(
            "  kernels {}: min {min:.4} ms, median {median:.4} ms, max {max:.4} ms\n  speed  {:.4} \
             GFLOP/s, {:.4} GB/s\n",
            outcome.launches,
            rate(manifest.flops),
            rate(manifest.bytes),
        );
    }
    let comparison = &outcome.comparison;
    let passed = match comparison.passed() {
        true => "passed",
        false => "failed",
    };
    text += &format!(
        "  check  {passed}: {} elements compared, largest error {:.3e} absolute, {:.3e} relative; {} \
         told from zero\n",
        comparison.points, comparison.max_abs_error, comparison.max_rel_error, comparison.told
    );
    if !outcome.weak.is_empty() {
        text += &format!(
            "         weak: zeros would pass as most elements of {}; make the package with \
             '--range 0.5..1.5', so that sums do not cancel\n",
            outcome.weak.join(", ")
        );
    }
    text
}
