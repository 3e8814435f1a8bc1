//! Repeated timing on the monotonic clock.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// The times of several runs of the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The fastest run.
    pub min: Duration,
    /// The middle run; of an even number, the mean of the two middle ones.
    pub median: Duration,
    /// The slowest run.
    pub max: Duration,
    /// Number of runs.
    pub runs: NonZeroU32,
}

impl Times {
    /// The times of these runs; `None` if there are none.
    pub fn new(mut times: Vec<Duration>) -> Option<Times> {
        let runs = NonZeroU32::new(times.len() as u32)?;
        times.sort_unstable();
        let (middle, last) = (times.len() / 2, times.len() - 1);
        Some(Times {
            min: times[0],
            median: (times[last - middle] + times[middle]) / 2,
            max: times[last],
            runs,
        })
    }
}

/// Runs `prepare`, then `run`, `runs` times, and times each `run` alone.
///
/// `prepare` is where outputs are poisoned and inputs that a run overwrites are restored. The
/// first failure of either ends the measurement.
pub fn measure<E>(
    runs: NonZeroU32,
    mut prepare: impl FnMut() -> Result<(), E>,
    mut run: impl FnMut() -> Result<(), E>,
) -> Result<Times, E> {
    let mut times = Vec::new();
    for _ in 0..runs.get() {
        prepare()?;
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    Ok(Times::new(times).unwrap_or_else(|| panic!("there are {runs} runs")))
}

/// A first call that takes longer than this is a measurement like any other: threads wake up in
/// far less.
const LONG: Duration = Duration::from_millis(100);

/// The time of each of `calls` runs, one right after the other. There is one more before them that
/// is not timed, in which threads wake up and caches fill, unless it takes so long that this does
/// not matter.
pub fn steady<E>(
    calls: NonZeroU32,
    mut run: impl FnMut() -> Result<(), E>,
) -> Result<Vec<Duration>, E> {
    let mut times = Vec::new();
    let mut timed = || -> Result<Duration, E> {
        let start = Instant::now();
        run()?;
        Ok(start.elapsed())
    };
    let first = timed()?;
    if first > LONG {
        times.push(first);
    }
    while times.len() < calls.get() as usize {
        times.push(timed()?);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_prepared_and_times_are_ordered() {
        let log = std::cell::RefCell::new(String::new());
        let note = |letter| {
            log.borrow_mut().push(letter);
            Ok(())
        };
        let times = measure::<()>(NonZeroU32::new(4).unwrap(), || note('p'), || note('r')).unwrap();
        assert_eq!(log.into_inner(), "prprprpr");
        assert!(times.min <= times.median && times.median <= times.max);
        assert_eq!(times.runs.get(), 4);
    }

    #[test]
    fn only_a_long_first_call_counts() {
        let two = NonZeroU32::new(2).unwrap();
        for (first, expected) in [(Duration::ZERO, 3), (LONG * 2, 2)] {
            let mut runs = 0;
            let times = steady::<()>(two, || {
                if runs == 0 {
                    std::thread::sleep(first);
                }
                runs += 1;
                Ok(())
            });
            assert_eq!((times.unwrap().len(), runs), (2, expected));
        }
    }

    #[test]
    fn the_first_failure_ends_it() {
        let mut runs = 0;
        let result = measure(
            NonZeroU32::new(9).unwrap(),
            || Ok(()),
            || {
                runs += 1;
                if runs == 2 { Err("second") } else { Ok(()) }
            },
        );
        assert_eq!(result, Err("second"));
        assert_eq!(runs, 2);
    }
}
