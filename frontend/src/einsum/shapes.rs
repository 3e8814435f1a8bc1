//! Shapes of operands that are not there: of indices whose sizes are given, or known of other operands.

use std::collections::BTreeMap;

use super::notation::{self, Mark, Notation, Term};
use crate::Span;
use crate::diagnostic::Diagnostic;

/// The number of operands of a text; all that is wrong with it.
pub fn operands(spec: &str) -> Result<usize, Vec<Diagnostic>> {
    notation::parse(spec).map(|notation| notation.inputs.len())
}

/// The shape of each operand. Those of operands that have none follow from sizes of their indices, given by their letters
/// or found in other operands; an ellipsis stands for no axes then.
pub fn shapes(
    spec: &str,
    known: &[Option<Vec<u64>>],
    sizes: &[(String, u64)],
) -> Result<Vec<Vec<u64>>, Vec<Diagnostic>> {
    let notation = notation::parse(spec)?;
    let mut wrong = Vec::new();
    let mut by_letter = given(&notation, sizes, spec, &mut wrong);
    for (number, (term, shape)) in notation.inputs.iter().zip(known).enumerate() {
        for (letter, span, extent) in extents(term, shape.as_deref().unwrap_or_default()) {
            let is_given = sizes.iter().any(|(name, _)| name.chars().eq([letter]));
            let size = by_letter.entry(letter).or_insert(extent);
            if is_given && *size != extent && extent != 1 {
                let message = format!(
                    "index '{}' has size {extent} in operand {}, expected {size}, which is given",
                    letter.escape_debug(),
                    number + 1
                );
                wrong.push(Diagnostic::new(message, span, ""));
            } else if *size == 1 {
                *size = extent;
            }
        }
    }
    let mut shapes = Vec::new();
    for (number, term) in notation.inputs.iter().enumerate() {
        if let Some(Some(shape)) = known.get(number) {
            shapes.push(shape.clone());
            continue;
        }
        let mut shape = Vec::new();
        for (letter, span) in term.letters() {
            match by_letter.get(&letter) {
                Some(size) => shape.push(*size),
                None => {
                    let shown = letter.escape_debug();
                    let message = format!("index '{shown}' of operand {} has no size", number + 1);
                    let help = format!("give the operand, or the size of '{shown}'");
                    wrong.push(Diagnostic::new(message, span.clone(), "").help(help));
                }
            }
        }
        shapes.push(shape);
    }
    match wrong.is_empty() {
        true => Ok(shapes),
        false => Err(wrong),
    }
}

/// The given sizes by letter; those of no index are wrong.
fn given(
    notation: &Notation,
    sizes: &[(String, u64)],
    spec: &str,
    wrong: &mut Vec<Diagnostic>,
) -> BTreeMap<char, u64> {
    let letters = notation.inputs.iter().flat_map(Term::letters);
    let letters: Vec<char> = letters.map(|(letter, _)| letter).collect();
    let mut given = BTreeMap::new();
    for (name, size) in sizes {
        let letter = letters.iter().find(|letter| name.chars().eq([**letter]));
        match letter {
            Some(letter) => {
                given.insert(*letter, *size);
            }
            None => {
                let message = format!(
                    "found a size of '{}', expected one of an index of an operand",
                    name.escape_debug()
                );
                wrong.push(Diagnostic::new(message, 0..spec.len(), ""));
            }
        }
    }
    given
}

/// The extents that an operand gives letters: from the front, and behind an ellipsis from the end.
fn extents(term: &Term, shape: &[u64]) -> Vec<(char, Span, u64)> {
    let behind = term.marks.len();
    let ellipsis = term
        .marks
        .iter()
        .position(|(mark, _)| *mark == Mark::Ellipsis);
    let axis = |n: usize| match ellipsis {
        Some(at) if n > at => shape.len().checked_sub(behind - n),
        _ => Some(n),
    };
    let marks = term.marks.iter().enumerate();
    let extents_of_letters = marks.filter_map(|(n, (mark, span))| match mark {
        Mark::Letter(letter) => Some((*letter, span.clone(), *shape.get(axis(n)?)?)),
        Mark::Ellipsis => None,
    });
    extents_of_letters.collect()
}
