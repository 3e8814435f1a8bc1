//! What the commands share: the command line, values and their files, reports, errors.

pub mod cli;
pub mod error;
pub mod interrupt;
pub mod npy;
pub mod output;
pub mod progress;
pub mod report;
pub mod values;
