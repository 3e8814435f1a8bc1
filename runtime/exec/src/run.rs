//! Runs a package.

use std::ffi::c_void;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use mdh_algebra::compare::{Comparison, compare};
use mdh_algebra::oracle::Element;
use mdh_algebra::scalar::Scalar;
use mdh_arrays::Tensor;
use mdh_arrays::call::{self, Slot};
use mdh_cuda::{Capability, Device, Facts, Launch, Session};
use mdhrt::failure;

use crate::package::{Array, ArraySlot, Fill, Manifest, Package};
use crate::{Error, Result};

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The GPU's number.
    pub device: u32,
    /// Number of timed repetitions of its kernels.
    pub repeat: u32,
    /// The most copies of its data that launches take turns with.
    pub rotate: u32,
    /// Limit on the time of kernels between two transfers.
    pub time_limit: Duration,
    /// A folder for the arrays, as the first run has left them.
    pub write: Option<PathBuf>,
}

/// Results of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The GPU.
    pub device: Facts,
    /// Number of kernels that a run launches.
    pub launches: usize,
    /// Time of the first run, all of it: transfers and launches, without assembling.
    pub whole: Duration,
    /// Times of its kernels, on what is in the device's memory; none if it launches none, or if its
    /// result is wrong.
    pub kernels: Vec<Duration>,
    /// Method of timing.
    pub timing: Timing,
    /// Comparison of the results with the expected ones.
    pub comparison: Comparison,
    /// The array with the first wrong element.
    pub wrong: Option<String>,
    /// The arrays of which zeros would pass as most elements that are compared.
    pub weak: Vec<String>,
}

/// Method of timing launches: several runs right after each other, on several copies of the data in
/// turn, between two events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Number of runs that each time is the mean of.
    pub runs: usize,
    /// Number of copies of the data that take turns.
    pub copies: usize,
    /// True if the copies are more than the device's cache holds, so that each run finds its data
    /// in memory.
    pub is_cold: bool,
}

/// Minimal time of the runs between two events.
const SPAN: Duration = Duration::from_millis(2);
/// The most runs between two events.
const RUNS: u128 = 1000;

/// The type of a package's function.
pub(crate) type Function = unsafe extern "C-unwind" fn(*mut *mut c_void);

/// Runs a package once, compares its results, and times its kernels.
pub fn run(package: &Package, request: &Request) -> Result<Outcome> {
    let manifest = &package.manifest;
    let ready = Ready::new(package, request)?;
    let facts = ready.facts.clone();
    let mut arguments = arrays(&manifest.arguments)?;
    let mut results = arrays(&manifest.results)?;
    let mut code = Code {
        function: ready.function,
        manifest,
        arguments: &mut arguments,
        results: &mut results,
    };
    let started = Instant::now();
    let launches = code.run()?;
    let whole = started.elapsed();
    let Held {
        comparison,
        wrong,
        weak,
    } = code.hold()?;
    if let Some(folder) = &request.write {
        write(folder, "argument", code.arguments)?;
        write(folder, "result", code.results)?;
    }
    let count = launches.len();
    let (kernels, timing) = match wrong.is_none() && count > 0 && request.repeat > 0 {
        true => time(&mut code, launches, &facts, request)?,
        false => Default::default(),
    };
    Ok(Outcome {
        device: facts,
        launches: count,
        whole,
        kernels,
        timing,
        comparison,
        wrong,
        weak,
    })
}

/// A package's code and its kernels, loaded; when this goes, the device's memory is freed.
pub(crate) struct Ready {
    pub(crate) function: Function,
    pub(crate) facts: Facts,
    _library: Library,
    _end: End,
}

impl Ready {
    pub(crate) fn new(package: &Package, request: &Request) -> Result<Ready> {
        check_processor()?;
        let manifest = &package.manifest;
        let chip: Capability = manifest.chip.parse().map_err(Error::input)?;
        let device = Device::open(request.device)?;
        let facts = device.facts().clone();
        let mut session = Session::new(device)?;
        session.limit_time(request.time_limit);
        if !package.kernels.trim().is_empty() {
            session.load(&package.kernels, chip)?;
        }
        session.install();
        let end = End;
        let library = load(&package.host)?;
        // SAFETY: the symbol is a function of this type, by the program that made the package.
        let function = unsafe { library.get::<Function>(manifest.symbol.as_bytes()) };
        let function = function.map_err(|error| {
            let symbol = &manifest.symbol;
            Error::input(format!("the package's code has no '{symbol}': {error}"))
        })?;
        Ok(Ready {
            function: *function,
            facts,
            _library: library,
            _end: end,
        })
    }
}

/// A package's code, and what it is called with.
pub(crate) struct Code<'p> {
    pub(crate) function: Function,
    pub(crate) manifest: &'p Manifest,
    pub(crate) arguments: &'p mut [Tensor],
    pub(crate) results: &'p mut [Tensor],
}

impl Code<'_> {
    /// Calls the function, and returns what it has launched, which has ended.
    pub(crate) fn run(&mut self) -> Result<Vec<Launch>> {
        let takes = slots(&self.manifest.arguments, self.arguments);
        let mut gives = slots(&self.manifest.results, self.results);
        let mut passed = call::pass(&takes, &gives);
        // SAFETY: the arguments are those of the function's signature, by the manifest.
        failure::catch(|| unsafe { (self.function)(passed.pointers().as_mut_ptr()) })?;
        let launches = with(|session| {
            session.wait()?;
            Ok(session.take_launches())
        })?;
        call::take(&passed, &mut gives);
        Ok(launches)
    }

    /// Compares what a run has left with what is expected.
    pub(crate) fn hold(&self) -> Result<Held> {
        hold(self.manifest, self.arguments, self.results)
    }
}

/// Times the kernels: several runs between two events, on copies of the data that take turns, so
/// that a run does not find what the one before has left in the device's cache.
fn time(
    code: &mut Code,
    launches: Vec<Launch>,
    facts: &Facts,
    request: &Request,
) -> Result<(Vec<Duration>, Timing)> {
    let replays = Replays::new(code, launches, facts, request.rotate)?;
    let times = (0..request.repeat).map(|_| replays.sample());
    Ok((times.collect::<Result<_>>()?, replays.timing))
}

/// Launches that are repeated, on copies of the data.
pub(crate) struct Replays {
    copies: Vec<Vec<Launch>>,
    pub(crate) timing: Timing,
}

impl Replays {
    /// Makes the copies, and warms up.
    pub(crate) fn new(
        code: &mut Code,
        launches: Vec<Launch>,
        facts: &Facts,
        rotate: u32,
    ) -> Result<Replays> {
        let bytes = code.manifest.bytes.max(1.0);
        let wanted = (2.0 * facts.cache as f64 / bytes).ceil();
        let there = (facts.memory as f64 / 4.0 / bytes).floor();
        let most = wanted.min(there).min(f64::from(rotate)).max(1.0) as usize;
        let mut copies = vec![launches];
        if most > 1 {
            // The first run's memory is free; from now on each run has memory of its own.
            with(|session| {
                session.keep_memory();
                Ok(())
            })?;
            copies.clear();
            for _ in 0..most {
                match code.run() {
                    Ok(launches) => copies.push(launches),
                    // As many as there is memory for: this program takes more than its arrays.
                    Err(error) if error.code == 4 && !copies.is_empty() => break,
                    Err(error) => return Err(error),
                }
            }
        }
        let timing = Timing {
            runs: copies.len(),
            copies: copies.len(),
            is_cold: copies.len() as f64 * bytes > facts.cache as f64,
        };
        let mut replays = Replays { copies, timing };
        // Warms up, and tells how many runs fill the span.
        let copies = replays.copies.len();
        let first = replays.replay()?.max(Duration::from_nanos(1)) / copies as u32;
        let runs = SPAN.as_nanos() / first.as_nanos().max(1);
        let runs = runs.clamp(1, RUNS) as usize;
        // Each copy as often as the others, or the last ones not at all.
        replays.timing.runs = match runs > copies {
            true => runs.next_multiple_of(copies),
            false => runs,
        };
        replays.replay()?;
        Ok(replays)
    }

    fn replay(&self) -> Result<Duration> {
        let copies_of_runs = self.copies.iter().cycle().take(self.timing.runs).flatten();
        with(|session| session.replay(copies_of_runs))
    }

    /// The mean time of several runs.
    pub(crate) fn sample(&self) -> Result<Duration> {
        Ok(self.replay()? / self.timing.runs as u32)
    }
}

/// Writes arrays to files of a folder, each with its elements one after the other.
fn write(folder: &Path, what: &str, tensors: &[Tensor]) -> Result<()> {
    for (n, tensor) in tensors.iter().enumerate() {
        let path = folder.join(format!("{what}-{n}.bin"));
        let written = std::fs::write(&path, tensor.bytes());
        written
            .map_err(|error| Error::input(format!("cannot write '{}': {error}", path.display())))?;
    }
    Ok(())
}

/// The end of a session: its memory is freed.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        Session::end_all();
    }
}

pub(crate) fn with<T>(code: impl FnOnce(&mut Session) -> mdh_cuda::Result<T>) -> Result<T> {
    Ok(Session::with(code)?)
}

/// Fails on a processor that the code of packages is not for.
fn check_processor() -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    {
        let has = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma");
        if !has {
            return Err(Error::input(
                "the code of packages is for processors with AVX2 and FMA: this one has not both",
            ));
        }
    }
    Ok(())
}

/// Loads a shared library from memory, by way of a temporary file.
fn load(bytes: &[u8]) -> Result<Library> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::input(format!("cannot load the package's code: {error}"))
    };
    let mut file = tempfile::NamedTempFile::new().map_err(|error| failed(&error))?;
    file.write_all(bytes).map_err(|error| failed(&error))?;
    // SAFETY: the library runs nothing when it is loaded.
    let library = unsafe { Library::open(Some(file.path()), RTLD_NOW | RTLD_LOCAL) };
    library.map_err(|error| failed(&error))
}

pub(crate) fn arrays(all: &[Array]) -> Result<Vec<Tensor>> {
    let array = |array: &Array| {
        let element = array.element()?;
        Ok(match array.fill {
            Fill::Random { seed, stream } => Tensor::random(element, &array.shape, seed, stream)?,
            Fill::Uniform {
                low,
                high,
                seed,
                stream,
            } => Tensor::uniform(element, &array.shape, [low, high], (seed, stream))?,
            Fill::Bits(bits) => Tensor::from_scalar(Scalar::from_bits(element, bits))?,
            Fill::Poison => {
                let mut tensor = Tensor::zeroed(element, &array.shape)?;
                tensor.poison();
                tensor
            }
        })
    };
    all.iter().map(array).collect()
}

fn slots<'a>(arrays: &[Array], tensors: &'a mut [Tensor]) -> Vec<Slot<'a>> {
    let both = arrays.iter().zip(tensors);
    both.map(|(array, tensor)| match array.is_scalar {
        true => Slot::Scalar(tensor),
        false => Slot::Memory(tensor.descriptor()),
    })
    .collect()
}

/// Comparison of results with the expected ones.
#[derive(Clone, Debug)]
pub struct Held {
    /// All elements that are compared.
    pub comparison: Comparison,
    /// The first that is wrong, with its array.
    pub wrong: Option<String>,
    /// The arrays of which zeros would pass as most elements that are compared.
    pub weak: Vec<String>,
}

/// Compares arrays with what a package expects of them.
pub fn hold(manifest: &Manifest, arguments: &[Tensor], results: &[Tensor]) -> Result<Held> {
    let mut held = Held {
        comparison: Comparison::default(),
        wrong: None,
        weak: Vec::new(),
    };
    for expected in &manifest.expected {
        let (array, tensor) = match expected.place {
            ArraySlot::Argument(n) => (&manifest.arguments[n], &arguments[n]),
            ArraySlot::Result(n) => (&manifest.results[n], &results[n]),
        };
        let element = array.element()?;
        let points = expected.indices.iter().zip(&expected.bits);
        let points = points.zip(&expected.errors).map(|((index, bits), error)| {
            let flat = index.iter().zip(&array.shape);
            let flat = flat.fold(0, |flat, (i, n)| flat * *n as usize + *i as usize);
            let right = Element {
                value: Scalar::from_bits(element, *bits),
                error: error.unwrap_or(f64::INFINITY),
            };
            (index.clone(), tensor.get(flat), right)
        });
        let comparison = compare(points);
        if let (None, Some(first)) = (&held.wrong, &comparison.first) {
            held.wrong = Some(format!("'{}' {first}", array.name));
        }
        if comparison.is_weak() {
            held.weak.push(array.name.clone());
        }
        held.comparison.merge(&comparison);
    }
    Ok(held)
}
