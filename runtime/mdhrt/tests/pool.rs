//! Parallel loops: every part once, with its results visible, whoever calls and however often.

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use mdhrt::pool::{
    Body, Pool, SPIN, mdh_parallel_for, mdh_thread_count, set_threads, thread_count,
};

/// Tests that set the number of threads of the process's pool run one at a time.
static SETTING: Mutex<()> = Mutex::new(());

fn with_threads<T>(threads: usize, test: impl FnOnce() -> T) -> T {
    let _alone = SETTING
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    set_threads(NonZeroUsize::new(threads).unwrap());
    test()
}

/// Calls `body` through the C interface.
fn parallel_for<F: Fn(i64) + Sync>(parts: i64, body: F) {
    unsafe extern "C-unwind" fn call<F: Fn(i64)>(context: *mut c_void, part: i64) {
        // SAFETY: the context is the closure.
        unsafe { (*context.cast::<F>())(part) }
    }
    let call: Body = call::<F>;
    // SAFETY: the closure outlives the call and may be called on any thread.
    unsafe { mdh_parallel_for(call, (&raw const body).cast_mut().cast(), parts) }
}

/// Returns whether `condition` becomes true before long.
fn eventually(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if condition() {
            return true;
        }
        thread::yield_now();
    }
    false
}

#[test]
fn every_part_is_run_once_and_its_result_is_visible() {
    for threads in 1..=8 {
        let mut pool = Pool::new(threads);
        assert_eq!(pool.threads(), threads);
        for round in 0..3 {
            for parts in 0..=1000 {
                let counts: Vec<AtomicU32> = (0..parts).map(|_| AtomicU32::new(0)).collect();
                pool.run(parts, |part| {
                    counts[part as usize].fetch_add(1, Ordering::Relaxed);
                });
                for (part, count) in counts.iter().enumerate() {
                    let count = count.load(Ordering::Relaxed);
                    assert_eq!(count, 1, "{threads} {round}: part {part} of {parts}");
                }
            }
        }
    }
}

#[test]
fn no_parts_is_nothing_to_do() {
    for parts in [0, -1, i64::MIN] {
        parallel_for(parts, |part| panic!("part {part} of {parts}"));
    }
}

#[test]
fn plain_memory_is_summed_up() {
    let numbers: Vec<u64> = (0..1 << 20).map(|i| i * i % 1009).collect();
    let expected: u64 = numbers.iter().sum();
    for threads in [1, 2, 3, 8] {
        let mut pool = Pool::new(threads);
        for parts in [1, 2, 7, 64, 1 << 20] {
            struct Sums(*mut u64);
            // SAFETY: every part writes its own element.
            unsafe impl Sync for Sums {}
            impl Sums {
                fn set(&self, i: usize, sum: u64) {
                    // SAFETY: there are as many elements as parts; see above.
                    unsafe { *self.0.add(i) = sum }
                }
            }
            let mut sums = vec![0; parts];
            let (each, out) = (numbers.len().div_ceil(parts), Sums(sums.as_mut_ptr()));
            pool.run(parts as i64, |part| {
                let part = part as usize;
                let first = (part * each).min(numbers.len());
                let last = (first + each).min(numbers.len());
                out.set(part, numbers[first..last].iter().sum());
            });
            assert_eq!(sums.iter().sum::<u64>(), expected, "{threads} {parts}");
        }
    }
}

#[test]
fn a_part_prefers_its_thread() {
    // Every part waits until all threads have one, so each thread runs its own.
    let (threads, parts) = (4, 2);
    let mut pool = Pool::new(threads);
    let mut runs = Vec::new();
    for _ in 0..5 {
        let ids: Mutex<Vec<Option<ThreadId>>> = Mutex::new(vec![None; parts]);
        let begun = AtomicUsize::new(0);
        pool.run(parts as i64, |part| {
            ids.lock().unwrap()[part as usize] = Some(thread::current().id());
            begun.fetch_add(1, Ordering::SeqCst);
            assert!(eventually(|| begun.load(Ordering::SeqCst) == parts));
        });
        runs.push(ids.into_inner().unwrap());
    }
    assert_eq!(runs[0][0], Some(thread::current().id()));
    assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
}

#[test]
fn parts_of_a_busy_thread_are_taken_over() {
    let mut pool = Pool::new(2);
    let done = AtomicI64::new(0);
    // Part 0, the caller's first, waits for all others, half of which are the caller's too.
    pool.run(100, |part| {
        if part == 0 {
            assert!(eventually(|| done.load(Ordering::SeqCst) == 99));
        }
        done.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(done.into_inner(), 100);
}

#[test]
fn a_part_may_wait_for_lower_ones() {
    for threads in [1, 2, 3, 8] {
        let mut pool = Pool::new(threads);
        for parts in [2, 5, 100] {
            let next = AtomicI64::new(0);
            pool.run(parts, |part| {
                assert!(eventually(|| next.load(Ordering::Acquire) == part));
                next.store(part + 1, Ordering::Release);
            });
            assert_eq!(next.into_inner(), parts);
        }
    }
}

#[test]
fn workers_that_sleep_are_woken() {
    let mut pool = Pool::new(6);
    for round in 0..20 {
        // Asleep, just about to be, and awake.
        let pause = [4 * SPIN, SPIN, SPIN / 2, Duration::ZERO][round % 4];
        thread::sleep(pause);
        // All six threads are needed at the same time.
        let begun = AtomicUsize::new(0);
        pool.run(6, |_| {
            begun.fetch_add(1, Ordering::SeqCst);
            assert!(eventually(|| begun.load(Ordering::SeqCst) == 6), "{round}");
        });
    }
}

#[test]
fn nested_loops_run_on_the_calling_thread_in_order() {
    with_threads(3, || {
        let inner_parts = AtomicUsize::new(0);
        parallel_for(10, |_| {
            let me = thread::current().id();
            assert_eq!((thread_count(), mdh_thread_count()), (1, 1));
            let next = AtomicI64::new(0);
            parallel_for(20, |part| {
                assert_eq!(thread::current().id(), me);
                assert_eq!(next.fetch_add(1, Ordering::Relaxed), part);
                inner_parts.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(next.into_inner(), 20);
        });
        assert_eq!(inner_parts.into_inner(), 200);
        assert_eq!((thread_count(), mdh_thread_count()), (3, 3));
    });
}

#[test]
fn concurrent_callers_do_not_disturb_each_other() {
    with_threads(3, || {
        thread::scope(|scope| {
            for caller in 0..4 {
                scope.spawn(move || {
                    for round in 0..500 {
                        let parts = 1 + (round + 7 * caller) % 40;
                        let sum = AtomicI64::new(0);
                        parallel_for(parts, |part| {
                            sum.fetch_add(1000 + part, Ordering::Relaxed);
                        });
                        let expected = 1000 * parts + parts * (parts - 1) / 2;
                        assert_eq!(sum.into_inner(), expected, "{caller} {round}");
                    }
                });
            }
        });
    });
}

#[test]
fn a_busy_pool_is_not_waited_for() {
    with_threads(2, || {
        let second_is_done = AtomicU32::new(0);
        thread::scope(|scope| {
            parallel_for(2, |part| {
                if part == 0 {
                    scope.spawn(|| {
                        let me = thread::current().id();
                        parallel_for(5, |_| assert_eq!(thread::current().id(), me));
                        second_is_done.store(1, Ordering::SeqCst);
                    });
                }
                assert!(eventually(|| second_is_done.load(Ordering::SeqCst) == 1));
            });
        });
    });
}

#[test]
fn the_number_of_threads_can_be_changed() {
    for threads in [1, 4, 2, 5] {
        with_threads(threads, || {
            assert_eq!(mdh_thread_count(), threads as i64);
            let begun = AtomicUsize::new(0);
            let ids = Mutex::new(Vec::new());
            parallel_for(threads as i64, |_| {
                ids.lock().unwrap().push(thread::current().id());
                begun.fetch_add(1, Ordering::SeqCst);
                assert!(eventually(|| begun.load(Ordering::SeqCst) == threads));
            });
            let mut ids = ids.into_inner().unwrap();
            ids.sort_by_key(|id| format!("{id:?}"));
            ids.dedup();
            assert_eq!(ids.len(), threads);
        });
    }
}

/// In a process of its own, whose memory has room for a few stacks only.
#[test]
fn threads_that_the_system_refuses_are_done_without() {
    const CASE: &str = "MDH_POOL_CASE";
    if std::env::var(CASE).is_err() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "threads_that_the_system_refuses_are_done_without",
                "--nocapture",
            ])
            .env(CASE, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        return;
    }
    let statistics = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statistics.split(' ').next().unwrap().parse().unwrap();
    let limit = libc::rlimit {
        rlim_cur: pages * 4096 + (100 << 20),
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: only reads the limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    let mut pool = Pool::new(100);
    assert!((2..20).contains(&pool.threads()), "{}", pool.threads());
    let sum = AtomicI64::new(0);
    pool.run(1000, |part| {
        sum.fetch_add(part, Ordering::Relaxed);
    });
    assert_eq!(sum.into_inner(), 499_500);
}

/// Checks: the child of a process that has a pool runs loops, on threads of its own.
#[test]
fn children_have_pools_of_their_own() {
    const CASE: &str = "MDH_POOL_FORKED";
    if std::env::var(CASE).is_err() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "children_have_pools_of_their_own", "--nocapture"])
            .env(CASE, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        return;
    }
    let sum = || {
        let sum = AtomicI64::new(0);
        parallel_for(1000, |part| {
            sum.fetch_add(part, Ordering::Relaxed);
        });
        sum.into_inner()
    };
    set_threads(NonZeroUsize::new(4).unwrap());
    assert_eq!(sum(), 499_500);
    // SAFETY: the child calls what a child of a process with threads may, and ends.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(i32::from(sum() != 499_500));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert_eq!(status, 0);
    }
    assert_eq!(sum(), 499_500);
}
