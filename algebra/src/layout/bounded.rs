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

use super::answer::Answer;
use super::{Layout, parse};
use crate::index::Interval;
use crate::index::bounds::{self, Bounds};
use crate::index::lex::SyntaxError;

/// Reads a layout that is proved to be one.
///
/// # Errors
/// If it is none, or that is not proved, with the place of what is wrong.
pub fn parse(source: &str) -> Result<Layout, SyntaxError> {
    let bounds = Bounds::read(source, "layout")?;
    let layout = parse::layout(&source[..bounds.end], &bounds.facts)?;
    bounds.check(&layout.symbols(), "layout")?;
    match layout.answer() {
        Answer::Proved => Ok(layout),
        answer => Err(SyntaxError::new(0..bounds.end, answer.to_string())),
    }
}

/// The text that [`parse()`] reads back.
pub fn spelling(layout: &Layout) -> String {
    let assumed = |_: &str| Interval::from(1);
    let bounds = bounds::spelling(&layout.symbols(), layout.facts(), assumed);
    format!("{layout}{bounds}")
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
