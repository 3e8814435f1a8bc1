//! Selection of the function that a command is about.

use melior::ir::operation::OperationLike;

use mdh_dialect::ir::Op;

use crate::diagnostics::error_at;
use crate::error::{Error, Result};
use crate::functions::{functions_of, has_body, is_private, symbol_name};

/// Selects a function: the one asked for, else the only one, else the one named like the file.
pub fn select(module: Op, wanted: Option<&str>, stem: &str) -> Result<String> {
    let (functions, declarations): (Vec<Op>, Vec<Op>) =
        functions_of(module).into_iter().partition(|f| has_body(*f));
    let names: Vec<&str> = functions.iter().map(|f| symbol_name(*f)).collect();
    // Private functions can be asked for, but nobody is meant to.
    let public = functions.iter().filter(|f| !is_private(**f));
    let public: Vec<&str> = public.map(|f| symbol_name(*f)).collect();
    let there_are = || match (names.is_empty(), public.is_empty()) {
        (true, _) => "it has no function with a body".to_string(),
        (_, true) => "all functions are private".to_string(),
        _ => format!("there are: {}", listed(&public)),
    };
    let position = |name: &str| names.iter().position(|n| *n == name);
    let index = match wanted {
        Some(name) => position(name).ok_or_else(|| {
            match declarations.iter().find(|f| symbol_name(**f) == name) {
                Some(op) => {
                    let message = format!("'{name}' is only declared: it has no body");
                    error_at(op.location(), &message).help(there_are())
                }
                None => {
                    let message = format!("there is no function '{name}' with a body");
                    Error::input(message).help(there_are() + &private_ones(&names, &public))
                }
            }
        })?,
        None if names.len() == 1 => 0,
        None if public.len() == 1 => position(public[0]).unwrap_or(0),
        None if names.is_empty() => {
            return Err(error_at(module.location(), "there is nothing to run").help(there_are()));
        }
        None => position(stem).ok_or_else(|| {
            Error::input("which function is meant?")
                .help(format!("name it with --entry NAME; {}", there_are()))
        })?,
    };
    if names[index].contains('\0') {
        let message = "cannot be run: its name has a null character";
        return Err(error_at(functions[index].location(), message));
    }
    Ok(names[index].to_string())
}

/// Lists the names that are not public, which can be asked for too.
fn private_ones(names: &[&str], public: &[&str]) -> String {
    let mut names = names.to_vec();
    names.retain(|name| !public.contains(name));
    match (names.is_empty(), public.is_empty()) {
        (true, _) => String::new(),
        (_, true) => format!(": {}", listed(&names)),
        _ => format!("; private: {}", listed(&names)),
    }
}

/// The function of a name that was selected.
pub fn function<'c>(module: Op<'c>, name: &str) -> Result<Op<'c>> {
    let functions = functions_of(module).into_iter();
    let mut named = functions.filter(|function| symbol_name(*function) == name);
    named
        .next()
        .ok_or_else(|| Error::bug(format!("the function '{name}' is gone")))
}

/// The first names of a list.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    let first = &names[..names.len().min(SHOWN)];
    match names.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
