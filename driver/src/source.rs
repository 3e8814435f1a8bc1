//! Programs as files: reading, parsing, and showing MLIR's diagnostics with the line they are
//! about.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use melior::Context;
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use melior::ir::{Location, Module};
use mlir_sys::{
    mlirLocationFileLineColRangeGetFilename, mlirLocationFileLineColRangeGetStartColumn,
    mlirLocationFileLineColRangeGetStartLine, mlirLocationIsAFileLineColRange,
};

use mdh_dialect::ffi::{mdhParseModule, string_ref};
use mdh_dialect::ir::string;

use crate::error::{Error, Result};

/// What MLIR bytecode starts with.
const BYTECODE_MAGIC: &[u8] = b"ML\xefR";

/// A program as it stands in its file.
pub struct Source {
    name: String,
    bytes: Vec<u8>,
}

impl Source {
    /// Reads a file: MLIR text in UTF-8, or MLIR bytecode. `-` is standard input.
    pub fn read(path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let bytes = if name == "-" {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(|_| bytes)
        } else {
            std::fs::read(path)
        };
        let bytes =
            bytes.map_err(|error| Error::input(format!("cannot read '{name}': {error}")))?;
        if !bytes.starts_with(BYTECODE_MAGIC) {
            check_text(&name, &bytes)?;
        }
        Ok(Source { name, bytes })
    }

    /// A program that is no file; `name` stands for it in messages.
    pub fn from_text(name: &str, text: &str) -> Source {
        Source {
            name: name.to_string(),
            bytes: text.as_bytes().to_vec(),
        }
    }

    /// The file's name without folders and extension.
    pub fn stem(&self) -> &str {
        let stem = Path::new(&self.name).file_stem().and_then(|s| s.to_str());
        stem.unwrap_or_default()
    }

    /// The file's name as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Parses and verifies. What is wrong has been shown when an error comes back.
    pub fn parse<'c>(&self, context: &'c Context) -> Result<Module<'c>> {
        let mut text = self.bytes.clone();
        text.push(0); // MLIR's lexer reads up to a null byte behind the text
        let source = mlir_sys::MlirStringRef {
            data: text.as_ptr().cast(),
            length: self.bytes.len(),
        };
        // SAFETY: text and name outlive the call; the module is ours.
        let module = unsafe {
            let name = string_ref(&self.name);
            Module::from_option_raw(mdhParseModule(context.to_raw(), source, name))
        };
        module.ok_or_else(Error::diagnosed)
    }
}

fn check_text(name: &str, bytes: &[u8]) -> Result<()> {
    if let Err(error) = std::str::from_utf8(bytes) {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        return Err(Error::input(format!(
            "'{name}' is not UTF-8: line {line} has the byte 0x{:02x}; expected MLIR text or \
             bytecode",
            bytes[error.valid_up_to()]
        )));
    }
    match bytes.contains(&0) {
        true => Err(Error::input(format!(
            "'{name}' contains a null byte: expected MLIR text or bytecode"
        ))),
        false => Ok(()),
    }
}

/// How many errors and warnings have been shown, and the last error's text.
#[derive(Default)]
pub struct Shown {
    errors: RefCell<Vec<String>>,
}

impl Shown {
    /// The texts of the errors so far.
    pub fn errors(&self) -> Vec<String> {
        self.errors.borrow().clone()
    }
}

/// Shows every diagnostic of a context on standard error from now on.
pub fn show_diagnostics(context: &Context, source: &Source) -> Rc<Shown> {
    let shown = Rc::new(Shown::default());
    let (counter, name) = (Rc::clone(&shown), source.name.clone());
    let lines: Vec<String> = String::from_utf8_lossy(&source.bytes)
        .lines()
        .map(str::to_owned)
        .collect();
    let is_text = !source.bytes.starts_with(BYTECODE_MAGIC);
    context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
            counter.errors.borrow_mut().push(diagnostic.to_string());
        }
        let file = File {
            name: &name,
            lines: if is_text { &lines } else { &[] },
        };
        eprint!("{}", file.text(&diagnostic));
        true
    });
    shown
}

struct File<'a> {
    name: &'a str,
    lines: &'a [String],
}

impl File<'_> {
    fn text(&self, diagnostic: &Diagnostic) -> String {
        let severity = match diagnostic.severity() {
            DiagnosticSeverity::Error => "error",
            DiagnosticSeverity::Warning => "warning",
            DiagnosticSeverity::Remark => "remark",
            DiagnosticSeverity::Note => "note",
        };
        let (place, quoted) = self.place(diagnostic.location());
        let mut text = format!("{place}{severity}: {diagnostic}\n{quoted}");
        for note in (0..diagnostic.note_count()).filter_map(|i| diagnostic.note(i).ok()) {
            text += &self.text(&note);
        }
        text
    }

    /// `file:line:column: `, and the line with a caret below the column.
    fn place(&self, location: Location) -> (String, String) {
        let raw = location.to_raw();
        // SAFETY: the location is valid, and its kind is checked before it is read.
        let (file, line, column) = unsafe {
            if !mlirLocationIsAFileLineColRange(raw) {
                return (self.unplaced(&location), String::new());
            }
            let file = string(identifier_text(mlirLocationFileLineColRangeGetFilename(
                raw,
            )));
            let line = mlirLocationFileLineColRangeGetStartLine(raw);
            (file, line, mlirLocationFileLineColRangeGetStartColumn(raw))
        };
        let place = format!("{file}:{line}:{column}: ");
        let quoted = usize::try_from(line).ok().filter(|_| file == self.name);
        let quoted = quoted.and_then(|line| self.lines.get(line.checked_sub(1)?));
        let Some(quoted) = quoted else {
            return (place, String::new());
        };
        let before = quoted
            .chars()
            .take(usize::try_from(column).unwrap_or(1).saturating_sub(1));
        let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        (place, format!("{quoted}\n{indent}^\n"))
    }

    fn unplaced(&self, location: &Location) -> String {
        match location.to_string().as_str() {
            "loc(unknown)" => format!("{}: ", self.name),
            other => format!("{}: {other}: ", self.name),
        }
    }
}

fn identifier_text(identifier: mlir_sys::MlirIdentifier) -> mlir_sys::MlirStringRef {
    // SAFETY: identifiers live as long as the context.
    unsafe { mlir_sys::mlirIdentifierStr(identifier) }
}
