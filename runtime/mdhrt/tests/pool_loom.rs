//! The pool's board in every order in which its threads can take turns, and with every value
//! that its memory orderings allow a load to see: loom tries them all (up to the stated number
//! of involuntary switches). Loom notices a race on plain memory, a deadlock, and a thread that
//! waits for what never comes.
//!
//! The board is the library's own source file; only the atomics under it are loom's.

#[allow(dead_code, reason = "the library's pool uses more of it")]
#[path = "../src/pool/board.rs"]
mod board;

/// Loom's in the place of `runtime/mdhrt/src/pool/sync.rs`.
mod sync {
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::Ordering::Acquire;
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    use loom::thread::yield_now;

    pub struct Cell<T>(UnsafeCell<T>);

    impl<T: Copy> Cell<T> {
        pub fn new(value: T) -> Cell<T> {
            Cell(UnsafeCell::new(value))
        }

        pub unsafe fn get(&self) -> T {
            // SAFETY: loom fails the test if this races.
            self.0.with(|value| unsafe { *value })
        }

        pub unsafe fn set(&self, value: T) {
            // SAFETY: as in `get`.
            self.0.with_mut(|place| unsafe { *place = value });
        }
    }

    // SAFETY: as for the library's cell; loom checks it.
    unsafe impl<T: Send> Sync for Cell<T> {}

    /// The kernel's sleep: nothing but a change of the word ends it, so who is not woken turns
    /// round here for ever, which loom reports.
    pub fn sleep_while(word: &AtomicU32, value: u32) {
        while word.load(Acquire) == value {
            yield_now();
        }
    }

    pub fn wake(_: &AtomicU32) {}

    /// Sleeps at once: the most cases in the fewest steps.
    #[derive(Clone, Copy)]
    pub struct Patience;

    impl Patience {
        pub fn after_sleep(self) -> Patience {
            self
        }

        pub fn spin(&mut self) -> bool {
            false
        }
    }

    #[derive(Default)]
    pub struct Waiting(());

    impl Waiting {
        pub fn pause(&mut self) {
            yield_now();
        }
    }
}

use board::Leader;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use sync::Patience;

/// The memory that one job writes: plain, an element for each unit. Loom fails the test if two
/// threads touch one at the same time, or one after the other without an order between them.
struct Output(Vec<UnsafeCell<u32>>);

// SAFETY: loom checks every access.
unsafe impl Sync for Output {}
// SAFETY: as above.
unsafe impl Send for Output {}

impl Output {
    fn new(units: u32) -> Output {
        Output((0..units).map(|_| UnsafeCell::new(0)).collect())
    }

    fn add(&self, unit: u32, value: u32) {
        // SAFETY: loom checks it.
        self.0[unit as usize].with_mut(|place| unsafe { *place += value });
    }

    fn get(&self, unit: u32) -> u32 {
        // SAFETY: loom checks it.
        self.0[unit as usize].with(|place| unsafe { *place })
    }
}

/// Explores all orders with at most `switches` involuntary switches.
fn explore(switches: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.check(model);
}

/// A leader and its workers, which run units with `run(job, unit)`; ended in the end.
fn with_workers(
    threads: u32,
    run: impl Fn(usize, u32) + Clone + Send + 'static,
    lead: impl FnOnce(&mut Leader<usize>),
) {
    let mut leader = Leader::new(threads, usize::MAX);
    let workers: Vec<_> = (1..threads as usize)
        .map(|me| {
            let (board, run) = (leader.board(), run.clone());
            thread::spawn(move || board.serve(me, Patience, run))
        })
        .collect();
    lead(&mut leader);
    drop(leader);
    for worker in workers {
        worker.join().unwrap();
    }
}

/// Runs jobs of those numbers of units; each must be run once, and be visible afterwards.
fn jobs(threads: u32, units: &'static [u32]) {
    let outputs: Arc<Vec<Output>> = Arc::new(units.iter().map(|&n| Output::new(n)).collect());
    let written = outputs.clone();
    let run = move |job: usize, unit| written[job].add(unit, 1 + job as u32);
    with_workers(threads, run.clone(), |leader| {
        for (job, &units) in units.iter().enumerate() {
            leader.run(job, units, &run);
            for unit in 0..units {
                assert_eq!(outputs[job].get(unit), 1 + job as u32);
            }
        }
    });
}

#[test]
fn two_jobs_on_two_threads() {
    explore(2, || jobs(2, &[2, 3]));
}

#[test]
fn three_jobs_on_two_threads() {
    explore(2, || jobs(2, &[2, 1, 2]));
}

#[test]
fn one_job_on_three_threads() {
    explore(1, || jobs(3, &[3]));
}

/// The leader's own unit waits for the worker's, so the worker has to be woken: each of the two
/// jobs would hang if it slept through it.
#[test]
fn a_sleeper_is_woken() {
    explore(3, || {
        let done = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let seen = done.clone();
        let run = move |job: usize, unit| match unit {
            0 => {
                while seen[job].load(Ordering::Relaxed) == 0 {
                    thread::yield_now();
                }
            }
            _ => seen[job].store(1, Ordering::Relaxed),
        };
        with_workers(2, run.clone(), |leader| {
            leader.run(0, 2, &run);
            leader.run(1, 2, &run);
        });
    });
}

/// Units that wait for the one before them come to an end.
#[test]
fn a_unit_may_wait_for_lower_ones() {
    explore(2, || {
        let next = Arc::new(AtomicU32::new(0));
        let turn = next.clone();
        let run = move |_, unit| {
            while turn.load(Ordering::Acquire) != unit {
                thread::yield_now();
            }
            turn.store(unit + 1, Ordering::Release);
        };
        with_workers(2, run.clone(), |leader| leader.run(0, 3, &run));
        assert_eq!(next.load(Ordering::Relaxed), 3);
    });
}
