//! Orders of contraction as NumPy and opt_einsum have them: each step takes the tensors at some positions out of the list
//! of operands, and appends its result.

use std::collections::BTreeSet;

use super::indices::counted;
use crate::Span;
use crate::diagnostic::Diagnostic;

/// Positions in the list of operands that each step takes out; its result is appended.
pub type Path = Vec<Vec<usize>>;

/// A path as text: `(0, 1) (0, 1)`.
pub fn path_text(path: &[Vec<usize>]) -> String {
    let steps = path.iter().map(|positions| {
        let positions: Vec<String> = positions.iter().map(usize::to_string).collect();
        match positions.len() {
            1 => format!("({},)", positions[0]),
            _ => format!("({})", positions.join(", ")),
        }
    });
    steps.collect::<Vec<_>>().join(" ")
}

/// Fails unless each step of a path takes operands that are there, and one tensor is left.
pub(super) fn check_path(path: &[Vec<usize>], operands: usize) -> Result<(), Diagnostic> {
    let help = "each step takes the tensors at some positions out of the list of operands, and appends its result";
    let mut left = operands;
    for (number, positions) in path.iter().enumerate() {
        let start = path_text(&path[..number]).len() + usize::from(number > 0);
        let span = start..start + path_text(&path[number..=number]).len();
        let distinct: BTreeSet<&usize> = positions.iter().collect();
        let message = match positions.iter().max() {
            None => format!("step {} takes nothing, expected positions", number + 1),
            Some(last) if *last >= left => format!(
                "found position {last} in step {}, expected one below {left}: {} left",
                number + 1,
                is_or_are(left),
            ),
            Some(_) if distinct.len() < positions.len() => {
                format!(
                    "found a position twice in step {}, expected each once",
                    number + 1
                )
            }
            Some(_) => {
                left = left - positions.len() + 1;
                continue;
            }
        };
        return Err(Diagnostic::new(message, span, "").help(help));
    }
    match left == 1 {
        true => Ok(()),
        false => {
            let message = format!(
                "{} left at the end of the path, expected one",
                is_or_are(left)
            );
            let end = path_text(path).len();
            Err(Diagnostic::new(message, end..end, "").help(help))
        }
    }
}

fn is_or_are(tensors: usize) -> String {
    match tensors {
        1 => "1 tensor is".to_string(),
        _ => format!("{} are", counted(tensors, "tensor")),
    }
}

/// Advice for what is no path.
const PATH: &str = "write the positions that each step takes, such as '(0, 1) (0, 1)' or '0,1 0,1'";

/// Reads a path: `(0, 1) (0, 1)`, also as Python prints it (`['einsum_path', (0, 1), (0, 1)]`), or `0,1 0,1`.
pub fn parse_path(text: &str) -> Result<Path, Diagnostic> {
    if !text.contains(['(', '[']) {
        let words = text.split_whitespace();
        return words
            .map(|word| positions(text, span_of(text, word)))
            .collect();
    }
    let mut path = Path::new();
    // The last bracket that was opened, and the end of what was read.
    let (mut open, mut end) = (None, 0);
    for (at, c) in text.char_indices() {
        match (c, open) {
            ('(' | '[', _) => {
                check_between(text, end..at)?;
                (open, end) = (Some(at + 1), at + 1);
            }
            (')' | ']', Some(start)) => {
                path.push(positions(text, start..at)?);
                (open, end) = (None, at + 1);
            }
            _ => {}
        }
    }
    match open {
        Some(start) => {
            let message = "found a bracket that nothing closes, expected ')'";
            Err(Diagnostic::new(message, start - 1..start, "").help(PATH))
        }
        None => check_between(text, end..text.len()).map(|()| path),
    }
}

/// The place of a part of a text.
fn span_of(text: &str, part: &str) -> Span {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// Fails for what is between steps and nothing of a path.
fn check_between(text: &str, span: Span) -> Result<(), Diagnostic> {
    let between = &text[span];
    let is_mark = |c: char| c.is_whitespace() || matches!(c, ',' | '\'' | '"' | ']' | ')');
    let word = between.trim_matches(is_mark);
    match word {
        "" | "einsum_path" => Ok(()),
        _ => {
            let message = format!(
                "found '{}', expected a step in brackets",
                word.escape_debug()
            );
            Err(Diagnostic::new(message, span_of(text, word), "").help(PATH))
        }
    }
}

/// The positions in a part of a text: numbers with `,` between and perhaps behind them.
fn positions(text: &str, span: Span) -> Result<Vec<usize>, Diagnostic> {
    let part = text[span].trim();
    let numbers = part.strip_suffix(',').unwrap_or(part);
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let number = |word: &str| {
        let word = word.trim();
        word.parse().map_err(|_| {
            let message = format!("found '{}', expected a position", word.escape_debug());
            Diagnostic::new(message, span_of(text, word), "").help(PATH)
        })
    };
    numbers.split(',').map(number).collect()
}
