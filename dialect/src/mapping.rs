//! Mappings: the attribute `#mdh.mapping<...>`, which holds the text of a [`Mapping`]: a space of
//! indices, and step by step what it becomes (GPU index mapping, chapter 2).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mdh_algebra::mapping::{Mapping, bounded};

use crate::layout::{bare, quoted};

/// The text between `<` and `>` as the attribute keeps it, or what is wrong with one and the
/// offset of it.
pub(crate) fn canonical(text: &[u8]) -> Result<String, (String, usize)> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let message = "found bytes that are not UTF-8, expected a mapping";
        (message.to_owned(), error.valid_up_to())
    })?;
    let (bare, offset) = bare(text);
    let mapping = known(bare).map_err(|(message, at)| (message, at + offset))?;
    Ok(quoted(&bounded::spelling(&mapping)))
}

/// Reads a mapping, once: the definition is asked of all its points.
fn known(text: &str) -> Result<Arc<Mapping>, (String, usize)> {
    static KNOWN: OnceLock<Mutex<HashMap<String, Arc<Mapping>>>> = OnceLock::new();
    let cache = KNOWN.get_or_init(Mutex::default);
    let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(mapping) = lock().get(text) {
        return Ok(mapping.clone());
    }
    let mapping = bounded::parse(text).map_err(|e| (e.message, e.span.start))?;
    let mapping = Arc::new(mapping);
    lock().insert(text.to_owned(), mapping.clone());
    Ok(mapping)
}
