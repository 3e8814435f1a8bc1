//! `--check`: results against the definition, element by element; of large outputs, some elements,
//! unless all are asked for.

use mdh_algebra::compare::{Comparison, compare, sample_points};
use mdh_algebra::laws::Violation;
use mdh_algebra::oracle::{Element, Errors, Failure};
use mdh_algebra::program::{Instance, Reference, Target};
use mdh_dialect::ir::{self, Op};
use mdh_dialect::location::SourceLocation;
use mdh_exec::ArraySlot;
use mdh_jit::memory;
use mdh_passes::declares_numbers;
use melior::ir::operation::OperationLike;

use crate::diagnostics::error_at;
use crate::entry::{Entry, Parameter};
use crate::error::{Error, Result};
use crate::execute::Call;
use crate::plan::Known;
use crate::progress;
use crate::report::Check;
use crate::values::Tensor;

/// A run of at most so many points is compared as a whole.
const SMALL: f64 = (1 << 20) as f64;
/// An output of at most so many elements is.
const FEW: usize = 1 << 16;
/// So many elements of each output are compared otherwise.
pub const SAMPLES: usize = 64;

/// So many groups of elements of an output are evaluated one after the other.
const GROUPS: usize = 100;

/// Bytes that an expected element takes, with its index.
const HELD: u64 = 128;

/// The elements of each output that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// So many, chosen at random, where there are many, or where evaluating all takes long.
    Sampled(usize),
    /// All of them.
    All,
}

/// Options of an expectation.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The elements to compare.
    pub elements: Elements,
    /// The seed that they are chosen by.
    pub seed: u64,
    /// Error bounds of results.
    pub errors: Errors,
}

/// The elements that a check looks at, with their expected values.
pub struct Expectation<'e> {
    outputs: Vec<Output<'e>>,
}

struct Output<'e> {
    parameter: &'e Parameter,
    /// Its place among the arguments or results of a call.
    place: ArraySlot,
    elements: usize,
    expected: Vec<(Vec<i64>, Element)>,
}

impl Output<'_> {
    /// Its elements after a call.
    fn tensor<'c>(&self, call: &'c Call) -> &'c Tensor {
        match self.place {
            ArraySlot::Argument(i) => &call.arguments[i],
            ArraySlot::Result(i) => &call.results[i],
        }
    }
}

impl<'e> Expectation<'e> {
    /// Returns the number of elements of all outputs.
    pub fn elements(&self) -> usize {
        self.outputs.iter().map(|output| output.elements).sum()
    }

    /// Evaluates the definition at the elements that are wanted.
    pub fn new(
        entry: &'e Entry,
        known: &Known,
        instance: &Instance,
        wanted: Wanted,
    ) -> Result<Expectation<'e>> {
        let mut reference = Reference::new(instance, wanted.errors);
        let is_small = instance.points() <= SMALL;
        let groups = groups(instance);
        let count = |elements: usize| match wanted.elements {
            Elements::All => elements,
            Elements::Sampled(_) if is_small && elements <= FEW => elements,
            Elements::Sampled(samples) => samples,
        };
        let arguments = entry
            .arguments
            .iter()
            .enumerate()
            .filter(|(_, p)| p.is_written());
        let arguments = arguments.map(|(i, p)| (p, ArraySlot::Argument(i), Target::Argument(i)));
        let results = entry.results.iter().enumerate();
        let results = results.map(|(i, p)| (p, ArraySlot::Result(i), Target::Return(i)));
        let mut outputs = Vec::new();
        for (parameter, place, target) in arguments.chain(results) {
            if let (Elements::All, Ok((_, shape))) = (wanted.elements, reference.shape(target)) {
                let elements = shape.iter().map(|n| n.unsigned_abs());
                let elements = elements.fold(1, u64::saturating_mul);
                memory::require(elements.saturating_mul(HELD))?;
            }
            progress::part(&format!("'{}'", parameter.name));
            let evaluated = expected(&mut reference, target, (wanted.seed, groups), count);
            let (elements, expected) = evaluated.map_err(|failure| {
                let op = reference.failed().and_then(|s| known.origin(s));
                match (&failure, op) {
                    (Failure::Law(law), op) => refuted(law, op),
                    (_, Some(op)) => error_at(op.location(), &undefined(&failure)),
                    (_, None) => Error::input(undefined(&failure)),
                }
            })?;
            outputs.push(Output {
                parameter,
                place,
                elements,
                expected,
            });
        }
        Ok(Expectation { outputs })
    }

    /// Fails if zeros would pass as most elements of an output because of what rounding may change: inputs
    /// are to be chosen so that they do not. Of what is exactly zero nothing else passes.
    pub fn expect_strong(&self) -> Result<()> {
        let is_weak = |output: &&Output| {
            let expected = output.expected.iter();
            let is_told = |element: &Element| element.differs_from_zero() || element.error == 0.0;
            let told = expected.filter(|(_, element)| is_told(element));
            2 * told.count() < output.expected.len()
        };
        match self.outputs.iter().find(is_weak) {
            None => Ok(()),
            Some(output) => Err(Error::check(format!(
                "the check is weak: most of what is expected of '{}' is no larger than what rounding \
                 may change: expected inputs whose sums do not cancel",
                output.parameter.name
            ))),
        }
    }

    /// Returns the compared elements: their arrays, indices and expected values.
    pub fn outputs(&self) -> impl Iterator<Item = (ArraySlot, &[(Vec<i64>, Element)])> {
        let outputs = self.outputs.iter();
        outputs.map(|output| (output.place, &output.expected[..]))
    }

    /// Compares the results of a call; the message is about the first element that is wrong.
    pub fn hold(&self, call: &Call) -> (Check, Option<String>) {
        let mut comparisons = Vec::new();
        for output in &self.outputs {
            let tensor = output.tensor(call);
            let actual = output
                .expected
                .iter()
                .map(|(index, element)| (index.clone(), tensor.get(flat(tensor, index)), *element));
            comparisons.push(compare(actual));
        }
        let mut total = Comparison::default();
        comparisons
            .iter()
            .for_each(|comparison| total.merge(comparison));
        let weak = self.outputs.iter().zip(&comparisons);
        let weak: Vec<_> = weak
            .filter(|(_, comparison)| comparison.is_weak())
            .collect();
        let check = Check {
            passed: total.passed(),
            max_abs_error: total.max_abs_error,
            max_rel_error: total.max_rel_error,
            compared: total.points,
            told: total.told,
            weak_integers: weak
                .iter()
                .all(|(output, _)| !output.parameter.ty.element.is_float()),
            weak: weak
                .iter()
                .map(|(output, _)| output.parameter.name.clone())
                .collect(),
            elements: self
                .outputs
                .iter()
                .map(|output| output.elements as u64)
                .sum(),
        };
        (check, self.first_wrong(&comparisons))
    }

    /// The licence of a program to do as it likes with what is no number, if some is there.
    pub fn licence(&self, entry: &Entry, call: &Call) -> Option<String> {
        let mut ops = ir::all(entry.definition).into_iter();
        let op = ops.find(|op| declares_numbers(*op))?;
        let has_none = |tensor: &Tensor| {
            tensor.element().is_float() && (0..tensor.len()).any(|i| tensor.get(i).is_nan())
        };
        let mut expected = self.outputs.iter().flat_map(|output| &output.expected);
        if !expected.any(|(_, element)| element.value.is_nan())
            && !call.arguments.iter().any(has_none)
        {
            return None;
        }
        let place = SourceLocation::from_location(op.location());
        let place = place.map_or(String::new(), |place| format!(" at {place}"));
        Some(format!(
            "'{}'{place} declares that it meets no NaN ('fastmath'), and there is one: what it makes of that may \
             differ; leave out 'nnan', or give inputs without NaN",
            ir::name_of(op)
        ))
    }

    /// Returns whether each element that is wrong after a call has the same value in another expectation, that of other
    /// arguments: none of these decides it.
    pub fn are_wrong_ones_constant(&self, other: &Expectation, call: &Call) -> bool {
        let mut outputs = self.outputs.iter().zip(&other.outputs);
        outputs.all(|(output, other)| {
            let tensor = output.tensor(call);
            let pairs = output.expected.iter().zip(&other.expected);
            let mut pairs = pairs.filter(|((index, element), _)| {
                tensor.get(flat(tensor, index)).bits != element.value.bits
            });
            output.elements == other.elements
                && pairs.all(|((_, element), (_, other))| element.value.bits == other.value.bits)
        })
    }

    /// Compares the results of another form of the program, by definition; `results` names their
    /// places.
    pub fn hold_reference(
        &self,
        instance: &Instance,
        results: &[Target],
    ) -> Result<Option<String>> {
        let mut reference = Reference::new(instance, Errors::Ignored);
        let mut comparisons = Vec::new();
        for output in &self.outputs {
            let target = match output.place {
                ArraySlot::Argument(i) => Target::Argument(i),
                ArraySlot::Result(i) => results[i],
            };
            let indices: Vec<Vec<i64>> = output.expected.iter().map(|(i, _)| i.clone()).collect();
            let elements = reference.elements(target, &indices);
            let elements = elements.map_err(|failure| Error::input(undefined(&failure)))?;
            let pairs = output.expected.iter().zip(elements);
            let triples =
                pairs.map(|((i, expected), elements)| (i.clone(), elements.value, *expected));
            comparisons.push(compare(triples));
        }
        Ok(self.first_wrong(&comparisons))
    }

    fn first_wrong(&self, comparisons: &[Comparison]) -> Option<String> {
        let mut pairs = self.outputs.iter().zip(comparisons);
        pairs.find_map(|(output, comparison)| {
            let first = comparison.first.as_ref()?;
            Some(format!("'{}' {first}", output.parameter.name))
        })
    }
}

/// Number of an output's elements, and the expected values of those that are compared.
type Expected = (usize, Vec<(Vec<i64>, Element)>);

fn expected(
    reference: &mut Reference,
    target: Target,
    (seed, groups): (u64, usize),
    count: impl Fn(usize) -> usize,
) -> std::result::Result<Expected, Failure> {
    let (_, shape) = reference.shape(target)?;
    let shape = shape.to_vec();
    let elements: usize = shape.iter().map(|n| *n as usize).product();
    let indices = sample_points(&shape, seed, count(elements));
    let mut values = Vec::with_capacity(indices.len());
    for group in indices.chunks(indices.len().div_ceil(groups).max(1)) {
        values.extend(reference.elements(target, group)?);
        progress::share(values.len() as u64, indices.len() as u64, "elements");
    }
    Ok((elements, indices.into_iter().zip(values).collect()))
}

/// Returns how many groups elements are evaluated in, so that one sees how far that is: one where elements together cost
/// less than each alone, as those of a prefix-sum and of loops do.
fn groups(instance: &Instance) -> usize {
    let mut plain = 0;
    for (_, computation) in instance.bound_computations() {
        let mut dimensions = computation.dimensions.iter();
        if dimensions.any(|dimension| dimension.combine.is_ps()) {
            return 1;
        }
        plain += 1;
    }
    match plain == instance.computations() {
        true => GROUPS,
        false => 1,
    }
}

fn flat(tensor: &Tensor, index: &[i64]) -> usize {
    index
        .iter()
        .zip(tensor.shape())
        .fold(0, |flat, (i, n)| flat * *n as usize + *i as usize)
}

/// A law that a program claims and its own elements refute: whatever comes out would be within what
/// reordering may change.
fn refuted(law: &Violation, op: Option<Op>) -> Error {
    let place = op.and_then(|op| SourceLocation::from_location(op.location()));
    let place = place.map_or(String::new(), |place| format!("{place}: "));
    Error::check(format!(
        "the program declares a law that its own elements refute, so that no result can be told from a \
         wrong one:\n  {place}{law}"
    ))
    .help(format!(
        "leave out that it is {}; '--check-laws' tests what is declared on small numbers",
        law.law
    ))
}

fn undefined(failure: &Failure) -> String {
    format!("the definition has no value for these inputs: {failure}")
}
