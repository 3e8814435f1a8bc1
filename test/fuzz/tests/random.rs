//! Random programs without schedules against the oracle, with those that the model makes: run on the
//! processor, on the simulator of a GPU and, as PTX for several chips, on the interpreter, and lowered;
//! random programs of linalg, raised and by upstream's own lowering; random loops over tensors; and random
//! programs that random scripts of upstream's transformations tile. A program that is refused is a failure
//! as any other: nobody has written what is refused, but for what a way [expects](Way::expects).
//!
//! `MDH_RANDOM_CASES` says how many (90; on the simulator 25; as PTX 40; lowered 300; of linalg 350; scripts 100; loops 60;
//! with integers in the place of floats 60, 15 as PTX, 150 of linalg),
//! `MDH_RANDOM_SEED` (or `MDH_SEED`) where their seeds start (1), `MDH_RANDOM_STEPS` how many of them
//! are also checked after every pass (20, and 10), `MDH_FIRST_FAILURE` that the first failure is the end. A
//! failing case is made smaller, printed, and written to a folder with the command that shows it again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mdh_compiler::cli::{CheckHow, Device};
use mdh_fuzz::child::{self, Worker};
use mdh_fuzz::choices::{Choices, Overrides};
use mdh_fuzz::failure::Failure;
use mdh_fuzz::record::record;
use mdh_fuzz::reduce::{Case, reduce};
use mdh_fuzz::run::{self, Depth, Ending};
use mdh_fuzz::{environment, generate, linalg, loops, lower, scripts, text};

/// Time limit of a run: checking each step of some programs takes ten seconds, most of them in
/// LLVM, on a machine that has nothing else to do.
const TIMEOUT: Duration = Duration::from_secs(120);
/// So many smaller cases are tried for each that fails.
const TRIES: usize = 400;
/// That must not take longer than this.
const PATIENCE: Duration = Duration::from_secs(100);
/// Time limit of a run that is expected not to end.
const SHORT: Duration = Duration::from_secs(8);
/// A child has so many cases before it is replaced, so that memory is not all used up.
const LIFE: u64 = 100;
/// Of so many kinds of failures one case each is made smaller.
const SHOWN: usize = 8;

/// Way of running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It is run.
    Run(run::Way),
    /// It is run on a GPU of that compute capability, by the interpreter of PTX.
    Interpret(run::Way, u8),
    /// It is lowered for the processor, of which caches and registers are few, and for a GPU.
    Lower,
    /// A program of linalg is run.
    Linalg(CheckHow),
    /// Loops over tensors are run.
    Loops,
    /// A script tiles it before it is run.
    Script,
}

/// A run of which the results after each pass are checked, too.
const EACH: run::Way = run::Way {
    depth: Depth::EachStep,
    ..run::Way::PLAIN
};

const EXACT_EACH: run::Way = run::Way {
    depth: Depth::EachStep,
    ..run::Way::EXACT
};

const fn on(device: Device, way: run::Way) -> run::Way {
    run::Way { device, ..way }
}

const fn interpret(way: run::Way, chip: u8) -> Way {
    Way::Interpret(on(Device::Cuda, way), chip)
}

impl Way {
    const ALL: &[(&str, Way)] = &[
        ("each", Way::Run(EACH)),
        ("run", Way::Run(run::Way::PLAIN)),
        ("simulate", Way::Run(on(Device::Sim, run::Way::PLAIN))),
        ("sm_80", interpret(run::Way::PLAIN, 80)),
        ("sm_86", interpret(run::Way::PLAIN, 86)),
        ("sm_89", interpret(run::Way::PLAIN, 89)),
        ("sm_90", interpret(run::Way::PLAIN, 90)),
        ("exact-each", Way::Run(EXACT_EACH)),
        ("exact", Way::Run(run::Way::EXACT)),
        ("exact-sm_80", interpret(run::Way::EXACT, 80)),
        ("exact-sm_86", interpret(run::Way::EXACT, 86)),
        ("exact-sm_89", interpret(run::Way::EXACT, 89)),
        ("exact-sm_90", interpret(run::Way::EXACT, 90)),
        ("lower", Way::Lower),
        ("linalg", Way::Linalg(CheckHow::All)),
        ("exact-linalg", Way::Linalg(CheckHow::Exact)),
        ("loops", Way::Loops),
        ("script", Way::Script),
    ];

    fn name(self) -> &'static str {
        let own = Way::ALL.iter().find(|(_, way)| *way == self);
        own.map_or("", |(name, _)| name)
    }

    fn named(name: &str) -> Option<Way> {
        let own = Way::ALL.iter().find(|(known, _)| *known == name);
        own.map(|(_, way)| *way)
    }

    /// A program that is made as text.
    fn text(self, choices: &mut Choices) -> text::Program {
        match self {
            Way::Loops => loops::program(choices),
            _ => linalg::program(choices),
        }
    }

    /// The check of such a program.
    fn check(self) -> CheckHow {
        match self {
            Way::Linalg(check) => check,
            _ => CheckHow::All,
        }
    }

    fn go(self, choices: &mut Choices, folder: &Path) -> Ending {
        match self {
            Way::Lower => lower::case(choices).lower(),
            Way::Linalg(_) | Way::Loops => self.text(choices).run(self.check()),
            Way::Script => scripts::case(choices).run(folder),
            Way::Run(way) | Way::Interpret(way, _) => {
                run::run(&generate::program(choices), way, folder)
            }
        }
    }

    /// The child that goes it.
    fn worker(self) -> Worker {
        let mut worker = Worker::new("child", TIMEOUT);
        if let Way::Interpret(_, chip) = self {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
            worker.environment = environment::interpreter(folder, chip);
        }
        worker
    }

    /// Returns whether a refusal is right, by what it says.
    fn expects(self, failure: &Failure) -> bool {
        let text = &failure.text;
        let is_right = match self {
            // Two orders of a sum, which linalg does not choose between, take different branches.
            Way::Linalg(_) if text.contains("of which the definition leaves open what it is") => {
                true
            }
            // No argument reaches them, so that the compiler may do them in floats.
            Way::Run(way) | Way::Interpret(way, _) if way.check == CheckHow::Exact => {
                text.contains("computes with constants alone")
                    || text.contains("computed of constants alone")
            }
            // Sums of logarithms associate in the reals only.
            Way::Linalg(CheckHow::Exact) => text.contains("whose laws do not hold in integers"),
            Way::Script => scripts::is_refusal(text),
            _ => false,
        };
        is_right && failure.signature.starts_with(REFUSED)
    }
}

/// Answers `WAY SEED OVERRIDES`.
#[test]
fn child() {
    if child::is_child() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        child::serve(move |request| {
            let (way, rest) = request.split_once(' ').unwrap_or_default();
            let (seed, overrides) = rest.split_once(' ').unwrap_or_default();
            let seed = seed.parse().unwrap_or_default();
            let overrides: Overrides = overrides.parse().unwrap_or_default();
            let Some(way) = Way::named(way) else {
                return "no way".into();
            };
            let ending = match way.go(&mut Choices::new(seed, overrides), folder.path()) {
                Ending::Right => "right",
                Ending::Wrong => "wrong",
                Ending::Refused => REFUSED,
                Ending::Bug => "bug",
            };
            ending.to_string()
        });
    }
}

/// Start of the signatures of programs that are refused.
const REFUSED: &str = "refused";

fn ask(worker: &mut Worker, way: Way, seed: u64, overrides: &Overrides) -> Option<Failure> {
    Failure::of(&worker.ask(&format!("{} {seed} {overrides}", way.name()), |_| {}))
}

fn case(way: Way, seed: u64, overrides: &Overrides) -> Case {
    let mut choices = Choices::new(seed, overrides.clone());
    let text = match way {
        Way::Lower => lower::case(&mut choices).text(),
        Way::Linalg(_) | Way::Loops => way.text(&mut choices).text,
        Way::Script => scripts::case(&mut choices).text(),
        Way::Run(_) | Way::Interpret(..) => {
            let program = generate::program(&mut choices);
            format!("{program}{:?}", program.values)
        }
    };
    Case {
        text,
        trail: choices.trail().to_vec(),
    }
}

/// Makes a failing case smaller and describes it.
fn explain(worker: &mut Worker, way: Way, seed: u64, failure: &Failure) -> String {
    let none = Overrides::default();
    let same = |found: Option<Failure>| found.is_some_and(|f| f.signature == failure.signature);
    let mut smallest = failure.clone();
    let until = Instant::now() + PATIENCE;
    if failure.is_endless() {
        worker.timeout = SHORT;
    }
    let overrides = reduce(
        none,
        |overrides| case(way, seed, overrides),
        |overrides| {
            if Instant::now() > until {
                return false;
            }
            let found = ask(worker, way, seed, overrides);
            if let Some(found) = found.clone().filter(|f| f.signature == failure.signature) {
                smallest = found;
            }
            same(found)
        },
        TRIES,
    );
    worker.timeout = TIMEOUT;
    let folder = folder(seed);
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("overrides"), overrides.to_string()))
        .map_err(|error| error.to_string());
    let mut choices = Choices::new(seed, overrides.clone());
    let (text, command) = match way {
        Way::Lower => {
            let case = lower::case(&mut choices);
            let command = case.write(&folder);
            (case.text(), command.map_err(|error| error.to_string()))
        }
        Way::Linalg(_) | Way::Loops => {
            let program = way.text(&mut choices);
            let command = program.write(way.check(), &folder);
            (program.text, command.map_err(|error| error.to_string()))
        }
        Way::Script => {
            let case = scripts::case(&mut choices);
            let command = case.write(&folder);
            (case.text(), command.map_err(|error| error.to_string()))
        }
        Way::Run(way) | Way::Interpret(way, _) => {
            let program = generate::program(&mut choices);
            let command = run::write(&program, way, &folder);
            (
                program.to_string(),
                command.map_err(|error| error.to_string()),
            )
        }
    };
    let command = written.and(command);
    let command = command.unwrap_or_else(|error| format!("(not written: {error})"));
    format!(
        "== {} seed {seed}: {smallest}\n\n{text}\nagain: {command}\n   or: MDH_RANDOM_CASES=1 \
         MDH_RANDOM_SEED={seed} cargo test --release -p mdh-fuzz --test random\n",
        way.name()
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

/// Tries so many programs, each in the way of its number; the failures.
fn many(what: &str, count: u64, way: impl Fn(u64) -> Way + Sync) -> Vec<String> {
    let first = environment::number(&["MDH_RANDOM_SEED", "MDH_SEED"], 1);
    let next = AtomicU64::new(0);
    let failed: Mutex<BTreeMap<String, Vec<u64>>> = Mutex::default();
    let expected: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let slowest = Slowest::default();
    let started = Instant::now();
    let work = || {
        let mut workers: BTreeMap<&str, Worker> = BTreeMap::new();
        let mut done = 0;
        loop {
            let number = next.fetch_add(1, Ordering::SeqCst);
            if number >= count {
                return;
            }
            let (way, seed) = (way(number), first + number);
            let worker = workers.entry(way.name()).or_insert_with(|| way.worker());
            let asked = Instant::now();
            let failure = ask(worker, way, seed, &Overrides::default());
            slowest.note(asked, seed);
            let is_expected = |failure: &Failure| way.expects(failure);
            if let Some(refusal) = failure.clone().filter(is_expected) {
                let mut expected = expected.lock().expect("no thread panics");
                *expected.entry(refusal.signature).or_default() += 1;
            } else if let Some(failure) = failure {
                let is_new = {
                    let mut failed = failed.lock().expect("no thread panics");
                    let seeds = failed.entry(failure.signature.clone()).or_default();
                    seeds.push(seed);
                    seeds.len() == 1 && failed.len() <= SHOWN
                };
                if environment::ends_at_first_failure() {
                    eprintln!("{} seed {seed}: {failure}", way.name());
                    next.store(count, Ordering::SeqCst);
                } else if is_new {
                    eprintln!("{}", explain(worker, way, seed, &failure));
                }
            }
            done += 1;
            if done % LIFE == 0 {
                workers.values_mut().for_each(Worker::restart);
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
    let number = |is_refused: bool| -> u64 {
        let own = failed.iter();
        let own = own.filter(|(signature, _)| signature.starts_with(REFUSED) == is_refused);
        own.map(|(_, seeds)| seeds.len() as u64).sum()
    };
    let expected = expected.into_inner().expect("no thread panics");
    let (refused, wrong) = (number(true) + expected.values().sum::<u64>(), number(false));
    for (refusal, count) in &expected {
        eprintln!("{count} {refusal}");
    }
    eprintln!(
        "{count} random {what} in {seconds:.1} s, {refused} refused, {wrong} failed, {slowest}"
    );
    let counts = [
        ("right", count - refused - wrong),
        ("refused", refused),
        ("failed", wrong),
    ];
    let seeds = first..first + count;
    record(what, &seeds, &counts, failed.values().flatten());
    let list = |(signature, seeds): (&String, &Vec<u64>)| format!("{signature}: seeds {seeds:?}");
    failed.iter().map(list).collect()
}

#[test]
fn random_programs_give_what_the_definition_says() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 90);
    let steps = environment::number(&["MDH_RANDOM_STEPS"], 20);
    let failures = many("programs", count, |number| match number < steps {
        true => Way::Run(EACH),
        false => Way::Run(run::Way::PLAIN),
    });
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

#[test]
fn random_programs_give_the_same_in_kernels() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 25);
    let way = Way::Run(on(Device::Sim, run::Way::PLAIN));
    let failures = many("programs in kernels", count, |_| way);
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

#[test]
fn random_exact_give_every_bit() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 60);
    let steps = environment::number(&["MDH_RANDOM_STEPS"], 10);
    let failures = many("exact", count, |number| match number < steps {
        true => Way::Run(EXACT_EACH),
        false => Way::Run(run::Way::EXACT),
    });
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

#[test]
fn random_exact_kernels_give_every_bit() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 15);
    let failures = many("exact-kernels", count, of_chip(run::Way::EXACT));
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

#[test]
fn random_exact_linalg_give_every_bit() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 150);
    let failures = many("exact-linalg", count, |_| Way::Linalg(CheckHow::Exact));
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

/// The way of a program by its number: by the interpreter, for one chip after the other.
fn of_chip(way: run::Way) -> impl Fn(u64) -> Way + Sync {
    let chips = environment::CHIPS.map(|chip| interpret(way, chip));
    move |number| chips[number as usize % chips.len()]
}

#[test]
fn random_programs_give_the_same_as_ptx() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 40);
    let failures = many("programs as PTX", count, of_chip(run::Way::PLAIN));
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

#[test]
fn random_programs_give_schedules_that_are_lowered() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 300);
    let failures = many("programs to be lowered", count, |_| Way::Lower);
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

#[test]
fn random_linalg_gives_what_it_says() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 350);
    let failures = many("linalg", count, |_| Way::Linalg(CheckHow::All));
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

#[test]
fn random_scripts_give_what_programs_give_without_them() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 100);
    let failures = many("scripts", count, |_| Way::Script);
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}

#[test]
fn random_loops_give_what_they_say() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_RANDOM_CASES"], 60);
    let failures = many("loops", count, |_| Way::Loops);
    assert!(failures.is_empty(), "failures:\n{}", failures.join("\n"));
}
