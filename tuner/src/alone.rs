//! Measuring alone: of several searches on a machine, one measures at a time.
//!
//! Times of candidates that run beside those of another search say nothing of either. Whoever measures holds a
//! lock of the machine, which ends with its process.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::thread;
use std::time::{Duration, Instant};

use crate::measure::Race;

/// The locks, in the folder for temporary files: all users share them. Who waits holds the first one, so that who has
/// just measured comes after who has waited.
const NEXT: &str = "mdh-measures-next.lock";
const NOW: &str = "mdh-measures.lock";
/// Time between two tries.
const GLANCE: Duration = Duration::from_millis(2);
/// A wait that the user is told of.
const LONG: Duration = Duration::from_secs(5);

/// The right to measure, until it is dropped; none where there can be no such lock.
pub struct Alone {
    _lock: Option<File>,
}

/// A wait for locks.
struct Wait<'w> {
    race: &'w Race<'w>,
    start: Instant,
    say: Option<&'w mut dyn FnMut(&str)>,
}

impl Alone {
    /// Waits for it; `None` if the user interrupts, or the time is over. `say` is told of a long wait.
    pub fn wait(race: &Race<'_>, say: &mut dyn FnMut(&str)) -> Option<Alone> {
        let mut wait = Wait {
            race,
            start: Instant::now(),
            say: Some(say),
        };
        let _next = wait.until_locked(NEXT)?;
        let now = wait.until_locked(NOW)?;
        Some(Alone { _lock: now })
    }
}

impl Wait<'_> {
    /// Waits for one lock; `None` if that has to end, `Some(None)` if there can be no such lock.
    fn until_locked(&mut self, name: &str) -> Option<Option<File>> {
        let Some(file) = file(name) else {
            return Some(None);
        };
        loop {
            match file.try_lock() {
                Ok(()) => return Some(Some(file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(_)) => return Some(None),
            }
            let waited = self.start.elapsed();
            if self.race.is_interrupted() || self.race.left.is_some_and(|left| waited >= left) {
                return None;
            }
            if waited >= LONG
                && let Some(say) = self.say.take()
            {
                say("another search measures on this machine: waiting for it");
            }
            thread::sleep(GLANCE);
        }
    }
}

/// The file of a lock. That of another user can be read only, which is enough.
fn file(name: &str) -> Option<File> {
    let path = std::env::temp_dir().join(name);
    let existing = File::open(&path).ok();
    existing.or_else(|| {
        let mut made = OpenOptions::new();
        let made = made.create(true).append(true).mode(0o644);
        made.open(&path).ok()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// Checks: one has it, and who waits for it ends with the time that is left, or gets it afterwards.
    #[test]
    fn one_at_a_time() {
        let interrupted = AtomicBool::new(false);
        let race = |left| Race {
            best: &[],
            confidence: 0.9,
            left,
            interrupted: &interrupted,
        };
        let long = Some(Duration::from_secs(60));
        let first = Alone::wait(&race(long), &mut |_| ()).unwrap();
        assert!(first._lock.is_some());
        let soon = Some(Duration::from_millis(50));
        assert!(Alone::wait(&race(soon), &mut |_| ()).is_none());
        drop(first);
        assert!(Alone::wait(&race(long), &mut |_| ()).is_some());
        let held = Alone::wait(&race(long), &mut |_| ()).unwrap();
        interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(Alone::wait(&race(long), &mut |_| ()).is_none());
        drop(held);
    }
}
