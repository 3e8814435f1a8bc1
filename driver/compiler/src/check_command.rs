//! `mdh check`: types of a tensor program, and its statements that may run in place. (`--check` of other commands is in
//! `check.rs`.)

use mdh_frontend::check::CheckedProgram;
use mdh_frontend::memory;
use mdh_frontend::report::{Detail, report};
use serde_json::json;

use crate::cli::CheckArguments;
use crate::error::{Error, Result};
use crate::source::read_text;
use crate::tensor;

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
    arguments.out.check()?;
    arguments.json.check()?;
    let (name, text) = read_text(&arguments.file)?;
    let program = tensor::read(&name, &text)?;
    let detail = match arguments.derivations {
        true => Detail::Derivations,
        false => Detail::Verdicts,
    };
    let json = &arguments.json;
    if !json.is_printed() {
        let report = report(&program, &name, &text, detail);
        arguments.out.write(report)?;
    }
    json.write(|| in_json(&program, &name, &text))
}

/// The variables of a program, and its statements with what is known of their memory.
fn in_json(program: &CheckedProgram, name: &str, text: &str) -> String {
    let variables = program.context.variables.iter().enumerate();
    let variables = variables.map(|(number, variable)| {
        json!({
            "name": variable.name,
            "shape": variable.shape.0,
            "is_input": program.inputs.contains(&number),
            "is_output": program.outputs.contains(&number),
        })
    });
    let statements = memory::accounts(program, text).into_iter();
    let statements = statements.map(|account| {
        json!({
            "line": account.line,
            "column": account.column,
            "text": account.text,
            "target": account.target,
            "is_compatible": !account.verdict.starts_with("not compatible"),
            "verdict": account.verdict,
            "bytes_apart": account.apart,
        })
    });
    let object = json!({
        "file": name,
        "variables": variables.collect::<Vec<_>>(),
        "statements": statements.collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}
