//! The tuner: searches a space of configurations for the one of least cost.
//!
//! It sees a [`space::Space`] and something that measures, the trait [`measure::Measure`], and
//! nothing of what a configuration means:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use mdh_tuner::abort::Abort;
//! use mdh_tuner::clock::Monotonic;
//! use mdh_tuner::measure::{Computed, Outcome};
//! use mdh_tuner::space;
//! use mdh_tuner::technique;
//! use mdh_tuner::tune::{Tuning, tune};
//!
//! let mut measure = Computed::new(1, |configuration| {
//!     let of = |name| configuration.get(name).and_then(|v| v.number()).unwrap_or(0.0);
//!     Outcome::of_cost((of("tile") - 32.0).abs() + of("threads"))
//! });
//!
//! let space = space::read(
//!     r#"{"parameters": [
//!         {"name": "tile", "interval": [1, 1024], "constraint": "1024 % tile == 0"},
//!         {"name": "threads", "interval": [1, 8], "constraint": "tile % threads == 0"}]}"#,
//! )?
//! .build()?;
//! let tuned = tune(Tuning {
//!     space: &space,
//!     technique: &mut *technique::named("auto", 1)?,
//!     measure: &mut measure,
//!     abort: &(Abort::Evaluations(30) | Abort::Fraction(1.0)),
//!     clock: &Monotonic::start(),
//!     interrupted: &AtomicBool::new(false),
//!     seeds: Vec::new(),
//!     resumed: Vec::new(),
//!     model: None,
//!     confidence: 0.95,
//!     confirmations: 0,
//!     pace: None,
//!     keep: &mut (),
//!     watch: &mut (),
//! })?;
//! let best = tuned.best().expect("all configurations work");
//! assert_eq!(best.configuration.to_string(), "tile=32 threads=1");
//! # Ok::<(), mdh_tuner::error::Error>(())
//! ```

pub mod abort;
pub mod alone;
pub mod clock;
pub mod command;
pub mod db;
pub mod digits;
pub mod error;
mod forest;
pub mod importance;
pub mod measure;
pub mod racing;
pub mod replay;
pub mod report;
pub mod space;
pub mod stats;
pub mod technique;
pub mod tune;
