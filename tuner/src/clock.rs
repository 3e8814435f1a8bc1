//! Time, as a search counts it.

use std::time::{Duration, Instant};

/// A clock that never goes back.
pub trait Clock {
    /// The time since its start, from which a search counts.
    fn now(&self) -> Duration;
}

impl Clock for Instant {
    fn now(&self) -> Duration {
        self.elapsed()
    }
}
