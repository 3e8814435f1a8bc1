//! Waiting until nobody else computes: threads of a process that has had its turn spin for a
//! while before they sleep, and would take a core from the next one.

use std::thread;
use std::time::{Duration, Instant};

use mdh_process::Worker;

/// Time for which a process is watched at a time.
const WINDOW: Duration = Duration::from_millis(2);

/// Of a window, more than this share of one core is work.
const BUSY: f64 = 0.05;

/// Waits until all threads of a worker sleep, at most so long.
pub fn rest(worker: &Worker, at_most: Duration) {
    if let Some(process) = worker.id() {
        wait(process, at_most);
    }
}

/// Waits until a process uses no processor, at most so long.
fn wait(process: u32, at_most: Duration) {
    let started = Instant::now();
    let Some(mut used) = processor_time(process) else {
        return;
    };
    while started.elapsed() < at_most {
        let window = Instant::now();
        thread::sleep(WINDOW);
        let Some(now) = processor_time(process) else {
            return;
        };
        let share = (now.saturating_sub(used)).as_secs_f64() / window.elapsed().as_secs_f64();
        if share < BUSY {
            return;
        }
        used = now;
    }
}

/// The processor time that all threads of a process have used; `None` if there is no such process.
fn processor_time(process: u32) -> Option<Duration> {
    let mut clock: libc::clockid_t = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: both calls write to the variables that they are given.
    let failed = unsafe {
        libc::clock_getcpuclockid(libc::pid_t::try_from(process).ok()?, &mut clock) != 0
            || libc::clock_gettime(clock, &mut time) != 0
    };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let rest = u32::try_from(time.tv_nsec).ok()?;
    (!failed).then(|| Duration::new(seconds, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_in_the_processor_time() {
        let me = std::process::id();
        let before = processor_time(me).unwrap();
        let (started, enough) = (Instant::now(), before + Duration::from_millis(1));
        // Other processes may have the processor for a while.
        while processor_time(me).unwrap() <= enough {
            assert!(started.elapsed() < Duration::from_secs(60));
        }
    }

    #[test]
    fn a_process_that_is_not_there_is_idle() {
        let started = Instant::now();
        wait(u32::MAX, Duration::from_secs(60));
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}
