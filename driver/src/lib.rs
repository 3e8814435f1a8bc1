//! What the commands share: the command line, values and their files, reports, errors.

pub mod arguments;
pub mod asm_command;
pub mod bench;
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
pub mod execute;
pub mod explain;
pub mod explain_command;
pub mod formed;
pub mod gpu;
pub mod interrupt;
pub mod layout;
pub mod layout_access;
pub mod layout_command;
pub mod layout_picture;
pub mod layout_wrapper;
pub mod library;
pub mod map_code;
pub mod map_command;
pub mod map_picture;
pub mod names;
pub mod nesting;
pub mod npy;
pub mod output;
mod package;
pub mod plan;
pub mod progress;
mod ptx;
pub mod report;
pub mod run_command;
pub mod schedule_command;
pub mod schedules;
pub mod select;
pub mod sizes;
pub mod source;
pub mod steps;
pub mod template;
pub mod tensor;
pub mod values;

#[cfg(test)]
mod loop_memory_tests;
#[cfg(test)]
mod vector_math_tests;
#[cfg(test)]
mod warnings_tests;
