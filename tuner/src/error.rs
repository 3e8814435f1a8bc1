//! Failures of the tuner itself (not of candidates), with their text for the user.

use std::fmt;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Kind of a failure, from which a command makes its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The input is wrong: a space, a command, a name.
    Input,
    /// Something of the system is missing: space on a disk, the right to write.
    Resources,
    /// A bug in mdh.
    Bug,
}

/// A failure: what was found and expected, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Kind of failure.
    pub kind: Kind,
    /// A sentence without a full stop: found, expected, where.
    pub message: String,
    /// Advice.
    pub help: Option<String>,
}

impl Error {
    /// A failure of that kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Error {
        Error {
            kind,
            message: message.into(),
            help: None,
        }
    }

    /// Wrong input.
    pub fn input(message: impl Into<String>) -> Error {
        Error::new(Kind::Input, message)
    }

    /// Something that the system does not have.
    pub fn resources(message: impl Into<String>) -> Error {
        Error::new(Kind::Resources, message)
    }

    /// A bug in mdh.
    pub fn bug(message: impl Into<String>) -> Error {
        Error::new(Kind::Bug, message)
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// The name among those known that was probably meant, as advice.
pub(crate) fn did_you_mean<'n>(
    found: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| format!("did you mean '{name}'?"))
}
