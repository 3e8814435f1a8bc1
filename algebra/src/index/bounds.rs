//! Bounds of symbols, as text behind a layout or mapping: `where 0 < n <= 64`.
//!
//! ```text
//! bounded ::= text [`where` symbol `=` values, ..]
//! values  ::= number | number `..` [number]
//! ```

use std::ops::Range;

use super::lex::{Cursor, SyntaxError, Token};
use super::{Facts, Interval, Name};

/// The word between a text and its bounds.
const WHERE: &str = "where";

/// The bounds behind a text.
pub struct Bounds {
    /// End of the text.
    pub end: usize,
    /// Facts that the bounds state.
    pub facts: Facts,
    named: Vec<(String, Range<usize>)>,
}

impl Bounds {
    /// Reads the bounds behind a text of this kind ("layout"); the text itself only as far as
    /// its words go.
    ///
    /// # Errors
    /// If there is no such word, or something else than bounds behind `where`.
    pub fn read(source: &str, kind: &str) -> Result<Bounds, SyntaxError> {
        let mut cursor = Cursor::new(source)?;
        let mut bounds = Bounds {
            end: source.len(),
            facts: Facts::new(),
            named: Vec::new(),
        };
        while *cursor.peek() != Token::End {
            let start = cursor.span().start;
            if matches!(cursor.bump(), Token::Name(name) if name == WHERE) {
                bounds.end = start;
                break;
            }
        }
        if bounds.end == source.len() {
            return Ok(bounds);
        }
        loop {
            let start = cursor.span().start;
            let (symbol, interval) = one(&mut cursor, kind)?;
            bounds.facts.within(&symbol, interval);
            bounds.named.push((symbol, cursor.span_from(start)));
            if !cursor.take(",") {
                break;
            }
        }
        cursor.end()?;
        Ok(bounds)
    }

    /// That they are of symbols that occur, and of each once.
    ///
    /// # Errors
    /// If they are not.
    pub fn check(&self, symbols: &[Name], kind: &str) -> Result<(), SyntaxError> {
        for (n, (symbol, place)) in self.named.iter().enumerate() {
            let message = if !symbols.iter().any(|s| **s == **symbol) {
                format!("found bounds of '{symbol}', which is no symbol of the {kind}")
            } else if self.named[..n].iter().any(|(earlier, _)| earlier == symbol) {
                format!("found bounds of '{symbol}' twice")
            } else {
                continue;
            };
            return Err(SyntaxError::new(place.clone(), message));
        }
        Ok(())
    }
}

fn one(cursor: &mut Cursor, kind: &str) -> Result<(String, Interval), SyntaxError> {
    let symbol = cursor.name(&format!("a symbol of the {kind}"))?;
    cursor.expect("=")?;
    let start = cursor.span().start;
    let min = number(cursor)?;
    let interval = match cursor.take(".") {
        false => Interval::exactly(min),
        true => {
            cursor.expect(".")?;
            match cursor.peek() {
                Token::Number(_) => Interval::new(min.into(), number(cursor)?.into()),
                _ => Interval::from(min),
            }
        }
    };
    if interval.min > interval.max {
        let (min, max) = (interval.min, interval.max);
        let message = format!("found {min}..{max}, expected a range that is not empty");
        return Err(SyntaxError::new(cursor.span_from(start), message));
    }
    Ok((symbol, interval))
}

fn number(cursor: &mut Cursor) -> Result<i64, SyntaxError> {
    match *cursor.peek() {
        Token::Number(number) => {
            cursor.bump();
            Ok(number)
        }
        _ => Err(cursor.unexpected("a number")),
    }
}

/// The bounds as text, ` where n = 1..64`, but for those that are assumed of symbols anyway.
pub fn spelling(symbols: &[Name], facts: &Facts, assumed: impl Fn(&str) -> Interval) -> String {
    let bounds = symbols.iter().filter_map(|symbol| {
        let interval = facts.interval(symbol);
        let (min, max) = (interval.min, i64::try_from(interval.max));
        match max {
            _ if interval == assumed(symbol) => None,
            Ok(max) if min == i128::from(max) => Some(format!("{symbol} = {max}")),
            Ok(max) => Some(format!("{symbol} = {min}..{max}")),
            Err(_) => Some(format!("{symbol} = {min}..")),
        }
    });
    let bounds: Vec<String> = bounds.collect();
    match bounds.is_empty() {
        true => String::new(),
        false => format!(" {WHERE} {}", bounds.join(", ")),
    }
}
