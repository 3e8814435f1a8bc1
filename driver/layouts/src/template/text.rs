//! A text file with positions in it, and the mistakes found there.

use std::path::Path;

use mdh_compiler::diagnostics::error_in;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::source::{Source, read_bytes};

/// Returns the error at a place of a text.
pub use mdh_algebra::index::lex::SyntaxError as Finding;

/// Reads a file of text; `-` is standard input.
pub fn read(path: &Path) -> Result<Source> {
    let (name, bytes) = read_bytes(path)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[at];
        let message = format!("'{name}' is no text: byte {at} is 0x{byte:02x}, expected UTF-8");
        Error::input(message)
    })?;
    Ok(Source::from_text(&name, &text))
}

/// Shows all findings in the order of their places.
pub fn report(source: &Source, mut findings: Vec<Finding>) -> Result<()> {
    findings.sort_by_key(|finding| finding.span.start);
    findings.dedup();
    let mut failed = Ok(());
    for finding in findings {
        let before = &source.text().as_bytes()[..finding.span.start.min(source.text().len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n');
        let column = finding.span.start - start.map_or(0, |n| n + 1) + 1;
        failed = Err(error_in(source, line, column, &finding.message));
    }
    failed
}

/// `'a', 'b' or 'c'`, and which of them may be meant.
pub fn expected<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let near = mdh_algebra::index::lex::nearest(name, known.iter().copied());
    let mean = near.first().map(|near| format!("; did you mean '{near}'?"));
    let quoted: Vec<String> = known.iter().map(|name| format!("'{name}'")).collect();
    let list = match quoted.as_slice() {
        [] => return "but there is none".to_string(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    };
    format!("expected {list}{}", mean.unwrap_or_default())
}
