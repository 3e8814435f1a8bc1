//! The command line of `mdh`.
//!
//! Owns names of commands and exit codes; what a command does is in the crate that has its subject. It must not know
//! anything else. Start with [`cli`].

pub mod cli;
pub mod commands;
pub mod pages;
