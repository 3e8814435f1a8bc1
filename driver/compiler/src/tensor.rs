//! Programs of the tensor language (`.tdsl`), as MLIR and as they are.

use std::path::Path;

use mdh_frontend::diagnostic::render_all;
use mdh_frontend::mlir::{self, Origin, Results};
use mdh_frontend::{CheckedProgram, Diagnostic};

use crate::error::{Error, Result, say};
use crate::names::Names;

/// Extension of the names of files that hold such programs.
const EXTENSION: &str = "tdsl";

/// A program of the tensor language in MLIR.
pub struct Translated {
    /// The module.
    pub module: String,
    /// Names of its function's arguments and results.
    pub names: Names,
    /// The program.
    pub program: CheckedProgram,
}

/// Returns whether a file holds such a program.
pub fn is_program(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == EXTENSION)
}

/// Reads a program. What is wrong has been shown when an error comes back.
pub fn read(file: &str, text: &str) -> Result<CheckedProgram> {
    mdh_frontend::read(text).map_err(|wrong| shown(&wrong, file, text))
}

/// Translates a program. What is wrong has been shown when an error comes back.
pub fn translate(file: &str, text: &str, results: Results) -> Result<Translated> {
    let program = read(file, text)?;
    let function = function(file);
    let origin = Origin {
        function: &function,
        file,
        text,
        results,
    };
    let module = mlir::module(&program, origin).map_err(|wrong| shown(&wrong, file, text))?;
    let named = |variables: &[usize]| -> Vec<Option<String>> {
        let names = variables.iter().map(|v| program.context.name(*v));
        names.map(|name| Some(name.to_string())).collect()
    };
    // What is given too is updated where it is.
    let mut returned = program.outputs.clone();
    returned.retain(|variable| !program.inputs.contains(variable));
    Ok(Translated {
        module,
        names: Names {
            arguments: named(&program.inputs),
            ssa: named(&program.inputs),
            results: named(&returned),
        },
        program,
    })
}

fn shown(wrong: &[Diagnostic], file: &str, text: &str) -> Error {
    say(&render_all(wrong, file, text));
    Error::diagnosed()
}

/// The file's name as that of a function, also in C.
fn function(file: &str) -> String {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = stem.unwrap_or_default().chars().map(letter).collect();
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => name,
        false => format!("f_{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_like_their_files() {
        let names = ["a/matvec.tdsl", "2-mm.b.tdsl", "é", ""].map(function);
        assert_eq!(names, ["matvec", "f_2_mm_b", "f__", "f_"]);
    }
}
