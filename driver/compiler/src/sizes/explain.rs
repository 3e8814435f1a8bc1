//! Reasons for which the size of an argument is not known, and ways to give it.

use std::collections::BTreeSet;

use mdh_algebra::rules;
use mdh_dialect::ir::Op;
use mdh_dialect::parts::{Bound, BufferPart, Dim, Parts};
use melior::ir::operation::OperationLike;

use super::{Origin, Sizes, Solver, origin};
use crate::cli::Size;
use crate::diagnostics::error_at;
use crate::entry::Entry;
use crate::error::Error;

/// The error for an argument that no size follows for.
pub fn unknown(entry: &Entry, sizes: &Sizes, given: &[Size], argument: usize) -> Error {
    let given = given.iter().map(|size| (size.dimension.clone(), size.size));
    let explainer = Explainer {
        solver: Solver {
            entry,
            sizes: sizes.clone(),
            given: given.collect(),
            assumed: BTreeSet::new(),
        },
        argument,
    };
    let (mut causes, mut reader) = (Vec::new(), Reader::Other);
    for (op, parts) in entry.views() {
        causes.extend(parts.dims.iter().flat_map(|dim| explainer.bounded(dim)));
        for buffer in parts.buffers() {
            let is_it = matches!(origin(buffer.value), Origin::Argument(a) if a == argument);
            if is_it {
                reader = Reader::View;
                match explainer.axes(op, &parts, buffer) {
                    Ok(found) => causes.extend(found),
                    Err(error) => return error,
                }
            }
        }
    }
    explainer.error(causes, reader)
}

/// Kind of operation that reads an argument; of several, the last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// An operation that is no view.
    Other,
    /// A view.
    View,
}

/// A missing bound, and the arguments that give it.
struct Cause<'c> {
    bound: Bound<'c>,
    what: String,
    help: String,
}

struct Explainer<'e, 'c> {
    solver: Solver<'e, 'c>,
    argument: usize,
}

impl<'c> Explainer<'_, 'c> {
    /// Returns the dimensions that keep a view from telling how large its buffer has to be. A
    /// dimension that cannot be is an error of its own.
    fn axes(
        &self,
        op: Op,
        parts: &Parts<'c>,
        buffer: &BufferPart<'c>,
    ) -> Result<Vec<Cause<'c>>, Error> {
        let mut causes = Vec::new();
        for (axis, extent) in self.solver.sizes.shapes[self.argument].iter().enumerate() {
            if extent.is_some() {
                continue;
            }
            let bound = buffer.origin[axis];
            if self.solver.bound(bound).is_none() {
                let help = self.value(bound, None);
                let what = format!("the origin of its view in axis {axis}");
                causes.push(Cause { bound, what, help });
            }
            let maps = buffer.accesses.iter().map(|access| &access[axis]);
            let dims: BTreeSet<usize> = maps.flat_map(|m| m.dims()).collect();
            for dim in dims.into_iter().map(|d| &parts.dims[d]) {
                self.check_steps(op, dim)?;
                causes.extend(self.dimension(dim));
            }
        }
        Ok(causes)
    }

    /// The bounds of a dimension that are extents of the argument.
    fn bounded(&self, dim: &Dim<'c>) -> Vec<Cause<'c>> {
        let mut causes = self.dimension(dim);
        let is_own = |bound: Bound| match bound {
            Bound::Dynamic(value) => {
                matches!(origin(value), Origin::Extent { argument, .. } if argument == self.argument)
            }
            Bound::Static(_) => false,
        };
        causes.retain(|cause| is_own(cause.bound));
        causes
    }

    fn check_steps(&self, op: Op, dim: &Dim) -> Result<(), Error> {
        let [step, width] = [dim.step, dim.width].map(|bound| self.solver.bound(bound));
        let wrong = rules::steps(&dim.name, step, width);
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(error_at(
                op.location(),
                &format!("'mdh.compute' op {}", wrong.join("\n  ")),
            )),
        }
    }

    fn dimension(&self, dim: &Dim<'c>) -> Vec<Cause<'c>> {
        let upper = match self.solver.given.contains_key(&dim.name) {
            true => None,
            false => Some(("upper bound", dim.upper)),
        };
        let bounds = [
            ("lower bound", dim.lower),
            ("step", dim.step),
            ("width", dim.width),
        ];
        let open = bounds.into_iter().chain(upper);
        let open = open.filter(|(_, bound)| self.solver.bound(*bound).is_none());
        open.map(|(what, bound)| {
            let size = (what == "upper bound").then_some(dim.name.as_str());
            Cause {
                bound,
                what: format!("the {what} of dimension '{}'", dim.name),
                help: self.value(bound, size),
            }
        })
        .collect()
    }

    /// Describes the source of a bound's value; `size` is the dimension of which it is the size.
    fn value(&self, bound: Bound, size: Option<&str>) -> String {
        let argument = |number: usize| &self.solver.entry.arguments[number].name;
        let from = match bound {
            Bound::Static(_) => Origin::Other,
            Bound::Dynamic(value) => origin(value),
        };
        match (size, from) {
            (Some(dim), _) => format!("--size {dim}=N"),
            (None, Origin::Argument(number)) => format!("--in {}=N", argument(number)),
            (None, Origin::Extent { argument: of, .. }) => {
                format!("--in {}=FILE.npy", argument(of))
            }
            (None, _) => format!("--in {}=FILE.npy", argument(self.argument)),
        }
    }

    fn error(&self, causes: Vec<Cause<'c>>, reader: Reader) -> Error {
        let argument = &self.solver.entry.arguments[self.argument];
        let shape = &self.solver.sizes.shapes[self.argument];
        let shape: String = shape
            .iter()
            .map(|e| e.map_or("?x".into(), |e| format!("{e}x")))
            .collect();
        let file = || vec![format!("--in {}=FILE.npy", argument.name)];
        let (why, help) = match (causes.is_empty(), reader) {
            (false, _) => {
                let (what, help): (Vec<_>, Vec<_>) =
                    causes.into_iter().map(|c| (c.what, c.help)).unzip();
                (format!("it depends on {}", listed(what, " and ")), help)
            }
            (true, Reader::View) => ("it follows from no view and no size".to_string(), file()),
            (true, Reader::Other) => (
                "what reads it is no view, which would say it".to_string(),
                file(),
            ),
        };
        let message = format!(
            "the size of the argument '{}' of type {shape}{} is not known: {why}",
            argument.name,
            argument.ty.element.name()
        );
        let mut help = format!("give {}", listed(help, " "));
        if help.contains("--in") {
            help += ", and --random SEED for what is not given";
        }
        Error::input(message).help(help)
    }
}

/// Each once.
fn listed(mut texts: Vec<String>, separator: &str) -> String {
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    texts.join(separator)
}
