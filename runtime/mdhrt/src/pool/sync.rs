//! Primitives of [`super::board`]: atomics, a cell, sleeping and spinning. The tests put loom's in
//! their place.

use std::cell::UnsafeCell;
use std::hint;
use std::ptr;
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

/// A plain value that the board's protocol keeps from being written while somebody reads it.
pub struct Cell<T>(UnsafeCell<T>);

// SAFETY: the callers of `get` and `set` promise that they do not race.
unsafe impl<T: Send> Sync for Cell<T> {}

impl<T: Copy> Cell<T> {
    /// A cell that holds `value`.
    pub fn new(value: T) -> Cell<T> {
        Cell(UnsafeCell::new(value))
    }

    /// The value.
    ///
    /// # Safety
    /// No `set` runs at the same time.
    pub unsafe fn get(&self) -> T {
        // SAFETY: by this function's contract.
        unsafe { *self.0.get() }
    }

    /// Replaces the value.
    ///
    /// # Safety
    /// No `get` and no other `set` runs at the same time.
    pub unsafe fn set(&self, value: T) {
        // SAFETY: by this function's contract.
        unsafe { *self.0.get() = value }
    }
}

/// Sleeps as long as `word` holds `value`; the kernel compares them in one step with going to
/// sleep. The word is changed first, then the sleeper [woken](wake).
pub fn sleep_while(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) == value {
        let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        let forever = ptr::null::<libc::timespec>();
        // SAFETY: the word is alive; a signal or a change of the word only ends the wait early.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, forever) };
    }
}

/// Wakes the one that sleeps on `word`.
pub fn wake(word: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is alive; nothing happens if nobody sleeps.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 1) };
}

/// Time for which a worker spins before it sleeps.
#[derive(Clone, Copy)]
pub struct Patience {
    limit: Duration,
    rounds: u32,
    since: Option<Instant>,
}

impl Patience {
    /// Moments between two looks at the clock: about a microsecond.
    const BURST: u32 = 64;

    /// Moments after which others may have the processor: about 20 microseconds.
    const ALONE: u32 = 1024;

    /// Spins for about `limit`.
    pub fn new(limit: Duration) -> Patience {
        Patience {
            limit,
            rounds: 0,
            since: None,
        }
    }

    /// The same for one that was woken and came too late. The processor it was given may be that
    /// of the thread it is to help, which should not lose it for nothing.
    pub fn after_sleep(self) -> Patience {
        Patience {
            rounds: Patience::ALONE,
            since: None,
            ..self
        }
    }

    /// Waits for a moment; `false` says that the time is used up.
    pub fn spin(&mut self) -> bool {
        hint::spin_loop();
        self.rounds = self.rounds.wrapping_add(1);
        if self.limit.is_zero() {
            return false;
        }
        if !self.rounds.is_multiple_of(Patience::BURST) {
            return true;
        }
        if self.rounds > Patience::ALONE {
            thread::yield_now();
        }
        self.since.get_or_insert_with(Instant::now).elapsed() < self.limit
    }
}

/// Waiting for others to finish, who are at work: at first the processor is only slowed, later
/// it is lent to any thread that has none.
#[derive(Default)]
pub struct Waiting(u32);

impl Waiting {
    /// Moments of spinning before others may run: about 20 microseconds.
    const SPINS: u32 = 1000;

    /// Waits for a moment.
    pub fn pause(&mut self) {
        hint::spin_loop();
        self.0 = self.0.saturating_add(1);
        if self.0 > Waiting::SPINS {
            thread::yield_now();
        }
    }
}
