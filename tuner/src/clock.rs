//! Time that never goes back.

use std::time::{Duration, Instant};

/// A clock. What it says may jump; a [`Stopwatch`] is for what follows from it.
pub trait Clock {
    /// The time since its start, from which a search counts.
    fn now(&self) -> Duration;
}

/// The system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    start: Instant,
}

impl Monotonic {
    /// A clock that starts now.
    pub fn start() -> Monotonic {
        Monotonic {
            start: Instant::now(),
        }
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// The time that has passed by a clock. A clock that jumps back costs nothing: time goes on from
/// where it was.
pub struct Stopwatch<'c> {
    clock: &'c dyn Clock,
    last: Duration,
    elapsed: Duration,
}

impl<'c> Stopwatch<'c> {
    /// Starts where the clock does.
    pub fn of(clock: &'c dyn Clock) -> Stopwatch<'c> {
        Stopwatch {
            clock,
            last: Duration::ZERO,
            elapsed: Duration::ZERO,
        }
    }

    /// The time that has passed.
    pub fn elapsed(&mut self) -> Duration {
        let now = self.clock.now();
        let more = now.saturating_sub(self.last);
        self.elapsed = self.elapsed.saturating_add(more);
        self.last = now;
        self.elapsed
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Fake(Cell<u64>);

    impl Clock for Fake {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.get())
        }
    }

    #[test]
    fn time_does_not_go_back() {
        let clock = Fake(Cell::new(3));
        let mut watch = Stopwatch::of(&clock);
        let mut at = |second| {
            clock.0.set(second);
            watch.elapsed().as_secs()
        };
        assert_eq!(
            [at(10), at(2), at(7), at(7), at(1_000_000)],
            [10, 10, 15, 15, 1_000_008]
        );
    }
}
