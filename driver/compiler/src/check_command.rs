//! `mdh check`: types of a tensor program, and its statements that may run in place. (`--check` of other commands is in
//! `check.rs`.)

use mdh_frontend::report::{Detail, report};

use crate::cli::CheckArguments;
use crate::error::{Error, Result};
use crate::source::read_text;
use crate::{output, tensor};

/// Runs the command.
pub fn run(arguments: &CheckArguments) -> Result<()> {
    let is_mlir = arguments
        .file
        .extension()
        .is_some_and(|e| e == "mlir" || e == "mlirbc");
    if is_mlir {
        let message = "found a program in MLIR, expected one in the tensor language (.tdsl)";
        return Err(Error::usage(message).help("`mdh run FILE --check` checks others"));
    }
    let (name, text) = read_text(&arguments.file)?;
    let program = tensor::read(&name, &text)?;
    let detail = match arguments.derivations {
        true => Detail::Derivations,
        false => Detail::Verdicts,
    };
    output::print(report(&program, &name, &text, detail))
}
