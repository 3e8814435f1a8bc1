//! Operators of the user's: laws, arguments and code, as `mdh.combine` has them.
//!
//! ```text
//! region ::= (`commutative` | `associative` | `distributes` | `neutral` `(` scalar `)`)* `(` arguments `)` `{` code `}`
//! ```
//!
//! The code is MLIR's and ends with `mdh.yield`; MLIR reads it. `distributes` is of both operators of an einsum: the
//! one that multiplies distributes over the one that sums.

use crate::Span;
use crate::diagnostic::Diagnostic;

/// An operator as MLIR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The whole text.
    pub text: String,
    /// The laws that it states.
    pub laws: Laws,
    arguments: Span,
    body: Span,
}

/// Stated laws of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Laws {
    /// `a * b = b * a`
    pub commutative: bool,
    /// `(a * b) * c = a * (b * c)`
    pub associative: bool,
    /// The scalar operator distributes over the combine operator.
    pub distributes: bool,
    /// A neutral element, as MLIR's attribute: `0.0 : f32`.
    pub neutral: Option<String>,
}

/// Advice for what is no region.
pub(super) const EXPECTED: &str = "a region is such as 'commutative associative (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 mdh.yield %c : f32 }'";

impl Region {
    /// Its arguments and its code: `(%a: f32) { .. }`.
    pub(super) fn code(&self) -> String {
        format!(
            "({}) {{{}}}",
            &self.text[self.arguments.clone()],
            self.body()
        )
    }

    fn body(&self) -> &str {
        &self.text[self.body.clone()]
    }

    /// The number of its arguments.
    pub(super) fn arity(&self) -> usize {
        self.text[self.arguments.clone()].matches('%').count()
    }

    /// The laws as an operation states them: `commutative associative neutral(0.0 : f32)`.
    pub(super) fn laws_text(&self) -> String {
        let mut text = String::new();
        if self.laws.commutative {
            text += "commutative ";
        }
        text += "associative ";
        if let Some(neutral) = &self.laws.neutral {
            text += &format!("neutral({neutral}) ");
        }
        text
    }

    /// It as a function of that name and of that type of result.
    pub(super) fn function(&self, name: &str, ty: &str) -> String {
        let body = self.body().replace("mdh.yield", "func.return");
        let arguments = &self.text[self.arguments.clone()];
        format!("func.func private @{name}({arguments}) -> {ty} {{{body}}}\n")
    }

    /// Fails unless it may combine.
    pub(super) fn check_combine(&self) -> Result<(), Diagnostic> {
        let arguments = || self.arguments.clone();
        if self.arity() != 2 {
            let message = format!(
                "found {} arguments, expected 2 of an operator that combines",
                self.arity()
            );
            return Err(Diagnostic::new(message, arguments(), ""));
        }
        match self.laws.associative {
            true => Ok(()),
            false => Err(Diagnostic::new(
                "found no 'associative', expected that of an operator that combines",
                0..self.arguments.start,
                "",
            )
            .help("write 'associative' in front of the arguments if (a * b) * c = a * (b * c)")),
        }
    }

    /// Fails unless it takes so many operands, at once or two at a time.
    pub(super) fn check_scalar(&self, operands: usize) -> Result<(), Diagnostic> {
        let arity = self.arity();
        match arity == operands || arity == 2 {
            true => Ok(()),
            false => {
                let message = format!(
                    "found {arity} arguments for {operands} operands, expected 2 or {operands}"
                );
                Err(Diagnostic::new(message, self.arguments.clone(), "")
                    .help("one of 2 arguments is applied to the operands from left to right"))
            }
        }
    }
}

/// Reads a region.
pub(super) fn parse(text: &str) -> Result<Region, Diagnostic> {
    let mut laws = Laws::default();
    let mut at = 0;
    loop {
        at = text.len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic());
        let word = &rest[..end.unwrap_or(rest.len())];
        match word {
            "" => break,
            "commutative" => laws.commutative = true,
            "associative" => laws.associative = true,
            "distributes" => laws.distributes = true,
            "neutral" => {
                let inside = bracket(text, at + word.len(), '(', ')')?;
                laws.neutral = Some(text[inside.clone()].to_string());
                at = inside.end + 1;
                continue;
            }
            _ => {
                let message = format!(
                    "found '{word}', expected 'commutative', 'associative', 'distributes', 'neutral(..)' or arguments"
                );
                return Err(Diagnostic::new(message, at..at + word.len(), "").help(EXPECTED));
            }
        }
        at += word.len();
    }
    let arguments = bracket(text, at, '(', ')')?;
    let body = bracket(text, arguments.end + 1, '{', '}')?;
    let behind = body.end + 1;
    if !text[behind..].trim().is_empty() {
        let message = "found text behind the region, expected its end";
        return Err(Diagnostic::new(message, behind..text.len(), "").help(EXPECTED));
    }
    if text[arguments.clone()].matches('%').count() == 0 {
        let message = "found no arguments, expected some, such as (%a: f32, %b: f32)";
        return Err(Diagnostic::new(message, arguments, "").help(EXPECTED));
    }
    Ok(Region {
        text: text.to_string(),
        laws,
        arguments,
        body,
    })
}

/// The text within the brackets that open behind blanks.
fn bracket(text: &str, at: usize, open: char, close: char) -> Result<Span, Diagnostic> {
    let start = text.len() - text[at..].trim_start().len();
    if !text[start..].starts_with(open) {
        let end = text[start..]
            .chars()
            .next()
            .map_or(start, |c| start + c.len_utf8());
        let message = match end == start {
            true => format!("found the end of the text, expected '{open}'"),
            false => format!(
                "found '{}', expected '{open}'",
                text[start..end].escape_debug()
            ),
        };
        return Err(Diagnostic::new(message, start..end, "").help(EXPECTED));
    }
    let mut depth = 0usize;
    for (n, c) in text[start..].char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
        }
        if depth == 0 {
            return Ok(start + 1..start + n);
        }
    }
    let message = format!("found '{open}' that nothing closes, expected '{close}'");
    Err(Diagnostic::new(message, start..start + 1, "").help(EXPECTED))
}
