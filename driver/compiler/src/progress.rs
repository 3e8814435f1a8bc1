//! Progress of what takes long, on standard error: on a terminal one line that comes after a second and goes in the end,
//! elsewhere a line every ten seconds.
//!
//! A command starts it ([`Progress::start`]). What it calls on the same thread says how far it is ([`part`], [`share`]),
//! which does nothing where no command has started one. `MDH_PROGRESS=off` shows nothing.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time from one line to the next on a terminal, and before the first.
const TERMINAL: Duration = Duration::from_secs(1);
/// The same elsewhere.
const LINES: Duration = Duration::from_secs(10);
/// Steps of a bar that is full.
const FULL: u64 = 1000;

/// Reader of what a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A person, who is told wherever that is.
    Person,
    /// A program, beside which a person may look at a terminal.
    Program,
}

impl Reader {
    /// Returns the reader of a report, which is JSON if that is asked for.
    pub fn from_flag(is_json: bool) -> Reader {
        match is_json {
            true => Reader::Program,
            false => Reader::Person,
        }
    }
}

/// Something that may take long. Inside of another one on the same thread it is shown in the place of that.
pub struct Progress {
    shown: Option<Shown>,
}

struct Shown {
    shared: Arc<Shared>,
    /// The thread that shows it; none inside of another one, which has it.
    thread: Option<JoinHandle<()>>,
}

/// State shared with the thread that shows progress.
struct Shared {
    steps: Mutex<Steps>,
    changed: Condvar,
    bar: ProgressBar,
}

/// Steps inside of each other.
struct Steps {
    open: Vec<Step>,
    is_finished: bool,
}

/// Work that is being done.
#[derive(Clone)]
struct Step {
    what: String,
    since: Instant,
    /// The time that it may take.
    limit: Option<Duration>,
    /// Amounts, done and in all, and their unit.
    share: Option<(u64, u64, &'static str)>,
    /// The part of it that is being done.
    part: String,
}

thread_local! {
    /// The progress that this thread shows.
    static CURRENT: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

impl Progress {
    /// Starts with a first step, such as `compiling`.
    pub fn start(reader: Reader, what: &str) -> Progress {
        if let Some(shared) = current() {
            shared.lock().open.push(Step::new(what));
            let shown = Shown {
                shared,
                thread: None,
            };
            return Progress { shown: Some(shown) };
        }
        let is_off = std::env::var_os("MDH_PROGRESS").is_some_and(|wish| wish == "off");
        match (is_off, io::stderr().is_terminal(), reader) {
            (false, true, _) => Progress::on(Screen::Terminal, TERMINAL, what),
            (false, false, Reader::Person) => {
                Progress::on(Screen::Lines(Box::new(io::stderr())), LINES, what)
            }
            _ => Progress { shown: None },
        }
    }

    /// The next step.
    pub fn step(&self, what: &str) {
        self.change(|step| *step = Step::new(what));
    }

    /// Notes how much of the current step is done, of how much.
    pub fn share(&self, done: u64, total: u64, unit: &'static str) {
        self.change(|step| step.share = Some((done, total, unit)));
    }

    /// Notes what of the current step is being done.
    pub fn part(&self, what: &str) {
        self.change(|step| step.part = what.to_string());
    }

    /// Notes the time that the current step may take, of which so much has passed.
    pub fn limit(&self, limit: Duration, passed: Duration) {
        self.change(|step| {
            step.limit = Some(limit);
            step.since = Instant::now().checked_sub(passed).unwrap_or(step.since);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Step)) {
        if let Some(shown) = &self.shown {
            shown.shared.change(change);
        }
    }

    /// Shows it on a screen, every `interval`.
    fn on(screen: Screen, interval: Duration, what: &str) -> Progress {
        let shared = Arc::new(Shared {
            steps: Mutex::new(Steps {
                open: vec![Step::new(what)],
                is_finished: false,
            }),
            changed: Condvar::new(),
            bar: ProgressBar::with_draw_target(Some(FULL), ProgressDrawTarget::hidden()),
        });
        let seen = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("progress".to_string())
            .spawn(move || show(&seen, screen, interval));
        // Without a thread there is no line; nothing else depends on it.
        let shown = thread.ok().map(|thread| Shown {
            shared: Arc::clone(&shared),
            thread: Some(thread),
        });
        if shown.is_some() {
            CURRENT.with(|current| *current.borrow_mut() = Some(shared));
        }
        Progress { shown }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some(shown) = self.shown.take() else {
            return;
        };
        let Some(thread) = shown.thread else {
            shown.shared.lock().open.pop();
            return;
        };
        CURRENT.with(|current| current.borrow_mut().take());
        shown.shared.lock().is_finished = true;
        shown.shared.changed.notify_all();
        let _ = thread.join();
    }
}

/// Notes what of this thread's current step is being done.
pub fn part(what: &str) {
    if let Some(shared) = current() {
        shared.change(|step| step.part = what.to_string());
    }
}

/// Notes how much of this thread's current step is done, of how much.
pub fn share(done: u64, total: u64, unit: &'static str) {
    if let Some(shared) = current() {
        shared.change(|step| step.share = Some((done, total, unit)));
    }
}

/// Writes something else to the terminal, which stands above the line of this thread's progress. It must not note any.
pub fn aside<T>(write: impl FnOnce() -> T) -> T {
    match current() {
        Some(shared) => shared.bar.suspend(write),
        None => write(),
    }
}

fn current() -> Option<Arc<Shared>> {
    CURRENT.with(|current| current.borrow().clone())
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Step)) {
        if let Some(step) = self.lock().open.last_mut() {
            change(step);
        }
    }
}

impl Step {
    fn new(what: &str) -> Step {
        Step {
            what: what.to_string(),
            since: Instant::now(),
            limit: None,
            share: None,
            part: String::new(),
        }
    }

    /// `checking ... 3 s of 60 s, 12 of 64 elements: part`
    fn line(&self, elapsed: Duration) -> String {
        let mut line = format!("{} ... {} s", self.what, elapsed.as_secs());
        if let Some(limit) = self.limit {
            line += &format!(" of {} s", limit.as_secs_f64().ceil());
        }
        if let Some((done, total, unit)) = self.share {
            line += &format!(", {done} of {total} {unit}");
        }
        if !self.part.is_empty() {
            line += &format!(": {}", self.part);
        }
        line
    }

    /// Returns how much of it is done, up to 1: of its time or of its share, whichever is more.
    fn done(&self, elapsed: Duration) -> Option<f64> {
        let time = self
            .limit
            .map(|limit| elapsed.as_secs_f64() / limit.as_secs_f64().max(1e-9));
        let share = self
            .share
            .map(|(done, total, _)| done as f64 / total.max(1) as f64);
        let done = time.into_iter().chain(share).reduce(f64::max);
        done.map(|done| done.min(1.0))
    }
}

/// Place where progress is shown. That it cannot be written is nobody's concern.
enum Screen {
    /// The terminal of standard error.
    Terminal,
    /// A file or a pipe.
    Lines(Box<dyn Write + Send>),
}

impl Screen {
    fn show(&mut self, step: &Step, bar: &ProgressBar) {
        let elapsed = step.since.elapsed();
        match self {
            Screen::Lines(file) => {
                let _ = writeln!(file, "{}", step.line(elapsed)).and_then(|()| file.flush());
            }
            Screen::Terminal => {
                if bar.is_hidden() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                let done = step.done(elapsed);
                bar.set_style(style(done));
                bar.set_message(step.line(elapsed));
                bar.set_position((done.unwrap_or_default() * FULL as f64) as u64);
            }
        }
    }
}

/// The line of a step: with a bar where it is known how much is done.
fn style(done: Option<f64>) -> ProgressStyle {
    let template = match done {
        Some(_) => "[{bar:20}] {wide_msg}",
        None => "{wide_msg}",
    };
    // The templates are right.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// The thread: a line every interval, none on a terminal in the end.
fn show(shared: &Shared, mut screen: Screen, interval: Duration) {
    let mut next = Instant::now() + interval;
    let mut steps = shared.lock();
    while !steps.is_finished {
        let pause = next.saturating_duration_since(Instant::now());
        let waited = shared.changed.wait_timeout(steps, pause);
        steps = waited.unwrap_or_else(PoisonError::into_inner).0;
        if steps.is_finished || Instant::now() < next {
            continue;
        }
        next = Instant::now() + interval;
        let step = steps.open.last().cloned();
        drop(steps);
        if let Some(step) = step {
            screen.show(&step, &shared.bar);
        }
        steps = shared.lock();
    }
    drop(steps);
    shared.bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file whose text can be read.
    #[derive(Clone, Default)]
    struct Text(Arc<Mutex<Vec<u8>>>);

    impl Write for Text {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Text {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }

        fn wait_for(&self, part: &str) {
            while !self.text().contains(part) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn lines(interval: Duration, what: &str) -> (Text, Progress) {
        let text = Text::default();
        let screen = Screen::Lines(Box::new(text.clone()));
        (text, Progress::on(screen, interval, what))
    }

    #[test]
    fn what_is_short_shows_nothing() {
        let (text, progress) = lines(Duration::from_secs(60), "working");
        drop(progress);
        assert_eq!(text.text(), "");
        assert!(current().is_none());
    }

    #[test]
    fn what_is_long_is_shown_with_its_parts() {
        let (text, progress) = lines(Duration::from_millis(1), "working");
        share(1, 4, "pieces");
        part("the second");
        text.wait_for("working ... 0 s, 1 of 4 pieces: the second\n");
        progress.step("resting");
        text.wait_for("resting ... 0 s\n");
        assert_eq!(aside(|| 1), 1);
    }

    #[test]
    fn what_is_inside_is_shown_in_the_place_of_what_is_around() {
        let (text, _progress) = lines(Duration::from_millis(1), "around");
        text.wait_for("around");
        let inside = Progress::start(Reader::Program, "inside");
        part("a part");
        text.wait_for("inside ... 0 s: a part\n");
        drop(inside);
        let shown = text.text().len();
        while !text.text()[shown..].contains("around ... 0 s\n") {
            thread::sleep(Duration::from_millis(1));
        }
        // Another thread shows nothing of it.
        thread::spawn(|| part("elsewhere")).join().unwrap();
        assert_eq!(current().unwrap().lock().open[0].part, "");
    }

    #[test]
    fn a_line_says_what_is_done_of_what() {
        let seconds = Duration::from_secs;
        let mut step = Step::new("checking");
        assert_eq!(step.line(seconds(3)), "checking ... 3 s");
        assert_eq!(step.done(seconds(3)), None);
        step.share = Some((16, 64, "elements"));
        assert_eq!(step.line(seconds(3)), "checking ... 3 s, 16 of 64 elements");
        assert_eq!(step.done(seconds(3)), Some(0.25));
        step.limit = Some(Duration::from_millis(59_500));
        step.part = "round 2".to_string();
        assert_eq!(
            step.line(seconds(30)),
            "checking ... 30 s of 60 s, 16 of 64 elements: round 2"
        );
        assert_eq!(step.done(seconds(90)), Some(1.0));
        step.share = Some((0, 0, "elements"));
        step.limit = None;
        assert_eq!(step.done(seconds(90)), Some(0.0));
    }

    #[test]
    fn templates_are_right() {
        for done in [None, Some(0.5)] {
            let _ = style(done);
        }
        assert!(ProgressStyle::with_template("[{bar:20}] {wide_msg}").is_ok());
    }
}
