//! Simpler computations with the same meaning, before they have schedules.

pub mod canonicalize;
pub mod exact;
pub mod fuse;
pub mod keep_loops;
pub mod layout_to_arith;
pub mod lower_histograms;
pub mod preserve_truncation;
pub mod reverse_dimensions;
pub mod separate_scans;
pub mod share_subexpressions;
