//! Passes over the mdh dialect, and the pipelines they make up.
//!
//! [`table`] lists the passes, [`pipelines`] is the page that shows the compiler.

pub mod builder;
pub mod inline;
pub mod lower;
pub mod pipelines;
pub mod table;
