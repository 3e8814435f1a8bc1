//! Layouts with what is known of their symbols, as one text.
//!
//! ```text
//! bounded ::= layout [`where` symbol `=` values, ..]
//! values  ::= number | number `..` [number]
//! ```
//!
//! `TileBy([m],[32]).OrderBy(Row([m*32])) where m = 1..64` is what an attribute holds: code that
//! is made of it must not overflow, and only bounds can prove that.

use std::hash::{Hash, Hasher};

use super::{Answer, Layout, parse};
use crate::index::lex::{Cursor, SyntaxError, Token};
use crate::index::{Facts, Interval};

/// The word between a layout and its bounds.
const WHERE: &str = "where";

/// Reads a layout that is proved to be one.
///
/// # Errors
/// If it is none, or that is not proved, with the place of what is wrong.
pub fn parse(source: &str) -> Result<Layout, SyntaxError> {
    let mut cursor = Cursor::new(source)?;
    let mut end = source.len();
    while *cursor.peek() != Token::End {
        let start = cursor.span().start;
        if matches!(cursor.bump(), Token::Name(name) if name == WHERE) {
            end = start;
            break;
        }
    }
    let mut facts = Facts::new();
    let mut bounded = Vec::new();
    if end < source.len() {
        loop {
            let start = cursor.span().start;
            let (symbol, interval) = bounds(&mut cursor)?;
            facts.within(&symbol, interval);
            bounded.push((symbol, cursor.span_from(start)));
            if !cursor.take(",") {
                break;
            }
        }
        cursor.end()?;
    }
    let layout = parse::layout(&source[..end], &facts)?;
    let symbols = layout.symbols();
    for (n, (symbol, place)) in bounded.iter().enumerate() {
        let message = if !symbols.iter().any(|s| **s == **symbol) {
            format!("found bounds of '{symbol}', which is no symbol of the layout")
        } else if bounded[..n].iter().any(|(earlier, _)| earlier == symbol) {
            format!("found bounds of '{symbol}' twice")
        } else {
            continue;
        };
        return Err(SyntaxError::new(place.clone(), message));
    }
    match layout.answer() {
        Answer::Proved => Ok(layout),
        answer => Err(SyntaxError::new(0..end, answer.to_string())),
    }
}

fn bounds(cursor: &mut Cursor) -> Result<(String, Interval), SyntaxError> {
    let symbol = cursor.name("a symbol of the layout")?;
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

/// The text that [`parse`] reads back.
pub fn spelling(layout: &Layout) -> String {
    let bounds = layout.symbols().into_iter().filter_map(|symbol| {
        let interval = layout.facts().interval(&symbol);
        let (min, max) = (interval.min, i64::try_from(interval.max));
        match max {
            Ok(max) if min == i128::from(max) => Some(format!("{symbol} = {max}")),
            Ok(max) => Some(format!("{symbol} = {min}..{max}")),
            Err(_) if min == 1 => None,
            Err(_) => Some(format!("{symbol} = {min}..")),
        }
    });
    let bounds: Vec<String> = bounds.collect();
    match bounds.is_empty() {
        true => layout.to_string(),
        false => format!("{layout} {WHERE} {}", bounds.join(", ")),
    }
}

/// As they are written; [`Layout::equal`] tells whether they are the same function.
impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        spelling(self) == spelling(other)
    }
}

impl Eq for Layout {}

impl Hash for Layout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        spelling(self).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_back() {
        for text in [
            "OrderBy(RegP([4,6],[2,1])).GroupBy([4,6])",
            "OrderBy(RegP([m,32],[2,1])).GroupBy([m,32]) where m = 1..64",
            "OrderBy(RegP([m,n],[2,1])).GroupBy([m,n]) where m = 2.., n = 8",
        ] {
            let layout = parse(text).unwrap();
            assert_eq!(spelling(&layout), text);
        }
        let known = parse("Row([m]) where m = 3..7").unwrap();
        assert_eq!(known.facts().interval("m"), Interval::new(3, 7));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let wrong = |text: &str| {
            let error = parse(text).unwrap_err();
            (text[error.span].to_string(), error.message)
        };
        let is = |place: &str, message: &str| (place.to_string(), message.to_string());
        assert_eq!(
            wrong("Row([m]) where n = 3"),
            is(
                "n = 3",
                "found bounds of 'n', which is no symbol of the layout"
            )
        );
        assert_eq!(
            wrong("Row([m]) where m = 3, m = 4"),
            is("m = 4", "found bounds of 'm' twice")
        );
        assert_eq!(
            wrong("Row([m]) where m = 3..2"),
            is("3..2", "found 3..2, expected a range that is not empty")
        );
        assert_eq!(
            wrong("Row([m]) where m = x"),
            is("x", "found 'x', expected a number")
        );
        assert_eq!(
            wrong("TileBy([M/B],[B]).OrderBy(Row([M])) where M = 8").1,
            "not proven; open: M / B >= 1; M == M / B * B"
        );
    }
}
