//! Failures of the search itself, not of candidates: those of commands; names that were meant, and what is there twice.

use std::collections::HashSet;
use std::hash::Hash;

use mdh_algebra::index::lex::nearest;
pub(crate) use mdh_compiler::error::{Error, ErrorKind, Result};

/// The name among those known that was probably meant, as advice.
pub(crate) fn did_you_mean<'n>(
    found: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    let near = nearest(found, known);
    near.first().map(|name| format!("did you mean '{name}'?"))
}

/// The first value that stands twice.
pub(crate) fn repeated<V: Copy + Eq + Hash>(values: impl IntoIterator<Item = V>) -> Option<V> {
    let mut seen = HashSet::new();
    values.into_iter().find(|value| !seen.insert(*value))
}
