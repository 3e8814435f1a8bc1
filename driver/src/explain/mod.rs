//! The parts of an explanation ([`crate::explain_command`]): what a computation is, and what its
//! schedule does with the layers of a machine. Words and numbers only; nothing is run.

pub mod levels;
pub mod numbers;
pub mod work;
