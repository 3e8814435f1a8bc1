//! The parts of an explanation ([`crate::explain_command`]): a computation, and its schedule on the
//! layers of a machine. Words and numbers only; nothing is run.

pub mod device;
pub mod inside;
pub mod levels;
pub mod sizes;
pub mod statements;
pub mod updates;
pub mod version;
pub mod work;
