//! Mappings with what is known of their symbols, as one text: what an attribute holds.
//!
//! `[n].split_last(32) where n = 64` is proved to be mapping equivalent; `[n].split_last(32)` is
//! not, as nothing asks its condition, `n % 32 == 0`, when the program runs.

use super::chain::{Mapping, MappingError};
use super::parse::{Placed, placed};
use crate::index::bounds::{self, Bounds};
use crate::index::lex::SyntaxError;
use crate::index::{Facts, Interval, Name};
use crate::layout::Answer;

/// Kind of the text, for messages.
const KIND: &str = "mapping";

/// Reads a mapping that is proved to be one: every index of its space belongs to exactly one index
/// of the mapped space.
///
/// # Errors
/// If it is none, or that is not proved, with the place of the step that is wrong.
pub fn parse(source: &str) -> Result<Mapping, SyntaxError> {
    let bounds = Bounds::read(source, KIND)?;
    let read = placed(&source[..bounds.end])?;
    let mapping = read.mapping(&bounds.facts)?;
    bounds.check(&mapping.symbols(), KIND)?;
    if let Some(error) = open(&read, &mapping) {
        return Err(read.error(error));
    }
    // The theorems say so for every chain; the definition is asked where it can be.
    match mapping.decide() {
        Answer::Refuted(why) => Err(SyntaxError::new(0..bounds.end, format!("bug: {why}"))),
        Answer::Proved | Answer::Open(_) => Ok(mapping),
    }
}

/// The first step of a mapping with conditions that are not proved.
fn open(read: &Placed, mapping: &Mapping) -> Option<MappingError> {
    let symbols = mapping.symbols();
    let number = |symbol: &Name| {
        let Interval { min, max } = mapping.facts().interval(symbol);
        let number = i64::try_from(min).ok().filter(|_| min == max)?;
        Some((symbol.clone(), number))
    };
    let numbers: Vec<(Name, i64)> = symbols.iter().filter_map(number).collect();
    match mapping.bind(&numbers) {
        Ok(bound) if bound.conditions().is_empty() => return None,
        Ok(_) => {}
        Err(error) => return Some(error),
    }
    let until = |steps: usize| {
        let chain = read.steps[..steps].to_vec();
        let part = Mapping::new(read.space.clone(), chain, mapping.facts());
        part.and_then(|part| part.bind(&numbers)).ok()
    };
    let mut parts = (0..=read.steps.len()).filter_map(|n| Some((n, until(n)?)));
    let (steps, part) = parts.find(|(_, part)| !part.conditions().is_empty())?;
    let conditions: Vec<String> = part.conditions().iter().map(ToString::to_string).collect();
    let step = steps.checked_sub(1);
    let name = step.map_or("space", |n| read.steps[n].name());
    let known = symbols.first().map_or("n", |symbol| symbol);
    Some(MappingError {
        step,
        message: format!(
            "{name}: not proved: {}; expected a step that holds for all values of symbols (pad_last \
             makes a size a multiple), or bounds of which it follows ('where {known} = 128')",
            conditions.join(", ")
        ),
    })
}

/// The text that [`parse`] reads back.
pub fn spelling(mapping: &Mapping) -> String {
    let unbounded = Mapping::new(
        mapping.original().clone(),
        mapping.chain().to_vec(),
        &Facts::new(),
    );
    let none = Facts::new();
    let assumed = unbounded.as_ref().map_or(&none, Mapping::facts);
    let interval = |symbol: &str| assumed.interval(symbol);
    let bounds = bounds::spelling(&mapping.symbols(), mapping.facts(), interval);
    format!("{mapping}{bounds}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_back() {
        for text in [
            "[1 to n step 3 width 2].shift_lb.compress_grid([0]).pad_last(128).split_last(128)",
            "[n, 8].fold_last2.split_last(32) where n = 64",
            "[n step t].prune_grid where n = 3..9, t = 2..",
            "[]",
        ] {
            let mapping = parse(text).unwrap();
            assert_eq!(spelling(&mapping), text);
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let wrong = |text: &str| {
            let error = parse(text).unwrap_err();
            (text[error.span].to_string(), error.message)
        };
        let (place, message) = wrong("[n].pad_last(8).split_last(32)");
        assert_eq!(place, "split_last(32)");
        assert!(message.starts_with("split_last: not proved: "), "{message}");
        let (place, message) = wrong("[n].split_last(32) where n = 100");
        assert_eq!(place, "split_last(32)");
        assert!(message.contains("expected a multiple of 32"), "{message}");
        let (place, message) = wrong("[100].split_last(32)");
        assert_eq!(place, "split_last(32)");
        assert!(message.contains("expected a multiple of 32"), "{message}");
        let (place, message) = wrong("[n].prune_grid where m = 3");
        assert_eq!(place, "m = 3");
        assert!(message.contains("no symbol of the mapping"), "{message}");
    }
}
