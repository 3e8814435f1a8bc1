//! Failures of the search itself, not of candidates: those of commands; and the names that were meant.

pub(crate) use mdh_compiler::error::{Error, Kind, Result};

/// The name among those known that was probably meant, as advice.
pub(crate) fn did_you_mean<'n>(
    found: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| format!("did you mean '{name}'?"))
}
