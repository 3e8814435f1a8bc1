//! The command line of `mdh`.

pub mod cli;
