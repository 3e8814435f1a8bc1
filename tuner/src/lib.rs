//! `mdh tune`: the search of a space of configurations for the one of least cost.
//!
//! All but `programs` is general. It owns spaces (`space`: valid configurations as chains of trees), the
//! techniques that propose configurations (`technique`), the loop that measures them (`tune`) by the trait
//! `measure::Measure` until a condition holds (`abort_condition`), the database of what was measured (`db`) and the page
//! about a search (`report`). It must not know what a configuration means: `programs` does, whose configurations
//! are schedules. Start reading at `tune::tune`, whose tests show a whole search, and at `programs::run`, the
//! command.

mod abort_condition;
mod alone;
mod clock;
mod db;
mod digits;
mod error;
mod forest;
mod importance;
mod measure;
pub mod programs;
mod report;
mod space;
mod technique;
mod tune;
