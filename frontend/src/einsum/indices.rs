//! Indices of an einsum with the sizes that its operands give them: what is a loop, and which loops are the axes of
//! each operand and of the result.

use std::collections::BTreeMap;

use super::notation::{Mark, Notation, Term};
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::plan::{Loop, Loops};

/// An index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Label {
    /// An axis of the ellipsis, by its distance from the last one.
    Ellipsis(usize),
    /// A letter.
    Letter(char),
}

/// An operand's axes: the loop of each; none for an extent of 1 where the index has a larger size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access(pub(super) Vec<Option<Loop>>);

impl Access {
    /// Returns the loops that it depends on.
    pub(super) fn loops(&self) -> Loops {
        self.0.iter().flatten().copied().collect()
    }
}

/// All indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Indices {
    /// The index of each loop.
    pub(super) labels: Vec<Label>,
    /// The size of each loop.
    pub(super) sizes: Vec<u64>,
    /// The accesses of the operands.
    pub(super) operands: Vec<Access>,
    /// The loops of the result's axes.
    pub(super) result: Vec<Loop>,
}

impl Indices {
    /// Finds the sizes of indices; all that is wrong.
    pub(super) fn new(
        notation: &Notation,
        shapes: &[&[u64]],
        text: &str,
    ) -> Result<Indices, Vec<Diagnostic>> {
        check_count(notation, shapes.len(), text).map_err(|wrong| vec![wrong])?;
        let mut sizes = Sizes::default();
        let mut axes: Vec<Vec<Label>> = Vec::new();
        for (number, (term, shape)) in notation.inputs.iter().zip(shapes).enumerate() {
            axes.push(sizes.operand(number, term, shape));
        }
        let result = match &notation.output {
            Some(output) if sizes.wrong.is_empty() => sizes.written(output),
            _ => implicit(&axes),
        };
        if !sizes.wrong.is_empty() {
            return Err(sizes.wrong);
        }
        let labels: Vec<Label> = sizes.order;
        let extents: Vec<u64> = labels.iter().map(|l| sizes.known[l].size).collect();
        let number = |label: &Label| labels.iter().position(|l| l == label);
        let access = |(axes, shape): (&Vec<Label>, &&[u64])| {
            let axes = axes.iter().zip(*shape);
            let at = axes.map(|(label, extent)| number(label).filter(|l| extents[*l] == *extent));
            Access(at.collect())
        };
        Ok(Indices {
            operands: axes.iter().zip(shapes).map(access).collect(),
            result: result.iter().filter_map(number).collect(),
            sizes: extents,
            labels,
        })
    }

    /// The sizes of some loops.
    pub(super) fn shape(&self, loops: &[Loop]) -> Vec<u64> {
        loops.iter().map(|l| self.sizes[*l]).collect()
    }

    /// The letters of some loops, for messages.
    pub(super) fn letters(&self, loops: &[Loop]) -> String {
        let mut text = String::new();
        for l in loops {
            match self.labels[*l] {
                Label::Letter(letter) => text.push(letter),
                Label::Ellipsis(_) if text.ends_with("...") => {}
                Label::Ellipsis(_) => text += "...",
            }
        }
        text
    }
}

/// Fails unless there is one term for each operand.
fn check_count(notation: &Notation, operands: usize, text: &str) -> Result<(), Diagnostic> {
    let terms = &notation.inputs;
    if terms.len() == operands {
        return Ok(());
    }
    let span = match terms.get(operands) {
        Some(term) => term.span.clone(),
        None => terms.last().map_or(0..text.len(), |term| term.span.clone()),
    };
    let message = format!(
        "found {} and {}, expected one term for each",
        counted(terms.len(), "term"),
        counted(operands, "operand")
    );
    Err(Diagnostic::new(message, span, "")
        .help("terms are separated by ','; that of a scalar is empty"))
}

/// `1 axis`, `2 axes`.
pub(super) fn counted(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "axis") => format!("{count} axes"),
        (_, "index") => format!("{count} indices"),
        _ => format!("{count} {what}s"),
    }
}

/// A shape, as NumPy writes it: `(2, 3)`.
pub(super) fn shape_text(shape: &[u64]) -> String {
    match shape {
        [extent] => format!("({extent},)"),
        _ => {
            let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
            format!("({})", extents.join(", "))
        }
    }
}

/// The axes of a result that is not written: those of the ellipsis, then the letters that stand once, in order.
fn implicit(axes: &[Vec<Label>]) -> Vec<Label> {
    let mut counts: BTreeMap<Label, usize> = BTreeMap::new();
    for label in axes.iter().flatten() {
        *counts.entry(*label).or_default() += 1;
    }
    let ellipsis = counts
        .keys()
        .rev()
        .filter(|l| matches!(l, Label::Ellipsis(_)));
    let letters = counts
        .iter()
        .filter(|(l, n)| matches!(l, Label::Letter(_)) && **n == 1);
    ellipsis.chain(letters.map(|(l, _)| l)).copied().collect()
}

/// The size of an index, and its first place.
#[derive(Clone, Debug)]
struct KnownSize {
    size: u64,
    operand: usize,
    span: Span,
}

/// The sizes of indices so far.
#[derive(Default)]
struct Sizes {
    known: BTreeMap<Label, KnownSize>,
    /// Indices in the order in which they come.
    order: Vec<Label>,
    wrong: Vec<Diagnostic>,
}

impl Sizes {
    /// The index of each axis of an operand; none if their numbers differ.
    fn operand(&mut self, number: usize, term: &Term, shape: &[u64]) -> Vec<Label> {
        let letters = term.letters().count();
        let rest = shape.len().checked_sub(letters);
        let Some(rest) = rest.filter(|rest| *rest == 0 || term.ellipsis().is_some()) else {
            self.wrong.push(wrong_rank(number, term, shape));
            return Vec::new();
        };
        let mut axes: Vec<Label> = Vec::new();
        let mut of_operand: BTreeMap<Label, KnownSize> = BTreeMap::new();
        for (mark, span) in &term.marks {
            let labels = match mark {
                Mark::Letter(letter) => vec![Label::Letter(*letter)],
                Mark::Ellipsis => (0..rest).rev().map(Label::Ellipsis).collect(),
            };
            for label in labels {
                let extent = KnownSize {
                    size: shape[axes.len()],
                    operand: number,
                    span: span.clone(),
                };
                match of_operand.get(&label) {
                    None => {
                        self.add(label, extent.clone());
                        of_operand.insert(label, extent);
                    }
                    Some(first) if first.size != extent.size => {
                        self.wrong.push(clash(label, first, &extent));
                    }
                    Some(_) => {}
                }
                axes.push(label);
            }
        }
        axes
    }

    /// Takes the size that an operand gives an index.
    fn add(&mut self, label: Label, found: KnownSize) {
        match self.known.get_mut(&label) {
            None => {
                self.order.push(label);
                self.known.insert(label, found);
            }
            Some(known) if known.size == found.size || found.size == 1 => {}
            Some(known) if known.size == 1 => *known = found,
            Some(known) => self.wrong.push(clash(label, known, &found)),
        }
    }

    /// The axes of a result that is written.
    fn written(&mut self, output: &Term) -> Vec<Label> {
        let mut axes: Vec<Label> = Vec::new();
        for (mark, span) in &output.marks {
            match mark {
                Mark::Letter(letter) => {
                    let label = Label::Letter(*letter);
                    let shown = letter.escape_debug();
                    if axes.contains(&label) {
                        let message = format!(
                            "found '{shown}' twice in the result, expected each index once"
                        );
                        self.wrong.push(
                            Diagnostic::new(message, span.clone(), "")
                                .help("a diagonal is read, as in 'ii->i', and not written"),
                        );
                    } else if !self.known.contains_key(&label) {
                        let message = format!(
                            "found '{shown}' in the result, expected an index of an operand"
                        );
                        self.wrong.push(Diagnostic::new(message, span.clone(), ""));
                    }
                    axes.push(label);
                }
                Mark::Ellipsis => axes.extend(self.ellipsis()),
            }
        }
        let missing = self.ellipsis().find(|_| output.ellipsis().is_none());
        if let Some(known) = missing.and_then(|label| self.known.get(&label)) {
            let message =
                "found axes of '...' that the result has not, expected '...' in the result, too";
            let wrong = Diagnostic::new(message, output.span.clone(), "the result");
            self.wrong.push(
                wrong.also(known.span.clone(), "these axes").help(
                    "write '...' behind '->', or a letter for each axis that is to be summed",
                ),
            );
        }
        axes
    }

    /// The axes of the ellipsis, the first one first.
    fn ellipsis(&self) -> impl Iterator<Item = Label> {
        let is_ellipsis = |label: &&Label| matches!(label, Label::Ellipsis(_));
        self.known.keys().filter(is_ellipsis).rev().copied()
    }
}

/// The error of a term that has another number of indices than its operand has axes.
fn wrong_rank(number: usize, term: &Term, shape: &[u64]) -> Diagnostic {
    let letters = term.letters().count();
    let message = format!(
        "operand {} has {} {}, found {}: expected one for each",
        number + 1,
        counted(shape.len(), "axis"),
        shape_text(shape),
        counted(letters, "index"),
    );
    let wrong = Diagnostic::new(message, term.span.clone(), "");
    match letters < shape.len() {
        true => wrong.help("'...' stands for all axes that have no letter"),
        false => wrong,
    }
}

/// The error of two sizes.
fn clash(label: Label, known: &KnownSize, found: &KnownSize) -> Diagnostic {
    let what = match label {
        Label::Letter(letter) => format!("index '{}'", letter.escape_debug()),
        Label::Ellipsis(0) => "the last axis of '...'".to_string(),
        Label::Ellipsis(n) => format!("axis {} from the end of '...'", n + 1),
    };
    let is_diagonal = known.operand == found.operand;
    let or = match is_diagonal {
        true => "",
        false => ", or 1",
    };
    let message = format!(
        "{what} has size {} in operand {} and {} in operand {}: expected the same{or}",
        known.size,
        known.operand + 1,
        found.size,
        found.operand + 1,
    );
    let wrong = Diagnostic::new(message, found.span.clone(), format!("{} here", found.size));
    wrong.also(known.span.clone(), format!("{} here", known.size))
}
