//! Runs a package.

use std::ffi::c_void;
use std::io::Write;
use std::time::{Duration, Instant};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use mdh_algebra::compare::{Comparison, compare};
use mdh_algebra::oracle::Element;
use mdh_algebra::scalar::Scalar;
use mdh_arrays::Tensor;
use mdh_arrays::call::{self, Slot};
use mdh_cuda::{Capability, Device, Facts, Session};
use mdhrt::failure;

use crate::package::{Array, Fill, Package, Place};
use crate::{Error, Result};

/// How to run a package.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The GPU's number.
    pub device: u32,
    /// How often its kernels are timed.
    pub repeat: u32,
    /// How long kernels may take between two transfers.
    pub time_limit: Duration,
}

/// What a run has shown.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The GPU.
    pub device: Facts,
    /// How many kernels a run launches.
    pub launches: usize,
    /// How long all of a run took the first time: transfers, launches, assembling not.
    pub whole: Duration,
    /// How long its kernels take each time, on what is in the device's memory; nothing if it
    /// launches none.
    pub kernels: Vec<Duration>,
    /// How results compare with what they must be.
    pub comparison: Comparison,
    /// The array with the first wrong element.
    pub wrong: Option<String>,
}

/// The type of a package's function.
type Function = unsafe extern "C-unwind" fn(*mut *mut c_void);

/// Runs a package once, compares its results, and times its kernels.
pub fn run(package: &Package, request: &Request) -> Result<Outcome> {
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
    let _end = Ready;
    let library = load(&package.host)?;
    // SAFETY: the symbol is a function of this type, by the program that made the package.
    let function = unsafe { library.get::<Function>(manifest.symbol.as_bytes()) };
    let function = function.map_err(|error| {
        let symbol = &manifest.symbol;
        Error::input(format!("the package's code has no '{symbol}': {error}"))
    })?;
    let mut arguments = arrays(&manifest.arguments)?;
    let mut results = arrays(&manifest.results)?;

    let started = Instant::now();
    let mut takes = slots(&manifest.arguments, &mut arguments);
    let mut gives = slots(&manifest.results, &mut results);
    let mut passed = call::pass(&takes, &gives);
    // SAFETY: the arguments are those of the function's signature, by the manifest.
    failure::catch(|| unsafe { function(passed.pointers().as_mut_ptr()) })?;
    let launches = with(|session| {
        session.wait()?;
        Ok(session.take_launches())
    })?;
    call::take(&passed, &mut gives);
    takes.clear();
    let whole = started.elapsed();

    let (comparison, wrong) = hold(package, &arguments, &results)?;
    let times = (0..request.repeat).filter(|_| !launches.is_empty());
    let times = times.map(|_| with(|session| session.replay(&launches)));
    let times = times.collect::<Result<Vec<Duration>>>()?;
    Ok(Outcome {
        device: facts,
        launches: launches.len(),
        whole,
        kernels: times,
        comparison,
        wrong,
    })
}

/// The device is ready; when this goes, its memory is given back.
struct Ready;

impl Drop for Ready {
    fn drop(&mut self) {
        *Session::own() = None;
    }
}

fn with<T>(code: impl FnOnce(&mut Session) -> mdh_cuda::Result<T>) -> Result<T> {
    let mut own = Session::own();
    match own.as_mut() {
        Some(session) => Ok(code(session)?),
        None => Err(Error::input("bug: the GPU is not ready any more")),
    }
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

fn arrays(all: &[Array]) -> Result<Vec<Tensor>> {
    let array = |array: &Array| {
        let element = array.element()?;
        Ok(match array.fill {
            Fill::Random { seed, stream } => Tensor::random(element, &array.shape, seed, stream)?,
            Fill::Uniform { low, high, stream } => {
                Tensor::uniform(element, &array.shape, [low, high], stream)?
            }
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

/// Compares results with what they must be, and names the array of the first that is wrong.
fn hold(
    package: &Package,
    arguments: &[Tensor],
    results: &[Tensor],
) -> Result<(Comparison, Option<String>)> {
    let manifest = &package.manifest;
    let (mut total, mut wrong) = (Comparison::default(), None);
    for expected in &manifest.expected {
        let (array, tensor) = match expected.place {
            Place::Argument(n) => (&manifest.arguments[n], &arguments[n]),
            Place::Result(n) => (&manifest.results[n], &results[n]),
        };
        let element = array.element()?;
        let each = expected.indices.iter().zip(&expected.bits);
        let each = each.zip(&expected.errors).map(|((index, bits), error)| {
            let flat = index.iter().zip(&array.shape);
            let flat = flat.fold(0, |flat, (i, n)| flat * *n as usize + *i as usize);
            let right = Element {
                value: Scalar::from_bits(element, *bits),
                error: error.unwrap_or(f64::INFINITY),
            };
            (index.clone(), tensor.get(flat), right)
        });
        let comparison = compare(each);
        if let (None, Some(first)) = (&wrong, &comparison.first) {
            wrong = Some(format!("'{}' {first}", array.name));
        }
        total.merge(&comparison);
    }
    Ok((total, wrong))
}
