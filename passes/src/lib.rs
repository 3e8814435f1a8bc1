//! Passes over the mdh dialect, and the pipelines they make up.
//!
//! [`table`] lists the passes, [`pipelines`] is the page that shows the compiler.

pub mod buffers;
pub mod builder;
pub mod canonicalize;
pub mod captured;
pub mod checks;
pub mod choose;
pub mod deallocate;
pub mod deterministic;
pub mod divisions;
pub mod draft;
pub mod expand_math;
pub mod extents;
pub mod fence_stores;
pub mod form_compute;
pub mod fuse;
pub mod fusion;
pub mod histograms;
pub mod hoist_buffers;
pub mod indices;
pub mod inline;
pub mod keep_loops;
pub mod kernels;
pub mod layouts;
pub mod locate;
pub mod loop_buffers;
pub mod lower;
pub mod names;
pub mod narrow_indices;
pub mod outline;
pub mod pipelines;
pub mod prefetch;
pub mod prefix;
mod projection;
pub mod region;
mod residue;
pub mod scheduled;
pub mod separate_results;
pub mod separate_scans;
pub mod share;
pub mod simulate;
pub mod table;
pub mod tile;
pub mod to_triple;
pub mod vector_math;
pub mod vectorize;
