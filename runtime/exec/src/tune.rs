//! Packages of candidates: a program with many schedules, measured on a machine with a GPU and
//! nothing else.
//!
//! [`package`] is the file, [`results`] what is brought back, [`worker`] the process that runs
//! candidates, and [`race`] what starts it, and starts another one where a candidate has taken the
//! GPU's context with it.

pub mod package;
pub mod race;
pub mod results;
pub mod worker;
