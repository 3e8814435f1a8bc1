//! Options that had another name: a command line with one of these is refused with the name that it has now.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A command, an option's name before, and its name now.
const OLD: [(&str, &str, &str); 10] = [
    ("bench", "--packages", "--package"),
    ("bench", "--plot", "--svg"),
    ("compile", "--output", "--out"),
    ("einsum", "--output", "--out"),
    ("layout", "--assume", "--size"),
    ("map", "--assume", "--size"),
    ("schedule", "--from-db", "--tuned"),
    ("schedule", "--to", "--emit"),
    ("tune", "--db", "--tuned"),
    ("tune", "--report", "--html"),
];

/// The error about an option that is unknown: if it is one with another name, with that.
pub fn explained(mut command: Command, words: &[OsString], error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let name = words
        .get(1)
        .and_then(|word| word.to_str())
        .unwrap_or_default();
    let mut renamed = OLD.iter();
    let Some((_, old, new)) = renamed.find(|(of, old, _)| *of == name && old == option) else {
        return error;
    };
    command.build();
    let message = format!("found '{old}', which is '{new}' now");
    match command.find_subcommand_mut(name) {
        Some(command) => command.error(ErrorKind::UnknownArgument, message),
        None => command.error(ErrorKind::UnknownArgument, message),
    }
}
