//! Failures of cases, and their equality.

use std::fmt;

use crate::child::{Answer, End};
use crate::stack;

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The part that is equal for the same failure of a smaller case.
    pub signature: String,
    /// Its text.
    pub text: String,
}

/// So many frames of a stack tell crashes apart.
const FRAMES: usize = 3;
const ENDLESS: &str = "does not end: ";

impl Failure {
    /// The failure behind an answer, unless it is `right`.
    pub fn from_answer(answer: &Answer) -> Option<Failure> {
        let kind = match &answer.end {
            End::Answered(line) if line == "right" => return None,
            End::Answered(line) => format!("{line}: {}", message(&answer.errors)),
            // Where it is differs from time to time: the innermost function is all that is told.
            End::Hung => {
                let frames = stack::frames(&answer.errors);
                format!("{ENDLESS}{}", frames.first().unwrap_or(&""))
            }
            End::Died(status) => {
                let frames = stack::frames(&answer.errors);
                let told = match frames.is_empty() {
                    true => message(&answer.errors),
                    false => frames[..frames.len().min(FRAMES)].join(" < "),
                };
                format!("{status}: {told}")
            }
        };
        Some(Failure {
            signature: kind,
            text: answer.errors.clone(),
        })
    }
}

impl Failure {
    /// Returns whether it took too long.
    pub fn is_endless(&self) -> bool {
        self.signature.starts_with(ENDLESS)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.signature, self.text.trim_end())
    }
}

/// The first error that was shown, without what differs between sizes and names.
pub fn gist(errors: &str) -> String {
    said(errors, |_| false)
}

/// The same with the names of operations.
fn message(errors: &str) -> String {
    // What is quoted is a name, and only an operation's (`math.isinf`) tells failures apart.
    said(errors, |part| part.contains('.') && !part.contains('/'))
}

fn said(errors: &str, is_kept: impl Fn(&str) -> bool) -> String {
    let is_error = |line: &&str| line.contains("error: ");
    let first = errors.lines().find(is_error).or(errors.lines().last());
    let first = first.unwrap_or_default();
    let first = first
        .split_once("error: ")
        .map_or(first, |(_, message)| message);
    // The rest is about which element, and how far off.
    let first = first
        .split_once(" definition says: ")
        .map_or(first, |(start, _)| start);
    let parts = first.split('\'').enumerate();
    let shown = parts.filter(|(n, part)| n % 2 == 0 || is_kept(part));
    // Numbers, and shapes of them, are `#`.
    let mut text = String::new();
    for c in shown.flat_map(|(_, part)| part.chars()) {
        match c {
            '0'..='9' | '?' if text.ends_with('#') => {}
            '0'..='9' | '?' => text.push('#'),
            'x' if text.ends_with('#') => {}
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(line: &str, errors: &str) -> Option<String> {
        let answer = Answer {
            end: End::Answered(line.to_string()),
            errors: errors.to_string(),
        };
        Failure::from_answer(&answer).map(|failure| failure.signature)
    }

    #[test]
    fn numbers_and_names_do_not_count() {
        assert_eq!(answered("right", ""), None);
        let first = "f.mlir:3:17: error: reads 'x0' at 10..26 in axis 1 ('i')\n";
        let other = "f.mlir:4:9: error: reads 'y0' at 2..3 in axis 0 ('2 * k')\n";
        assert_eq!(answered("refused", first), answered("refused", other));
        assert_ne!(answered("wrong", first), answered("refused", first));
        let wrong = "error: the result is not what the definition says: 'r0' at [3]\n";
        let expected = Some("wrong: the result is not what the".to_string());
        assert_eq!(answered("wrong", wrong), expected);
    }
}
