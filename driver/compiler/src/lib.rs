//! Programs compiled, run and checked: the commands of `mdh` that are about a program, and the code
//! that they share.
//!
//! Owns the way of a program from its file to what a user sees. It must not know the order of passes: it asks
//! `mdh_passes::pipelines` for what leads to a stage (and `mdh explain` what a pass chose). Start with `formed.rs`, then `run_command.rs`.
//!
//! | modules | what they hold |
//! |---------|----------------|
//! | `*_command`, [`explain`], [`cli`], [`devices`], [`host`] | the commands, their options, and the machine that they are for |
//! | [`source`], [`tensor`], [`raise`], [`nesting`], [`diagnostics`], [`remarks`] | programs from files, and what is said about them |
//! | [`formed`], [`sized`], [`select`], [`entry`], [`functions`], [`names`], `named` | the function that a command is about |
//! | [`schedules`], `nearest`, [`tuned`], [`versions`], [`between`] | schedules and passes that a user brings |
//! | [`arguments`], [`sizes`], [`values`], [`npy`], [`carried`], [`layout`] | what a function is called with |
//! | [`compile`], [`library`], [`package`], [`ptx`], [`gpu`], [`execute`] | code, as files and as calls |
//! | [`prospect`], [`plan`], [`depth`], [`check`], [`exact`], [`steps`], [`rehearsal`] | what a run must give, and whether it has |
//! | [`report`], [`html`], [`error`], [`output`], [`progress`], [`interrupt`] | what a user sees |

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
pub mod devices;
pub mod diagnostics;
pub mod einsum_command;
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
pub mod html;
pub mod interrupt;
pub mod layout;
pub mod library;
mod named;
pub mod names;
mod nearest;
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
pub mod remarks;
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
