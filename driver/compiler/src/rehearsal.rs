//! Rehearsal of a run on random inputs whose results are checked at some places, as benchmarks and
//! packages need it.

use mdh_algebra::oracle::Errors;

use crate::arguments;
use crate::check::{Elements, Expectation, Wanted};
use crate::cli::RunArguments;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::plan::{self, Known};
use crate::values::Tensor;

/// Inputs of a function, with the definition's account of its run.
pub struct Rehearsal<'e> {
    /// The inputs.
    pub inputs: Vec<Tensor>,
    /// The shapes of results.
    pub shapes: Vec<Vec<i64>>,
    /// Operations on numbers.
    pub flops: f64,
    /// Bytes of inputs and outputs.
    pub bytes: f64,
    /// The results at some places.
    pub expectation: Expectation<'e>,
}

impl<'e> Rehearsal<'e> {
    /// Makes the inputs that `run` asks for, and evaluates the definition at so many places of each
    /// output, with the error bounds that `errors` has for inputs and the shapes of results.
    pub fn new(
        entry: &'e Entry,
        errors: impl Fn(&[Tensor], &[Vec<i64>]) -> Errors,
        run: &RunArguments,
        samples: usize,
    ) -> Result<Rehearsal<'e>> {
        let inputs = arguments::gather(entry, run)?;
        Rehearsal::on_inputs(entry, inputs, errors, run, samples)
    }

    /// The same on inputs that are there.
    pub fn on_inputs(
        entry: &'e Entry,
        inputs: Vec<Tensor>,
        errors: impl Fn(&[Tensor], &[Vec<i64>]) -> Errors,
        run: &RunArguments,
        samples: usize,
    ) -> Result<Rehearsal<'e>> {
        let known = Known::new(entry, run)?;
        let known = known.ok_or_else(|| Error::bug("a program that is checked is not followed"))?;
        let instance = known.instantiate(entry, &inputs, run.ranges_checked())?;
        let shapes = plan::result_shapes(entry, &inputs, Some((&known, &instance)))?;
        let wanted = Wanted {
            elements: Elements::Sampled(samples),
            seed: run.random.unwrap_or(0),
            errors: errors(&inputs, &shapes),
        };
        let expectation = Expectation::new(entry, &known, &instance, wanted)?;
        let (flops, bytes) = (instance.flops(), instance.bytes());
        drop(instance);
        Ok(Rehearsal {
            inputs,
            shapes,
            flops,
            bytes,
            expectation,
        })
    }
}
