//! The command `mdh` as its users see it: what it prints and how it ends, for right and for wrong
//! input. Each test is a session in a directory of its own, and its snapshot reads like one.

mod arrays;
mod benches;
mod checks;
mod einsums;
mod explanations;
mod files;
mod functions;
mod hints;
mod libraries;
mod machines;
mod memory;
mod names;
mod options;
mod outputs;
mod own_programs;
mod programs;
mod progress;
mod remarks;
mod runs;
mod schedules;
mod signals;
mod sizes;
mod stages;
mod support;
mod tuning;
