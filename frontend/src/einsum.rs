//! Einsums: NumPy's notation of tensor contractions, with any two operators, from text to computations.
//!
//! The text names the axes of each operand and of the result. An index that the result has not is summed over, by the
//! combine operator; the operands are multiplied, by the scalar one. Where both are a semiring, the order of
//! contraction is the one that costs least (`plan::order`), or a given one; else all is one computation.
//!
//! ```
//! use mdh_frontend::einsum::{Element, Operand, Request, translate};
//!
//! let operand = |shape: &[u64]| Operand::new(shape, Element::F32);
//! let operands = vec![operand(&[20, 300]), operand(&[300, 400]), operand(&[400])];
//! let einsum = translate(&Request::new("ij,jk,k->i", operands)).unwrap();
//! assert_eq!(einsum.shape, [20]);
//! assert_eq!(einsum.path, [[1, 2], [0, 1]]);
//! ```
//!
//! | modules       | what they hold                                                  |
//! |---------------|-----------------------------------------------------------------|
//! | `notation`    | the text                                                        |
//! | `indices`, `shapes` | indices with their sizes                                  |
//! | `element`     | types of elements                                               |
//! | `operator`, `region` | operators by name, and the user's                        |
//! | `path`, `contraction` | the order, and its steps                                |
//! | `scalar`, `emit` | these as MLIR                                                |

mod contraction;
mod element;
mod emit;
mod indices;
mod notation;
mod operator;
mod path;
mod region;
mod scalar;
mod shapes;
#[cfg(test)]
mod tests;

use contraction::Contractions;
use emit::Einsum;
use indices::{Indices, Label, shape_text};
use notation::Notation;
use operator::OperatorUse;
use scalar::Arithmetic;

use crate::Span;
use crate::diagnostic::{Diagnostic, render_all};

pub use element::Element;
pub use operator::{Name, Operator};
pub use path::{Path, parse_path, path_text};
pub use region::{Laws, Region};
pub use shapes::{operands, shapes};

/// The name of the result.
pub const RESULT: &str = "out";

/// The name of an operand, by its position: `op1` is the first one.
pub fn argument(position: usize) -> String {
    format!("op{}", position + 1)
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The extents of its axes, as NumPy has them: complex numbers are no axis.
    pub shape: Vec<u64>,
    /// The type of its elements.
    pub element: Element,
    /// The axes in the order in which they lie in memory, the slowest first; in their own where there are none. The
    /// function's argument has its axes in this order.
    pub order: Vec<usize>,
}

impl Operand {
    /// An array of that shape and type, in row-major order.
    pub fn new(shape: &[u64], element: Element) -> Operand {
        Operand {
            shape: shape.to_vec(),
            element,
            order: Vec::new(),
        }
    }

    /// The same with its axes in another order in memory: a permutation of their positions, else it is ignored.
    pub fn with_order(self, order: Vec<usize>) -> Operand {
        let mut axes = order.clone();
        axes.sort_unstable();
        match axes.into_iter().eq(0..self.shape.len()) {
            true => Operand { order, ..self },
            false => self,
        }
    }

    /// Values of its axes, in the order in which these lie in memory.
    fn in_memory<T: Clone>(&self, axes: &[T]) -> Vec<T> {
        match self.order.is_empty() {
            true => axes.to_vec(),
            false => self.order.iter().map(|axis| axes[*axis].clone()).collect(),
        }
    }
}

/// An einsum, and what it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The text: `ij,jk->ik`.
    pub spec: String,
    /// The operands.
    pub operands: Vec<Operand>,
    /// The operator that sums.
    pub combine: Operator,
    /// The operator that multiplies.
    pub scalar: Operator,
    /// The order; the cheapest if there is none.
    pub path: Option<Path>,
    /// The name of the function.
    pub entry: String,
}

impl Request {
    /// Sums of products, in the cheapest order.
    pub fn new(spec: &str, operands: Vec<Operand>) -> Request {
        Request {
            spec: spec.to_string(),
            operands,
            combine: Operator::Named(Name::Add),
            scalar: Operator::Named(Name::Mul),
            path: None,
            entry: "einsum".to_string(),
        }
    }

    /// A text of it, in which a mistake has its place.
    pub fn text(&self, subject: Subject) -> String {
        match subject {
            Subject::Spec => self.spec.clone(),
            Subject::Combine => self.combine.to_string(),
            Subject::Scalar => self.scalar.to_string(),
            Subject::Path => path_text(self.path.as_deref().unwrap_or_default()),
        }
    }

    /// The type of the result: that which NumPy promotes the operands to.
    pub fn element(&self) -> Element {
        let elements = self.operands.iter().map(|operand| operand.element);
        elements.reduce(Element::promoted).unwrap_or(Element::F64)
    }
}

/// A text of a [`Request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The text of the einsum.
    Spec,
    /// The operator that sums.
    Combine,
    /// The operator that multiplies.
    Scalar,
    /// The order.
    Path,
}

impl Subject {
    /// Its name where a file's would be: `<einsum>`.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Spec => "<einsum>",
            Subject::Combine => "<combine>",
            Subject::Scalar => "<scalar>",
            Subject::Path => "<path>",
        }
    }
}

/// Something that is wrong with a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The text in which it is.
    pub subject: Subject,
    /// The mistake, with its place in the text.
    pub diagnostic: Diagnostic,
}

impl Mistake {
    /// It with the text that it is about.
    pub fn render(&self, request: &Request) -> String {
        let wrong = std::slice::from_ref(&self.diagnostic);
        render_all(wrong, self.subject.name(), &request.text(self.subject))
    }
}

/// An einsum as computations.
#[derive(Clone, Debug, PartialEq)]
pub struct Translated {
    /// An MLIR module with a function that takes the operands in order, as tensors, and returns the result.
    /// Complex arrays are tensors of floats with a last axis of 2.
    pub text: String,
    /// The shape of the result, as NumPy has it.
    pub shape: Vec<u64>,
    /// The type of its elements.
    pub element: Element,
    /// The order that was chosen, or the given one.
    pub path: Path,
    /// The number of scalar operations, as opt_einsum counts them.
    pub flops: f64,
    /// The number of elements of the largest tensor that is stored, the result too.
    pub largest: f64,
}

/// Translates an einsum; all that is wrong with it.
pub fn translate(request: &Request) -> Result<Translated, Vec<Mistake>> {
    let notation = notation::parse(&request.spec).map_err(in_spec)?;
    let shapes: Vec<&[u64]> = request.operands.iter().map(|o| &o.shape[..]).collect();
    let indices = Indices::new(&notation, &shapes, &request.spec).map_err(in_spec)?;
    let element = request.element();
    check_operators(request, element)?;
    check_operands(request, &notation)?;
    let contractions = order(request, &indices, element).map_err(|wrong| vec![wrong])?;
    check_steps(request, &indices, &contractions, element)?;
    let einsum = Einsum {
        entry: &request.entry,
        operands: &request.operands,
        indices: &indices,
        steps: &contractions.steps,
        arithmetic: Arithmetic {
            combine: &request.combine,
            scalar: &request.scalar,
            result: element,
        },
    };
    Ok(Translated {
        text: einsum.module(),
        shape: indices.shape(&indices.result),
        element,
        flops: contractions.flops(&indices),
        largest: contractions.largest(&indices),
        path: contractions.path,
    })
}

/// The indices of an einsum: for programs that are made of them elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accesses {
    /// The letter of each index; a number for an axis of the ellipsis, 0 for the last one.
    pub names: Vec<String>,
    /// The size of each.
    pub sizes: Vec<u64>,
    /// The index of each axis of each operand; none where one element stands for all.
    pub operands: Vec<Vec<Option<usize>>>,
    /// The indices of the result's axes.
    pub result: Vec<usize>,
}

/// Finds the indices of an einsum of operands with these shapes; all that is wrong.
pub fn accesses(spec: &str, shapes: &[&[u64]]) -> Result<Accesses, Vec<Mistake>> {
    let notation = notation::parse(spec).map_err(in_spec)?;
    let indices = Indices::new(&notation, shapes, spec).map_err(in_spec)?;
    let name = |label: &Label| match label {
        Label::Letter(letter) => letter.to_string(),
        Label::Ellipsis(distance) => distance.to_string(),
    };
    Ok(Accesses {
        names: indices.labels.iter().map(name).collect(),
        sizes: indices.sizes,
        operands: indices
            .operands
            .into_iter()
            .map(|access| access.0)
            .collect(),
        result: indices.result,
    })
}

/// Mistakes in the text of the einsum.
fn in_spec(wrong: Vec<Diagnostic>) -> Vec<Mistake> {
    let subject = Subject::Spec;
    let mistakes = wrong.into_iter();
    mistakes
        .map(|diagnostic| Mistake {
            subject,
            diagnostic,
        })
        .collect()
}

/// Fails for operators that there are not for these operands.
fn check_operators(request: &Request, element: Element) -> Result<(), Vec<Mistake>> {
    let combine = request.combine.check(OperatorUse::Combine, element);
    let mut scalar = request.scalar.check(OperatorUse::Scalar, element);
    if let Operator::Region(region) = &request.scalar {
        scalar = scalar.and_then(|()| region.check_scalar(request.operands.len()));
    }
    let checks = [(Subject::Combine, combine), (Subject::Scalar, scalar)];
    let wrong = checks.into_iter().filter_map(|(subject, checked)| {
        let diagnostic = checked.err()?;
        Some(Mistake {
            subject,
            diagnostic,
        })
    });
    let wrong: Vec<Mistake> = wrong.collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong),
    }
}

/// Fails for operands that no memory holds.
fn check_operands(request: &Request, notation: &Notation) -> Result<(), Vec<Mistake>> {
    let operands = request.operands.iter().zip(&notation.inputs).enumerate();
    let large = operands.filter(|(_, (operand, _))| !fits(&operand.shape, operand.element));
    let wrong = large.map(|(number, (operand, term))| {
        let what = format!("operand {}", number + 1);
        too_large(&what, &operand.shape, term.span.clone())
    });
    let wrong: Vec<Diagnostic> = wrong.collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(in_spec(wrong)),
    }
}

/// Fails for results that no memory holds, and for steps with more points than can be counted.
fn check_steps(
    request: &Request,
    indices: &Indices,
    contractions: &Contractions,
    element: Element,
) -> Result<(), Vec<Mistake>> {
    let whole = 0..request.spec.len();
    for (step, number) in contractions.steps.iter().zip(1..) {
        let what = match number == contractions.steps.len() {
            true => "the result".to_string(),
            false => format!(
                "the intermediate result '{}' of step {number}",
                indices.letters(&step.kept)
            ),
        };
        let shape = indices.shape(&step.kept);
        if !fits(&shape, element) {
            return Err(in_spec(vec![too_large(&what, &shape, whole)]));
        }
        let loops = [&step.kept[..], &step.sums].concat();
        let points = indices.shape(&loops);
        if !fits(&points, Element::I8) {
            let what = format!("step {number}, over '{}',", indices.letters(&loops));
            return Err(in_spec(vec![too_large(&what, &points, whole)]));
        }
    }
    Ok(())
}

/// Returns whether an array has fewer than 2^63 bytes.
fn fits(shape: &[u64], element: Element) -> bool {
    let extents = shape.iter().copied().chain([element.bytes()]);
    let bytes = extents.clone().try_fold(1u64, u64::checked_mul);
    let is_empty = shape.contains(&0) && shape.iter().all(|extent| i64::try_from(*extent).is_ok());
    is_empty || bytes.is_some_and(|bytes| i64::try_from(bytes).is_ok())
}

fn too_large(what: &str, shape: &[u64], span: Span) -> Diagnostic {
    let message = format!(
        "{what} is too large: found {}, expected fewer than 2^63 bytes or points",
        shape_text(shape)
    );
    Diagnostic::new(message, span, "")
}

/// The order of contraction. Without a semiring, and where there is nothing to multiply, all is one step.
fn order(request: &Request, indices: &Indices, element: Element) -> Result<Contractions, Mistake> {
    let (combine, scalar) = (&request.combine, &request.scalar);
    let path = request.path.as_deref();
    if let Some(path) = path {
        path::check_path(path, request.operands.len()).map_err(|diagnostic| Mistake {
            subject: Subject::Path,
            diagnostic,
        })?;
    }
    let is_empty = indices.sizes.contains(&0);
    let is_semiring = operator::is_semiring(combine, scalar, element);
    if is_semiring && !is_empty {
        return Ok(match path {
            Some(path) if !path.is_empty() => Contractions::of_path(indices, path),
            _ => Contractions::cheapest(indices),
        });
    }
    if !is_semiring && path.is_some_and(|path| path.len() > 1) {
        let message = format!(
            "found a path of several steps, expected none: '{scalar}' is not known to distribute over '{combine}'"
        );
        let text = request.text(Subject::Path);
        return Err(Mistake {
            subject: Subject::Path,
            diagnostic: Diagnostic::new(message, 0..text.len(), "").help(
                "a region says that by 'distributes'; both operators are commutative and associative then",
            ),
        });
    }
    let whole = Contractions::at_once(indices);
    let sums = whole.steps.first().map_or(0, |step| step.sums.len());
    match combine.is_commutative() || sums <= 1 {
        true => Ok(whole),
        false => Err(Mistake {
            subject: Subject::Combine,
            diagnostic: Diagnostic::new(
                format!("found {sums} indices to sum over, expected at most 1 of an operator that is not commutative"),
                0..request.text(Subject::Combine).len(),
                "",
            )
            .help("write 'commutative' in front of the arguments if a * b = b * a"),
        }),
    }
}
