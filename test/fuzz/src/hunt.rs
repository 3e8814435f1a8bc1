//! Suites of random cases: children run them, what fails is made smaller and written down, and all are counted.
//!
//! `MDH_SEED` says where seeds start, and `MDH_FIRST_FAILURE` that the first failure is the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::case::Verdict;
use crate::child::{self, Worker};
use crate::choices::{Choices, Overrides};
use crate::environment;
use crate::failure::Failure;
use crate::record::record;
use crate::reduce::{Trial, reduce};
use crate::tally::{Outcome, Tally};
use crate::way::Way;

/// Time limit of a case: checking each step of some programs takes ten seconds, most of them in
/// LLVM, on a machine that has nothing else to do.
const TIMEOUT: Duration = Duration::from_secs(240);
/// Time limit of a case that is expected not to end.
const SHORT: Duration = Duration::from_secs(8);
/// So many smaller cases are tried for each that fails.
const TRIES: usize = 400;
/// That must not take longer than this.
const PATIENCE: Duration = Duration::from_secs(100);
/// Of so many kinds of failures one case each is made smaller.
const SHOWN: usize = 8;

/// Random cases of one kind.
pub struct Suite {
    /// Its name in records.
    pub name: &'static str,
    /// The test that runs it.
    pub test: &'static str,
    /// The variables that say where its seeds start, and how many there are.
    pub variables: [&'static str; 2],
    /// So many there are else.
    pub count: u64,
    /// The way of a case, by its number.
    pub way: fn(u64) -> Way,
}

/// Cases of a suite that are tried.
struct Hunt<'a> {
    suite: &'a Suite,
    folder: &'a Path,
    first: u64,
    count: u64,
    next: AtomicU64,
    found: Mutex<Found>,
}

/// Findings of the threads of a hunt.
#[derive(Default)]
struct Found {
    tally: Tally,
    failed: BTreeMap<String, Vec<u64>>,
    slowest: (Duration, u64),
}

/// Between the words of a request: suite, number, seed, overrides.
const SEPARATOR: &str = "\t";

/// Answers a hunt that runs in another process.
pub fn serve(suites: &'static [Suite]) {
    if !child::is_child() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    child::serve(move |request| {
        let words: Vec<&str> = request.splitn(4, SEPARATOR).collect();
        let suite = suites.iter().find(|suite| suite.name == words[0]);
        let number = |n: usize| words.get(n).and_then(|word| word.parse().ok());
        let (Some(suite), Some(case), Some(seed)) = (suite, number(1), number(2)) else {
            return "no case".into();
        };
        let overrides: Overrides = words.get(3).unwrap_or(&"").parse().unwrap_or_default();
        match (suite.way)(case).case(&mut Choices::new(seed, overrides)) {
            Ok(case) => {
                child::report(&case.features());
                case.run(folder.path()).word().into()
            }
            Err(why) => {
                eprintln!("error: {why}");
                "no case".into()
            }
        }
    });
}

/// Tries the cases of a suite; a failing case is made smaller, printed, and written to a folder in `folder` with the
/// command that shows it again.
///
/// # Panics
/// If one fails.
pub fn check(suite: &Suite, folder: &Path) {
    if child::is_child() {
        return;
    }
    let hunt = Hunt {
        suite,
        folder,
        first: environment::number(&[suite.variables[0], "MDH_SEED"], 1),
        count: environment::number(&[suite.variables[1]], suite.count),
        next: AtomicU64::new(0),
        found: Mutex::default(),
    };
    let started = Instant::now();
    std::thread::scope(|scope| {
        (0..environment::cores()).for_each(|_| {
            scope.spawn(|| hunt.work());
        });
    });
    let (first, count) = (hunt.first, hunt.count);
    let results = hunt.found.into_inner().expect("no thread panics");
    eprintln!(
        "{count} random {} in {:.1} s, at most {:.1} s (seed {})\n{}",
        suite.name,
        started.elapsed().as_secs_f64(),
        results.slowest.0.as_secs_f64(),
        results.slowest.1,
        results.tally
    );
    let [right, refused, failed] = results.tally.all;
    let counts = [("right", right), ("refused", refused), ("failed", failed)];
    let seeds = results.failed.values().flatten();
    record(suite.name, &(first..first + count), &counts, seeds);
    let list = |(signature, seeds): (&String, &Vec<u64>)| format!("{signature}: seeds {seeds:?}");
    let mut wrong: Vec<String> = results.failed.iter().map(list).collect();
    if !environment::ends_at_first_failure() {
        wrong.extend((suite.way)(0).lacking(&results.tally));
    }
    assert!(wrong.is_empty(), "failures:\n{}", wrong.join("\n"));
}

impl Hunt<'_> {
    fn work(&self) {
        let mut workers: BTreeMap<Option<u8>, Worker> = BTreeMap::new();
        for done in 1.. {
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            if number >= self.count {
                return;
            }
            let chip = (self.suite.way)(number).chip();
            let worker = workers.entry(chip).or_insert_with(|| self.worker(chip));
            let started = Instant::now();
            let (verdict, features) = self.ask(worker, number, &Overrides::default());
            let time = started.elapsed();
            if let Some(failure) = self.note(number, verdict, &features, time) {
                eprintln!("{}", self.explain(worker, number, &failure));
            }
            if done % (self.suite.way)(number).life() == 0 {
                workers.values_mut().for_each(Worker::restart);
            }
        }
    }

    /// A child that has a GPU of some compute capability, if any.
    fn worker(&self, chip: Option<u8>) -> Worker {
        let mut worker = Worker::new("child", TIMEOUT);
        let environment = chip.map(|chip| environment::interpreter(self.folder, chip));
        worker.environment = environment.unwrap_or_default();
        worker
    }

    /// Has a case run; the verdict, and what is special about it.
    fn ask(&self, worker: &mut Worker, number: u64, overrides: &Overrides) -> (Verdict, String) {
        let mut features = String::new();
        let (name, seed) = (self.suite.name, self.first + number);
        let request = [
            name,
            &number.to_string(),
            &seed.to_string(),
            &overrides.to_string(),
        ]
        .join(SEPARATOR);
        let answer = worker.ask(&request, |line| features = line.to_string());
        let verdict = (self.suite.way)(number).verdict(&answer, &features);
        (verdict, features)
    }

    /// Counts a case; returns its failure, if it is the first of its kind.
    fn note(
        &self,
        number: u64,
        verdict: Verdict,
        features: &str,
        time: Duration,
    ) -> Option<Failure> {
        let seed = self.first + number;
        let mut results = self.found.lock().expect("no thread panics");
        results.slowest = results.slowest.max((time, seed));
        let failure = match verdict {
            Verdict::Right => {
                results.tally.add(seed, Outcome::Right, features, None);
                return None;
            }
            Verdict::Refused(said) => {
                let outcome = Outcome::Refused;
                results.tally.add(seed, outcome, features, Some(said));
                return None;
            }
            Verdict::Failed(failure) => failure,
        };
        results.tally.add(seed, Outcome::Failed, features, None);
        let kinds = results.failed.len();
        let seeds = results.failed.entry(failure.signature.clone()).or_default();
        seeds.push(seed);
        if environment::ends_at_first_failure() {
            eprintln!("seed {seed}: {failure}");
            self.next.store(self.count, Ordering::SeqCst);
            return None;
        }
        (seeds.len() == 1 && kinds < SHOWN).then_some(failure)
    }

    /// Makes a failing case smaller and describes it.
    fn explain(&self, worker: &mut Worker, number: u64, failure: &Failure) -> String {
        let (suite, seed) = (self.suite, self.first + number);
        let until = Instant::now() + PATIENCE;
        let mut smallest = failure.clone();
        if failure.is_endless() {
            worker.timeout = SHORT;
        }
        let make = |overrides: &Overrides| {
            let mut choices = Choices::new(seed, overrides.clone());
            ((suite.way)(number).case(&mut choices), choices)
        };
        let trial = |overrides: &Overrides| {
            let (case, choices) = make(overrides);
            Trial {
                text: case.map_or_else(|why| why, |case| case.text()),
                trail: choices.trail().to_vec(),
            }
        };
        let fails = |overrides: &Overrides| {
            if Instant::now() > until {
                return false;
            }
            match self.ask(worker, number, overrides).0 {
                Verdict::Failed(found) if found.signature == failure.signature => {
                    smallest = found;
                    true
                }
                _ => false,
            }
        };
        let overrides = reduce(Overrides::default(), trial, fails, TRIES);
        worker.timeout = TIMEOUT;
        let folder = self.folder.join(format!("{}-{seed}", suite.name));
        let (text, command) = match make(&overrides).0 {
            Ok(case) => {
                let command = write(&folder, &overrides).and_then(|()| {
                    let command = case.write(&folder);
                    command.map_err(|error| error.to_string())
                });
                (case.text(), command)
            }
            Err(why) => (why, Err("no case".into())),
        };
        let command = command.unwrap_or_else(|error| format!("(not written: {error})"));
        let [start, count] = suite.variables;
        format!(
            "== {} seed {seed}: {smallest}\n\n{text}\nagain: {command}\n   or: {count}=1 {start}={seed} cargo \
             nextest run --release -p mdh-fuzz {}\n",
            suite.name, suite.test
        )
    }
}

fn write(folder: &Path, overrides: &Overrides) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join("overrides"), overrides.to_string()))
        .map_err(|error| error.to_string())
}
