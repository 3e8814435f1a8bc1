//! Spaces and mappings from text.
//!
//! ```text
//! mapping ::= space (`.` step)*
//! space   ::= `[` [axis (`,` axis)*] `]`
//! axis    ::= [e `to`] e [`step` e] [`width` e]      from 0, step 1 and width 1 if not said
//! chain   ::= step (`.` step)*
//! step    ::= shift_lb | compress_grid([d, ..]) | prune_grid | split_last(e) | fold_last2
//!           | permute([d, ..]) | pad_last(e)
//! ```
//!
//! An axis is written as a dimension of a computation is; `e` is an index expression, `d` the
//! number of a dimension from 0 on. The first step is applied first.

use std::ops::Range;

use super::chain::{Mapping, MappingError};
use super::space::{GridAxis, Space};
use super::step::Step;
use crate::index::lex::{Cursor, SyntaxError, Token, nearest};
use crate::index::parse::{Scope, expr};
use crate::index::{Expr, Facts};

type Parsed<T> = Result<T, SyntaxError>;

const STEPS: [&str; 7] = [
    "shift_lb",
    "compress_grid",
    "prune_grid",
    "split_last",
    "fold_last2",
    "permute",
    "pad_last",
];

/// A space and steps that were read, with their places, before it is asked what they are together.
pub(super) struct Placed {
    pub space: Space,
    pub steps: Vec<Step>,
    place: Range<usize>,
    places: Vec<Range<usize>>,
}

impl Placed {
    /// The mapping that they are.
    pub fn mapping(&self, facts: &Facts) -> Parsed<Mapping> {
        let mapping = Mapping::new(self.space.clone(), self.steps.clone(), facts);
        mapping.map_err(|e| self.error(e))
    }

    /// Reports an error at the position of its step.
    pub fn error(&self, error: MappingError) -> SyntaxError {
        let wrong = error.step.map_or(&self.place, |n| &self.places[n]);
        SyntaxError::new(wrong.clone(), error.message)
    }
}

/// Reads a mapping: a space, and what it becomes step by step.
///
/// # Errors
/// If it is none, with the place of what is wrong.
pub fn mapping(source: &str, facts: &Facts) -> Parsed<Mapping> {
    placed(source)?.mapping(facts)
}

pub(super) fn placed(source: &str) -> Parsed<Placed> {
    let mut cursor = Cursor::new(source)?;
    let start = cursor.span().start;
    let space = read_space(&mut cursor)?;
    let place = cursor.span_from(start);
    let (mut steps, mut places) = (vec![], vec![]);
    while cursor.take(".") {
        let (step, place) = read_step(&mut cursor)?;
        steps.push(step);
        places.push(place);
    }
    cursor.end()?;
    Ok(Placed {
        space,
        steps,
        place,
        places,
    })
}

/// Reads a space, and nothing after it.
///
/// # Errors
/// If it is none, with the place of what is wrong.
pub fn space(source: &str) -> Parsed<Space> {
    let mut cursor = Cursor::new(source)?;
    let space = read_space(&mut cursor)?;
    cursor.end()?;
    Ok(space)
}

/// Reads mappings without a space.
///
/// # Errors
/// If they are none, with the place of what is wrong.
pub fn chain(source: &str) -> Parsed<Vec<Step>> {
    let mut cursor = Cursor::new(source)?;
    let mut steps = vec![read_step(&mut cursor)?.0];
    while cursor.take(".") {
        steps.push(read_step(&mut cursor)?.0);
    }
    cursor.end()?;
    Ok(steps)
}

fn read_space(cursor: &mut Cursor) -> Parsed<Space> {
    if *cursor.peek() != Token::Mark("[") {
        return Err(cursor.unexpected("a space, such as [1 to n step 3 width 2, 8]"));
    }
    let axes = cursor.list(["[", "]"], axis)?;
    Ok(Space { axes })
}

fn axis(cursor: &mut Cursor) -> Parsed<GridAxis> {
    let mut axis = GridAxis::dense(size(cursor)?);
    if word(cursor, "to") {
        axis.lower = std::mem::replace(&mut axis.upper, size(cursor)?);
    }
    if word(cursor, "step") {
        axis.step = size(cursor)?;
    }
    if word(cursor, "width") {
        axis.width = size(cursor)?;
    }
    Ok(axis)
}

fn word(cursor: &mut Cursor, word: &str) -> bool {
    let next = matches!(cursor.peek(), Token::Name(name) if name == word);
    if next {
        cursor.bump();
    }
    next
}

fn size(cursor: &mut Cursor) -> Parsed<Expr> {
    expr(cursor, &Scope::default())
}

fn read_step(cursor: &mut Cursor) -> Parsed<(Step, Range<usize>)> {
    let start = cursor.span().start;
    let Token::Name(name) = cursor.peek().clone() else {
        return Err(cursor.unexpected("a mapping, such as shift_lb or split_last(128)"));
    };
    if !STEPS.contains(&name.as_str()) {
        return Err(unknown(cursor, &name));
    }
    cursor.bump();
    let step = match name.as_str() {
        "shift_lb" => Step::ShiftLb,
        "prune_grid" => Step::PruneGrid,
        "fold_last2" => Step::FoldLast2,
        _ => {
            cursor.expect("(")?;
            let step = match name.as_str() {
                "compress_grid" => Step::CompressGrid(dimensions(cursor)?),
                "permute" => Step::Permute(dimensions(cursor)?),
                "split_last" => Step::SplitLast(size(cursor)?),
                _ => Step::PadLast(size(cursor)?),
            };
            cursor.expect(")")?;
            step
        }
    };
    Ok((step, cursor.span_from(start)))
}

fn dimensions(cursor: &mut Cursor) -> Parsed<Vec<usize>> {
    cursor.list(["[", "]"], |cursor| {
        let number = match cursor.peek() {
            Token::Number(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| cursor.unexpected("the number of a dimension"))?;
        cursor.bump();
        Ok(number)
    })
}

fn unknown(cursor: &Cursor, name: &str) -> SyntaxError {
    let mean = match nearest(name, STEPS).first() {
        Some(near) => format!("; did you mean '{near}'?"),
        None => String::new(),
    };
    let known: Vec<String> = STEPS.iter().map(|k| format!("'{k}'")).collect();
    let message = format!(
        "found no mapping '{name}', expected one of {}{mean}",
        known.join(", ")
    );
    SyntaxError::new(cursor.span(), message)
}
