//! Programs compiled, run and checked: the commands of `mdh` that are about a program, and the code
//! that they share.
//!
//! Owns the way of a program from its file to what a user sees. It must not know how a pass works: it asks
//! `mdh_passes::pipelines` for what leads to a stage (and `mdh explain` what a pass chose). Start with `formed.rs`, then `run_command.rs`.

pub mod arguments;
pub mod asm_command;
pub mod between;
pub mod carried;
pub mod check;
pub mod check_command;
pub mod cli;
pub mod compile;
pub mod compile_command;
pub mod depth;
pub mod diagnostics;
pub mod entry;
pub mod error;
pub mod exact;
pub mod execute;
pub mod explain;
pub mod explain_command;
pub mod formed;
pub mod functions;
pub mod gpu;
pub mod host;
pub mod interrupt;
pub mod layout;
pub mod library;
mod named;
pub mod names;
pub mod nesting;
pub mod npy;
pub mod output;
pub mod package;
pub mod plan;
pub mod progress;
pub mod prospect;
pub mod ptx;
pub mod raise;
pub mod rehearsal;
pub mod report;
pub mod run_command;
pub mod schedule_command;
pub mod schedules;
pub mod select;
pub mod sized;
pub mod sizes;
pub mod source;
pub mod steps;
pub mod tensor;
pub mod tuned;
pub mod values;
pub mod versions;
