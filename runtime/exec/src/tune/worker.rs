//! The process that runs candidates, one after the other, as it is asked to on standard input.
//!
//! A request is an [`Order`], what it answers an [`Answer`]. After a failure of the device the
//! process ends: its context is lost.

use std::time::Duration;

use crate::failure::FailureKind;
use crate::racing::{CONFIDENCE, Decision, decide};
use mdh_arrays::Tensor;
use serde::{Deserialize, Serialize};

use super::package::TunePackage;
use super::results::{Reply, TunedGpu};
use crate::package::{Array, ArraySlot, Manifest, Package};
use crate::run::{Code, Ready, Replays, arrays, with};
use crate::{Error, Request, Result};

/// A candidate whose first sample is so many times as long as the best one's longest has lost.
const HOPELESS: f64 = 1.5;
/// Milliseconds that a run takes longer if it is the only one between two events.
const ALONE: f64 = 0.02;
/// Bytes that no computation gives.
const POISON: u8 = 0xa5;

/// A candidate that is to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Its number.
    pub candidate: usize,
    /// Samples of the best so far, in milliseconds.
    pub best_ms: Vec<f64>,
}

/// The outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Result of the measurement.
    pub reply: Reply,
    /// The GPU, if it was found.
    pub gpu: Option<TunedGpu>,
    /// True if the process ends, since its device is lost.
    pub is_last: bool,
    /// The end of the whole call: there is no GPU, say.
    pub end: Option<(u8, String)>,
}

/// Answers orders until there are none.
pub fn serve(package: &TunePackage, request: &Request) -> Result<()> {
    let mut bench = Bench::new(&package.manifest.common)?;
    let next = || mdh_process::next().map_err(|error| Error::input(error.to_string()));
    while let Some(order) = next()? {
        let answer = bench.answer(package, &order, request);
        let said = mdh_process::say(&answer);
        said.map_err(|error| Error::input(format!("nobody takes answers: {error}")))?;
        if answer.is_last || answer.end.is_some() {
            // What waits for a kernel that does not end would wait for ever.
            std::process::exit(0);
        }
    }
    Ok(())
}

/// The arrays, which all candidates take.
struct Bench {
    arguments: Vec<Tensor>,
    results: Vec<Tensor>,
    /// The device, held so that its context lasts from candidate to candidate.
    device: Option<mdh_cuda::Device>,
}

impl Bench {
    fn new(manifest: &Manifest) -> Result<Bench> {
        Ok(Bench {
            arguments: arrays(&manifest.arguments)?,
            results: arrays(&manifest.results)?,
            device: None,
        })
    }

    fn answer(&mut self, package: &TunePackage, order: &Order, request: &Request) -> Answer {
        let reply = match package.candidate(order.candidate) {
            Some(own) => self.measure(&own, &order.best_ms, request),
            None => {
                let candidate = package.manifest.candidates.get(order.candidate);
                let why = candidate.and_then(|candidate| candidate.failure.clone());
                Ok(failed(FailureKind::Compilation, why.unwrap_or_default()))
            }
        };
        let (reply, error) = match reply {
            Ok(reply) => (reply, None),
            Err(error) => (failed(kind(&error), error.message.clone()), Some(error)),
        };
        // Without a GPU every candidate fails.
        let end = error
            .as_ref()
            .filter(|error| error.code == 5 && self.device.is_none());
        Answer {
            reply,
            gpu: self.device.as_ref().map(|own| TunedGpu::new(own.facts())),
            is_last: error.as_ref().is_some_and(|error| error.code >= 4),
            end: end.map(|error| (error.code, error.message.clone())),
        }
    }

    /// Runs a candidate, holds its results, and times it until it has lost, or all samples are taken.
    fn measure(&mut self, package: &Package, best: &[f64], request: &Request) -> Result<Reply> {
        let manifest = &package.manifest;
        self.scrub(manifest)?;
        if self.device.is_none() {
            self.device = Some(mdh_cuda::Device::open(request.device)?);
        }
        let ready = Ready::new(package, request)?;
        scrub_device(manifest)?;
        let mut code = Code {
            function: ready.function,
            manifest,
            arguments: &mut self.arguments,
            results: &mut self.results,
        };
        let launches = code.run()?;
        if let Some(wrong) = code.hold()?.wrong {
            return Ok(failed(FailureKind::WrongResult, wrong));
        }
        let count = launches.len();
        let measured = |samples_ms: Vec<f64>, is_complete: bool, is_cold: bool| Reply::Measured {
            samples_ms,
            is_complete,
            launches: count,
            is_cold,
        };
        let longest = best.iter().copied().reduce(f64::max);
        let is_hopeless = |ms: f64| longest.is_some_and(|longest| ms > HOPELESS * longest);
        // A run in the cache is no slower than one in memory.
        let warm = (0..2).map(|_| Ok(milliseconds(with(|session| session.replay(&launches))?)));
        let warm = warm.collect::<Result<Vec<f64>>>()?;
        let warm = warm.into_iter().fold(f64::INFINITY, f64::min);
        if is_hopeless((warm - ALONE) / HOPELESS) {
            return Ok(measured(vec![warm], false, false));
        }
        let replays = Replays::new(&mut code, launches, &ready.facts, request.rotate)?;
        if replays.timing.copies > 1
            && let Some(wrong) = code.hold()?.wrong
        {
            let text = format!("at the second run: {wrong}");
            return Ok(failed(FailureKind::WrongResult, text));
        }
        let mut samples = Vec::new();
        while samples.len() < request.repeat.max(1) as usize {
            samples.push(milliseconds(replays.sample()?));
            let last = samples.last().copied().unwrap_or_default();
            let is_lost = decide(best, &samples, CONFIDENCE) == Decision::Lost;
            if is_hopeless(last) || is_lost {
                return Ok(measured(samples, false, replays.timing.is_cold));
            }
        }
        Ok(measured(samples, true, replays.timing.is_cold))
    }

    /// Arrays as they are before a run: what was written is poison again, or the numbers that it was.
    fn scrub(&mut self, manifest: &Manifest) -> Result<()> {
        self.results = arrays(&manifest.results)?;
        let written = manifest.expected.iter().filter_map(|e| match e.place {
            ArraySlot::Argument(n) => Some(n),
            ArraySlot::Result(_) => None,
        });
        for n in written {
            let array = arrays(std::slice::from_ref(&manifest.arguments[n]))?;
            self.arguments.splice(n..=n, array);
        }
        Ok(())
    }
}

/// Leaves nothing in the device's memory that a candidate before has computed: what is allocated next
/// is poison.
fn scrub_device(manifest: &Manifest) -> Result<()> {
    let bytes = |array: &Array| -> Result<usize> {
        let elements: i64 = array.shape.iter().product();
        Ok(elements.max(0) as usize * array.element()?.byte_width())
    };
    let arrays_of_call = manifest.arguments.iter().chain(&manifest.results);
    let arrays_of_call = arrays_of_call.filter(|array| !array.is_scalar);
    let sizes: Vec<usize> = arrays_of_call.map(bytes).collect::<Result<_>>()?;
    let poison = vec![POISON; sizes.iter().copied().max().unwrap_or(0)];
    with(|session| {
        let mut taken = Vec::new();
        for size in sizes {
            let address = session.allocate(size)?;
            taken.push(address);
            // SAFETY: the memory of the host has the bytes of the largest.
            unsafe { session.transfer(address, poison.as_ptr() as u64, size)? };
        }
        taken
            .into_iter()
            .try_for_each(|address| session.free(address))
    })
}

fn failed(kind: FailureKind, text: String) -> Reply {
    let kind = kind.name().to_string();
    Reply::Failed { kind, text }
}

/// The kind of a failure of `mdh-exec`.
fn kind(error: &Error) -> FailureKind {
    match error.code {
        4 => FailureKind::Memory,
        5 if error.message.contains("does not end") => FailureKind::Hang,
        5 if error.message.starts_with("cuModuleLoad") => FailureKind::Compilation,
        _ => FailureKind::Crash,
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
