//! Plan of a run, before it: shapes, rules that only sizes decide, and the work.

use mdh_algebra::program::{Argument, Instance, Program};
use mdh_algebra::rules::Rule;
use mdh_dialect::function::{self, Translated, Unknown};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::translate::Depth;
use mdh_dialect::types::{BufferKind, buffer_type};
use mdh_passes::pipelines::RangeChecks;
use mdh_passes::support::extents;
use melior::ir::ValueLike;

use crate::carried;
use crate::cli::RunArguments;
use crate::entry::Entry;
use crate::error::{Error, ErrorKind, Result};
use crate::execute::Call;
use crate::names;
use crate::sizes::{self, Sizes};
use crate::values::Tensor;

/// A function as the oracle sees it.
pub struct Known<'c> {
    /// The program.
    pub program: Program,
    origins: Vec<Op<'c>>,
    /// True if scalar functions and operators are known, not only their types.
    pub has_code: bool,
}

impl<'c> Known<'c> {
    /// Reads a function. Without its scalar code if the oracle cannot interpret that and nothing
    /// needs it; `None` if not even its shapes can be followed.
    pub fn new(entry: &Entry<'c>, command: &RunArguments) -> Result<Option<Known<'c>>> {
        let needs_code = command.check.is_some() || command.check_each_step || command.check_laws;
        let known = |translated: Translated<'c>, has_code| Known {
            program: translated.program,
            origins: translated.origins,
            has_code,
        };
        let read = if needs_code {
            entry.definition
        } else {
            entry.op
        };
        let unknown = match function::translate(read, Depth::Code) {
            // What elements decide is evaluated for a check only: it may take long.
            Ok(translated) => {
                let statements = translated.program.all_statements();
                let is_followed = needs_code || !statements.iter().any(|s| s.needs_values());
                return Ok(is_followed.then(|| known(translated, true)));
            }
            Err(unknown) => unknown,
        };
        if needs_code {
            return Err(not_checkable(&unknown));
        }
        let translated = function::translate(entry.op, Depth::Signatures);
        let followed = translated.ok().filter(|translated| {
            let statements = translated.program.all_statements();
            !statements.iter().any(|s| s.needs_values())
        });
        Ok(followed.map(|translated| known(translated, false)))
    }

    /// The operation that a statement of the program comes from.
    pub fn origin(&self, statement: usize) -> Option<Op<'c>> {
        self.origins.get(statement).copied()
    }

    /// The program with the arguments of a run; broken rules have been shown when an error comes
    /// back.
    pub fn instantiate<'a>(
        &self,
        entry: &Entry,
        arguments: &'a [Tensor],
        ranges: RangeChecks,
    ) -> Result<Instance<'a>> {
        let arguments: Vec<Argument> = entry
            .arguments
            .iter()
            .zip(arguments)
            .map(|(p, t)| argument(p.ty.kind, t))
            .collect();
        let instance = self.program.instantiate(&arguments).map_err(|error| {
            let kind = match error.is_too_large {
                true => ErrorKind::Resources,
                false => ErrorKind::Input,
            };
            let op = error.statement.and_then(|s| self.origins.get(s));
            match op {
                Some(op) => {
                    ir::error_at(*op, &error.message);
                    Error::new(kind, "")
                }
                None => Error::new(kind, error.message),
            }
        })?;
        let mut broken = false;
        for (statement, finding) in instance.findings() {
            let is_range = matches!(
                finding.rule,
                Rule::ReadRange | Rule::WriteRange | Rule::Injective
            );
            if is_range && ranges == RangeChecks::Off {
                continue;
            }
            ir::error_at(self.origins[*statement], &finding.message);
            broken = true;
        }
        if broken {
            Err(Error::diagnosed())
        } else {
            Ok(instance)
        }
    }
}

/// The arguments of a call as they were before it; shapes only for results that a program takes
/// as further arguments.
pub fn call_arguments<'a>(entry: &Entry, call: &'a Call, program: &Program) -> Vec<Argument<'a>> {
    let kinds = entry.arguments.iter().map(|p| p.ty.kind);
    let declared = kinds
        .enumerate()
        .map(|(i, kind)| argument(kind, call.initial(i)));
    let count = program
        .arguments
        .len()
        .saturating_sub(entry.arguments.len());
    let results = entry.results.iter().zip(&call.results);
    let further = results.filter(|(result, _)| result.ty.kind != BufferKind::Scalar);
    declared
        .chain(
            further
                .take(count)
                .map(|(_, tensor)| Argument::Shape(tensor.shape().to_vec())),
        )
        .collect()
}

/// The same for functions of which only scalars and shapes matter: no element is needed.
pub fn shapes_only<'a>(
    entry: &Entry,
    arguments: &[Tensor],
    results: &[Vec<i64>],
    program: &Program,
) -> Vec<Argument<'a>> {
    let declared = entry.arguments.iter().zip(arguments);
    let declared = declared.map(|(parameter, tensor)| match parameter.ty.kind {
        BufferKind::Scalar => Argument::Scalar(tensor.get(0)),
        BufferKind::Tensor | BufferKind::MemRef => Argument::Shape(tensor.shape().to_vec()),
    });
    let count = program.arguments.len();
    let count = count.saturating_sub(entry.arguments.len());
    let results = entry.results.iter().zip(results);
    let further = results.filter(|(result, _)| result.ty.kind != BufferKind::Scalar);
    let further = further.take(count);
    declared
        .chain(further.map(|(_, shape)| Argument::Shape(shape.clone())))
        .collect()
}

fn argument(kind: BufferKind, tensor: &Tensor) -> Argument<'_> {
    match kind {
        BufferKind::Scalar => Argument::Scalar(tensor.get(0)),
        BufferKind::Tensor | BufferKind::MemRef => Argument::Data {
            shape: tensor.shape().to_vec(),
            bytes: tensor.bytes(),
        },
    }
}

fn not_checkable(unknown: &Unknown) -> Error {
    ir::error_at(unknown.op, &unknown.message);
    Error::diagnosed()
}

/// The shape of each result of a run.
pub fn result_shapes(
    entry: &Entry,
    arguments: &[Tensor],
    known: Option<(&Known, &Instance)>,
) -> Result<Vec<Vec<i64>>> {
    let returned = names::returned(entry.op);
    entry
        .results
        .iter()
        .enumerate()
        .map(|(i, result)| {
            let computed = known.and_then(|(known, instance)| {
                instance
                    .shape(*known.program.returns.get(i)?)
                    .map(<[i64]>::to_vec)
            });
            let fixed = || {
                result
                    .ty
                    .shape
                    .iter()
                    .copied()
                    .collect::<Option<Vec<i64>>>()
            };
            let inherited = || {
                let value = *returned.get(i)?;
                shape_of_extents(entry, value, arguments)
                    .or_else(|| shape_of_arguments(value, arguments))
            };
            let shape = computed.or_else(fixed).or_else(inherited);
            shape.ok_or_else(|| {
                Error::input(format!(
                    "the shape of the result '{}' is not known before the run: '{}' has \
                     operations between computations that mdh does not follow",
                    result.name, entry.name
                ))
                .help("give the result a static type, or pass it as a memref argument")
            })
        })
        .collect()
}

/// The shape that the sizes of the arguments give a value.
fn shape_of_extents(entry: &Entry, value: Val, arguments: &[Tensor]) -> Option<Vec<i64>> {
    let rank = buffer_type(value.r#type())?.shape.len();
    let number = |i: usize| arguments[i].shape().is_empty().then(|| arguments[i].get(0));
    let integer = |i| number(i).filter(|n| !n.ty.is_float()).map(|n| n.as_i64());
    let sizes = Sizes {
        shapes: arguments
            .iter()
            .map(|a| a.shape().iter().copied().map(Some).collect())
            .collect(),
        scalars: (0..arguments.len()).map(integer).collect(),
    };
    let extent = |axis| sizes::value(entry, &sizes, extents::of_axis(value, axis));
    (0..rank).map(extent).collect()
}

/// The shape of the arguments that a value may be, or takes its shape from, if they agree.
fn shape_of_arguments(value: Val, arguments: &[Tensor]) -> Option<Vec<i64>> {
    let numbers = carried::shaped_like(value)?;
    let mut shapes = numbers.iter().map(|number| arguments[*number].shape());
    let first = shapes.next()?;
    shapes.all(|shape| shape == first).then(|| first.to_vec())
}
