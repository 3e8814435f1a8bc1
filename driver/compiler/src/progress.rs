//! A line on the terminal for whatever takes longer than a second.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Shows what is being done, on standard error, if that is a terminal: after one second and
/// then every second, on one line that is removed in the end. Without a terminal it does
/// nothing at all.
pub struct Progress {
    shown: Option<(Arc<Shared>, JoinHandle<()>)>,
}

/// State shared with the thread that shows progress.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    what: String,
    since: Instant,
    share: Option<(u64, u64)>,
    finished: bool,
}

impl Progress {
    /// Starts with a first step, such as `compiling`.
    pub fn start(what: &str) -> Progress {
        match io::stderr().is_terminal() {
            true => Progress::on(io::stderr(), Duration::from_secs(1), what),
            false => Progress { shown: None },
        }
    }

    /// The next step; it has a second of its own before it is shown.
    pub fn step(&self, what: &str) {
        self.change(|state| {
            state.what = what.to_string();
            state.since = Instant::now();
            state.share = None;
        });
    }

    /// Rule: how far the current step is.
    pub fn share(&self, done: u64, of: u64) {
        self.change(|state| state.share = Some((done, of)));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        if let Some((shared, _)) = &self.shown {
            change(&mut shared.lock());
        }
    }

    /// Shows it on `terminal`, every `interval`.
    fn on(terminal: impl Write + Send + 'static, interval: Duration, what: &str) -> Progress {
        let state = State {
            what: what.to_string(),
            since: Instant::now(),
            share: None,
            finished: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let seen = Arc::clone(&shared);
        let show = move || show(&seen, terminal, interval);
        let thread = thread::Builder::new()
            .name("progress".to_string())
            .spawn(show);
        // Without a thread there is no line; nothing else depends on it.
        Progress {
            shown: thread.ok().map(|thread| (shared, thread)),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((shared, thread)) = self.shown.take() {
            shared.lock().finished = true;
            shared.changed.notify_all();
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The thread: a line every interval, none in the end. Write errors are nobody's concern.
fn show(shared: &Shared, mut terminal: impl Write, interval: Duration) {
    let mut visible = false;
    let mut state = shared.lock();
    while !state.finished {
        let pause = pause(state.since.elapsed(), interval);
        let waited = shared.changed.wait_timeout(state, pause);
        state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        let elapsed = state.since.elapsed();
        if !state.finished && elapsed >= interval {
            // The cursor stays at the start, so that anything else overwrites the line.
            let text = line(&state.what, elapsed, state.share);
            let _ = write!(terminal, "\r\x1b[K{text}\r").and_then(|()| terminal.flush());
            visible = true;
        }
    }
    if visible {
        let _ = write!(terminal, "\r\x1b[K").and_then(|()| terminal.flush());
    }
}

/// Returns the time until a step that has taken so long is shown, first or again. A step may begin
/// at any time: a thread that woke at each interval of the whole run would miss one of almost two.
fn pause(elapsed: Duration, interval: Duration) -> Duration {
    match interval.checked_sub(elapsed) {
        Some(rest) if !rest.is_zero() => rest,
        _ => interval,
    }
}

/// `compiling ... 3 s, 45 %`
fn line(what: &str, elapsed: Duration, share: Option<(u64, u64)>) -> String {
    let seconds = elapsed.as_secs();
    match share {
        Some((done, of)) if of > 0 => {
            let percent = (done as f64 / of as f64 * 100.0) as u64;
            format!("{what} ... {seconds} s, {percent} %")
        }
        _ => format!("{what} ... {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal whose text can be read.
    #[derive(Clone, Default)]
    struct Terminal(Arc<Mutex<Vec<u8>>>);

    impl Write for Terminal {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Terminal {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    #[test]
    fn a_short_step_shows_nothing() {
        let terminal = Terminal::default();
        drop(Progress::on(
            terminal.clone(),
            Duration::from_secs(60),
            "working",
        ));
        assert_eq!(terminal.text(), "");
    }

    #[test]
    fn a_long_step_is_shown_and_removed() {
        let terminal = Terminal::default();
        let progress = Progress::on(terminal.clone(), Duration::from_millis(1), "working");
        progress.share(1, 4);
        while !terminal.text().contains("25 %") {
            thread::sleep(Duration::from_millis(1));
        }
        drop(progress);
        let text = terminal.text();
        assert!(text.contains("\r\x1b[Kworking ... 0 s, 25 %\r"), "{text:?}");
        assert!(text.ends_with("\r\x1b[K"), "{text:?}");
    }

    #[test]
    fn a_step_is_shown_one_interval_after_it_began() {
        let second = Duration::from_secs(1);
        let after = |milliseconds| pause(Duration::from_millis(milliseconds), second);
        assert_eq!(after(0), second);
        assert_eq!(after(900), Duration::from_millis(100));
        assert_eq!(after(1000), second);
        assert_eq!(after(2500), second);
    }

    #[test]
    fn lines() {
        let seconds = Duration::from_secs(3);
        assert_eq!(line("checking", seconds, None), "checking ... 3 s");
        assert_eq!(line("checking", seconds, Some((0, 0))), "checking ... 3 s");
        assert_eq!(
            line("checking", seconds, Some((1, 3))),
            "checking ... 3 s, 33 %"
        );
    }
}
