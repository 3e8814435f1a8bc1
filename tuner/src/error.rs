//! Failures of the search itself, not of candidates: those of commands; names that were meant, and what is there twice.

use std::collections::HashSet;
use std::hash::Hash;

pub(crate) use mdh_compiler::error::{Error, ErrorKind, Result, did_you_mean};

/// The first value that stands twice.
pub(crate) fn repeated<V: Copy + Eq + Hash>(values: impl IntoIterator<Item = V>) -> Option<V> {
    let mut seen = HashSet::new();
    values.into_iter().find(|value| !seen.insert(*value))
}
