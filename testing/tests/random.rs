//! Random programs against the oracle. `MDH_RANDOM_CASES` says how many (500),
//! `MDH_RANDOM_SEED` (or `MDH_SEED`) where their seeds start (1), `MDH_RANDOM_STEPS` how many of
//! them are also checked after every pass (100). A failing case is made smaller, printed, and
//! written to a folder with the command that shows it again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mdh_testing::child::{self, Worker};
use mdh_testing::choices::{Choices, Overrides};
use mdh_testing::failure::Failure;
use mdh_testing::record::record;
use mdh_testing::reduce::{Case, reduce};
use mdh_testing::run::{Depth, Ending};
use mdh_testing::{environment, generate, run};

/// What a run may take: checking each step of some programs takes ten seconds, most of them in
/// LLVM, on a machine that has nothing else to do.
const TIMEOUT: Duration = Duration::from_secs(120);
/// So many smaller cases are tried for each that fails.
const TRIES: usize = 400;
/// That must not take longer than this.
const PATIENCE: Duration = Duration::from_secs(100);
/// What a run may take that is expected not to end.
const SHORT: Duration = Duration::from_secs(8);
/// A child has so many cases before it is replaced, so that memory is not all used up.
const LIFE: u64 = 100;
/// Of so many kinds of failures one case each is made smaller.
const SHOWN: usize = 8;

/// Answers `last SEED OVERRIDES` and `each SEED OVERRIDES`.
#[test]
fn child() {
    if child::is_child() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        child::serve(move |request| {
            let (depth, rest) = request.split_once(' ').unwrap_or_default();
            let (seed, overrides) = rest.split_once(' ').unwrap_or_default();
            let depth = match depth {
                "each" => Depth::EachStep,
                _ => Depth::LastStep,
            };
            let seed = seed.parse().unwrap_or_default();
            let overrides: Overrides = overrides.parse().unwrap_or_default();
            let program = generate::program(&mut Choices::new(seed, overrides));
            let ending = match run::run(&program, depth, folder.path()) {
                Ending::Right => "right",
                Ending::Wrong => "wrong",
                Ending::Refused => "refused",
                Ending::Bug => "bug",
            };
            ending.to_string()
        });
    }
}

fn ask(worker: &mut Worker, depth: Depth, seed: u64, overrides: &Overrides) -> Option<Failure> {
    let depth = match depth {
        Depth::LastStep => "last",
        Depth::EachStep => "each",
    };
    Failure::of(&worker.ask(&format!("{depth} {seed} {overrides}"), |_| {}))
}

fn case(seed: u64, overrides: &Overrides) -> Case {
    let mut choices = Choices::new(seed, overrides.clone());
    let program = generate::program(&mut choices);
    Case {
        text: format!("{program}{:?}", program.values),
        trail: choices.trail().to_vec(),
    }
}

/// Makes a failing case smaller and describes it.
fn explain(worker: &mut Worker, depth: Depth, seed: u64, failure: &Failure) -> String {
    let none = Overrides::default();
    let same = |found: Option<Failure>| found.is_some_and(|f| f.signature == failure.signature);
    let mut smallest = failure.clone();
    let until = Instant::now() + PATIENCE;
    if failure.is_endless() {
        worker.timeout = SHORT;
    }
    let overrides = reduce(
        none,
        |overrides| case(seed, overrides),
        |overrides| {
            if Instant::now() > until {
                return false;
            }
            let found = ask(worker, depth, seed, overrides);
            if let Some(found) = found.clone().filter(|f| f.signature == failure.signature) {
                smallest = found;
            }
            same(found)
        },
        TRIES,
    );
    worker.timeout = TIMEOUT;
    let program = generate::program(&mut Choices::new(seed, overrides.clone()));
    let folder = folder(seed);
    let command = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("overrides"), overrides.to_string()))
        .map_err(|error| error.to_string())
        .and_then(|()| run::write(&program, &folder).map_err(|error| error.to_string()));
    let command = command.unwrap_or_else(|error| format!("(not written: {error})"));
    format!(
        "== seed {seed}: {smallest}\n\n{program}\nagain: {command}\n   or: MDH_RANDOM_CASES=1 \
         MDH_RANDOM_SEED={seed} cargo test --release -p mdh-testing --test random\n"
    )
}

fn folder(seed: u64) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("random-{seed}"))
}

/// The case that took longest.
#[derive(Default)]
struct Slowest(Mutex<(Duration, u64)>);

impl Slowest {
    fn note(&self, since: Instant, seed: u64) {
        let mut slowest = self.0.lock().expect("no thread panics");
        *slowest = (*slowest).max((since.elapsed(), seed));
    }
}

impl std::fmt::Display for Slowest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (time, seed) = *self.0.lock().expect("no thread panics");
        write!(f, "at most {:.1} s (seed {seed})", time.as_secs_f64())
    }
}

#[test]
fn random_programs_give_what_the_definition_says() {
    if child::is_child() {
        return;
    }
    let first = environment::number(&["MDH_RANDOM_SEED", "MDH_SEED"], 1);
    let count = environment::number(&["MDH_RANDOM_CASES"], 500);
    let steps = environment::number(&["MDH_RANDOM_STEPS"], 100);
    let next = AtomicU64::new(0);
    let failed: Mutex<BTreeMap<String, Vec<u64>>> = Mutex::default();
    let slowest = Slowest::default();
    let started = Instant::now();
    let work = || {
        let mut worker = Worker::new("child", TIMEOUT);
        let mut done = 0;
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number >= count {
                return;
            }
            let depth = match number < steps {
                true => Depth::EachStep,
                false => Depth::LastStep,
            };
            let seed = first + number;
            let asked = Instant::now();
            let failure = ask(&mut worker, depth, seed, &Overrides::default());
            slowest.note(asked, seed);
            if let Some(failure) = failure {
                let is_new = {
                    let mut failed = failed.lock().expect("no thread panics");
                    let seeds = failed.entry(failure.signature.clone()).or_default();
                    seeds.push(seed);
                    seeds.len() == 1 && failed.len() <= SHOWN
                };
                if is_new {
                    eprintln!("{}", explain(&mut worker, depth, seed, &failure));
                }
            }
            done += 1;
            if done % LIFE == 0 {
                worker.restart();
            }
        }
    };
    std::thread::scope(|scope| {
        (0..environment::cores()).for_each(|_| {
            scope.spawn(work);
        });
    });
    let failed = failed.into_inner().expect("no thread panics");
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{count} random programs in {seconds:.1} s, {slowest}");
    let wrong = failed.values().map(|seeds| seeds.len() as u64).sum();
    let counts = [("right", count - wrong), ("failed", wrong)];
    let seeds = first..first + count;
    record("programs", &seeds, &counts, failed.values().flatten());
    let list = |(signature, seeds): (&String, &Vec<u64>)| format!("{signature}: seeds {seeds:?}");
    let lines: Vec<String> = failed.iter().map(list).collect();
    assert!(lines.is_empty(), "failures:\n{}", lines.join("\n"));
}
