//! Programs as files: reading and parsing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use melior::Context;
use melior::ir::Module;
use melior::ir::operation::OperationLike;
use mlir_sys::mlirOperationVerify;

use mdh_dialect::ffi::{mdhParseModule, string_ref};
use mdh_dialect::ir::{self, Op};
use mdh_dialect::location::SourceLocation;
use mdh_dialect::ops;
use mdh_frontend::memory::{self, Account};
use mdh_frontend::mlir::Results;
use mdh_jit::faults;

use crate::diagnostics::error_in;
use crate::error::{Error, Result};
use crate::names::{self, Names};
use crate::npy::Written;
use crate::select::select;
use crate::tensor::{self, Translated};
use crate::{compile, nesting};

/// Magic bytes of MLIR bytecode.
const BYTECODE_MAGIC: &[u8] = b"ML\xefR";

/// Byte order mark that some editors put in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a file: its name in messages, and its contents; `-` is standard input.
pub fn read_bytes(path: &Path) -> Result<(String, Vec<u8>)> {
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes);
        ("<stdin>".to_string(), read.map(|_| bytes))
    } else {
        (path.display().to_string(), std::fs::read(path))
    };
    let bytes = bytes.map_err(|error| Error::input(format!("cannot read '{name}': {error}")))?;
    Ok((name, bytes))
}

/// Returns whether a word can only be the name of a program's file: one that is not there is said to be so, and is
/// not looked for among other names.
pub fn is_file_name(word: &str) -> bool {
    let extension = Path::new(word).extension().and_then(|e| e.to_str());
    matches!(extension, Some("mlir" | "mlirbc" | "tdsl")) || word.starts_with('.')
}

/// A file's name in messages, and its text.
pub fn read_text(path: &Path) -> Result<(String, String)> {
    let (name, bytes) = read_bytes(path)?;
    let source = Source::new(name, bytes);
    source.check_characters("text")?;
    Ok((source.name.clone(), source.text().to_string()))
}

/// A program as it stands in its file.
pub struct Source {
    name: String,
    bytes: Vec<u8>,
    /// MLIR that is parsed instead, if the text is another language.
    translated: Option<Translated>,
    /// Elements of its results in files.
    written: Written,
}

impl Source {
    /// Reads a file: MLIR text in UTF-8, MLIR bytecode, or a program of the tensor language. `-` is
    /// standard input.
    pub fn read(path: &Path) -> Result<Source> {
        let (name, bytes) = read_bytes(path)?;
        Source::from_user(&name, bytes)
    }

    /// A program that is no file; `name` stands for it in messages.
    pub fn from_text(name: &str, text: &str) -> Source {
        Source::new(name.to_string(), text.as_bytes().to_vec())
    }

    /// A program that a user has written, as a file of that name would be read.
    ///
    /// # Errors
    /// If MLIR's parser would not survive it, or it is wrong in the tensor language. What is wrong has been shown.
    pub fn from_user(name: &str, bytes: Vec<u8>) -> Result<Source> {
        let mut source = Source::new(name.to_string(), bytes);
        if tensor::is_program(Path::new(name)) {
            source.check_characters("text")?;
            let results = Results::InPlace;
            source.translated = Some(tensor::translate(&source.name, source.text(), results)?);
        } else if !source.is_bytecode() {
            source.check_text()?;
        }
        Ok(source)
    }

    fn new(name: String, bytes: Vec<u8>) -> Source {
        let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
            Some(text) => text.to_vec(),
            None => bytes,
        };
        Source {
            name,
            bytes,
            translated: None,
            written: Written::Same,
        }
    }

    /// The same, with results that stand for other elements in files.
    pub fn written_as(self, written: Written) -> Source {
        Source { written, ..self }
    }

    /// Returns what its results are in files.
    pub fn written(&self) -> Written {
        self.written
    }

    /// Returns the names of each function's arguments and results; the module is as it was parsed.
    pub fn names(&self, module: Op) -> BTreeMap<String, Names> {
        let mut written = names::written(module);
        if let Some(translated) = &self.translated {
            for names in written.values_mut() {
                names.clone_from(&translated.names);
            }
        }
        written
    }

    /// Returns the accounts of its statements, if it is in the tensor language.
    pub fn accounts(&self) -> Option<Vec<Account>> {
        let translated = self.translated.as_ref()?;
        Some(memory::accounts(&translated.program, self.text()))
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

    /// Its lines, without their ends; none if it is bytecode.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let text: &[u8] = if self.is_bytecode() { b"" } else { &self.bytes };
        text.split(|&byte| byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The whole text; empty if it is bytecode.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap_or_default()
    }

    /// Parses and verifies. What is wrong has been shown when an error comes back.
    pub fn parse<'c>(&self, context: &'c Context) -> Result<Module<'c>> {
        let module = self.parse_only(context)?;
        self.verify(context, &module)?;
        Ok(module)
    }

    /// Parses what a command is about: everything, or, where a function is wanted, that one with
    /// what it needs. What is wrong elsewhere is in nobody's way unless it cannot be parsed.
    pub fn parse_wanted<'c>(
        &self,
        context: &'c Context,
        wanted: Option<&str>,
    ) -> Result<Module<'c>> {
        let Some(wanted) = wanted else {
            return self.parse(context);
        };
        let module = self.parse_only(context)?;
        let op = compile::operation(&module);
        let name = select(op, Some(wanted), self.stem())?;
        compile::keep_only(context, &module, &name);
        self.verify(context, &module)?;
        Ok(module)
    }

    fn verify(&self, context: &Context, module: &Module) -> Result<()> {
        let op = compile::operation(module);
        self.check_bodies(context, op)?;
        // SAFETY: the operation is the module's, which is there.
        let holds = faults::reading(&self.name, || unsafe { mlirOperationVerify(op.to_raw()) });
        match holds {
            true => Ok(()),
            false => Err(Error::diagnosed()),
        }
    }

    fn parse_only<'c>(&self, context: &'c Context) -> Result<Module<'c>> {
        let mut text = match &self.translated {
            Some(translated) => translated.module.clone().into_bytes(),
            None => self.bytes.clone(),
        };
        text.push(0); // MLIR's lexer reads up to a null byte behind the text
        let source = mlir_sys::MlirStringRef {
            data: text.as_ptr().cast(),
            length: text.len() - 1,
        };
        // SAFETY: text and name outlive the call; the module is ours.
        let module = faults::reading(&self.name, || unsafe {
            let name = string_ref(&self.name);
            Module::from_option_raw(mdhParseModule(context.to_raw(), source, name, false))
        });
        module.ok_or_else(Error::diagnosed)
    }

    /// Refuses operations of linalg whose bodies are wrong that upstream makes of their types: an error
    /// in what no text is of would have no place.
    fn check_bodies(&self, context: &Context, module: Op) -> Result<()> {
        let ops = ir::all(module).into_iter();
        let named = ops.filter(|op| ir::name_of(*op).starts_with("linalg."));
        let named = named.filter(|op| ir::name_of(*op) != ops::linalg::GENERIC);
        // What is wrong with the operation itself has its place.
        for op in named.filter(|op| self.mistake(context, *op).is_some()) {
            let inside = ir::all(op).into_iter().filter(|inner| *inner != op);
            let made =
                inside.filter(|inner| SourceLocation::from_location(inner.location()).is_none());
            let wrong = made.flat_map(|inner| self.mistake(context, inner)).next();
            if let Some(found) = wrong {
                let message = format!(
                    "has no body for these types of elements, as upstream makes it: {found}; expected a \
                     destination of the type of the inputs or of a wider one; write that and convert its \
                     elements, or write a linalg.generic"
                );
                ir::error_at(op, &message);
                return Err(Error::diagnosed());
            }
        }
        Ok(())
    }

    /// Verifies an operation; what is wrong with it, without showing that.
    fn mistake(&self, context: &Context, op: Op) -> Option<String> {
        let first: Arc<Mutex<Option<String>>> = Arc::default();
        let said = Arc::clone(&first);
        let handler = context.attach_diagnostic_handler(move |diagnostic| {
            if let Ok(mut said) = said.lock() {
                said.get_or_insert_with(|| diagnostic.to_string());
            }
            true
        });
        // SAFETY: the operation is the module's, which is there.
        let verify = || unsafe { mlirOperationVerify(op.to_raw()) };
        let holds = faults::reading(&self.name, verify);
        context.detach_diagnostic_handler(handler);
        let first = first.lock().ok().and_then(|mut first| first.take());
        (!holds).then(|| first.unwrap_or_default())
    }

    /// Returns whether it is MLIR bytecode.
    pub fn is_bytecode(&self) -> bool {
        self.bytes.starts_with(BYTECODE_MAGIC)
    }

    /// Refuses text that MLIR's parser does not report, or does not survive.
    fn check_text(&self) -> Result<()> {
        self.check_characters("MLIR text or bytecode")?;
        if let Some((line, column)) = nesting::too_deep(&self.bytes) {
            let deepest = nesting::DEEPEST;
            let message = format!("brackets are nested more than {deepest} deep");
            return Err(error_in(self, line, column, &message));
        }
        Ok(())
    }

    /// Fails for what is no UTF-8, and for null bytes.
    fn check_characters(&self, expected: &str) -> Result<()> {
        if let Err(error) = std::str::from_utf8(&self.bytes) {
            let at = error.valid_up_to();
            let message = format!(
                "found the byte 0x{:02x}, which is not UTF-8: expected {expected}",
                self.bytes[at]
            );
            return Err(self.error_at(at, &message));
        }
        if let Some(at) = self.bytes.iter().position(|&byte| byte == 0) {
            let message = format!("found a null byte: expected {expected}");
            return Err(self.error_at(at, &message));
        }
        Ok(())
    }

    /// An error at a byte of the text.
    fn error_at(&self, offset: usize, message: &str) -> Error {
        let before = &self.bytes[..offset];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        let start = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |n| n + 1);
        error_in(self, line, offset - start + 1, message)
    }
}
