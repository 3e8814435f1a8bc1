//! The text of an einsum: terms of letters and ellipses, as NumPy has them.
//!
//! ```text
//! spec  ::= term (`,` term)* (`->` term)?
//! term  ::= (letter | `...`)*
//! ```
//!
//! A letter is one of ASCII, or any other character beyond ASCII that is no white space: tools that write einsums of
//! many indices take such. Blanks count nowhere, but within `...` and `->`, where none may stand.

use crate::Span;
use crate::diagnostic::Diagnostic;

/// A mark of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// An index.
    Letter(char),
    /// `...`, all axes that have no letter.
    Ellipsis,
}

/// The indices of an operand, or of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// The term's place; empty if it is.
    pub(super) span: Span,
    /// Its marks with their places.
    pub(super) marks: Vec<(Mark, Span)>,
}

impl Term {
    /// Returns its letters with their places.
    pub(super) fn letters(&self) -> impl Iterator<Item = (char, &Span)> {
        self.marks.iter().filter_map(|(mark, span)| match mark {
            Mark::Letter(letter) => Some((*letter, span)),
            Mark::Ellipsis => None,
        })
    }

    /// Returns the place of its ellipsis, if it has one.
    pub(super) fn ellipsis(&self) -> Option<&Span> {
        let mut marks = self.marks.iter();
        let mark = marks.find(|(mark, _)| *mark == Mark::Ellipsis);
        mark.map(|(_, span)| span)
    }
}

/// A text that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notation {
    /// The terms of the operands.
    pub(super) inputs: Vec<Term>,
    /// That of the result, if it is written.
    pub(super) output: Option<Term>,
}

/// Advice for everything that is no text of this kind.
const EXPECTED: &str = "write one letter for each axis, ',' between operands, '...' for axes without a letter, and \
                        '->' before the indices of the result, as in 'ij,jk->ik'";

/// Reads a text; all that is wrong with it.
pub(super) fn parse(text: &str) -> Result<Notation, Vec<Diagnostic>> {
    let mut parser = Parser {
        text,
        at: 0,
        terms: vec![empty_term(0)],
        arrow: None,
        wrong: Vec::new(),
    };
    while let Some(next) = text[parser.at..].chars().next() {
        parser.character(next);
    }
    parser.finish()
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// All terms, that of the result too.
    terms: Vec<Term>,
    /// The number of terms before the arrow.
    arrow: Option<usize>,
    wrong: Vec<Diagnostic>,
}

fn empty_term(at: usize) -> Term {
    Term {
        span: at..at,
        marks: Vec::new(),
    }
}

impl Parser<'_> {
    fn character(&mut self, next: char) {
        let rest = &self.text[self.at..];
        let next_bytes = |bytes: usize| self.at..self.at + bytes;
        match next {
            ' ' => self.at += 1,
            ',' if self.arrow.is_none() => {
                self.at += 1;
                self.terms.push(empty_term(self.at));
            }
            '.' if rest.starts_with("...") => self.ellipsis(next_bytes(3)),
            '-' if rest.starts_with("->") => self.arrow(next_bytes(2)),
            _ if is_letter(next) => self.mark(Mark::Letter(next), next_bytes(next.len_utf8())),
            _ => self.unexpected(next),
        }
    }

    fn mark(&mut self, mark: Mark, span: Span) {
        self.at = span.end;
        if let Some(term) = self.terms.last_mut() {
            if term.marks.is_empty() {
                term.span = span.clone();
            }
            term.span.end = span.end;
            term.marks.push((mark, span));
        }
    }

    fn ellipsis(&mut self, span: Span) {
        let first = self.terms.last().and_then(Term::ellipsis).cloned();
        match first {
            Some(first) => {
                let message = "found a second '...' in a term, expected at most one";
                let wrong = Diagnostic::new(message, span.clone(), "the second");
                self.wrong.push(wrong.also(first, "the first"));
                self.at = span.end;
            }
            None => self.mark(Mark::Ellipsis, span),
        }
    }

    fn arrow(&mut self, span: Span) {
        self.at = span.end;
        match self.arrow {
            Some(_) => {
                let message = "found a second '->', expected one, before the indices of the result";
                self.wrong
                    .push(Diagnostic::new(message, span, "").help(EXPECTED));
            }
            None => {
                self.arrow = Some(self.terms.len());
                self.terms.push(empty_term(self.at));
            }
        }
    }

    /// Reports a run of one character.
    fn unexpected(&mut self, next: char) {
        let rest = &self.text[self.at..];
        let behind = rest.trim_start_matches(next);
        let span = self.at..self.text.len() - behind.len();
        let shown = self.text[span.clone()].escape_debug().to_string();
        let message = match next {
            '.' => format!("found '{shown}', expected '...'"),
            '-' | '>' => format!("found '{shown}', expected '->'"),
            ',' => "found ',' behind '->', expected the indices of one result".to_string(),
            '0'..='9' => format!("found '{shown}', which is no index: expected a letter"),
            _ => format!("found '{shown}', which is nothing of an einsum"),
        };
        self.at = span.end;
        self.wrong
            .push(Diagnostic::new(message, span, "").help(EXPECTED));
    }

    fn finish(mut self) -> Result<Notation, Vec<Diagnostic>> {
        if !self.wrong.is_empty() {
            return Err(self.wrong);
        }
        let output = self.arrow.and_then(|_| self.terms.pop());
        Ok(Notation {
            inputs: self.terms,
            output,
        })
    }
}

/// Returns whether a character is an index.
pub(super) fn is_letter(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphabetic(),
        false => !c.is_whitespace() && !c.is_control(),
    }
}
