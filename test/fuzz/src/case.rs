//! Random cases and verdicts on them.

use std::path::Path;

use mdh_compiler::error::Result;

use crate::failure::Failure;
use crate::run::Ending;

/// A random case.
pub trait Case {
    /// All that tells it from others.
    fn text(&self) -> String;

    /// Runs it; `folder` is for what it is called with.
    fn run(&self, folder: &Path) -> Ending;

    /// Writes it to a folder; returns the command that runs it.
    fn write(&self, folder: &Path) -> Result<String>;

    /// Its features, with commas between, the name of its workload first; empty if these are not counted.
    fn features(&self) -> String {
        String::new()
    }
}

/// Verdict on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The result is what the definition says.
    Right,
    /// It is refused, rightly so, in these words.
    Refused(String),
    /// Everything else.
    Failed(Failure),
}
