//! Cost of handing work to the pool: a parallel loop of one part for each thread, in which there is
//! nothing to do. *Empty* parts may all be run by the caller, who does not wait for others; parts
//! that *meet* end when all have begun, so every thread has to come.
//!
//! ```text
//! cargo run --release -p mdhrt --example handoff
//! ```

use std::ffi::c_void;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use mdhrt::pool::{Body, SPIN, mdh_parallel_for, thread_count};

/// State that the parts of one loop share.
struct Loop {
    parts: i64,
    begun: AtomicI64,
}

unsafe extern "C-unwind" fn empty(_: *mut c_void, part: i64) {
    black_box(part);
}

unsafe extern "C-unwind" fn meet(context: *mut c_void, _: i64) {
    // SAFETY: `measure` passes a `Loop`.
    let context = unsafe { &*context.cast::<Loop>() };
    context.begun.fetch_add(1, Ordering::Relaxed);
    while context.begun.load(Ordering::Relaxed) < context.parts {
        spin_loop();
    }
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        spin_loop();
    }
}

/// The median and the 90th percentile of the microseconds that a loop takes after a pause.
fn measure(runs: usize, pause: impl Fn(), body: Body, parts: i64) -> (f64, f64) {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let begun = AtomicI64::new(0);
            let mut context = Loop { parts, begun };
            pause();
            let start = Instant::now();
            // SAFETY: the bodies take a `Loop`, which lives until the call returns.
            unsafe { mdh_parallel_for(black_box(body), (&raw mut context).cast(), parts) };
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    (times[runs / 2], times[runs * 9 / 10])
}

fn main() {
    let threads = thread_count() as i64;
    println!("{threads} threads, which spin for {SPIN:?} after a job; times in microseconds\n");
    let columns = ["empty", "90 %", "meet", "90 %"];
    println!(
        "{:22} {:>9} {:>9} {:>9} {:>9}",
        "", columns[0], columns[1], columns[2], columns[3]
    );
    let (short, long) = (Duration::from_micros(100), Duration::from_millis(10));
    let rows: [(&str, usize, &dyn Fn()); 4] = [
        ("hot", 100_000, &|| ()),
        ("after 100 us of work", 5000, &|| spin(short)),
        ("after 10 ms of work", 200, &|| spin(long)),
        ("after 10 ms of sleep", 200, &|| std::thread::sleep(long)),
    ];
    for (name, runs, pause) in rows {
        let (empty, empty_90) = measure(runs, pause, empty, threads);
        let (meet, meet_90) = measure(runs, pause, meet, threads);
        println!("{name:22} {empty:9.2} {empty_90:9.2} {meet:9.2} {meet_90:9.2}");
    }
    let (clock, _) = measure(100_000, || (), empty, 0);
    println!("{:22} {clock:9.2}", "no parts (the clock)");
}
