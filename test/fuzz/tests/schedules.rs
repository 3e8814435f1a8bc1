//! Random schedules of random programs and workloads against the oracle, for the processor and for
//! a GPU, which is simulated; every fourth of these also runs as PTX, on the interpreter. `MDH_SCHEDULE_CASES`
//! says how many (250, and 150 with integers in the place of floats), `MDH_SCHEDULE_SEED` (or `MDH_SEED`) where
//! their seeds start (1); `MDH_KERNEL_CASES` (130, and 70) those for a GPU; `MDH_FIRST_FAILURE` that the first
//! failure is the end. A schedule that is not followed must be refused in words; that is counted, as is what the
//! schedules cover. A failing case is made smaller, printed, and written to a folder with the command that shows
//! it again.
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mdh_compiler::cli::{CheckHow, Device};
use mdh_fuzz::child::{self, Answer, End, Worker};
use mdh_fuzz::choices::{Choices, Overrides};
use mdh_fuzz::failure::Failure;
use mdh_fuzz::record::record;
use mdh_fuzz::reduce::{self, reduce};
use mdh_fuzz::run::Ending;
use mdh_fuzz::schedules::tally::{Outcome, Tally};
use mdh_fuzz::schedules::{self, Case, Legality, Machine};
use mdh_fuzz::{environment, failure};

/// Time limit of a case: ten seconds of compilation, on a machine that has other things to do.
const TIMEOUT: Duration = Duration::from_secs(240);
/// Time limit of a case that is expected not to end.
const SHORT: Duration = Duration::from_secs(8);
/// So many smaller cases are tried for each that fails.
const TRIES: usize = 400;
/// That must not take longer than this.
const PATIENCE: Duration = Duration::from_secs(60);
/// A child has so many cases before it is replaced, so that memory is not all used up.
const LIFE: u64 = 25;
/// Of so many kinds of failures one case each is made smaller.
const SHOWN: usize = 12;
/// Message about a schedule that is not valid; those of cases are.
const BROKEN: &str = "has a schedule that breaks";
/// Message about a defect of mdh's own.
const BUG: &str = "bug in mdh";
/// Messages about computations, loop nests or cores that do not go together, which the legality of
/// one schedule does not tell.
const SEVERAL: [&str; 3] = ["(compute-at)", "loop nest", "of its tiles"];
/// Message about an operator that integers have no use for.
const LAWLESS: &str = "whose laws do not hold in integers";
/// Message about an operation of scalar code that a GPU has no code for.
const HOST_ONLY: &str = "has no code on a device";
/// Of so many seeds, one kernel is interpreted as PTX as well.
const INTERPRETED: u64 = 4;
/// With fewer cases, what they cover is left to chance.
const MANY: u64 = 1000;

/// Way of running a case.
#[derive(Clone, Copy)]
struct Way {
    machine: Machine,
    check: CheckHow,
}

/// The word for cases that are run in integers.
const EXACT: &str = "exact";

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let check = match self.check {
            CheckHow::Exact => EXACT,
            CheckHow::Sample | CheckHow::All => "sample",
        };
        write!(f, "{} {check}", self.machine)
    }
}

fn make(machine: Machine, seed: u64, overrides: &Overrides) -> (Result<Case, String>, Choices) {
    let mut choices = Choices::new(seed, overrides.clone());
    (schedules::case(&mut choices, machine), choices)
}

/// Answers `MACHINE CHECK SEED OVERRIDES`; before the answer, tells the workload and what is special.
#[test]
fn child() {
    if child::is_child() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        child::serve(move |request| {
            let (machine, request) = request.split_once(' ').unwrap_or_default();
            let (check, request) = request.split_once(' ').unwrap_or_default();
            let (seed, overrides) = request.split_once(' ').unwrap_or_default();
            let check = match check {
                EXACT => CheckHow::Exact,
                _ => CheckHow::Sample,
            };
            let machine = machine.parse().unwrap_or(Machine::Cpu);
            let overrides: Overrides = overrides.parse().unwrap_or_default();
            let seed = seed.parse().unwrap_or_default();
            let case = match make(machine, seed, &overrides).0 {
                Ok(case) => case,
                Err(why) => {
                    eprintln!("error: {why}");
                    return "no case".into();
                }
            };
            child::report(&format!("{},{}", case.workload, case.features.join(",")));
            let mut ending = case.run(check, folder.path());
            let is_interpreted = seed % INTERPRETED == 0 && machine == Machine::Gpu;
            if is_interpreted && ending == Ending::Right {
                ending = case.run_on(check, folder.path(), Device::Cuda);
            }
            let ending = match ending {
                Ending::Right => "right",
                Ending::Wrong => "wrong",
                Ending::Refused => "refused",
                Ending::Bug => "bug",
            };
            ending.to_string()
        });
    }
}

/// Outcome of a case.
struct Reply {
    features: String,
    /// The message, if it was refused.
    refused: Option<String>,
    failure: Option<Failure>,
}

/// Wrong results have nothing in common but the workload.
fn of_workload(mut failure: Failure, features: &str) -> Failure {
    if failure.signature.starts_with("wrong") {
        let workload = features.split(',').next().unwrap_or_default();
        failure.signature = format!("{workload}: {}", failure.signature);
    }
    failure
}

fn ask(worker: &mut Worker, way: Way, seed: u64, overrides: &Overrides) -> Reply {
    let mut features = String::from("none");
    let answer = worker.ask(&format!("{way} {seed} {overrides}"), |line| {
        features = line.to_string();
    });
    let said = failure::gist(&answer.errors);
    // What is refused otherwise is a program that the generator or the lowering has made.
    let is_refused = answer.end == End::Answered("refused".into())
        && ["has a schedule", LAWLESS, HOST_ONLY]
            .iter()
            .any(|part| said.contains(part))
        && !said.contains(BROKEN)
        && !said.contains(BUG);
    let failure = Failure::of(&answer).filter(|_| !is_refused);
    let failure = failure.or_else(|| disagreement(&answer, is_refused, &said, &features));
    let is_refused = is_refused && failure.is_none();
    Reply {
        refused: is_refused.then_some(said),
        failure: failure.map(|failure| of_workload(failure, &features)),
        features,
    }
}

/// Finds a disagreement between legality and the lowering of a schedule: none that is illegal is
/// lowered, and none that is legal is refused, but for what is asked of several computations
/// together.
fn disagreement(answer: &Answer, is_refused: bool, said: &str, features: &str) -> Option<Failure> {
    let is = |legality: Legality| features.split(',').any(|f| f == legality.feature());
    let is_right = answer.end == End::Answered("right".into());
    let mut others = SEVERAL.iter().chain([&LAWLESS, &HOST_ONLY]);
    let is_of_others = others.any(|part| said.contains(part));
    let signature = match () {
        () if is(Legality::No) && is_right => "lowered, although it is illegal".to_string(),
        () if is(Legality::Yes) && is_refused && !is_of_others => {
            format!("refused, although it is legal: {said}")
        }
        () => return None,
    };
    Some(Failure {
        signature,
        text: answer.errors.clone(),
    })
}

/// Makes a failing case smaller and describes it.
fn explain(worker: &mut Worker, way: Way, seed: u64, failure: &Failure) -> String {
    let Way { machine, check } = way;
    let until = Instant::now() + PATIENCE;
    let mut smallest = failure.clone();
    if failure.is_endless() {
        worker.timeout = SHORT;
    }
    let case = |overrides: &Overrides| {
        let (case, choices) = make(machine, seed, overrides);
        reduce::Case {
            text: case.map_or_else(|why| why, |case| case.text()),
            trail: choices.trail().to_vec(),
        }
    };
    let overrides = reduce(
        Overrides::default(),
        case,
        |overrides| {
            if Instant::now() > until {
                return false;
            }
            let found = ask(worker, way, seed, overrides).failure;
            let found = found.filter(|found| found.signature == failure.signature);
            if let Some(found) = &found {
                smallest = found.clone();
            }
            found.is_some()
        },
        TRIES,
    );
    worker.timeout = TIMEOUT;
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("schedules-{machine}-{seed}"));
    let [cpu, gpu] = match machine {
        Machine::Cpu => [1, 0],
        Machine::Gpu => [0, 1],
    };
    let name = match check {
        CheckHow::Exact => " random_exact",
        CheckHow::Sample | CheckHow::All => "",
    };
    let again = format!(
        "MDH_SCHEDULE_CASES={cpu} MDH_KERNEL_CASES={gpu} MDH_SCHEDULE_SEED={seed} cargo test \
         --release -p mdh-fuzz --test schedules{name}"
    );
    let case = match make(machine, seed, &overrides).0 {
        Ok(case) => case,
        Err(why) => return format!("== seed {seed}: {smallest}\n{why}\nagain: {again}\n"),
    };
    let command = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("overrides"), overrides.to_string()))
        .map_err(|error| error.to_string())
        .and_then(|()| {
            case.write(check, &folder)
                .map_err(|error| error.to_string())
        });
    let command = command.unwrap_or_else(|error| format!("(not written: {error})"));
    format!(
        "== seed {seed}, {}: {smallest}\n\n{}\n{}\nagain: {command}\n   or: {again}\n",
        case.workload,
        case.program,
        case.schedules.to_json()
    )
}

/// Findings of a test's threads.
#[derive(Default)]
struct Found {
    tally: Tally,
    failed: BTreeMap<String, Vec<u64>>,
}

fn work(way: Way, next: &AtomicU64, seeds: std::ops::Range<u64>, found: &Mutex<Found>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut chips = environment::CHIPS.iter().cycle();
    let mut next_environment = || {
        let chip = chips.next().filter(|_| way.machine == Machine::Gpu);
        chip.map_or(Vec::new(), |chip| environment::interpreter(folder, *chip))
    };
    let mut worker = Worker::new("child", TIMEOUT);
    worker.environment = next_environment();
    let mut done = 0;
    loop {
        let seed = seeds.start + next.fetch_add(1, Ordering::SeqCst);
        if seed >= seeds.end {
            return;
        }
        let result = ask(&mut worker, way, seed, &Overrides::default());
        let is_new = {
            let mut found = found.lock().expect("no thread panics");
            let outcome = match (&result.failure, &result.refused) {
                (Some(_), _) => Outcome::Failed,
                (None, Some(_)) => Outcome::Refused,
                (None, None) => Outcome::Right,
            };
            found
                .tally
                .add(seed, outcome, &result.features, result.refused);
            let failure = result.failure.as_ref();
            failure
                .filter(|_| outcome == Outcome::Failed)
                .is_some_and(|failure| {
                    let kinds = found.failed.len();
                    let seeds = found.failed.entry(failure.signature.clone()).or_default();
                    seeds.push(seed);
                    seeds.len() == 1 && kinds < SHOWN
                })
        };
        if let Some(failure) = result.failure.filter(|_| is_new) {
            if environment::ends_at_first_failure() {
                eprintln!("seed {seed}: {failure}");
                next.store(seeds.end - seeds.start, Ordering::SeqCst);
                return;
            }
            eprintln!("{}", explain(&mut worker, way, seed, &failure));
        }
        done += 1;
        if done % LIFE == 0 {
            worker.environment = next_environment();
            worker.restart();
        }
    }
}

/// Tries so many cases; what is wrong, and what was found.
fn many(way: Way, name: &str, count: u64) -> (Vec<String>, Tally) {
    let first = environment::number(&["MDH_SCHEDULE_SEED", "MDH_SEED"], 1);
    let seeds = first..first + count;
    let next = AtomicU64::new(0);
    let found: Mutex<Found> = Mutex::default();
    let started = Instant::now();
    std::thread::scope(|scope| {
        (0..environment::cores()).for_each(|_| {
            scope.spawn(|| work(way, &next, seeds.clone(), &found));
        });
    });
    let found = found.into_inner().expect("no thread panics");
    let seconds = started.elapsed().as_secs_f64();
    eprintln!(
        "{count} random schedules ({way}) in {seconds:.1} s\n{}",
        found.tally
    );
    let [right, refused, failed] = found.tally.all;
    let counts = [("right", right), ("refused", refused), ("failed", failed)];
    record(name, &seeds, &counts, found.failed.values().flatten());
    let list = |(signature, seeds): (&String, &Vec<u64>)| format!("{signature}: seeds {seeds:?}");
    let mut wrong: Vec<String> = found.failed.iter().map(list).collect();
    if count >= MANY && !environment::ends_at_first_failure() && right < count / 3 {
        wrong.push(format!("{right} right: expected at least {}", count / 3));
    }
    (wrong, found.tally)
}

fn way(machine: Machine, check: CheckHow) -> Way {
    Way { machine, check }
}

#[test]
fn random_schedules_give_what_the_definition_says() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_SCHEDULE_CASES"], 250);
    let (mut wrong, tally) = many(way(Machine::Cpu, CheckHow::Sample), "schedules", count);
    if count >= MANY {
        wrong.extend(tally.lacking());
    }
    assert!(wrong.is_empty(), "failures:\n{}", wrong.join("\n"));
}

#[test]
fn random_kernels_give_what_the_definition_says() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_KERNEL_CASES"], 130);
    let (wrong, _) = many(way(Machine::Gpu, CheckHow::Sample), "kernels", count);
    assert!(wrong.is_empty(), "failures:\n{}", wrong.join("\n"));
}

#[test]
fn random_exact_schedules_give_every_bit() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_SCHEDULE_CASES"], 150);
    let (wrong, _) = many(way(Machine::Cpu, CheckHow::Exact), "exact-schedules", count);
    assert!(wrong.is_empty(), "failures:\n{}", wrong.join("\n"));
}

#[test]
fn random_exact_gpu_schedules_give_every_bit() {
    if child::is_child() {
        return;
    }
    let count = environment::number(&["MDH_KERNEL_CASES"], 70);
    let (wrong, _) = many(
        way(Machine::Gpu, CheckHow::Exact),
        "exact-gpu-schedules",
        count,
    );
    assert!(wrong.is_empty(), "failures:\n{}", wrong.join("\n"));
}
