//! Number and binding of threads: from the environment and the cores.

use std::env;
use std::mem::{self, MaybeUninit};
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread;

use super::MOST_THREADS;

/// Returns the number of threads to use: that of `MDH_THREADS`, else as many as there are cores
/// for.
pub fn threads() -> usize {
    let cores = cores().usable.min(MOST_THREADS);
    let Some(found) = env::var_os("MDH_THREADS") else {
        return cores;
    };
    let text = found.to_string_lossy();
    parse_threads(&text).unwrap_or_else(|| {
        eprintln!(
            "warning: the environment variable MDH_THREADS is '{text}', expected a number from 1 \
             to {MOST_THREADS}; using {cores}, as many as there are cores"
        );
        cores
    })
}

fn parse_threads(text: &str) -> Option<usize> {
    let threads = text.trim().parse().ok()?;
    (1..=MOST_THREADS).contains(&threads).then_some(threads)
}

/// Binding of threads to cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// Thread `i` runs on core `i` only.
    On,
    /// The kernel decides.
    Off,
}

/// Reads `MDH_PIN`.
///
/// Off by default: a worker that is bound to the core on which the caller happens to run waits
/// for it while another core idles, so the caller would have to be bound too, and that is not
/// ours to decide.
pub fn pinning() -> Pinning {
    match env::var_os("MDH_PIN") {
        Some(found) if found == "1" => Pinning::On,
        Some(found) if found != "0" && !found.is_empty() => {
            let text = found.to_string_lossy();
            eprintln!(
                "warning: the environment variable MDH_PIN is '{text}', expected 0 or 1; threads \
                 are not bound to cores"
            );
            Pinning::Off
        }
        _ => Pinning::Off,
    }
}

/// The cores that the process may use, as found by who asks first: later it may be bound to one.
pub fn cores() -> Cores {
    static CORES: OnceLock<Cores> = OnceLock::new();
    *CORES.get_or_init(Cores::of_this_thread)
}

/// The cores that a thread may use.
#[derive(Clone, Copy)]
pub struct Cores {
    set: libc::cpu_set_t,
    /// Number of threads they are good for: control groups may grant fewer than there are.
    pub usable: usize,
}

impl Cores {
    /// Those of the calling thread; an empty set if the system does not say.
    fn of_this_thread() -> Cores {
        // SAFETY: an empty set is all zeros; the call fills it, or fails and leaves it.
        let set = unsafe {
            let mut set: libc::cpu_set_t = MaybeUninit::zeroed().assume_init();
            libc::sched_getaffinity(0, mem::size_of_val(&set), &mut set);
            set
        };
        let usable = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Cores { set, usable }
    }

    /// Returns the number of cores in the set.
    fn count(&self) -> usize {
        // SAFETY: the set is initialised.
        unsafe { libc::CPU_COUNT(&self.set) as usize }
    }

    /// The `i`-th of them, counted round.
    fn nth(&self, i: usize) -> Option<usize> {
        let size = 8 * mem::size_of_val(&self.set);
        // SAFETY: the set is initialised, and asked for cores below its size.
        let mut cores = (0..size).filter(|&core| unsafe { libc::CPU_ISSET(core, &self.set) });
        cores.nth(i.checked_rem(self.count())?)
    }

    /// Binds the calling thread to the `i`-th core; if that is refused, it stays free.
    pub fn pin(&self, i: usize) {
        let Some(core) = self.nth(i) else {
            return;
        };
        // SAFETY: the core is one of the set's size; the call only reads the set.
        unsafe {
            let mut set: libc::cpu_set_t = MaybeUninit::zeroed().assume_init();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, mem::size_of_val(&set), &set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_threads_is_read_or_refused() {
        assert_eq!(parse_threads("3"), Some(3));
        assert_eq!(parse_threads(" 1024\n"), Some(1024));
        for refused in ["", "0", "1025", "-1", "two", "1.5", "99999999999999999999"] {
            assert_eq!(parse_threads(refused), None, "{refused}");
        }
    }

    #[test]
    fn a_thread_is_bound_to_its_core_and_no_other() {
        let cores = cores();
        assert!(cores.count() >= cores.usable);
        for i in 0..2 * cores.count() {
            let bound = thread::spawn(move || {
                cores.pin(i);
                Cores::of_this_thread()
            });
            let bound = bound.join().unwrap();
            assert_eq!(bound.count(), 1);
            assert_eq!(bound.nth(0), cores.nth(i % cores.count()));
        }
    }
}
