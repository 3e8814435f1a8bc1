//! Helpers that several passes share; no pass is here.

pub mod borders;
pub mod buffers;
pub mod builder;
pub mod captured;
pub mod conditions;
pub mod deterministic;
pub mod draft;
pub mod extents;
pub mod fusion;
pub mod index_arith;
pub mod indices;
pub mod inline;
pub mod layout_vectors;
pub mod machine;
pub mod names;
pub mod overwritten;
pub mod parallel;
pub mod plain_pads;
pub mod projection;
pub mod ranges;
pub mod region;
pub mod residue;
pub mod scheduled;
pub mod tiles;
pub mod versions;
