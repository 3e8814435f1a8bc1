//! Answers to questions about all indices of a layout.

use std::fmt;

/// Outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is true.
    Proved,
    /// It is false, and this shows it.
    Refuted(String),
    /// Neither was proved; it is true if these hold.
    Open(Vec<String>),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Proved => f.write_str("proved"),
            Answer::Refuted(why) => write!(f, "refuted: {why}"),
            Answer::Open(conditions) => write!(f, "not proven; open: {}", conditions.join("; ")),
        }
    }
}
