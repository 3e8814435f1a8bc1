//! The tuner: searches a space of configurations for the one of least cost.
//!
//! It sees a [`space::Space`] and something that measures, the trait [`measure::Measure`], and
//! nothing of what a configuration means.

pub mod abort;
pub mod clock;
pub mod command;
pub mod db;
pub mod error;
mod forest;
pub mod importance;
pub mod measure;
pub mod racing;
pub mod space;
pub mod stats;
pub mod technique;
pub mod tune;
