//! Prospect of a run: what the definition says of it before it, and what it is compared with.

use melior::ir::operation::OperationLike;

use mdh_algebra::laws::{self, Values, check_laws};
use mdh_algebra::oracle::Errors;
use mdh_algebra::program::Instance;
use mdh_dialect::location::SourceLocation;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{ir, ops};
use mdh_passes::pipelines::{Arithmetic, RangeChecks};

use crate::check::{Elements, Expectation, SAMPLES, Wanted};
use crate::cli::{CheckHow, RunArguments};
use crate::entry::Entry;
use crate::error::{Error, Result, say};
use crate::execute::Call;
use crate::plan::{self, Known};
use crate::report::Laws;
use crate::values::Tensor;
use crate::{exact, sizes};

/// Facts about a run before it.
pub struct Prospect<'e, 'c> {
    /// The definition, if it is known.
    pub definition: Option<Definition<'e, 'c>>,
    /// The shape of each result.
    pub shapes: Vec<Vec<i64>>,
    /// Operations and bytes of one run.
    pub work: Option<(f64, f64)>,
    /// The laws that were tested, if they were to be.
    pub laws: Option<Laws>,
}

impl<'e> Prospect<'e, '_> {
    /// Evaluates what a check needs, if the definition is known.
    pub fn expect(
        &self,
        instance: Option<&Instance>,
        errors: Errors,
    ) -> Result<Option<Expectation<'e>>> {
        let definition = self.definition.as_ref().zip(instance);
        definition
            .map(|(definition, instance)| definition.expect(instance, errors))
            .transpose()
    }
}

/// Definition of a function, as a command asks for it.
pub struct Definition<'e, 'c> {
    entry: &'e Entry<'c>,
    known: Known<'c>,
    ranges: RangeChecks,
    elements: Elements,
    seed: u64,
}

impl<'e, 'c> Definition<'e, 'c> {
    fn new(entry: &'e Entry<'c>, command: &RunArguments) -> Result<Option<Definition<'e, 'c>>> {
        let known = Known::new(entry, command)?;
        Ok(known.map(|known| Definition {
            entry,
            known,
            ranges: command.ranges_checked(),
            elements: match command.check {
                Some(CheckHow::All | CheckHow::Exact) => Elements::All,
                Some(CheckHow::Sample) | None => Elements::Sampled(SAMPLES),
            },
            seed: command.random.unwrap_or(0),
        }))
    }

    fn instantiate<'a>(&self, arguments: &'a [Tensor]) -> Result<Instance<'a>> {
        self.known.instantiate(self.entry, arguments, self.ranges)
    }

    /// Evaluates what a check needs.
    fn expect(&self, instance: &Instance, errors: Errors) -> Result<Expectation<'e>> {
        let wanted = Wanted {
            elements: self.elements,
            seed: self.seed,
            errors,
        };
        Expectation::new(self.entry, &self.known, instance, wanted)
    }

    /// Returns whether what is wrong after a call is the same for other arguments: where the definition has no answer
    /// for them, they decide.
    pub fn are_constant(&self, others: &[Tensor], expectation: &Expectation, call: &Call) -> bool {
        let instance = self.instantiate(others);
        let other = instance.and_then(|instance| self.expect(&instance, Errors::Bounded));
        other.is_ok_and(|other| expectation.are_wrong_ones_constant(&other, call))
    }
}

/// The definition of a function, evaluated for the arguments of a call before anything runs.
pub struct Evaluation<'e, 'c, 'a> {
    /// Facts about the run.
    pub prospect: Prospect<'e, 'c>,
    /// The definition for these arguments, if it is known.
    pub instance: Option<Instance<'a>>,
    /// Results of the function after each pass, if that is checked.
    pub after_passes: Option<Expectation<'e>>,
    /// Arguments of the same shapes and other elements, if integers stand for floats.
    pub other_arguments: Option<Vec<Tensor>>,
}

impl<'e, 'c, 'a> Evaluation<'e, 'c, 'a> {
    /// Evaluates the definition, and says where arguments have other sizes than their types.
    pub fn new(
        entry: &'e Entry<'c>,
        command: &RunArguments,
        arguments: &'a [Tensor],
    ) -> Result<Evaluation<'e, 'c, 'a>> {
        let (prospect, instance) = prospect(entry, command, arguments)?;
        let other_arguments = (command.arithmetic() == Arithmetic::Exact)
            .then(|| exact::others(arguments))
            .transpose()?;
        for note in sizes::notes::different_extents(entry, arguments) {
            say(&format!("note: {note}\n"));
        }
        let after_passes = match command.check_each_step {
            true => prospect.expect(instance.as_ref(), Errors::Bounded)?,
            false => None,
        };
        Ok(Evaluation {
            prospect,
            instance,
            after_passes,
            other_arguments,
        })
    }
}

/// Follows the function with these arguments by definition: checks rules, finds shapes and counts. Returns this
/// with the definition's instance for the arguments, if it is known.
fn prospect<'e, 'c, 'a>(
    entry: &'e Entry<'c>,
    command: &RunArguments,
    arguments: &'a [Tensor],
) -> Result<(Prospect<'e, 'c>, Option<Instance<'a>>)> {
    let Some(definition) = Definition::new(entry, command)? else {
        let prospect = Prospect {
            definition: None,
            shapes: plan::result_shapes(entry, arguments, None)?,
            work: None,
            laws: None,
        };
        return Ok((prospect, None));
    };
    let instance = definition.instantiate(arguments)?;
    let known = &definition.known;
    let test = || tested_laws(entry, command);
    let laws = command.check_laws.then(test).transpose()?;
    let shapes = plan::result_shapes(entry, arguments, Some((known, &instance)))?;
    let work = known.has_code.then(|| (instance.flops(), instance.bytes()));
    let prospect = Prospect {
        definition: Some(definition),
        shapes,
        work,
        laws,
    };
    Ok((prospect, Some(instance)))
}

/// So many random tuples are tried for each law.
const LAW_TRIALS: usize = 1000;

/// Tests the declared laws of the operators that a function uses: of what runs, since what is raised
/// from linalg has its operators, and what a program says of them, only there.
fn tested_laws(entry: &Entry, command: &RunArguments) -> Result<Laws> {
    let seed = command.random.unwrap_or(0);
    let values = match command.special {
        true => Values::Special,
        false => Values::Finite,
    };
    let mut violations = Vec::new();
    let mut tested = Laws {
        operators: 0,
        laws: 0,
        tuples: LAW_TRIALS,
        special: command.special,
    };
    for op in ir::find_all(entry.op, &[ops::mdh::COMPUTE]) {
        let computation = translate::compute(op, Depth::Code).map_err(|errors| {
            ir::error_at(op, &errors.join("; "));
            Error::diagnosed()
        })?;
        let place = SourceLocation::from_location(op.location());
        let place = place.map_or(String::new(), |place| format!("{place}: "));
        for operator in &computation.operators {
            tested.operators += 1;
            tested.laws += laws::declared(operator, &computation.components);
            let violated = check_laws(operator, &computation.components, values, seed, LAW_TRIALS);
            violations.extend(
                violated
                    .iter()
                    .map(|violation| format!("{place}{violation}")),
            );
        }
    }
    violations.dedup();
    match violations.is_empty() {
        true => Ok(tested),
        false => Err(Error::check(format!(
            "'{}' declares laws that do not hold:\n  {}",
            entry.name,
            violations.join("\n  ")
        ))),
    }
}
