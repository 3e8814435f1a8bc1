//! The parts of an explanation ([`crate::explain_command`]): a computation, and its schedule on the
//! layers of a machine. Words and numbers only; nothing is run.
//!
//! ```text
//! program --look--> computation::Explained --> summary::Summary --> table, details, JSON, page::html
//!                                                    '-> spelled: the schedules, for --schedule
//! ```

pub mod computation;
pub mod cost;
mod details;
pub mod device;
pub mod drawing;
pub mod inside;
pub mod levels;
pub mod look;
pub mod loops;
pub mod page;
pub mod reasons;
pub mod refusal;
pub mod roofline;
pub mod sizes;
pub mod spelled;
pub mod statements;
pub mod summary;
mod table;
pub mod updates;
pub mod version;
pub mod work;

#[cfg(test)]
mod tests;
