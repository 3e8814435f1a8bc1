//! Helpers that several passes share; no pass is here.

pub(crate) mod borders;
pub mod buffers;
pub mod builder;
pub mod captured;
pub(crate) mod conditions;
pub mod deterministic;
pub mod draft;
pub mod extents;
pub mod fusion;
pub(crate) mod index_arith;
pub mod indices;
pub mod inline;
pub mod kernels;
pub(crate) mod layout_vectors;
pub mod machine;
pub mod names;
pub mod overwritten;
pub mod parallel;
pub(crate) mod plain_pads;
pub(crate) mod projection;
pub(crate) mod ranges;
pub mod region;
pub(crate) mod residue;
pub mod scheduled;
pub(crate) mod tiles;
pub mod versions;
