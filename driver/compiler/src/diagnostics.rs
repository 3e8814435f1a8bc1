//! MLIR's diagnostics on standard error, each with the line it is about. Remarks, by which passes say why they did not
//! fire, are left out unless they are asked for.

use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::Mutex;

use melior::Context;
use melior::diagnostic::DiagnosticSeverity;
use melior::ir::Location;
use mlir_sys::*;

use mdh_dialect::location::SourceLocation;

use crate::error::{Error, say};
use crate::remarks::Filter;
use crate::source::Source;

/// Longest message, in characters: an index function may be as long as its file.
const LONGEST_MESSAGE: usize = 2000;
/// Widest quoted part of a line, in characters.
const WIDEST_QUOTE: usize = 160;
/// Note that MLIR adds to a verifier's error, the operation printed in full: the quoted line shows
/// it.
const WHOLE_OPERATION: &str = "see current operation: ";

/// Advice on errors of upstream's passes that give none.
const ADVICE: [(&str, &str); 2] = [
    (
        "op was not bufferized",
        "the elements of tensors are for mdh.compute and linalg: write arithmetic on them as a \
         computation (mdh.inp_view, mdh.hom, mdh.out_view)",
    ),
    (
        "cannot avoid RaW conflict",
        "a tensor would be overwritten before it is read: start what overwrites it from a tensor of \
         its own (tensor.empty, or bufferization.alloc_tensor copy)",
    ),
];

/// Shows every diagnostic of a context on standard error from now on.
pub fn show(context: &Context, source: &Source) {
    let text = Box::new(Text::new(source));
    // SAFETY: the handler gets the text it expects, which `forget` takes back.
    unsafe {
        let data = Box::into_raw(text).cast();
        mlirContextAttachDiagnosticHandler(context.to_raw(), Some(print), data, Some(forget));
    }
}

/// Shows diagnostics about another source with its lines.
pub fn show_also(context: &Context, source: &Source) {
    let text = Box::new(Text::new(source));
    // SAFETY: as above. Handlers are asked from the last one to the first.
    unsafe {
        let data = Box::into_raw(text).cast();
        mlirContextAttachDiagnosticHandler(context.to_raw(), Some(print_own), data, Some(forget));
    }
}

/// Shows the remarks of a context that are asked for, from now on.
pub fn show_remarks(context: &Context, source: &Source, filter: &Filter) {
    let remarks = Box::new((Text::new(source), filter.clone()));
    // SAFETY: the handler gets the pair it expects, which `forget_remarks` takes back.
    unsafe {
        let data = Box::into_raw(remarks).cast();
        let forget = Some(forget_remarks as unsafe extern "C" fn(*mut c_void));
        mlirContextAttachDiagnosticHandler(context.to_raw(), Some(print_remark), data, forget);
    }
}

/// Shows no warnings of a context from now on.
pub fn hide_warnings(context: &Context) {
    unsafe extern "C" fn hide(diagnostic: MlirDiagnostic, _: *mut c_void) -> MlirLogicalResult {
        // SAFETY: the diagnostic is alive during the call.
        let severity = unsafe { mlirDiagnosticGetSeverity(diagnostic) }.try_into();
        let is_warning = matches!(severity, Ok(DiagnosticSeverity::Warning));
        MlirLogicalResult {
            value: is_warning.into(),
        }
    }
    // SAFETY: the handler needs no data.
    unsafe {
        let none = std::ptr::null_mut();
        mlirContextAttachDiagnosticHandler(context.to_raw(), Some(hide), none, None);
    }
}

/// Shows an error at a location, and stands for it.
pub fn error_at(location: Location, message: &str) -> Error {
    let message = std::ffi::CString::new(message.replace('\0', "\\0")).unwrap_or_default();
    // SAFETY: the location is valid and the text ends in a null byte.
    unsafe { mlirEmitError(location.to_raw(), message.as_ptr()) }
    Error::diagnosed()
}

/// Shows an error at a place in a source that is not parsed (line and column from 1, the latter
/// in bytes), and stands for it.
pub fn error_in(source: &Source, line: usize, column: usize, message: &str) -> Error {
    let text = Text::new(source);
    let place = SourceLocation {
        file: text.name.clone(),
        line,
        column,
    };
    say(&text.paragraph(Some(&place), "error", message));
    Error::diagnosed()
}

unsafe extern "C" fn print(diagnostic: MlirDiagnostic, text: *mut c_void) -> MlirLogicalResult {
    // SAFETY: the data is the text that `show` passed; the diagnostic is alive during the call.
    unsafe {
        let severity = mlirDiagnosticGetSeverity(diagnostic).try_into();
        if !matches!(severity, Ok(DiagnosticSeverity::Remark)) {
            say(&(*text.cast::<Text>()).diagnostic(diagnostic));
        }
    }
    MlirLogicalResult { value: 1 }
}

unsafe extern "C" fn print_own(diagnostic: MlirDiagnostic, text: *mut c_void) -> MlirLogicalResult {
    // SAFETY: as above.
    unsafe {
        let location = Location::from_raw(mlirDiagnosticGetLocation(diagnostic));
        let is_own = |place: SourceLocation| place.file == (*text.cast::<Text>()).name;
        match SourceLocation::from_location(location).is_some_and(is_own) {
            true => print(diagnostic, text),
            false => MlirLogicalResult { value: 0 },
        }
    }
}

unsafe extern "C" fn print_remark(
    diagnostic: MlirDiagnostic,
    remarks: *mut c_void,
) -> MlirLogicalResult {
    // SAFETY: the data is the pair that `show_remarks` passed; the diagnostic is alive during the call.
    let is_shown = unsafe {
        let (text, filter) = &*remarks.cast::<(Text, Filter)>();
        let severity = mlirDiagnosticGetSeverity(diagnostic).try_into();
        let is_remark = matches!(severity, Ok(DiagnosticSeverity::Remark));
        let is_shown = is_remark && filter.lets_through(&message(diagnostic));
        if is_shown {
            say(&text.diagnostic(diagnostic));
        }
        is_shown
    };
    MlirLogicalResult {
        value: is_shown.into(),
    }
}

unsafe extern "C" fn forget_remarks(remarks: *mut c_void) {
    // SAFETY: `show_remarks` made it so, and nobody uses it any more.
    drop(unsafe { Box::from_raw(remarks.cast::<(Text, Filter)>()) });
}

unsafe extern "C" fn forget(text: *mut c_void) {
    // SAFETY: `show` made it so, and nobody uses it any more.
    drop(unsafe { Box::from_raw(text.cast::<Text>()) });
}

/// A source's name and lines; no lines if it is bytecode.
struct Text {
    name: String,
    lines: Vec<Vec<u8>>,
    /// The warnings and remarks that were shown: what is compiled twice has them twice.
    shown: Mutex<HashSet<String>>,
}

impl Text {
    fn new(source: &Source) -> Text {
        Text {
            name: source.name().to_string(),
            lines: source.lines().map(<[u8]>::to_vec).collect(),
            shown: Mutex::default(),
        }
    }

    /// # Safety
    /// The diagnostic is alive.
    unsafe fn diagnostic(&self, diagnostic: MlirDiagnostic) -> String {
        // SAFETY: by this function's contract; notes live as long as their diagnostic.
        unsafe {
            let severity = match mlirDiagnosticGetSeverity(diagnostic).try_into() {
                Ok(DiagnosticSeverity::Error) | Err(_) => "error",
                Ok(DiagnosticSeverity::Warning) => "warning",
                Ok(DiagnosticSeverity::Remark) => "remark",
                Ok(DiagnosticSeverity::Note) => "note",
            };
            let location = Location::from_raw(mlirDiagnosticGetLocation(diagnostic));
            let place = SourceLocation::from_location(location);
            let message = message(diagnostic);
            if severity == "note" && place.is_some() && message.starts_with(WHOLE_OPERATION) {
                return String::new();
            }
            let notes = (0..mlirDiagnosticGetNumNotes(diagnostic))
                .map(|i| self.diagnostic(mlirDiagnosticGetNote(diagnostic, i)));
            let notes: String = notes.collect();
            let text = self.paragraph(place.as_ref(), severity, &message);
            if ["warning", "remark"].contains(&severity) && !self.is_first(&text) {
                return String::new();
            }
            text + &advice(&message) + &notes
        }
    }

    fn is_first(&self, text: &str) -> bool {
        let shown = self.shown.lock();
        let mut shown = shown.unwrap_or_else(|poisoned| poisoned.into_inner());
        shown.insert(text.to_string())
    }

    /// `file:line:column: severity: message`, and the line with a caret below the column.
    fn paragraph(&self, place: Option<&SourceLocation>, severity: &str, message: &str) -> String {
        let message = shortened(message);
        let Some(place) = place else {
            return format!("{}: {severity}: {message}\n", self.name);
        };
        let is_ours = place.file == self.name;
        let quoted = place.line.checked_sub(1).filter(|_| is_ours);
        let quoted = quoted.and_then(|line| self.lines.get(line));
        let quoted = quoted.map_or(String::new(), |text| quote(text, place.column));
        format!("{place}: {severity}: {message}\n{quoted}")
    }
}

/// Returns advice on an error, in a line of its own.
fn advice(message: &str) -> String {
    let known = ADVICE.iter().find(|(part, _)| message.contains(part));
    known.map_or(String::new(), |(_, help)| format!("help: {help}\n"))
}

/// The part of a line around a column, and a caret below it.
fn quote(line: &[u8], column: usize) -> String {
    let column = column.saturating_sub(1).min(line.len());
    let (before, after) = line.split_at(column);
    let before: Vec<char> = String::from_utf8_lossy(before).chars().collect();
    let after: Vec<char> = String::from_utf8_lossy(after).chars().collect();
    let is_long = before.len() + after.len() > WIDEST_QUOTE;
    let skipped = match is_long {
        true => before.len().saturating_sub(WIDEST_QUOTE / 2),
        false => 0,
    };
    let mut text = String::from(if skipped > 0 { "..." } else { "" });
    let mut indent = " ".repeat(text.len());
    for &c in &before[skipped..] {
        text.push(visible(c));
        indent.push(if c == '\t' { '\t' } else { ' ' });
    }
    let shown = WIDEST_QUOTE.saturating_sub(before.len() - skipped);
    let rest = if is_long {
        after.len().min(shown)
    } else {
        after.len()
    };
    text.extend(after[..rest].iter().map(|&c| visible(c)));
    if rest < after.len() {
        text.push_str("...");
    }
    format!("{text}\n{indent}^\n")
}

/// Shows a character that a terminal would act on as unknown.
fn visible(c: char) -> char {
    match c {
        '\t' => c,
        _ if c.is_control() => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

fn shortened(message: &str) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => {
            let more = message[end..].chars().count();
            format!("{} ... ({more} more characters)", &message[..end])
        }
        None => message.to_string(),
    }
}

/// The text of a diagnostic. What it quotes from a damaged file need not be UTF-8.
///
/// # Safety
/// The diagnostic is alive.
unsafe fn message(diagnostic: MlirDiagnostic) -> String {
    unsafe extern "C" fn add(part: MlirStringRef, bytes: *mut c_void) {
        if part.length > 0 {
            // SAFETY: MLIR passes a valid string and the vector below.
            unsafe {
                let part = std::slice::from_raw_parts(part.data.cast::<u8>(), part.length);
                (*bytes.cast::<Vec<u8>>()).extend_from_slice(part);
            }
        }
    }
    let mut bytes: Vec<u8> = Vec::new();
    // SAFETY: by this function's contract; the callback gets the vector it expects.
    unsafe { mlirDiagnosticPrint(diagnostic, Some(add), (&raw mut bytes).cast()) };
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_has_its_caret_below_the_column() {
        assert_eq!(quote(b"abc", 2), "abc\n ^\n");
        assert_eq!(quote("\tü x".as_bytes(), 5), "\tü x\n\t  ^\n");
        assert_eq!(quote(b"abc", 99), "abc\n   ^\n");
        assert_eq!(quote(b"", 0), "\n^\n");
    }

    #[test]
    fn of_a_long_line_a_part_is_quoted() {
        let line = [b"a".repeat(500), b"x".to_vec(), b"b".repeat(500)].concat();
        let quoted = quote(&line, 501);
        let (text, caret) = quoted.split_once('\n').unwrap();
        assert_eq!(text.len(), WIDEST_QUOTE + 6);
        assert_eq!(&text[caret.find('^').unwrap()..][..2], "xb");
        let (text, caret) = (quote(&line, 1), "\n^\n");
        assert!(
            text.starts_with("aaa") && text.ends_with(&format!("...{caret}")),
            "{text}"
        );
    }

    #[test]
    fn a_long_message_ends() {
        let text = shortened(&"ä".repeat(LONGEST_MESSAGE + 5));
        assert!(text.ends_with("ä ... (5 more characters)"), "{text}");
        assert_eq!(shortened("short"), "short");
    }
}
