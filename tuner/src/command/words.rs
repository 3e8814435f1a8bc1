//! The words of a command, with places for the values of parameters.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, did_you_mean};
use crate::space::value::Configuration;

/// The words of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words(Vec<Vec<Piece>>);

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Parameter(String),
}

impl Words {
    /// Parses a command. `known` are the names that may stand in braces.
    pub(super) fn parse(text: &str, known: &[String]) -> Result<Words> {
        let words = shlex::split(text).ok_or_else(|| {
            Error::input(format!(
                "found the command `{text}`, in which a quote is not closed"
            ))
        })?;
        if words.is_empty() {
            return Err(Error::input(
                "found an empty command, expected a program and its arguments",
            ));
        }
        let words = words.iter().map(|word| pieces(word, known));
        Ok(Words(words.collect::<Result<_>>()?))
    }

    /// Tells whether a parameter's value stands in a word.
    pub(super) fn uses(&self, name: &str) -> bool {
        let is_it = |piece: &Piece| matches!(piece, Piece::Parameter(known) if known == name);
        self.0.iter().flatten().any(is_it)
    }

    /// The words for a configuration.
    pub(super) fn filled(&self, configuration: &Configuration) -> Vec<String> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            // Names were checked; what is not there is nothing.
            Piece::Parameter(name) => configuration
                .get(name)
                .map_or(String::new(), ToString::to_string),
        };
        self.0
            .iter()
            .map(|word| word.iter().map(text).collect())
            .collect()
    }

    /// The words as they are written, without quotes.
    pub(super) fn texts(&self) -> Vec<String> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.replace('{', "{{").replace('}', "}}"),
            Piece::Parameter(name) => format!("{{{name}}}"),
        };
        self.0
            .iter()
            .map(|word| word.iter().map(text).collect())
            .collect()
    }

    /// The name of the program, unless it depends on parameters.
    pub(super) fn program(&self) -> Option<&str> {
        match self.0[0].as_slice() {
            [Piece::Text(name)] => Some(name),
            _ => None,
        }
    }

    /// Checks that the program is there, unless its name depends on parameters.
    pub(super) fn check_program(&self, folder: Option<&Path>) -> Result<()> {
        let found = self.program().map(|name| find(name, folder));
        found.transpose().map(|_| ())
    }
}

/// The path of a program, as the system finds it when it is started in a folder.
pub(super) fn find(name: &str, folder: Option<&Path>) -> Result<PathBuf> {
    let folder = folder.unwrap_or(Path::new(""));
    let may_run = |path: &PathBuf| {
        let known = path.metadata();
        known.is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o111 != 0)
    };
    let found = if name.contains('/') {
        Some(folder.join(name)).filter(|path| path.is_file())
    } else {
        let paths = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
        let mut all = std::env::split_paths(&paths).map(|path| folder.join(path).join(name));
        all.find(may_run)
    };
    found.ok_or_else(|| {
        Error::input(format!("there is no program '{name}'"))
            .help("give its path; what only a shell knows runs as sh -c '..'")
    })
}

/// The pieces of a word.
fn pieces(word: &str, known: &[String]) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = word;
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        match letter {
            '{' | '}' if after.starts_with(letter) => {
                text.push(letter);
                rest = &after[1..];
            }
            '{' => {
                let Some((name, after)) = after.split_once('}') else {
                    return Err(
                        Error::input(format!("found '{{' in '{word}' without its '}}'"))
                            .help("write {{ for a brace"),
                    );
                };
                check_name(name, word, known)?;
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Parameter(name.to_string()));
                rest = after;
            }
            '}' => {
                return Err(
                    Error::input(format!("found '}}' in '{word}' without its '{{'"))
                        .help("write }} for a brace"),
                );
            }
            _ => {
                text.push(letter);
                rest = after;
            }
        }
    }
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

fn check_name(name: &str, word: &str, known: &[String]) -> Result<()> {
    if known.iter().any(|other| other == name) {
        return Ok(());
    }
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let error = Error::input(format!(
        "found {{{name}}} in '{word}', expected one of the parameters {}",
        names.join(", ")
    ));
    Err(did_you_mean(name, names)
        .into_iter()
        .fold(error, Error::help))
}
