//! The threads that compiled code runs parallel loops on.
//!
//! ```text
//! void    mdh_parallel_for(void (*body)(void *context, int64_t part), void *context, int64_t parts);
//! int64_t mdh_thread_count(void);
//! ```
//!
//! [`mdh_parallel_for`] calls `body(context, part)` once for every part in `0..parts` and returns
//! when all calls have returned; what they wrote is then visible. A body may rely on this:
//!
//! - Of `T` threads, thread `part * T / parts` is the one that prefers a part, at every call, so
//!   that data stays in its caches. The caller is thread 0. Threads that have nothing left to do
//!   take parts of others, also of those that have not woken up yet.
//! - A part may wait for parts with lower numbers (not for higher ones): each thread's parts are
//!   begun in order, and every part is begun at last by the caller, which goes through them
//!   upwards.
//! - It runs on the calling thread alone, in order, if the call comes from within a body, or
//!   while another thread's call is using the pool: nothing ever waits for the pool.
//! - It may [fail](crate::failure): parts that have not begun are then left out, and the call
//!   fails when those that have are done. (One that waits for a part which failed would wait for
//!   ever: what waits must not fail.)
//!
//! Workers are started by the first call that needs them and stay. After a job they spin for
//! [`SPIN`], where a hand-off takes well below a microsecond, and then sleep, from which the
//! kernel takes some tens of microseconds to wake them; meanwhile the caller works. Whether a loop
//! is long enough for that is for who compiles it to say. A fault in a body is reported as on the
//! caller's thread. A child that the process forks starts workers of its own.
//!
//! | environment variable | meaning | default |
//! |---|---|---|
//! | `MDH_THREADS` | threads, the caller included; 1 starts none | the cores that the process may use |
//! | `MDH_PIN` | `1` binds thread `i` to the `i`-th of these cores, the caller of the first parallel loop included (and with it the threads it starts later) | `0`: the kernel places threads |

mod board;
mod settings;
mod sync;

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::num::NonZeroUsize;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once};
use std::sync::{OnceLock, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::failure::{self, Failure, Outcome};
use board::{Leader, MOST_UNITS};
use settings::Pinning;
use sync::Patience;

/// The most threads a pool has.
pub const MOST_THREADS: usize = 1024;

/// Time for which a worker spins after a job before it sleeps.
pub const SPIN: Duration = Duration::from_millis(1);

/// Bytes of a worker's stack: what the main thread usually has.
const STACK: usize = 8 << 20;

/// The code of a parallel loop: called with its context and the number of the part.
pub type Body = unsafe extern "C-unwind" fn(context: *mut c_void, part: i64);

/// The pool of this process; `None` until it is needed.
static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Number of threads of the pool; 0 while nobody has asked.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Function that every worker calls first.
static AT_START: OnceLock<fn()> = OnceLock::new();

thread_local! {
    /// True while this thread is inside a body.
    static IN_BODY: Cell<bool> = const { Cell::new(false) };
}

/// Sets how many threads parallel loops use from now on, the caller included (at most
/// [`MOST_THREADS`]), whatever `MDH_THREADS` says.
pub fn set_threads(threads: NonZeroUsize) {
    THREADS.store(threads.get().min(MOST_THREADS), Ordering::Relaxed);
}

/// Has every worker that is started from now on call `action` first. Only the first call counts.
pub fn at_thread_start(action: fn()) {
    AT_START.get_or_init(|| action);
}

/// Returns the largest number of threads that a parallel loop started here uses: 1 inside a body.
pub fn thread_count() -> usize {
    if IN_BODY.get() { 1 } else { wanted_threads() }
}

fn wanted_threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => {
            let threads = settings::threads();
            // Whoever came first is right: `set_threads` is not undone.
            match THREADS.compare_exchange(0, threads, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => threads,
                Err(set) => set,
            }
        }
        set => set,
    }
}

/// [`thread_count`], for compiled code (how many partial results may be made at a time) and for C.
#[unsafe(no_mangle)]
pub extern "C" fn mdh_thread_count() -> i64 {
    thread_count() as i64
}

/// [`set_threads`], for C; a [status](crate::failure::Status).
#[unsafe(no_mangle)]
pub extern "C" fn mdh_set_threads(threads: i64) -> c_int {
    let wanted = usize::try_from(threads).ok().and_then(NonZeroUsize::new);
    match wanted.filter(|threads| threads.get() <= MOST_THREADS) {
        Some(threads) => {
            set_threads(threads);
            0
        }
        None => failure::report(Failure::new(format!(
            "error: mdh_set_threads: found {threads}, expected a number from 1 to {MOST_THREADS}"
        ))) as c_int,
    }
}

/// Calls `body(context, part)` for every part in `0..parts`, on several threads; see the
/// [module](self). Does nothing if there are no parts.
///
/// # Safety
/// The calls are safe, also at the same time, and unwind only as [failures](crate::failure) do.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_parallel_for(body: Body, context: *mut c_void, parts: i64) {
    let outcome = Outcome::default();
    let Some(job) = Job::new(body, context, parts, &outcome) else {
        return;
    };
    run(job);
    outcome.pass_on();
}

/// [`mdh_parallel_for`] for Rust: the body unwinds only as [failures](crate::failure) do.
pub fn parallel_for<F: Fn(i64) + Sync>(parts: i64, body: F) {
    unsafe extern "C-unwind" fn call<F: Fn(i64)>(context: *mut c_void, part: i64) {
        // SAFETY: the context is the closure, which lives until all calls have returned.
        unsafe { (*context.cast::<F>())(part) }
    }
    let context = ptr::from_ref(&body).cast_mut().cast();
    // SAFETY: closures that are `Sync` may be called at the same time.
    unsafe { mdh_parallel_for(call::<F>, context, parts) }
}

/// Runs a job on the process's pool, or here.
fn run(job: Job) {
    let threads = thread_count();
    if job.parts == 1 || threads == 1 {
        return job.run_here();
    }
    let mut pool = match POOL.try_lock() {
        Ok(pool) => pool,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return job.run_here(),
    };
    if pool.as_ref().is_some_and(|pool| pool.wanted != threads) {
        *pool = None;
    }
    let pool = pool.get_or_insert_with(|| {
        forget_in_children();
        Pool::new(threads)
    });
    pool.run_job(job);
}

/// Has children of this process, which have none of its other threads, start a pool of their own. One that was forked
/// while another thread ran a parallel loop has no pool ever: its loops run on the thread that calls them.
fn forget_in_children() {
    extern "C" fn forget() {
        if let Ok(mut pool) = POOL.try_lock() {
            // Its threads are not there to be joined.
            std::mem::forget(pool.take());
        }
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function is there as long as the process, since the library is never unloaded.
        unsafe { libc::pthread_atfork(None, None, Some(forget)) };
    });
}

/// Some threads that wait for parallel loops. Dropping it ends them.
pub struct Pool {
    wanted: usize,
    /// Dropping it tells the workers to end.
    leader: Option<Leader<Job>>,
    workers: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of so many threads (1 to [`MOST_THREADS`]), the caller of its loops included. It
    /// has fewer if the system refuses to start them.
    pub fn new(threads: usize) -> Pool {
        let wanted = threads.clamp(1, MOST_THREADS);
        let cores = settings::cores();
        let pinning = settings::pinning();
        // Who has no core of its own must not keep others from theirs.
        let spin = if wanted <= cores.usable {
            SPIN
        } else {
            Duration::ZERO
        };
        let mut started = wanted;
        loop {
            let leader = Leader::new(started as u32, Job::NONE);
            let mut pool = Pool {
                wanted,
                leader: None,
                workers: Vec::new(),
            };
            for me in 1..started {
                let board = leader.board();
                let serve = move || {
                    if pinning == Pinning::On {
                        cores.pin(me);
                    }
                    IN_BODY.set(true);
                    if let Some(action) = AT_START.get() {
                        action();
                    }
                    board.serve(me, Patience::new(spin), Job::run_unit);
                };
                let thread = thread::Builder::new()
                    .name(format!("mdh-{me}"))
                    .stack_size(STACK);
                match thread.spawn(serve) {
                    Ok(worker) => pool.workers.push(worker),
                    Err(_) => break,
                }
            }
            pool.leader = Some(leader);
            if pool.workers.len() + 1 == started {
                if pinning == Pinning::On {
                    cores.pin(0);
                }
                return pool;
            }
            // All seats of a board are to be taken: another try, with as many as there were.
            started = pool.workers.len() + 1;
        }
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `body` for every part, as [`mdh_parallel_for`] does. A panic ends the process.
    pub fn run<F: Fn(i64) + Sync>(&mut self, parts: i64, body: F) {
        unsafe extern "C-unwind" fn call<F: Fn(i64)>(context: *mut c_void, part: i64) {
            // SAFETY: the context is the closure, which lives until all calls have returned.
            ending(|| unsafe { (*context.cast::<F>())(part) })
        }
        /// Nothing unwinds out of a function with this interface.
        extern "C" fn ending<F: FnOnce()>(body: F) {
            body();
        }
        let context = ptr::from_ref(&body).cast_mut().cast();
        let outcome = Outcome::default();
        let Some(job) = Job::new(call::<F>, context, parts, &outcome) else {
            return;
        };
        match IN_BODY.get() {
            true => job.run_here(),
            false => self.run_job(job),
        }
    }

    fn run_job(&mut self, job: Job) {
        let Some(leader) = &mut self.leader else {
            return job.run_here();
        };
        IN_BODY.set(true);
        leader.run(job, job.units(), Job::run_unit);
        IN_BODY.set(false);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.leader = None;
        for worker in self.workers.drain(..) {
            // A worker does not panic; its thread is gone either way.
            let _ = worker.join();
        }
    }
}

/// A parallel loop.
#[derive(Clone, Copy)]
struct Job {
    body: Body,
    context: *mut c_void,
    parts: u64,
    /// Parts of one unit: more than one only if there are more parts than units can be counted.
    grain: u64,
    /// Outcome to which a failing part reports: that of the thread that waits for all parts.
    outcome: *const Outcome,
}

// SAFETY: the maker of a job promises that its body may be called on any thread.
unsafe impl Send for Job {}

impl Job {
    /// No job.
    const NONE: Job = Job {
        body: nothing,
        context: ptr::null_mut(),
        parts: 0,
        grain: 1,
        outcome: ptr::null(),
    };

    /// A loop over `parts` parts, unless there are none.
    fn new(body: Body, context: *mut c_void, parts: i64, outcome: &Outcome) -> Option<Job> {
        let parts = u64::try_from(parts).ok().filter(|&parts| parts > 0)?;
        let grain = parts.div_ceil(u64::from(MOST_UNITS));
        Some(Job {
            body,
            context,
            parts,
            grain,
            outcome,
        })
    }

    fn units(self) -> u32 {
        self.parts.div_ceil(self.grain) as u32
    }

    /// The parts of one unit.
    fn parts_of(self, unit: u32) -> std::ops::Range<u64> {
        let first = u64::from(unit) * self.grain;
        first..(first + self.grain).min(self.parts)
    }

    fn run_unit(self, unit: u32) {
        self.run_parts(self.parts_of(unit));
    }

    fn run_parts(self, parts: std::ops::Range<u64>) {
        // SAFETY: a job with parts has an outcome, which lives until all of them are done.
        let outcome = unsafe { &*self.outcome };
        outcome.catch(|| {
            for part in parts {
                // SAFETY: by the contract of the job's maker.
                unsafe { (self.body)(self.context, part as i64) }
            }
        });
    }

    /// Runs all parts on this thread; loops inside are then nested ones too.
    fn run_here(self) {
        let nested = IN_BODY.replace(true);
        self.run_parts(0..self.parts);
        IN_BODY.set(nested);
    }
}

unsafe extern "C-unwind" fn nothing(_: *mut c_void, _: i64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_cover_the_parts_however_many_there_are() {
        for parts in [
            1,
            2,
            1 << 20,
            (1 << 32) - 2,
            (1 << 32) - 1,
            1 << 32,
            i64::MAX,
        ] {
            let job = Job::new(nothing, ptr::null_mut(), parts, &Outcome::default()).unwrap();
            let units = job.units();
            assert!(units <= MOST_UNITS);
            assert_eq!(job.parts_of(0).start, 0);
            assert_eq!(job.parts_of(units - 1).end, parts as u64);
            assert!(!job.parts_of(units - 1).is_empty());
            let middle = units / 2;
            assert_eq!(
                job.parts_of(middle).end.min(parts as u64),
                job.parts_of(middle).end
            );
            if units > 1 {
                assert_eq!(job.parts_of(units - 2).end, job.parts_of(units - 1).start);
            }
            assert_eq!(job.grain == 1, parts <= i64::from(MOST_UNITS));
        }
    }
}
