//! Tests of measuring commands: costs, failures, and what becomes of children.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::*;

/// More than any test should need.
const LONG: Duration = Duration::from_secs(600);

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn command(text: &str, conditions: Conditions) -> ForeignCommand {
    let known = names(&["n"]);
    ForeignCommand::new(None, text, &known, &known, conditions).unwrap()
}

fn conditions(cost: &str) -> Conditions {
    Conditions {
        cost: ForeignCommand::cost_source(cost).unwrap(),
        timeout: LONG,
        samples: 2,
        ..Conditions::default()
    }
}

fn outcomes(command: &mut ForeignCommand, values: &[i64], best: &[f64]) -> Vec<Outcome> {
    let batch: Vec<Configuration> = values
        .iter()
        .map(|value| Configuration::of([("n", (*value).into())]))
        .collect();
    let interrupted = AtomicBool::new(false);
    let race = Race {
        best,
        confidence: 0.9,
        left: None,
        interrupted: &interrupted,
    };
    let mut told = Vec::new();
    command.measure(&batch, &race, &mut |_, outcome| told.push(outcome));
    told
}

fn outcome(text: &str, conditions: Conditions) -> Outcome {
    outcomes(&mut command(text, conditions), &[3], &[]).remove(0)
}

fn kind(outcome: &Outcome) -> Option<FailureKind> {
    match outcome {
        Outcome::Failed(failure) => Some(failure.kind),
        Outcome::Measured(_) => None,
    }
}

#[test]
fn costs_are_figures_or_times() {
    let printed = |cost: &str, text: &str| outcome(text, conditions(cost)).cost();
    assert_eq!(printed("number", "echo 1 2 {n}.5e1 s"), Some(35.0));
    assert_eq!(printed("number", "echo -{n}"), Some(-3.0));
    let words = "printf 'took 2 ms\\ntook {n}.25 ms, 9 threads\\n'";
    assert_eq!(printed("took ([0-9.]+) ms", words), Some(3.25));
    assert_eq!(printed("[0-9]+ threads", words), None);
    let Outcome::Measured(slept) = outcome("sleep 0.0{n}", conditions("time")) else {
        panic!()
    };
    assert_eq!(slept.samples.len(), 2);
    assert!(
        slept.samples.iter().all(|sample| *sample >= 0.03),
        "{slept:?}"
    );
}

#[test]
fn failures_are_told_apart() {
    let failed = |text: &str| outcome(text, conditions("number"));
    assert_eq!(kind(&failed("sh -c 'exit {n}'")), Some(FailureKind::Crash));
    let signal = failed("sh -c 'echo it is {n} >&2; kill -SEGV $$'");
    assert_eq!(kind(&signal), Some(FailureKind::Crash));
    let Outcome::Failed(failure) = &signal else {
        panic!()
    };
    assert!(
        failure.text.contains("11") && failure.text.contains("it is 3"),
        "{failure}"
    );
    assert_eq!(
        kind(&failed("sh -c 'echo none of {n} | tr 0-9 x'")),
        Some(FailureKind::WrongResult)
    );
    let killed = failed("sh -c 'echo {n}; kill -KILL $$'");
    assert_eq!(kind(&killed), Some(FailureKind::Memory));
    let hangs = Conditions {
        timeout: Duration::from_millis(50),
        ..conditions("time")
    };
    assert_eq!(
        kind(&outcome("sh -c 'sleep 600; echo {n}'", hangs)),
        Some(FailureKind::Hang)
    );
    let builds = names(&["n"]);
    let mut command = ForeignCommand::new(
        Some("sh -c 'test {n} -gt 3'"),
        "echo 1",
        &builds,
        &builds,
        conditions("number"),
    )
    .unwrap();
    let told = outcomes(&mut command, &[3, 4], &[]);
    assert_eq!(kind(&told[0]), Some(FailureKind::Compilation));
    assert_eq!(told[1].cost(), Some(1.0));
}

#[test]
fn memory_is_limited() {
    // dd takes a buffer of n MiB.
    let text = "dd if=/dev/zero of=/dev/null bs={n}M count=1";
    let limited = Conditions {
        memory: Some(1 << 28),
        ..conditions("time")
    };
    let told = outcomes(&mut command(text, limited), &[1, 2000], &[]);
    assert!(told[0].cost().is_some(), "{told:?}");
    assert_eq!(kind(&told[1]), Some(FailureKind::Memory), "{told:?}");
}

/// Waits until nobody has a number of these that a file lists, one a line.
fn all_gone(file: &Path) -> bool {
    let listed = fs::read_to_string(file).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_there = |process: &str| {
        // What has ended, and was not waited for by its new parent yet, is gone too.
        let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    assert!(listed.lines().count() > 0);
    while listed.lines().any(is_there) {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn children_end_with_their_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("processes");
    let spawns =
        "sleep 600 & echo $! >> processes; sleep 600 & echo $! >> processes; echo $$ >> processes";
    let of = |text: &str, timeout| {
        let there = Conditions {
            timeout,
            samples: 1,
            folder: Some(folder.path().into()),
            ..conditions("time")
        };
        outcome(text, there)
    };
    // It leaves children, which hold its output too.
    let left = of(&format!("sh -c '{spawns}; true {{n}}'"), LONG);
    assert!(left.cost().is_some() && all_gone(&file), "{left:?}");
    // It hangs, as they do.
    let hangs = of(
        &format!("sh -c '{spawns}; sleep 600; true {{n}}'"),
        Duration::from_millis(200),
    );
    assert!(
        kind(&hangs) == Some(FailureKind::Hang) && all_gone(&file),
        "{hangs:?}"
    );
}

#[test]
fn an_interruption_ends_it_and_tells_nothing() {
    let interrupted = AtomicBool::new(false);
    let mut command = command("sleep 600{n}", conditions("time"));
    let batch = [Configuration::of([("n", 1.into())])];
    let race = Race {
        best: &[],
        confidence: 0.9,
        left: None,
        interrupted: &interrupted,
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            interrupted.store(true, Ordering::Relaxed);
        });
        command.measure(&batch, &race, &mut |_, outcome| panic!("{outcome:?}"));
    });
    let nothing = AtomicBool::new(false);
    let race = Race {
        left: Some(Duration::from_millis(30)),
        interrupted: &nothing,
        ..race
    };
    command.measure(&batch, &race, &mut |_, outcome| panic!("{outcome:?}"));
}

#[test]
fn the_slow_are_given_up() {
    let many = Conditions {
        samples: 20,
        ..conditions("number")
    };
    let mut command = command("echo {n}", many);
    let told = outcomes(&mut command, &[1, 5], &[2.0; 20]);
    let samples = |outcome: &Outcome| match outcome {
        Outcome::Measured(cost) => (cost.samples.len(), cost.ended),
        Outcome::Failed(failure) => panic!("{failure}"),
    };
    use crate::measure::Ended;
    assert_eq!(samples(&told[0]), (20, Ended::Complete));
    let (taken, ended) = samples(&told[1]);
    assert!(taken < 5 && ended == Ended::Lost, "{taken}");
}

#[test]
fn much_output_is_no_trouble() {
    let text = "sh -c 'head -c 3000000 /dev/zero | tr \\\\0 x; echo; echo {n}'";
    assert_eq!(outcome(text, conditions("number")).cost(), Some(3.0));
}

#[test]
fn wrong_commands_are_refused() {
    let known = names(&["tile", "threads"]);
    let refused = |text: &str| {
        ForeignCommand::new(None, text, &known, &known, Conditions::default())
            .unwrap_err()
            .to_string()
    };
    let cases = [
        (
            "echo {tile}",
            "does not depend on 'threads'\nhelp: write {threads} where",
        ),
        ("echo", "does not depend on 'tile' and 'threads'"),
        (
            "echo {tiles} {threads}",
            "found {tiles} in '{tiles}', expected one of the parameters tile, threads\nhelp: did you mean 'tile'?",
        ),
        ("echo {tile", "without its '}'"),
        ("echo tile}", "without its '{'"),
        ("echo 'a", "a quote is not closed"),
        ("", "an empty command"),
        (
            "no-such-program {tile} {threads}",
            "there is no program 'no-such-program'",
        ),
        (
            "./no/such {tile} {threads}",
            "there is no program './no/such'",
        ),
    ];
    for (text, said) in cases {
        let error = refused(text);
        assert!(error.contains(said), "{text}: {error}");
    }
    assert!(ForeignCommand::cost_source("(").is_err());
}

#[test]
fn words_are_filled() {
    let known = names(&["a", "b"]);
    let words = Words::parse("p 'x {a}' {b}{a} {{a}} -D\"N={b}\" ''", &known).unwrap();
    let configuration = Configuration::of([("a", "u v".into()), ("b", 2.into())]);
    assert_eq!(
        words.filled(&configuration),
        ["p", "x u v", "2u v", "{a}", "-DN=2", ""]
    );
}
