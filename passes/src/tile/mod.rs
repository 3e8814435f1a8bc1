//! Schedules: their choice, and loops over tiles from them, also by upstream's transformations.

pub(crate) mod partial_results;
pub mod schedule;
pub mod split_phases;
#[allow(clippy::module_inception, reason = "a pass is in the file of its name")]
pub mod tile;
pub(crate) mod tiling_interface;
pub mod warn;
