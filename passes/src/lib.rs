//! Passes over the mdh dialect, and the pipelines they make up.
//!
//! [`table`] lists the passes, [`pipelines`] is the page that shows the compiler.

pub mod buffers;
pub mod builder;
pub mod deallocate;
pub mod form_compute;
pub mod inline;
pub mod lower;
pub mod names;
pub mod pipelines;
pub mod region;
pub mod table;
